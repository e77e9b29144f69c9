//! [`Changes`]: documents and their new rows.

use std::ops::Range;
use std::sync::{Arc, Weak};

use docvalues_format::bits::multiversioned;
use docvalues_format::id::DocId;

use super::block::{Block, DOCS, split};
use super::changed_bits::ChangedBits;
use super::find::{AT_ONCE, Find, UNCHANGED, block_of};
use crate::batch::View;
use crate::rows::Element;
use crate::{DocRange, Gathered};

/// New rows of some documents of a column. An [`Overlay`](super::Overlay) returns them instead of the old rows.
///
/// Copy-on-write, in blocks of 16,384 documents: a clone shares all blocks, and a change copies its block. A block with
/// changes takes about 200 bytes, 10 bytes for each single number, and another 2.5 KiB from 32 changes on. A bit for each
/// document is added when a list of 1,024 documents or more is gathered and one document in 128 changed.
///
/// # Examples
///
/// ```
/// use docvalues_column::{Changes, DocId};
///
/// let mut sizes = Changes::<i64>::new(100_000, false);
/// sizes.set([(DocId::new(7), Some(&[512][..])), (DocId::new(70_000), None)]);
/// let before = sizes.clone();
/// sizes.set([(DocId::new(8), Some(&[9][..]))]);
///
/// assert_eq!(sizes.get(DocId::new(7)), Some(Some(&[512][..])));
/// assert_eq!(sizes.get(DocId::new(70_000)), Some(None)); // its value was removed
/// assert_eq!(sizes.get(DocId::new(9)), None); // it did not change
/// assert!(sizes.since(&before).eq([(DocId::new(8), Some(&[9][..]))]));
/// ```
#[derive(Clone, Debug)]
pub struct Changes<T> {
    docs: u32,
    is_many: bool,
    blocks: Arc<Blocks<T>>,
    /// The number of changed documents, and of their values; single values that are missing count.
    len: u32,
    values: u64,
    /// Of all values ever set.
    bounds: Option<(T, T)>,
    heap: usize,
    bits: ChangedBits,
    recent: Recent<T>,
}

type Blocks<T> = Vec<Option<Arc<Block<T>>>>;

/// The documents that were set since a [`mark`](Changes::mark), in any order and more than once; at most [`MOST_RECENT`].
#[derive(Clone, Debug)]
struct Recent<T> {
    /// The blocks at the mark, which are not kept for it; none if there was no mark, or too much was set since.
    since: Weak<Blocks<T>>,
    /// In chunks that clones share.
    chunks: Vec<Arc<Vec<DocId>>>,
}

/// The bits of changed documents are made for lists of as many documents, if one in so many changed.
const LONG_LIST: usize = 1_024;
const FEW_ONE_IN: u32 = 128;

/// From more documents on, comparing all new rows does not take much longer.
const MOST_RECENT: usize = 1 << 14;

/// Documents of a chunk of them.
const CHUNK: usize = 256;

impl<T: Element> Changes<T> {
    /// No changes, for a column of `docs` documents. `is_many` must be true if it is multi-valued or has byte strings.
    pub fn new(docs: u32, is_many: bool) -> Changes<T> {
        let blocks = Arc::new(vec![None; (docs as usize).div_ceil(DOCS)]);
        let (bits, recent) = (ChangedBits::default(), Recent::new());
        Changes { docs, is_many, blocks, len: 0, values: 0, bounds: None, heap: 0, bits, recent }
    }

    /// The number of documents of the column, changed or not.
    pub fn docs(&self) -> u32 {
        self.docs
    }

    /// The number of changed documents.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether no document changed.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether rows are lists, or byte strings.
    pub fn is_many(&self) -> bool {
        self.is_many
    }

    /// The size in memory, in bytes.
    pub fn heap(&self) -> usize {
        let recent = self.recent.chunks.len() * CHUNK * size_of::<DocId>();
        self.heap + size_of_val(&self.blocks[..]) + self.bits.heap() + recent
    }

    /// Whether one of both is a clone of the other, and neither was changed since.
    pub fn is_clone_of(&self, other: &Changes<T>) -> bool {
        Arc::ptr_eq(&self.blocks, &other.blocks)
    }

    /// Bounds of all values ever set; `None` if none was.
    pub(super) fn bounds(&self) -> Option<(T, T)> {
        self.bounds
    }

    /// An upper bound of the number of new values.
    pub(super) fn value_count(&self) -> u64 {
        self.values
    }

    /// Sets the rows of documents, which ascend; `None`, or an empty list of numbers or ords, is no value. Lists are sorted;
    /// the ords of one are distinct. O(changed rows of the blocks that it touches).
    ///
    /// # Panics
    ///
    /// If a document is past the last one, documents do not ascend, or a row of a single-valued column has more than one
    /// value.
    pub fn set<'r>(&mut self, rows: impl IntoIterator<Item = (DocId, Option<&'r [T]>)>) {
        self.bits.before_change();
        let (mut of_block, mut block, mut last) = (Vec::new(), 0, None);
        for (doc, row) in rows {
            assert!(last.is_none_or(|last| last < doc), "document {doc} is out of order");
            last = Some(doc);
            let (this, at) = split(doc);
            if this != block {
                self.set_in(block, &mut of_block);
                block = this;
            }
            let row = row.filter(|row| T::EMPTY_IS_VALUE || !row.is_empty());
            self.note(doc, row);
            of_block.push((at, row));
        }
        self.set_in(block, &mut of_block);
    }

    /// Checks a row, and notes the document and its values.
    fn note(&mut self, doc: DocId, row: Option<&[T]>) {
        assert!(doc.get() < self.docs, "document {doc} of {}", self.docs);
        self.recent.push(doc);
        self.bits.add(doc);
        let Some(row) = row else { return };
        assert!(self.is_many || row.len() == 1, "{} values of document {doc}", row.len());
        for value in row {
            let (min, max) = self.bounds.unwrap_or((*value, *value));
            self.bounds = Some((min.min(*value), max.max(*value)));
        }
    }

    fn set_in(&mut self, block: usize, rows: &mut Vec<(u16, Option<&[T]>)>) {
        if rows.is_empty() {
            return;
        }
        let block = &mut Arc::make_mut(&mut self.blocks)[block];
        let of = |block: &Block<T>| (block.len(), block.values(), block.heap());
        let (len, values, heap) = block.as_deref().map_or((0, 0, 0), of);
        let changed = match block {
            Some(block) => block.with(rows),
            None => Block::new(self.is_many).with(rows),
        };
        // A block has at most 16,384 documents.
        self.len += u32::try_from(changed.len() - len).unwrap_or(0);
        self.values = self.values + changed.values() as u64 - values as u64;
        self.heap = self.heap + changed.heap() - heap;
        *block = Some(Arc::new(changed));
        rows.clear();
    }

    /// The new row of a document, if it changed: `Some(None)` if its value was removed. O(1).
    #[inline]
    pub fn get(&self, doc: DocId) -> Option<Option<&[T]>> {
        let (block, at) = split(doc);
        self.blocks.get(block)?.as_ref()?.row(at)
    }

    /// Whether any of some documents may have changed: false only if none did. O(blocks).
    #[inline]
    pub(super) fn may_change(&self, docs: DocRange) -> bool {
        self.blocks_in(docs).any(|(block, _, docs)| block.may_have_changes(docs))
    }

    /// The documents of a range that changed, ascending, and their new rows. O(blocks and changes of the range).
    pub fn rows(&self, docs: DocRange) -> impl Iterator<Item = (DocId, Option<&[T]>)> {
        self.blocks_in(docs).flat_map(|(block, first, docs)| {
            block.rows(docs).map(move |(doc, row)| (DocId::new(first | u32::from(doc)), row))
        })
    }

    /// Puts the new rows of a range into the rows of its gather, which are single values.
    pub(super) fn put(&self, docs: DocRange, out: &mut Gathered<T>) {
        for (block, first, within) in self.blocks_in(docs) {
            let at = docs.place(DocId::new(first | number(within.start)));
            block.put(block.rank(within.start), within, out, at);
        }
    }

    /// Replaces the bits of the documents of a range that changed by those of `wanted`: see [`Block::replace`].
    pub(super) fn replace(
        &self,
        docs: DocRange,
        bits: &mut [u64],
        wanted: &impl Fn(View<'_, T>, (T, T)) -> u64,
    ) {
        for (block, first, within) in self.blocks_in(docs) {
            let at = docs.place(DocId::new(first | number(within.start)));
            block.replace(within, bits, at, wanted);
        }
        if let (Some(last), left @ 1..) = (bits.last_mut(), docs.len() % 64) {
            *last &= (1 << left) - 1;
        }
    }

    /// Whether any document of a range has a new row that is `wanted`: see [`Block::replace`].
    pub(super) fn any(&self, docs: DocRange, wanted: &impl Fn(View<'_, T>, (T, T)) -> u64) -> bool {
        self.blocks_in(docs).any(|(block, _, docs)| block.any(docs, wanted))
    }

    /// The least and the greatest element of each 64 new rows of a block that have any; none of byte strings.
    pub(super) fn zones(&self) -> impl Iterator<Item = (T, T)> {
        self.blocks.iter().flatten().flat_map(|block| block.zones())
    }

    /// Calls `each` with the places in `docs` whose documents changed, ascending, and the new rows.
    pub(super) fn find<'a>(&'a self, docs: &[DocId], mut each: impl FnMut(usize, Option<&'a [T]>)) {
        let bits = match self.bits.get() {
            None if docs.len() >= LONG_LIST && self.len >= self.docs.div_ceil(FEW_ONE_IN) => {
                Some(self.bits.get_or_make(|| self.changed_bits()))
            }
            made => made,
        };
        let (blocks, mut places, mut ranks) = (&self.blocks[..], Vec::new(), Vec::new());
        for (docs, first) in docs.chunks(AT_ONCE).zip((0..).step_by(AT_ONCE)) {
            multiversioned(Find { bits, blocks, docs, places: &mut places, ranks: &mut ranks });
            for (place, rank) in places.iter().zip(&ranks) {
                let place = place.get() as usize;
                if *rank != UNCHANGED
                    && let Some((block, _)) = block_of(blocks, docs[place])
                {
                    each(first + place, block.row_at((*rank).into()));
                }
            }
        }
    }

    /// A bit for each document, set if it changed.
    fn changed_bits(&self) -> Vec<u64> {
        let mut bits = vec![0; (self.docs as usize).div_ceil(64)];
        for (block, bits) in self.blocks.iter().zip(bits.chunks_mut(DOCS / 64)) {
            if let Some(block) = block {
                block.set_changed(bits);
            }
        }
        bits
    }

    /// The blocks with changes in a range: each with its first document, and the documents in it.
    pub(super) fn blocks_in(&self, docs: DocRange) -> impl Iterator<Item = (&Block<T>, u32, Range<usize>)> {
        let docs = docs.clip(self.docs);
        let (first, end) = (docs.start as usize, docs.end as usize);
        let numbers = if docs.is_empty() { 0..0 } else { first / DOCS..end.div_ceil(DOCS) };
        let blocks = self.blocks[numbers.clone()].iter().zip(numbers);
        blocks.filter_map(move |(block, number_of)| {
            let start = number_of * DOCS;
            let within = first.saturating_sub(start)..(end - start).min(DOCS);
            Some((&**block.as_ref()?, number(start), within))
        })
    }

    /// Lists the documents that are set from now on, so that [`since`](Self::since) is fast for a clone of now. The list is
    /// given up when it becomes long.
    pub fn mark(&mut self) {
        self.recent = Recent { since: Arc::downgrade(&self.blocks), chunks: Vec::new() };
    }

    /// Returns the documents whose rows differ from `before`, an older clone, with their current rows; ascending.
    ///
    /// O(documents set since `before`) if that was [marked](Self::mark) and not many were set; otherwise O(changed rows),
    /// without the blocks that both share.
    pub fn since<'a>(
        &'a self,
        before: &'a Changes<T>,
    ) -> impl Iterator<Item = (DocId, Option<&'a [T]>)> + 'a {
        self.docs_since(before).into_iter().filter_map(|doc| Some((doc, self.get(doc)?)))
    }

    /// The documents of [`since`](Self::since).
    pub(super) fn docs_since(&self, before: &Changes<T>) -> Vec<DocId> {
        if let Some(mut docs) = self.recent.since(before) {
            docs.retain(|doc| self.get(*doc).is_some_and(|row| before.get(*doc) != Some(row)));
            return docs;
        }
        let mut docs = Vec::new();
        for (at, (block, block_before)) in self.blocks.iter().zip(&*before.blocks).enumerate() {
            let Some(block) = block else { continue };
            if block_before.as_ref().is_some_and(|before| Arc::ptr_eq(block, before)) {
                continue;
            }
            let first = number(at * DOCS);
            docs.extend(
                block.docs_unlike(block_before.as_deref()).map(|doc| DocId::new(first | u32::from(doc))),
            );
        }
        docs
    }

    /// The documents that changed.
    pub(super) fn changed_docs(&self) -> Vec<DocId> {
        self.rows(DocRange::new(0, self.docs)).map(|(doc, _)| doc).collect()
    }
}

impl<T: Element> Recent<T> {
    fn new() -> Recent<T> {
        Recent { since: Weak::new(), chunks: Vec::new() }
    }

    fn push(&mut self, doc: DocId) {
        if self.since.strong_count() == 0 {
            return;
        }
        let is_full = self.chunks.len() == MOST_RECENT / CHUNK;
        match self.chunks.last_mut().filter(|chunk| chunk.len() < CHUNK) {
            Some(chunk) => Arc::make_mut(chunk).push(doc),
            None if is_full => *self = Recent::new(),
            None => self.chunks.push(Arc::new(vec![doc])),
        }
    }

    /// The documents that were set since `before`, ascending, if they are listed.
    fn since(&self, before: &Changes<T>) -> Option<Vec<DocId>> {
        if !std::ptr::eq(self.since.as_ptr(), Arc::as_ptr(&before.blocks)) {
            return None;
        }
        let mut docs: Vec<DocId> = self.chunks.iter().flat_map(|chunk| chunk.iter().copied()).collect();
        docs.sort_unstable();
        docs.dedup();
        Some(docs)
    }
}

/// A number of a document, which fits.
pub(super) fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
