//! Evaluation of a condition on one column: by the column's filter, or by checking candidates.

use std::ops::{Bound, RangeInclusive};
use std::sync::Arc;

use docvalues_column::{
    BatchDocs, Column, DocId, DocRange, Element, Gathered, Pruning, TermOrd, Values, View, bits,
    filter_by_scan,
};

use super::column_condition::Wanted;
use super::pattern::Matcher;
use super::range_set::{End, RangeSet};
use crate::Result;
use crate::describe::with_separators;
use crate::engine::{filter_numbers, skip, value_bounds};

/// The most ranges of numbers to evaluate by one filter call each; for more, every value is read and looked up.
const MAX_FILTERS: usize = 8;

/// The same for columns with several values a document.
const MAX_LIST_FILTERS: usize = 4;

/// The longest span of numbers to represent as a bitmap; longer ones use binary search.
const MAX_MAP: u64 = 1 << 20;

/// The number of candidates whose values are gathered at once.
const GATHER: usize = 1024;

/// The same for byte strings, which may be long.
const GATHER_STRINGS: usize = 64;

/// A condition on a column. It is immutable and shared by threads.
#[derive(Debug)]
pub(super) struct ConditionFilter {
    pub(super) column: Arc<dyn Column>,
    pub(super) want: WantedSet,
    /// Whether the column is the first key of the index sort.
    pub(super) leading: bool,
}

/// The matching values, prepared for lookups.
#[derive(Debug)]
pub(super) enum WantedSet {
    Exists,
    /// Numbers, or ords as numbers.
    Numbers(Members),
    /// Byte strings without a dictionary.
    Bytes(Matcher),
}

/// A set of numbers.
#[derive(Debug)]
pub(super) struct Members {
    pub(super) ranges: Vec<RangeInclusive<i64>>,
    /// A bitmap that begins at the given number; for many ranges that are close together.
    map: Option<(i64, Vec<u64>)>,
}

impl Members {
    fn new(spans: &RangeSet<i64>) -> Members {
        let ranges: Vec<_> = spans.ranges().collect();
        let map = match ranges.as_slice() {
            [first, .., last]
                if last.end().abs_diff(*first.start()) < MAX_MAP && ranges.len() > MAX_LIST_FILTERS =>
            {
                let (low, count) = (*first.start(), last.end().abs_diff(*first.start()) + 1);
                let mut map = vec![0; usize::try_from(count.div_ceil(64)).unwrap_or(0)];
                for at in ranges.iter().cloned().flatten() {
                    bits::set(&mut map, usize::try_from(at.abs_diff(low)).unwrap_or(0));
                }
                Some((low, map))
            }
            _ => None,
        };
        Members { ranges, map }
    }

    /// The size of the set.
    fn count(&self) -> f64 {
        self.ranges.iter().map(|range| range.end().abs_diff(*range.start()) as f64 + 1.0).sum()
    }

    #[inline]
    fn contains_any(&self, numbers: &[i64]) -> bool {
        numbers.iter().any(|&number| self.contains(number))
    }

    #[inline]
    fn contains_any_ord(&self, ords: &[TermOrd]) -> bool {
        ords.iter().any(|ord| self.contains(ord.get().into()))
    }

    #[inline]
    fn contains(&self, number: i64) -> bool {
        if let Some((low, map)) = &self.map {
            return number >= *low
                && usize::try_from(number.abs_diff(*low)).is_ok_and(|at| bits::get(map, at));
        }
        let at = self.ranges.partition_point(|range| *range.start() <= number);
        at.checked_sub(1).is_some_and(|at| number <= *self.ranges[at].end())
    }
}

/// Buffers for the values of candidates.
#[derive(Default)]
pub(super) struct Buffers {
    docs: Vec<DocId>,
    numbers: Gathered<i64>,
    ords: Gathered<TermOrd>,
    bytes: Gathered<u8>,
}

impl ConditionFilter {
    /// The filter of a byte column without a dictionary by a pattern.
    pub(super) fn matching(column: Arc<dyn Column>, pattern: Matcher) -> ConditionFilter {
        ConditionFilter { column, want: WantedSet::Bytes(pattern), leading: false }
    }

    pub(super) fn new(column: Arc<dyn Column>, wanted: &Wanted, leading: bool) -> ConditionFilter {
        let want = match wanted {
            Wanted::Exists => WantedSet::Exists,
            Wanted::Numbers(spans) => WantedSet::Numbers(Members::new(spans)),
            Wanted::Strings(spans) => WantedSet::Bytes(Matcher::Ranges(spans.clone())),
        };
        ConditionFilter { column, want, leading }
    }

    /// The expected share of matching documents, if values are evenly distributed, and the cost in nanoseconds per
    /// document. Both are rough, to order clauses by.
    pub(super) fn expect(&self) -> (f64, f64) {
        let info = self.column.info();
        let with_value = info.with_value.most() as f64;
        // The share of matching values, the values of a document, and the cost of a filter.
        let (values, each, cost) = match &self.want {
            WantedSet::Exists => (1.0, 1.0, 0.02),
            WantedSet::Numbers(members) => {
                let span = |bounds: RangeInclusive<i64>| bounds.end().abs_diff(*bounds.start()) as f64 + 1.0;
                let values = members.count() / value_bounds(&*self.column).map_or(1.0, span).max(1.0);
                let cost = match (info.is_multi_valued(), self.column.values()) {
                    (true, _) => 1.5,
                    (false, Values::Ords(..)) => 0.15,
                    (false, _) => 0.2,
                };
                (values, info.value_count.most() as f64 / with_value.max(1.0), cost)
            }
            WantedSet::Bytes(Matcher::Ranges(spans)) => {
                ((0.1 * spans.list().len() as f64).min(0.9), 1.0, 20.0)
            }
            WantedSet::Bytes(_) => (0.1, 1.0, 60.0),
        };
        let share = with_value / f64::from(info.docs.max(1))
            * (1.0 - (1.0 - values.clamp(0.0, 1.0)).powf(each.max(1.0)));
        let passes = match &self.want {
            WantedSet::Numbers(_) if self.leading => 0.001,
            WantedSet::Numbers(members) => members.ranges.len().min(self.most_filters() + 2) as f64,
            _ => 1.0,
        };
        (share, cost * each.max(1.0) * passes)
    }

    /// Sets the bits of the documents of `docs` that match, and adds to the pruning statistics `pruned`.
    pub(super) fn fill(&self, docs: DocRange, bits: &mut [u64], pruned: &mut Pruning) -> Result<()> {
        match (&self.want, self.column.values()) {
            (WantedSet::Exists, _) => self.column.exists(docs, bits)?,
            (WantedSet::Numbers(members), _) if members.ranges.len() <= self.most_filters() => {
                for range in &members.ranges {
                    filter_numbers(&*self.column, docs, range, bits, pruned)?;
                }
            }
            (WantedSet::Numbers(members), Values::Numbers(rows)) => {
                filter_by_scan(rows, docs, bits, pruned, |row| members.contains_any(row))?;
            }
            (WantedSet::Numbers(members), Values::Ords(rows, _)) => {
                filter_by_scan(rows, docs, bits, pruned, |row| members.contains_any_ord(row))?;
            }
            (WantedSet::Bytes(Matcher::Ranges(spans)), Values::Bytes(rows)) if spans.list().len() == 1 => {
                for (low, end) in spans.list() {
                    let high = match end {
                        End::Before(end) => Bound::Excluded(end.clone()),
                        End::Never => Bound::Unbounded,
                    };
                    rows.filter(docs, &(Bound::Included(low.clone()), high), bits, pruned)?;
                }
            }
            (WantedSet::Bytes(matcher), Values::Bytes(rows)) => {
                filter_by_scan(rows, docs, bits, pruned, |row| matcher.is_match(row))?;
            }
            // Byte strings of other columns were looked up in the dictionary.
            (WantedSet::Numbers(_), Values::Bytes(_)) | (WantedSet::Bytes(_), _) => {}
        }
        Ok(())
    }

    /// The most ranges to evaluate by one filter call each.
    fn most_filters(&self) -> usize {
        if self.column.info().is_multi_valued() { MAX_LIST_FILTERS } else { MAX_FILTERS }
    }

    /// The ratio of documents to candidates from which checking each candidate is cheaper than a filter.
    pub(super) fn few(&self) -> usize {
        match (&self.want, self.column.values()) {
            (WantedSet::Exists, _) => usize::MAX,
            // A filter reads all byte strings, so checking some is hardly ever slower.
            (_, Values::Bytes(_)) => 2,
            _ if self.column.info().is_multi_valued() => 16,
            _ if self.leading => usize::MAX,
            _ => 64,
        }
    }

    /// Clears the bits of the candidates that do not match; bit 0 stands for document `first`. Returns the number of
    /// values read.
    pub(super) fn check(&self, first: u32, candidates: &mut [u64], buffers: &mut Buffers) -> Result<u64> {
        let size = if matches!(self.want, WantedSet::Bytes(_)) { GATHER_STRINGS } else { GATHER };
        let Buffers { docs: list, numbers, ords, bytes } = buffers;
        list.clear();
        bits::push_docs(candidates, first, list);
        let mut read = 0;
        for docs in list.chunks(size) {
            let batch = BatchDocs::List(docs);
            read += match (&self.want, self.column.values()) {
                (WantedSet::Numbers(members), Values::Numbers(rows)) => {
                    rows.gather(batch, numbers)?;
                    retain(first, docs, candidates, numbers, |row| members.contains_any(row))
                }
                (WantedSet::Numbers(members), Values::Ords(rows, _)) => {
                    rows.gather(batch, ords)?;
                    retain(first, docs, candidates, ords, |row| members.contains_any_ord(row))
                }
                (WantedSet::Bytes(matcher), Values::Bytes(rows)) => {
                    rows.gather(batch, bytes)?;
                    retain(first, docs, candidates, bytes, |row| matcher.is_match(row));
                    docs.len()
                }
                // Excluded by `few`.
                (WantedSet::Exists | WantedSet::Bytes(_), _) | (WantedSet::Numbers(_), Values::Bytes(_)) => 0,
            } as u64;
        }
        Ok(read)
    }

    /// The smallest range within `docs` that holds every matching document, as far as skip indexes tell. Adds the zones
    /// outside to `pruned`.
    pub(super) fn candidates(&self, docs: DocRange, pruned: &mut Pruning) -> Result<DocRange> {
        let WantedSet::Numbers(members) = &self.want else { return Ok(docs) };
        let Some((first, last)) = members.ranges.first().zip(members.ranges.last()) else {
            return Ok(docs.clip(docs.start));
        };
        skip::range_that_may_hold(&*self.column, docs, &(*first.start()..=*last.end()), pruned)
    }

    /// The number of matching documents, if the column's description has it.
    pub(super) fn known_count(&self) -> Option<u64> {
        self.column.info().with_value.exact().filter(|_| matches!(self.want, WantedSet::Exists))
    }

    /// The number of matching documents, if zones decide all but `most` documents: see [`skip::count_by_zones`].
    pub(super) fn count_by_zones(&self, most: &mut usize) -> Result<Option<u64>> {
        match &self.want {
            WantedSet::Numbers(Members { ranges, .. }) if ranges.len() == 1 => {
                skip::count_by_zones(&*self.column, &ranges[0], most)
            }
            _ => Ok(None),
        }
    }

    /// Describes the evaluation method.
    pub(super) fn how(&self) -> String {
        let field = &self.column.info().field;
        let with_value = with_separators(self.column.info().with_value.most());
        match (&self.want, self.column.values()) {
            (WantedSet::Exists, _) => format!("presence: {with_value} documents have a value"),
            (WantedSet::Numbers(members), Values::Ords(_, terms)) => {
                let all = with_separators(terms.term_count().into());
                let what = match members.ranges.as_slice() {
                    [only] if only.start() == only.end() => format!("term {} of {all}", only.start()),
                    [only] => format!("terms {}..{} of {all}", only.start(), only.end().saturating_add(1)),
                    ranges => {
                        let count: u64 =
                            ranges.iter().map(|range| range.end().abs_diff(*range.start()) + 1).sum();
                        format!("{} terms in {} ranges of {all}", with_separators(count), ranges.len())
                    }
                };
                self.with_order(what)
            }
            (WantedSet::Numbers(members), _) => {
                let text = |number| super::column_condition::number_text(field.logical, number);
                let what = match members.ranges.as_slice() {
                    [only] if only.start() == only.end() => format!("value {}", text(*only.start())),
                    [only] => format!("values {} to {}", text(*only.start()), text(*only.end())),
                    ranges => format!("{} ranges of values", ranges.len()),
                };
                self.with_order(what)
            }
            (WantedSet::Bytes(Matcher::Ranges(spans)), _) => match spans.list().len() {
                1 => "scan of byte strings".into(),
                ranges => format!("scan of byte strings for {ranges} ranges"),
            },
            (WantedSet::Bytes(_), _) => "scan of byte strings for a pattern".into(),
        }
    }

    fn with_order(&self, what: String) -> String {
        let many =
            matches!(&self.want, WantedSet::Numbers(members) if members.ranges.len() > self.most_filters());
        match (self.leading && !many, many) {
            (true, _) => format!("{what}: a range of documents, sorted by the column"),
            (_, true) => format!("{what}, checked value by value"),
            _ => what,
        }
    }
}

/// Clears the bits of the documents whose values do not match. Returns the number of values.
fn retain<T: Element>(
    first: u32,
    docs: &[DocId],
    bits: &mut [u64],
    gathered: &Gathered<T>,
    wanted: impl Fn(&[T]) -> bool,
) -> usize {
    let mut keep = |doc: &DocId, wanted: bool| {
        let at = (doc.get() - first) as usize;
        bits[at / 64] &= !(u64::from(!wanted) << (at % 64));
    };
    if let Some(present) = gathered.present() {
        docs.iter().enumerate().for_each(|(i, doc)| keep(doc, bits::get(present, i)));
    }
    match gathered.view() {
        View::One(values) => {
            docs.iter().zip(values).for_each(|(doc, value)| keep(doc, wanted(std::slice::from_ref(value))));
            values.len()
        }
        View::Many(lists) => {
            docs.iter().zip(lists.iter()).for_each(|(doc, row)| keep(doc, wanted(row)));
            lists.items().len()
        }
    }
}
