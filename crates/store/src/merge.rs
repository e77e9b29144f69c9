//! The same documents in other segments.
//!
//! | module | |
//! | --- | --- |
//! | `policy` | which segments are merged |
//! | `run` | a merge beside changes |
//! | `alter`, `widened_source` | segments are written again with wider fields |
//! | `purge` | what was deleted, out of all files |
//!
//! Knows nothing of batches.

mod alter;
mod policy;
mod purge;
mod run;
mod widened_source;

use std::sync::atomic::AtomicBool;

use docvalues_column::Field;

pub(crate) use alter::widen;
pub use policy::{MergePolicy, SegmentSize};
pub use purge::Purged;
pub(crate) use run::merge_some;

use crate::error::Result;
use crate::segments::places_by_key;
use crate::store::Store;

impl Store {
    /// Merges segments until `policy` finds nothing to merge. Returns the number of merges.
    ///
    /// Snapshots can be taken, and changes made, while it runs. Commit to make the merges durable.
    ///
    /// # Errors
    ///
    /// If a segment is damaged, or the merged one cannot be written. Merges before stay.
    pub fn merge(&self, policy: &MergePolicy) -> Result<usize> {
        let mut merges = 0;
        while merge_some(self, &AtomicBool::new(false), &|sizes| policy.choose(sizes))? {
            merges += 1;
        }
        Ok(merges)
    }

    /// Merges all segments into at most `segments`, at least 1. One segment with deleted or updated documents is merged as
    /// well.
    ///
    /// # Errors
    ///
    /// As [`merge`](Self::merge).
    #[doc(alias = "forceMerge")]
    pub fn merge_to(&self, segments: usize) -> Result<()> {
        let most = segments.max(1);
        merge_some(self, &AtomicBool::new(false), &|sizes| match sizes {
            [only] if most == 1 && (only.live < only.docs || only.updated > 0) => vec![0],
            sizes if sizes.len() <= most => Vec::new(),
            // The smallest, so that each document is merged once.
            sizes => {
                let mut all = places_by_key(sizes.iter().map(|size| size.bytes).zip(0..).collect());
                all.truncate(sizes.len() + 1 - most);
                all.sort_unstable();
                all
            }
        })?;
        Ok(())
    }

    /// Gives fields a wider kind or type, and the [format](Field::format) of these: `i64` and `u64` become `f64`, `u64` becomes
    /// `i64`, and a field of one value a document becomes one of several (numeric to sorted-numeric, sorted to sorted-set). Every
    /// value stays the same. Commits.
    ///
    /// Older commits and snapshots stay as they are. Replicas get the files of the commit. Begin batches again: those of before
    /// are refused. Other writers wait meanwhile.
    ///
    /// O(values of the segments that have some of the fields).
    ///
    /// # Errors
    ///
    /// If there is no such field, it identifies documents or has their versions; if its kind or type would not be wider, or a
    /// key of the index sort would have several values; if a number is not exact in the new type, such as 2^53 + 1 as a double;
    /// or as [`commit`](Self::commit). Unless the commit failed, nothing is changed then.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_column::{Field, Kind, LogicalType};
    /// use docvalues_search::Query;
    /// use docvalues_store::{Store, StoreOptions, StoreSchema};
    ///
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("prices");
    /// let price = Field::new("price", Kind::Numeric, LogicalType::I64);
    /// let store = Store::create(&path, StoreSchema::new().with_field(price)?, StoreOptions::default())?;
    /// let mut batch = store.batch()?;
    /// let price = batch.field("price")?;
    /// let mut doc = batch.upsert();
    /// doc.i64(price, 10)?;
    /// doc.finish()?;
    /// store.apply(batch)?;
    ///
    /// store.alter([Field::new("price", Kind::SortedNumeric, LogicalType::F64)])?;
    /// let mut batch = store.batch()?;
    /// let price = batch.field("price")?;
    /// let mut doc = batch.upsert();
    /// doc.f64(price, 9.99)?.f64(price, 8.5)?;
    /// doc.finish()?;
    /// store.apply(batch)?;
    /// store.refresh()?;
    /// assert_eq!(store.snapshot().search().count(&Query::range("price", 8.0..))?, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn alter(&self, fields: impl IntoIterator<Item = Field>) -> Result<()> {
        alter::alter(self, &fields.into_iter().collect::<Vec<Field>>())
    }

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
        purge::purge(self)
    }
}
