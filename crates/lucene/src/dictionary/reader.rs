//! The terms of a block, one after the other.
//!
//! ```text
//! block    length and bytes of the first term, and an entry for each other one
//! entry    token (1): in the lower four bits, bytes shared with the term before; in the upper ones, bytes added, less one
//!          the rest of either number, if it is 15; the bytes added
//! LZ4      the entries come after their length, compressed; in Lucene 9, with the first term as dictionary
//! ```

use super::{Compression, Dictionary, LZ4_SHIFT, MAX_TERM};
use crate::bytes::{Bytes, append};
use crate::error::Result;
use crate::lz4::Decoder;

/// Bytes of the longest block after its first term: a token and two lengths for each.
pub(super) const MAX_BLOCK: usize = (MAX_TERM + 11) << LZ4_SHIFT;

/// Bytes of a compressed block that are decompressed at once: a look-up of a term needs half of a block on average.
const PIECE: usize = 128;

/// A position in a dictionary, with the term that is there.
pub(super) struct Reader<'d> {
    dictionary: &'d Dictionary,
    /// The block of the term; `u32::MAX` before the first one.
    block: u32,
    pub(super) ord: u32,
    pub(super) term: Vec<u8>,
    /// Terms of the block after this one.
    pub(super) left: u32,
    /// The bytes of the block after its first term, if they are not compressed.
    bytes: &'d [u8],
    /// Those of a compressed block. They begin with the first term, if it is a dictionary.
    decompressed: Vec<u8>,
    /// Decompresses the rest of the block, from the place that was reached on.
    rest: Decoder<'d>,
    /// The place after this term in one of them.
    at: usize,
}

impl<'d> Reader<'d> {
    pub(super) fn of(dictionary: &'d Dictionary) -> Reader<'d> {
        let (term, decompressed, rest) = (Vec::new(), Vec::new(), Decoder::default());
        Reader { dictionary, block: u32::MAX, ord: 0, term, left: 0, bytes: &[], decompressed, rest, at: 0 }
    }

    /// Moves to the first term of a block.
    pub(super) fn begin(&mut self, block: u32) -> Result<()> {
        let dictionary = self.dictionary;
        let (first, mut rest) = dictionary.first(block)?;
        self.block = u32::MAX;
        self.term.clear();
        self.term.extend_from_slice(first);
        (self.bytes, self.at) = (rest.0, 0);
        self.ord = block << dictionary.shift;
        self.left = dictionary.terms_of(block).saturating_sub(1);
        if dictionary.compression != Compression::None && self.left > 0 {
            let len = rest.length().filter(|len| *len <= MAX_BLOCK);
            let len = len.ok_or_else(|| dictionary.damaged(block))?;
            self.decompressed.clear();
            if dictionary.compression == Compression::Lz4AfterFirst {
                self.decompressed.extend_from_slice(first);
            }
            self.at = self.decompressed.len();
            let decoder = Decoder::new(rest.0, len, &mut self.decompressed);
            self.rest = decoder.ok_or_else(|| dictionary.damaged(block))?;
        }
        self.block = block;
        Ok(())
    }

    /// Moves to the next term of the block, of which some are left.
    pub(super) fn advance(&mut self) -> Result<()> {
        let dictionary = self.dictionary;
        let taken = match dictionary.compression {
            Compression::None => {
                self.bytes.get(self.at..).and_then(|bytes| append_next(Bytes(bytes), &mut self.term))
            }
            Compression::Lz4 | Compression::Lz4AfterFirst => self.append_compressed(),
        };
        self.at += taken.ok_or_else(|| dictionary.damaged(self.ord >> dictionary.shift))?;
        self.ord += 1;
        self.left = self.left.saturating_sub(1);
        Ok(())
    }

    /// As [`append_next`], from a compressed block. Decompresses what the term needs.
    fn append_compressed(&mut self) -> Option<usize> {
        let mut has_all = false;
        loop {
            let bytes = self.decompressed.get(self.at..)?;
            match append_next(Bytes(bytes), &mut self.term) {
                Some(taken) => return Some(taken),
                None if has_all => return None,
                None => {}
            }
            has_all = self.rest.read(self.decompressed.len() + PIECE, &mut self.decompressed)?;
        }
    }

    /// Moves to the term of an ord, which exists. Terms of the same block are read once, if ords ascend.
    pub(super) fn seek(&mut self, ord: u32) -> Result<()> {
        let block = ord >> self.dictionary.shift;
        if block != self.block || ord < self.ord {
            self.begin(block)?;
        }
        while self.ord < ord {
            self.advance()?;
        }
        Ok(())
    }
}

/// Replaces `term` by the one after it, and returns how many of `bytes` it takes. `None`, and no change, if they end before.
fn append_next(mut bytes: Bytes<'_>, term: &mut Vec<u8>) -> Option<usize> {
    let all = bytes.0.len();
    let token = bytes.u8()?;
    let (mut shared, mut len) = (usize::from(token & 15), usize::from(token >> 4) + 1);
    if shared == 15 {
        shared = shared.checked_add(bytes.length()?)?;
    }
    if len == 16 {
        len = len.checked_add(bytes.length()?)?;
    }
    let added = bytes.0;
    bytes.take(len)?;
    if shared > term.len() || shared + len > MAX_TERM {
        return None;
    }
    term.truncate(shared);
    append(term, added, len)?;
    Some(all - bytes.0.len())
}
