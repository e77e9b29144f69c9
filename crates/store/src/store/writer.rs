//! [`Writer`]: the state of a store that is locked while it changes.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use docvalues_column::DocAddress;
use docvalues_storage::Directory;

use super::docs::{Current, Docs};
use super::frozen::Frozen;
use crate::batch::body::{Body, FrameBody};
use crate::error::{Error, Result};
use crate::files::{CommitFile, CommitInfo, FileEntry, FileName, Files, WriterLock, random_id};
use crate::log::LogWriter;
use crate::options::KeepCommits;
use crate::read::{Contents, Snapshot};
use crate::schema::{SchemaEntry, StoreSchema};
use crate::segments::{CommitState, IdIndex, Sealed, SegmentState};

/// The state of the writer.
#[derive(Debug)]
pub(crate) struct Writer {
    lock: Arc<WriterLock>,
    pub(crate) docs: Docs,
    pub(crate) deltas: Vec<FileEntry>,
    /// Counts the sets of segments, so that look-ups know whether what they found still holds.
    pub(crate) generation: u64,
    /// The log, and its number.
    pub(crate) log: Option<Arc<LogWriter>>,
    pub(crate) log_number: Option<u64>,
    pub(crate) sequence: u64,
    /// The last batch of changes of which the log has only a note.
    last_unlogged: u64,
    /// Follows from all batches so far: see [`FrameBody`].
    pub(crate) history: u64,
    pub(crate) files: Files,
    /// The files of the commit that is being written.
    pub(crate) committing: HashSet<FileName>,
    /// The leader's files that a replica has, as long as no frame came after them: they are not sent again.
    pub(crate) received: HashSet<FileName>,
    pub(crate) keep: KeepCommits,
    /// Whether the next commit replaces all deltas, because of what they have.
    pub(crate) rewrites_deltas: bool,
    /// As [`StoreOptions::remember_deletes`].
    pub(crate) remember_deletes: u64,
    /// The last commit, and its content.
    pub(crate) commit: u64,
    pub(crate) committed: CommitFile,
    /// Counts changes. The last commit has those up to `committed_changes`.
    pub(crate) changes: u64,
    pub(crate) committed_changes: u64,
    /// Whether there are changes since the last snapshot.
    pub(crate) is_unpublished: bool,
    /// The reason that nothing can be written any more.
    pub(crate) poisoned: Option<String>,
}

impl Writer {
    /// The writer of a commit that was opened.
    pub(crate) fn new(
        lock: Arc<WriterLock>,
        files: Files,
        state: CommitState,
        remember_deletes: u64,
    ) -> Writer {
        let CommitState { number: commit, file: committed, segments, mut tombstones } = state;
        tombstones.forget_before(committed.sequence.saturating_sub(remember_deletes));
        Writer {
            lock,
            docs: Docs::new(&committed, segments, tombstones),
            deltas: committed.deltas.clone(),
            generation: 0,
            log: None,
            log_number: None,
            sequence: committed.sequence,
            last_unlogged: 0,
            history: committed.history,
            files,
            committing: HashSet::new(),
            received: HashSet::new(),
            keep: committed.keep,
            rewrites_deltas: false,
            remember_deletes,
            commit,
            committed,
            changes: 0,
            committed_changes: 0,
            is_unpublished: false,
            poisoned: None,
        }
    }

    /// What a snapshot is made of.
    pub(crate) fn contents<'w>(&'w self, ids: Option<&'w IdIndex>) -> Contents<'w> {
        Contents {
            store: self.committed.id,
            sequence: self.sequence,
            commit: self.commit,
            generation: self.generation,
            schema: self.docs.schema().clone(),
            segments: self.docs.segments(),
            blocks: self.docs.blocks().collect(),
            ids,
        }
    }

    /// Notes that there is something to publish and to commit. Returns the number of the batch of changes.
    ///
    /// The log only gets a frame that says so, and the caller must commit.
    pub(crate) fn changed(&mut self) -> u64 {
        let random = random_id(self.sequence);
        // After a failure, the store is poisoned.
        drop(self.applied(self.body_of(|schema| Body::Other(schema, random))));
        self.last_unlogged = self.sequence;
        self.sequence
    }

    /// The body of a frame with the schema; empty without a log.
    fn body_of(&self, body: impl FnOnce(Vec<u8>) -> Body) -> FrameBody {
        if self.log.is_none() {
            return FrameBody::default();
        }
        FrameBody::of(&body(
            serde_json::to_vec(&SchemaEntry::from(&**self.docs.schema())).unwrap_or_default(),
        ))
    }

    /// Counts a batch of changes, and puts its frame into the log, if there is one. Fails only if the log does, and poisons
    /// the store.
    pub(crate) fn applied(&mut self, body: FrameBody) -> Result<()> {
        self.sequence += 1;
        self.history = body.history_after(self.history);
        self.rearranged();
        let Some(log) = &self.log else { return Ok(()) };
        let appended = log.append(self.sequence, self.history, body.into_bytes());
        appended.map_err(|error| self.poison(error.poison_reason()))
    }

    /// Whether there are changes that neither the log nor a commit has.
    pub(crate) fn has_unlogged(&self) -> bool {
        self.log.is_some() && self.last_unlogged > self.committed.sequence
    }

    /// Changes the schema.
    pub(crate) fn change_schema(
        &mut self,
        change: impl FnOnce(StoreSchema) -> Result<StoreSchema>,
    ) -> Result<()> {
        let schema = change(StoreSchema::clone(self.docs.schema()))?;
        if schema != **self.docs.schema() {
            self.docs.set_schema(schema);
            self.applied(self.body_of(Body::Fields))?;
        }
        Ok(())
    }

    /// Notes that there is something to publish and to commit, such as the same documents in other files.
    pub(crate) fn rearranged(&mut self) {
        self.changes += 1;
        self.is_unpublished = true;
    }

    /// Sets the commits that are kept from the next one on.
    pub(crate) fn keep_commits(&mut self, keep: KeepCommits) {
        let keep = match keep {
            KeepCommits::Newest(count) => KeepCommits::Newest(count.max(1)),
            KeepCommits::Within(time) => KeepCommits::Within(Duration::from_secs(time.as_secs())),
        };
        if keep != self.keep {
            self.keep = keep;
            self.rearranged();
        }
    }

    /// Notes that there are other segments than before.
    pub(crate) fn segments_changed(&mut self) {
        self.generation += 1;
        self.is_unpublished = true;
    }

    /// The present places of documents of a snapshot.
    ///
    /// # Errors
    ///
    /// If the snapshot has no such document; [`Error::Merged`]; [`Error::OtherSnapshot`].
    pub(crate) fn require(&self, snapshot: &Snapshot, docs: &[DocAddress]) -> Result<Vec<Current>> {
        self.docs.require(snapshot, docs, self.committed.id)
    }

    /// Puts a segment in the place of the sealed blocks, or nothing if none of their documents were live. Returns them.
    pub(crate) fn unseal(&mut self, segment: Option<SegmentState>, new_numbers: &[u32]) -> Option<Sealed> {
        let sealed = self.docs.unseal(segment, new_numbers)?;
        self.segments_changed();
        Some(sealed)
    }

    /// Adds a segment, and sets the fields of the store with those of it. Returns the number of the batch of changes.
    pub(crate) fn add_segment(&mut self, schema: StoreSchema, segment: SegmentState) -> u64 {
        self.docs.add_segment(schema, segment);
        self.segments_changed();
        self.changed()
    }

    /// Replaces segments by the merged one, in the place of the first.
    pub(crate) fn replace(&mut self, old: &[SegmentState], merged: SegmentState, new_numbers: &[Vec<u32>]) {
        self.docs.replace(old, merged, new_numbers);
        self.segments_changed();
        self.rearranged();
    }

    /// Sets the segments and the fields to which all documents were converted. The next commit replaces all deltas.
    pub(crate) fn put_widened(&mut self, segments: Vec<SegmentState>, schema: StoreSchema) {
        self.docs.put_widened(segments, schema);
        self.rewrites_deltas = true;
        self.segments_changed();
        self.rearranged();
    }

    /// Forgets which ids were deleted, and which files are a leader's. The next commit replaces all deltas.
    pub(crate) fn forget_deleted(&mut self) {
        self.docs.forget_deletes_before(u64::MAX);
        self.received.clear();
        self.rewrites_deltas = true;
        // A batch, so that replicas get the files of the commit.
        if !self.committed.is_replica {
            self.changed();
        }
    }

    /// The last commit.
    pub(crate) fn info(&self) -> CommitInfo {
        CommitInfo::of(self.commit, &self.committed)
    }

    /// Whether there are changes that no commit has.
    pub(crate) fn is_uncommitted(&self) -> bool {
        self.changes != self.committed_changes
    }

    /// The store now. What is in the buffer is sealed, to be written to a segment of the commit.
    pub(crate) fn freeze(&mut self) -> Result<Frozen> {
        self.require_lock()?;
        self.docs.seal();
        self.docs.forget_deletes_before(self.sequence.saturating_sub(self.remember_deletes));
        self.committing = self.used();
        let segments = self.docs.segments().to_vec();
        self.docs.mark();
        Ok(Frozen {
            sequence: self.sequence,
            history: self.history,
            changes: self.changes,
            highest_version: self.docs.highest_version(),
            assigns_versions: self.docs.assigns_versions(),
            first_log: self.log_number,
            keep: self.keep,
            rewrites_deltas: self.rewrites_deltas,
            schema: self.docs.schema().clone(),
            segments,
            deltas: self.deltas.clone(),
            tombstones: self.docs.tombstones().clone(),
            before: self.committed.clone(),
        })
    }

    /// Takes over a commit that is durable, and what it has written of segments that are still there. Returns the segments
    /// that were dropped, as they have no live document.
    pub(crate) fn adopt(&mut self, frozen: Frozen, number: u64, commit: CommitFile) -> Vec<u64> {
        self.docs.adopt(&frozen.segments);
        self.deltas = frozen.deltas;
        let dropped = self.docs.drop_empty();
        if !dropped.is_empty() {
            self.segments_changed();
        }
        self.committed_as(number, commit, frozen.changes);
        dropped
    }

    /// Notes that a commit is durable.
    pub(crate) fn committed_as(&mut self, number: u64, commit: CommitFile, changes: u64) {
        self.files.add_commit(number, &commit);
        (self.commit, self.committed, self.committed_changes) = (number, commit, changes);
        self.committing.clear();
        self.rewrites_deltas = false;
        self.is_unpublished = true;
    }

    /// The number of the next file, which nothing ever had.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.files.take_number()
    }

    /// Refuses changes that do not come from a leader.
    pub(crate) fn require_leader(&self, directory: &dyn Directory) -> Result<()> {
        match self.committed.is_replica {
            true => Err(Error::IsReplica { folder: directory.path().display().to_string() }),
            false => Ok(()),
        }
    }

    /// Refuses a batch that was begun with other fields.
    pub(crate) fn require_fields(&self, schema: &StoreSchema) -> Result<()> {
        let now = self.docs.schema();
        match std::ptr::eq(&**now, schema) || now.extends(schema) {
            true => Ok(()),
            false => {
                Err(Error::Request("expected a batch of this store, found one with other fields".to_owned()))
            }
        }
    }

    /// The number of the next log, which a commit will name.
    pub(crate) fn next_log(&mut self) -> u64 {
        let number = self.next_number();
        self.commits_file(FileName::Log(number));
        number
    }

    /// Refuses to write if another process may have taken over the store.
    pub(crate) fn require_lock(&mut self) -> Result<()> {
        self.lock.require().map_err(|error| self.poison(error.poison_reason()))
    }

    /// Refuses everything from now on.
    pub(crate) fn poison(&mut self, why: impl Into<String>) -> Error {
        let why = why.into();
        self.poisoned = Some(why.clone());
        Error::Poisoned { why }
    }

    /// The result of a sync. After a failed one, the cache may show what the disk does not have, and a later sync does
    /// not tell.
    pub(crate) fn synced<T>(&mut self, synced: Result<T>) -> Result<T> {
        if let Err(error) = &synced
            && (is_failed_sync(error) || matches!(error, Error::Poisoned { .. }))
        {
            self.poison(error.poison_reason());
        }
        synced
    }

    /// Notes a file that the commit being written will name.
    pub(crate) fn commits_file(&mut self, name: FileName) {
        self.files.add(name);
        self.committing.insert(name);
    }

    /// The names of all files in use: of the last commit, of the one being written, and those written since.
    pub(crate) fn used(&self) -> HashSet<FileName> {
        let mut used: HashSet<FileName> = self.committed.files().collect();
        for state in self.docs.segments() {
            used.insert(FileName::Segment(state.number()));
            if let Some(fold) = state.fold {
                used.insert(FileName::Fold { segment: state.number(), number: fold.number });
            }
        }
        for delta in &self.deltas {
            used.insert(FileName::Delta(delta.number));
        }
        used.extend(&self.committing);
        used.extend(&self.received);
        used
    }
}

fn is_failed_sync(error: &Error) -> bool {
    use docvalues_storage::Step;
    error.storage().is_some_and(|error| matches!(error.step(), Step::Sync | Step::SyncFolder))
}
