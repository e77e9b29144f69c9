//! Sorted-set columns of a segment: a set of terms for each document.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use docvalues_column::{Batch, DocId, FilterCounts, Lists, Result, Slices, SortedSetColumn, TermOrd};
use docvalues_format::dictionary::DictionaryReader;
use docvalues_storage::Section;

use crate::core::{Core, FormatResult, Parts, Walks};
use crate::cursor::Cursor;
use crate::lists::NumberLists;
use crate::sorted::term_ord;
use crate::terms::HasTerms;
use crate::typed::HasCore;

/// A column with a set of terms a document, as ascending ords.
///
/// Owns what it needs: it outlives the [`Segment`](crate::Segment) it came from, is cheap to clone
/// and can be read by any number of threads.
///
/// # Complexity
///
/// `ords`: O(ords of the document) with jump tables. `term`: O(1), one block of terms.
/// `seek_exact`: O(log terms).
#[derive(Clone, Debug)]
pub struct SortedSet(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    lists: NumberLists,
    terms: DictionaryReader<Section>,
}

impl SortedSet {
    pub(crate) fn new(lists: NumberLists, terms: DictionaryReader<Section>) -> SortedSet {
        SortedSet(Arc::new(Inner { lists, terms }))
    }

    pub(crate) fn lists(&self) -> &NumberLists {
        &self.0.lists
    }

    pub(crate) fn parts(&self) -> Parts<'_> {
        Parts { terms: Some(&self.0.terms), ..self.0.lists.parts() }
    }

    fn read(&self, doc: DocId, walks: &mut Walks, out: &mut Vec<TermOrd>) -> FormatResult<()> {
        out.clear();
        self.0.lists.read(doc, walks, out, term_ord)
    }
}

impl Cursor<'_, SortedSet> {
    /// Replaces `out` by the ords of `doc`'s terms.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn ords(&mut self, doc: DocId, out: &mut Vec<TermOrd>) -> Result<()> {
        let result = self.column.read(doc, &mut self.walks, out);
        self.column.0.lists.core.named(result)
    }
}

impl HasTerms for SortedSet {
    fn terms(&self) -> (&Core, &DictionaryReader<Section>) {
        (&self.0.lists.core, &self.0.terms)
    }
}

impl HasCore for SortedSet {
    fn core(&self) -> &Core {
        &self.0.lists.core
    }
}

impl SortedSetColumn for SortedSet {
    fn value_count(&self) -> u64 {
        self.0.lists.values.count()
    }

    fn ords(&self, doc: DocId, out: &mut Vec<TermOrd>) -> Result<()> {
        self.0.lists.core.named(self.read(doc, &mut Walks::default(), out))
    }

    fn gather(&self, docs: &[DocId], out: &mut Lists<TermOrd>) -> Result<()> {
        self.0.lists.core.named(self.0.lists.gather(docs, out, term_ord))
    }

    fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, Slices<'_, TermOrd>>) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut ords = Vec::new();
        let scanned = self.0.lists.scan(docs, &mut |batch| {
            ords.clear();
            ords.extend(batch.values.items().iter().map(|&ord| term_ord(ord)));
            each(Batch { docs: batch.docs, values: batch.values.over(&ords) })
        });
        self.0.lists.core.named(scanned)
    }

    fn filter(&self, docs: Range<u32>, ords: Range<u32>, bits: &mut [u64]) -> Result<()> {
        self.filter_counting(docs, ords, bits, &mut FilterCounts::default())
    }

    fn filter_counting(
        &self,
        docs: Range<u32>,
        ords: Range<u32>,
        bits: &mut [u64],
        counts: &mut FilterCounts,
    ) -> Result<()> {
        // Of no ords, an empty range.
        let range = i64::from(ords.start)..=i64::from(ords.end) - 1;
        self.0.lists.core.named(self.0.lists.filter(docs, &range, bits, counts))
    }
}
