//! [`Store::recover`]: back to an older commit.

use std::path::Path;
use std::sync::Arc;

use docvalues_storage::Directory;

use crate::commit::CommitInfo;
use crate::commit_file::CommitFile;
use crate::error::{Error, Result};
use crate::files::Files;
use crate::options::{StoreOptions, folder_at};
use crate::state::CommitState;
use crate::store::Store;
use crate::writer_lock::WriterLock;

/// The result of [`Store::recover`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// The new commit.
    pub commit: CommitInfo,
    /// The commits after the one that the store went back to, from the oldest to the newest.
    pub lost: Vec<LostCommit>,
}

/// A commit that is not part of the store's history any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostCommit {
    /// The number in the name of its file.
    pub number: u64,
    /// Its contents; `None` if it is damaged.
    pub info: Option<CommitInfo>,
}

impl Store {
    /// Goes back to the older commit `to` of the store in the folder `path`: makes a new commit with its contents, and
    /// a new epoch. For a store whose newest commit is damaged, or contains what it should not.
    ///
    /// No file is removed. The next commit removes those that [`StoreOptions::keep_commits`] does not keep.
    ///
    /// # Errors
    ///
    /// [`Error::NoCommit`] if there is no such commit; [`Error::Request`] if it is the newest; [`Error::Busy`] if a
    /// writer has the store; or if a file of the commit is missing or damaged.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_column::{Field, Kind, LogicalType};
    /// use docvalues_store::{Store, StoreOptions, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("hits");
    /// let options = StoreOptions { keep_commits: 2, ..StoreOptions::default() };
    /// let store = Store::create(&path, StoreSchema::new(), options)?; // commit 1
    /// store.add_field(Field::new("siez", Kind::Numeric, LogicalType::I64))?;
    /// store.commit()?; // commit 2
    /// drop(store);
    ///
    /// let recovered = Store::recover(&path, 1, options)?;
    /// assert_eq!((recovered.commit.number, recovered.lost[0].number), (3, 2));
    /// assert!(Store::open(&path, options)?.snapshot().schema().fields().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn recover(path: impl AsRef<Path>, to: u64, options: StoreOptions) -> Result<Recovered> {
        Store::recover_in(Arc::new(folder_at(path, &options.open)), to, options)
    }

    /// As [`recover`](Self::recover), in any directory.
    ///
    /// # Errors
    ///
    /// As [`recover`](Self::recover).
    pub fn recover_in(directory: Arc<dyn Directory>, to: u64, options: StoreOptions) -> Result<Recovered> {
        let folder = directory.path().display().to_string();
        let Some(newest) = Files::list_beside_writer(&*directory)?.newest_commit() else {
            return Err(Error::NoStore { folder });
        };
        if newest == to {
            return Err(Error::Request(format!(
                "{folder}: expected an older commit, found the newest, {to}"
            )));
        }
        let lock = WriterLock::take(&directory)?;
        let mut files = Files::list(&*directory)?;
        let known = files.commits().to_vec();
        if !known.contains(&to) {
            return Err(Error::NoCommit { folder, commit: to, known });
        }
        let mut state = CommitState::open(&*directory, to, options.open, None)?;
        if state.file.is_replica {
            return Err(Error::IsReplica { folder });
        }
        let mut lost = Vec::new();
        for number in known.into_iter().filter(|number| *number > to) {
            let commit = CommitFile::read(&*directory, number).ok();
            if let Some(commit) = &commit {
                // Its numbers are not used again, and its history ends.
                files.reserve_below(commit.next_number);
                state.file.epoch = state.file.epoch.max(commit.epoch);
                state.file.highest_version = state.file.highest_version.max(commit.highest_version);
            }
            lost.push(LostCommit { number, info: commit.map(|commit| CommitInfo::of(number, &commit)) });
        }
        state.file.epoch += 1;
        // The logs are of the history that ends.
        state.file.first_log = None;
        let store = Store::of(directory, lock, files, state, options);
        store.commit_now()?;
        let commit = store.change(|writer| Ok(writer.info()))?;
        Ok(Recovered { commit, lost })
    }
}
