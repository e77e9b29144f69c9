//! Opened byte strings.

use std::ops::Range;

use super::fsst::SymbolTable;
use super::{Binary, BinaryOffsets, Coding, MAX_VALUE};
use crate::error::{Error, ErrorKind, Place, Result, Section};
use crate::jump::JumpTables;
use crate::numeric::{NumericReader, NumericWalk};
use crate::source::SectionBytes;

/// Values whose offsets are looked up together.
const BATCH: usize = 128;

/// Values that are decoded together.
const STRETCH: usize = 256;

/// Codes of one batch, unless a single value has more.
const BATCH_CODES: usize = 16 << 10;

/// Memory for values that have to be decoded: the caller's, to be used again.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// Where values begin and end.
    offsets: Vec<u64>,
    /// Codes of values that lie apart.
    codes: Vec<u8>,
    /// Decoded values; only grows.
    bytes: Vec<u8>,
}

/// Values end to end.
#[derive(Clone, Copy, Debug)]
pub struct Strings<'a> {
    /// Where each begins, and where the last one ends; the first need not begin at 0.
    pub offsets: &'a [u64],
    /// Their bytes, the first value's first one first.
    pub bytes: &'a [u8],
}

/// Byte strings, opened. Raw ones are handed out as slices of the section itself; nothing is copied.
///
/// ```
/// use docvalues_format::binary::{self, BinaryOptions, BinaryReader, Compression};
/// use docvalues_format::jump::JumpTables;
/// use docvalues_format::numeric::NumericWalk;
/// use docvalues_format::source::Owned;
///
/// let options = BinaryOptions { compression: Compression::Auto, jump_tables: true };
/// let made = binary::encode(b"wrenyew".to_vec(), &[4, 4, 7], &options)?;
/// let opened = made.try_map(&mut |section, bytes| Ok::<_, std::convert::Infallible>(Owned::new(section, bytes)))?;
/// let values = BinaryReader::open(opened, JumpTables::Baked)?;
///
/// let (mut walk, mut buffer) = (NumericWalk::default(), Vec::new());
/// assert_eq!(values.get(0, &mut walk, &mut buffer)?, b"wren");
/// assert_eq!(values.get(1, &mut walk, &mut buffer)?, b"");
/// assert_eq!(values.get(2, &mut walk, &mut buffer)?, b"yew");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BinaryReader<B: SectionBytes> {
    count: u64,
    bytes: Option<B>,
    coding: OpenCoding,
    offsets: OpenOffsets<B>,
}

#[derive(Debug)]
enum OpenCoding {
    Raw,
    Fsst { total_len: u64, symbols: SymbolTable },
}

#[derive(Debug)]
enum OpenOffsets<B: SectionBytes> {
    Fixed(u32),
    Variable(NumericReader<B>),
}

impl<B: SectionBytes> BinaryReader<B> {
    /// Opens byte strings. O(1): reads no section but the symbols.
    ///
    /// # Errors
    ///
    /// When the fields disagree with each other or with the lengths of the sections, or the symbols are
    /// none.
    pub fn open(meta: Binary<B>, mode: JumpTables) -> Result<BinaryReader<B>> {
        let place = meta.bytes.as_ref().map_or(NOWHERE, B::place);
        meta.check(|section| section.len() as u64).map_err(|kind| Error::at(place, 0, kind))?;
        let offsets = match meta.offsets {
            BinaryOffsets::Fixed(len) => OpenOffsets::Fixed(len),
            BinaryOffsets::Variable(offsets) => OpenOffsets::Variable(NumericReader::open(offsets, mode)?),
        };
        let coding = match meta.coding {
            Coding::Raw => OpenCoding::Raw,
            Coding::Fsst { total_len, symbols } => {
                let section = symbols.slice(0..symbols.len())?;
                OpenCoding::Fsst { total_len, symbols: SymbolTable::parse(symbols.place(), section)? }
            }
        };
        Ok(BinaryReader { count: meta.count, bytes: meta.bytes, coding, offsets })
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Where each value begins, unless all are of one length.
    pub fn offsets(&self) -> Option<&NumericReader<B>> {
        match &self.offsets {
            OpenOffsets::Fixed(_) => None,
            OpenOffsets::Variable(offsets) => Some(offsets),
        }
    }

    /// How many values [`decode`](Self::decode) best takes at a time: what is decoded stays in the
    /// innermost cache, what is not can be any number.
    pub fn stretch(&self) -> usize {
        match &self.coding {
            OpenCoding::Raw => usize::MAX,
            OpenCoding::Fsst { .. } => STRETCH,
        }
    }

    /// Symbols of the table, if values are codes.
    pub fn symbols(&self) -> Option<usize> {
        match &self.coding {
            OpenCoding::Raw => None,
            OpenCoding::Fsst { symbols, .. } => Some(symbols.len()),
        }
    }

    /// Stored bytes of every value, if they are as many for each.
    pub fn fixed_len(&self) -> Option<u32> {
        match self.offsets {
            OpenOffsets::Fixed(len) => Some(len),
            OpenOffsets::Variable(_) => None,
        }
    }

    /// Bytes on the heap: the symbols, and the jump table of the offsets, if it was built.
    pub fn heap_bytes(&self) -> usize {
        let symbols = match &self.coding {
            OpenCoding::Raw => 0,
            OpenCoding::Fsst { symbols, .. } => symbols.heap_bytes(),
        };
        symbols + self.offsets().map_or(0, NumericReader::heap_bytes)
    }

    /// Value `index`: a slice of the section, or decoded to `buffer`, which only grows. O(1) and the
    /// value's bytes, but in [`JumpTables::Ignore`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`] past the last value; otherwise when bytes on the way cannot be read, or
    /// hold what they may not.
    #[inline]
    pub fn get<'a>(
        &'a self,
        index: u64,
        walk: &mut NumericWalk,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8]> {
        let stored = self.stored(index, walk)?;
        match &self.coding {
            OpenCoding::Raw => Ok(stored),
            OpenCoding::Fsst { symbols, .. } => {
                let len = symbols.decode(stored, buffer).ok_or_else(|| self.cut_escape())?;
                Ok(&buffer[..len])
            }
        }
    }

    /// The bytes that stand for value `index`.
    #[inline]
    fn stored(&self, index: u64, walk: &mut NumericWalk) -> Result<&[u8]> {
        if index >= self.count {
            return Err(self.outside("value index", index, self.count.saturating_sub(1)));
        }
        let (start, end) = match &self.offsets {
            // `check` found `count` times the length to be the section's, so nothing overflows here.
            OpenOffsets::Fixed(len) => (index * u64::from(*len), (index + 1) * u64::from(*len)),
            OpenOffsets::Variable(offsets) => {
                let (start, end) = offsets.get_pair(index, walk)?;
                (start.cast_unsigned(), end.cast_unsigned())
            }
        };
        self.slice(start, end)
    }

    /// The values of `range` at once. Raw ones lie end to end in the section: no copy.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get), and when an offset is below the one before it.
    pub fn decode<'a>(
        &'a self,
        range: Range<u64>,
        walk: &mut NumericWalk,
        scratch: &'a mut Scratch,
    ) -> Result<Strings<'a>> {
        if range.start > range.end || range.end > self.count {
            return Err(self.outside("end of a range of values", range.end.max(range.start), self.count));
        }
        let Scratch { offsets, bytes, .. } = scratch;
        offsets.clear();
        match &self.offsets {
            OpenOffsets::Fixed(len) => {
                offsets.extend((range.start..=range.end).map(|index| index * u64::from(*len)));
            }
            OpenOffsets::Variable(reader) => self.decode_offsets(reader, range, offsets, walk)?,
        }
        let (start, end) = offsets.first().copied().zip(offsets.last().copied()).unwrap_or((0, 0));
        let stored = self.slice(start, end)?;
        match &self.coding {
            OpenCoding::Raw => Ok(Strings { offsets, bytes: stored }),
            OpenCoding::Fsst { symbols, .. } => {
                offsets.iter_mut().for_each(|offset| *offset -= start);
                let len = symbols.decode_many(stored, bytes, offsets).ok_or_else(|| self.cut_escape())?;
                Ok(Strings { offsets, bytes: &bytes[..len] })
            }
        }
    }

    fn decode_offsets(
        &self,
        reader: &NumericReader<B>,
        range: Range<u64>,
        offsets: &mut Vec<u64>,
        walk: &mut NumericWalk,
    ) -> Result<()> {
        let mut batch = [0; BATCH];
        let (mut at, mut last, end) = (range.start, 0, range.end + 1);
        while at < end {
            let next = end.min(at + BATCH as u64);
            let batch = &mut batch[..usize::try_from(next - at).unwrap_or(BATCH)];
            reader.decode(at..next, batch, walk)?;
            for offset in batch.iter().map(|offset| offset.cast_unsigned()) {
                if offset < last {
                    return Err(self.out_of_place(last, offset));
                }
                offsets.push(offset);
                last = offset;
            }
            at = next;
        }
        Ok(())
    }

    /// Hands the values of `indices` to `each`, in any order and with repeats; `None` where an index is
    /// `u32::MAX`.
    ///
    /// First all offsets of a batch, then all bytes: neither look at memory waits for the one before.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn gather(
        &self,
        indices: &[u32],
        walk: &mut NumericWalk,
        scratch: &mut Scratch,
        mut each: impl FnMut(Option<&[u8]>),
    ) -> Result<()> {
        for indices in indices.chunks(BATCH) {
            let mut places = [(0, 0); BATCH];
            let places = &mut places[..indices.len()];
            self.places(indices, places, walk)?;
            match &self.coding {
                OpenCoding::Raw => {
                    for (&index, &(start, end)) in indices.iter().zip(&*places) {
                        each(if index == u32::MAX { None } else { Some(self.slice(start, end)?) });
                    }
                }
                OpenCoding::Fsst { symbols, .. } => {
                    self.gather_codes(symbols, indices, places, scratch, &mut each)?;
                }
            }
        }
        Ok(())
    }

    /// Where the values of at most [`BATCH`] `indices` begin and end; unspecified for `u32::MAX`.
    fn places(&self, indices: &[u32], places: &mut [(u64, u64)], walk: &mut NumericWalk) -> Result<()> {
        let wanted = || indices.iter().copied().filter(|&index| index != u32::MAX);
        if let Some(index) = wanted().map(u64::from).find(|&index| index >= self.count) {
            return Err(self.outside("value index", index, self.count.saturating_sub(1)));
        }
        if wanted().next().is_none() {
            return Ok(());
        }
        match &self.offsets {
            OpenOffsets::Fixed(len) => {
                for (place, &index) in places.iter_mut().zip(indices).filter(|(_, index)| **index != u32::MAX)
                {
                    *place = (u64::from(index) * u64::from(*len), (u64::from(index) + 1) * u64::from(*len));
                }
            }
            OpenOffsets::Variable(offsets) => {
                let (mut numbers, mut starts, mut ends) = ([0; BATCH], [0; BATCH], [0; BATCH]);
                let len = indices.len();
                let (numbers, starts, ends) = (&mut numbers[..len], &mut starts[..len], &mut ends[..len]);
                for (number, &index) in numbers.iter_mut().zip(indices) {
                    // There is a value, so there is a first one.
                    *number = if index == u32::MAX { 0 } else { index };
                }
                offsets.gather(numbers, starts, walk)?;
                numbers.iter_mut().for_each(|number| *number += 1);
                offsets.gather(numbers, ends, walk)?;
                for (place, (start, end)) in places.iter_mut().zip(starts.iter().zip(ends)) {
                    *place = (start.cast_unsigned(), end.cast_unsigned());
                }
            }
        }
        Ok(())
    }

    /// Hands out values whose codes lie apart: puts those of some values end to end, and decodes them
    /// together.
    fn gather_codes(
        &self,
        symbols: &SymbolTable,
        mut indices: &[u32],
        mut places: &[(u64, u64)],
        scratch: &mut Scratch,
        each: &mut impl FnMut(Option<&[u8]>),
    ) -> Result<()> {
        let Scratch { offsets, codes, bytes } = scratch;
        while !indices.is_empty() {
            codes.clear();
            offsets.clear();
            offsets.push(0);
            for (&index, &(start, end)) in indices.iter().zip(places) {
                if codes.len() >= BATCH_CODES {
                    break;
                }
                if index != u32::MAX {
                    codes.extend_from_slice(self.slice(start, end)?);
                }
                offsets.push(codes.len() as u64);
            }
            symbols.decode_many(codes, bytes, offsets).ok_or_else(|| self.cut_escape())?;
            let taken = offsets.len() - 1;
            for (pair, &index) in offsets.windows(2).zip(indices) {
                // `decode` put them there.
                let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
                each((index != u32::MAX).then(|| &bytes[at(pair[0])..at(pair[1])]));
            }
            (indices, places) = (&indices[taken..], &places[taken..]);
        }
        Ok(())
    }

    /// Reads every offset, and has them ascend from 0 to the end of the bytes. Decodes every value that
    /// is not raw. The bytes themselves have no rule to break; their checksums are for the caller.
    ///
    /// # Errors
    ///
    /// The first thing that is not as the writer leaves it.
    pub fn verify(&self) -> Result<()> {
        self.verify_offsets()?;
        match &self.coding {
            OpenCoding::Raw => Ok(()),
            OpenCoding::Fsst { total_len, symbols } => self.verify_codes(symbols, *total_len),
        }
    }

    fn verify_offsets(&self) -> Result<()> {
        let OpenOffsets::Variable(offsets) = &self.offsets else {
            return Ok(());
        };
        // Their smallest is 0 and their largest the length of the bytes: as they also ascend, that is where
        // they begin and end.
        offsets.verify()?;
        let mut walk = NumericWalk::default();
        let (mut batch, mut at) = (Vec::with_capacity(BATCH), 0);
        let (mut first_len, mut differ) = (None, false);
        while at < self.count {
            let next = self.count.min(at + BATCH as u64);
            batch.clear();
            self.decode_offsets(offsets, at..next, &mut batch, &mut walk)?;
            for len in batch.windows(2).map(|pair| pair[1] - pair[0]) {
                differ |= *first_len.get_or_insert(len) != len;
            }
            at = next;
        }
        match differ {
            true => Ok(()),
            false => Err(Error::at(self.place(), 0, ErrorKind::Broken("values of one length have offsets"))),
        }
    }

    /// Decodes every value: codes stand for something, no value is too long, and together they have
    /// `total_len` bytes.
    fn verify_codes(&self, symbols: &SymbolTable, total_len: u64) -> Result<()> {
        let (mut walk, mut buffer, mut found) = (NumericWalk::default(), Vec::new(), 0_u64);
        for index in 0..self.count {
            let codes = self.stored(index, &mut walk)?;
            if !symbols.knows(codes) {
                return Err(self.refuse(ErrorKind::Broken("a code that stands for no symbol")));
            }
            let len = symbols.decode(codes, &mut buffer).unwrap_or(0) as u64;
            if len > MAX_VALUE.into() {
                return Err(self.outside("bytes of a value", len, MAX_VALUE.into()));
            }
            found = found.saturating_add(len);
        }
        match found == total_len {
            true => Ok(()),
            false => {
                let what = "bytes of all values";
                Err(self.refuse(ErrorKind::Mismatch { what, found, expected: total_len }))
            }
        }
    }

    /// The bytes from `start` to `end`.
    fn slice(&self, start: u64, end: u64) -> Result<&[u8]> {
        let Some(bytes) = &self.bytes else {
            return Ok(&[]);
        };
        match usize::try_from(start).ok().zip(usize::try_from(end).ok()) {
            Some((start, end)) if start <= end && end <= bytes.len() => bytes.slice(start..end),
            _ => Err(self.out_of_place(start, end)),
        }
    }

    /// Where an error about the offsets lies.
    fn place(&self) -> Place {
        match &self.offsets {
            OpenOffsets::Variable(offsets) => offsets.meta().blocks.as_ref().map_or(NOWHERE, B::place),
            OpenOffsets::Fixed(_) => self.bytes.as_ref().map_or(NOWHERE, B::place),
        }
    }

    #[cold]
    fn out_of_place(&self, start: u64, end: u64) -> Error {
        let max = self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        let kind = match start <= end {
            true => ErrorKind::OutOfRange { what: "end of a value", found: end, max },
            false => ErrorKind::Broken("a value ends before it begins"),
        };
        Error::at(self.place(), 0, kind)
    }

    #[cold]
    fn outside(&self, what: &'static str, found: u64, max: u64) -> Error {
        self.refuse(ErrorKind::OutOfRange { what, found, max })
    }

    #[cold]
    fn cut_escape(&self) -> Error {
        self.refuse(ErrorKind::Broken("a value ends behind an escape"))
    }

    #[cold]
    fn refuse(&self, kind: ErrorKind) -> Error {
        Error::at(self.place(), 0, kind)
    }
}

/// Where an error about values without a section lies.
const NOWHERE: Place = Place { section: Section::Bytes, offset: 0 };
