//! The removal of older commits, and of files that nothing needs any more.

use std::ffi::OsStr;

use docvalues_storage::FileLock;

use crate::error::Result;
use crate::files::FileName;
use crate::options::KeepCommits;
use crate::store::Store;

/// Removes older commits than are kept, and the files that neither a commit that is left nor the store needs. The newest
/// commit is durable. The caller holds `flushing`, or has the store for itself.
pub(crate) fn remove_unnamed(store: &Store) -> Result<()> {
    remove_all_but(store, None, store.options.keep_frames).map(drop)
}

/// As [`remove_unnamed`], but keeps these commits, if any are said, and so many bytes of logs that the newest commit does not
/// need. Returns the names of what could not be removed.
///
/// A commit that a reader is opening stays, and so do files that cannot be removed; the next call tries again. Files
/// are removed outside of the lock: a file that is not needed never will be.
pub(crate) fn remove_all_but(
    store: &Store,
    keep: Option<KeepCommits>,
    keep_frames: u64,
) -> Result<Vec<String>> {
    let remove = |name: &str| match store.directory.remove(OsStr::new(name)) {
        Err(error) => error.is_missing(),
        Ok(()) => true,
    };
    let now = (store.clock)();
    let (mut temporary, mut commits) = store.change_quietly(|writer| {
        writer.require_lock()?;
        let keep = keep.unwrap_or(writer.keep);
        let files = &mut writer.files;
        Ok((std::mem::take(&mut files.temporary), files.older_commits(&*store.directory, keep, now)))
    })?;
    temporary.retain(|name| !remove(name));
    let mut left = temporary.clone();
    commits.retain(|number| {
        let name = FileName::Commit(*number).to_string();
        let held = store.directory.hold(OsStr::new(&name), FileLock::Exclusive);
        let is_removed = held.is_ok_and(|_held| remove(&name));
        left.extend((!is_removed).then_some(name));
        is_removed
    });
    let mut files = store.change_quietly(|writer| {
        let (used, first_log) = (writer.used(), writer.last_commit().1.first_log);
        let files = &mut writer.files;
        files.temporary.extend(temporary);
        files.forget_commits(&commits);
        let first_log = first_log.map(|log| files.first_kept_log(&*store.directory, log, keep_frames));
        Ok(files.take_unnamed(&*store.directory, &used, first_log))
    })?;
    files.retain(|file| !remove(&file.to_string()));
    if !files.is_empty() {
        store.change_quietly(|writer| {
            files.iter().for_each(|file| writer.files.add(*file));
            Ok(())
        })?;
    }
    left.extend(files.iter().map(FileName::to_string));
    Ok(left)
}
