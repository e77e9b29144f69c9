//! Writes a commit, after which all changes so far are durable.
//!
//! ```text
//! 1  segments: those that were added are synced already; the buffer becomes one, which is synced
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
//! | module | |
//! | --- | --- |
//! | `flush` | writes the segment of 1, also between commits |
//! | `deltas` | writes the files of 2 |
//! | `removal` | removes the files of 6 |
//!
//! Knows nothing of batches and merges.

mod deltas;
mod flush;
mod removal;

use std::ffi::OsStr;
use std::time::Instant;

use docvalues_storage::NewFile;

use deltas::write_deltas;
pub(crate) use flush::{flush, flush_sealed};
pub(crate) use removal::{remove_all_but, remove_unnamed};

use crate::error::{Error, Result};
use crate::files::{CommitFile, FileName};
use crate::segments::SegmentState;
use crate::store::Store;
use crate::sync::PoisonError;

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
                rotate_log(self)?;
                let number = write_commit(self, &|_| {})?;
                remove_unnamed(self)?;
                self.note_done(&self.counters.commits, began);
                Ok(number)
            }
        }
    }
}

/// As [`Store::commit`], also without changes. For a store that nobody else has yet.
pub(crate) fn commit_now(store: &Store) -> Result<u64> {
    let _flushing = store.flushing.lock().unwrap_or_else(PoisonError::into_inner);
    write_commit(store, &|_| {})
}

/// Begins a new log, so that the commit needs none before. What is applied meanwhile may be in both.
pub(crate) fn rotate_log(store: &Store) -> Result<()> {
    let Some(log) = &store.log else { return Ok(()) };
    let number = store.change_quietly(|writer| Ok(writer.next_log()))?;
    let rotated = log.rotate(number);
    store.change_quietly(|writer| {
        writer.synced(rotated)?;
        writer.note_log(number);
        Ok(())
    })
}

/// Commits, with a change of what the commit says. The caller holds `flushing`.
pub(crate) fn write_commit(store: &Store, change: &dyn Fn(&mut CommitFile)) -> Result<u64> {
    // Of an attempt that failed.
    flush_sealed(store)?;
    let mut frozen = store.change(|writer| {
        let frozen = writer.freeze()?;
        store.note_room(writer);
        Ok(frozen)
    })?;
    frozen.segments.extend(flush_sealed(store)?);
    write_deltas(store, &mut frozen)?;
    let mut commit = CommitFile {
        sequence: frozen.sequence,
        history: frozen.history,
        next_number: store.change_quietly(|writer| Ok(writer.next_number()))?,
        highest_version: frozen.highest_version,
        assigns_versions: frozen.assigns_versions,
        first_log: frozen.first_log,
        keep: frozen.keep,
        made: Some((store.clock)()),
        schema: (*frozen.schema).clone(),
        segments: frozen.segments.iter().map(SegmentState::entry).collect(),
        deltas: frozen.deltas.clone(),
        ..frozen.before.clone()
    };
    change(&mut commit);
    // A commit that no reader accepts must not replace one that is good.
    commit.check().map_err(Error::Request)?;
    let synced = store.directory.sync().map_err(Into::into);
    store.change_quietly(|writer| writer.synced(synced))?;
    let (number, before) = store.change_quietly(|writer| {
        writer.require_lock()?;
        Ok((writer.next_commit(), writer.last_commit().0))
    })?;
    let bytes = commit.seal(number, (before, frozen.before.checksum));
    let written = write_commit_file(store, number, &bytes);
    store.change(|writer| {
        writer.synced(written)?;
        store.ids.remove(&writer.adopt(frozen, number, commit));
        Ok(number)
    })
}

/// Writes the bytes of commit `number`.
pub(crate) fn write_commit_file(store: &Store, number: u64, bytes: &[u8]) -> Result<()> {
    let name = FileName::Commit(number).to_string();
    let temporary = format!(".{name}.tmp");
    // Of an attempt that failed.
    let _ = store.directory.remove(OsStr::new(&temporary));
    let mut file = NewFile::create(store.directory.clone(), &temporary)?;
    file.append(bytes)?;
    file.finish()?;
    store.lock.require()?;
    store.directory.rename(OsStr::new(&temporary), OsStr::new(&name))?;
    store.directory.sync()?;
    // A writer that took over may have missed this commit.
    store.lock.require()
}
