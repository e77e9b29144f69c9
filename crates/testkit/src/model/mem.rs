//! A column in memory, with a slot for each document.

use std::ops::{Bound, ControlFlow, RangeInclusive};

use docvalues_column::{
    Batch, BatchDocs, Bounds, ByteRange, Column, ColumnInfo, Count, DocId, DocRange, Each, Element, Field,
    Gathered, Kind, Lists, LogicalType, OrdRange, Pruning, Result, Rows, SkipIndex, TermOrd, Values, View,
    bits,
};

use super::{MemSkipIndex, MemTerms};

/// An element of a column in memory: a number, an ord, or a byte.
pub trait Item: Element {
    /// The values of a column with these rows.
    fn values<'c>(rows: &'c dyn Rows<Self>, terms: &'c MemTerms) -> Values<'c>;

    /// The numbers of a row; empty unless the element is a number.
    fn numbers(_row: &[Self]) -> &[i64] {
        &[]
    }

    /// Whether a filter for `wanted` finds a document with this row.
    fn matches(row: &[Self], wanted: &Self::Range) -> bool;
}

impl Item for i64 {
    fn values<'c>(rows: &'c dyn Rows<i64>, _: &'c MemTerms) -> Values<'c> {
        Values::Numbers(rows)
    }

    fn numbers(row: &[i64]) -> &[i64] {
        row
    }

    fn matches(row: &[i64], wanted: &RangeInclusive<i64>) -> bool {
        row.iter().any(|number| wanted.start() <= number && number <= wanted.end())
    }
}

impl Item for TermOrd {
    fn values<'c>(rows: &'c dyn Rows<TermOrd>, terms: &'c MemTerms) -> Values<'c> {
        Values::Ords(rows, terms)
    }

    fn matches(row: &[TermOrd], wanted: &OrdRange) -> bool {
        row.iter().any(|ord| wanted.start <= ord.get() && ord.get() < wanted.end)
    }
}

impl Item for u8 {
    fn values<'c>(rows: &'c dyn Rows<u8>, _: &'c MemTerms) -> Values<'c> {
        Values::Bytes(rows)
    }

    fn matches(row: &[u8], (low, high): &ByteRange) -> bool {
        // An empty vector has a dangling pointer, and `memcmp` of no bytes there can take 200 ns.
        let order = |bound: &[u8]| match (row, bound) {
            ([], _) | (_, []) => row.len().cmp(&bound.len()),
            _ => row.cmp(bound),
        };
        let above = match low {
            Bound::Unbounded => true,
            Bound::Included(low) => order(low).is_ge(),
            Bound::Excluded(low) => order(low).is_gt(),
        };
        let below = match high {
            Bound::Unbounded => true,
            Bound::Included(high) => order(high).is_le(),
            Bound::Excluded(high) => order(high).is_lt(),
        };
        above && below
    }
}

/// The slot of one document: no value, one, or several.
pub trait Slot: Send + Sync {
    /// The element of its row.
    type Item: Item;

    /// Whether rows are lists.
    const IS_LIST: bool;

    /// The document's row; `None` without a value.
    fn row(&self) -> Option<&[Self::Item]>;
}

/// An element that is a value by itself. A byte is not.
pub trait Single: Item {}

impl Single for i64 {}
impl Single for TermOrd {}

impl<T: Single> Slot for Option<T> {
    type Item = T;

    const IS_LIST: bool = false;

    fn row(&self) -> Option<&[T]> {
        self.as_ref().map(std::slice::from_ref)
    }
}

impl<T: Single> Slot for Vec<T> {
    type Item = T;

    const IS_LIST: bool = true;

    fn row(&self) -> Option<&[T]> {
        (!self.is_empty()).then_some(self)
    }
}

impl Slot for Option<Vec<u8>> {
    type Item = u8;

    const IS_LIST: bool = true;

    fn row(&self) -> Option<&[u8]> {
        self.as_deref()
    }
}

/// A column in memory: slot `i` is document `i`. Documents without a slot have no value.
#[derive(Clone, Debug)]
pub struct Mem<S> {
    info: ColumnInfo,
    slots: Vec<S>,
    terms: MemTerms,
    skip_index: Option<MemSkipIndex>,
}

/// A numeric column in memory.
pub type MemNumeric = Mem<Option<i64>>;

impl<S: Slot> Mem<S> {
    /// A column of `docs` documents.
    ///
    /// # Panics
    ///
    /// If the field does not fit, a row descends, or there are more slots than documents.
    pub fn new(field: Field, docs: u32, slots: Vec<S>) -> Mem<S> {
        Mem::with_terms(field, docs, slots, MemTerms::default())
    }

    /// A column of `docs` documents whose ords point into `terms`.
    ///
    /// # Panics
    ///
    /// As [`new`](Self::new).
    pub fn with_terms(field: Field, docs: u32, slots: Vec<S>, terms: MemTerms) -> Mem<S> {
        assert!(field.logical.fits(field.kind), "field \"{}\" of {}", field.name, field.logical.name());
        assert!(slots.len() <= docs as usize, "field \"{}\": {} slots, {docs} docs", field.name, slots.len());
        let rows = || slots.iter().filter_map(S::row);
        let numbers = || rows().flat_map(S::Item::numbers).copied();
        assert!(rows().all(|row| S::Item::numbers(row).is_sorted()), "field \"{}\": unsorted", field.name);
        let has_numbers = matches!(field.kind, Kind::Numeric | Kind::SortedNumeric);
        let bounds = match numbers().min().zip(numbers().max()) {
            Some((min, max)) => Bounds::Exact(min..=max),
            None if has_numbers => Bounds::NONE,
            None => Bounds::Unknown,
        };
        let sum = has_numbers && field.logical != LogicalType::F64;
        let skip_index = (field.kind == Kind::Numeric).then(|| {
            let slots = slots.iter().map(|slot| slot.row().and_then(|row| S::Item::numbers(row).first()));
            MemSkipIndex::new(docs, &slots.map(Option::<&i64>::copied).collect::<Vec<_>>())
        });
        let with_value = rows().count() as u64;
        let value_count =
            if field.kind.is_multi_valued() { rows().map(|row| row.len() as u64).sum() } else { with_value };
        let info = ColumnInfo {
            with_value: Count::Exact(with_value),
            value_count: Count::Exact(value_count),
            bounds,
            sum: sum.then(|| numbers().map(i128::from).sum()),
            field,
            docs,
        };
        let column = Mem { info, slots, terms, skip_index };
        let kind = match (column.values(), S::IS_LIST) {
            (Values::Numbers(_), false) => Kind::Numeric,
            (Values::Numbers(_), true) => Kind::SortedNumeric,
            (Values::Ords(..), false) => Kind::Sorted,
            (Values::Ords(..), true) => Kind::SortedSet,
            (Values::Bytes(_), _) => Kind::Binary,
        };
        assert_eq!(column.info.kind(), kind, "field \"{}\"", column.info.field.name);
        column
    }

    /// The row of `doc`; `None` if it has no value.
    pub fn row(&self, doc: DocId) -> Option<&[S::Item]> {
        self.slots.get(doc.get() as usize).and_then(S::row)
    }

    /// Adds to `bits` every document of `docs` whose row is `wanted`.
    fn add(&self, docs: DocRange, bits: &mut [u64], wanted: impl Fn(&[S::Item]) -> bool) {
        assert!(bits.len() >= docs.len().div_ceil(64), "{} words for {docs:?}", bits.len());
        for doc in docs.start..docs.end.min(self.info.docs) {
            if self.row(DocId::new(doc)).is_some_and(&wanted) {
                bits::set(bits, (doc - docs.start) as usize);
            }
        }
    }
}

impl<S: Slot> Column for Mem<S> {
    fn info(&self) -> &ColumnInfo {
        &self.info
    }

    fn exists(&self, docs: DocRange, bits: &mut [u64]) -> Result<()> {
        self.add(docs, bits, |_| true);
        Ok(())
    }

    fn values(&self) -> Values<'_> {
        S::Item::values(self, &self.terms)
    }

    fn skip_index(&self) -> Option<&dyn SkipIndex> {
        self.skip_index.as_ref().map(|index| index as &dyn SkipIndex)
    }
}

/// Documents in a batch of a scan: not a power of two, so that batches end within words.
const BATCH: usize = 100;

impl<S: Slot> Rows<S::Item> for Mem<S> {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<S::Item>) -> Result<()> {
        let fill = out.fill();
        if S::IS_LIST {
            let (lists, mut presence) = out.begin_many(docs.len());
            for (at, doc) in docs.iter().enumerate() {
                lists.push(self.row(doc).unwrap_or_default());
                presence.mark(at, self.row(doc).is_some());
            }
        } else {
            let (values, mut presence) = out.begin_one(docs.len());
            for (at, doc) in docs.iter().enumerate() {
                values[at] = self.row(doc).map_or(fill, |row| row[0]);
                presence.mark(at, self.row(doc).is_some());
            }
        }
        Ok(())
    }

    /// Consecutive documents come as a run, others as a list, so that callers meet both.
    fn scan(&self, docs: DocRange, each: &mut Each<'_, S::Item>) -> Result<()> {
        let docs = (docs.start..docs.end.min(self.info.docs)).map(DocId::new);
        let with_value: Vec<DocId> = docs.filter(|doc| self.row(*doc).is_some()).collect();
        for batch in with_value.chunks(BATCH) {
            let (first, end) = (batch[0].get(), batch[batch.len() - 1].get() + 1);
            let is_run = (end - first) as usize == batch.len();
            let docs =
                if is_run { BatchDocs::Run(DocRange::new(first, end)) } else { BatchDocs::List(batch) };
            let rows = batch.iter().filter_map(|doc| self.row(*doc));
            let (mut lists, mut values) = (Lists::new(), Vec::new());
            let values = if S::IS_LIST {
                rows.for_each(|row| lists.push(row));
                View::Many(lists.slices())
            } else {
                rows.for_each(|row| values.push(row[0]));
                View::One(&values)
            };
            if let ControlFlow::Break(()) = each(Batch { docs, values }) {
                break;
            }
        }
        Ok(())
    }

    fn filter(
        &self,
        docs: DocRange,
        wanted: &<S::Item as Element>::Range,
        bits: &mut [u64],
        pruned: &mut Pruning,
    ) -> Result<()> {
        pruned.read += docs.len() as u64;
        self.add(docs, bits, |row| S::Item::matches(row, wanted));
        Ok(())
    }

    fn get(&self, doc: DocId, out: &mut Vec<S::Item>) -> Result<bool> {
        *out = self.row(doc).unwrap_or_default().to_vec();
        Ok(self.row(doc).is_some())
    }
}
