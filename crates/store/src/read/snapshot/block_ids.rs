//! The look-up of ids in the blocks of a snapshot.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::{Arc, LazyLock, OnceLock};

use docvalues_column::{DocId, LiveDocs, PlainColumn};
use docvalues_terms::hash::hash;
use hashbrown::HashTable;

use super::Moment;
use crate::segments::Block;

/// A block, and its documents by id, looked up by a table that is made when it is first needed.
pub(super) struct SnapshotBlock {
    pub(super) block: Block,
    /// Those that were live when it was made: in this snapshot, or in an older one with the same documents.
    ids: Arc<OnceLock<HashTable<DocId>>>,
}

impl SnapshotBlock {
    /// The block, which shares the table of a snapshot before that has the same documents.
    pub(super) fn new(block: Block, before: Option<&SnapshotBlock>) -> SnapshotBlock {
        // A table that is made from now on for the snapshot before has documents of it, and one of this snapshot would lack some.
        let shared = before.filter(|before| before.is_same(&block) || before.ids.get().is_some());
        let ids = shared.map(|before| before.ids.clone()).unwrap_or_default();
        SnapshotBlock { block, ids }
    }

    /// Whether it has the same documents, deleted or not.
    pub(super) fn has_docs_of(&self, block: &Block) -> bool {
        Arc::ptr_eq(&self.block.docs, &block.docs)
    }

    /// Whether it has the same documents, and the same ones are deleted.
    pub(super) fn is_same(&self, block: &Block) -> bool {
        self.has_docs_of(block) && self.block.live.count() == block.live.count()
    }

    /// The live document with an id. `field` is the place of the id field.
    fn find(&self, (id, hash): (&[u8], u64), field: usize, seed: u64) -> Option<DocId> {
        let Block { docs, live, .. } = &self.block;
        let column = docs.column(field)?;
        let ids = self.ids.get_or_init(|| table(column, live, seed));
        let has_id = |doc: &DocId| column.string(doc.get()) == Some(id);
        ids.find(hash, has_id).copied().filter(|doc| live.contains(*doc))
    }
}

/// Of hashes of ids. It is random, so that nobody can choose ids with the same hash.
static SEED: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0_u64));

/// The live document with an id, and the place of its block. O(blocks), and O(documents) for each new block the first time.
pub(super) fn find(blocks: &[SnapshotBlock], moment: &Moment, id: &[u8]) -> Option<(usize, DocId)> {
    blocks.first()?;
    let (field, seed) = (moment.schema.id_place()?, *SEED);
    let id = (id, hash(id, seed));
    blocks.iter().enumerate().find_map(|(at, block)| Some((at, block.find(id, field, seed)?)))
}

/// The live documents by the hashes of their ids, of which no two have the same.
fn table(column: &PlainColumn, live: &LiveDocs, seed: u64) -> HashTable<DocId> {
    let hash_of = |doc: &DocId| hash(column.string(doc.get()).unwrap_or_default(), seed);
    let mut table = HashTable::with_capacity(live.count() as usize);
    for doc in (0..live.docs()).map(DocId::new).filter(|doc| live.contains(*doc)) {
        table.insert_unique(hash_of(&doc), doc, hash_of);
    }
    table
}
