//! Dictionaries: the terms of a column of ords, in blocks.
//!
//! ```text
//! entry     number of terms, a code of the blocks up to Lucene 8, and the sequence of their places; lengths of the longest
//!           term, and of the longest block if they are compressed; place and length of the blocks and of their places;
//!           the same of the index
//! blocks    of 16 terms, not compressed; or of 64, LZ4: from Lucene 8.7 on
//! ```
//!
//! Lucene also stores an index of every 1,024th term. It is not read: a search compares first terms of blocks, as many of
//! them as keys and first terms together.

mod reader;

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use docvalues_column::{ErrorKind as ColumnErrorKind, Lists, OrdRange, TermOrd, Terms};

use reader::Reader;

use crate::bytes::Bytes;
use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::file::Body;
use crate::monotonic::{Monotonic, MonotonicEntry};

/// The layouts of dictionaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TermsLayout {
    /// Lucene 7 to 8.11: a code says how blocks are stored.
    Coded,
    /// Lucene 9 and later: LZ4 with the first term of a block as dictionary.
    V90,
}

/// How the terms of a block after the first are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    None,
    Lz4,
    /// LZ4 that may refer to the first term.
    Lz4AfterFirst,
}

/// The codes of [`TermsLayout::Coded`]: a shift of 4, and LZ4 with a shift of 6.
const PLAIN: i32 = 4;
const COMPRESSED: i32 = 0x0006_0001;

/// The most terms of a block, as a power of two, in [`COMPRESSED`] blocks and those of Lucene 9.
const LZ4_SHIFT: u32 = 6;

/// Bytes of the longest term that Lucene writes.
pub(crate) const MAX_TERM: usize = 32_766;

/// The entry of a dictionary in metadata.
#[derive(Clone, Debug)]
pub(crate) struct TermsEntry {
    count: u32,
    compression: Compression,
    shift: u32,
    blocks: MonotonicEntry,
    terms: (i64, i64),
    addresses: (i64, i64),
    /// Bytes of the index of terms, and of its addresses.
    index: [i64; 2],
}

impl TermsEntry {
    /// Reads an entry.
    pub(crate) fn read(cursor: &mut Cursor<'_>, layout: TermsLayout) -> Result<TermsEntry> {
        let count = cursor.vlong()?;
        cursor.within("terms", count, 0, i64::from(u32::MAX) - 1)?;
        let (compression, shift) = match layout {
            TermsLayout::V90 => (Compression::Lz4AfterFirst, LZ4_SHIFT),
            TermsLayout::Coded => match cursor.i32()? {
                PLAIN => (Compression::None, PLAIN.unsigned_abs()),
                COMPRESSED => (Compression::Lz4, LZ4_SHIFT),
                found => {
                    let (what, found) = ("code of blocks of terms", found.into());
                    let (least, most) = (PLAIN.into(), COMPRESSED.into());
                    return Err(cursor.refuse(ErrorKind::OutOfRange { what, found, least, most }));
                }
            },
        };
        let monotonic_shift = cursor.i32()?;
        let terms = count.unsigned_abs();
        let blocks = MonotonicEntry::read(cursor, terms.div_ceil(1 << shift), monotonic_shift)?;
        let _longest_term = cursor.i32()?;
        if compression != Compression::None {
            let _longest_block = cursor.i32()?;
        }
        let places = ((cursor.i64()?, cursor.i64()?), (cursor.i64()?, cursor.i64()?));
        // The index of terms.
        let index_shift = cursor.i32()?;
        cursor.within("shift of the index of terms", index_shift.into(), 0, 31)?;
        let keys = terms.div_ceil(1 << index_shift) + 1;
        let _keys = MonotonicEntry::read(cursor, keys, monotonic_shift)?;
        let index = [(cursor.i64()?, cursor.i64()?), (cursor.i64()?, cursor.i64()?)];
        Ok(TermsEntry {
            count: u32::try_from(count).unwrap_or(0),
            compression,
            shift,
            blocks,
            terms: places.0,
            addresses: places.1,
            index: index.map(|(_, len)| len),
        })
    }

    /// Bytes of the terms, their index and addresses, as metadata has them.
    pub(crate) fn bytes(&self) -> [i64; 4] {
        [self.terms.1, self.addresses.1, self.index[0], self.index[1]]
    }
}

/// The dictionary of an open column.
#[derive(Debug)]
pub(crate) struct Dictionary {
    field: String,
    body: Arc<Body>,
    count: u32,
    compression: Compression,
    shift: u32,
    blocks: Monotonic,
    terms: Range<usize>,
}

impl Dictionary {
    /// Opens the dictionary of the column `field`.
    pub(crate) fn open(entry: &TermsEntry, field: &str, body: &Arc<Body>) -> Result<Dictionary> {
        let TermsEntry { count, compression, shift, .. } = *entry;
        let is_empty = count == 0;
        let terms = if is_empty { 0..0 } else { body.region(entry.terms.0, entry.terms.1)? };
        // Compressed, the 64 terms of a block take eight bytes or more; others take more.
        let (needed, left) = (u64::from(count / 8), terms.len() as u64);
        if needed > left {
            return Err(body.error(terms.start, ErrorKind::Truncated { needed, left }));
        }
        let (offset, len) = if is_empty { (body.place.start as i64, 0) } else { entry.addresses };
        let blocks = Monotonic::open(&entry.blocks, body, offset, len)?;
        Ok(Dictionary {
            field: field.to_owned(),
            body: Arc::clone(body),
            count,
            compression,
            shift,
            blocks,
            terms,
        })
    }

    /// The number of terms.
    pub(crate) fn len(&self) -> u32 {
        self.count
    }

    /// Whether it has a term.
    pub(crate) fn has(&self, term: &[u8]) -> Result<bool> {
        Ok(self.seek(term)?.is_ok())
    }

    /// The bytes of the terms from block `block` on.
    fn block(&self, block: u32) -> Result<&[u8]> {
        let start = self.blocks.get(&self.body, block.into())?;
        let start = usize::try_from(start).ok().and_then(|start| self.terms.start.checked_add(start));
        let bytes = start.and_then(|start| self.body.bytes().get(start..self.terms.end));
        bytes.ok_or_else(|| self.damaged(block))
    }

    /// The first term of a block, and the bytes after it.
    fn first(&self, block: u32) -> Result<(&[u8], Bytes<'_>)> {
        let mut bytes = Bytes(self.block(block)?);
        let first = bytes.length().filter(|len| *len <= MAX_TERM).and_then(|len| bytes.take(len));
        Ok((first.ok_or_else(|| self.damaged(block))?, bytes))
    }

    /// The terms of a block.
    fn terms_of(&self, block: u32) -> u32 {
        self.count.saturating_sub(block << self.shift).min(1 << self.shift)
    }

    /// The number of blocks whose first term is at most `term`: the term is in the last of them, if there is one.
    fn blocks_up_to(&self, term: &[u8]) -> Result<u32> {
        let (mut low, mut high) = (0, u32::try_from(self.blocks.count()).unwrap_or(u32::MAX));
        while low < high {
            let middle = low + (high - low) / 2;
            if self.first(middle)?.0 <= term { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }

    fn seek(&self, term: &[u8]) -> Result<Result<TermOrd, TermOrd>> {
        let Some(block) = self.blocks_up_to(term)?.checked_sub(1) else {
            return Ok(Err(TermOrd::new(0)));
        };
        let mut reader = Reader::of(self);
        reader.begin(block)?;
        loop {
            match reader.term.as_slice().cmp(term) {
                std::cmp::Ordering::Less if reader.left > 0 => reader.advance()?,
                std::cmp::Ordering::Less => return Ok(Err(TermOrd::new(reader.ord + 1))),
                std::cmp::Ordering::Equal => return Ok(Ok(TermOrd::new(reader.ord))),
                std::cmp::Ordering::Greater => return Ok(Err(TermOrd::new(reader.ord))),
            }
        }
    }

    fn named<T>(&self, result: Result<T>) -> docvalues_column::Result<T> {
        result.map_err(|error| error.of_column(Some(&self.field)))
    }

    /// Fails unless each of `ords` has a term.
    fn check_ords(&self, ords: &[TermOrd]) -> docvalues_column::Result<()> {
        match ords.iter().map(|ord| ord.get()).find(|ord| *ord >= self.count) {
            None => Ok(()),
            Some(ord) => {
                let (field, len) = (self.field.clone(), self.count);
                Err(ColumnErrorKind::NoSuchOrd { field, ord, len }.into())
            }
        }
    }

    #[cold]
    fn damaged(&self, block: u32) -> crate::error::Error {
        let start = self.blocks.get(&self.body, block.into()).ok();
        let start = start.and_then(|start| usize::try_from(start).ok()).filter(|at| *at < self.terms.len());
        self.body.broken(self.terms.start + start.unwrap_or(0), "a damaged block of terms")
    }
}

impl Terms for Dictionary {
    fn term_count(&self) -> u32 {
        self.count
    }

    /// In ascending order of ords, so that each block is read once.
    fn gather_terms(&self, ords: &[TermOrd], out: &mut Lists<u8>) -> docvalues_column::Result<()> {
        out.clear();
        self.check_ords(ords)?;
        let mut reader = Reader::of(self);
        if ords.is_sorted() {
            for ord in ords {
                self.named(reader.seek(ord.get()))?;
                out.push(&reader.term);
            }
            return Ok(());
        }
        let mut sorted: Vec<(TermOrd, usize)> = ords.iter().copied().zip(0..).collect();
        sorted.sort_unstable_by_key(|(ord, _)| *ord);
        // The distinct terms, and which of them is that of each ord.
        let (mut terms, mut places, mut last) = (Lists::<u8>::new(), vec![0; ords.len()], None);
        for (ord, at) in sorted {
            if last != Some(ord) {
                self.named(reader.seek(ord.get()))?;
                terms.push(&reader.term);
                last = Some(ord);
            }
            places[at] = terms.len() - 1;
        }
        places.into_iter().for_each(|place| out.push(terms.get(place)));
        Ok(())
    }

    fn term(&self, ord: TermOrd, out: &mut Vec<u8>) -> docvalues_column::Result<()> {
        self.check_ords(&[ord])?;
        let mut reader = Reader::of(self);
        reader.term = std::mem::take(out);
        let read = self.named(reader.seek(ord.get()));
        *out = reader.term;
        read
    }

    fn seek_ceil(&self, term: &[u8]) -> docvalues_column::Result<TermOrd> {
        let (Ok(ord) | Err(ord)) = self.named(self.seek(term))?;
        Ok(ord)
    }

    fn place(&self, term: &[u8]) -> docvalues_column::Result<docvalues_column::Result<TermOrd, TermOrd>> {
        self.named(self.seek(term))
    }

    fn each_term(
        &self,
        ords: OrdRange,
        each: &mut dyn FnMut(TermOrd, &[u8]) -> ControlFlow<()>,
    ) -> docvalues_column::Result<()> {
        let mut reader = Reader::of(self);
        for ord in ords.clip(self.count).iter() {
            self.named(reader.seek(ord.get()))?;
            if each(ord, &reader.term).is_break() {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, reason = "small numbers")]
pub(crate) mod tests;
