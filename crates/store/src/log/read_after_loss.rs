//! [`read_logs_after_loss`]: reads the logs after a commit that may not name them.
//!
//! A commit names the first log after it. If that commit is damaged or missing, its logs may still follow an older one: the
//! numbers and histories of their batches show it. Batches that do not follow are counted, so that the caller can refuse to
//! lose them.

use std::ops::RangeInclusive;

use docvalues_storage::Directory;

use super::frame::{FrameHeader, LOG_HEADER, LogHeader, Queued};
use super::log_source::{Frame, LogSource, open_file, search};
use crate::batch::body::{FrameBody, is_elsewhere};
use crate::error::{Error, Result};
use crate::files::{CommitFile, FileName, MAX_NUMBER, log_numbers};

/// The batches of some logs.
#[derive(Debug, Default)]
pub(crate) struct LogBatches {
    /// The number of batches that follow the commit.
    pub(crate) following: u64,
    /// The batches that do not, and are in no commit that can be read.
    pub(crate) lost: Option<RangeInclusive<u64>>,
    /// The reason why no further batch follows.
    pub(crate) end: Option<String>,
    /// The highest epoch of a log.
    pub(crate) epoch: u64,
}

/// A pass over logs, one after the other.
struct Pass<'a> {
    commit: &'a CommitFile,
    newest: &'a CommitFile,
    discard_from: u64,
    /// The last batch so far.
    sequence: u64,
    history: u64,
    found: LogBatches,
}

/// Reads the logs that the store needs after `newest`, its newest commit that can be read. Calls `apply` with each batch that
/// follows `commit`, in order, below batch `discard_from`.
///
/// # Errors
///
/// If a call to the operating system fails, or a log is of a newer version; the error of `apply`.
pub(crate) fn read_logs_after_loss(
    directory: &dyn Directory,
    (commit, newest): (&CommitFile, &CommitFile),
    discard_from: u64,
    mut apply: impl FnMut(Queued) -> Result<()>,
) -> Result<LogBatches> {
    let is_needed =
        |log| newest.first_log.is_some_and(|first_log| first_log <= log) || newest.next_number <= log;
    let mut logs = Vec::new();
    for number in log_numbers(directory, is_needed)? {
        let log = match LogSource::open_alone(directory, number) {
            Err(Error::Damaged { .. }) => None,
            log => log?,
        };
        logs.push((number, log));
    }
    let (sequence, history) = (commit.sequence, commit.history);
    let found = LogBatches::default();
    let mut pass = Pass { commit, newest, discard_from, sequence, history, found };
    for (at, (number, log)) in logs.iter().enumerate() {
        let next = logs.get(at + 1).and_then(|(_, next)| next.as_ref());
        match log {
            Some(log) => pass.read(log, next.filter(|next| next.goes_on_from(*number)), &mut apply)?,
            None => pass.count_headerless(directory, *number)?,
        }
    }
    if newest.first_log.is_some() && logs.iter().all(|(_, log)| log.is_none()) {
        pass.end(|| "the log that the newest commit names is missing".to_owned());
        pass.count_lost(newest.sequence + 1, newest.epoch);
    }
    Ok(pass.found)
}

impl Pass<'_> {
    fn read(
        &mut self,
        log: &LogSource,
        next: Option<&LogSource>,
        apply: &mut impl FnMut(Queued) -> Result<()>,
    ) -> Result<()> {
        let LogHeader { id, epoch, after, .. } = log.header;
        self.found.epoch = self.found.epoch.max(epoch);
        let mut offset = LOG_HEADER as u64;
        if after > self.sequence {
            self.end(|| format!("the log begins after batch {after}"));
            self.count_lost(after, epoch);
            self.count_lost(after.min(self.sequence.max(self.newest.sequence) + 1), epoch);
        }
        while self.found.end.is_none() {
            let frame = match log.next_frame(offset, next) {
                Ok(Some(frame)) => frame,
                Ok(None) => return Ok(()),
                Err(Error::Damaged { file, what }) => {
                    self.end(|| format!("{file}: {what}"));
                    self.count_lost(self.sequence + 1, epoch);
                    break;
                }
                Err(error) => return Err(error),
            };
            let FrameHeader { sequence, history, .. } = frame.header;
            let is_contained = sequence <= self.commit.sequence && epoch <= self.commit.epoch;
            let is_other = sequence == self.commit.sequence && history != self.commit.history;
            if is_contained && !is_other {
                offset = frame.end;
                continue;
            }
            if let Some(why) = self.refused(&frame) {
                self.end(|| why);
                break;
            }
            (self.sequence, self.history) = (sequence, history);
            self.found.following += 1;
            apply(Queued { sequence, history, body: frame.body().to_vec() })?;
            offset = frame.end;
        }
        search(&log.source, &log.file, offset, |_, header| {
            if header.log_id == id {
                self.count_lost(header.sequence, epoch);
            }
        })
    }

    /// The reason why a batch does not follow the last one.
    fn refused(&self, frame: &Frame) -> Option<String> {
        let FrameHeader { sequence, history, .. } = frame.header;
        if sequence >= self.discard_from {
            return Some("they are to be discarded".to_owned());
        }
        if sequence != self.sequence + 1 {
            return Some(format!("the log does not have batch {}", self.sequence + 1));
        }
        if is_elsewhere(frame.body()) {
            return Some(format!("batch {sequence} is a change that the log does not hold"));
        }
        match FrameBody::read(frame.body().to_vec()) {
            Err(what) => Some(format!("batch {sequence}: {what}")),
            Ok((body, ..)) if body.history_after(self.history) != history => {
                Some(format!("batch {sequence} of the log follows another batch {}", self.sequence))
            }
            Ok(_) => None,
        }
    }

    /// Counts the frames of a log whose header is damaged.
    fn count_headerless(&mut self, directory: &dyn Directory, number: u64) -> Result<()> {
        let (source, file) = open_file(directory, number)?;
        search(&source, &file, 0, |_, header| {
            self.end(|| format!("the header of {} is damaged", FileName::Log(number)));
            self.found.epoch = self.found.epoch.max(header.epoch.min(MAX_NUMBER - 1));
            self.count_lost(header.sequence, header.epoch);
        })
    }

    /// No further batch follows, for this reason if it is the first.
    fn end(&mut self, why: impl FnOnce() -> String) {
        self.found.end.get_or_insert_with(why);
    }

    /// Counts a batch that does not follow, unless a commit has it.
    fn count_lost(&mut self, sequence: u64, epoch: u64) {
        let is_number = sequence <= MAX_NUMBER;
        if is_number && (sequence > self.newest.sequence || epoch > self.newest.epoch) {
            let lost = self.found.lost.take().unwrap_or(sequence..=sequence);
            self.found.lost = Some(sequence.min(*lost.start())..=sequence.max(*lost.end()));
        }
    }
}
