//! How each kind is asked, and what it must leave behind in outputs.

use std::fmt::Debug;
use std::ops::{Bound, ControlFlow, Range, RangeInclusive};

use docvalues_column::{
    BinaryColumn, Column, DocId, FilterCounts, Lists, NumericColumn, Result, Slices, SortedColumn,
    SortedNumericColumn, SortedSetColumn, TermOrd, bits,
};

use super::subject::{Each, Expected, Filled, Subject, Text, short};
use crate::model::lies_between;
use crate::rng::SplitMix64;

pub(super) struct Numeric<'c>(pub(super) &'c dyn NumericColumn);
pub(super) struct Binary<'c>(pub(super) &'c dyn BinaryColumn);
pub(super) struct Sorted<'c>(pub(super) &'c dyn SortedColumn);
pub(super) struct SortedNumeric<'c>(pub(super) &'c dyn SortedNumericColumn);
pub(super) struct SortedSet<'c>(pub(super) &'c dyn SortedSetColumn);

/// The smallest and the largest of `values`.
pub(super) fn bounds<'a>(values: impl Iterator<Item = &'a i64> + Clone) -> Option<RangeInclusive<i64>> {
    Some(*values.clone().min()?..=*values.max()?)
}

/// Joins what `gather` wrote: where `present` has no bit, the value must be `none`.
fn gathered<V: PartialEq + Debug>(
    column: &dyn Column,
    docs: &[DocId],
    as_called: &str,
    values: Vec<V>,
    none: &V,
    present: &[u64],
) -> Vec<Option<V>> {
    let name = &column.field().name;
    let each = values.into_iter().enumerate().map(|(i, value)| {
        let has_value = bits::get(present, i);
        assert!(
            has_value || value == *none,
            "column `{name}`: {as_called}: {:?} (number {i}) is not present, but its value is {}",
            docs[i],
            short(&value)
        );
        has_value.then_some(value)
    });
    each.collect()
}

/// Words for `docs`, all equal to `pattern`.
fn words(docs: &[DocId], pattern: u64) -> Vec<u64> {
    vec![pattern; docs.len().div_ceil(64)]
}

/// Checks that there is a list for each document, and takes them apart.
fn lists_of<T: Clone>(column: &dyn Column, docs: &[DocId], lists: &Lists<T>, as_called: &str) -> Vec<Vec<T>> {
    let name = &column.field().name;
    assert_eq!(lists.len(), docs.len(), "column `{name}`: {as_called}: lists for documents asked");
    taken(&lists.slices())
}

fn taken<T: Clone>(slices: &Slices<'_, T>) -> Vec<Vec<T>> {
    slices.iter().map(<[T]>::to_vec).collect()
}

fn texts(values: Vec<Vec<u8>>) -> Vec<Text> {
    values.into_iter().map(Text).collect()
}

/// A list that is empty is no value: the traits cannot tell the two apart.
fn some_list<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}

/// An output that something was in before.
fn used<T: Clone>(old: T) -> Lists<T> {
    let mut lists = Lists::new();
    lists.push(&[old.clone(), old]);
    lists
}

fn number_queries<'a>(name: &str, values: impl Iterator<Item = &'a i64> + Clone) -> Vec<RangeInclusive<i64>> {
    let (low, high) = bounds(values.clone()).unwrap_or(0..=0).into_inner();
    let mut queries = vec![
        i64::MIN..=i64::MAX,
        low..=high,
        RangeInclusive::new(i64::MAX, i64::MIN),
        RangeInclusive::new(high, low.wrapping_sub(1)),
        low..=low,
        high..=high,
        low.saturating_add(1)..=high,
        low..=high.saturating_sub(1),
        i64::MIN..=low.saturating_sub(1),
        high.saturating_add(1)..=i64::MAX,
        i64::MIN..=i64::MIN,
        i64::MAX..=i64::MAX,
    ];
    let mut rng = SplitMix64::named(name);
    let all: Vec<i64> = values.copied().collect();
    for _ in 0..if all.is_empty() { 0 } else { 6 } {
        let (a, b) = (*rng.pick(&all), *rng.pick(&all));
        queries.push(a.min(b)..=a.max(b));
        queries.push(a..=a);
        // Between two values that occur, mostly: no end is one.
        queries.push(a.min(b).saturating_add(1)..=a.max(b).saturating_sub(1));
    }
    queries
}

fn ord_queries(name: &str, terms: u32) -> Vec<Range<u32>> {
    let last = terms.saturating_sub(1);
    let mut queries = vec![
        0..terms,
        0..u32::MAX,
        0..0,
        terms..terms,
        0..1,
        last..terms,
        1..last,
        terms..u32::MAX,
        Range { start: last.max(1), end: 0 },
        u32::MAX..u32::MAX,
    ];
    let mut rng = SplitMix64::named(name);
    for _ in 0..if terms == 0 { 0 } else { 6 } {
        let (a, b) = (rng.below_u32(terms), rng.below_u32(terms));
        queries.extend([a..a + 1, a.min(b)..a.max(b)]);
    }
    queries
}

fn any_in(ords: &Range<u32>, list: &[TermOrd]) -> bool {
    list.iter().any(|ord| ords.contains(&ord.get()))
}

impl Subject for Numeric<'_> {
    type Value = i64;
    type Query = RangeInclusive<i64>;

    fn column(&self) -> &dyn Column {
        self.0
    }

    fn get(&self, doc: DocId) -> Result<Option<i64>> {
        self.0.get(doc)
    }

    fn gather(&self, docs: &[DocId], pattern: u64, as_called: &str) -> Result<Vec<Option<i64>>> {
        let (mut out, mut present) = (vec![-77; docs.len()], words(docs, pattern));
        self.0.gather(docs, &mut out, &mut present)?;
        Ok(gathered(self.0, docs, as_called, out, &0, &present))
    }

    fn gather_or(&self, docs: &[DocId]) -> Result<Filled<i64>> {
        let fills = [i64::MIN, -1, 0, i64::MAX].into_iter();
        let filled = fills.map(|fill| {
            let mut out = vec![-77; docs.len()];
            self.0.gather_or(docs, &mut out, fill)?;
            Ok((fill, out))
        });
        filled.collect()
    }

    fn scan(&self, docs: Range<u32>, each: &mut Each<'_, i64>) -> Result<()> {
        self.0.scan(docs, &mut |batch| each(batch.docs, batch.values.to_vec()))
    }

    fn queries(&self, expected: &Expected<i64>) -> Vec<RangeInclusive<i64>> {
        number_queries(&expected.name, expected.slots.iter().flatten())
    }

    fn matches(query: &RangeInclusive<i64>, value: &i64) -> bool {
        query.contains(value)
    }

    fn filter(&self, docs: Range<u32>, query: &RangeInclusive<i64>, bits: &mut [u64]) -> Result<()> {
        self.0.filter(docs, query.clone(), bits)
    }

    fn candidates(&self, docs: Range<u32>, query: &RangeInclusive<i64>) -> Result<Vec<Range<u32>>> {
        let mut found = Vec::new();
        self.0.candidates(docs, query.clone(), &mut FilterCounts::default(), &mut |some| {
            found.push(some);
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    fn open_stretches(
        &self,
        docs: Range<u32>,
        query: &RangeInclusive<i64>,
        finely: bool,
        bits: &mut [u64],
    ) -> Result<()> {
        self.0.open_stretches(docs, query.clone(), finely, &mut FilterCounts::default(), bits)
    }
}

impl Subject for Binary<'_> {
    type Value = Text;
    type Query = (Bound<Text>, Bound<Text>);

    fn column(&self) -> &dyn Column {
        self.0
    }

    fn get(&self, doc: DocId) -> Result<Option<Text>> {
        let mut buffer = b"left over".to_vec();
        Ok(self.0.get(doc, &mut buffer)?.map(|value| Text(value.to_vec())))
    }

    fn gather(&self, docs: &[DocId], pattern: u64, as_called: &str) -> Result<Vec<Option<Text>>> {
        let (mut out, mut present) = (used(b'x'), words(docs, pattern));
        self.0.gather(docs, &mut out, &mut present)?;
        let values = texts(lists_of(self.0, docs, &out, as_called));
        Ok(gathered(self.0, docs, as_called, values, &Text(Vec::new()), &present))
    }

    fn gather_or(&self, docs: &[DocId]) -> Result<Filled<Text>> {
        let fills = [&b""[..], b"a fill"].into_iter();
        let filled = fills.map(|fill| {
            let mut out = used(b'x');
            self.0.gather_or(docs, &mut out, fill)?;
            Ok((Text(fill.to_vec()), texts(lists_of(self.0, docs, &out, "gather_or"))))
        });
        filled.collect()
    }

    fn scan(&self, docs: Range<u32>, each: &mut Each<'_, Text>) -> Result<()> {
        self.0.scan(docs, &mut |batch| each(batch.docs, texts(taken(&batch.values))))
    }

    fn queries(&self, expected: &Expected<Text>) -> Vec<Self::Query> {
        let values: Vec<&Text> = expected.slots.iter().flatten().collect();
        let mut queries = vec![
            (Bound::Unbounded, Bound::Unbounded),
            (Bound::Included(Text(vec![])), Bound::Included(Text(vec![]))),
            (Bound::Excluded(Text(vec![])), Bound::Unbounded),
            (Bound::Included(Text(vec![0xff; 9])), Bound::Excluded(Text(vec![]))),
            (Bound::Excluded(Text(b"m".to_vec())), Bound::Excluded(Text(b"m".to_vec()))),
        ];
        let mut rng = SplitMix64::named(&expected.name);
        for _ in 0..if values.is_empty() { 0 } else { 3 } {
            let (a, b) = (*rng.pick(&values), *rng.pick(&values));
            let (low, high) = (a.min(b).clone(), a.max(b).clone());
            queries.extend([
                (Bound::Included(low.clone()), Bound::Included(high.clone())),
                (Bound::Excluded(low.clone()), Bound::Excluded(high.clone())),
                (Bound::Included(low.clone()), Bound::Included(low.clone())),
                (Bound::Unbounded, Bound::Excluded(high.clone())),
                (Bound::Included(high), Bound::Included(low)),
            ]);
        }
        queries
    }

    fn matches((low, high): &Self::Query, value: &Text) -> bool {
        let (low, high) = (low.as_ref().map(Text::bytes), high.as_ref().map(Text::bytes));
        lies_between(low, high, value.bytes())
    }

    fn filter(&self, docs: Range<u32>, (low, high): &Self::Query, bits: &mut [u64]) -> Result<()> {
        let (low, high) = (low.as_ref().map(Text::bytes), high.as_ref().map(Text::bytes));
        self.0.filter(docs, low, high, bits)
    }
}

impl Subject for Sorted<'_> {
    type Value = TermOrd;
    type Query = Range<u32>;

    fn column(&self) -> &dyn Column {
        self.0
    }

    fn get(&self, doc: DocId) -> Result<Option<TermOrd>> {
        self.0.ord(doc)
    }

    fn gather(&self, docs: &[DocId], pattern: u64, as_called: &str) -> Result<Vec<Option<TermOrd>>> {
        let (mut out, mut present) = (vec![TermOrd::new(77); docs.len()], words(docs, pattern));
        self.0.gather(docs, &mut out, &mut present)?;
        Ok(gathered(self.0, docs, as_called, out, &TermOrd::new(0), &present))
    }

    fn gather_or(&self, docs: &[DocId]) -> Result<Filled<TermOrd>> {
        let fills = [0, 1, u32::MAX].into_iter().map(TermOrd::new);
        let filled = fills.map(|fill| {
            let mut out = vec![TermOrd::new(77); docs.len()];
            self.0.gather_or(docs, &mut out, fill)?;
            Ok((fill, out))
        });
        filled.collect()
    }

    fn scan(&self, docs: Range<u32>, each: &mut Each<'_, TermOrd>) -> Result<()> {
        self.0.scan(docs, &mut |batch| each(batch.docs, batch.values.to_vec()))
    }

    fn queries(&self, expected: &Expected<TermOrd>) -> Vec<Range<u32>> {
        ord_queries(&expected.name, self.0.term_count())
    }

    fn matches(query: &Range<u32>, value: &TermOrd) -> bool {
        any_in(query, &[*value])
    }

    fn filter(&self, docs: Range<u32>, query: &Range<u32>, bits: &mut [u64]) -> Result<()> {
        self.0.filter(docs, query.clone(), bits)
    }
}

impl Subject for SortedNumeric<'_> {
    type Value = Vec<i64>;
    type Query = RangeInclusive<i64>;

    fn column(&self) -> &dyn Column {
        self.0
    }

    fn get(&self, doc: DocId) -> Result<Option<Vec<i64>>> {
        let mut out = vec![-77; 3];
        self.0.get(doc, &mut out)?;
        Ok(some_list(out))
    }

    fn gather(&self, docs: &[DocId], _: u64, as_called: &str) -> Result<Vec<Option<Vec<i64>>>> {
        let mut out = used(-77);
        self.0.gather(docs, &mut out)?;
        Ok(lists_of(self.0, docs, &out, as_called).into_iter().map(some_list).collect())
    }

    fn gather_or(&self, _: &[DocId]) -> Result<Filled<Vec<i64>>> {
        Ok(Vec::new())
    }

    fn scan(&self, docs: Range<u32>, each: &mut Each<'_, Vec<i64>>) -> Result<()> {
        self.0.scan(docs, &mut |batch| each(batch.docs, taken(&batch.values)))
    }

    fn queries(&self, expected: &Expected<Vec<i64>>) -> Vec<RangeInclusive<i64>> {
        number_queries(&expected.name, expected.slots.iter().flatten().flatten())
    }

    fn matches(query: &RangeInclusive<i64>, value: &Vec<i64>) -> bool {
        value.iter().any(|value| query.contains(value))
    }

    fn filter(&self, docs: Range<u32>, query: &RangeInclusive<i64>, bits: &mut [u64]) -> Result<()> {
        self.0.filter(docs, query.clone(), bits)
    }
}

impl Subject for SortedSet<'_> {
    type Value = Vec<TermOrd>;
    type Query = Range<u32>;

    fn column(&self) -> &dyn Column {
        self.0
    }

    fn get(&self, doc: DocId) -> Result<Option<Vec<TermOrd>>> {
        let mut out = vec![TermOrd::new(77); 3];
        self.0.ords(doc, &mut out)?;
        Ok(some_list(out))
    }

    fn gather(&self, docs: &[DocId], _: u64, as_called: &str) -> Result<Vec<Option<Vec<TermOrd>>>> {
        let mut out = used(TermOrd::new(77));
        self.0.gather(docs, &mut out)?;
        Ok(lists_of(self.0, docs, &out, as_called).into_iter().map(some_list).collect())
    }

    fn gather_or(&self, _: &[DocId]) -> Result<Filled<Vec<TermOrd>>> {
        Ok(Vec::new())
    }

    fn scan(&self, docs: Range<u32>, each: &mut Each<'_, Vec<TermOrd>>) -> Result<()> {
        self.0.scan(docs, &mut |batch| each(batch.docs, taken(&batch.values)))
    }

    fn queries(&self, expected: &Expected<Vec<TermOrd>>) -> Vec<Range<u32>> {
        ord_queries(&expected.name, self.0.term_count())
    }

    fn matches(query: &Range<u32>, value: &Vec<TermOrd>) -> bool {
        any_in(query, value)
    }

    fn filter(&self, docs: Range<u32>, query: &Range<u32>, bits: &mut [u64]) -> Result<()> {
        self.0.filter(docs, query.clone(), bits)
    }
}
