//! Flushes a full buffer, refreshes or commits before a batch, whatever is due.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crate::commit::{begin_flush, flush, is_written};
use crate::error::Result;
use crate::options::StoreOptions;
use crate::store::{Member, Store, Task, is_due};

/// The time to wait until the buffers of other stores are written.
const SHARED_WAIT: Duration = Duration::from_secs(1);

/// The time to wait until segments are merged, and how often to look whether they are.
const MERGE_WAIT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_millis(5));

/// Writes, refreshes and commits what is due before a batch, unless background threads do.
pub(crate) fn make_room(store: &Store) -> Result<()> {
    store.tasks.check()?;
    let most = store.options.buffer_bytes;
    let (buffer, sealed) = (store.buffered.load(Ordering::Relaxed), store.sealed.load(Ordering::Relaxed));
    let should_flush = buffer > most / 2 || store.has_failed_flush.load(Ordering::Relaxed);
    let Some(member) = store.tasks.member() else {
        refresh_and_commit(store)?;
        // Without a sealed buffer, no thread writes one.
        let is_written = if sealed > 0 { is_written(store) } else { None };
        if is_written.is_some_and(|is_written| is_written || buffer.saturating_add(sealed) > most) {
            flush(store, most / 2)?;
        }
        return match is_written {
            // A batch that takes all of the memory is written before the next.
            _ if buffer > most => flush(store, most / 2),
            None if should_flush => begin_flush(store, most / 2),
            _ => Ok(()),
        };
    };
    wait_for_merges(store, &member);
    let shared = &member.shared;
    if should_flush || shared.should_flush() {
        member.want(Task::Write);
    }
    if buffer.saturating_add(sealed) > most {
        flush(store, most / 2)?;
    }
    if shared.wait_for_room(SHARED_WAIT) {
        return Ok(());
    }
    // Threads write less than is applied, or cannot write, perhaps as the disk is full: then this call fails, too.
    flush(store, 0)
}

/// Waits if merges fall behind. Not until they have caught up: they may need what the caller has locked.
fn wait_for_merges(store: &Store, member: &Member) {
    let has_many = || store.snapshot().segments().len() > member.shared.max_segments;
    let began = Instant::now();
    while has_many() && member.is_busy(Task::Merge) && began.elapsed() < MERGE_WAIT.0 {
        thread::sleep(MERGE_WAIT.1);
    }
}

/// Refreshes and commits, if the options say that it is time.
fn refresh_and_commit(store: &Store) -> Result<()> {
    let StoreOptions { refresh_every, commit_every, .. } = store.options;
    if commit_every.is_some_and(|time| is_due(&store.committed, time)) {
        store.commit()?;
    } else if refresh_every.is_some_and(|time| is_due(&store.refreshed, time)) {
        store.refresh()?;
    }
    Ok(())
}
