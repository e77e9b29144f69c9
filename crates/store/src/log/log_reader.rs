//! Reads the frames of all logs after a commit.

use docvalues_storage::Directory;

use super::frame::{FrameHeader, LOG_HEADER, Queued};
use super::log_source::{Frame, LogSource, open_file, path, search};
use crate::error::{Error, Result};
use crate::files::{CommitFile, commit_numbers, log_numbers};

/// What a commit says of the logs after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogStart {
    /// The number of the first log.
    pub(crate) first_log: u64,
    /// The last batch that the commit contains.
    pub(crate) sequence: u64,
    pub(crate) epoch: u64,
}

/// A cursor over the frames of all logs.
#[derive(Debug, Default)]
pub(super) struct LogReader {
    /// Each log is the previous one of the next.
    pub(super) logs: Vec<LogSource>,
    /// The index of the log.
    at: usize,
    /// The offset of the next frame in it.
    pub(super) offset: u64,
    /// The last batch.
    pub(super) sequence: u64,
}

impl LogStart {
    /// The logs after commit `number`, if it names one.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if there are batches in a log of a later commit, which is missing.
    pub(crate) fn of(
        directory: &dyn Directory,
        number: u64,
        commit: &CommitFile,
    ) -> Result<Option<LogStart>> {
        let &CommitFile { first_log, sequence, epoch, next_number, .. } = commit;
        if let Some(first_log) = first_log {
            return Ok(Some(LogStart { first_log, sequence, epoch }));
        }
        for log in log_numbers(directory, |log| log >= next_number)? {
            let ((source, file), mut found) = match open_file(directory, log) {
                // The writer removed it.
                Err(error) if error.is_missing() => continue,
                opened => (opened?, None),
            };
            search(&source, &file, 0, |_, header| found = found.or(Some(header.sequence)))?;
            // Of a commit that was made meanwhile, if this process does not write the store.
            let is_newest = || Ok::<_, Error>(commit_numbers(directory)?.last().copied() <= Some(number));
            if let Some(batch) = found
                && is_newest()?
            {
                let newest = if number == 0 { "none".to_owned() } else { format!("commit {number}") };
                let what = format!(
                    "expected the commit that names this log, found {newest}: its batches from {batch} on would be lost, \
                     unless an older commit is recovered, to which they are applied again"
                );
                return Err(Error::Damaged { file, what });
            }
        }
        Ok(None)
    }
}

/// As [`read_logs`], of the logs after commit `number`, if there are any. Returns the number of batches.
pub(crate) fn read_logs_after(
    directory: &dyn Directory,
    (number, commit): (u64, &CommitFile),
    apply: impl FnMut(Queued) -> Result<()>,
) -> Result<u64> {
    let start = LogStart::of(directory, number, commit)?;
    start.map_or(Ok(0), |start| {
        let end = read_logs(directory, start, apply)?;
        Ok(end.sequence.saturating_sub(start.sequence))
    })
}

/// Reads the frames of all batches after a commit. Calls `apply` with each, in order. One frame at a time is in memory.
/// Returns the reader, which is at the end of the last log.
///
/// # Errors
///
/// [`Error::Damaged`] if a log that the commit or a later log names is missing, or a frame that was durable is damaged
/// or missing; [`Error::Version`] if a log has an unknown version; if a call to the operating system fails; the error
/// of `apply`.
pub(super) fn read_logs(
    directory: &dyn Directory,
    start: LogStart,
    mut apply: impl FnMut(Queued) -> Result<()>,
) -> Result<LogReader> {
    let mut reader = LogReader::open(directory, start.first_log)?;
    reader.require(&start)?;
    while let Some(frame) = reader.next_frame()? {
        if frame.header.sequence > start.sequence {
            let FrameHeader { sequence, history, .. } = frame.header;
            apply(Queued { sequence, history, body: frame.into_body() })?;
        }
    }
    Ok(reader)
}

impl LogReader {
    /// Opens log `first` and all after it.
    pub(super) fn open(directory: &dyn Directory, first: u64) -> Result<LogReader> {
        let numbers = log_numbers(directory, |number| number >= first)?;
        if numbers.first() != Some(&first) {
            let what = "expected the log that the commit names, found no file".to_owned();
            return Err(Error::Damaged { file: path(directory, first), what });
        }
        let mut logs: Vec<LogSource> = Vec::new();
        for number in numbers {
            logs.extend(LogSource::open(directory, number, logs.last())?);
        }
        let sequence = logs.first().map_or(0, |log| log.header.after);
        Ok(LogReader { logs, at: 0, offset: LOG_HEADER as u64, sequence })
    }

    /// Fails unless the logs go on after a commit.
    pub(super) fn require(&self, start: &LogStart) -> Result<()> {
        for log in &self.logs {
            if log.header.epoch != start.epoch {
                let (expected, found) = (start.epoch, log.header.epoch);
                return Err(log.damaged(format!("expected epoch {expected}, found epoch {found}")));
            }
        }
        match self.logs.first() {
            Some(log) if log.header.after > start.sequence => {
                let (expected, found) = (start.sequence + 1, log.header.after + 1);
                Err(log.damaged(format!("expected batch {expected} first, found batch {found}")))
            }
            _ => Ok(()),
        }
    }

    /// The next frame; `None` at the end of the last log.
    ///
    /// # Errors
    ///
    /// If there should be a frame, because it was durable once.
    pub(super) fn next_frame(&mut self) -> Result<Option<Frame>> {
        while let Some(log) = self.logs.get(self.at) {
            if let Some(frame) = log.next_frame(self.offset, self.logs.get(self.at + 1))? {
                log.check(&frame, self.sequence + 1)?;
                (self.offset, self.sequence) = (frame.end, frame.header.sequence);
                return Ok(Some(frame));
            }
            let Some(next) = self.logs.get(self.at + 1) else { return Ok(None) };
            next.check_previous(self.offset, self.sequence)?;
            (self.at, self.offset) = (self.at + 1, LOG_HEADER as u64);
        }
        Ok(None)
    }

    /// For each log, its number and an offset below which all bytes were durable.
    pub(super) fn synced(&self) -> Result<Vec<(u64, u64)>> {
        let all = self.logs.iter().zip(1..).map(|(log, next)| {
            let synced = log.synced_to(LOG_HEADER as u64, self.logs.get(next))?;
            Ok((log.header.number, synced))
        });
        all.collect()
    }
}
