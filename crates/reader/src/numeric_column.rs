//! Open columns of numbers or ords, single-valued or multi-valued.

use std::ops::{ControlFlow, Range, RangeInclusive};
use std::sync::{Arc, OnceLock};

use docvalues_column::{
    Batch, BatchDocs, Column, ColumnInfo, DocId, DocRange, Each, Gathered, Lists, Pruning, Result, Rows,
    SkipIndex, Values, View, Zone, bits,
};
use docvalues_format::bits::{Work, multiversioned};
use docvalues_format::numeric::{Direct, Lookup, NumericReader};
use docvalues_format::presence::Indices;
use docvalues_storage::{Section, SharedBytes};

use crate::column::{BATCH, ColumnCore, FormatResult, presence_words, request};
use crate::dictionary::Dictionary;
use crate::element::Stored;
use crate::lists::ListReader;
use crate::row_lookup::RowLookup;
use crate::sort_key;

/// A buffer for a batch of values, aligned to cache lines: kernels write whole lines.
#[repr(align(64))]
struct BatchBuffer<T>([T; BATCH]);

/// An open column of numbers or ords.
#[derive(Debug)]
pub(crate) struct NumericColumn {
    pub(crate) core: ColumnCore,
    /// For a multi-valued column, the index of the first value of each document that has one.
    pub(crate) offsets: Option<NumericReader<Section>>,
    pub(crate) values: NumericReader<Section>,
    /// The look-ups of a single-valued column in which every document has a value, once all its bytes are verified. Not
    /// boxed, as that costs each look-up a load, and the processor can have only some 190 loads under way.
    pub(crate) lookup: OnceLock<Lookup<SharedBytes>>,
    /// The look-ups of any other column, once all its bytes are verified.
    pub(crate) row_lookup: OnceLock<Box<RowLookup>>,
    /// The dictionary, if the numbers are ords.
    pub(crate) terms: Option<Arc<Dictionary>>,
}

impl NumericColumn {
    /// A reader of lists, if the column is multi-valued.
    pub(crate) fn lists(&self) -> Option<ListReader<'_>> {
        let NumericColumn { core, offsets, values, .. } = self;
        offsets.as_ref().map(|offsets| ListReader { core, offsets, values })
    }

    /// Replaces the contents of `out` by the lists of `docs`.
    pub(crate) fn gather_lists<T: Stored>(&self, docs: &[DocId], out: &mut Lists<T>) -> Result<()> {
        out.clear();
        let Some(lists) = self.lists() else { return Ok(()) };
        let mut list = Vec::<T>::new();
        request(&self.core.source, docs, &mut |doc| {
            list.clear();
            // The gather below returns the same error.
            let _ = lists.read(doc, &mut list);
        });
        self.core.named(lists.gather(docs, out))
    }

    /// The value of `doc`, in a single-valued column.
    #[inline(always)]
    pub(crate) fn read(&self, doc: DocId) -> FormatResult<Option<i64>> {
        // Nothing else is tested in the common case: the fewer instructions, the more cache misses overlap.
        if let Some(lookup) = self.lookup.get()
            && let Some(value) = lookup.get(doc.get().into())
        {
            return Ok(Some(value));
        }
        let found = match self.row_lookup.get() {
            Some(lookup) => lookup.get(doc),
            None => self.read_verified(doc),
        };
        match found {
            Some(value) => Ok(value),
            None => self.read_checked(doc),
        }
    }

    /// The value of `doc` if its bytes are verified. Makes the look-ups of the column once all bytes are.
    #[inline(never)]
    fn read_verified(&self, doc: DocId) -> Option<Option<i64>> {
        self.make_lookup();
        match self.core.presence.is_all() {
            true => self.values.get_verified(doc.get().into()).map(Some),
            false => multiversioned(ReadVerified { column: self, doc }),
        }
    }

    /// Makes the look-ups of the column, unless it has them or some bytes are not verified.
    fn make_lookup(&self) {
        let NumericColumn { core, offsets, values, lookup, row_lookup, .. } = self;
        if core.presence.is_all() && offsets.is_none() {
            if lookup.get().is_none()
                && let Some(found) = values.lookup(Section::verified_bytes)
            {
                lookup.get_or_init(|| found);
            }
        } else if row_lookup.get().is_none()
            && let Some(found) = RowLookup::of(&core.presence, offsets.as_ref(), values)
        {
            row_lookup.get_or_init(|| Box::new(found));
        }
    }

    /// The value of `doc`, verifying the bytes on the way.
    #[inline(never)]
    fn read_checked(&self, doc: DocId) -> FormatResult<Option<i64>> {
        match self.core.presence.rank(doc)? {
            Some(index) => self.values.get(index.get().into()).map(Some),
            None => Ok(None),
        }
    }

    /// Replaces `out` by the values of `doc`, and returns whether there are any.
    #[inline(never)]
    pub(crate) fn read_row<T: Stored>(&self, doc: DocId, out: &mut Vec<T>) -> Result<bool> {
        match self.row_lookup.get() {
            Some(lookup) => multiversioned(ReadRow { column: self, lookup, doc, out }),
            None => self.read_row_checked(doc, out),
        }
    }

    /// [`read_row`](Self::read_row) of a row that no [`RowLookup`] returns. Makes the look-ups of the column once all bytes
    /// are verified.
    #[inline(never)]
    fn read_row_checked<T: Stored>(&self, doc: DocId, out: &mut Vec<T>) -> Result<bool> {
        out.clear();
        match self.lists() {
            Some(lists) => {
                self.core.named(lists.read(doc, out))?;
                self.make_lookup();
            }
            None => out.extend(self.core.named(self.read(doc))?.map(T::of)),
        }
        Ok(!out.is_empty())
    }

    /// Appends the values of a long list, at `places`.
    #[inline(never)]
    fn read_long<T: Stored>(&self, places: Range<u64>, out: &mut Vec<T>) -> Result<bool> {
        let Some(lists) = self.lists() else { return Ok(false) };
        self.core.named(lists.read_long(places, out))?;
        Ok(true)
    }

    /// The parameters of the values in one cache line, if every document has a value: see [`NumericReader::direct`].
    pub(crate) fn direct(&self) -> Option<Direct<'_>> {
        if self.core.presence.is_all() { self.values.direct() } else { None }
    }

    /// The documents whose number is in `wanted`; `None` unless this column is the primary key of the index sort.
    pub(crate) fn doc_range(&self, wanted: &RangeInclusive<i64>) -> Result<Option<DocRange>> {
        let NumericColumn { core, values, .. } = self;
        let (docs, with_value) = (core.docs, core.presence.values());
        let found = core.sort_key.map(|sort_key| sort_key.doc_range(docs, with_value, values, wanted));
        core.named(found.transpose())
    }

    /// Reads the values of `docs` into `out`, with `fill` for documents without a value.
    ///
    /// Calls `gaps` for each batch with such a document, with the batch's position in `docs`.
    ///
    /// # Panics
    ///
    /// If `out` and `docs` differ in length.
    pub(crate) fn gather_list<T: Stored>(
        &self,
        docs: &[DocId],
        out: &mut [T],
        fill: T,
        mut gaps: impl FnMut(usize, Indices<'_>),
    ) -> Result<()> {
        assert_eq!(docs.len(), out.len(), "expected one output value per document");
        let NumericColumn { core, values, .. } = self;
        request(&core.source, docs, &mut |doc| drop(self.read(doc)));
        core.named(core.each_batch(docs, &mut |place, indices| {
            if !indices.all {
                gaps(place.start, indices);
            }
            T::gather(values, indices, &mut out[place], fill)
        }))
    }

    /// Calls `each` with the values of `docs`, batch by batch, in a single-valued column.
    // Generic over `each`, so that typed columns compile it together with their work on a batch.
    pub(crate) fn scan_one<T: Stored>(
        &self,
        docs: DocRange,
        mut each: impl FnMut(Batch<'_, T>) -> ControlFlow<()>,
    ) -> FormatResult<()> {
        let NumericColumn { core, values, .. } = self;
        if core.presence.is_all() {
            let mut buffer = BatchBuffer([T::default(); BATCH]);
            for docs in docs.clip(core.docs).chunks(BATCH) {
                let buffer = &mut buffer.0[..docs.len()];
                T::decode(values, docs.start.into()..docs.end.into(), buffer)?;
                if each(Batch { docs: BatchDocs::Run(docs), values: View::One(buffer) }).is_break() {
                    break;
                }
            }
            return Ok(());
        }
        let mut buffer = Vec::new();
        core.each_window(docs, &mut |docs, first| {
            buffer.resize(docs.len(), T::default());
            let first = u64::from(first.get());
            T::decode(values, first..first + docs.len() as u64, &mut buffer)?;
            Ok(each(Batch { docs: BatchDocs::List(docs), values: View::One(&buffer) }).is_continue())
        })
    }

    /// Adds to `bits` the documents of `docs` whose number is in `wanted`, in a single-valued column.
    fn filter_one(
        &self,
        docs: DocRange,
        wanted: &RangeInclusive<i64>,
        bits: &mut [u64],
        pruned: &mut Pruning,
    ) -> FormatResult<()> {
        let NumericColumn { core, values, .. } = self;
        let meta = values.meta();
        let asked = docs.clip(core.docs).len() as u64;
        if meta.count == 0 || *wanted.start() > meta.max || *wanted.end() < meta.min {
            pruned.directory += asked;
            return Ok(());
        }
        if let Some(sort_key) = core.sort_key {
            pruned.order += asked;
            let found = sort_key.doc_range(core.docs, core.presence.values(), values, wanted)?;
            sort_key::set_bits(found, docs, bits);
            return Ok(());
        }
        core.filter_values(docs, bits, pruned, &mut |indices, found, pruned| {
            let indices = indices.start.into()..indices.end.into();
            values.filter(indices, wanted.clone(), found, pruned)
        })
    }
}

/// One look-up in verified bytes: the outer `None` means that it takes [`read_checked`](NumericColumn::read_checked).
///
/// Compiled for several CPUs, as the look-up of a [`RowLookup`] is.
struct ReadVerified<'c> {
    column: &'c NumericColumn,
    doc: DocId,
}

impl Work for ReadVerified<'_> {
    type Output = Option<Option<i64>>;

    #[inline(always)]
    fn run(self) -> Option<Option<i64>> {
        let NumericColumn { core, values, .. } = self.column;
        match core.presence.rank_verified(self.doc)? {
            Some(index) => values.get_verified(index).map(Some),
            None => Some(None),
        }
    }
}

/// One look-up of a row, by the column's [`RowLookup`] if that returns it.
///
/// Compiled for several CPUs, as [`ReadVerified`] is.
struct ReadRow<'c, T> {
    column: &'c NumericColumn,
    lookup: &'c RowLookup,
    doc: DocId,
    out: &'c mut Vec<T>,
}

impl<T: Stored> Work for ReadRow<'_, T> {
    type Output = Result<bool>;

    #[inline(always)]
    fn run(self) -> Result<bool> {
        match self.lookup.read(self.doc, self.out) {
            Some(left) if left.is_empty() => Ok(!self.out.is_empty()),
            Some(left) => self.column.read_long(left, self.out),
            None => self.column.read_row_checked(self.doc, self.out),
        }
    }
}

impl Column for NumericColumn {
    fn info(&self) -> &ColumnInfo {
        &self.core.info
    }

    fn exists(&self, docs: DocRange, bits: &mut [u64]) -> Result<()> {
        self.core.exists(docs, bits)
    }

    fn values(&self) -> Values<'_> {
        match &self.terms {
            Some(terms) => Values::Ords(self, &**terms),
            None => Values::Numbers(self),
        }
    }

    fn skip_index(&self) -> Option<&dyn SkipIndex> {
        if self.terms.is_none() && self.offsets.is_none() { Some(self) } else { None }
    }
}

impl<T: Stored> Rows<T> for NumericColumn {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<T>) -> Result<()> {
        match (docs, self.lists()) {
            (BatchDocs::List(docs), Some(_)) => self.gather_lists(docs, out.begin_many(docs.len()).0),
            (BatchDocs::List(docs), None) => {
                let fill = out.fill();
                let (values, mut presence) = out.begin_one(docs.len());
                self.gather_list(docs, values, fill, |at, indices| {
                    presence.mark_words(at, presence_words(indices))
                })
            }
            (BatchDocs::Run(docs), None) if self.core.presence.is_all() && docs.end <= self.core.docs => {
                let (values, _) = out.begin_one(docs.len());
                // An empty run may have an end below its start.
                let range = docs.start.into()..docs.end.max(docs.start).into();
                self.core.named(T::decode(&self.values, range, values))
            }
            (BatchDocs::Run(docs), lists) => {
                out.fill_by_scan(docs, lists.is_some(), |each| Rows::<T>::scan(self, docs, each))
            }
        }
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, T>) -> Result<()> {
        self.core.named(match self.lists() {
            Some(lists) => lists.scan(docs, each),
            None => self.scan_one(docs, each),
        })
    }

    fn filter(
        &self,
        docs: DocRange,
        wanted: &T::Range,
        bits: &mut [u64],
        pruned: &mut Pruning,
    ) -> Result<()> {
        bits::check(docs, bits);
        let wanted = T::wanted(wanted);
        self.core.named(match self.lists() {
            Some(lists) => lists.filter(docs, &wanted, bits, pruned),
            None => self.filter_one(docs, &wanted, bits, pruned),
        })
    }

    fn get(&self, doc: DocId, out: &mut Vec<T>) -> Result<bool> {
        // Calls nothing, so that it saves no registers: with a capacity, pushing does not allocate.
        if let Some(lookup) = self.lookup.get()
            && let Some(value) = lookup.get(doc.get().into())
            && out.capacity() > 0
        {
            out.clear();
            out.push(T::of(value));
            return Ok(true);
        }
        self.read_row(doc, out)
    }
}

impl SkipIndex for NumericColumn {
    fn levels(&self) -> &[u32] {
        // Zones of values are zones of documents if every document has a value.
        if self.core.presence.is_all() { self.values.levels() } else { &[] }
    }

    fn zones(&self, level: usize, docs: DocRange, out: &mut Vec<Zone>) -> Result<()> {
        let docs = docs.clip(self.core.docs);
        out.clear();
        let each = |values: RangeInclusive<i64>| {
            out.push(Zone { min: *values.start(), max: *values.end(), all_present: true });
        };
        self.core.named(self.values.zones(level, docs.start.into()..docs.end.into(), each))
    }

    fn may_hold(
        &self,
        level: usize,
        docs: DocRange,
        wanted: &RangeInclusive<i64>,
        bits: &mut [u64],
        pruned: &mut Pruning,
    ) -> Result<()> {
        let docs = docs.clip(self.core.docs);
        let positions = docs.start.into()..docs.end.into();
        self.core.named(self.values.may_hold(level, positions, wanted, pruned, bits))
    }

    fn estimate_nth(&self, n: u64, greatest: bool) -> Result<Option<i64>> {
        self.core.named(self.values.estimate_nth(n, greatest))
    }
}
