//! One condition on one column, run over some documents: by the column's own filter, or by looking at candidates.

use std::ops::{Bound, ControlFlow, Range, RangeInclusive};

use docvalues_column::{AnyColumn, BatchDocs, DocId, FilterCounts, Lists, Slices, TermOrd, bits};

use super::column::{Wanted, term_count};
use super::spans::{End, Spans};
use crate::Result;

/// Ranges for each of which a filter of numbers is run; for more of them, the values are looked at one by one.
const MAX_FILTERS: usize = 8;

/// The same where a document has several values.
const MAX_LIST_FILTERS: usize = 4;

/// The most numbers that are wanted by a bitmap, and not by a binary search.
const MAX_MAP: u64 = 1 << 20;

/// Documents whose values are gathered together.
const GATHER: usize = 1024;

/// The same of byte strings, which may be long.
const GATHER_STRINGS: usize = 64;

/// A condition on a column. Made once, run on any thread.
#[derive(Debug)]
pub(super) struct Leaf {
    pub(super) column: AnyColumn,
    pub(super) want: Want,
    /// Whether the documents are sorted by the column first.
    pub(super) leading: bool,
}

/// What values must be, made ready to be looked for.
#[derive(Debug)]
pub(super) enum Want {
    Exists,
    /// Numbers, or ords as numbers.
    Numbers(Members),
    Strings(Spans<Vec<u8>>),
}

/// A set of numbers.
#[derive(Debug)]
pub(super) struct Members {
    pub(super) ranges: Vec<RangeInclusive<i64>>,
    /// The first number and a bit for each from there on; for many ranges that lie close together.
    map: Option<(i64, Vec<u64>)>,
}

impl Members {
    fn new(spans: &Spans<i64>) -> Members {
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

    /// How many numbers there are.
    fn count(&self) -> f64 {
        self.ranges.iter().map(|range| range.end().abs_diff(*range.start()) as f64 + 1.0).sum()
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
pub(super) struct Gathered {
    docs: Vec<DocId>,
    numbers: Vec<i64>,
    ords: Vec<TermOrd>,
    present: Vec<u64>,
    number_lists: Lists<i64>,
    ord_lists: Lists<TermOrd>,
    strings: Lists<u8>,
}

impl Leaf {
    pub(super) fn new(column: AnyColumn, wanted: &Wanted, leading: bool) -> Leaf {
        let want = match wanted {
            Wanted::Exists => Want::Exists,
            Wanted::Numbers(spans) | Wanted::Ords(spans) => Want::Numbers(Members::new(spans)),
            Wanted::Strings(spans) => Want::Strings(spans.clone()),
        };
        Leaf { column, want, leading }
    }

    /// The share of documents that are expected to match, if values lie evenly, and what it costs to find out for a
    /// document, in nanoseconds: rough, for what orders clauses.
    pub(super) fn expect(&self) -> (f64, f64) {
        let docs = f64::from(self.column.as_column().docs().max(1));
        let with_value = f64::from(self.column.as_column().docs_with_value());
        let wanted = |members: &Members, all: f64| members.count() / all.max(1.0);
        let span = |bounds: Option<RangeInclusive<i64>>| {
            bounds.map_or(1.0, |b| b.end().abs_diff(*b.start()) as f64 + 1.0)
        };
        // The share of values, values of a document, and the cost of a filter.
        let (values, each, cost) = match (&self.want, &self.column) {
            (Want::Exists, _) => (1.0, 1.0, 0.02),
            (Want::Numbers(members), AnyColumn::Numeric(column)) => {
                (wanted(members, span(column.bounds())), 1.0, 0.2)
            }
            (Want::Numbers(members), AnyColumn::SortedNumeric(column)) => (
                wanted(members, span(column.bounds())),
                column.value_count() as f64 / with_value.max(1.0),
                1.5,
            ),
            (Want::Numbers(members), AnyColumn::SortedSet(column)) => (
                wanted(members, column.term_count().into()),
                column.value_count() as f64 / with_value.max(1.0),
                1.5,
            ),
            (Want::Numbers(members), column) => (wanted(members, term_count(column).into()), 1.0, 0.15),
            (Want::Strings(spans), _) => ((0.1 * spans.list().len() as f64).min(0.9), 1.0, 20.0),
        };
        let share = with_value / docs * (1.0 - (1.0 - values.clamp(0.0, 1.0)).powf(each.max(1.0)));
        let passes = match &self.want {
            Want::Numbers(_) if self.leading => 0.001,
            Want::Numbers(members) => members.ranges.len().min(self.most_filters() + 2) as f64,
            _ => 1.0,
        };
        (share, cost * each.max(1.0) * passes)
    }

    /// Adds the documents of `docs` that match, and to `counts` how they were found.
    pub(super) fn fill(&self, docs: Range<u32>, bits: &mut [u64], counts: &mut FilterCounts) -> Result<()> {
        match (&self.want, &self.column) {
            (Want::Exists, column) => column.as_column().exists(docs, bits)?,
            (Want::Numbers(members), _) => self.fill_numbers(members, docs, bits, counts)?,
            (Want::Strings(spans), AnyColumn::Binary(column)) => match spans.list() {
                [(low, end)] => {
                    let high = match end {
                        End::Before(end) => Bound::Excluded(end.as_slice()),
                        End::Never => Bound::Unbounded,
                    };
                    column.filter(docs, Bound::Included(low), high, bits)?;
                }
                _ => {
                    let first = docs.start;
                    column.scan(docs, &mut |batch| {
                        counts.read += batch.values.len() as u64;
                        mark(first, batch.docs, batch.values.iter().map(|value| spans.contains(value)), bits);
                        ControlFlow::Continue(())
                    })?;
                }
            },
            // Byte strings of other columns were looked up in the dictionary.
            (Want::Strings(_), _) => {}
        }
        Ok(())
    }

    fn fill_numbers(
        &self,
        members: &Members,
        docs: Range<u32>,
        bits: &mut [u64],
        counts: &mut FilterCounts,
    ) -> Result<()> {
        if members.ranges.len() <= self.most_filters() {
            for range in &members.ranges {
                let docs = docs.clone();
                match &self.column {
                    AnyColumn::Numeric(column) => {
                        column.filter_counting(docs, range.clone(), bits, counts)?;
                    }
                    AnyColumn::SortedNumeric(column) => {
                        column.filter_counting(docs, range.clone(), bits, counts)?;
                    }
                    AnyColumn::Sorted(column) => column.filter_counting(docs, ords(range), bits, counts)?,
                    AnyColumn::SortedSet(column) => {
                        column.filter_counting(docs, ords(range), bits, counts)?
                    }
                    AnyColumn::Binary(_) => {}
                }
            }
            return Ok(());
        }
        let (first, go_on) = (docs.start, ControlFlow::Continue(()));
        match &self.column {
            AnyColumn::Numeric(column) => column.scan(docs, &mut |batch| {
                counts.read += batch.values.len() as u64;
                mark(first, batch.docs, batch.values.iter().map(|&number| members.contains(number)), bits);
                go_on
            })?,
            AnyColumn::Sorted(column) => column.scan(docs, &mut |batch| {
                counts.read += batch.values.len() as u64;
                let wanted = |ord: &TermOrd| members.contains(ord.get().into());
                mark(first, batch.docs, batch.values.iter().map(wanted), bits);
                go_on
            })?,
            AnyColumn::SortedNumeric(column) => column.scan(docs, &mut |batch| {
                counts.read += batch.values.items().len() as u64;
                mark(first, batch.docs, any_of(batch.values, |&number| members.contains(number)), bits);
                go_on
            })?,
            AnyColumn::SortedSet(column) => column.scan(docs, &mut |batch| {
                counts.read += batch.values.items().len() as u64;
                mark(first, batch.docs, any_of(batch.values, |ord| members.contains(ord.get().into())), bits);
                go_on
            })?,
            AnyColumn::Binary(_) => {}
        }
        Ok(())
    }

    /// For how many ranges a filter is run each.
    fn most_filters(&self) -> usize {
        match self.column {
            AnyColumn::SortedNumeric(_) | AnyColumn::SortedSet(_) => MAX_LIST_FILTERS,
            _ => MAX_FILTERS,
        }
    }

    /// One in how many documents must be a candidate for a filter to be cheaper than a look at each candidate.
    pub(super) fn few(&self) -> usize {
        match (&self.want, &self.column) {
            (Want::Exists, _) => usize::MAX,
            (_, AnyColumn::Numeric(_) | AnyColumn::Sorted(_)) if self.leading => usize::MAX,
            (_, AnyColumn::Numeric(_) | AnyColumn::Sorted(_)) => 64,
            (_, AnyColumn::SortedNumeric(_) | AnyColumn::SortedSet(_)) => 16,
            // All byte strings of a range are read, so it is hardly ever dearer to read some.
            (_, AnyColumn::Binary(_)) => 2,
        }
    }

    /// Clears the bits of those candidates that do not match; bit 0 is document `first`. Returns how many values were read.
    pub(super) fn check(&self, first: u32, candidates: &mut [u64], gathered: &mut Gathered) -> Result<u64> {
        let size = if matches!(self.want, Want::Strings(_)) { GATHER_STRINGS } else { GATHER };
        let mut docs = std::mem::take(&mut gathered.docs);
        docs.clear();
        bits::docs(candidates, first, &mut docs);
        let mut read = 0;
        for docs in docs.chunks(size) {
            read += self.check_some(first, docs, candidates, gathered)?;
        }
        gathered.docs = docs;
        Ok(read)
    }

    fn check_some(
        &self,
        first: u32,
        docs: &[DocId],
        bits: &mut [u64],
        gathered: &mut Gathered,
    ) -> Result<u64> {
        let Gathered { numbers, ords, present, number_lists, ord_lists, strings, .. } = gathered;
        let mut read = docs.len();
        numbers.resize(GATHER, 0);
        ords.resize(GATHER, TermOrd::new(0));
        present.resize(GATHER / 64, 0);
        match (&self.want, &self.column) {
            (Want::Numbers(members), AnyColumn::Numeric(column)) => {
                let numbers = &mut numbers[..docs.len()];
                column.gather(docs, numbers, present)?;
                retain(first, docs, bits, |i| bits::get(present, i) && members.contains(numbers[i]));
            }
            (Want::Numbers(members), AnyColumn::Sorted(column)) => {
                let ords = &mut ords[..docs.len()];
                column.gather(docs, ords, present)?;
                retain(first, docs, bits, |i| {
                    bits::get(present, i) && members.contains(ords[i].get().into())
                });
            }
            (Want::Numbers(members), AnyColumn::SortedNumeric(column)) => {
                column.gather(docs, number_lists)?;
                read = number_lists.slices().items().len();
                retain(first, docs, bits, |i| {
                    number_lists.get(i).iter().any(|&number| members.contains(number))
                });
            }
            (Want::Numbers(members), AnyColumn::SortedSet(column)) => {
                column.gather(docs, ord_lists)?;
                read = ord_lists.slices().items().len();
                retain(first, docs, bits, |i| {
                    ord_lists.get(i).iter().any(|ord| members.contains(ord.get().into()))
                });
            }
            (Want::Strings(spans), AnyColumn::Binary(column)) => {
                column.gather(docs, strings, present)?;
                retain(first, docs, bits, |i| bits::get(present, i) && spans.contains(strings.get(i)));
            }
            // `few` says that this is never asked.
            (Want::Exists, _) | (Want::Numbers(_), AnyColumn::Binary(_)) | (Want::Strings(_), _) => {}
        }
        Ok(read as u64)
    }

    /// A part of `docs` outside of which no document matches, as far as that is known.
    pub(super) fn candidates(&self, docs: Range<u32>) -> Result<Range<u32>> {
        match (&self.want, &self.column) {
            (Want::Numbers(members), AnyColumn::Numeric(column)) => match members.ranges.as_slice() {
                [] => Ok(docs.start..docs.start),
                [first, ..] => {
                    let last = members.ranges.last().unwrap_or(first);
                    let (values, mut all) = (*first.start()..=*last.end(), docs.start..docs.start);
                    column.candidates(docs, values, &mut FilterCounts::default(), &mut |some| {
                        all = if all.is_empty() { some } else { all.start..some.end };
                        ControlFlow::Continue(())
                    })?;
                    Ok(all)
                }
            },
            _ => Ok(docs),
        }
    }

    /// How many documents match, where the directory knows it.
    pub(super) fn known_count(&self) -> Option<u32> {
        matches!(self.want, Want::Exists).then(|| self.column.as_column().docs_with_value())
    }

    /// How the condition is evaluated, for people.
    pub(super) fn how(&self) -> String {
        let field = self.column.as_column().field();
        let with_value = grouped(self.column.as_column().docs_with_value().into());
        match (&self.want, &self.column) {
            (Want::Exists, _) => format!("presence: {with_value} documents have a value"),
            (Want::Numbers(members), AnyColumn::Sorted(_) | AnyColumn::SortedSet(_)) => {
                let all = grouped(term_count(&self.column).into());
                let what = match members.ranges.as_slice() {
                    [only] if only.start() == only.end() => format!("term {} of {all}", only.start()),
                    [only] => format!("terms {}..{} of {all}", only.start(), only.end().saturating_add(1)),
                    ranges => {
                        let count: u64 =
                            ranges.iter().map(|range| range.end().abs_diff(*range.start()) + 1).sum();
                        format!("{} terms in {} ranges of {all}", grouped(count), ranges.len())
                    }
                };
                self.with_order(what)
            }
            (Want::Numbers(members), _) => {
                let text = |number| super::column::number_text(field.logical, number);
                let what = match members.ranges.as_slice() {
                    [only] if only.start() == only.end() => format!("value {}", text(*only.start())),
                    [only] => format!("values {} to {}", text(*only.start()), text(*only.end())),
                    ranges => format!("{} ranges of values", ranges.len()),
                };
                self.with_order(what)
            }
            (Want::Strings(spans), _) => match spans.list().len() {
                1 => "scan of byte strings".into(),
                ranges => format!("scan of byte strings for {ranges} ranges"),
            },
        }
    }

    fn with_order(&self, what: String) -> String {
        let many = matches!(&self.want, Want::Numbers(members) if members.ranges.len() > self.most_filters());
        match (self.leading && !many, many) {
            (true, _) => format!("{what}: a run of documents, which are sorted by the column"),
            (_, true) => format!("{what}, each value looked up among them"),
            _ => what,
        }
    }
}

/// A number with commas.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A range of ords, which was cut to those of the dictionary.
fn ords(range: &RangeInclusive<i64>) -> Range<u32> {
    let ord = |number: i64| u32::try_from(number.max(0)).unwrap_or(u32::MAX);
    ord(*range.start())..ord(range.end().saturating_add(1))
}

/// Whether each list has an item that is wanted.
fn any_of<'a, T>(lists: Slices<'a, T>, wanted: impl Fn(&T) -> bool + 'a) -> impl Iterator<Item = bool> + 'a {
    lists.iter().map(move |list| list.iter().any(&wanted))
}

/// Adds those of a batch's documents that match; bit 0 is document `first`.
fn mark(first: u32, docs: BatchDocs<'_>, matches: impl Iterator<Item = bool>, bits: &mut [u64]) {
    for (doc, matches) in docs.iter().zip(matches) {
        let at = (doc.get() - first) as usize;
        bits[at / 64] |= u64::from(matches) << (at % 64);
    }
}

/// Clears the bits of the documents for whose places `matches` is not so.
fn retain(first: u32, docs: &[DocId], bits: &mut [u64], matches: impl Fn(usize) -> bool) {
    for (i, doc) in docs.iter().enumerate() {
        let at = (doc.get() - first) as usize;
        bits[at / 64] &= !(u64::from(!matches(i)) << (at % 64));
    }
}
