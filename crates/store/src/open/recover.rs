//! [`Store::recover`]: back to an older commit.

use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::Arc;

use docvalues_storage::Directory;

use crate::commit::commit_now;
use crate::error::{Error, Result};
use crate::files::{CommitFile, CommitInfo, Files, WriterLock};
use crate::log::{LogBatches, LogStart, read_logs, replay_onto};
use crate::options::{StoreOptions, folder_at};
use crate::segments::CommitState;
use crate::store::Store;
use crate::write::replay_frame;

/// The result of [`Store::recover`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// The new commit.
    pub commit: CommitInfo,
    /// The commits after the one that the store went back to, from the oldest to the newest.
    pub lost: Vec<LostCommit>,
    /// The number of batches of the log that were applied to the older commit.
    pub replayed: u64,
    /// The batches of the log that were discarded.
    pub discarded: Option<RangeInclusive<u64>>,
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
    /// a new epoch. For a store whose newest commit is damaged or missing, or contains what it should not.
    ///
    /// The batches of the log are applied to it, as far as they follow it. With `discard_from`, those from this number on are
    /// not, and are lost: 0 discards all. Without it, an error says which batches would be lost.
    ///
    /// No file is removed. The next commit removes those that [`StoreOptions::keep_commits`] does not keep.
    ///
    /// # Errors
    ///
    /// [`Error::LostBatches`] if batches of the log cannot be applied, before `discard_from`; [`Error::NoCommit`] if there is no
    /// such commit; [`Error::Request`] if it is the newest, and has all of its log; [`Error::Busy`] if a writer has the store; or
    /// if a file of the commit is missing or damaged. Nothing is changed then.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_column::{Field, Kind, LogicalType};
    /// use docvalues_store::{KeepCommits, Store, StoreOptions, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("hits");
    /// let options = StoreOptions { keep_commits: Some(KeepCommits::Newest(2)), ..StoreOptions::default() };
    /// let store = Store::create(&path, StoreSchema::new(), options)?; // commit 1
    /// store.add_field(Field::new("siez", Kind::Numeric, LogicalType::I64))?;
    /// store.commit()?; // commit 2
    /// drop(store);
    ///
    /// let recovered = Store::recover(&path, 1, None, options)?;
    /// assert_eq!((recovered.commit.number, recovered.lost[0].number), (3, 2));
    /// assert!(Store::open(&path, options)?.snapshot().schema().fields().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn recover(
        path: impl AsRef<Path>,
        to: u64,
        discard_from: Option<u64>,
        options: StoreOptions,
    ) -> Result<Recovered> {
        Store::recover_in(Arc::new(folder_at(path, &options.open)), to, discard_from, options)
    }

    /// As [`recover`](Self::recover), in any directory.
    ///
    /// # Errors
    ///
    /// As [`recover`](Self::recover).
    pub fn recover_in(
        directory: Arc<dyn Directory>,
        to: u64,
        discard_from: Option<u64>,
        options: StoreOptions,
    ) -> Result<Recovered> {
        let folder = directory.path().display().to_string();
        if Files::list_beside_writer(&*directory)?.newest_commit().is_none() {
            return Err(Error::NoStore { folder });
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
        let (base, mut newest) = (state.file.clone(), state.file.clone());
        let mut lost = Vec::new();
        for number in known.iter().copied().filter(|number| *number > to) {
            let commit = CommitFile::read(&*directory, number).ok();
            if let Some(commit) = &commit {
                // Its numbers are not used again, and its history ends.
                files.reserve_below(commit.next_number);
                state.file.epoch = state.file.epoch.max(commit.epoch);
                state.file.highest_version = state.file.highest_version.max(commit.highest_version);
                newest = commit.clone();
                state.file.assigns_versions |= commit.assigns_versions;
            }
            lost.push(LostCommit { number, info: commit.map(|commit| CommitInfo::of(number, &commit)) });
        }
        let discarded = discard_from.unwrap_or(u64::MAX);
        let LogBatches { following, lost: lost_batches, end, epoch } =
            replay_onto(&*directory, (&base, &newest), discarded, |_| Ok(()))?;
        if let Some(lost) = lost_batches.as_ref().filter(|lost| *lost.start() < discarded) {
            let (first, last, why) = (*lost.start(), *lost.end(), end.unwrap_or_default());
            return Err(Error::LostBatches { folder, commit: to, first, last, why });
        }
        if known.last() == Some(&to) && lost_batches.is_none() && can_be_opened(&*directory, to, &base) {
            return Err(Error::Request(format!(
                "{folder}: expected an older commit, found the newest, {to}"
            )));
        }
        state.file.epoch = state.file.epoch.max(epoch) + 1;
        // The logs are of the history that ends.
        state.file.first_log = None;
        let store = Store::of(directory, lock, files, state, options);
        replay_onto(&*store.directory, (&base, &newest), discarded, |frame| replay_frame(&store, frame))?;
        commit_now(&store)?;
        let commit = store.change(|writer| {
            let (number, commit) = writer.last_commit();
            Ok(CommitInfo::of(number, commit))
        })?;
        Ok(Recovered { commit, lost, replayed: following, discarded: lost_batches })
    }
}

/// Whether a writer could open the newest commit.
fn can_be_opened(directory: &dyn Directory, number: u64, commit: &CommitFile) -> bool {
    let start = LogStart::of(directory, number, commit);
    start
        .and_then(|start| start.map_or(Ok(()), |start| read_logs(directory, start, |_| Ok(())).map(drop)))
        .is_ok()
}
