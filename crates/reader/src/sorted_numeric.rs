//! Sorted-numeric columns of a segment: any number of numbers for each document.

use std::ops::{ControlFlow, Range, RangeInclusive};
use std::sync::Arc;

use docvalues_column::{Batch, DocId, FilterCounts, Lists, Result, Slices, SortedNumericColumn};

use crate::core::{Core, Walks};
use crate::cursor::Cursor;
use crate::lists::NumberLists;
use crate::typed::HasCore;

/// A column with any number of 64-bit numbers a document, ascending, duplicates kept.
///
/// Owns what it needs: it outlives the [`Segment`](crate::Segment) it came from, is cheap to clone
/// and can be read by any number of threads.
///
/// # Complexity
///
/// `get`: O(values of the document) with jump tables.
#[derive(Clone, Debug)]
pub struct SortedNumeric(Arc<NumberLists>);

impl SortedNumeric {
    pub(crate) fn new(lists: NumberLists) -> SortedNumeric {
        SortedNumeric(Arc::new(lists))
    }

    pub(crate) fn lists(&self) -> &NumberLists {
        &self.0
    }
}

impl Cursor<'_, SortedNumeric> {
    /// Replaces `out` by the values of `doc`.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn get(&mut self, doc: DocId, out: &mut Vec<i64>) -> Result<()> {
        out.clear();
        let lists = &self.column.0;
        lists.core.named(lists.read(doc, &mut self.walks, out, |number| number))
    }
}

impl HasCore for SortedNumeric {
    fn core(&self) -> &Core {
        &self.0.core
    }
}

impl SortedNumericColumn for SortedNumeric {
    fn bounds(&self) -> Option<RangeInclusive<i64>> {
        let meta = self.0.values.meta();
        (meta.count > 0).then_some(meta.min..=meta.max)
    }

    fn sum(&self) -> Option<i128> {
        self.0.core.statistics.sum
    }

    fn value_count(&self) -> u64 {
        self.0.values.count()
    }

    fn get(&self, doc: DocId, out: &mut Vec<i64>) -> Result<()> {
        out.clear();
        self.0.core.named(self.0.read(doc, &mut Walks::default(), out, |number| number))
    }

    fn gather(&self, docs: &[DocId], out: &mut Lists<i64>) -> Result<()> {
        self.0.core.named(self.0.gather(docs, out, |number| number))
    }

    fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, Slices<'_, i64>>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.0.core.named(self.0.scan(docs, each))
    }

    fn filter(&self, docs: Range<u32>, values: RangeInclusive<i64>, bits: &mut [u64]) -> Result<()> {
        self.filter_counting(docs, values, bits, &mut FilterCounts::default())
    }

    fn filter_counting(
        &self,
        docs: Range<u32>,
        values: RangeInclusive<i64>,
        bits: &mut [u64],
        counts: &mut FilterCounts,
    ) -> Result<()> {
        self.0.core.named(self.0.filter(docs, &values, bits, counts))
    }
}
