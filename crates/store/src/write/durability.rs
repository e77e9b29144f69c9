//! The log of a store: it is begun, and synced as [`Durability`] says.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::files::Position;
use crate::log::LogWriter;
use crate::options::Durability;
use crate::store::{Store, is_due};

impl Store {
    /// Begins a log, if the options ask for one. The next commit names it.
    pub(crate) fn begin_log(&mut self) -> Result<()> {
        if self.options.durability == Durability::OnCommit && self.options.keep_frames == 0 {
            return Ok(());
        }
        let (number, Position { epoch, sequence, .. }) =
            self.change(|writer| Ok((writer.next_log(), writer.position())))?;
        let syncs = self.options.durability != Durability::OnCommit;
        let log = Arc::new(LogWriter::create(&self.directory, number, epoch, sequence, syncs)?);
        self.log = Some(log.clone());
        self.change(|writer| {
            writer.begin_log(log, number);
            Ok(())
        })
    }

    /// Waits until a batch is as durable as the options ask, and then checks the lock: another writer locks before it reads
    /// the log, so if the lock is still this one's, the next writer will read the batch.
    pub(crate) fn wait_for_log(&self, sequence: u64) -> Result<()> {
        let Some(log) = &self.log else { return Ok(()) };
        let is_due = match self.options.durability {
            Durability::OnCommit => false,
            Durability::EachBatch => true,
            // A thread syncs it in time, unless it has much to do.
            Durability::Within(time) if self.tasks.member().is_some() => is_due(&self.log_synced, 2 * time),
            Durability::Within(time) => is_due(&self.log_synced, time),
        };
        let written = if is_due { log.sync_to(sequence) } else { log.write_to(sequence) };
        self.poison_after(written.and_then(|()| self.lock.require()))
    }

    /// Makes all batches so far durable in the log, if there is one.
    pub(crate) fn sync_log(&self) -> Result<()> {
        let Some(log) = &self.log else { return Ok(()) };
        let last = self.change_quietly(|writer| Ok(writer.sequence()))?;
        match log.sync_to(last) {
            // A replica went back to a commit with fewer batches meanwhile.
            Err(Error::Request(_)) => Ok(()),
            synced => self.poison_after(synced.and_then(|()| self.lock.require())),
        }
    }
}
