//! Waits for the log, as [`Durability`] asks.

use crate::error::{Error, Result};
use crate::options::Durability;
use crate::store::{Store, is_due};

/// Waits until a batch is as durable as the options ask, and then checks the lock: another writer locks before it reads
/// the log, so if the lock is still this one's, the next writer will read the batch.
pub(crate) fn wait_for_log(store: &Store, sequence: u64) -> Result<()> {
    let Some(log) = &store.log else { return Ok(()) };
    let is_due = match store.options.durability {
        Durability::OnCommit => false,
        Durability::EachBatch => true,
        // A thread syncs it in time, unless it has much to do.
        Durability::Within(time) if store.tasks.member().is_some() => is_due(&store.log_synced, 2 * time),
        Durability::Within(time) => is_due(&store.log_synced, time),
    };
    let written = if is_due { log.sync_to(sequence) } else { log.write_to(sequence) };
    store.poison_after(written.and_then(|()| store.lock.require()))
}

/// Makes all batches so far durable in the log, if there is one.
pub(crate) fn sync_log(store: &Store) -> Result<()> {
    let Some(log) = &store.log else { return Ok(()) };
    let last = store.change_quietly(|writer| Ok(writer.sequence))?;
    match log.sync_to(last) {
        // A replica went back to a commit with fewer batches meanwhile.
        Err(Error::Request(_)) => Ok(()),
        synced => store.poison_after(synced.and_then(|()| store.lock.require())),
    }
}
