//! The header of a presence block, and its entry in the jump table.
//!
//! A block covers [`BLOCK_DOCS`](crate::id::BLOCK_DOCS) documents; the last one of a segment covers the remaining ones.
//! Blocks lie end to end, each a header and a payload. The header determines the length of the payload, which is a
//! multiple of 8, so a reader can walk the blocks without a jump table.
//!
//! The header, 8 bytes:
//!
//! | offset | bytes | field | meaning |
//! | -----: | ----: | --- | --- |
//! | 0 | 1 | `kind` | which payload follows: [`Kind`] |
//! | 1 | 1 | zero | |
//! | 2 | 2 | `runs` | number of runs of a *runs* block; 0 in the others |
//! | 4 | 4 | `values` | documents of the block with a value |
//! | 8 | | *end* | |
//!
//! Its entry in the jump table, 16 bytes, so that none straddles a cache line:
//!
//! | offset | bytes | field | meaning |
//! | -----: | ----: | --- | --- |
//! | 0 | 4 | `before` | values in all blocks before this one |
//! | 4 | 4 | `payload` | where the payload begins in the section, in units of 8 bytes |
//! | 8 | 4 | `values` | as in the header |
//! | 12 | 1 | `kind` | as in the header |
//! | 13 | 1 | zero | |
//! | 14 | 2 | `runs` | as in the header |
//! | 16 | | *end* | |
//!
//! # Drawing
//!
//! ```text
//!           block 0                 block 1                    block 2
//! section   | header | payload    | header | payload         | header | payload |
//!             8        8 * n        8        8 * m             8        8 * k      bytes
//! table     | entry 0 | entry 1 | entry 2 |
//!             16        16        16                                               bytes
//! ```
//!
//! A lookup of document *d* reads entry `d >> 16` of the table: the kind selects the code, `payload` the bytes, and
//! `before` is added to the rank in the block. The header repeats the entry's fields for readers without a table, which
//! walk the blocks as Lucene 7 did (LUCENE-7489 introduced such blocks, LUCENE-8585 the table).

use crate::cursor::Put;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::jump::Entry;
use crate::named::named;

/// Alignment: the length of a payload, and so the offset of every block, is a multiple of this.
pub(super) const UNIT: usize = 8;

named! {
    /// The layout of a block's payload.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[repr(u8)]
    pub enum Kind {
        /// No document has a value; no payload.
        Empty = 0 => "empty",
        /// All documents have a value; no payload.
        Full = 1 => "full",
        /// Up to 256 document numbers.
        List = 2 => "list",
        /// A byte for each document, in buckets of 256 documents.
        Sparse = 3 => "sparse",
        /// A bitmap with rank entries.
        Dense = 4 => "dense",
        /// Runs of documents with a value.
        Runs = 5 => "runs",
    }
}

impl Kind {
    /// The tag byte of this kind.
    pub const fn tag(self) -> u8 {
        self as u8
    }

    /// The kind with this tag byte.
    #[inline]
    pub fn from_tag(tag: u8) -> Option<Kind> {
        Kind::ALL.get(usize::from(tag)).copied()
    }
}

/// The fields of a block header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) runs: u16,
    pub(super) values: u32,
}

impl Header {
    pub(super) const LEN: usize = 8;

    pub(super) fn encode(self, out: &mut Vec<u8>) {
        out.put_u8(self.kind.tag());
        out.put_u8(0);
        out.put_u16(self.runs);
        out.put_u32(self.values);
    }

    pub(super) fn parse(place: Place, at: usize, bytes: &[u8; Header::LEN]) -> Result<Header> {
        let [kind, values] = words(bytes);
        Header::of(kind, values).map_err(|kind| Error::at(place, at, kind))
    }

    /// The header with these fields; `kind` packs the kind, a zero byte and the number of runs.
    #[inline]
    fn of(kind: u32, values: u32) -> Result<Header, ErrorKind> {
        let [tag, zero, r0, r1] = kind.to_le_bytes();
        ErrorKind::rule(zero == 0, "the byte after a presence block's kind is not zero")?;
        let unknown = ErrorKind::UnknownTag { what: "kind of presence block", tag };
        Ok(Header { kind: Kind::from_tag(tag).ok_or(unknown)?, runs: u16::from_le_bytes([r0, r1]), values })
    }
}

/// The first `N` fields of four bytes each.
#[inline(always)]
fn words<const N: usize>(bytes: &[u8]) -> [u32; N] {
    // A loop, because a closure is not inlined into the large functions that look up one value.
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    words
}

/// An entry of the jump table: the position of a block, and its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockEntry {
    /// Values in the blocks before.
    pub before: u32,
    /// Offset of the payload, in units of 8 bytes. The 2^35 bytes that it can address are twice what 65,536 blocks of
    /// the most runs would take.
    payload: u32,
    pub(super) header: Header,
}

impl BlockEntry {
    pub(super) const LEN: usize = 16;

    /// The entry of a block with this `header`, whose payload begins at byte `payload`; `None` if that exceeds the
    /// field.
    pub(super) fn new(before: u32, payload: usize, header: Header) -> Option<BlockEntry> {
        let payload = u32::try_from(payload / UNIT).ok()?;
        Some(BlockEntry { before, payload, header })
    }

    /// Byte of the section at which the payload begins.
    pub(super) const fn payload(&self) -> usize {
        (self.payload as usize).saturating_mul(UNIT)
    }

    /// The fields of an entry, unchecked: values before, byte at which the payload begins, values, and the last four
    /// bytes, which equal the kind's tag if the block has no runs.
    #[inline(always)]
    pub(super) fn fields(bytes: &[u8; BlockEntry::LEN]) -> (u32, usize, u32, u32) {
        let [before, payload, values, kind] = words(bytes);
        (before, (payload as usize).saturating_mul(UNIT), values, kind)
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_u32(self.before);
        out.put_u32(self.payload);
        out.put_u32(self.header.values);
        out.put_u8(self.header.kind.tag());
        out.put_u8(0);
        out.put_u16(self.header.runs);
    }
}

impl Entry for BlockEntry {
    #[inline]
    fn parse(place: Place, at: usize, bytes: &[u8]) -> Result<BlockEntry> {
        let short = || Error::truncated(place, at, BlockEntry::LEN, bytes.len());
        let [before, payload, values, kind] =
            words(bytes.first_chunk::<{ BlockEntry::LEN }>().ok_or_else(short)?);
        let header = Header::of(kind, values).map_err(|kind| Error::at(place, at, kind))?;
        Ok(BlockEntry { before, payload, header })
    }
}
