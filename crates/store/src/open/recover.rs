//! [`Store::recover`]: back to an older commit.

use std::ops::RangeInclusive;
use std::sync::Arc;

use docvalues_storage::Directory;

use crate::commit::commit_now;
use crate::error::{Error, Result};
use crate::files::{CommitFile, CommitInfo, Files, WriterLock, next_epoch};
use crate::log::{LogBatches, read_logs_after, read_logs_after_loss};
use crate::observer::Observer;
use crate::options::StoreOptions;
use crate::segments::CommitState;
use crate::store::Store;
use crate::write::replay_frame;

/// The result of [`Store::recover`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

/// A commit that is not part of the store's history any more, one of [`Recovered::lost`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostCommit {
    /// The number in the name of its file.
    pub number: u64,
    /// Its contents; `None` if it is damaged.
    pub info: Option<CommitInfo>,
}

/// The work of [`Store::recover`].
pub(super) fn recover_in(
    directory: Arc<dyn Directory>,
    to: u64,
    discard_from: Option<u64>,
    options: StoreOptions,
    observer: Option<Arc<dyn Observer>>,
) -> Result<Recovered> {
    Files::list_beside_writer(&*directory)?.require_commit(&*directory)?;
    let folder = directory.path().display().to_string();
    let lock = WriterLock::take(&directory)?;
    let mut files = Files::list(&*directory)?;
    let known = files.commits.to_vec();
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
        read_logs_after_loss(&*directory, (&base, &newest), discarded, |_| Ok(()))?;
    if let Some(lost) = lost_batches.as_ref().filter(|lost| *lost.start() < discarded) {
        let (first, last, why) = (*lost.start(), *lost.end(), end.unwrap_or_default());
        return Err(Error::LostBatches { folder, commit: to, first, last, why });
    }
    let can_be_opened = || read_logs_after(&*directory, (to, &base), |_| Ok(())).is_ok();
    if known.last() == Some(&to) && lost_batches.is_none() && can_be_opened() {
        return Err(Error::Request(format!("{folder}: expected an older commit, found the newest, {to}")));
    }
    state.file.epoch = next_epoch(state.file.epoch.max(epoch));
    // The logs are of the history that ends.
    state.file.first_log = None;
    let store = Store::of(directory, lock, files, state, options, observer);
    read_logs_after_loss(&*store.directory, (&base, &newest), discarded, |frame| {
        replay_frame(&store, frame)
    })?;
    commit_now(&store)?;
    let commit = store.change(|writer| {
        let (number, commit) = writer.last_commit();
        Ok(CommitInfo::of(number, commit))
    })?;
    Ok(Recovered { commit, lost, replayed: following, discarded: lost_batches })
}
