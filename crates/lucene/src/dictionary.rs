//! Dictionaries: the terms of a column of ords, in blocks.
//!
//! ```text
//! block     length and bytes of its first term, then for each other term: bytes shared with the one before, and the rest
//! blocks    of 16 terms, not compressed; or of 64, LZ4 without their first term: from Lucene 8.7 on
//! ```
//!
//! Lucene also stores an index of every 1,024th term. It is not read: a search compares first terms of blocks, as many of
//! them as keys and first terms together.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use docvalues_column::{ErrorKind as ColumnErrorKind, Lists, OrdRange, TermOrd, Terms};

use crate::bytes::Bytes;
use crate::cursor::Cursor;
use crate::error::{ErrorKind, Result};
use crate::file::Body;
use crate::lz4;
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

/// Bytes of the longest term that Lucene writes, and of the longest block after its first term: a token and two lengths for each.
pub(crate) const MAX_TERM: usize = 32_766;
const MAX_BLOCK: usize = (MAX_TERM + 11) << LZ4_SHIFT;

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

    #[cold]
    fn damaged(&self, block: u32) -> crate::error::Error {
        let start = self.blocks.get(&self.body, block.into()).ok();
        let start = start.and_then(|start| usize::try_from(start).ok()).filter(|at| *at < self.terms.len());
        self.body.broken(self.terms.start + start.unwrap_or(0), "a damaged block of terms")
    }
}

/// A position in a dictionary, with the term that is there.
struct Reader<'d> {
    dictionary: &'d Dictionary,
    /// The block of the term; `u32::MAX` before the first one.
    block: u32,
    ord: u32,
    term: Vec<u8>,
    /// Terms of the block after this one.
    left: u32,
    /// The bytes of the block after its first term, if they are not compressed.
    bytes: &'d [u8],
    /// Those of a compressed block. They begin with the first term, if it is a dictionary.
    decompressed: Vec<u8>,
    /// The place after this term in one of them.
    at: usize,
}

impl<'d> Reader<'d> {
    fn of(dictionary: &'d Dictionary) -> Reader<'d> {
        let (term, decompressed) = (Vec::new(), Vec::new());
        Reader { dictionary, block: u32::MAX, ord: 0, term, left: 0, bytes: &[], decompressed, at: 0 }
    }

    /// Moves to the first term of a block.
    fn begin(&mut self, block: u32) -> Result<()> {
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
            let read = lz4::decompress(rest.0, len, 0, &mut self.decompressed);
            read.ok_or_else(|| dictionary.damaged(block))?;
        }
        self.block = block;
        Ok(())
    }

    /// Moves to the next term of the block, of which some are left.
    fn advance(&mut self) -> Result<()> {
        let dictionary = self.dictionary;
        let is_plain = dictionary.compression == Compression::None;
        let bytes: &[u8] = if is_plain { self.bytes } else { &self.decompressed };
        let taken = bytes.get(self.at..).and_then(|bytes| append_next(Bytes(bytes), &mut self.term));
        self.at += taken.ok_or_else(|| dictionary.damaged(self.ord >> dictionary.shift))?;
        self.ord += 1;
        self.left = self.left.saturating_sub(1);
        Ok(())
    }

    /// Moves to the term of an ord, which exists. Terms of the same block are read once, if ords ascend.
    fn seek(&mut self, ord: u32) -> Result<()> {
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

/// Replaces `term` by the one after it, and returns how many of `bytes` it takes.
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
    let added = bytes.take(len)?;
    if shared > term.len() || shared + len > MAX_TERM {
        return None;
    }
    term.truncate(shared);
    term.extend_from_slice(added);
    Some(all - bytes.0.len())
}

impl Terms for Dictionary {
    fn term_count(&self) -> u32 {
        self.count
    }

    fn gather_terms(&self, ords: &[TermOrd], out: &mut Lists<u8>) -> docvalues_column::Result<()> {
        out.clear();
        let mut reader = Reader::of(self);
        for ord in ords.iter().map(|ord| ord.get()) {
            if ord >= self.count {
                let (field, len) = (self.field.clone(), self.count);
                return Err(ColumnErrorKind::NoSuchOrd { field, ord, len }.into());
            }
            self.named(reader.seek(ord))?;
            out.push(&reader.term);
        }
        Ok(())
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
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use docvalues_testkit::rng::SplitMix64;

    use super::*;
    use crate::monotonic;
    use crate::order::Order;
    use crate::testing::{Encoder, body};

    /// How a dictionary is stored: the layout, and whether its code says that it is compressed.
    pub(crate) const KINDS: [(TermsLayout, bool); 3] =
        [(TermsLayout::Coded, false), (TermsLayout::Coded, true), (TermsLayout::V90, true)];

    /// Appends the entry of ascending `terms`, and their bytes.
    pub(crate) fn encode(
        meta: &mut Encoder,
        data: &mut Encoder,
        terms: &[Vec<u8>],
        (layout, is_compressed): (TermsLayout, bool),
    ) {
        let shift = if is_compressed { 6 } else { 4 };
        let (start, mut blocks) = (data.offset(), Vec::new());
        for block in terms.chunks(1 << shift) {
            blocks.push(data.offset() - start);
            data.vint(block[0].len() as i32).bytes(&block[0]);
            let mut rest = Encoder::new(data.order);
            for pair in block.windows(2) {
                let shared = pair[0].iter().zip(&pair[1]).take_while(|(a, b)| a == b).count();
                let len = pair[1].len() - shared;
                rest.u8((shared.min(15) | (len - 1).min(15) << 4) as u8);
                if shared >= 15 {
                    rest.vint((shared - 15) as i32);
                }
                if len >= 16 {
                    rest.vint((len - 16) as i32);
                }
                rest.bytes(&pair[1][shared..]);
            }
            if is_compressed && block.len() > 1 {
                let before = if layout == TermsLayout::V90 { &block[0][..] } else { &[] };
                data.vint(rest.out.len() as i32).bytes(&lz4::tests::compress(before, &rest.out));
            } else {
                data.bytes(&rest.out);
            }
        }
        let len = data.offset() - start;
        meta.vlong(terms.len() as i64);
        if layout == TermsLayout::Coded {
            meta.i32(if is_compressed { COMPRESSED } else { PLAIN });
        }
        meta.i32(4);
        let addresses = data.offset();
        monotonic::tests::encode(meta, data, 4, &blocks);
        meta.i32(99);
        if is_compressed {
            meta.i32(9_999);
        }
        meta.i64(start).i64(len).i64(addresses).i64(data.offset() - addresses).i32(10);
        // The keys of the index are empty.
        let (index, keys) = (data.offset(), vec![0; terms.len().div_ceil(1 << 10) + 1]);
        monotonic::tests::encode(meta, data, 4, &keys);
        meta.i64(index).i64(0).i64(index).i64(data.offset() - index);
    }

    fn open(terms: &[Vec<u8>], order: Order, kind: (TermsLayout, bool)) -> Result<Dictionary> {
        let (mut meta, mut data) = (Encoder::new(order), Encoder::new(order));
        encode(&mut meta, &mut data, terms, kind);
        let meta = body(meta);
        let mut cursor = Cursor::new(&meta);
        let entry = TermsEntry::read(&mut cursor, kind.0)?;
        cursor.end()?;
        assert_eq!(entry.count as usize, terms.len());
        Dictionary::open(&entry, "host", &Arc::new(body(data)))
    }

    fn shapes() -> Vec<Vec<Vec<u8>>> {
        let mut rng = SplitMix64::new(3);
        let mut words: BTreeSet<Vec<u8>> = (0..1_500)
            .map(|at: u32| format!("host-{at:05}.of-a-long-domain.example/{}", rng.below(7)).into_bytes())
            .collect();
        words.extend([b"".to_vec(), b"host".to_vec(), vec![0xFF; 40], vec![b'h'; 300], vec![b'h'; 3_000]]);
        let all: Vec<Vec<u8>> = words.into_iter().collect();
        vec![vec![], vec![vec![]], vec![b"one".to_vec()], all[..16].to_vec(), all[..65].to_vec(), all]
    }

    fn check(read: &Dictionary, terms: &[Vec<u8>]) {
        let mut rng = SplitMix64::new(4);
        assert_eq!(read.term_count() as usize, terms.len());
        let mut out = Lists::new();
        let ascending: Vec<usize> = (0..terms.len()).collect();
        let random: Vec<usize> = (0..(terms.len() * 9).min(300)).map(|_| rng.place(terms.len())).collect();
        for list in [ascending, random] {
            let ords: Vec<TermOrd> = list.iter().map(|at| TermOrd::new(*at as u32)).collect();
            read.gather_terms(&ords, &mut out).unwrap();
            assert!(out.slices().iter().eq(list.iter().map(|at| &terms[*at][..])));
        }
        for (ord, term) in (0..).zip(terms) {
            assert_eq!(read.seek_exact(term).unwrap(), Some(TermOrd::new(ord)));
            let after = [&term[..], &[0]].concat();
            let found = read.place(&after).unwrap();
            assert_eq!(found, Err(TermOrd::new(ord + 1)));
            let half = &term[..term.len() / 2];
            let ceil = read.seek_ceil(half).unwrap().get() as usize;
            assert_eq!(ceil, terms.partition_point(|other| &other[..] < half));
        }
        let (from, to) = (terms.len() / 3, terms.len());
        let mut seen = Vec::new();
        read.each_term(OrdRange::new(from as u32, u32::MAX), &mut |ord, term| {
            seen.push((ord.get() as usize, term.to_vec()));
            ControlFlow::Continue(())
        })
        .unwrap();
        assert!(seen.into_iter().eq((from..to).map(|ord| (ord, terms[ord].clone()))));
        let past = read.gather_terms(&[TermOrd::new(to as u32)], &mut out).unwrap_err();
        assert!(matches!(past.kind(), ColumnErrorKind::NoSuchOrd { .. }));
    }

    #[test]
    fn terms_are_read_as_they_were_written() {
        for terms in shapes() {
            for kind in KINDS {
                for order in [Order::Big, Order::Little] {
                    check(&open(&terms, order, kind).unwrap(), &terms);
                }
            }
        }
    }

    #[test]
    fn terms_have_bytes() {
        // Each shares all but a byte with the one before.
        let terms: Vec<Vec<u8>> = (1..=130).map(|len| vec![b'a'; len]).collect();
        for kind in KINDS {
            for count in 1..=terms.len() {
                open(&terms[..count], Order::Little, kind).unwrap();
            }
        }
        // Four billion terms in a byte: addresses are straight lines.
        let mut meta = Encoder::new(Order::Little);
        meta.vlong(4_000_000_000).i32(22);
        let line = |meta: &mut Encoder| {
            meta.i64(0).f32(0.0).i64(0).u8(0);
        };
        (0..15).for_each(|_| line(&mut meta));
        let start = Encoder::new(Order::Little).offset();
        meta.i32(1).i32(1).i64(start).i64(1).i64(start).i64(0).i32(31);
        line(&mut meta);
        meta.i64(start).i64(0).i64(start).i64(0);
        let meta = body(meta);
        let entry = TermsEntry::read(&mut Cursor::new(&meta), TermsLayout::V90).unwrap();
        let data = Arc::new(body(Encoder::of_bytes(Order::Little, vec![0])));
        let error = Dictionary::open(&entry, "host", &data).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Truncated { needed: 500_000_000, left: 1 }), "{error}");
    }

    #[test]
    fn terms_are_as_long_as_those_of_lucene() {
        for kind in KINDS {
            for (len, is_read) in [(MAX_TERM, true), (MAX_TERM + 1, false)] {
                let alone = open(&[vec![b'a'; len]], Order::Little, kind).unwrap();
                assert_eq!(alone.gather_terms(&[TermOrd::new(0)], &mut Lists::new()).is_ok(), is_read);
                // The second term shares all but its last byte.
                let two = [vec![b'a'; len - 1], vec![b'a'; len]];
                let two = open(&two, Order::Little, kind).unwrap();
                assert_eq!(two.gather_terms(&[TermOrd::new(1)], &mut Lists::new()).is_ok(), is_read);
            }
        }
        // A compressed block of zeros, one byte longer than Lucene's longest.
        let (mut meta, mut data) = (Encoder::new(Order::Little), Encoder::new(Order::Little));
        encode(&mut meta, &mut data, &[b"a".to_vec(), b"b".to_vec()], KINDS[1]);
        let meta = body(meta);
        let mut entry = TermsEntry::read(&mut Cursor::new(&meta), KINDS[1].0).unwrap();
        for len in [MAX_BLOCK, MAX_BLOCK + 1] {
            let mut data = Encoder::new(Order::Little);
            entry.terms.0 = data.offset();
            data.vint(1).u8(b'a').vint(len as i32);
            // A literal, and a match of the others but the last.
            let matched = len - 2 - 4 - 15;
            data.bytes(&[0x1F, 0, 1, 0]).bytes(&vec![0xFF; matched / 255]).u8((matched % 255) as u8);
            data.bytes(&[0x10, 0]);
            entry.terms.1 = data.offset() - entry.terms.0;
            entry.addresses = (data.offset(), 0);
            let read = Dictionary::open(&entry, "host", &Arc::new(body(data))).unwrap();
            assert_eq!(Reader::of(&read).begin(0).is_ok(), len == MAX_BLOCK);
        }
    }

    #[test]
    fn an_error_names_the_block() {
        let terms: Vec<Vec<u8>> = (0..20).map(|at| format!("term-{at:02}").into_bytes()).collect();
        let (mut meta, mut data) = (Encoder::new(Order::Little), Encoder::new(Order::Little));
        encode(&mut meta, &mut data, &terms, KINDS[0]);
        let meta = body(meta);
        let entry = TermsEntry::read(&mut Cursor::new(&meta), KINDS[0].0).unwrap();
        // The first term of the second block, after its length, is the only one that is there as a whole.
        let at = data.out.windows(8).position(|bytes| bytes == b"\x07term-16").unwrap();
        data.out[at] = 0xFF;
        let start = data.offset() as usize - data.out.len();
        let read = Dictionary::open(&entry, "host", &Arc::new(body(data))).unwrap();
        assert_eq!(read.first(1).unwrap_err().offset(), (start + at) as u64);
    }

    #[test]
    fn hostile_bytes_are_errors_or_other_terms() {
        let terms: Vec<Vec<u8>> = (0..70).map(|at| format!("term-{at:02}").into_bytes()).collect();
        for kind in KINDS {
            let (mut meta, mut data) = (Encoder::new(Order::Little), Encoder::new(Order::Little));
            encode(&mut meta, &mut data, &terms, kind);
            let read = |meta: Vec<u8>, data: Vec<u8>| {
                let meta = body(Encoder::of_bytes(Order::Little, meta));
                let entry = TermsEntry::read(&mut Cursor::new(&meta), kind.0)?;
                let data = Arc::new(body(Encoder::of_bytes(Order::Little, data)));
                let (read, mut out) = (Dictionary::open(&entry, "host", &data)?, Lists::new());
                for ord in [0, 69, 15, 16, 64, 33] {
                    let _ = read.gather_terms(&[TermOrd::new(ord)], &mut out);
                }
                let _ = (read.seek_exact(b"term-33"), read.seek_ceil(b""), read.seek_ceil(b"zzz"));
                Ok::<(), crate::error::Error>(())
            };
            for byte in [0, 1, 0x7F, 0x80, 0xFF] {
                for at in 0..meta.out.len() {
                    let mut damaged = meta.out.clone();
                    damaged[at] = byte;
                    let _ = read(damaged, data.out.clone());
                }
                for at in 0..data.out.len() {
                    let mut damaged = data.out.clone();
                    damaged[at] = byte;
                    let _ = read(meta.out.clone(), damaged);
                }
            }
        }
    }
}
