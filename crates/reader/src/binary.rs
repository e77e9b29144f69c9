//! Binary columns of a segment.

use std::ops::{Bound, ControlFlow, Range, RangeBounds};
use std::sync::Arc;

use docvalues_column::{Batch, BatchDocs, BinaryColumn, DocId, Lists, Result, Slices};
use docvalues_format::binary::{BinaryReader, Scratch};
use docvalues_storage::Section;

use crate::core::{Core, Parts, Walks, check_words, clear_present, mark_present};
use crate::cursor::Cursor;
use crate::typed::HasCore;

/// A column with at most one byte string a document.
///
/// Owns what it needs: it outlives the [`Segment`](crate::Segment) it came from, is cheap to clone
/// and can be read by any number of threads.
///
/// # Complexity
///
/// `get`: O(1) with jump tables; without a copy where values are not compressed. Values compressed in
/// blocks are quicker read by a [cursor](Binary::cursor) or [`gather`](BinaryColumn::gather), in order.
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
            values.gather(indices.each, &mut walks.offsets, &mut scratch, each)
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
        let Cursor { column, walks, scratch } = self;
        let Inner { core, values } = &*column.0;
        match core.named(core.presence.rank(doc, &mut walks.presence))? {
            Some(index) => {
                let value = values.get_next(index.get().into(), &mut walks.offsets, scratch);
                core.named(value).map(Some)
            }
            None => Ok(None),
        }
    }
}

impl HasCore for Binary {
    fn core(&self) -> &Core {
        &self.0.core
    }
}

impl BinaryColumn for Binary {
    fn get<'a>(&'a self, doc: DocId, buffer: &'a mut Vec<u8>) -> Result<Option<&'a [u8]>> {
        let Inner { core, values } = &*self.0;
        let mut walks = Walks::default();
        match core.named(core.presence.rank(doc, &mut walks.presence))? {
            Some(index) => core.named(values.get(index.get().into(), &mut walks.offsets, buffer)).map(Some),
            None => Ok(None),
        }
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
            let (mut docs, mut first) = (docs, u64::from(first.get()));
            while !docs.is_empty() {
                let strings =
                    values.decode(first..first + docs.len() as u64, &mut walks.offsets, &mut scratch)?;
                let (now, later) = docs.split_at(strings.len());
                let values = Slices::new(strings.offsets, strings.bytes);
                if each(Batch { docs: BatchDocs::List(now), values }).is_break() {
                    return Ok(false);
                }
                (docs, first) = (later, first + now.len() as u64);
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
