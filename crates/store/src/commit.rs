//! Commits: what makes changes durable.
//!
//! ```text
//! 1  segments that were added: written and synced when they were; and one for what is in the buffer
//! 2  delta    what was deleted or updated since the last commit, written and synced; every eighth time, deltas are folded
//! 3  folder   synced: the names of all these files are durable
//! 4  commit   written under a temporary name, synced, renamed to `commit-NNNNNNNN`
//! 5  folder   synced: the commit is durable
//! 6  older commits, and files that no commit names any more, are removed
//! ```
//!
//! A power loss before 5 leaves the commit before, or this one, whole. Without 3, the name of the commit could become
//! durable before those of the files that it names.
//!
//! The segment of 1 is written by `flush`, which also makes room between commits. Knows nothing of batches and merges.

mod flush;

use std::ffi::OsStr;
use std::io;
use std::time::Instant;

use docvalues_storage::{FileLock, NewFile};

use crate::error::{Error, Result};
use crate::files::{CommitFile, FileEntry, FileName};
use crate::options::KeepCommits;
use crate::schema::StoreSchema;
use crate::segments::delta::{self, ChangedSegment};
use crate::segments::{SegmentChanges, SegmentState};
use crate::store::{Frozen, Store};
use crate::sync::PoisonError;

/// The most deltas of a commit.
const MAX_DELTAS: usize = 8;

/// A segment of which at least one in this many documents changed gets a fold of its own.
const FOLDED_SHARE: u64 = 500;

impl Store {
    /// Makes all changes so far durable. Returns the number of the commit; without changes, that of the last one.
    ///
    /// Changes go on while it runs, and belong to the next commit.
    ///
    /// # Errors
    ///
    /// If a file cannot be written. The changes are still there then, and visible, and may be committed by another
    /// call, unless the store is poisoned: after a failed sync, or if another process removed its lock.
    pub fn commit(&self) -> Result<u64> {
        let _flushing = self.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        match self.change(|writer| {
            if writer.is_uncommitted() { Ok(None) } else { Ok(Some(writer.last_commit().0)) }
        })? {
            Some(last) => Ok(last),
            None => {
                let began = Instant::now();
                self.rotate_log()?;
                let number = self.write_commit(&|_| {})?;
                self.remove_unnamed()?;
                self.note_done(&self.counters.commits, began);
                Ok(number)
            }
        }
    }

    /// As [`commit`](Self::commit), also without changes. For a store that nobody else has yet.
    pub(crate) fn commit_now(&self) -> Result<u64> {
        let _flushing = self.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        self.write_commit(&|_| {})
    }

    /// Begins a new log, so that the commit needs none before. What is applied meanwhile may be in both.
    pub(crate) fn rotate_log(&self) -> Result<()> {
        let Some(log) = &self.log else { return Ok(()) };
        let number = self.change_quietly(|writer| Ok(writer.next_log()))?;
        let rotated = log.rotate(number);
        self.change_quietly(|writer| {
            writer.synced(rotated)?;
            writer.note_log(number);
            Ok(())
        })
    }

    /// Commits, with a change of what the commit says. The caller holds `flushing`.
    pub(crate) fn write_commit(&self, change: &dyn Fn(&mut CommitFile)) -> Result<u64> {
        // Of an attempt that failed.
        self.flush_sealed()?;
        let mut frozen = self.change(|writer| {
            let frozen = writer.freeze()?;
            self.note_room(writer);
            Ok(frozen)
        })?;
        frozen.segments.extend(self.flush_sealed()?);
        self.write_deltas(&mut frozen)?;
        let mut commit = CommitFile {
            sequence: frozen.sequence,
            history: frozen.history,
            next_number: self.change_quietly(|writer| Ok(writer.next_number()))?,
            highest_version: frozen.highest_version,
            assigns_versions: frozen.assigns_versions,
            first_log: frozen.first_log,
            keep: frozen.keep,
            made: Some((self.clock)()),
            schema: (*frozen.schema).clone(),
            segments: frozen.segments.iter().map(SegmentState::entry).collect(),
            deltas: frozen.deltas.clone(),
            ..frozen.before.clone()
        };
        change(&mut commit);
        // A commit that no reader accepts must not replace one that is good.
        commit.check().map_err(Error::Request)?;
        let synced = self.directory.sync().map_err(Into::into);
        self.change_quietly(|writer| writer.synced(synced))?;
        let (number, before) = self.change_quietly(|writer| {
            writer.require_lock()?;
            Ok((writer.next_commit(), writer.last_commit().0))
        })?;
        let bytes = commit.seal(number, (before, frozen.before.checksum));
        let written = self.write_commit_file(number, &bytes);
        self.change(|writer| {
            writer.synced(written)?;
            self.ids.remove(&writer.adopt(frozen, number, commit));
            Ok(number)
        })
    }

    /// Writes the bytes of commit `number`.
    pub(crate) fn write_commit_file(&self, number: u64, bytes: &[u8]) -> Result<()> {
        let name = FileName::Commit(number).to_string();
        let temporary = format!(".{name}.tmp");
        // Of an attempt that failed.
        let _ = self.directory.remove(OsStr::new(&temporary));
        let mut file = NewFile::create(self.directory.clone(), &temporary)?;
        file.append(bytes)?;
        file.finish()?;
        self.lock.require()?;
        self.directory.rename(OsStr::new(&temporary), OsStr::new(&name))?;
        self.directory.sync()?;
        // A writer that took over may have missed this commit.
        self.lock.require()
    }

    /// Writes what changed since the last commit.
    fn write_deltas(&self, frozen: &mut Frozen) -> Result<()> {
        frozen.segments.retain(|state| state.now.live.count() > 0);
        // Those that the last commit does not have.
        let mut tombstones = frozen.tombstones.sorted();
        tombstones.retain(|(_, tombstone)| tombstone.sequence > frozen.before.sequence);
        let since_commit = |state| ChangedSegment::since(state, &state.committed);
        let mut changed: Vec<ChangedSegment<'_>> = frozen.segments.iter().map(since_commit).collect();
        let is_change = !tombstones.is_empty() || changed.iter().any(|changed| changed.len() > 0);
        if frozen.rewrites_deltas || is_change && frozen.deltas.len() >= MAX_DELTAS {
            self.fold(&frozen.schema, &mut frozen.segments)?;
            changed =
                frozen.segments.iter().map(|state| ChangedSegment::since(state, &state.folded)).collect();
            tombstones = frozen.tombstones.sorted();
            frozen.deltas.clear();
        }
        if is_change || frozen.rewrites_deltas {
            let number = self.change_quietly(|writer| Ok(writer.take_number()))?;
            let name = FileName::Delta(number);
            let written = delta::write(&self.directory, name, &frozen.schema, changed, &tombstones);
            frozen.deltas.extend(self.commits_file(name, written)?);
        }
        frozen.segments.iter_mut().for_each(|state| state.committed = state.now.clone());
        Ok(())
    }

    /// Gives segments of which much changed since their fold another one, with all that changed.
    fn fold(&self, schema: &StoreSchema, segments: &mut [SegmentState]) -> Result<()> {
        for state in segments {
            let changed = ChangedSegment::since(state, &state.folded).len() as u64;
            if changed == 0 || changed.saturating_mul(FOLDED_SHARE) < u64::from(state.now.live.docs()) {
                continue;
            }
            let number = self.change_quietly(|writer| Ok(writer.take_number()))?;
            let name = FileName::Fold { segment: state.number(), number };
            let since = SegmentChanges::none(state.now.live.docs());
            let changed = vec![ChangedSegment::since(state, &since)];
            let written = delta::write(&self.directory, name, schema, changed, &[]);
            state.fold = self.commits_file(name, written)?;
            state.folded = state.now.clone();
        }
        Ok(())
    }

    /// Notes a file that was written for the commit, if one was.
    fn commits_file(&self, name: FileName, written: Result<Option<FileEntry>>) -> Result<Option<FileEntry>> {
        self.change_quietly(|writer| {
            let written = writer.synced(written)?;
            if written.is_some() {
                writer.commits_file(name);
            }
            Ok(written)
        })
    }

    /// Removes older commits than are kept, and the files that neither a commit that is left nor the store needs. The newest
    /// commit is durable. The caller holds `flushing`, or has the store for itself.
    pub(crate) fn remove_unnamed(&self) -> Result<()> {
        let keep = self.change_quietly(|writer| Ok(writer.keep()))?;
        self.remove_all_but(keep, self.options.keep_frames).map(drop)
    }

    /// As [`remove_unnamed`](Self::remove_unnamed), but keeps these commits, and so many bytes of logs that the newest commit
    /// does not need. Returns the names of what could not be removed.
    ///
    /// A commit that a reader is opening stays, and so do files that cannot be removed; the next call tries again. Files
    /// are removed outside of the lock: a file that is not needed never will be.
    pub(crate) fn remove_all_but(&self, keep: KeepCommits, keep_frames: u64) -> Result<Vec<String>> {
        let remove = |name: &str| match self.directory.remove(OsStr::new(name)) {
            Err(error) => error.io_error().kind() == io::ErrorKind::NotFound,
            Ok(()) => true,
        };
        let now = (self.clock)();
        let (mut temporary, mut commits) =
            self.change_quietly(|writer| writer.begin_removal(&*self.directory, keep, now))?;
        temporary.retain(|name| !remove(name));
        let mut left = temporary.clone();
        commits.retain(|number| {
            let name = FileName::Commit(*number).to_string();
            let held = self.directory.hold(OsStr::new(&name), FileLock::Exclusive);
            let is_removed = held.is_ok_and(|_held| remove(&name));
            left.extend((!is_removed).then_some(name));
            is_removed
        });
        let mut files = self.change_quietly(|writer| {
            Ok(writer.commits_removed((temporary, &commits), &*self.directory, keep_frames))
        })?;
        files.retain(|file| {
            let (name, is_removed) = (file.to_string(), remove(&file.to_string()));
            left.extend((!is_removed).then_some(name));
            is_removed
        });
        self.change_quietly(|writer| {
            writer.files_removed(&files);
            Ok(())
        })?;
        Ok(left)
    }
}
