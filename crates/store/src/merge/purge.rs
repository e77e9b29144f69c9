//! [`Store::purge`]: what was deleted, out of all files.
//!
//! | file | the values and ids of deleted documents, and old values of others |
//! | --- | --- |
//! | segments | each one with deleted or updated documents is merged by itself |
//! | deltas, folds | one delta takes their place, with what was changed since the purge began |
//! | remembered deletions | forgotten |
//! | logs | a new one is begun |
//! | older commits | removed, with their files |

use std::cell::Cell;
use std::sync::atomic::AtomicBool;

use super::policy::SegmentSize;
use super::run::merge_some;
use crate::commit::{remove_all_but, rotate_log, write_commit};
use crate::error::Result;
use crate::locks::lock;
use crate::options::KeepCommits;
use crate::store::Store;

/// The result of [`Store::purge`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Purged {
    /// The number of the commit.
    pub commit: u64,
    /// The names of files that could not be removed, such as older commits that somebody reads: they, or the files that they
    /// name, may have what was deleted. A later call removes them.
    pub left: Vec<String>,
}

/// The work of [`Store::purge`].
pub(super) fn purge(store: &Store) -> Result<Purged> {
    // What is in the buffer becomes a segment, and segments without live documents go.
    store.commit()?;
    // From the last one, because merges and commits beside this move segments only towards the first.
    let below = Cell::new(usize::MAX);
    let choose = |sizes: &[SegmentSize]| -> Vec<usize> {
        let is_changed = |size: &SegmentSize| size.live > 0 && (size.live < size.docs || size.updated > 0);
        let found = sizes[..below.get().min(sizes.len())].iter().rposition(is_changed);
        below.set(found.unwrap_or_default());
        found.into_iter().collect()
    };
    while merge_some(store, &AtomicBool::new(false), &choose)? {}
    let _flushing = lock(&store.flushing);
    store.change(|writer| {
        writer.forget_deleted();
        Ok(())
    })?;
    rotate_log(store)?;
    let commit = write_commit(store, &|_| {})?;
    let left = remove_all_but(store, Some(KeepCommits::Newest(1)), 0)?;
    Ok(Purged { commit, left })
}
