//! [`StoreOptions`], and the choices in them.

use std::path::Path;
use std::time::Duration;

use docvalues_reader::{Access, OpenOptions};
use docvalues_storage::{Error as StorageError, FsDirectory, Result, Step};
use docvalues_writer::WriterOptions;

/// Options of a [`Store`](crate::Store).
///
/// ```
/// use docvalues_store::StoreOptions;
///
/// use docvalues_store::KeepCommits;
///
/// // The last three commits stay, so that a bad import can be undone.
/// let options = StoreOptions::new().keep_commits(KeepCommits::Newest(3));
/// # drop(options);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct StoreOptions {
    /// The commits that the store keeps from now on. `None` leaves this as the store has it; a new store keeps the newest.
    pub keep_commits: Option<KeepCommits>,
    /// The memory for documents of [`Store::apply`](crate::Store::apply), in bytes. When they take half of it, they are
    /// written to a segment, by a thread or the next batch. Others fill the other half meanwhile, and then
    /// wait.
    pub buffer_bytes: usize,
    /// The number of batches for which the versions of deleted documents are remembered at least, so that a document that
    /// arrives later with a lower version stays deleted. Commits forget older ones.
    pub remember_deletes: u64,
    /// When batches survive.
    pub durability: Durability,
    /// The bytes of logs that stay after commits, for replicas that are behind: see [`Store::frames`](crate::Store::frames).
    /// If not 0, there is a log, whatever the durability.
    pub keep_frames: u64,
    /// The time between refreshes, which make changes visible. Without [background](crate::Background) threads, a batch
    /// this long after the last refresh of this kind first makes another one. `None` leaves it to the caller.
    pub refresh_every: Option<Duration>,
    /// As `refresh_every`, for commits.
    pub commit_every: Option<Duration>,
    /// Options of opening segments.
    pub open: OpenOptions,
    /// Options of writing and merging segments.
    pub writer: WriterOptions,
}

/// The commits that a store keeps with their files: [`StoreOptions::keep_commits`]. It is a property of the store, which its
/// commits have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeepCommits {
    /// This many of the newest, at least 1.
    Newest(usize),
    /// The newest, and those that were the newest within this time, in whole seconds: the store can go back to any moment of it.
    Within(Duration),
}

/// When a batch of [`Store::apply`](crate::Store::apply) survives.
///
/// Other changes, such as [`Store::delete_where`](crate::Store::delete_where) and segments, are committed at once in a store with a
/// log. If that fails, the call says so, though the change is visible; the next commit tries again.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use docvalues_store::{Durability, KeepCommits, StoreOptions};
///
/// // Batches survive a kill. The log is synced about every 100 ms, and a month can be gone back to.
/// let options = StoreOptions::new()
///     .durability(Durability::Within(Duration::from_millis(100)))
///     .keep_commits(KeepCommits::Within(Duration::from_secs(30 * 86_400)));
/// assert!(matches!(options.durability, Durability::Within(_)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// After the next [`Store::commit`](crate::Store::commit). There is no log, unless frames are
    /// [kept](crate::StoreOptions::keep_frames).
    #[default]
    OnCommit,
    /// When `apply` returns: the batch is in the log, which is synced. Callers share syncs.
    EachBatch,
    /// When `apply` returns, unless the power fails. The log is synced by the first call after this time has passed
    /// since the last sync, or by a [background](crate::Background) thread as often, but not later than by the first call after
    /// twice this time.
    Within(Duration),
}

impl Default for StoreOptions {
    /// Commits as before, 64 MiB, 1,000,000 batches, no frames; segments as [`OpenOptions`] and [`WriterOptions`] are by default.
    fn default() -> StoreOptions {
        let (durability, open, writer) = (Durability::OnCommit, OpenOptions::new(), WriterOptions::default());
        StoreOptions {
            keep_commits: None,
            buffer_bytes: 64 << 20,
            remember_deletes: 1_000_000,
            durability,
            keep_frames: 0,
            refresh_every: None,
            commit_every: None,
            open,
            writer,
        }
    }
}

impl StoreOptions {
    /// The default options.
    pub fn new() -> StoreOptions {
        StoreOptions::default()
    }

    /// Sets the commits that the store keeps from now on.
    pub fn keep_commits(self, keep_commits: impl Into<Option<KeepCommits>>) -> StoreOptions {
        StoreOptions { keep_commits: keep_commits.into(), ..self }
    }

    /// Sets the memory for documents that are not in a segment yet.
    pub fn buffer_bytes(self, buffer_bytes: usize) -> StoreOptions {
        StoreOptions { buffer_bytes, ..self }
    }

    /// Sets the number of batches for which versions of deleted documents are remembered.
    pub fn remember_deletes(self, remember_deletes: u64) -> StoreOptions {
        StoreOptions { remember_deletes, ..self }
    }

    /// Sets when batches survive.
    pub fn durability(self, durability: Durability) -> StoreOptions {
        StoreOptions { durability, ..self }
    }

    /// Sets the bytes of logs that stay after commits, for replicas.
    pub fn keep_frames(self, keep_frames: u64) -> StoreOptions {
        StoreOptions { keep_frames, ..self }
    }

    /// Sets the time between refreshes.
    pub fn refresh_every(self, refresh_every: impl Into<Option<Duration>>) -> StoreOptions {
        StoreOptions { refresh_every: refresh_every.into(), ..self }
    }

    /// Sets the time between commits.
    pub fn commit_every(self, commit_every: impl Into<Option<Duration>>) -> StoreOptions {
        StoreOptions { commit_every: commit_every.into(), ..self }
    }

    /// Sets how segments are opened.
    pub fn open(self, open: OpenOptions) -> StoreOptions {
        StoreOptions { open, ..self }
    }

    /// Sets how segments are written and merged.
    pub fn writer(self, writer: WriterOptions) -> StoreOptions {
        StoreOptions { writer, ..self }
    }
}

/// As [`folder_at`], of a folder that is created if necessary.
pub(crate) fn new_folder_at(path: impl AsRef<Path>, options: &OpenOptions) -> Result<FsDirectory> {
    let path = path.as_ref();
    std::fs::create_dir_all(path).map_err(|error| StorageError::new(Step::Create, path, error))?;
    Ok(folder_at(path, options))
}

/// The folder at `path`, whose files are mapped or read as `options` say.
pub(crate) fn folder_at(path: impl AsRef<Path>, options: &OpenOptions) -> FsDirectory {
    let directory = FsDirectory::new(path);
    match options.access {
        Access::Read => directory.without_mappings(),
        _ => directory,
    }
}
