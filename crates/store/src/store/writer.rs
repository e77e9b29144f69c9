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
use crate::files::{CommitFile, FileEntry, FileName, Files, Position, WriterLock, random_id};
use crate::log::LogWriter;
use crate::options::KeepCommits;
use crate::read::{Contents, Snapshot};
use crate::schema::{SchemaEntry, StoreSchema};
use crate::segments::{CommitState, IdIndex, Sealed, SegmentState};

/// The state of the writer.
#[derive(Debug)]
pub(crate) struct Writer {
    lock: Arc<WriterLock>,
    docs: Docs,
    deltas: Vec<FileEntry>,
    /// Counts the sets of segments, so that look-ups know whether what they found still holds.
    generation: u64,
    /// The log, and its number.
    log: Option<Arc<LogWriter>>,
    log_number: Option<u64>,
    sequence: u64,
    /// The last batch of changes of which the log has only a note.
    last_unlogged: u64,
    /// Follows from all batches so far: see [`FrameBody`].
    history: u64,
    files: Files,
    /// The files of the commit that is being written.
    committing: HashSet<FileName>,
    /// The leader's files that a replica has, as long as no frame came after them: they are not sent again.
    received: HashSet<FileName>,
    keep: KeepCommits,
    /// Whether the next commit replaces all deltas, because of what they have.
    rewrites_deltas: bool,
    /// As [`StoreOptions::remember_deletes`](crate::StoreOptions::remember_deletes).
    remember_deletes: u64,
    /// The last commit, and its content.
    commit: u64,
    committed: CommitFile,
    /// Counts changes. The last commit has those up to `committed_changes`.
    changes: u64,
    committed_changes: u64,
    /// Whether there are changes since the last snapshot.
    is_unpublished: bool,
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

    /// The documents now.
    pub(crate) fn docs(&self) -> &Docs {
        &self.docs
    }

    /// The documents, to be changed: whoever does so calls [`applied`](Self::applied) or [`changed`](Self::changed).
    pub(crate) fn docs_mut(&mut self) -> &mut Docs {
        &mut self.docs
    }

    /// Counts the sets of segments, so that look-ups know whether what they found still holds.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// The number of the last batch of changes.
    pub(crate) fn sequence(&self) -> u64 {
        self.sequence
    }

    /// The last batch of changes, and the history up to it.
    pub(crate) fn position(&self) -> Position {
        Position { epoch: self.committed.epoch, sequence: self.sequence, history: self.history }
    }

    /// The number of the last commit, and its content.
    pub(crate) fn last_commit(&self) -> (u64, &CommitFile) {
        (self.commit, &self.committed)
    }

    /// The number of the next commit.
    pub(crate) fn next_commit(&self) -> u64 {
        self.files.newest_commit().map_or(1, |newest| newest + 1)
    }

    /// The commits that are kept.
    pub(crate) fn keep(&self) -> KeepCommits {
        self.keep
    }

    pub(crate) fn is_replica(&self) -> bool {
        self.committed.is_replica
    }

    pub(crate) fn has_log(&self) -> bool {
        self.log.is_some()
    }

    /// The number of the log.
    pub(crate) fn log_number(&self) -> Option<u64> {
        self.log_number
    }

    /// Whether the next commit replaces all deltas, because of what they have.
    pub(crate) fn rewrites_deltas(&self) -> bool {
        self.rewrites_deltas
    }

    /// Whether files of the leader came, and no frame after them: the leader merges them.
    pub(crate) fn is_receiving(&self) -> bool {
        !self.received.is_empty()
    }

    /// Fails if nothing can be written any more.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.poisoned {
            Some(why) => Err(Error::Poisoned { why: why.clone() }),
            None => Ok(()),
        }
    }

    /// Whether there were changes since the last snapshot. From now on, it has them.
    pub(super) fn take_unpublished(&mut self) -> bool {
        std::mem::take(&mut self.is_unpublished)
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
        self.forget_received();
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

    /// Switches to a commit of the leader that is durable, whose documents and files are all that there are. Returns the segments
    /// that it lacks.
    pub(crate) fn switch_to(&mut self, state: CommitState) -> Vec<u64> {
        let CommitState { number, file, segments, tombstones } = state;
        let stays = |number: &u64| segments.iter().any(|state| state.number() == *number);
        let before = self.docs.segments().iter().map(SegmentState::number);
        let gone: Vec<u64> = before.filter(|number| !stays(number)).collect();
        file.files().for_each(|name| self.files.add(name));
        self.received = file.files().collect();
        self.docs = Docs::new(&file, segments, tombstones);
        self.deltas = file.deltas.clone();
        (self.sequence, self.history) = (file.sequence, file.history);
        self.rearranged();
        self.segments_changed();
        self.committed_as(number, file, self.changes);
        gone
    }

    /// Notes that a commit is durable.
    fn committed_as(&mut self, number: u64, commit: CommitFile, changes: u64) {
        self.files.add_commit(number, &commit);
        (self.commit, self.committed, self.committed_changes) = (number, commit, changes);
        self.committing.clear();
        self.rewrites_deltas = false;
        self.is_unpublished = true;
    }

    /// The number of the next file.
    pub(crate) fn next_number(&self) -> u64 {
        self.files.next_number()
    }

    /// Numbers below `next` are not taken any more.
    pub(crate) fn reserve_below(&mut self, next: u64) {
        self.files.reserve_below(next);
    }

    /// The number of a new file, which nothing ever had.
    pub(crate) fn take_number(&mut self) -> u64 {
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

    /// Begins a log, which the next commit names.
    pub(crate) fn begin_log(&mut self, log: Arc<LogWriter>, number: u64) {
        self.log = Some(log);
        self.note_log(number);
    }

    /// Notes that the log goes on in another file, which the next commit names.
    pub(crate) fn note_log(&mut self, number: u64) {
        self.log_number = Some(number);
    }

    /// The number of the next log, which a commit will name.
    pub(crate) fn next_log(&mut self) -> u64 {
        let number = self.take_number();
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

    /// Notes a file that was created. A commit removes it if it is not used.
    pub(crate) fn add_file(&mut self, name: FileName) {
        self.files.add(name);
    }

    /// Notes a file of the leader, which stays although no commit names it yet.
    pub(crate) fn receive(&mut self, name: FileName) {
        self.received.insert(name);
    }

    /// From now on, the files of the leader are this store's own.
    pub(crate) fn forget_received(&mut self) {
        self.received.clear();
    }

    /// Makes place for a file of the leader. Returns false if another file of this name is in use.
    pub(crate) fn make_place_for(&mut self, name: FileName) -> bool {
        self.received.remove(&name);
        let is_free = !self.used().contains(&name) && !self.files.is_named(name);
        if is_free {
            self.files.forget(&[name]);
        }
        is_free
    }

    /// Begins to remove files. Returns the temporary ones, which are no longer known, and the commits that need not stay.
    pub(crate) fn begin_removal(
        &mut self,
        directory: &dyn Directory,
        keep: KeepCommits,
        now: u64,
    ) -> Result<(Vec<String>, Vec<u64>)> {
        self.require_lock()?;
        let older = self.files.older_commits(directory, keep, now);
        Ok((self.files.take_temporary(), older))
    }

    /// Notes the temporary files that could not be removed, and the commits that were. Returns the files that neither a commit
    /// nor the store needs; the newest logs that the newest commit does not need stay, as far as they take at most
    /// `keep_frames` bytes.
    pub(crate) fn commits_removed(
        &mut self,
        (temporary, commits): (Vec<String>, &[u64]),
        directory: &dyn Directory,
        keep_frames: u64,
    ) -> Vec<FileName> {
        self.files.keep_temporary(temporary);
        self.files.forget_commits(commits);
        let used = self.used();
        let first_log = self.committed.first_log;
        let first_log = first_log.map(|log| self.files.first_kept_log(directory, log, keep_frames));
        self.files.unnamed(directory, &used, first_log)
    }

    /// Notes files that were removed.
    pub(crate) fn files_removed(&mut self, files: &[FileName]) {
        self.files.forget(files);
    }

    /// Notes a file that the commit being written will name.
    pub(crate) fn commits_file(&mut self, name: FileName) {
        self.files.add(name);
        self.committing.insert(name);
    }

    /// The names of all files in use: of the last commit, of the one being written, and those written since.
    fn used(&self) -> HashSet<FileName> {
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
