//! [`Store::purge`]: what was deleted, out of all files.
//!
//! | file | the values and ids of deleted documents, and old values of others |
//! | --- | --- |
//! | segments | each one with deleted or updated documents is merged by itself |
//! | deltas, folds | one delta takes their place, with what was changed since the purge began |
//! | remembered deletions | forgotten |
//! | logs | a new one is begun |
//! | older commits | removed, with their files |

use std::sync::atomic::AtomicBool;

use crate::commit::{remove_all_but, rotate_log, write_commit};
use crate::error::Result;
use crate::options::KeepCommits;
use crate::store::Store;
use crate::sync::PoisonError;

/// The result of [`Store::purge`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Purged {
    /// The number of the commit.
    pub commit: u64,
    /// The names of files that could not be removed, such as older commits that somebody reads: they, or the files that they
    /// name, may have what was deleted. A later call removes them.
    pub left: Vec<String>,
}

impl Store {
    /// Removes what was deleted before the call from all files of the store: values and ids of deleted documents, and values
    /// that updates replaced. Makes a commit, and removes all others and all logs, whatever
    /// [`keep_commits`](crate::StoreOptions::keep_commits) and [`keep_frames`](crate::StoreOptions::keep_frames) say. Changes go
    /// on while it runs.
    ///
    /// It forgets all remembered deletions ([`remember_deletes`](crate::StoreOptions::remember_deletes)): a deleted document that
    /// arrives again reappears, however low its version is. Replicas that are behind get files. Replicas get
    /// the purged files with the next commit, but keep what they keep: purge them, too, with [`Replica::store`](crate::Replica::store).
    /// A [`Depot`](crate::Depot) has the commit before, until another one is published.
    ///
    /// O(bytes of segments with deleted or updated documents).
    ///
    /// # Errors
    ///
    /// As [`merge`](Self::merge) and [`commit`](Self::commit). Some files may be removed then.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_column::{Field, Kind, LogicalType};
    /// use docvalues_store::{Store, StoreOptions, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("people");
    /// let schema = StoreSchema::new()
    ///     .with_field(Field::new("id", Kind::Binary, LogicalType::Utf8))?
    ///     .with_id_field("id")?;
    /// let store = Store::create(&path, schema, StoreOptions::default())?;
    /// let mut batch = store.batch()?;
    /// let id = batch.field("id")?;
    /// for name in ["ada@example.com", "bob@example.com"] {
    ///     let mut doc = batch.upsert();
    ///     doc.str(id, name)?;
    ///     doc.finish()?;
    /// }
    /// store.apply(batch)?;
    /// store.commit()?;
    /// store.delete_ids([b"ada@example.com"])?;
    /// assert!(store.purge()?.left.is_empty());
    /// for file in std::fs::read_dir(&path)? {
    ///     let bytes = std::fs::read(file?.path())?;
    ///     assert!(!bytes.windows(3).any(|part| part == b"ada"));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn purge(&self) -> Result<Purged> {
        // What is in the buffer becomes a segment, and segments without live documents go.
        self.commit()?;
        let count = self.change_quietly(|writer| Ok(writer.docs().segments().len()))?;
        // From the last one, because merges and commits beside this move segments only towards the first.
        for at in (0..count).rev() {
            self.merge_some(&AtomicBool::new(false), &|sizes| match sizes.get(at) {
                Some(size) if size.live > 0 && (size.live < size.docs || size.updated > 0) => vec![at],
                _ => Vec::new(),
            })?;
        }
        let _flushing = self.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        self.change(|writer| {
            writer.forget_deleted();
            Ok(())
        })?;
        rotate_log(self)?;
        let commit = write_commit(self, &|_| {})?;
        let left = remove_all_but(self, KeepCommits::Newest(1), 0)?;
        Ok(Purged { commit, left })
    }
}
