//! [`Feed`]: what a replica needs next, frames or files, as a stream.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use docvalues_storage::{Directory, FsDirectory};

use super::Position;
use super::commit_files::HeldCommit;
use super::frames::{Frame, Frames, nap};
use super::stream::StreamWriter;
use crate::error::{Error, Result};
use crate::files::Files;
use crate::names::FileName;

/// Sends a replica what it lacks: frames as long as they are there, and otherwise the files of the newest commit.
///
/// It reads the files of the store, so that it may run in another process than the leader, which neither waits for it nor
/// keeps anything in memory for it. A leader without a log sends files after each commit.
///
/// # Examples
///
/// ```
/// use docvalues_store::{Feed, Replica, Store, StoreOptions, StoreSchema, StreamReader, StreamWriter};
///
/// # let folder = tempfile::tempdir()?;
/// # let [leader, other] = ["leader", "replica"].map(|name| folder.path().join(name));
/// Store::create(&leader, StoreSchema::new(), StoreOptions::default())?;
/// let replica = Replica::open(&other, StoreOptions::default())?;
///
/// // A pipe to another process or machine takes the place of the vector.
/// let (mut feed, mut pipe) = (Feed::open(&leader, replica.position()), Vec::new());
/// while feed.send(&mut StreamWriter::new(&mut pipe))? {}
/// let mut stream = StreamReader::new(&pipe[..]);
/// while replica.take(&mut stream)?.is_some() {}
/// assert_eq!(replica.position().epoch, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Feed {
    directory: Arc<dyn Directory>,
    /// The last batch that the replica has; 0 if it is empty. The history up to it, if known.
    after: u64,
    history: Option<u64>,
    frames: Option<Frames>,
    /// The newest commit that was looked at while there was no frame.
    seen: Option<u64>,
    /// The files that were sent.
    sent: HashSet<(FileName, u128)>,
    /// What was sent: the number of frames and of commits.
    frame_count: u64,
    commit_count: u64,
}

impl Feed {
    /// What the store in the folder `path` has after what a replica has. An empty one gets the files of a commit first.
    pub fn open(path: impl AsRef<Path>, after: Position) -> Feed {
        Feed::open_in(Arc::new(FsDirectory::new(path)), after)
    }

    /// As [`open`](Self::open), in any directory.
    pub fn open_in(directory: Arc<dyn Directory>, after: Position) -> Feed {
        let history = Some(after.history);
        Feed { history, ..Feed::after(directory, after.sequence) }
    }

    /// What the store in the folder `path` has after batch `after`, whatever the batches before it are: the replica compares
    /// its history when the next one comes.
    pub fn open_after(path: impl AsRef<Path>, after: u64) -> Feed {
        Feed::after(Arc::new(FsDirectory::new(path)), after)
    }

    fn after(directory: Arc<dyn Directory>, after: u64) -> Feed {
        Feed {
            directory,
            after,
            history: None,
            frames: None,
            seen: None,
            sent: HashSet::new(),
            frame_count: 0,
            commit_count: 0,
        }
    }

    /// The last batch that was sent.
    pub fn position(&self) -> u64 {
        self.after
    }

    /// The number of frames, and of commits, that were sent.
    pub fn sent(&self) -> (u64, u64) {
        (self.frame_count, self.commit_count)
    }

    /// Writes one frame, or a commit with its files, if there is something new. Returns whether there was.
    ///
    /// # Errors
    ///
    /// [`Error::Diverged`] if the replica has batches that the store lost; [`Error::NoStore`]; if a file cannot be read, or
    /// the stream not be written.
    pub fn send<W: Write>(&mut self, to: &mut StreamWriter<W>) -> Result<bool> {
        let mut frame = self.next_frame()?;
        if frame.is_none() && self.frames.is_some() {
            if !self.has_newer_commit()? {
                return Ok(false);
            }
            // Its frames were there before, unless somebody wrote the store without a log.
            frame = self.next_frame()?;
        }
        let Some(frame) = frame else { return self.send_commit(to) };
        to.frame(&frame).map_err(Error::Stream)?;
        (self.after, self.history) = (frame.sequence, Some(frame.history));
        self.frame_count += 1;
        Ok(true)
    }

    /// Whether there is another commit than the last time, with more batches than the replica has.
    fn has_newer_commit(&mut self) -> Result<bool> {
        let newest = Files::list_beside_writer(&*self.directory)?.newest_commit();
        if newest == self.seen {
            return Ok(false);
        }
        let commit = HeldCommit::of(self.directory.clone(), None)?;
        self.seen = Some(commit.number());
        Ok(commit.files().sequence() > self.after)
    }

    /// As [`send`](Self::send), but waits for something new, not longer than `time`. Flushes the stream before it waits.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub fn send_within<W: Write>(&mut self, to: &mut StreamWriter<W>, time: Duration) -> Result<bool> {
        let began = Instant::now();
        loop {
            if self.send(to)? {
                return Ok(true);
            }
            to.flush().map_err(Error::Stream)?;
            let left = time.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            nap(began.elapsed(), left);
        }
    }

    /// The next frame; `None` if there is none yet, or the files of a commit are needed instead.
    fn next_frame(&mut self) -> Result<Option<Frame>> {
        if self.frames.is_none() && self.after + self.commit_count > 0 {
            self.frames = match Frames::open(self.directory.clone(), self.after) {
                Err(Error::NoFrames { .. }) => None,
                frames => Some(frames?),
            };
            if let Some(frames) = &self.frames {
                self.compare(match frames.history() {
                    // The log begins after it, perhaps as it was committed.
                    None => self.newest_history()?,
                    history => history,
                })?;
            }
        }
        let Some(frames) = &mut self.frames else { return Ok(None) };
        match frames.next_frame() {
            Ok(Some(frame)) if !frame.needs_commit => Ok(Some(frame)),
            Ok(None) => Ok(None),
            Ok(Some(_)) | Err(Error::NoFrames { .. }) => {
                self.frames = None;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The history of the newest commit, if that ends with the last batch of the replica.
    fn newest_history(&self) -> Result<Option<u64>> {
        let commit = HeldCommit::of(self.directory.clone(), None)?;
        let is_same = commit.files().sequence() == self.after;
        Ok(is_same.then_some(commit.files().commit.history))
    }

    /// Fails if the store has another history up to the last batch of the replica. It may not know.
    fn compare(&self, found: Option<u64>) -> Result<()> {
        match self.history.zip(found) {
            Some((known, found)) if known != found => Err(Error::Diverged {
                what: format!(
                    "{}: expected the history {known:016x} up to batch {}, found {found:016x}: \
                     the replica is of another store, or the leader lost what it has",
                    self.directory.path().display(),
                    self.after
                ),
            }),
            _ => Ok(()),
        }
    }

    /// Sends the newest commit, if it has more batches than the replica.
    fn send_commit<W: Write>(&mut self, to: &mut StreamWriter<W>) -> Result<bool> {
        let commit = HeldCommit::of(self.directory.clone(), None)?;
        let sequence = commit.files().sequence();
        if sequence < self.after {
            return Err(Error::Diverged {
                what: format!(
                    "{}: expected batch {}, found batches up to {sequence}: the leader lost what the replica has",
                    self.directory.path().display(),
                    self.after
                ),
            });
        }
        if sequence == self.after && self.after > 0 {
            self.compare(Some(commit.files().commit.history))?;
        }
        // An empty replica needs a commit, also one without batches.
        let is_needed = sequence > self.after || (self.after == 0 && self.commit_count == 0);
        if !is_needed {
            return Ok(false);
        }
        for file in commit.files().files() {
            if self.sent.insert((file.name, file.entry.id)) {
                to.file(&file, commit.open(&file)?).map_err(Error::Stream)?;
            }
        }
        to.commit(commit.files()).map_err(Error::Stream)?;
        (self.after, self.history) = (sequence, Some(commit.files().commit.history));
        // They begin anew after it.
        self.frames = None;
        self.commit_count += 1;
        Ok(true)
    }
}
