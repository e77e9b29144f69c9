//! [`Snapshot`]: what a reader sees of a store. `contents` makes it, and shares what did not change; `block_ids` looks up ids
//! that are in no segment; `moves` says where documents went since an older snapshot.

mod block_ids;
mod contents;
mod moves;

use std::fmt;
use std::sync::{Arc, OnceLock};

use docvalues_column::{DocAddress, DocId, Field, LiveDocs};
use docvalues_reader::{IdReader, Segment};
use docvalues_search::{Parts, Search};
use docvalues_terms::lookup::{SeekError, Seeker};
use docvalues_writer::Schema;

use block_ids::SnapshotBlock;
pub(crate) use contents::Contents;

use super::held_commit::FileReader;
use crate::batch::WriteBatch;
use crate::error::{Error, Result};
use crate::schema::StoreSchema;
use crate::segments::{SegmentChanges, SegmentView, SnapshotIds, StoreSegment};

/// The documents of a store at a moment.
///
/// A snapshot never changes, and stays valid whatever happens to the store: its files are open, and kept by the
/// operating system until the last snapshot that has them is dropped. Cloning is cheap.
///
/// # Examples
///
/// ```
/// use docvalues_column::{Field, Kind, LogicalType};
/// use docvalues_search::Query;
/// use docvalues_store::{Store, StoreOptions, StoreSchema};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("hits");
/// let schema = StoreSchema::new().with_field(Field::new("size", Kind::Numeric, LogicalType::I64))?;
/// let store = Store::create(&path, schema, StoreOptions::default())?;
/// let before = store.snapshot();
///
/// let mut batch = store.batch()?;
/// let size = batch.field("size")?;
/// let mut doc = batch.upsert();
/// doc.i64(size, 512)?;
/// doc.finish()?;
/// store.apply(batch)?;
/// store.refresh()?;
///
/// let after = store.snapshot();
/// assert_eq!((before.docs(), after.docs()), (0, 1));
/// assert_eq!(after.search().count(&Query::range("size", 500..))?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Snapshot(Arc<Inner>);

struct Inner {
    moment: Moment,
    /// Shared while they are the same.
    segments: Arc<[Arc<StoreSegment>]>,
    /// Of each segment. Shared while they are the same.
    changes: Arc<[SegmentChanges]>,
    /// Whether a segment has side files.
    has_side_files: bool,
    /// The documents that are in no segment yet: the last parts.
    blocks: Vec<SnapshotBlock>,
    fields: Arc<[Field]>,
    /// The fields for batches, made when they are first needed. Shared while the fields are the same.
    of_batches: Arc<OnceLock<Schema>>,
    parts: Parts,
    /// The index of ids over all segments, made when it is first needed, shared while the segments are the same.
    ids: Arc<OnceLock<SnapshotIds>>,
}

/// The state of a store at a moment, but for its documents.
pub(crate) struct Moment {
    /// The id of the store.
    pub(crate) store: u64,
    pub(crate) sequence: u64,
    pub(crate) commit: u64,
    /// Counts the sets of segments of a store.
    pub(crate) generation: u64,
    pub(crate) schema: Arc<StoreSchema>,
    /// Of the last commit.
    pub(crate) user_data: Arc<[u8]>,
}

/// A document of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    /// The index of its segment.
    pub(crate) segment: usize,
    pub(crate) doc: DocId,
    pub(crate) version: Option<u64>,
}

/// A segment of a [`Snapshot`]: [`Snapshot::segments`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SnapshotSegment<'s> {
    /// The number in the name of its file.
    pub number: u64,
    /// The segment as it was written, with all documents. Their values now are those of the part of
    /// [`Snapshot::parts`] with the same index.
    pub segment: &'s Segment,
    /// The documents that are not deleted.
    pub live: &'s LiveDocs,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { moment: Moment { sequence, commit, .. }, segments, .. } = &*self.0;
        f.debug_struct("Snapshot")
            .field("sequence", sequence)
            .field("commit", commit)
            .field("segments", &segments.len())
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// The number of the last batch of changes that it contains.
    pub fn sequence(&self) -> u64 {
        self.0.moment.sequence
    }

    /// The number of the last commit when it was taken.
    pub fn commit(&self) -> u64 {
        self.0.moment.commit
    }

    /// The bytes that [`Store::commit_with`](crate::Store::commit_with) gave the last commit when the snapshot was taken, or one
    /// before it; empty without any.
    pub fn user_data(&self) -> &[u8] {
        &self.0.moment.user_data
    }

    /// The fields of the store.
    pub fn schema(&self) -> &StoreSchema {
        &self.0.moment.schema
    }

    /// The number of documents that are not deleted.
    pub fn docs(&self) -> u64 {
        let segments = self.0.changes.iter().map(|changes| u64::from(changes.live.count()));
        let blocks = self.0.blocks.iter().map(|block| u64::from(block.block.live.count()));
        segments.sum::<u64>() + blocks.sum::<u64>()
    }

    pub(crate) fn shared_schema(&self) -> Arc<StoreSchema> {
        self.0.moment.schema.clone()
    }

    /// Begins a batch of the store.
    pub(crate) fn batch(&self) -> Result<WriteBatch> {
        let Inner { moment: Moment { schema, .. }, of_batches, .. } = &*self.0;
        let fields = match of_batches.get() {
            Some(fields) => fields,
            None => {
                let fields = schema.for_batches()?;
                of_batches.get_or_init(|| fields)
            }
        };
        Ok(WriteBatch::new(schema.clone(), fields.clone()))
    }

    /// Counts the sets of segments of a store.
    pub(crate) fn generation(&self) -> u64 {
        self.0.moment.generation
    }

    /// The segments, in the order of the parts of addresses. The documents of [`Store::apply`](crate::Store::apply) that
    /// are in no segment yet are in further [`parts`](Self::parts).
    pub fn segments(&self) -> impl ExactSizeIterator<Item = SnapshotSegment<'_>> {
        self.0.segments.iter().zip(&*self.0.changes).map(|(opened, changes)| SnapshotSegment {
            number: opened.number,
            segment: &opened.segment,
            live: &changes.live,
        })
    }

    /// Opens the side file `name` of segment `number`, which an [`Observer`](crate::Observer) wrote. `None` if there is none.
    /// O(segments). Reading does not compare a checksum: [`StoreReader::check`](crate::StoreReader::check) does.
    pub fn side_file(&self, number: u64, name: &str) -> Option<FileReader> {
        let segment = self.0.segments.iter().find(|segment| segment.number == number)?;
        segment.side_file(name).map(FileReader::of)
    }

    /// Whether a segment has side files.
    pub(crate) fn has_side_files(&self) -> bool {
        self.0.has_side_files
    }

    /// The parts of a search: the segments, and blocks of documents in no segment yet, each with its [`live`](Self::live) documents.
    /// They declare the fields of the [`schema`](Self::schema).
    pub fn parts(&self) -> &Parts {
        &self.0.parts
    }

    /// A search over the documents that are not deleted.
    pub fn search(&self) -> Search<'static> {
        Search::over(&self.0.parts)
    }

    /// The document with this id, if it is not deleted. O(segments), mostly a filter of each. The first call also reads the ids of
    /// blocks that changed since the last snapshot that was asked.
    ///
    /// # Errors
    ///
    /// If the store has no id field, or a segment is damaged.
    pub fn find(&self, id: &[u8]) -> Result<Option<DocAddress>> {
        let mut seeker = self.ids()?.lookup.seeker();
        self.find_with(&mut seeker, id)
    }

    /// As [`find`](Self::find), for many ids: an address or `None` for each, in their order. It looks them up sorted, which is
    /// faster than one by one.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_column::{Field, Kind, LogicalType};
    /// use docvalues_store::{Store, StoreOptions, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// let schema = StoreSchema::new()
    ///     .with_field(Field::new("sku", Kind::Binary, LogicalType::Utf8))?
    ///     .with_id_field("sku")?;
    /// let store = Store::create(folder.path(), schema, StoreOptions::default())?;
    /// let mut batch = store.batch()?;
    /// let sku = batch.field("sku")?;
    /// let mut doc = batch.upsert();
    /// doc.str(sku, "A-1")?;
    /// doc.finish()?;
    /// store.apply(batch)?;
    /// store.refresh()?;
    /// let found = store.snapshot().find_many(&[b"A-2", b"A-1"])?;
    /// assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn find_many(&self, ids: &[&[u8]]) -> Result<Vec<Option<DocAddress>>> {
        let mut all = self.map_in_segments(ids, |segment, doc| Ok(address(segment, doc)))?;
        for (id, found) in ids.iter().zip(&mut all) {
            if let Some((at, doc)) = block_ids::find(&self.0.blocks, &self.0.moment, id) {
                *found = Some(address(self.0.segments.len() + at, doc));
            }
        }
        Ok(all)
    }

    /// As [`find`](Self::find), with a seeker that is used again.
    pub(crate) fn find_with(
        &self,
        seeker: &mut Seeker<'_, IdReader>,
        id: &[u8],
    ) -> Result<Option<DocAddress>> {
        if let Some((at, doc)) = block_ids::find(&self.0.blocks, &self.0.moment, id) {
            return Ok(Some(address(self.0.segments.len() + at, doc)));
        }
        let ids = self.ids()?;
        let found = seeker.find_live(id, self.is_live(ids)).map_err(|error| self.damaged(ids, error))?;
        Ok(found.and_then(|hit| Some(address(ids.part(hit.segment)?, hit.doc))))
    }

    /// The live document of each id in the segments, without the blocks, with its version.
    pub(crate) fn find_in_segments(&self, ids: &[&[u8]]) -> Result<Vec<Option<Found>>> {
        self.map_in_segments(ids, |segment, doc| {
            let version = self.0.segments[segment].version(&self.0.moment.schema, doc)?;
            Ok(Found { segment, doc, version })
        })
    }

    /// What `of` returns for the live document of each id in the segments, without the blocks.
    fn map_in_segments<T: Clone>(
        &self,
        ids: &[&[u8]],
        of: impl Fn(usize, DocId) -> Result<T>,
    ) -> Result<Vec<Option<T>>> {
        let snapshot_ids = self.ids()?;
        let (mut seeker, mut hits) = (snapshot_ids.lookup.seeker(), Vec::new());
        // In order, as ids that follow each other share most of the way to their block: 1.15 to 1.3 times as fast for 10,000.
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.sort_unstable_by_key(|at| ids[*at]);
        let in_order: Vec<&[u8]> = order.iter().map(|at| ids[*at]).collect();
        let found = seeker.find_many_live(&in_order, &mut hits, self.is_live(snapshot_ids));
        found.map_err(|error| self.damaged(snapshot_ids, error))?;
        let mut all = vec![None; ids.len()];
        for (at, hit) in order.into_iter().zip(hits) {
            let hit = hit.and_then(|hit| Some((snapshot_ids.part(hit.segment)?, hit.doc)));
            all[at] = hit.map(|(segment, doc)| of(segment, doc)).transpose()?;
        }
        Ok(all)
    }

    /// Whether a document at a place of the look-up is live.
    fn is_live(&self, ids: &SnapshotIds) -> impl Fn(usize, DocId) -> bool {
        |place, doc| ids.part(place).is_some_and(|part| self.0.changes[part].live.contains(doc))
    }

    fn damaged(&self, ids: &SnapshotIds, error: SeekError) -> Error {
        let segment = ids.part(error.segment).and_then(|part| self.0.segments.get(part));
        let file = segment.map(|segment| segment.segment.file().to_owned()).unwrap_or_default();
        Error::Damaged { file, what: error.source.to_string() }
    }

    /// The index of the ids of all segments.
    pub(crate) fn ids(&self) -> Result<&SnapshotIds> {
        if self.0.moment.schema.id_field().is_none() {
            return Err(Error::Request("expected a store with an id field, found one without".to_owned()));
        }
        if let Some(ids) = self.0.ids.get() {
            return Ok(ids);
        }
        let ids = SnapshotIds::by_filters(&self.0.segments)?;
        Ok(self.0.ids.get_or_init(|| ids))
    }

    /// Whether ids are looked up by a table of all segments, which then is kept up to date.
    pub(crate) fn has_table(&self) -> bool {
        self.0.ids.get().is_some_and(|ids| ids.lookup.has_fingerprints())
    }

    /// A segment, and what changed in it.
    pub(crate) fn view(&self, segment: usize) -> SegmentView<'_> {
        SegmentView { segment: &self.0.segments[segment], changes: &self.0.changes[segment] }
    }

    /// The opened segments.
    pub(crate) fn opened(&self) -> &[Arc<StoreSegment>] {
        &self.0.segments
    }

    /// The id of the store.
    pub(crate) fn store(&self) -> u64 {
        self.0.moment.store
    }
}

fn address(part: usize, doc: DocId) -> DocAddress {
    DocAddress { part: u32::try_from(part).unwrap_or(u32::MAX), doc }
}
