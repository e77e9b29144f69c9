//! Binary columns of a segment.

use std::ops::{Bound, ControlFlow, Range, RangeBounds};
use std::sync::Arc;

use docvalues_column::{Batch, BatchDocs, BinaryColumn, DocId, Lists, Result, Slices};
use docvalues_format::binary::{BinaryReader, Scratch};
use docvalues_storage::Section;

use crate::core::{Core, FormatResult, Parts, Walks, check_words, clear_present, mark_present};
use crate::cursor::Cursor;
use crate::typed::HasCore;

/// A column with at most one byte string a document.
///
/// Owns what it needs: it outlives the [`Segment`](crate::Segment) it came from, is cheap to clone
/// and can be read by any number of threads.
///
/// # Complexity
///
/// `get`: O(1) with jump tables; without a copy where values are not compressed.
#[derive(Clone, Debug)]
pub struct Binary(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    core: Core,
    values: BinaryReader<Section>,
}

impl Binary {
    pub(crate) fn new(core: Core, values: BinaryReader<Section>) -> Binary {
        Binary(Arc::new(Inner { core, values }))
    }

    pub(crate) fn parts(&self) -> Parts<'_> {
        let Inner { core, values } = &*self.0;
        Parts { core, offsets: None, numbers: None, binary: Some(values), terms: None }
    }

    fn read<'a>(
        &'a self,
        doc: DocId,
        walks: &mut Walks,
        buffer: &'a mut Vec<u8>,
    ) -> FormatResult<Option<&'a [u8]>> {
        let Inner { core, values } = &*self.0;
        match core.presence.rank(doc, &mut walks.presence)? {
            Some(index) => values.get(index.get().into(), &mut walks.offsets, buffer).map(Some),
            None => Ok(None),
        }
    }

    fn read_many(
        &self,
        docs: &[DocId],
        out: &mut Lists<u8>,
        fill: &[u8],
        mut present: Option<&mut [u64]>,
    ) -> Result<()> {
        let Inner { core, values } = &*self.0;
        let (mut walks, mut scratch) = (Walks::default(), Scratch::default());
        out.clear();
        clear_present(docs, present.as_deref_mut());
        core.named(core.ranked(docs, &mut walks.presence, |place, indices| {
            mark_present(place.start, indices, present.as_deref_mut());
            let each = |value: Option<&[u8]>| out.push(value.unwrap_or(fill));
            values.gather(indices, &mut walks.offsets, &mut scratch, each)
        }))
    }
}

impl Cursor<'_, Binary> {
    /// The value of `doc`; `None` if it has none or lies past the last document.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    pub fn get(&mut self, doc: DocId) -> Result<Option<&[u8]>> {
        let result = self.column.read(doc, &mut self.walks, &mut self.buffer);
        self.column.0.core.named(result)
    }
}

impl HasCore for Binary {
    fn core(&self) -> &Core {
        &self.0.core
    }
}

impl BinaryColumn for Binary {
    fn get<'a>(&'a self, doc: DocId, buffer: &'a mut Vec<u8>) -> Result<Option<&'a [u8]>> {
        self.0.core.named(self.read(doc, &mut Walks::default(), buffer))
    }

    fn gather(&self, docs: &[DocId], out: &mut Lists<u8>, present: &mut [u64]) -> Result<()> {
        self.read_many(docs, out, &[], Some(present))
    }

    fn gather_or(&self, docs: &[DocId], out: &mut Lists<u8>, fill: &[u8]) -> Result<()> {
        self.read_many(docs, out, fill, None)
    }

    fn scan(
        &self,
        docs: Range<u32>,
        each: &mut dyn FnMut(Batch<'_, Slices<'_, u8>>) -> ControlFlow<()>,
    ) -> Result<()> {
        let Inner { core, values } = &*self.0;
        let (mut walks, mut scratch) = (Walks::default(), Scratch::default());
        core.named(core.windows(docs, |docs, first| {
            let mut first = u64::from(first.get());
            for docs in docs.chunks(values.stretch()) {
                let next = first + docs.len() as u64;
                let strings = values.decode(first..next, &mut walks.offsets, &mut scratch)?;
                let values = Slices::new(strings.offsets, strings.bytes);
                if each(Batch { docs: BatchDocs::List(docs), values }).is_break() {
                    return Ok(false);
                }
                first = next;
            }
            Ok(true)
        }))
    }

    fn filter(
        &self,
        docs: Range<u32>,
        low: Bound<&[u8]>,
        high: Bound<&[u8]>,
        bits: &mut [u64],
    ) -> Result<()> {
        check_words(&docs, bits);
        let start = docs.start;
        self.scan(docs, &mut |batch| {
            for (doc, value) in batch.docs.iter().zip(batch.values.iter()) {
                let bit = (doc.get() - start) as usize;
                bits[bit / 64] |= u64::from((low, high).contains(value)) << (bit % 64);
            }
            ControlFlow::Continue(())
        })
    }
}
