//! [`Docs`]: the documents of a store now, the ids by which they are looked up, and the places where they are.
//!
//! Knows nothing of logs, commits and their files.

use std::sync::Arc;

use docvalues_column::DocId;

use crate::files::CommitFile;
use crate::schema::StoreSchema;
use crate::segments::{Buffer, Place, Sealed, SegmentState};
use crate::versions::Tombstones;

/// The documents of a store, and its fields.
#[derive(Debug)]
pub(crate) struct Docs {
    pub(crate) schema: Arc<StoreSchema>,
    /// From the oldest to the newest.
    pub(crate) segments: Vec<SegmentState>,
    /// The documents that were applied and are in no segment yet.
    pub(crate) buffer: Buffer,
    /// Those that are being written to a segment.
    pub(crate) sealed: Option<Sealed>,
    pub(crate) tombstones: Tombstones,
    pub(crate) highest_version: u64,
    /// Whether a document was given a version by the store.
    pub(crate) assigns_versions: bool,
}

/// An id, its hash, and the place of the field of ids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Id<'a> {
    pub(crate) id: &'a [u8],
    pub(crate) hash: u64,
    pub(crate) field: usize,
}

/// The place of a document now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Current {
    Buffer(Place),
    /// In the part of the buffer that is being written.
    Sealed(Place),
    Segment(usize, DocId),
    /// Its segment was dropped, as no document in it was live.
    Gone,
}

impl Docs {
    /// The documents of a commit.
    pub(crate) fn new(commit: &CommitFile, segments: Vec<SegmentState>, tombstones: Tombstones) -> Docs {
        Docs {
            schema: Arc::new(commit.schema.clone()),
            segments,
            buffer: Buffer::default(),
            sealed: None,
            tombstones,
            highest_version: commit.highest_version,
            assigns_versions: commit.assigns_versions,
        }
    }
}
