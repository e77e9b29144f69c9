//! A new epoch: the store goes on in a new log, and commits.

use crate::commit::{flush, remove_unnamed, write_commit};
use crate::error::Result;
use crate::locks::lock;
use crate::store::Store;

/// Begins an epoch: goes on in a new log, and commits. The store is a replica, to which nothing is applied meanwhile; it
/// takes changes of its own once the commit is durable.
pub(super) fn begin_epoch(store: &Store, epoch: u64, is_replica: bool) -> Result<()> {
    // An observer may fail this, and nothing is lost.
    flush(store, 0)?;
    let _flushing = lock(&store.flushing);
    let sequence = store.change_quietly(|writer| {
        writer.require_lock()?;
        Ok(writer.sequence)
    })?;
    let begun = restart_log(store, epoch, sequence).and_then(|()| {
        write_commit(store, &|commit| (commit.epoch, commit.is_replica) = (epoch, is_replica))
    });
    store.poison_after(begun)?;
    remove_unnamed(store)
}

/// Goes on in a new log after batch `sequence`, which the next commit has. The caller holds `flushing`, and nothing is
/// applied meanwhile.
pub(super) fn restart_log(store: &Store, epoch: u64, sequence: u64) -> Result<()> {
    store.log.as_ref().map_or(Ok(()), |log| log.restart(store.take_number(), epoch, sequence))
}
