//! [`SegmentState`]: a segment and what changed in it.

use std::collections::HashMap;
use std::sync::Arc;

use super::segment::StoreSegment;
use super::segment_changes::SegmentChanges;
use crate::files::{FileEntry, SegmentEntry};

/// A segment, and what changed in it.
#[derive(Clone, Copy)]
pub(crate) struct SegmentView<'a> {
    pub(crate) segment: &'a Arc<StoreSegment>,
    pub(crate) changes: &'a SegmentChanges,
}

/// A segment and what changed in it.
#[derive(Clone, Debug)]
pub(crate) struct SegmentState {
    pub(crate) segment: Arc<StoreSegment>,
    /// The file of folded deltas, if there is one, and what it says.
    pub(crate) fold: Option<FileEntry>,
    pub(crate) folded: SegmentChanges,
    /// The changes of the last commit: of the fold and all deltas.
    pub(crate) committed: SegmentChanges,
    /// The changes now.
    pub(crate) now: SegmentChanges,
}

impl SegmentState {
    /// A segment in which nothing changed.
    pub(crate) fn new(segment: Arc<StoreSegment>) -> SegmentState {
        let now = SegmentChanges::none(segment.segment.docs());
        SegmentState { segment, fold: None, folded: now.clone(), committed: now.clone(), now }
    }

    /// The segment, and what changed in it.
    pub(crate) fn view(&self) -> SegmentView<'_> {
        SegmentView { segment: &self.segment, changes: &self.now }
    }

    pub(crate) fn number(&self) -> u64 {
        self.segment.number
    }

    /// The entry of a commit.
    pub(crate) fn entry(&self) -> SegmentEntry {
        let FileEntry { number, bytes, id } = self.segment.file;
        let (docs, live) = (self.now.live.docs(), self.now.live.count());
        let side = self.segment.side.iter().map(|side| side.entry.clone()).collect();
        SegmentEntry { number, docs, live, bytes, id, fold: self.fold, side }
    }
}

/// The place of each segment, by its number.
pub(crate) fn places_by_number(segments: &[SegmentState]) -> HashMap<u64, usize> {
    segments.iter().map(SegmentState::number).zip(0..).collect()
}

/// Sorts places by a key, and those of the same key by themselves.
pub(crate) fn places_by_key(mut places: Vec<(u64, usize)>) -> Vec<usize> {
    places.sort_unstable();
    places.into_iter().map(|(_, at)| at).collect()
}
