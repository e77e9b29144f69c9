//! [`Overlay`]: a column in which some rows changed.
//!
//! The column below keeps its fast paths: rows are read from it, and those that changed are replaced.
//!
//! ```text
//! gather   the column gathers; changed documents are replaced
//! scan     the column scans; batches with changed documents are merged with these, or gathered if all have one value
//! filter   the column filters by its own zones, and the new rows by theirs; the bits of changed documents are replaced
//! zones    the column's, extended by the new numbers; new rows are looked at if the column's exclude a zone
//! ```
//!
//! The zones of the column and those of its new rows stay apart: new values exclude as much as old ones, and the cost of a
//! change is its own. Several layers are overlays of each other.

use std::sync::Arc;

use docvalues_format::id::DocId;

use crate::batch::{BatchDocs, View};
use crate::column::Column;
use crate::info::{Bounds, ColumnInfo, Count};
use crate::rows::{Each, Element, Rows, Values};
use crate::{DocRange, Gathered, Pruning, Result, SkipIndex, bits};

mod block;
mod changed_bits;
mod changes;
mod find;
mod scan;
mod skip_index;
mod source;
mod term_ords;
mod term_overlay;

use scan::Scan;

pub use changes::Changes;
pub use source::{ColumnChanges, OverlaySource};
pub use term_ords::NewTerms;
pub use term_overlay::TermOverlay;

/// A column in which some rows changed.
///
/// Counts become upper bounds, and bounds [`Within`](Bounds::Within), because the old rows are not read.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use docvalues_column::{AbsentColumn, Bounds, Changes, Column, DocId, Overlay};
///
/// let absent = Arc::new(AbsentColumn::new("size", 3));
/// let mut changes = Changes::<i64>::new(3, false);
/// changes.set([(DocId::new(1), Some(&[512][..]))]);
/// let column = Overlay::new(absent, changes);
///
/// assert_eq!(column.info().bounds, Bounds::Within(512..=512));
/// let (rows, mut row) = (column.values().numbers().unwrap(), Vec::new());
/// assert!(rows.get(DocId::new(1), &mut row)?);
/// assert_eq!(row, [512]);
/// # Ok::<(), docvalues_column::Error>(())
/// ```
#[derive(Clone)]
pub struct Overlay<T> {
    base: Arc<dyn Column>,
    changes: Changes<T>,
    info: ColumnInfo,
}

impl<T: Element> Overlay<T> {
    /// `base` with the rows of `changes`. O(1).
    ///
    /// # Panics
    ///
    /// If `base` has values of another type, `changes` is for another number of documents, or they disagree on single values
    /// and lists.
    pub fn new(base: Arc<dyn Column>, changes: Changes<T>) -> Overlay<T> {
        let mut info = base.info().clone();
        let name = &info.field.name;
        assert!(T::rows_of(base.values()).is_some(), "the kind of \"{name}\", {:?}", info.kind());
        assert_eq!(info.docs, changes.docs(), "documents of \"{name}\"");
        let is_many = info.is_multi_valued() || T::EMPTY_IS_VALUE;
        assert_eq!(is_many, changes.is_many(), "whether rows of \"{name}\" are lists");
        if changes.is_empty() {
            return Overlay { base, changes, info };
        }
        let at_most = |count: Count, added: u64| count.most().saturating_add(added);
        let with_value = at_most(info.with_value, changes.len().into()).min(info.docs.into());
        info.with_value = Count::AtMost(with_value);
        let values = at_most(info.value_count, changes.value_count());
        info.value_count = Count::AtMost(if info.is_multi_valued() { values } else { with_value });
        if let Some((low, high)) = changes.bounds() {
            info.bounds = T::widen(&info.bounds, low, high);
        } else if let Bounds::Exact(range) = info.bounds {
            info.bounds = Bounds::Within(range);
        }
        info.sum = None;
        Overlay { base, changes, info }
    }

    /// Reads the rows of the column below.
    fn below(&self, read: impl FnOnce(&dyn Rows<T>) -> Result<()>) -> Result<()> {
        // `new` checked that it has such rows.
        T::rows_of(self.base.values()).map_or(Ok(()), read)
    }

    /// Adds to `bits` the documents that `run` finds in the column below, except that changed ones are added if their new row
    /// is `wanted`: see [`Element::matches`].
    fn add(
        &self,
        docs: DocRange,
        bits: &mut [u64],
        wanted: impl Fn(View<'_, T>, (T, T)) -> u64,
        run: impl FnOnce(&mut [u64]) -> Result<()>,
    ) -> Result<()> {
        bits::check(docs, bits);
        let bits = &mut bits[..docs.words()];
        if !self.changes.may_change(docs) {
            return run(bits);
        }
        if bits.iter().fold(0, |any, word| any | word) == 0 {
            run(bits)?;
            self.changes.replace(docs, bits, &wanted);
            return Ok(());
        }
        let mut found = vec![0; bits.len()];
        run(&mut found)?;
        self.changes.replace(docs, &mut found, &wanted);
        bits.iter_mut().zip(found).for_each(|(word, found)| *word |= found);
        Ok(())
    }

    /// As [`Column::exists`].
    fn add_existing(&self, docs: DocRange, bits: &mut [u64]) -> Result<()> {
        self.add(docs, bits, |_, _| u64::MAX, |found| self.base.exists(docs, found))
    }
}

impl Column for Overlay<i64> {
    fn info(&self) -> &ColumnInfo {
        &self.info
    }

    fn exists(&self, docs: DocRange, bits: &mut [u64]) -> Result<()> {
        self.add_existing(docs, bits)
    }

    fn values(&self) -> Values<'_> {
        Values::Numbers(self)
    }

    fn skip_index(&self) -> Option<&dyn SkipIndex> {
        self.base.skip_index().map(|_| self as &dyn SkipIndex)
    }
}

impl Column for Overlay<u8> {
    fn info(&self) -> &ColumnInfo {
        &self.info
    }

    fn exists(&self, docs: DocRange, bits: &mut [u64]) -> Result<()> {
        self.add_existing(docs, bits)
    }

    fn values(&self) -> Values<'_> {
        Values::Bytes(self)
    }
}

impl<T: Element> Rows<T> for Overlay<T> {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<T>) -> Result<()> {
        self.below(|rows| rows.gather(docs, out))?;
        match docs {
            BatchDocs::Run(run) if out.is_many() => {
                out.replace(self.changes.rows(run).map(|(doc, row)| (run.place(doc), row)));
            }
            BatchDocs::Run(run) => self.changes.put(run, out),
            BatchDocs::List(list) if out.is_many() => {
                let mut rows = Vec::new();
                self.changes.find(list, |at, row| rows.push((at, row)));
                out.replace(rows);
            }
            BatchDocs::List(list) => {
                self.changes.find(list, |at, row| out.set(at, row.and_then(|row| row.first().copied())));
            }
        }
        Ok(())
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, T>) -> Result<()> {
        let docs = docs.clip(self.info.docs);
        self.below(|rows| {
            if !self.changes.is_many() && self.base.info().all_present() {
                return scan::by_gather(rows, &self.changes, docs, each);
            }
            let mut scan = Scan::new(&self.changes, docs, each);
            rows.scan(docs, &mut |batch| scan.add(batch))?;
            scan.finish(docs.end);
            Ok(())
        })
    }

    fn filter(
        &self,
        docs: DocRange,
        wanted: &T::Range,
        bits: &mut [u64],
        pruned: &mut Pruning,
    ) -> Result<()> {
        let matches = |rows: View<'_, T>, bounds| T::matching(rows, bounds, wanted);
        self.add(docs, bits, matches, |found| self.below(|rows| rows.filter(docs, wanted, found, pruned)))
    }

    fn get(&self, doc: DocId, out: &mut Vec<T>) -> Result<bool> {
        let Some(row) = self.changes.get(doc) else {
            let mut is_there = false;
            self.below(|rows| rows.get(doc, out).map(|found| is_there = found))?;
            return Ok(is_there);
        };
        out.clear();
        out.extend_from_slice(row.unwrap_or_default());
        Ok(row.is_some())
    }
}
