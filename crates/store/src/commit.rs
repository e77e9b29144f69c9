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
//! The lock of the writer is held at three moments, never while files are written:
//!
//! ```text
//! freeze    before 1: the commit says what the store is now; what is applied from now on belongs to the next one
//! swap      within 1: the segment takes the place of the buffer, whose memory is free then
//! adopt     after 5: the store goes on from the commit
//! ```
//!
//! | module | |
//! | --- | --- |
//! | `flush_buffer` | writes the segment of 1, also between commits |
//! | `deltas` | writes the files of 2 |
//! | `removal` | removes the files of 6 |
//!
//! Knows nothing of batches and merges.

mod deltas;
mod flush_buffer;
mod removal;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use deltas::write_deltas;
use flush_buffer::write_buffer;
pub(crate) use flush_buffer::{begin_flush, flush, flush_left, give_up_writing, is_written};
pub(crate) use removal::{remove_all_but, remove_unnamed};

use crate::error::{Error, Result};
use crate::files::{CommitFile, FileName, check_user_data, put_file};
use crate::locks::lock;
use crate::segments::SegmentState;
use crate::store::{Frozen, Store};

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
        commit(self, None)
    }

    /// As [`commit`](Self::commit), with up to 1 MiB of the caller's own in the file of the commit: it is durable with the
    /// changes, or not at all. [`Snapshot::user_data`](crate::Snapshot::user_data) and
    /// [`CommitInfo::user_data`](crate::CommitInfo::user_data) return it.
    ///
    /// Later commits keep the bytes until other ones are given; empty ones remove them. A commit of a background thread,
    /// [`purge`](Self::purge), or opening with a log keeps them, too, so that its documents may be newer than the bytes. Other
    /// bytes than before count as a batch, which the log holds and replicas apply.
    ///
    /// # Errors
    ///
    /// [`Error::Request`] if there are more bytes; [`Error::IsReplica`]; and as [`commit`](Self::commit): then another commit may
    /// have the bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_reader::OpenOptions;
    /// use docvalues_store::{Store, StoreOptions, StoreReader, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("hits");
    /// let store = Store::create(&path, StoreSchema::new(), StoreOptions::default())?;
    /// store.commit_with(b"postings 7")?;
    /// let reader = StoreReader::open(&path, OpenOptions::new())?;
    /// assert_eq!(reader.snapshot().user_data(), b"postings 7");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn commit_with(&self, user_data: &[u8]) -> Result<u64> {
        check_user_data(user_data).map_err(Error::Request)?;
        commit(self, Some(user_data.into()))
    }
}

/// Commits, if there is something to commit. Without `user_data`, the bytes stay as they are.
fn commit(store: &Store, user_data: Option<Arc<[u8]>>) -> Result<u64> {
    let _flushing = lock(&store.flushing);
    let (last, is_uncommitted) = store.change(|writer| {
        if let Some(user_data) = user_data {
            writer.require_leader(&*store.directory)?;
            writer.change_user_data(user_data)?;
        }
        Ok((writer.last_commit().0, writer.is_uncommitted()))
    })?;
    if !is_uncommitted {
        return Ok(last);
    }
    let began = Instant::now();
    rotate_log(store)?;
    let number = write_commit(store, &|_| {})?;
    remove_unnamed(store)?;
    store.note_done(&store.counters.commits, "commit", began);
    Ok(number)
}

/// As [`Store::commit`], also without changes. For a store that nobody else has yet.
pub(crate) fn commit_now(store: &Store) -> Result<u64> {
    let _flushing = lock(&store.flushing);
    write_commit(store, &|_| {})
}

/// Begins a new log, so that the commit needs none before. What is applied meanwhile may be in both.
pub(crate) fn rotate_log(store: &Store) -> Result<()> {
    let Some(log) = &store.log else { return Ok(()) };
    let rotated = log.rotate(store.take_number()).map(drop);
    rotated.or_else(|error| store.change_quietly(|writer| writer.synced(Err(error))))
}

/// Commits, with a change of what the commit says. The caller holds `flushing`.
pub(crate) fn write_commit(store: &Store, change: &dyn Fn(&mut CommitFile)) -> Result<u64> {
    let freeze = || {
        store.change(|writer| {
            let frozen = writer.freeze()?;
            store.note_room(writer);
            Ok(frozen)
        })
    };
    let mut frozen = loop {
        match freeze()? {
            Some(frozen) => break frozen,
            // Of an attempt that failed.
            None => flush_left(store)?,
        }
    };
    if let Some(buffer) = frozen.buffer.take() {
        frozen.segments.push(write_buffer(store, buffer)?);
    }
    let written = write_files(store, &mut frozen, change);
    let (number, dropped) = store.change(|writer| {
        // After a failure, the next commit removes them.
        frozen.created.iter().for_each(|name| writer.files.add(*name));
        writer.synced(written)?;
        Ok((frozen.number, writer.adopt(frozen)))
    })?;
    // Not in the lock: this waits for ids that are being added.
    store.ids.remove(&dropped);
    Ok(number)
}

/// Writes what changed in segments, and the file of the commit. From its second sync of the folder on, it is durable.
fn write_files(store: &Store, frozen: &mut Frozen, change: &dyn Fn(&mut CommitFile)) -> Result<()> {
    write_deltas(store, frozen)?;
    let commit = &mut frozen.commit;
    commit.segments = frozen.segments.iter().map(SegmentState::entry).collect();
    commit.next_number = store.next_number.load(Ordering::Relaxed);
    commit.made = Some((store.clock)());
    change(commit);
    // A commit that no reader accepts must not replace one that is good.
    commit.check().map_err(Error::Request)?;
    store.directory.sync()?;
    store.lock.require()?;
    let bytes = commit.seal(frozen.number, frozen.before);
    write_commit_file(store, frozen.number, &bytes)
}

/// Writes the bytes of commit `number`.
pub(crate) fn write_commit_file(store: &Store, number: u64, bytes: &[u8]) -> Result<()> {
    let (name, lock) = (FileName::Commit(number).to_string(), &store.lock);
    put_file(&store.directory, &name, |file| Ok(file.append(bytes)?), || lock.require())?;
    // A writer that took over may have missed this commit.
    store.lock.require()
}
