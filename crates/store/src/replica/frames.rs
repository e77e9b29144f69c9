//! [`Frames`]: the frames of a store's log, as they are written.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use docvalues_storage::{Directory, FsDirectory};

use crate::batch::body;
use crate::error::{Error, Result};
use crate::files::log_numbers;
use crate::log::{LOG_HEADER, LogSource};
use crate::read::{HeldCommit, StoreReader};

/// The shortest and the longest time between two looks at a log to which nothing was added.
const NAPS: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

/// If nothing was added for so long, the rest of the log is searched for frames after a damaged one.
const SEARCHED_AFTER: Duration = Duration::from_secs(1);

/// The frame of a batch, for [`Replica::apply_frame`](crate::Replica::apply_frame).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The number of the batch.
    pub sequence: u64,
    /// The epoch in which it was written.
    pub epoch: u64,
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
///
/// # Examples
///
/// See [`Replica`](crate::Replica), which applies them.
#[derive(Debug)]
pub struct Frames {
    directory: Arc<dyn Directory>,
    log: LogSource,
    /// The offset of the next frame.
    offset: u64,
    /// A newer log begins after this batch. Frames beyond it belong to a history that ended.
    limit: u64,
    /// The last batch that was returned, and the history up to it, if its frame was read.
    sequence: u64,
    history: Option<u64>,
    /// When the log was first found without another frame, or was last searched.
    quiet_since: Option<Instant>,
}

impl StoreReader {
    /// As [`Store::frames`](crate::Store::frames), of a store that another process writes.
    ///
    /// # Errors
    ///
    /// As [`Store::frames`](crate::Store::frames).
    pub fn frames(path: impl AsRef<Path>, after: u64) -> Result<Frames> {
        StoreReader::frames_in(Arc::new(FsDirectory::new(path)), after)
    }

    /// As [`frames`](Self::frames), in any directory.
    ///
    /// # Errors
    ///
    /// As [`frames`](Self::frames).
    pub fn frames_in(directory: Arc<dyn Directory>, after: u64) -> Result<Frames> {
        let commit = HeldCommit::of(directory.clone(), None)?;
        Frames::open(directory, &commit, after)
    }
}

impl Frames {
    /// The frames of the batches after batch `after`, in a store whose newest commit is `commit`.
    pub(super) fn open(directory: Arc<dyn Directory>, commit: &HeldCommit, after: u64) -> Result<Frames> {
        let mut frames = Frames::find(directory, commit, after)?;
        frames.skip_to(after).map(|()| frames)
    }

    /// As [`open`](Self::open), but with the errors of [`Changes`](super::Changes).
    pub(super) fn open_explained(
        directory: Arc<dyn Directory>,
        commit: &HeldCommit,
        after: u64,
    ) -> Result<Frames> {
        let mut frames = Frames::find(directory, commit, after).map_err(|error| match error {
            Error::NoFrames { folder, after, first: Some(first) } => Error::TooOld { folder, after, first },
            error => error,
        })?;
        match frames.skip_to(after) {
            Ok(()) => Ok(frames),
            Err(error) => Err(frames.explain(error)),
        }
    }

    /// The frames of the log in which batch `after` is, or which begins after it.
    fn find(directory: Arc<dyn Directory>, commit: &HeldCommit, after: u64) -> Result<Frames> {
        let commit = &commit.files().commit;
        let mut logs = match commit.first_log {
            // What logs are there belong to a history that ended.
            None => Vec::new(),
            Some(_) => logs_after(&*directory, None)?,
        };
        // One that is begun for a commit to come is not its own.
        logs.retain(|log| log.header.epoch <= commit.epoch);
        let (mut first, mut limit) = (None, u64::MAX);
        while let Some(log) = logs.pop() {
            first = Some(log.header.after + 1);
            if log.header.after <= after {
                let (offset, sequence) = (LOG_HEADER as u64, log.header.after);
                let (history, quiet_since) = (None, None);
                return Ok(Frames { directory, log, offset, limit, sequence, history, quiet_since });
            }
            limit = limit.min(log.header.after);
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
            let is_there = self.log.reopen(&*self.directory)?;
            if let Some(frame) = self.take()? {
                return Ok(Some(frame));
            }
            let mut newer = logs_after(&*self.directory, Some(self.log.header.number))?;
            // Of several, the older ones were never used.
            if let Some(place) = newer.iter().rposition(|log| log.header.after == self.sequence) {
                let after = newer.split_off(place + 1);
                self.limit = after.iter().map(|log| log.header.after).min().unwrap_or(u64::MAX);
                (self.log, self.offset) = (newer.swap_remove(place), LOG_HEADER as u64);
                continue;
            }
            let Some(first) = newer.iter().map(|log| log.header.after).min() else {
                return if is_there { self.find_damage().map(|()| None) } else { Err(self.gone(None)) };
            };
            if first < self.sequence {
                let what = format!(
                    "{}: expected batch {} next, found batch {}: the leader lost batches that it had sent",
                    self.directory.path().display(),
                    self.sequence + 1,
                    first + 1
                );
                return Err(Error::Diverged { what });
            }
            // It may have been written since, before the next log was begun.
            self.log.reopen(&*self.directory)?;
            return match self.take()? {
                Some(frame) => Ok(Some(frame)),
                None => Err(self.gone(Some(first + 1))),
            };
        }
    }

    /// Waits for the next frame, but not longer than `time`.
    ///
    /// # Errors
    ///
    /// As [`next_frame`](Self::next_frame).
    pub fn wait(&mut self, time: Duration) -> Result<Option<Frame>> {
        within(time, || self.next_frame())
    }

    /// The history up to the last batch that was returned, or after which this began, if its frame was there.
    pub(super) fn history(&self) -> Option<u64> {
        self.history
    }

    /// The next frame, if the file had it when it was opened.
    fn take(&mut self) -> Result<Option<Frame>> {
        if self.sequence >= self.limit {
            return Ok(None);
        }
        let Some(frame) = self.log.frame_at(self.offset)? else { return Ok(None) };
        self.log.check(&frame, self.sequence + 1)?;
        (self.offset, self.sequence) = (frame.end, self.sequence + 1);
        (self.history, self.quiet_since) = (Some(frame.history()), None);
        Ok(Some(Frame {
            sequence: self.sequence,
            epoch: self.log.header.epoch,
            history: frame.history(),
            needs_commit: body::is_elsewhere(frame.body()),
            bytes: frame.bytes,
        }))
    }

    /// Fails if the next frame is damaged, which later ones tell. Looks for them only now and then.
    fn find_damage(&mut self) -> Result<()> {
        if self.quiet_since.get_or_insert_with(Instant::now).elapsed() < SEARCHED_AFTER {
            return Ok(());
        }
        self.quiet_since = Some(Instant::now());
        // The frame may have been written meanwhile.
        let is_damaged = self.log.is_synced_beyond(self.offset)? && self.log.frame_at(self.offset)?.is_none();
        if is_damaged { Err(self.gone(None)) } else { Ok(()) }
    }

    /// The reason why there is no next frame: damage if its log is there.
    pub(super) fn explain(&mut self, error: Error) -> Error {
        let Error::NoFrames { folder, after, first } = error else { return error };
        match (self.log.reopen(&*self.directory), first) {
            (Err(error), _) => error,
            (Ok(true), _) => self.damaged("expected the next frame, found none that is whole".to_owned()),
            (Ok(false), Some(first)) => Error::TooOld { folder, after, first },
            (Ok(false), None) => Error::NoFrames { folder, after, first },
        }
    }

    /// Fails if the next frame is damaged, which later ones tell. O(bytes after it).
    pub(super) fn check_end(&self) -> Result<()> {
        let is_damaged = self.log.is_synced_beyond(self.offset)? && self.log.frame_at(self.offset)?.is_none();
        match is_damaged {
            true => Err(self.damaged("expected the next frame, found none that is whole".to_owned())),
            false => Ok(()),
        }
    }

    /// Damage of the frame that was returned last, or of the one after it.
    pub(super) fn damaged(&self, what: String) -> Error {
        self.log.damaged(format!("offset {}, after batch {}: {what}", self.offset, self.sequence))
    }

    /// The changes after batch `after` are not all in frames: those from batch `first` on are.
    pub(super) fn too_old(&self, after: u64, first: u64) -> Error {
        Error::TooOld { folder: self.directory.path().display().to_string(), after, first }
    }

    fn gone(&self, first: Option<u64>) -> Error {
        let folder = self.directory.path().display().to_string();
        Error::NoFrames { folder, after: self.sequence, first }
    }
}

/// Looks for something until it is there, but not longer than `time`. Between two looks, it waits an eighth of the time so far.
pub(super) fn within<T>(time: Duration, mut look: impl FnMut() -> Result<Option<T>>) -> Result<Option<T>> {
    let began = Instant::now();
    loop {
        let found = look()?;
        let left = time.saturating_sub(began.elapsed());
        if found.is_some() || left.is_zero() {
            return Ok(found);
        }
        std::thread::sleep((began.elapsed() / 8).clamp(NAPS.0, NAPS.1).min(left));
    }
}

/// The logs after log `number`, or all of them, from the oldest to the newest.
fn logs_after(directory: &dyn Directory, number: Option<u64>) -> Result<Vec<LogSource>> {
    let numbers = log_numbers(directory, |log| number.is_none_or(|number| log > number))?;
    numbers.into_iter().filter_map(|number| LogSource::open_alone(directory, number).transpose()).collect()
}
