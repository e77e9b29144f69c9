//! [`Feed`]: a stream of the frames and files that a replica lacks.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use docvalues_storage::{Directory, FsDirectory};

use super::frames::{Frame, Frames, within};
use super::stream::StreamWriter;
use crate::error::{Error, Result};
use crate::files::{CommitFile, FileName, Files, Position};
use crate::read::HeldCommit;

/// Sends a replica the frames that it lacks, or the files of the newest commit if these frames are gone.
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
    /// The last batch of the replica, 0 if it is empty; the history up to it and its epoch, if known.
    after: u64,
    history: Option<u64>,
    epoch: Option<u64>,
    /// The frames after it, if the log has them.
    frames: Option<Frames>,
    /// The newest commit that was looked at.
    seen: Option<u64>,
    /// The files that were sent since the last frame. With the next one, the replica begins to write and merge files itself.
    sent: HashSet<(FileName, u128)>,
    /// The number of frames and of commits that were sent.
    frame_count: u64,
    commit_count: u64,
}

impl Feed {
    /// A feed of the store in the folder `path`, for a replica at this position. An empty replica gets the files of a commit
    /// first.
    pub fn open(path: impl AsRef<Path>, after: Position) -> Feed {
        Feed::open_in(Arc::new(FsDirectory::new(path)), after)
    }

    /// As [`open`](Self::open), in any directory.
    pub fn open_in(directory: Arc<dyn Directory>, after: Position) -> Feed {
        let (history, epoch) = (Some(after.history), Some(after.epoch));
        Feed { history, epoch, ..Feed::after(directory, after.sequence) }
    }

    /// As [`open`](Self::open), if only the number of the last batch is known. The replica compares the histories when the
    /// next frame comes.
    pub fn open_after(path: impl AsRef<Path>, after: u64) -> Feed {
        Feed::after(Arc::new(FsDirectory::new(path)), after)
    }

    fn after(directory: Arc<dyn Directory>, after: u64) -> Feed {
        Feed {
            directory,
            after,
            history: None,
            epoch: None,
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
        if let Some(frame) = self.next_frame(None)? {
            return self.send_frame(to, &frame);
        }
        let newest = Files::list_beside_writer(&*self.directory)?.newest_commit();
        if newest.is_some() && newest <= self.seen {
            return Ok(false);
        }
        let commit = HeldCommit::of(self.directory.clone(), None)?;
        if Some(commit.number()) < newest {
            // A listing beside a writer may miss its newest commit.
            return Ok(false);
        }
        self.seen = Some(commit.number());
        if self.frames.is_none() {
            self.open_frames(&commit)?;
        }
        // The frames of its batches were there before, unless somebody wrote the store without a log.
        match self.next_frame(Some(&commit))? {
            Some(frame) => self.send_frame(to, &frame),
            None => self.send_commit(to, &commit),
        }
    }

    /// As [`send`](Self::send), but waits for something new, not longer than `time`. Flushes the stream before it waits.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub fn send_within<W: Write>(&mut self, to: &mut StreamWriter<W>, time: Duration) -> Result<bool> {
        let sent = within(time, || {
            if self.send(to)? {
                return Ok(Some(()));
            }
            to.flush().map_err(Error::Stream)?;
            Ok(None)
        });
        Ok(sent?.is_some())
    }

    /// Looks for the frames after what the replica has.
    fn open_frames(&mut self, commit: &HeldCommit) -> Result<()> {
        if self.after + self.commit_count == 0 {
            return Ok(());
        }
        let is_same = commit.files().sequence() == self.after;
        let opened = Frames::open(self.directory.clone(), commit, self.after).and_then(|frames| {
            // A log that begins after the batch has no frame to compare with.
            self.compare(frames.history().or(is_same.then_some(commit.files().commit.history)))?;
            Ok(frames)
        });
        self.frames = match opened {
            Err(Error::NoFrames { .. }) => None,
            Err(Error::Diverged { .. }) if self.is_superseded(commit) => None,
            opened => Some(opened?),
        };
        Ok(())
    }

    /// The next frame; `None` if there is none yet, or the files of a commit are needed instead.
    fn next_frame(&mut self, commit: Option<&HeldCommit>) -> Result<Option<Frame>> {
        let Some(frames) = &mut self.frames else { return Ok(None) };
        match frames.next_frame() {
            Ok(Some(frame)) if !frame.needs_commit => return Ok(Some(frame)),
            Ok(None) => return Ok(None),
            // The leader was replaced, or went back: its commit says so.
            Err(error @ Error::Diverged { .. })
                if commit.is_some_and(|commit| !is_before(self.epoch, commit.files().epoch())) =>
            {
                return Err(error);
            }
            Ok(Some(_)) | Err(Error::NoFrames { .. } | Error::Diverged { .. }) => {}
            Err(error) => return Err(error),
        }
        self.frames = None;
        if commit.is_none() {
            // The newest commit is looked at again.
            self.seen = self.seen.and_then(|seen| seen.checked_sub(1));
        }
        Ok(None)
    }

    /// Whether a commit is of a later epoch than the replica: what the replica has beyond it was discarded.
    fn is_superseded(&self, commit: &HeldCommit) -> bool {
        is_before(self.epoch, commit.files().epoch())
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

    fn send_frame<W: Write>(&mut self, to: &mut StreamWriter<W>, frame: &Frame) -> Result<bool> {
        to.frame(frame).map_err(Error::Stream)?;
        (self.after, self.history, self.epoch) = (frame.sequence, Some(frame.history), Some(frame.epoch));
        self.sent.clear();
        self.frame_count += 1;
        Ok(true)
    }

    /// Sends a commit, if it has more batches than the replica, or replaces them.
    fn send_commit<W: Write>(&mut self, to: &mut StreamWriter<W>, commit: &HeldCommit) -> Result<bool> {
        if !self.needs(commit)? {
            return Ok(false);
        }
        for file in commit.files().files() {
            if self.sent.insert((file.name, file.entry.id)) {
                to.file(&file, commit.open(&file)?).map_err(Error::Stream)?;
            }
        }
        to.commit(commit.files()).map_err(Error::Stream)?;
        let CommitFile { sequence, history, epoch, .. } = commit.files().commit;
        (self.after, self.history, self.epoch) = (sequence, Some(history), Some(epoch));
        self.commit_count += 1;
        // Frames begin anew after it.
        self.open_frames(commit)?;
        Ok(true)
    }

    fn needs(&self, commit: &HeldCommit) -> Result<bool> {
        let CommitFile { sequence, history, epoch, first_log, .. } = commit.files().commit;
        // An empty replica has nothing to send.
        if epoch == 0 {
            return Ok(false);
        }
        if self.is_superseded(commit) {
            return Ok(true);
        }
        if sequence < self.after && first_log.is_none() {
            return Err(Error::Diverged {
                what: format!(
                    "{}: expected batch {}, found batches up to {sequence}: the leader lost what the replica has",
                    self.directory.path().display(),
                    self.after
                ),
            });
        }
        if sequence == self.after && self.after > 0 {
            self.compare(Some(history))?;
        }
        // An empty replica needs a commit, also one without batches.
        Ok(sequence > self.after || (self.after == 0 && self.commit_count == 0))
    }
}

/// Whether an epoch is known to be before another one.
fn is_before(epoch: Option<u64>, other: u64) -> bool {
    epoch.is_some_and(|epoch| epoch < other)
}
