//! The *list* block: the numbers of up to 256 documents.
//!
//! It is the smallest layout for few documents: at most 512 bytes, while the starts of a sparse block alone occupy 520.
//!
//! | offset | bytes | field | meaning |
//! | -----: | ----: | --- | --- |
//! | 0 | 2 × `values` | `docs[i]`, u16 | the documents with a value, ascending |
//! | | 0, 2, 4 or 6 | zero | up to a multiple of 8 |
//!
//! `rank` is a binary search of at most nine steps over eight cache lines. That bound is why longer lists are refused,
//! although up to 520 documents they would be shorter than a sparse block.
//!
//! # Drawing
//!
//! Documents 2, 5 and 64 of a block:
//!
//! ```text
//! docs   02 00   05 00   40 00   00 00     three u16s, then zeros up to a multiple of 8
//! rank(5) = 1: document 5 is found at index 1
//! ```

use std::ops::Range;

use super::bitmap::{Words, number, ones, short, u16s};
use super::block::{Block, Probe};
use super::visitor::Visitor;
use crate::cursor::Put;
use crate::error::Result;
use crate::source::SectionBytes;

/// The most documents in a list.
pub(super) const MOST: u32 = 256;

const DOC: usize = size_of::<u16>();

/// Bytes of payload, without padding.
pub(super) const fn len(values: u32) -> usize {
    values as usize * DOC
}

pub(super) fn encode(words: &Words, out: &mut Vec<u8>) {
    for low in ones(words) {
        out.put_u16(short(low));
    }
}

pub(super) fn probe<B: SectionBytes>(block: &Block<'_, B>, low: u32) -> Result<Probe> {
    let place = docs(block)?.binary_search_by_key(&low, number);
    let (Ok(at) | Err(at)) = place;
    #[expect(clippy::cast_possible_truncation, reason = "a list has at most 256 documents")]
    Ok(Probe { before: at as u32, present: place.is_ok() })
}

pub(super) fn visit<B: SectionBytes>(
    block: &Block<'_, B>,
    lows: Range<u32>,
    first: u32,
    visitor: &mut impl Visitor,
) -> Result<()> {
    let docs = docs(block)?;
    let head = docs.partition_point(|doc| number(doc) < lows.start);
    let mut least = lows.start;
    for (i, doc) in docs.iter().enumerate().skip(head) {
        let low = number(doc);
        if low >= lows.end {
            break;
        }
        if low < least {
            return Err(block.broken(i * DOC, "the documents of a presence list do not ascend"));
        }
        least = low + 1;
        visitor.one(first + low);
    }
    Ok(())
}

fn docs<'a, B: SectionBytes>(block: &Block<'a, B>) -> Result<&'a [[u8; DOC]]> {
    Ok(u16s(block.slice(0..len(block.header.values))?))
}
