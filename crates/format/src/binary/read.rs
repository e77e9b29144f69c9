//! The reader of byte strings.

use std::ops::Range;

use super::fsst::SymbolTable;
use super::onpair::{self, Codes, TokenTable};
use super::{Binary, BinaryOffsets, Coding};
use crate::error::{Error, ErrorKind, Place, Result, Section};
use crate::jump::JumpTables;
use crate::numeric::NumericReader;
use crate::source::SectionBytes;

/// Values whose offsets are read together.
pub(super) const BATCH: usize = 128;

/// Offsets that are read together: those of [`DECODE_VALUES`].
const OFFSETS: usize = 257;

/// Values that are decoded together.
const DECODE_VALUES: u64 = OFFSETS as u64 - 1;

/// Bytes of codes that are decoded together, unless a single value has more.
pub(super) const DECODE_BYTES: u64 = 32 << 10;

/// Buffers for decoded values, which the caller keeps for the next call of the same reader.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// Starts and ends of values.
    pub(super) offsets: Vec<u64>,
    /// Codes of scattered values, copied end to end.
    pub(super) codes: Vec<u8>,
    /// Decoded values; only grows.
    pub(super) bytes: Vec<u8>,
}

/// Consecutive values, end to end.
#[derive(Clone, Copy, Debug)]
pub struct Strings<'a> {
    /// The start of each value, and the end of the last one. The first offset need not be 0.
    pub offsets: &'a [u64],
    /// The bytes of the values, from the first offset on.
    pub bytes: &'a [u8],
}

impl Strings<'_> {
    /// The number of values.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Reads byte strings by index. Raw values are returned as slices of the section, without a copy.
///
/// ```
/// use docvalues_format::binary::{self, BinaryOptions, BinaryReader, Compression};
/// use docvalues_format::jump::JumpTables;
/// use docvalues_format::source::Owned;
///
/// let options = BinaryOptions { compression: Compression::Auto, jump_tables: true };
/// let made = binary::encode(b"wrenyew".to_vec(), &[4, 4, 7], &options)?;
/// let opened = made.try_map(&mut |section, bytes| Ok::<_, std::convert::Infallible>(Owned::new(section, bytes)))?;
/// let values = BinaryReader::open(opened, JumpTables::Baked)?;
///
/// let mut buffer = Vec::new();
/// assert_eq!(values.get(0, &mut buffer)?, b"wren");
/// assert_eq!(values.get(1, &mut buffer)?, b"");
/// assert_eq!(values.get(2, &mut buffer)?, b"yew");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BinaryReader<B: SectionBytes> {
    pub(super) count: u64,
    pub(super) bytes: Option<B>,
    pub(super) coding: OpenCoding,
    /// Stored length of every value, if there are no offsets.
    fixed_len: u32,
    pub(super) offsets: Option<NumericReader<B>>,
}

/// A [`Coding`] with its table decoded.
#[derive(Debug)]
pub(super) enum OpenCoding {
    Raw,
    Fsst { total_len: u64, symbols: SymbolTable },
    OnPair { total_len: u64, tokens: TokenTable },
}

impl<B: SectionBytes> BinaryReader<B> {
    /// Opens byte strings. O(1): reads no section but the symbols or tokens.
    ///
    /// # Errors
    ///
    /// When the fields disagree with each other or with the lengths of the sections, or the table is not valid.
    pub fn open(meta: Binary<B>, mode: JumpTables) -> Result<BinaryReader<B>> {
        let place = meta.bytes.as_ref().map_or(NOWHERE, B::place);
        place.check(0, meta.check(|section| section.len() as u64))?;
        let (fixed_len, offsets) = match meta.offsets {
            BinaryOffsets::Fixed(len) => (len, None),
            BinaryOffsets::Variable(offsets) => (0, Some(NumericReader::open(offsets, mode)?)),
        };
        let coding = match meta.coding {
            Coding::Raw => OpenCoding::Raw,
            Coding::Fsst { total_len, symbols } => {
                let section = symbols.slice(0..symbols.len())?;
                OpenCoding::Fsst { total_len, symbols: SymbolTable::parse(symbols.place(), section)? }
            }
            Coding::OnPair { total_len, tokens } => {
                let section = tokens.slice(0..tokens.len())?;
                OpenCoding::OnPair { total_len, tokens: TokenTable::parse(tokens.place(), section)? }
            }
        };
        Ok(BinaryReader { count: meta.count, bytes: meta.bytes, coding, fixed_len, offsets })
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The start of each value, and the end of the last one; `None` if all values have the same length.
    pub fn offsets(&self) -> Option<&NumericReader<B>> {
        self.offsets.as_ref()
    }

    /// The compression, as `dv info` shows it; `None` if values are raw.
    pub fn compression(&self) -> Option<String> {
        match &self.coding {
            OpenCoding::Raw => None,
            OpenCoding::Fsst { symbols, .. } => Some(format!("fsst({})", symbols.len())),
            OpenCoding::OnPair { tokens, .. } => Some(format!("onpair({})", tokens.len())),
        }
    }

    /// Stored length of every value, if it is the same for all.
    pub fn fixed_len(&self) -> Option<u32> {
        self.offsets.is_none().then_some(self.fixed_len)
    }

    /// Returns value `index`: a slice of the section, or decoded to `buffer`, which only grows. O(length of the
    /// value).
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`] past the last value; when bytes cannot be read or are damaged.
    #[inline]
    pub fn get<'a>(&'a self, index: u64, buffer: &'a mut Vec<u8>) -> Result<&'a [u8]> {
        let (start, end) = self.place_of(index)?;
        let len = match &self.coding {
            OpenCoding::Raw => return self.slice(start, end),
            OpenCoding::Fsst { symbols, .. } => {
                symbols.decode(self.slice(start, end)?, buffer).ok_or_else(|| self.cut_escape())?
            }
            OpenCoding::OnPair { tokens, .. } => tokens.decode(self.codes(start, end)?, buffer, 0),
        };
        Ok(&buffer[..len])
    }

    /// The start and end of value `index`, in the bytes or their codes.
    #[inline]
    pub(super) fn place_of(&self, index: u64) -> Result<(u64, u64)> {
        if index >= self.count {
            return Err(self.outside("value index", index, self.count.saturating_sub(1)));
        }
        let Some(offsets) = &self.offsets else { return Ok(self.fixed_place(index)) };
        let (start, end) = offsets.get_pair(index)?;
        Ok((start.cast_unsigned(), end.cast_unsigned()))
    }

    /// The start and end of value `index`, if all values have the same length.
    #[inline]
    pub(super) fn fixed_place(&self, index: u64) -> (u64, u64) {
        // `check` found that `count` times the length is the length of all bytes, so this does not overflow.
        let len = u64::from(self.fixed_len);
        (index * len, (index + 1) * len)
    }

    /// The codes from `start` to `end`.
    #[inline]
    pub(super) fn codes(&self, start: u64, end: u64) -> Result<Codes<'_>> {
        let (first, last) = onpair::place_of(start, end);
        // Groups of codes are read as a whole, which is fast unless the section ends.
        let there = self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        let packed = self.slice(first, last.max(there.min(last.saturating_add(onpair::OVERREAD))))?;
        match end.checked_sub(start).map(usize::try_from) {
            Some(Ok(len)) => Ok(Codes::new(packed, start, len)),
            _ => Err(self.out_of_place(start, end)),
        }
    }

    /// Returns values from the start of `range` on. Raw values are returned all at once, without a copy. Of compressed
    /// values, as many are decoded as fit the inner caches, and at least one.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get), and when an offset is below the one before it.
    pub fn decode<'a>(&'a self, range: Range<u64>, scratch: &'a mut Scratch) -> Result<Strings<'a>> {
        let Scratch { offsets, bytes, .. } = scratch;
        let raw = matches!(self.coding, OpenCoding::Raw);
        let most = if raw { u64::MAX } else { range.start.saturating_add(DECODE_VALUES) };
        self.offsets_of(range.start..range.end.min(most), offsets)?;
        let start = offsets.first().copied().unwrap_or(0);
        if !raw {
            let near = offsets.partition_point(|offset| offset - start <= DECODE_BYTES);
            offsets.truncate(near.max(2));
        }
        let end = offsets.last().copied().unwrap_or(0);
        if raw {
            return Ok(Strings { offsets, bytes: self.slice(start, end)? });
        }
        offsets.iter_mut().for_each(|offset| *offset -= start);
        match &self.coding {
            OpenCoding::Raw => {}
            OpenCoding::Fsst { symbols, .. } => {
                let codes = self.slice(start, end)?;
                symbols.decode_many(codes, bytes, offsets).ok_or_else(|| self.cut_escape())?;
            }
            OpenCoding::OnPair { tokens, .. } => {
                tokens.decode_many(self.codes(start, end)?, bytes, offsets);
            }
        }
        let len = offsets.last().map_or(0, |&len| usize::try_from(len).unwrap_or(0));
        Ok(Strings { offsets, bytes: &bytes[..len] })
    }

    /// Replaces `offsets` by the start of each value of `range`, and the end of the last one.
    pub(super) fn offsets_of(&self, range: Range<u64>, offsets: &mut Vec<u64>) -> Result<()> {
        if range.start > range.end || range.end > self.count {
            return Err(self.outside("end of a range of values", range.end.max(range.start), self.count));
        }
        offsets.clear();
        match &self.offsets {
            None => offsets.extend((range.start..=range.end).map(|index| self.fixed_place(index).0)),
            Some(reader) => self.decode_offsets(reader, range, offsets)?,
        }
        Ok(())
    }

    pub(super) fn decode_offsets(
        &self,
        reader: &NumericReader<B>,
        range: Range<u64>,
        offsets: &mut Vec<u64>,
    ) -> Result<()> {
        let (mut numbers, end) = ([0; OFFSETS], range.end + 1);
        let mut at = range.start;
        while at < end {
            let next = end.min(at + OFFSETS as u64);
            let numbers = &mut numbers[..usize::try_from(next - at).unwrap_or(OFFSETS)];
            reader.decode(at..next, numbers)?;
            // The last offset of the batch before, too.
            let first = offsets.len().saturating_sub(1);
            offsets.extend(numbers.iter().map(|offset| offset.cast_unsigned()));
            let mut pairs = offsets[first..].iter().zip(&offsets[first + 1..]);
            // Without an early exit, the loop compares several pairs at once.
            if pairs.clone().fold(false, |any, (before, after)| any | (after < before))
                && let Some((before, after)) = pairs.find(|(before, after)| after < before)
            {
                return Err(self.out_of_place(*before, *after));
            }
            at = next;
        }
        Ok(())
    }

    /// The stored bytes from `start` to `end`.
    pub(super) fn slice(&self, start: u64, end: u64) -> Result<&[u8]> {
        let Some(bytes) = &self.bytes else {
            return Ok(&[]);
        };
        match usize::try_from(start).ok().zip(usize::try_from(end).ok()) {
            Some((start, end)) if start <= end && end <= bytes.len() => bytes.slice(start..end),
            _ => Err(self.out_of_place(start, end)),
        }
    }

    /// The position of errors in the offsets.
    pub(super) fn place(&self) -> Place {
        let section = self.offsets.as_ref().map_or(&self.bytes, |offsets| &offsets.meta().blocks);
        section.as_ref().map_or(NOWHERE, B::place)
    }

    #[cold]
    pub(super) fn out_of_place(&self, start: u64, end: u64) -> Error {
        let max = self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        let kind = match start <= end {
            true => ErrorKind::OutOfRange { what: "end of a value", found: end, max },
            false => ErrorKind::Broken("a value ends before it begins"),
        };
        Error::at(self.place(), 0, kind)
    }

    #[cold]
    pub(super) fn outside(&self, what: &'static str, found: u64, max: u64) -> Error {
        self.refuse(ErrorKind::OutOfRange { what, found, max })
    }

    #[cold]
    pub(super) fn cut_escape(&self) -> Error {
        self.refuse(ErrorKind::Broken("a value ends in the middle of an escape"))
    }

    #[cold]
    pub(super) fn refuse(&self, kind: ErrorKind) -> Error {
        Error::at(self.place(), 0, kind)
    }
}

/// The position of errors in values without a section.
const NOWHERE: Place = Place { section: Section::Bytes, offset: 0 };
