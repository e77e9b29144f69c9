//! Freezes the state of a writer for a commit, and adopts the commit when it is durable.

use std::collections::HashSet;
use std::sync::Arc;

use super::Writer;
use crate::error::Result;
use crate::files::{CommitFile, FileName};
use crate::schema::StoreSchema;
use crate::segments::{CommitState, FrozenBuffer, SegmentState};
use crate::store::Docs;
use crate::versions::Tombstones;

/// The store at a moment, while it is being committed. Changes go on meanwhile.
pub(crate) struct Frozen {
    /// The number of the commit, and what its file says, but for the files that are written after this moment.
    pub(crate) number: u64,
    pub(crate) commit: CommitFile,
    /// The number and the checksum of the commit before, and its last batch.
    pub(crate) before: (u64, u32),
    pub(crate) since: u64,
    /// The documents that are in no segment yet.
    pub(crate) buffer: Option<Arc<FrozenBuffer>>,
    pub(crate) segments: Vec<SegmentState>,
    pub(crate) tombstones: Tombstones,
    pub(crate) rewrites_deltas: bool,
    /// The deltas and folds that were created for the commit.
    pub(crate) created: Vec<FileName>,
    /// Counts changes, as the writer does.
    changes: u64,
}

impl Writer {
    /// The store now. What is in the buffer is sealed, to be written to a segment of the commit. `None` if a sealed buffer could
    /// not be written before, and is still to be.
    pub(crate) fn freeze(&mut self) -> Result<Option<Frozen>> {
        self.require_lock()?;
        let first_log = self.log.as_ref().map(|log| log.number());
        first_log.into_iter().for_each(|log| self.files.add(FileName::Log(log)));
        if self.docs.sealed().is_some() {
            return Ok(None);
        }
        self.docs.tombstones.forget_before(self.sequence.saturating_sub(self.remember_deletes));
        let buffer = self.seal();
        let segments = self.docs.segments.to_vec();
        self.docs.mark();
        // Not its segments, which may be many: the commit has others.
        let of_last = std::mem::take(&mut self.committed.segments);
        let last = self.committed.clone();
        self.committed.segments = of_last;
        let mut commit = CommitFile {
            sequence: self.sequence,
            history: self.history,
            highest_version: self.docs.highest_version,
            assigns_versions: self.docs.assigns_versions,
            first_log,
            schema: StoreSchema::clone(&self.docs.schema),
            user_data: self.user_data.clone(),
            ..last
        };
        commit.set_keep(self.keep);
        Ok(Some(Frozen {
            number: self.next_commit(),
            commit,
            before: (self.commit, self.committed.checksum),
            since: self.committed.sequence,
            buffer,
            segments,
            tombstones: self.docs.tombstones.clone(),
            rewrites_deltas: self.rewrites_deltas,
            created: Vec::new(),
            changes: self.changes,
        }))
    }

    /// Takes over a commit that is durable, and what it has written of segments that are still there. Returns the segments
    /// that were dropped, as they have no live document.
    pub(crate) fn adopt(&mut self, frozen: Frozen) -> Vec<u64> {
        self.docs.adopt(&frozen.segments);
        let dropped = self.docs.drop_empty();
        if !dropped.is_empty() {
            self.segments_changed();
        }
        self.committed_as(frozen.number, frozen.commit, frozen.changes);
        dropped
    }

    /// Switches to a commit of the leader that is durable, whose documents and files are all that there are. Returns the segments
    /// that it lacks.
    pub(crate) fn switch_to(&mut self, state: CommitState) -> Vec<u64> {
        let CommitState { number, file, segments, tombstones } = state;
        let stay: HashSet<u64> = segments.iter().map(SegmentState::number).collect();
        let before = self.docs.segments.iter().map(SegmentState::number);
        let gone: Vec<u64> = before.filter(|number| !stay.contains(number)).collect();
        self.files.received.clear();
        for name in file.files() {
            self.files.add(name);
            self.files.received.insert(name);
        }
        file.first_log.into_iter().for_each(|log| self.files.add(FileName::Log(log)));
        self.docs = Docs::new(&file, segments, tombstones);
        (self.sequence, self.history) = (file.sequence, file.history);
        self.user_data = file.user_data.clone();
        self.rearranged();
        self.segments_changed();
        self.committed_as(number, file, self.changes);
        gone
    }

    /// Notes that a commit is durable.
    fn committed_as(&mut self, number: u64, commit: CommitFile, changes: u64) {
        self.files.add_commit(number, &commit);
        (self.commit, self.committed, self.committed_changes) = (number, commit, changes);
        self.rewrites_deltas = false;
        self.is_unpublished = true;
    }

    /// The number of the next commit.
    pub(crate) fn next_commit(&self) -> u64 {
        self.files.newest_commit().map_or(1, |newest| newest + 1)
    }

    /// The names of the files of the last commit, and of those written for segments since.
    pub(crate) fn used(&self) -> HashSet<FileName> {
        let mut used: HashSet<FileName> = self.committed.files().collect();
        used.extend(self.docs.segments.iter().flat_map(|state| state.segment.files()));
        used
    }
}
