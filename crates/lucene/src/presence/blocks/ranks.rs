//! The ranks of documents: the number of values of earlier ones.

use docvalues_column::DocId;
use docvalues_format::bits::{Work, multiversioned};
use docvalues_format::presence::NO_VALUE;

use super::lows::gallop;
use super::{Block, Blocks, SPARSE, probe_at};
use crate::error::Result;

impl Blocks {
    /// As [`Presence::ranks`](crate::presence::Presence::ranks).
    pub(in crate::presence) fn ranks(&self, docs: &[DocId], out: &mut [u32]) -> Result<bool> {
        multiversioned(Ranks { blocks: self, docs, out })
    }

    #[inline(always)]
    fn ranks_here(&self, docs: &[DocId], out: &mut [u32]) -> Result<bool> {
        let (bytes, order) = (self.body.bytes(), self.body.order);
        let mut block = Block { before: 0, values: 0, start: 0, ranks: 0 };
        let (mut number, mut bitmap, mut are_all) = (u32::MAX, None, true);
        // The document before, and its place in a sparse block: the next one of an ascending list is close.
        let (mut place, mut before) = (0, None);
        for (doc, out) in docs.iter().zip(out) {
            if doc.get() >= self.docs {
                (*out, are_all) = (NO_VALUE, false);
                continue;
            }
            let (here, low) = doc.split();
            if here != number {
                (block, number, before) = (self.block(bytes, here)?, here, None);
                bitmap = if block.is_dense() { self.bitmap(bytes, block) } else { None };
            }
            let probe = if let Some(bitmap) = &bitmap {
                bitmap.probe(order, low)
            } else if (1..=SPARSE).contains(&block.values) && before.is_some_and(|before| before <= low) {
                block.lows(bytes).map(|lows| {
                    place = gallop(lows, order, place, low);
                    probe_at(lows, order, low, place)
                })
            } else {
                let probe = self.probe(bytes, block, low);
                place = probe.as_ref().map_or(0, |probe| probe.before as usize);
                probe
            };
            before = Some(low);
            let Some(probe) = probe else {
                return Err(self.body.broken(block.start, "a damaged block of presence"));
            };
            *out = if probe.is_present { block.before + probe.before } else { NO_VALUE };
            are_all &= probe.is_present;
        }
        Ok(are_all)
    }

    /// Whether a document, which exists, has a value, and the number of values of earlier ones.
    pub(in crate::presence) fn find(&self, doc: DocId) -> Result<(bool, u32)> {
        multiversioned(Find { blocks: self, doc })
    }
}

/// [`Blocks::ranks`], compiled for several CPUs, because bits of bitmaps are counted.
struct Ranks<'a> {
    blocks: &'a Blocks,
    docs: &'a [DocId],
    out: &'a mut [u32],
}

impl Work for Ranks<'_> {
    type Output = Result<bool>;

    #[inline(always)]
    fn run(self) -> Result<bool> {
        self.blocks.ranks_here(self.docs, self.out)
    }
}

/// [`Blocks::find`], compiled as [`Ranks`] is.
struct Find<'a> {
    blocks: &'a Blocks,
    doc: DocId,
}

impl Work for Find<'_> {
    type Output = Result<(bool, u32)>;

    #[inline(always)]
    fn run(self) -> Result<(bool, u32)> {
        let Find { blocks, doc } = self;
        let ((number, low), bytes) = (doc.split(), blocks.body.bytes());
        let block = blocks.block(bytes, number)?;
        match blocks.probe(bytes, block, low) {
            Some(probe) => Ok((probe.is_present, block.before + probe.before)),
            None => Err(blocks.body.broken(block.start, "a damaged block of presence")),
        }
    }
}
