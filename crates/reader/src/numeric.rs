//! Numeric columns of a segment.

use std::ops::{ControlFlow, Range, RangeInclusive};
use std::sync::Arc;

use docvalues_column::{Batch, BatchDocs, DocId, FilterCounts, NumericColumn, Result};
use docvalues_format::bits;
use docvalues_format::numeric::{Direct, NumericReader, NumericWalk};
use docvalues_storage::Section;

use crate::core::{BATCH, Core, FormatResult, Parts, Walks, check_words, gather_numbers};
use crate::cursor::Cursor;
use crate::leading;
use crate::typed::HasCore;

/// A column with at most one 64-bit number a document.
///
/// Owns what it needs: it outlives the [`Segment`](crate::Segment) it came from, is cheap to clone
/// and can be read by any number of threads.
///
/// # Complexity
///
/// `get`: O(1) with jump tables; three cache misses at most: presence, jump entry, value.
#[derive(Clone, Debug)]
pub struct Numeric(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    core: Core,
    values: NumericReader<Section>,
}

impl Numeric {
    pub(crate) fn new(core: Core, values: NumericReader<Section>) -> Numeric {
        Numeric(Arc::new(Inner { core, values }))
    }

    /// The documents whose value lies in `values`, all one behind the other, if the segment is
    /// [sorted](crate::Segment::sort) by this column first; else `None`.
    ///
    /// O(log documents): two binary searches.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn doc_range(&self, values: RangeInclusive<i64>) -> Result<Option<Range<u32>>> {
        let Inner { core, values: numbers } = &*self.0;
        core.named(core.leading.map(|leading| leading.docs(core, numbers, &values)).transpose())
    }

    /// The values in one line of memory, if every document has one: see [`NumericReader::direct`].
    pub(crate) fn direct(&self) -> Option<Direct<'_>> {
        let Inner { core, values } = &*self.0;
        values.direct().filter(|_| core.presence.is_all())
    }

    pub(crate) fn parts(&self) -> Parts<'_> {
        let Inner { core, values } = &*self.0;
        Parts { core, offsets: None, numbers: Some(values), binary: None, terms: None }
    }

    #[inline]
    fn read(&self, doc: DocId, walks: &mut Walks) -> FormatResult<Option<i64>> {
        let Inner { core, values } = &*self.0;
        core.number(values, doc, walks)
    }
}

impl Cursor<'_, Numeric> {
    /// The value of `doc`; `None` if it has none or lies past the last document.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn get(&mut self, doc: DocId) -> Result<Option<i64>> {
        let result = self.column.read(doc, &mut self.walks);
        self.column.0.core.named(result)
    }
}

impl HasCore for Numeric {
    fn core(&self) -> &Core {
        &self.0.core
    }
}

impl NumericColumn for Numeric {
    fn bounds(&self) -> Option<RangeInclusive<i64>> {
        let meta = self.0.values.meta();
        (meta.count > 0).then_some(meta.min..=meta.max)
    }

    fn sum(&self) -> Option<i128> {
        self.0.core.statistics.sum
    }

    #[inline]
    fn get(&self, doc: DocId) -> Result<Option<i64>> {
        self.0.core.named(self.read(doc, &mut Walks::default()))
    }

    fn gather(&self, docs: &[DocId], out: &mut [i64], present: &mut [u64]) -> Result<()> {
        gather_numbers(&self.0.core, &self.0.values, docs, out, 0, Some(present))
    }

    fn gather_or(&self, docs: &[DocId], out: &mut [i64], fill: i64) -> Result<()> {
        gather_numbers(&self.0.core, &self.0.values, docs, out, fill, None)
    }

    fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, &[i64]>) -> ControlFlow<()>,
    ) -> Result<()> {
        let Inner { core, values } = &*self.0;
        core.named(scan_numbers(core, docs, |range, out, walk| values.decode(range, out, walk), each))
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
        self.0.core.named(filter_numbers(&self.0.core, &self.0.values, docs, &values, bits, counts))
    }

    fn candidates(
        &self,
        docs: Range<u32>,
        values: RangeInclusive<i64>,
        counts: &mut FilterCounts,
        each: &mut dyn FnMut(Range<u32>) -> ControlFlow<()>,
    ) -> Result<()> {
        let Inner { core, values: numbers } = &*self.0;
        let docs = core.clip(docs);
        if docs.is_empty() {
            return Ok(());
        }
        if !core.is_dense() {
            let _ = each(docs);
            return Ok(());
        }
        // Values are documents here.
        let doc = |position: u64| u32::try_from(position).unwrap_or(docs.end);
        let each = |found: Range<u64>| each(doc(found.start)..doc(found.end));
        core.named(numbers.candidates(docs.start.into()..docs.end.into(), &values, counts, each))
    }

    fn open_stretches(
        &self,
        docs: Range<u32>,
        values: RangeInclusive<i64>,
        finely: bool,
        counts: &mut FilterCounts,
        bits: &mut [u64],
    ) -> Result<()> {
        let Inner { core, values: numbers } = &*self.0;
        let docs = core.clip(docs);
        if docs.is_empty() {
            return Ok(());
        }
        if !core.is_dense() {
            bits::fill(bits, 0..docs.len().div_ceil(bits::STRETCH as usize));
            return Ok(());
        }
        core.named(numbers.open_stretches(docs.start.into()..docs.end.into(), &values, finely, counts, bits))
    }

    fn guess_nth(&self, n: u64, greatest: bool) -> Result<Option<i64>> {
        self.0.core.named(self.0.values.guess_nth(n, greatest))
    }
}

/// Hands out the numbers of `docs`, or their ords, batch by batch; `decode` finds those of a range of values.
pub(crate) fn scan_numbers<T: Copy + Default>(
    core: &Core,
    docs: Range<u32>,
    decode: impl Fn(Range<u64>, &mut [T], &mut NumericWalk) -> FormatResult<()>,
    each: &mut dyn FnMut(Batch<'_, &[T]>) -> ControlFlow<()>,
) -> FormatResult<()> {
    let mut walks = Walks::default();
    if core.is_dense() {
        let mut buffer = [T::default(); BATCH];
        let Range { mut start, end } = core.clip(docs);
        while start < end {
            let len = BATCH.min((end - start) as usize);
            let buffer = &mut buffer[..len];
            let next = start.saturating_add(u32::try_from(len).unwrap_or(u32::MAX));
            decode(start.into()..next.into(), buffer, &mut walks.values)?;
            let docs = BatchDocs::Run { first: DocId::new(start), len };
            if each(Batch { docs, values: buffer }).is_break() {
                break;
            }
            start = next;
        }
        return Ok(());
    }
    let mut buffer = Vec::new();
    core.windows(docs, |docs, first| {
        buffer.resize(docs.len(), T::default());
        let first = u64::from(first.get());
        decode(first..first + docs.len() as u64, &mut buffer, &mut walks.values)?;
        Ok(each(Batch { docs: BatchDocs::List(docs), values: &buffer }).is_continue())
    })
}

/// Adds the documents of `docs` whose number lies in `range`; notes in `counts` how they were found.
pub(crate) fn filter_numbers(
    core: &Core,
    values: &NumericReader<Section>,
    docs: Range<u32>,
    range: &RangeInclusive<i64>,
    bits: &mut [u64],
    counts: &mut FilterCounts,
) -> FormatResult<()> {
    check_words(&docs, bits);
    let mut walk = Default::default();
    let meta = values.meta();
    let asked = core.clip(docs.clone()).len() as u64;
    if meta.count == 0 || *range.start() > meta.max || *range.end() < meta.min {
        counts.directory += asked;
        return Ok(());
    }
    if let Some(leading) = core.leading {
        counts.order += asked;
        leading::fill(&leading.docs(core, values, range)?, &docs, bits);
        return Ok(());
    }
    core.filtered(docs, bits, counts, |indices, found, counts| {
        let indices = indices.start.into()..indices.end.into();
        values.filter_counting(indices, range.clone(), found, &mut walk, counts)
    })
}
