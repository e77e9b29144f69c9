//! [`LogWriter`]: appends frames, and syncs them for many callers at once.
//!
//! ```text
//! append     under the short lock that orders batches: pushes the body into a queue; no call to the file
//! sync_to    outside of it: one caller, the leader, takes the queue, writes its frames and syncs them;
//!            the others wait, and find their batches synced, or the next leader among them
//! ```
//!
//! A write may wait for a sync in the file system, so it has no place under a lock that all writers take. The leader
//! also computes the checksums, and a frame says what was durable when it was written, not when it was queued.
//! Callers name batches, not offsets: so a log can be replaced by the next one while others append.

use std::mem;
use std::sync::Arc;
use std::thread;

use docvalues_storage::Directory;

use super::frame::{MAX_BODY, Queued};
use super::log_file::{LogFile, LogStats};
use crate::error::{Error, Result};
use crate::locks::{Condvar, Mutex, PoisonError, lock};

/// Writes the logs of a store. Threads share it.
///
/// After a failed write or sync, every call fails with the reason: what can be read back then, the disk may lack.
#[derive(Debug)]
pub(crate) struct LogWriter {
    state: Mutex<State>,
    /// Notified when a leader is done.
    done: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The log; `None` while a leader has it.
    log: Option<LogFile>,
    /// Its number.
    number: u64,
    /// Batches that were not written.
    queue: Vec<Queued>,
    /// The last batches that were appended, written, and synced.
    appended: u64,
    written: u64,
    synced: u64,
    stats: LogStats,
    poisoned: Option<String>,
}

/// The only thread that writes, until this is dropped. Without a log if it has nothing to do.
struct Leader<'a> {
    writer: &'a LogWriter,
    log: Option<LogFile>,
    queue: Vec<Queued>,
    /// The last batches that were written and synced.
    written: u64,
    synced: u64,
    /// The failure.
    poisoned: Option<String>,
}

impl LogWriter {
    /// Creates log `number`, whose first frame will be that of the batch after `after`. It is durable, without frames. With
    /// `writes_ahead`, zeros are written ahead of frames, so that a sync of a few need not change the length of the file.
    ///
    /// # Errors
    ///
    /// If the name is taken, or the file cannot be written and synced.
    pub(crate) fn create(
        directory: &Arc<dyn Directory>,
        number: u64,
        epoch: u64,
        after: u64,
        writes_ahead: bool,
    ) -> Result<LogWriter> {
        let mut log = LogFile::create(directory, number, epoch, after, writes_ahead)?;
        log.write_header()?;
        let (appended, written, synced) = (after, after, after);
        let state = State { log: Some(log), number, appended, written, synced, ..State::default() };
        Ok(LogWriter { state: Mutex::new(state), done: Condvar::new() })
    }

    /// Adds the frame of a batch to the queue. O(1), and no call to the file: [`write_to`](Self::write_to) or
    /// [`sync_to`](Self::sync_to) must follow, or batches accumulate in memory.
    ///
    /// # Errors
    ///
    /// If the writer is poisoned, `sequence` is not the next one, or the body is longer than 256 MiB.
    pub(crate) fn append(&self, sequence: u64, history: u64, body: Vec<u8>) -> Result<()> {
        let mut state = lock(&self.state);
        state.check()?;
        if sequence != state.appended + 1 {
            let next = state.appended + 1;
            return Err(Error::Request(format!("expected batch {next} for the log, found batch {sequence}")));
        }
        if body.len() > MAX_BODY {
            let found = body.len();
            return Err(Error::Request(format!(
                "expected a batch of at most {MAX_BODY} bytes, found {found}"
            )));
        }
        state.queue.push(Queued { sequence, history, body });
        state.appended = sequence;
        Ok(())
    }

    /// Fails if the writer is poisoned.
    ///
    /// # Errors
    ///
    /// The reason.
    pub(crate) fn check(&self) -> Result<()> {
        lock(&self.state).check()
    }

    /// Waits until the operating system has all batches up to `sequence`: they survive a kill of this process, and no
    /// power loss. Also waits for a sync that runs.
    ///
    /// # Errors
    ///
    /// If the batch was not appended, a write fails, or the writer is poisoned and did not write it before.
    pub(crate) fn write_to(&self, sequence: u64) -> Result<()> {
        self.lead(|state| Ok(state.require(sequence)?.written >= sequence))?.write()
    }

    /// Waits until all batches up to `sequence` are durable. Callers share syncs.
    ///
    /// # Errors
    ///
    /// If the batch was not appended, a write or a sync fails, or the writer is poisoned and did not sync it before.
    pub(crate) fn sync_to(&self, sequence: u64) -> Result<()> {
        self.lead(|state| Ok(state.require(sequence)?.synced >= sequence))?.sync()
    }

    /// Makes all batches so far durable, and goes on in a new log. Returns the last batch of the old log.
    ///
    /// Others append meanwhile: the new log begins with the batch after the one returned, which need not be the last
    /// one that was appended before the call.
    ///
    /// # Errors
    ///
    /// If the new file cannot be created, or its number is not greater; then the old log stays in use, and another number
    /// may be tried. If a write or a sync fails, which poisons the writer; or if it is poisoned.
    pub(crate) fn rotate(&self, number: u64) -> Result<u64> {
        self.lead(|_| Ok(false))?.rotate(number)
    }

    /// Goes on in a new log after batch `after`, whatever the old one has, which must not change meanwhile. What was
    /// not written is dropped.
    ///
    /// # Errors
    ///
    /// If the file cannot be created and written, which poisons the writer; or if it is poisoned.
    pub(crate) fn restart(&self, number: u64, epoch: u64, after: u64) -> Result<()> {
        let mut leader = self.lead(|_| Ok(false))?;
        leader.restart(number, epoch, after)?;
        drop(leader);
        let mut state = lock(&self.state);
        (state.appended, state.written, state.synced) = (after, after, after);
        Ok(())
    }

    /// The number of the log to which batches are written.
    pub(crate) fn number(&self) -> u64 {
        lock(&self.state).number
    }

    /// The last batch that was appended.
    #[cfg(test)]
    pub(crate) fn appended(&self) -> u64 {
        lock(&self.state).appended
    }

    /// What was written so far, to all logs.
    pub(crate) fn stats(&self) -> LogStats {
        lock(&self.state).stats
    }

    /// Waits until `is_done`, or until this thread may write. In the first case, the result has no log.
    fn lead(&self, is_done: impl Fn(&State) -> Result<bool>) -> Result<Leader<'_>> {
        let mut state = lock(&self.state);
        loop {
            let (written, synced) = (state.written, state.synced);
            let mut leader =
                Leader { writer: self, log: None, queue: Vec::new(), written, synced, poisoned: None };
            if is_done(&state)? {
                return Ok(leader);
            }
            state.check()?;
            leader.log = state.log.take();
            if leader.log.is_some() {
                leader.queue = mem::take(&mut state.queue);
                return Ok(leader);
            }
            state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl State {
    fn check(&self) -> Result<()> {
        match &self.poisoned {
            Some(why) => Err(Error::Poisoned { why: why.clone() }),
            None => Ok(()),
        }
    }

    /// Fails unless batch `sequence` was appended.
    fn require(&self, sequence: u64) -> Result<&State> {
        let last = self.appended;
        if sequence > last {
            return Err(Error::Request(format!("expected a batch up to {last}, found batch {sequence}")));
        }
        Ok(self)
    }
}

impl Leader<'_> {
    /// Writes the queue.
    fn write(&mut self) -> Result<()> {
        let queue = mem::take(&mut self.queue);
        let Some(log) = &mut self.log else { return Ok(()) };
        let written = log.append(queue);
        if written.is_ok() {
            self.written = log.last;
        }
        self.poison_after(written)
    }

    /// Writes the queue, and makes all of the log durable.
    fn sync(&mut self) -> Result<()> {
        self.write()?;
        let Some(log) = &mut self.log else { return Ok(()) };
        let synced = log.sync();
        if synced.is_ok() {
            self.synced = log.last;
        }
        self.poison_after(synced)
    }

    /// Syncs the log, and replaces it by a new one. Returns the last batch of the old one.
    fn rotate(&mut self, number: u64) -> Result<u64> {
        self.sync()?;
        let Some(log) = &mut self.log else { return Ok(self.synced) };
        let mut next = log.create_next(number)?;
        // From here on, the new file may say where the old one ended.
        let written = next.write_header();
        if written.is_ok() {
            *log = next;
        }
        self.poison_after(written)?;
        Ok(self.synced)
    }

    /// Replaces the log by a new one after batch `after`.
    fn restart(&mut self, number: u64, epoch: u64, after: u64) -> Result<()> {
        self.queue.clear();
        let Some(log) = &mut self.log else { return Ok(()) };
        let restarted = log.create_apart(number, epoch, after).and_then(|mut next| {
            next.write_header()?;
            *log = next;
            Ok(())
        });
        self.poison_after(restarted)
    }

    fn poison_after(&mut self, result: Result<()>) -> Result<()> {
        if let Err(error) = &result {
            self.poisoned = Some(error.poison_reason());
        }
        result
    }
}

impl Drop for Leader<'_> {
    fn drop(&mut self) {
        let Some(log) = self.log.take() else { return };
        let mut state = lock(&self.writer.state);
        (state.written, state.synced, state.stats) = (self.written, self.synced, log.stats);
        (state.number, state.log) = (log.number(), Some(log));
        state.poisoned = self.poisoned.take();
        if thread::panicking() {
            state.poisoned = Some("a thread panicked while it wrote the log".to_owned());
        }
        drop(state);
        self.writer.done.notify_all();
    }
}
