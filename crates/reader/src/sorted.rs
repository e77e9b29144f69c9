//! Sorted columns of a segment: a term for each document.

use std::ops::{ControlFlow, Range, RangeInclusive};
use std::sync::Arc;

use docvalues_column::{Batch, DocId, FilterCounts, Result, SortedColumn, TermOrd};
use docvalues_format::bits;
use docvalues_format::dictionary::DictionaryReader;
use docvalues_format::numeric::NumericReader;
use docvalues_storage::Section;

use crate::core::{BATCH, Core, FormatResult, Parts, Walks, clear_present, gather_or, mark_present};
use crate::cursor::Cursor;
use crate::numeric::{filter_numbers, scan_numbers};
use crate::terms::HasTerms;
use crate::typed::HasCore;

/// A column with at most one term of a dictionary a document.
///
/// Owns what it needs: it outlives the [`Segment`](crate::Segment) it came from, is cheap to clone
/// and can be read by any number of threads.
///
/// # Complexity
///
/// `ord`: O(1) with jump tables. `term`: O(1), one block of terms. `seek_exact`: O(log terms).
#[derive(Clone, Debug)]
pub struct Sorted(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    core: Core,
    ords: NumericReader<Section>,
    terms: DictionaryReader<Section>,
}

impl Sorted {
    pub(crate) fn new(core: Core, ords: NumericReader<Section>, terms: DictionaryReader<Section>) -> Sorted {
        Sorted(Arc::new(Inner { core, ords, terms }))
    }

    /// The documents whose ord lies in `ords`, all one behind the other, if the segment is
    /// [sorted](crate::Segment::sort) by this column first; else `None`.
    ///
    /// O(log documents): two binary searches.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn doc_range(&self, ords: Range<u32>) -> Result<Option<Range<u32>>> {
        let Inner { core, ords: numbers, .. } = &*self.0;
        core.named(core.leading.map(|leading| leading.docs(core, numbers, &inclusive(&ords))).transpose())
    }

    pub(crate) fn parts(&self) -> Parts<'_> {
        let Inner { core, ords, terms } = &*self.0;
        Parts { core, offsets: None, numbers: Some(ords), binary: None, terms: Some(terms) }
    }

    #[inline]
    fn read(&self, doc: DocId, walks: &mut Walks) -> FormatResult<Option<TermOrd>> {
        let Inner { core, ords, .. } = &*self.0;
        Ok(core.number(ords, doc, walks)?.map(term_ord))
    }

    /// Reads the ords of `docs`, through a buffer of numbers.
    fn read_many(
        &self,
        docs: &[DocId],
        out: &mut [TermOrd],
        fill: TermOrd,
        mut present: Option<&mut [u64]>,
    ) -> Result<()> {
        assert_eq!(docs.len(), out.len(), "an ord for each document");
        let Inner { core, ords, .. } = &*self.0;
        let (mut walks, mut numbers) = (Walks::default(), [0; BATCH]);
        clear_present(docs, present.as_deref_mut());
        core.named(core.ranked(docs, &mut walks.presence, |place, indices| {
            mark_present(place.start, indices, present.as_deref_mut());
            let numbers = &mut numbers[..place.len()];
            gather_or(ords, indices, numbers, fill.get().into(), &mut walks.values)?;
            bits::to_u32(numbers, &mut out[place], TermOrd::new);
            Ok(())
        }))
    }
}

impl Cursor<'_, Sorted> {
    /// The ord of `doc`'s term; `None` if it has none or lies past the last document.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn ord(&mut self, doc: DocId) -> Result<Option<TermOrd>> {
        let result = self.column.read(doc, &mut self.walks);
        self.column.0.core.named(result)
    }
}

/// A stored number as an ord. One that is none comes from a damaged file, and becomes an ord past
/// every dictionary's end.
#[inline]
pub(crate) fn term_ord(stored: i64) -> TermOrd {
    TermOrd::new(u32::try_from(stored).unwrap_or(u32::MAX))
}

impl HasCore for Sorted {
    fn core(&self) -> &Core {
        &self.0.core
    }
}

impl SortedColumn for Sorted {
    #[inline]
    fn ord(&self, doc: DocId) -> Result<Option<TermOrd>> {
        self.0.core.named(self.read(doc, &mut Walks::default()))
    }

    fn gather(&self, docs: &[DocId], out: &mut [TermOrd], present: &mut [u64]) -> Result<()> {
        self.read_many(docs, out, TermOrd::new(0), Some(present))
    }

    fn gather_or(&self, docs: &[DocId], out: &mut [TermOrd], fill: TermOrd) -> Result<()> {
        assert_eq!(docs.len(), out.len(), "an ord for each document");
        let Inner { core, ords, .. } = &*self.0;
        let own = core.presence.own_indices(docs);
        let done = own.map_or(0, |indices| ords.gather_ords(indices, out, &mut Default::default()));
        self.read_many(&docs[done..], &mut out[done..], fill, None)
    }

    fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, &[TermOrd]>) -> ControlFlow<()>,
    ) -> Result<()> {
        let Inner { core, ords, .. } = &*self.0;
        core.named(scan_numbers(core, docs, |range, out, walk| ords.decode_ords(range, out, walk), each))
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
        let Inner { core, ords: numbers, .. } = &*self.0;
        core.named(filter_numbers(core, numbers, docs, &inclusive(&ords), bits, counts))
    }
}

/// Ords as stored numbers. Of no ords, an empty range.
fn inclusive(ords: &Range<u32>) -> RangeInclusive<i64> {
    i64::from(ords.start)..=i64::from(ords.end) - 1
}

impl HasTerms for Sorted {
    fn terms(&self) -> (&Core, &DictionaryReader<Section>) {
        (&self.0.core, &self.0.terms)
    }
}
