//! [`Writer`]: the state of a store that is locked while it changes.

mod freeze;

use std::ffi::OsStr;
use std::sync::Arc;
use std::time::Duration;

use docvalues_storage::Directory;

pub(crate) use freeze::Frozen;

use super::docs::Docs;
use crate::batch::body::{Body, FrameBody};
use crate::error::{Error, Result};
use crate::files::{CommitFile, FileName, Files, Position, WriterLock, random_id};
use crate::log::LogWriter;
use crate::options::KeepCommits;
use crate::read::{Contents, Moment};
use crate::schema::{SchemaEntry, StoreSchema};
use crate::segments::{CommitState, FrozenBuffer, NewNumbers, Sealed, SegmentState, StoreIds};

/// The state of the writer.
#[derive(Debug)]
pub(crate) struct Writer {
    lock: Arc<WriterLock>,
    /// The documents now: whoever changes them calls [`applied`](Self::applied) or [`changed`](Self::changed).
    pub(crate) docs: Docs,
    /// Counts the sets of segments, so that look-ups know whether what they found still holds.
    pub(crate) generation: u64,
    /// The log, which the next commit names if it is new.
    pub(crate) log: Option<Arc<LogWriter>>,
    /// The number of the last batch of changes.
    pub(crate) sequence: u64,
    /// The last batch of changes of which the log has only a note.
    last_unlogged: u64,
    /// Follows from all batches so far: see [`FrameBody`].
    history: u64,
    pub(crate) files: Files,
    /// The commits that are kept.
    pub(crate) keep: KeepCommits,
    /// Whether the next commit replaces all deltas, because of what they have.
    pub(crate) rewrites_deltas: bool,
    /// As [`StoreOptions::remember_deletes`](crate::StoreOptions::remember_deletes).
    remember_deletes: u64,
    /// The last commit, and its content.
    commit: u64,
    committed: CommitFile,
    /// The bytes of the caller in the next commit.
    pub(crate) user_data: Arc<[u8]>,
    /// Counts changes. The last commit has those up to `committed_changes`.
    changes: u64,
    committed_changes: u64,
    /// Whether there are changes since the last snapshot.
    pub(super) is_unpublished: bool,
    /// The reason that nothing can be written any more.
    poisoned: Option<String>,
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
            generation: 0,
            log: None,
            sequence: committed.sequence,
            last_unlogged: 0,
            history: committed.history,
            files,
            keep: committed.keep(),
            rewrites_deltas: false,
            remember_deletes,
            commit,
            user_data: committed.user_data.clone(),
            committed,
            changes: 0,
            committed_changes: 0,
            is_unpublished: false,
            poisoned: None,
        }
    }

    /// The last batch of changes, and the history up to it.
    pub(crate) fn position(&self) -> Position {
        Position { epoch: self.committed.epoch, sequence: self.sequence, history: self.history }
    }

    /// The number of the last commit, and its content.
    pub(crate) fn last_commit(&self) -> (u64, &CommitFile) {
        (self.commit, &self.committed)
    }

    /// Fails if nothing can be written any more.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.poisoned {
            Some(why) => Err(Error::Poisoned { why: why.clone() }),
            None => Ok(()),
        }
    }

    /// The parts of a snapshot.
    pub(crate) fn contents<'w>(&'w self, ids: Option<&'w StoreIds>) -> Contents<'w> {
        let moment = Moment {
            store: self.committed.id,
            sequence: self.sequence,
            commit: self.commit,
            generation: self.generation,
            schema: self.docs.schema.clone(),
            user_data: self.committed.user_data.clone(),
        };
        Contents { moment, segments: &self.docs.segments, blocks: self.docs.blocks().collect(), ids }
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
        FrameBody::of(&body(serde_json::to_vec(&SchemaEntry::from(&*self.docs.schema)).unwrap_or_default()))
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
        let schema = change(StoreSchema::clone(&self.docs.schema))?;
        if schema != *self.docs.schema {
            self.docs.schema = schema.into();
            self.applied(self.body_of(Body::Fields))?;
        }
        Ok(())
    }

    /// Changes the bytes of the caller in the commits from the next one on.
    pub(crate) fn change_user_data(&mut self, user_data: Arc<[u8]>) -> Result<()> {
        if user_data == self.user_data {
            return Ok(());
        }
        self.user_data = user_data;
        self.applied(self.body_of(|_| Body::UserData(self.user_data.to_vec())))
    }

    /// Notes that there is something to publish and to commit, such as the same documents in other files.
    fn rearranged(&mut self) {
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

    /// Sets the buffer aside, unless one that is not written yet is already. Returns what is to be written to a segment, if any
    /// document of it is live.
    pub(crate) fn seal(&mut self) -> Option<Arc<FrozenBuffer>> {
        self.docs.seal();
        let sealed =
            self.docs.sealed().filter(|sealed| sealed.blocks.iter().any(|block| block.live.count() > 0));
        if sealed.is_none() {
            self.unseal(None);
        }
        sealed
    }

    /// Puts a segment in the place of the sealed blocks, or nothing if none of their documents were live. Returns them.
    pub(crate) fn unseal(&mut self, segment: Option<(SegmentState, Arc<NewNumbers>)>) -> Option<Sealed> {
        let sealed = self.docs.unseal(segment)?;
        self.segments_changed();
        Some(sealed)
    }

    /// Adds a segment, and sets the fields of the store with those of it. Returns the number of the batch of changes.
    pub(crate) fn add_segment(&mut self, schema: StoreSchema, segment: SegmentState) -> u64 {
        self.docs.schema = schema.into();
        self.docs.segments.push(segment);
        self.segments_changed();
        self.changed()
    }

    /// Replaces segments by the merged one, which has what changed in them, in the place of the first.
    pub(crate) fn replace(
        &mut self,
        old: &[SegmentState],
        merged: SegmentState,
        new_numbers: &[Arc<NewNumbers>],
    ) {
        self.docs.replace(old, merged, new_numbers);
        self.segments_changed();
        self.rearranged();
    }

    /// Sets the segments and the fields to which all documents were converted. The next commit replaces all deltas.
    pub(crate) fn put_widened(&mut self, segments: Vec<SegmentState>, schema: StoreSchema) {
        self.docs.segments = segments;
        self.docs.schema = schema.into();
        self.rewrites_deltas = true;
        self.segments_changed();
        self.rearranged();
    }

    /// Forgets which ids were deleted, and which files are a leader's. The next commit replaces all deltas.
    pub(crate) fn forget_deleted(&mut self) {
        self.docs.tombstones.forget_before(u64::MAX);
        self.files.received.clear();
        self.rewrites_deltas = true;
        // A batch, so that replicas get the files of the commit.
        if !self.committed.is_replica {
            self.changed();
        }
    }

    /// Whether there are changes that no commit has.
    pub(crate) fn is_uncommitted(&self) -> bool {
        self.changes != self.committed_changes
    }

    /// Refuses changes that do not come from a leader.
    pub(crate) fn require_leader(&self, directory: &dyn Directory) -> Result<()> {
        match self.committed.is_replica {
            true => Err(Error::IsReplica { folder: directory.path().display().to_string() }),
            false => Ok(()),
        }
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

    /// Notes the files of a segment. Those of one that failed are removed; what stays then, the next commit removes, or the next
    /// writer.
    pub(crate) fn note_created(&mut self, directory: &dyn Directory, created: Vec<FileName>, failed: bool) {
        let remove = failed && self.require_lock().is_ok();
        for name in created {
            if !remove || directory.remove(OsStr::new(&name.to_string())).is_err() {
                self.files.add(name);
            }
        }
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
}

fn is_failed_sync(error: &Error) -> bool {
    use docvalues_storage::Step;
    error.storage().is_some_and(|error| matches!(error.step(), Step::Sync | Step::SyncFolder))
}
