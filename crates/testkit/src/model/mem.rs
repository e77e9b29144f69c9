//! What the columns in memory have in common: a slot for each document.

use std::ops::{ControlFlow, Range};

use docvalues_column::{BatchDocs, Column, DocId, Field, Kind, Lists, Result, bits};

/// What one document has: no value, one, or several.
pub trait Slot: Send + Sync {
    /// One value.
    type Item;

    /// The document's values; none if it has none.
    fn items(&self) -> &[Self::Item];
}

impl<T: Send + Sync> Slot for Option<T> {
    type Item = T;

    fn items(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T: Send + Sync> Slot for Vec<T> {
    type Item = T;

    fn items(&self) -> &[T] {
        self
    }
}

/// Who is handed the documents of a scan and their items.
pub(super) type Each<'e, T> = dyn FnMut(BatchDocs<'_>, &[&[T]]) -> ControlFlow<()> + 'e;

/// A column in memory: slot `i` is document `i`.
#[derive(Clone, Debug)]
pub struct Mem<S> {
    field: Field,
    docs: u32,
    slots: Vec<S>,
}

impl<S: Slot> Mem<S> {
    /// A column of `docs` documents; those that have no slot have no value.
    ///
    /// # Panics
    ///
    /// If there are more slots than documents.
    pub(super) fn of_kind(kind: Kind, field: Field, docs: u32, slots: Vec<S>) -> Mem<S> {
        assert_eq!(field.kind, kind, "field `{}`", field.name);
        assert!(field.logical.fits(kind), "field `{}` of {}", field.name, field.logical.name());
        assert!(slots.len() <= docs as usize, "field `{}`: {} slots, {docs} docs", field.name, slots.len());
        Mem { field, docs, slots }
    }

    /// The values of `doc`; none past the last document.
    pub fn items(&self, doc: DocId) -> &[S::Item] {
        self.slots.get(doc.get() as usize).map_or(&[], S::items)
    }

    /// All values, document by document.
    pub fn all_items(&self) -> impl Iterator<Item = &S::Item> {
        self.slots.iter().flat_map(S::items)
    }

    /// Adds every document of `docs` that has an item which `wanted` wants.
    pub(super) fn filter_items(&self, docs: Range<u32>, bits: &mut [u64], wanted: impl Fn(&S::Item) -> bool) {
        assert!(bits.len() >= bits::words(docs.clone()), "{} words for {docs:?}", bits.len());
        for (i, doc) in docs.enumerate() {
            if self.items(DocId::new(doc)).iter().any(&wanted) {
                bits::set(bits, i);
            }
        }
    }

    /// The first item of each of `docs`, or `fill`, and whether there is one.
    pub(super) fn gather_first(&self, docs: &[DocId], out: &mut [S::Item], fill: S::Item) -> Vec<bool>
    where
        S::Item: Copy,
    {
        assert_eq!(out.len(), docs.len(), "`out` must be as long as `docs`");
        let each = docs.iter().zip(out);
        each.map(|(&doc, out)| {
            let item = self.items(doc).first();
            *out = item.copied().unwrap_or(fill);
            item.is_some()
        })
        .collect()
    }

    /// Replaces `out` by the items of each of `docs`.
    pub(super) fn gather_lists(&self, docs: &[DocId], out: &mut Lists<S::Item>)
    where
        S::Item: Clone,
    {
        out.clear();
        docs.iter().for_each(|&doc| out.push(self.items(doc)));
    }

    /// Hands out the documents of `docs` that have a value, and their items, a few at a time.
    ///
    /// Consecutive documents come as a run and others as a list, so that whoever reads a scan meets
    /// both.
    pub(super) fn scan_items(&self, docs: Range<u32>, each: &mut Each<'_, S::Item>) {
        let end = docs.end.min(self.docs);
        let with_value: Vec<DocId> =
            (docs.start..end).map(DocId::new).filter(|&doc| !self.items(doc).is_empty()).collect();
        for batch in with_value.chunks(BATCH) {
            let items: Vec<&[S::Item]> = batch.iter().map(|&doc| self.items(doc)).collect();
            let (first, last) = (batch[0], batch[batch.len() - 1]);
            let run = (last.get() - first.get()) as usize == batch.len() - 1;
            let docs = if run { BatchDocs::Run { first, len: batch.len() } } else { BatchDocs::List(batch) };
            if each(docs, &items).is_break() {
                return;
            }
        }
    }
}

/// Documents in a batch of a scan: no power of two, so that batches end in the middle of words.
const BATCH: usize = 100;

/// Writes what [`Mem::gather_first`] returned where the traits want it.
pub(super) fn write_present(has_value: &[bool], present: &mut [u64]) {
    assert!(present.len() >= has_value.len().div_ceil(64), "{} words", present.len());
    for (i, &has_value) in has_value.iter().enumerate() {
        let bit = 1 << (i % 64);
        present[i / 64] = present[i / 64] & !bit | if has_value { bit } else { 0 };
    }
}

impl<S: Slot> Column for Mem<S> {
    fn field(&self) -> &Field {
        &self.field
    }

    fn docs(&self) -> u32 {
        self.docs
    }

    fn docs_with_value(&self) -> u32 {
        self.slots.iter().filter(|slot| !slot.items().is_empty()).count() as u32
    }

    fn exists(&self, docs: Range<u32>, bits: &mut [u64]) -> Result<()> {
        self.filter_items(docs, bits, |_| true);
        Ok(())
    }
}
