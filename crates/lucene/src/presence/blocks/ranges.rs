//! The documents of a range that have a value: as bits, and as a list.

use docvalues_column::{DocId, DocRange, bits};
use docvalues_format::bits::{or_at, push_docs};
use docvalues_format::id::BLOCK_DOCS;

use super::lows::{gallop, low_of, lower_bound};
use super::{Block, Blocks, SPARSE, WORDS};
use crate::error::Result;
use crate::order::Order;

/// The part of a block that lies in a range of documents.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// The first document of the block.
    base: u32,
    /// The documents of the part, counted from there. They are not empty.
    start: u32,
    end: u32,
}

impl Blocks {
    /// As [`Presence::exists`](crate::presence::Presence::exists), of documents that exist.
    pub(in crate::presence) fn exists(&self, docs: DocRange, out: &mut [u64]) -> Result<()> {
        self.each_part(docs, |block, part| self.add_to(block, part, docs.start, out))
    }

    /// As [`Presence::collect`](crate::presence::Presence::collect), of documents that exist.
    pub(in crate::presence) fn collect(&self, docs: DocRange, out: &mut Vec<DocId>) -> Result<()> {
        self.each_part(docs, |block, part| self.push_to(block, part, out))
    }

    /// Calls `each` with the parts of blocks that lie in `docs`, if these have values. It returns `None` in damaged bytes.
    fn each_part(&self, docs: DocRange, mut each: impl FnMut(Block, Part) -> Option<()>) -> Result<()> {
        let (bytes, mut start) = (self.body.bytes(), docs.start);
        while start < docs.end {
            let number = start / BLOCK_DOCS;
            let base = number * BLOCK_DOCS;
            let end = (docs.end - base).min(BLOCK_DOCS);
            let part = Part { base, start: start - base, end };
            let block = self.block(bytes, number)?;
            if block.values > 0 && each(block, part).is_none() {
                return Err(self.body.broken(block.start, "a damaged block of presence"));
            }
            start = base.saturating_add(end);
        }
        Ok(())
    }

    /// Sets the bits of the documents of a part. Bit 0 is document `first`.
    fn add_to(&self, block: Block, part: Part, first: u32, out: &mut [u64]) -> Option<()> {
        let place = |low: u32| (part.base + low - first) as usize;
        match block.values {
            ..=SPARSE => {
                let order = self.body.order;
                for low in part.lows(block.lows(self.body.bytes())?, order)? {
                    bits::set(out, place(low_of(*low, order).into()));
                }
            }
            BLOCK_DOCS => bits::set_range(out, place(part.start)..place(part.end - 1) + 1),
            _ => {
                for word in part.start / 64..part.end.div_ceil(64) {
                    let some = self.word(block, part, word)?;
                    match (part.base + 64 * word).checked_sub(first) {
                        Some(place) => or_at(out, place as usize, some),
                        // The bits below the first one of the part are clear.
                        None => or_at(out, 0, some >> (first - part.base - 64 * word)),
                    }
                }
            }
        }
        Some(())
    }

    /// Appends the documents of a part.
    fn push_to(&self, block: Block, part: Part, out: &mut Vec<DocId>) -> Option<()> {
        match block.values {
            ..=SPARSE => {
                let order = self.body.order;
                let lows = part.lows(block.lows(self.body.bytes())?, order)?.iter();
                out.extend(lows.map(|low| DocId::new(part.base + u32::from(low_of(*low, order)))));
            }
            BLOCK_DOCS => out.extend((part.start..part.end).map(|low| DocId::new(part.base + low))),
            _ => {
                let (first, mut words) = (part.start / 64, [0; WORDS]);
                let words = &mut words[..(part.end.div_ceil(64) - first) as usize];
                for (word, at) in words.iter_mut().zip(first..) {
                    *word = self.word(block, part, at)?;
                }
                push_docs(words, part.base + 64 * first, out);
            }
        }
        Some(())
    }

    /// Word `at` of the bitmap of a dense block, without bits outside of the part.
    #[inline]
    fn word(&self, block: Block, part: Part, at: u32) -> Option<u64> {
        let word = self.body.order.u64(self.body.bytes(), block.start + 8 * at as usize)?;
        let below = u64::MAX.unbounded_shl(part.start.saturating_sub(64 * at));
        let above = u64::MAX.unbounded_shr((64 * at + 64).saturating_sub(part.end));
        Some(word & below & above)
    }
}

impl Part {
    /// The documents of a sparse block that lie in the part; `None` if they do not ascend.
    fn lows(self, lows: &[[u8; 2]], order: Order) -> Option<&[[u8; 2]]> {
        let first = u16::try_from(self.start).map_or(lows.len(), |start| lower_bound(lows, order, start));
        let end = u16::try_from(self.end).map_or(lows.len(), |end| gallop(lows, order, first, end));
        let inside = &lows[first..end];
        // No early exit, so that the comparisons are vectorized.
        let pairs = inside.iter().zip(inside.get(1..).unwrap_or_default());
        let ascend =
            pairs.fold(true, |ascend, (low, next)| ascend & (low_of(*low, order) < low_of(*next, order)));
        let fits = |low: &[u8; 2]| (self.start..self.end).contains(&u32::from(low_of(*low, order)));
        (ascend && inside.first().is_none_or(fits) && inside.last().is_none_or(fits)).then_some(inside)
    }
}
