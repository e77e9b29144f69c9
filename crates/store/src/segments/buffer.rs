//! The documents that were applied and are in no segment yet.
//!
//! ```text
//! buffer   block 0   block 1   …   block n       plain columns and live documents; the last block grows
//!          places    hash of an id -> block, document: the last document that has the id
//! ```
//!
//! Blocks are shared with snapshots. Appending to a block that a snapshot has copies it, once after each refresh: so a block
//! ends after 8,192 documents or 2 MiB, though one batch is never cut.

use std::sync::Arc;

use docvalues_column::{DocId, LiveDocs, PlainColumns};
use hashbrown::HashTable;

use super::part_record::PartRecord;
use crate::error::Result;
use crate::schema::StoreSchema;

/// A block with this many documents, or bytes, does not grow.
const BLOCK_DOCS: u32 = 8_192;
const BLOCK_BYTES: usize = 2 << 20;

/// The memory that notes the place of a copy, roughly.
const COPY_BYTES: usize = 40;

/// Consecutive documents of a buffer.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// The record of where its documents go, shared with snapshots.
    pub(crate) record: Arc<PartRecord>,
    pub(crate) docs: Arc<PlainColumns>,
    pub(crate) live: LiveDocs,
}

/// A document of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    pub(crate) block: u32,
    pub(crate) doc: DocId,
}

/// An id, its hash, and the place of the field of ids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Id<'a> {
    pub(crate) id: &'a [u8],
    pub(crate) hash: u64,
    pub(crate) field: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u64,
    place: Place,
}

/// The blocks, and where the documents of each id are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer {
    pub(crate) blocks: Vec<Block>,
    /// The number of the next block, which none of the opening had.
    next_block: u64,
    places: HashTable<Entry>,
    /// The expected number of ids: that of the previous buffer. The table reserves them early, because growing a large table
    /// holds the lock for milliseconds.
    expected: usize,
    bytes: usize,
}

/// A buffer that is being written to a segment.
#[derive(Debug)]
pub(crate) struct Sealed {
    /// Documents are still deleted in it.
    pub(crate) buffer: Buffer,
    pub(crate) then: Arc<FrozenBuffer>,
}

/// A buffer at the moment when it was sealed, which is that of a commit.
#[derive(Debug)]
pub(crate) struct FrozenBuffer {
    pub(crate) blocks: Vec<Block>,
    pub(crate) schema: Arc<StoreSchema>,
    /// The memory of the buffer.
    pub(crate) bytes: usize,
}

impl Sealed {
    pub(crate) fn of(buffer: Buffer, schema: Arc<StoreSchema>) -> Sealed {
        let then = FrozenBuffer { blocks: buffer.blocks.clone(), schema, bytes: buffer.bytes() };
        Sealed { buffer, then: Arc::new(then) }
    }
}

impl Buffer {
    /// The memory of the documents and of the places, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes + self.places.allocation_size()
    }

    /// An empty buffer, whose blocks have numbers from `next_block` on.
    pub(crate) fn new(next_block: u64) -> Buffer {
        Buffer { next_block, ..Buffer::default() }
    }

    /// An empty buffer, to be filled after this one.
    pub(crate) fn next(&self) -> Buffer {
        Buffer { expected: self.places.len(), ..Buffer::new(self.next_block) }
    }

    /// Appends documents. Returns the place of the first; the others follow.
    pub(crate) fn append(&mut self, docs: PlainColumns) -> Place {
        if self.places.len() > self.expected / 8 {
            let more = std::mem::take(&mut self.expected).saturating_sub(self.places.len());
            self.places.reserve(more, |entry| entry.hash);
        }
        // A document without values takes a bit, but also a number.
        self.bytes += docs.heap() + docs.docs() as usize;
        let grows = |block: &&mut Block| block.docs.docs() < BLOCK_DOCS && block.docs.heap() < BLOCK_BYTES;
        let first = match self.blocks.last_mut().filter(grows) {
            Some(block) => {
                let first = block.docs.docs();
                Arc::make_mut(&mut block.docs).append(&docs);
                block.live.grow(block.docs.docs());
                first
            }
            None => {
                // Unless a snapshot has it.
                if let Some(full) = self.blocks.last_mut().and_then(|block| Arc::get_mut(&mut block.docs)) {
                    full.shrink_to_fit();
                }
                let live = LiveDocs::all(docs.docs());
                let record = Arc::new(PartRecord::of_block(self.next_block));
                self.next_block = self.next_block.wrapping_add(1);
                self.blocks.push(Block { record, docs: Arc::new(docs), live });
                0
            }
        };
        let block = u32::try_from(self.blocks.len() - 1).unwrap_or(u32::MAX);
        Place { block, doc: DocId::new(first) }
    }

    /// Converts all blocks, or none after an error. Documents keep their places.
    pub(crate) fn convert(
        &mut self,
        convert: impl Fn(&PlainColumns, &LiveDocs) -> Result<PlainColumns>,
    ) -> Result<()> {
        let converted = self.blocks.iter().map(|block| convert(&block.docs, &block.live));
        let converted = converted.collect::<Result<Vec<_>>>()?;
        self.bytes = converted.iter().map(|docs| docs.heap() + docs.docs() as usize).sum();
        self.blocks.iter_mut().zip(converted).for_each(|(block, docs)| block.docs = Arc::new(docs));
        Ok(())
    }

    /// Notes that the document of a block is at `place` now, with other values.
    pub(crate) fn note_copy(&mut self, (from, doc): (&Arc<PartRecord>, DocId), place: Place) {
        if let Some(block) = self.blocks.get(place.block as usize) {
            from.note_copy(doc, (&block.record, place.doc));
            self.bytes += COPY_BYTES;
        }
    }

    /// The place of a document in the block with a record, if that is here.
    pub(crate) fn place_in(&self, record: &PartRecord, doc: DocId) -> Option<Place> {
        // Blocks have consecutive ids.
        let block = record.id.blocks_after(self.blocks.first()?.record.id)?;
        let is_here = self.blocks.get(block)?.record.is_same(record);
        is_here.then_some(Place { block: u32::try_from(block).ok()?, doc })
    }

    /// The id of a document. `field` is the place of the id field.
    pub(crate) fn id(&self, place: Place, field: usize) -> Option<&[u8]> {
        id_of(&self.blocks, place, field)
    }

    /// The last document that was written with an id, if it is live.
    pub(crate) fn find_live(&self, id: Id<'_>) -> Option<Place> {
        let entry = self.places.find(id.hash, |entry| has_id(&self.blocks, entry, id))?;
        self.is_live(entry.place).then_some(entry.place)
    }

    /// Notes the place of a document with an id, in place of an older one.
    pub(crate) fn put(&mut self, id: Id<'_>, place: Place) {
        let Buffer { blocks, places, .. } = self;
        match places.entry(id.hash, |entry| has_id(blocks, entry, id), |entry| entry.hash) {
            hashbrown::hash_table::Entry::Occupied(mut there) => there.get_mut().place = place,
            hashbrown::hash_table::Entry::Vacant(free) => drop(free.insert(Entry { hash: id.hash, place })),
        }
    }

    pub(crate) fn is_live(&self, place: Place) -> bool {
        self.blocks.get(place.block as usize).is_some_and(|block| block.live.contains(place.doc))
    }

    /// Deletes a document. Returns whether it was live.
    pub(crate) fn delete(&mut self, place: Place) -> bool {
        self.blocks.get_mut(place.block as usize).is_some_and(|block| block.live.delete(place.doc))
    }

    /// The first number of a document in the field at place `field`.
    pub(crate) fn number(&self, place: Place, field: usize) -> Option<i64> {
        let block = self.blocks.get(place.block as usize)?;
        block.docs.column(field)?.numbers(place.doc.get()).first().copied()
    }
}

fn has_id(blocks: &[Block], entry: &Entry, Id { id, hash, field }: Id<'_>) -> bool {
    entry.hash == hash && id_of(blocks, entry.place, field) == Some(id)
}

fn id_of(blocks: &[Block], place: Place, field: usize) -> Option<&[u8]> {
    blocks.get(place.block as usize)?.docs.column(field)?.string(place.doc.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A document is found by its block, of however many; ids of blocks begin again after the highest.
    #[test]
    fn a_document_is_in_the_block_with_its_record() {
        let append = |buffer: &mut Buffer| {
            for _ in 0..4 {
                buffer.append(PlainColumns::new(BLOCK_DOCS, Vec::new()).unwrap());
            }
        };
        let mut first = Buffer::new(u64::MAX / 2 - 1);
        append(&mut first);
        let mut second = first.next();
        append(&mut second);
        let ids: Vec<u64> = first.blocks.iter().map(|block| block.record.id.get()).collect();
        assert!(ids[0] > ids[3], "{ids:?}");
        for (this, other) in [(&first, &second), (&second, &first)] {
            for (at, block) in (0..).zip(&this.blocks) {
                let doc = DocId::new(5);
                assert_eq!(this.place_in(&block.record, doc), Some(Place { block: at, doc }));
                assert_eq!(other.place_in(&block.record, doc), None);
            }
        }
        assert_eq!(Buffer::default().place_in(&first.blocks[0].record, DocId::new(5)), None);
    }
}
