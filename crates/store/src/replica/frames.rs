//! [`Frames`]: the frames of a store's log, as they are written.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use docvalues_storage::{Directory, FsDirectory};

use crate::error::{Error, Result};
use crate::log::{LOG_HEADER, LogSource, body};
use crate::names::FileName;
use crate::store::Store;
use crate::store_reader::StoreReader;

/// The shortest and the longest time between two looks at a log to which nothing was added.
const NAPS: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

/// The frame of a batch, for [`Replica::apply_frame`](crate::Replica::apply_frame).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The number of the batch.
    pub sequence: u64,
    /// The history up to it: see [`Position`](crate::Position).
    pub history: u64,
    /// Its bytes, as in the log.
    pub bytes: Vec<u8>,
    /// Whether the change is not in the frame: segments that were added, and what was changed by a query. The files of the first
    /// commit with this batch have it, which follows at once.
    pub needs_commit: bool,
}

/// The frames of a store's log, in order, those that are still to be written among them.
///
/// They are read from the files of the log, as long as these stay: until the next commit, or longer if
/// [`StoreOptions::keep_frames`](crate::StoreOptions::keep_frames) says so. So a replica that is slow takes no memory of
/// the leader. Frames appear when they are written, which may be before they are durable.
#[derive(Debug)]
pub struct Frames {
    directory: Arc<dyn Directory>,
    log: LogSource,
    /// The offset of the next frame.
    offset: u64,
    /// The last batch that was returned, and the history up to it, if its frame was read.
    sequence: u64,
    history: Option<u64>,
}

impl Store {
    /// The frames of the batches after batch `after`.
    ///
    /// # Errors
    ///
    /// [`Error::NoFrames`] if not all of them are there any more, or the store has no log; [`Error::Diverged`] if the
    /// store has no batch `after` yet: who has it, has what this store lost.
    pub fn frames(&self, after: u64) -> Result<Frames> {
        Frames::open(self.directory.clone(), after)
    }
}

impl StoreReader {
    /// As [`Store::frames`], of a store that another process writes.
    ///
    /// # Errors
    ///
    /// As [`Store::frames`].
    pub fn frames(path: impl AsRef<Path>, after: u64) -> Result<Frames> {
        StoreReader::frames_in(Arc::new(FsDirectory::new(path)), after)
    }

    /// As [`frames`](Self::frames), in any directory.
    ///
    /// # Errors
    ///
    /// As [`frames`](Self::frames).
    pub fn frames_in(directory: Arc<dyn Directory>, after: u64) -> Result<Frames> {
        Frames::open(directory, after)
    }
}

impl Frames {
    pub(super) fn open(directory: Arc<dyn Directory>, after: u64) -> Result<Frames> {
        let mut numbers = log_numbers(&*directory)?;
        // The newest one that begins before it: an older one may be of a history that ended there.
        let mut first = None;
        while let Some(number) = numbers.pop() {
            let Some(log) = LogSource::open_alone(&*directory, number)? else { continue };
            first = Some(log.after() + 1);
            if log.after() <= after {
                let sequence = log.after();
                let mut frames =
                    Frames { directory, log, offset: LOG_HEADER as u64, sequence, history: None };
                return frames.skip_to(after).map(|()| frames);
            }
        }
        let folder = directory.path().display().to_string();
        Err(Error::NoFrames { folder, after, first })
    }

    /// Passes over the frames up to batch `after`.
    fn skip_to(&mut self, after: u64) -> Result<()> {
        while self.sequence < after {
            if self.next_frame()?.is_none() {
                let what = format!(
                    "{}: expected batch {after}, found batches up to {}: the leader lost what the replica has",
                    self.directory.path().display(),
                    self.sequence
                );
                return Err(Error::Diverged { what });
            }
        }
        Ok(())
    }

    /// The next frame, if it was written.
    ///
    /// # Errors
    ///
    /// [`Error::NoFrames`] if it was removed, or damaged; [`Error::Diverged`] if the leader lost batches that were returned;
    /// if a file cannot be read.
    pub fn next_frame(&mut self) -> Result<Option<Frame>> {
        loop {
            if let Some(frame) = self.take()? {
                return Ok(Some(frame));
            }
            self.log.reopen(&*self.directory)?;
            if let Some(frame) = self.take()? {
                return Ok(Some(frame));
            }
            let Some(next) = self.newer_log()? else { return Ok(None) };
            if next.after() < self.sequence {
                let what = format!(
                    "{}: expected batch {} next, found batch {}: the leader lost batches that it had sent",
                    self.directory.path().display(),
                    self.sequence + 1,
                    next.after() + 1
                );
                return Err(Error::Diverged { what });
            }
            if next.after() > self.sequence {
                // It may have been written since, before the next log was begun.
                self.log.reopen(&*self.directory)?;
                return match self.take()? {
                    Some(frame) => Ok(Some(frame)),
                    None => {
                        let folder = self.directory.path().display().to_string();
                        Err(Error::NoFrames { folder, after: self.sequence, first: Some(next.after() + 1) })
                    }
                };
            }
            (self.log, self.offset) = (next, LOG_HEADER as u64);
        }
    }

    /// Waits for the next frame, but not longer than `time`.
    ///
    /// # Errors
    ///
    /// As [`next_frame`](Self::next_frame).
    pub fn wait(&mut self, time: Duration) -> Result<Option<Frame>> {
        let began = Instant::now();
        loop {
            let frame = self.next_frame()?;
            let left = time.saturating_sub(began.elapsed());
            if frame.is_some() || left.is_zero() {
                return Ok(frame);
            }
            nap(began.elapsed(), left);
        }
    }

    /// The history up to the last batch that was returned, or after which this began, if its frame was there.
    pub(super) fn history(&self) -> Option<u64> {
        self.history
    }

    /// The next frame, if the file had it when it was opened.
    fn take(&mut self) -> Result<Option<Frame>> {
        let Some(frame) = self.log.frame_at(self.offset)? else { return Ok(None) };
        self.log.check(&frame, self.sequence + 1)?;
        (self.offset, self.sequence) = (frame.end, self.sequence + 1);
        let history = frame.history();
        self.history = Some(history);
        let needs_commit = body::is_elsewhere(frame.body());
        Ok(Some(Frame { sequence: self.sequence, history, bytes: frame.bytes, needs_commit }))
    }

    /// The log after this one, if there is one.
    fn newer_log(&self) -> Result<Option<LogSource>> {
        let numbers = log_numbers(&*self.directory)?;
        for number in numbers.into_iter().filter(|number| *number > self.log.number()) {
            if let Some(log) = LogSource::open_alone(&*self.directory, number)? {
                return Ok(Some(log));
            }
        }
        Ok(None)
    }
}

/// Waits before the next look at a log to which nothing was added for some time: an eighth of it, and not longer than `most`.
pub(super) fn nap(idle: Duration, most: Duration) {
    std::thread::sleep((idle / 8).clamp(NAPS.0, NAPS.1).min(most));
}

/// The numbers of all logs in a folder, ascending.
fn log_numbers(directory: &dyn Directory) -> Result<Vec<u64>> {
    let number = |name: &OsStr| match name.to_str().and_then(FileName::parse) {
        Some(FileName::Log(number)) => Some(number),
        _ => None,
    };
    let mut numbers: Vec<u64> = directory.list()?.iter().filter_map(|entry| number(&entry.name)).collect();
    numbers.sort_unstable();
    Ok(numbers)
}
