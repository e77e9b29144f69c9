//! [`StoreReader`]: a store that another process may be writing.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use docvalues_reader::OpenOptions;
use docvalues_storage::{Directory, FsDirectory};

use super::held_commit::HeldCommit;
use super::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::files::{CommitFile, CommitInfo, Files, Position};
use crate::log::LogFrames;
use crate::options::folder_at;
use crate::segments::CommitState;

/// A store that is only read, while this or another process may write it.
///
/// It shows the newest commit when it was opened, until it is [reopened](Self::reopen). The writer never waits for it.
/// The folder must not be on a network file system.
///
/// # Examples
///
/// ```
/// use docvalues_reader::OpenOptions;
/// use docvalues_store::{Store, StoreOptions, StoreReader, StoreSchema};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("hits");
/// let store = Store::create(&path, StoreSchema::new(), StoreOptions::default())?;
/// let mut reader = StoreReader::open(&path, OpenOptions::new())?;
/// assert_eq!(reader.snapshot().docs(), 0);
/// assert!(!reader.reopen()?); // nothing was committed since
/// # drop(store);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "DirectoryReader")]
pub struct StoreReader {
    directory: Arc<dyn Directory>,
    options: OpenOptions,
    state: CommitState,
    snapshot: Snapshot,
}

impl fmt::Debug for StoreReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreReader").field("snapshot", &self.snapshot).finish_non_exhaustive()
    }
}

impl StoreReader {
    /// Opens the newest commit of the store in the folder `path`.
    ///
    /// # Errors
    ///
    /// If there is no store, or its newest commit or a file of it is damaged or missing.
    pub fn open(path: impl AsRef<Path>, options: OpenOptions) -> Result<StoreReader> {
        StoreReader::open_in(Arc::new(folder_at(path, &options)), options)
    }

    /// As [`open`](Self::open), in any directory.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_in(directory: Arc<dyn Directory>, options: OpenOptions) -> Result<StoreReader> {
        StoreReader::of(directory, None, options)
    }

    fn of(directory: Arc<dyn Directory>, commit: Option<u64>, options: OpenOptions) -> Result<StoreReader> {
        let state = HeldCommit::of(directory.clone(), commit)?.into_state(options, None)?;
        let snapshot = Snapshot::of_commit(&state, None);
        Ok(StoreReader { directory, options, state, snapshot })
    }

    /// Opens an older commit that the store keeps.
    ///
    /// # Errors
    ///
    /// [`Error::NoCommit`] if there is no such commit; and as [`open`](Self::open).
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_reader::OpenOptions;
    /// use docvalues_store::{KeepCommits, Store, StoreOptions, StoreReader, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("hits");
    /// let options = StoreOptions::new().keep_commits(KeepCommits::Newest(2));
    /// let store = Store::create(&path, StoreSchema::new(), options)?;
    /// let first = store.commit_with(b"postings 7")?;
    /// store.commit_with(b"postings 8")?;
    /// let kept = StoreReader::commits(&path)?;
    /// assert_eq!(kept[0].0, first);
    /// let reader = StoreReader::open_commit(&path, first, OpenOptions::new())?;
    /// assert_eq!(reader.snapshot().user_data(), b"postings 7");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_commit(path: impl AsRef<Path>, commit: u64, options: OpenOptions) -> Result<StoreReader> {
        StoreReader::of(Arc::new(folder_at(path, &options)), Some(commit), options)
    }

    /// The contents of the commit that is open. O(1).
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot.clone()
    }

    /// The number and the file of the commit.
    pub(crate) fn commit_file(&self) -> (u64, &CommitFile) {
        (self.state.number, &self.state.file)
    }

    /// Goes to the newest commit. Returns whether there is a newer one. Files that both commits have stay open, and are not
    /// read again.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open); the reader stays as it was then.
    pub fn reopen(&mut self) -> Result<bool> {
        // A listing may miss the newest commit, and have an older one that is being removed.
        let is_older = |number: u64| number <= self.snapshot.commit();
        if Files::list_beside_writer(&*self.directory)?.newest_commit().is_some_and(is_older) {
            return Ok(false);
        }
        let newest = HeldCommit::of(self.directory.clone(), None)?;
        if is_older(newest.number()) {
            return Ok(false);
        }
        let state = newest.into_state(self.options, Some(&self.state))?;
        self.snapshot = Snapshot::of_commit(&state, Some(&self.snapshot));
        self.state = state;
        Ok(true)
    }

    /// As [`Store::hold_commit`](crate::Store::hold_commit), of a store that another process may be writing.
    ///
    /// # Errors
    ///
    /// [`Error::NoStore`] if there is none, and as [`Store::hold_commit`](crate::Store::hold_commit).
    pub fn hold_commit(path: impl AsRef<Path>, number: Option<u64>) -> Result<HeldCommit> {
        HeldCommit::of(Arc::new(FsDirectory::new(path)), number)
    }

    /// The last batch of the newest commit of the store or replica in the folder `path`, or of its log, if that has more. The
    /// default if there is no store, or no folder. O(frames of the log).
    ///
    /// # Errors
    ///
    /// If the commit or the log is damaged.
    pub fn position(path: impl AsRef<Path>) -> Result<Position> {
        let path = path.as_ref();
        let mut tried = None;
        loop {
            let held = match StoreReader::hold_commit(path, None) {
                Err(Error::NoStore { .. }) => return Ok(Position::default()),
                held => held?,
            };
            match held.last_position() {
                // The writer removes the logs of a commit that it replaces.
                Err(_) if tried != Some(held.number()) => tried = Some(held.number()),
                position => return position,
            }
        }
    }

    /// The commits of the store in the folder `path`, from the oldest to the newest, each with its number, and an error
    /// if it is damaged. [`open_commit`](Self::open_commit) has an example.
    ///
    /// # Errors
    ///
    /// If there is no store.
    pub fn commits(path: impl AsRef<Path>) -> Result<Vec<(u64, Result<CommitInfo>)>> {
        let directory = FsDirectory::new(path);
        let files = Files::list_beside_writer(&directory)?;
        files.require_commit(&directory)?;
        let info = |&number: &u64| match CommitFile::read(&directory, number) {
            // It was removed meanwhile.
            Err(error) if error.is_missing() => None,
            commit => Some((number, commit.map(|commit| CommitInfo::of(number, &commit)))),
        };
        Ok(files.commits.iter().filter_map(info).collect())
    }

    /// The frames in the logs after the newest commit of the store in the folder `path`, from the oldest to the newest.
    /// Reads and checks them one by one. The first ones may be of batches that the commit contains.
    ///
    /// An item is an error if a frame that was durable is damaged or missing.
    ///
    /// # Errors
    ///
    /// If there is no store, its newest commit is damaged, a log cannot be read, is damaged or missing.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_store::{Store, StoreOptions, StoreReader, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("hits");
    /// Store::create(&path, StoreSchema::new(), StoreOptions::default())?;
    /// for frame in StoreReader::log_frames(&path)? {
    ///     let frame = frame?;
    ///     println!("batch {}: {} bytes at offset {}", frame.sequence, frame.bytes, frame.offset);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn log_frames(path: impl AsRef<Path>) -> Result<LogFrames> {
        StoreReader::log_frames_in(Arc::new(FsDirectory::new(path)))
    }

    /// As [`log_frames`](Self::log_frames), in any directory.
    ///
    /// # Errors
    ///
    /// As [`log_frames`](Self::log_frames).
    pub fn log_frames_in(directory: Arc<dyn Directory>) -> Result<LogFrames> {
        // Its logs stay as long as the commit is held.
        HeldCommit::of(directory, None)?.log_frames()
    }
}
