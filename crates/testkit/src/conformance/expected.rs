//! The expected rows of a column, generic over the element.

use std::fmt::{self, Debug};
use std::ops::{Bound, RangeInclusive};

use docvalues_column::{
    BatchDocs, ByteRange, DocId, DocRange, Gathered, OrdRange, Result, Rows, TermOrd, Values,
};

use crate::model::Item;
use crate::rng::SplitMix64;

/// An element of rows, with values for tests.
pub(super) trait Probe: Item + Ord {
    /// Fill values for documents without a value.
    const FILLS: &[Self];

    /// A value that no tested column has.
    const WRONG: Self;

    /// The rows of a column, if they have this element.
    fn rows(values: Values<'_>) -> Option<&dyn Rows<Self>>;

    /// Filters to test on a column with these rows.
    fn queries(rows: &[&[Self]], rng: &mut SplitMix64) -> Vec<Self::Range>;

    /// A row, formatted for the message of a failed check.
    fn show(row: Option<&[Self]>) -> String {
        short(&row)
    }
}

impl Probe for i64 {
    const FILLS: &[i64] = &[i64::MIN, -1, 0, i64::MAX];
    const WRONG: i64 = i64::MIN + 77;

    fn rows(values: Values<'_>) -> Option<&dyn Rows<i64>> {
        values.numbers()
    }

    fn queries(rows: &[&[i64]], rng: &mut SplitMix64) -> Vec<RangeInclusive<i64>> {
        let all = rows.concat();
        let (low, high) = bounds(&all).unwrap_or(0..=0).into_inner();
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
        for _ in 0..if all.is_empty() { 0 } else { 6 } {
            let (a, b) = (*rng.pick(&all), *rng.pick(&all));
            queries.push(a.min(b)..=a.max(b));
            queries.push(a..=a);
            // Bounds that mostly fall between two values.
            queries.push(a.min(b).saturating_add(1)..=a.max(b).saturating_sub(1));
        }
        queries
    }
}

impl Probe for TermOrd {
    const FILLS: &[TermOrd] = &[TermOrd::new(0), TermOrd::new(1), TermOrd::new(u32::MAX)];
    const WRONG: TermOrd = TermOrd::new(u32::MAX - 77);

    fn rows(values: Values<'_>) -> Option<&dyn Rows<TermOrd>> {
        values.ords()
    }

    fn queries(rows: &[&[TermOrd]], rng: &mut SplitMix64) -> Vec<OrdRange> {
        let terms = rows.iter().copied().flatten().map(|ord| ord.get() + 1).max().unwrap_or(0);
        let last = terms.saturating_sub(1);
        let mut queries = vec![
            (0, terms),
            (0, u32::MAX),
            (0, 0),
            (terms, terms),
            (0, 1),
            (last, terms),
            (1, last),
            (terms, u32::MAX),
            (last.max(1), 0),
            (u32::MAX, u32::MAX),
        ];
        for _ in 0..if terms == 0 { 0 } else { 6 } {
            let (a, b) = (rng.below_u32(terms), rng.below_u32(terms));
            queries.extend([(a, a + 1), (a.min(b), a.max(b))]);
        }
        queries.into_iter().map(|(start, end)| OrdRange::new(start, end)).collect()
    }
}

impl Probe for u8 {
    const FILLS: &[u8] = &[0, b'x'];
    const WRONG: u8 = b'?';

    fn rows(values: Values<'_>) -> Option<&dyn Rows<u8>> {
        values.bytes()
    }

    fn queries(rows: &[&[u8]], rng: &mut SplitMix64) -> Vec<ByteRange> {
        use Bound::{Excluded, Included, Unbounded};
        let mut queries = vec![
            (Unbounded, Unbounded),
            (Included(vec![]), Included(vec![])),
            (Excluded(vec![]), Unbounded),
            (Included(vec![0xff; 9]), Excluded(vec![])),
            (Excluded(b"m".to_vec()), Excluded(b"m".to_vec())),
        ];
        for _ in 0..if rows.is_empty() { 0 } else { 3 } {
            let (a, b) = (*rng.pick(rows), *rng.pick(rows));
            let (low, high) = (a.min(b).to_vec(), a.max(b).to_vec());
            queries.extend([
                (Included(low.clone()), Included(high.clone())),
                (Excluded(low.clone()), Excluded(high.clone())),
                (Included(low.clone()), Included(low.clone())),
                (Unbounded, Excluded(high.clone())),
                (Included(high), Included(low)),
            ]);
        }
        queries
    }

    fn show(row: Option<&[u8]>) -> String {
        row.map_or_else(|| "None".into(), |row| short(&Text(row)))
    }
}

/// The smallest and the largest of `numbers`.
pub(super) fn bounds(numbers: &[i64]) -> Option<RangeInclusive<i64>> {
    Some(*numbers.iter().min()?..=*numbers.iter().max()?)
}

/// The expected contents of a column: a row or `None` for each document.
pub(super) struct Expected<T> {
    pub(super) name: String,
    /// Whether rows are lists.
    pub(super) is_many: bool,
    pub(super) rows: Vec<Option<Vec<T>>>,
}

impl<T: Probe> Expected<T> {
    pub(super) fn of(name: &str, docs: u32, is_many: bool, model: &dyn Rows<T>) -> Expected<T> {
        let row = |doc| {
            let mut row = Vec::new();
            good(model.get(DocId::new(doc), &mut row), name, "get of the model").then_some(row)
        };
        Expected { name: name.into(), is_many, rows: (0..docs).map(row).collect() }
    }

    pub(super) fn docs(&self) -> u32 {
        self.rows.len() as u32
    }

    /// The row of `doc`; `None` past the last document.
    pub(super) fn get(&self, doc: u32) -> Option<&[T]> {
        self.rows.get(doc as usize).and_then(Option::as_deref)
    }

    /// The documents of `docs` that have a value, and their rows.
    pub(super) fn within(&self, docs: DocRange) -> impl Iterator<Item = (u32, &[T])> {
        (docs.start..docs.end.min(self.docs())).filter_map(|doc| Some((doc, self.get(doc)?)))
    }

    /// All rows, without those of documents that have no value.
    pub(super) fn all(&self) -> Vec<&[T]> {
        self.rows.iter().flatten().map(Vec::as_slice).collect()
    }

    /// Panics unless `row` is the expected row of `doc`.
    pub(super) fn same(&self, operation: &str, doc: u32, row: Option<&[T]>) {
        let wanted = self.get(doc);
        let (name, equal) = (&self.name, same(row, wanted));
        assert!(
            equal,
            "column \"{name}\": {operation}: document {doc} has {}, not {}",
            T::show(wanted),
            T::show(row)
        );
    }

    /// Panics unless `out` has the expected rows of `docs`. `is_tracked` if `out` records presence.
    pub(super) fn gathered(&self, operation: &str, docs: BatchDocs<'_>, out: &Gathered<T>, is_tracked: bool) {
        let name = &self.name;
        assert_eq!(out.len(), docs.len(), "column \"{name}\": {operation}: rows for documents");
        assert_eq!(out.is_many(), self.is_many, "column \"{name}\": {operation}: whether rows are lists");
        let (view, fill) = (out.view(), [out.fill()]);
        let missing = if self.is_many { &[][..] } else { &fill };
        for (at, doc) in docs.iter().enumerate() {
            let (row, wanted) = (view.row(at), self.get(doc.get()));
            if !same(Some(row), Some(wanted.unwrap_or(missing))) {
                match wanted {
                    Some(_) => self.same(operation, doc.get(), Some(row)),
                    None => panic!(
                        "column \"{name}\": {operation}: document {doc} is missing, but its row is {}",
                        T::show(Some(row))
                    ),
                }
            }
        }
        if !T::EMPTY_IS_VALUE && (self.is_many || !is_tracked) {
            return;
        }
        for (at, doc) in docs.iter().enumerate() {
            let is_present = out.present().is_none_or(|bits| docvalues_column::bits::get(bits, at));
            assert_eq!(
                is_present,
                self.get(doc.get()).is_some(),
                "column \"{name}\": {operation}: whether document {doc} is present"
            );
        }
    }
}

/// Whether two rows are equal.
///
/// Empty rows are compared apart: an empty vector has a dangling pointer, and a `memcmp` built on masked loads takes
/// 200 ns to compare no bytes there. A column of 200,000 empty strings would take seconds to check.
pub(super) fn same<T: PartialEq>(a: Option<&[T]>, b: Option<&[T]>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.len() == b.len() && (a.is_empty() || a == b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// The result of an operation that must not fail.
pub(super) fn good<T>(result: Result<T>, name: &str, operation: &str) -> T {
    result.unwrap_or_else(|error| panic!("column \"{name}\": {operation}: failed on good bytes: {error}"))
}

/// Documents at the ends of words, of rank strides, of blocks of values and of presence, and of the source.
pub(super) fn edges(docs: u32) -> Vec<u32> {
    let steps = [64, 512, 4096, 1 << 14, 1 << 16, 1 << 17, 3 << 16, docs];
    let mut edges: Vec<u32> = steps.iter().flat_map(|&at: &u32| at.saturating_sub(2)..at + 2).collect();
    edges.extend([0, 1]);
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// A value, cut to the length of a line: some values are 100 KB long.
pub(super) fn short(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    if text.len() > 200 { text.chars().take(200).chain(['…']).collect() } else { text }
}

/// A byte string, formatted as text.
pub(super) struct Text<'a>(pub(super) &'a [u8]);

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Text<'_>) -> bool {
        same(Some(self.0), Some(other.0))
    }
}

impl Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}
