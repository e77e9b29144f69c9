//! The encoder of byte strings, which compresses them if that pays.

use std::convert::Infallible;
use std::ops::Range;

use super::coder::Coder;
use super::compress::{CodeSection, Compressed, Compressor};
use super::{Binary, BinaryOffsets, Coding, MAX_VALUE};
use crate::numeric::{self, NumericOptions, Role};

/// The requested compression of byte strings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// [`OnPair`](Self::OnPair) or [`Fsst`](Self::Fsst), whichever takes fewer bytes by a sample, if there are 4 KiB of
    /// values or more and that saves a fifth of them; otherwise none.
    #[default]
    Auto,
    /// No compression: values are read in place. The fastest.
    None,
    /// FSST, with a symbol table for the column: any value decodes alone. None if that is not smaller.
    Fsst,
    /// OnPair, with a table of up to 3,840 tokens for the column: any value decodes alone. None if that is not smaller.
    OnPair,
}

/// Options of the encoder of byte strings.
#[derive(Clone, Copy, Debug)]
pub struct BinaryOptions {
    /// The requested compression.
    pub compression: Compression,
    /// Whether the offsets get a jump table.
    pub jump_tables: bool,
}

impl BinaryOptions {
    fn of_offsets(&self) -> NumericOptions {
        NumericOptions { role: Role::Offsets, doubles: false, jump_tables: self.jump_tables, zones: false }
    }
}

/// An error of the encoder: byte strings that cannot be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A value is longer than [`MAX_VALUE`].
    #[error("value {index}: expected at most {MAX_VALUE} bytes, found {len}")]
    TooLong {
        /// Index of the value.
        index: u64,
        /// Length of the value in bytes.
        len: u64,
    },
    /// A value ends before it begins, or past the end of the bytes.
    #[error("value {index} ends at byte {end}, before its start or past the last byte")]
    OutOfPlace {
        /// Index of the value.
        index: u64,
        /// The given end.
        end: u64,
    },
    /// There are bytes after the last value.
    #[error("{0} bytes after the last value")]
    LeftOver(u64),
}

impl From<Infallible> for EncodeError {
    fn from(never: Infallible) -> EncodeError {
        match never {}
    }
}

/// Encodes byte strings that lie end to end in `bytes`. Value *i* ends before byte `ends[i]`, where the next one
/// begins.
///
/// # Errors
///
/// [`EncodeError`] if a value is too long, or `ends` do not ascend to the length of `bytes`.
pub fn encode(bytes: Vec<u8>, ends: &[u64], options: &BinaryOptions) -> Result<Binary<Vec<u8>>, EncodeError> {
    let count = ends.len() as u64;
    let offsets = in_memory(bytes.len() as u64, ends, options)?;
    let strings = InMemory { bytes: &bytes, ends };
    let Ok(compressor) = Compressor::train(&strings, options.compression);
    let coded = compressor.and_then(|compressor| {
        let (mut section, mut bytes) = (CodeSection::default(), Vec::new());
        let codes = compressor.codes(strings.iter());
        section.append(&codes, &mut bytes);
        Some((compressor.finish(section, bytes)?, codes))
    });
    Ok(match coded {
        Some((Compressed { bytes, coding }, codes)) => {
            let ends = codes.ends();
            let offsets = in_memory(ends.last().copied().unwrap_or(0), ends, options)?;
            Binary { count, bytes: Some(bytes), coding, offsets }
        }
        None => Binary { count, bytes: (!bytes.is_empty()).then_some(bytes), coding: Coding::Raw, offsets },
    })
}

/// Encodes the offsets of byte strings that lie end to end, in bytes or in codes. `offsets` has one number more than
/// there are strings, and the last one is `len`, the length of all; or it is empty if there are none. `drain` takes the encoded blocks, as in
/// [`numeric::encode_from`].
///
/// # Errors
///
/// As [`encode`], and the first of `offsets` or `drain`.
pub fn encode_offsets<V, E>(
    len: u64,
    offsets: &V,
    options: &BinaryOptions,
    drain: impl FnMut(&mut Vec<u8>) -> Result<(), V::Error>,
) -> Result<BinaryOffsets<Vec<u8>>, E>
where
    V: numeric::Values<Number = i64> + ?Sized,
    E: From<V::Error> + From<EncodeError>,
{
    let (mut start, mut index, mut room) = (None, 0, Vec::new());
    // The first length, and whether all lengths equal it.
    let (mut first, mut same) = (None, true);
    for range in numeric::chunks(offsets.len()) {
        for end in offsets.read(range, &mut room)?.iter().map(|end| end.cast_unsigned()) {
            let from = start.replace(end);
            let Some(value) = end.checked_sub(from.unwrap_or(0)).filter(|_| end <= len) else {
                return Err(EncodeError::OutOfPlace { index, end }.into());
            };
            match from {
                None if end != 0 => return Err(EncodeError::OutOfPlace { index, end }.into()),
                None => {}
                Some(_) if value > MAX_VALUE.into() => {
                    return Err(EncodeError::TooLong { index, len: value }.into());
                }
                Some(_) => {
                    same &= *first.get_or_insert(value) == value;
                    index += 1;
                }
            }
        }
    }
    match (start.unwrap_or(0), u32::try_from(first.unwrap_or(0))) {
        (end, _) if end != len => Err(EncodeError::LeftOver(len - end).into()),
        (_, Ok(len)) if same => Ok(BinaryOffsets::Fixed(len)),
        _ => Ok(BinaryOffsets::Variable(numeric::encode_from(offsets, &options.of_offsets(), drain)?)),
    }
}

/// A lower estimate of the stored length of `len` bytes of values like `strings`: three quarters of that of a
/// sample, so that callers can rely on it.
///
/// # Errors
///
/// When the strings cannot be read.
pub fn estimate_min_len<S: Values>(len: u64, strings: &S, compression: Compression) -> Result<u64, S::Error> {
    let Some(coder) = Coder::train(strings, compression)? else { return Ok(len) };
    let (sampled, encoded) = coder.sample();
    let taken = u128::from(len) * encoded.min(sampled) as u128 * 3 / (sampled as u128 * 4).max(1);
    Ok(u64::try_from(taken).unwrap_or(len))
}

/// The offsets of values in memory.
fn in_memory(len: u64, ends: &[u64], options: &BinaryOptions) -> Result<BinaryOffsets<Vec<u8>>, EncodeError> {
    let offsets: Vec<i64> = std::iter::once(0).chain(ends.iter().map(|end| end.cast_signed())).collect();
    encode_offsets(len, offsets.as_slice(), options, |_| Ok(()))
}

/// A source of byte strings to compress, in memory or on disk.
pub trait Values {
    /// The error of a read.
    type Error;

    /// The length of all strings.
    fn total_len(&self) -> u64;

    /// The start and end of the string that contains byte `at` of all strings.
    ///
    /// # Errors
    ///
    /// When the strings cannot be read.
    fn around(&self, at: u64) -> Result<Range<u64>, Self::Error>;

    /// The bytes of `range`, of all strings end to end.
    ///
    /// # Errors
    ///
    /// When the strings cannot be read.
    fn read(&self, range: Range<u64>) -> Result<Vec<u8>, Self::Error>;

    /// Calls `f` with each string, in order.
    ///
    /// # Errors
    ///
    /// The first error of `f`, or when the strings cannot be read.
    fn for_each(&self, f: impl FnMut(&[u8]) -> Result<(), Self::Error>) -> Result<(), Self::Error>;
}

/// Byte strings that lie end to end in memory.
#[derive(Clone, Copy, Debug)]
pub struct InMemory<'a> {
    /// The bytes of all strings.
    pub bytes: &'a [u8],
    /// The end of each string: ascending, up to the length of `bytes`.
    pub ends: &'a [u64],
}

impl<'a> InMemory<'a> {
    /// The strings.
    fn iter(self) -> impl Iterator<Item = &'a [u8]> {
        let (mut rest, mut start) = (self.bytes, 0);
        self.ends.iter().map(move |&end| {
            let len = usize::try_from(end - std::mem::replace(&mut start, end)).unwrap_or(usize::MAX);
            rest.split_off(..len).unwrap_or_default()
        })
    }
}

impl Values for InMemory<'_> {
    type Error = Infallible;

    fn total_len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn around(&self, at: u64) -> Result<Range<u64>, Infallible> {
        let i = self.ends.partition_point(|&end| end <= at);
        let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        Ok(start..self.ends.get(i).copied().unwrap_or(start))
    }

    fn read(&self, range: Range<u64>) -> Result<Vec<u8>, Infallible> {
        let [start, end] = [range.start, range.end].map(|at| usize::try_from(at).unwrap_or(usize::MAX));
        Ok(self.bytes.get(start..end).unwrap_or_default().to_vec())
    }

    fn for_each(&self, f: impl FnMut(&[u8]) -> Result<(), Infallible>) -> Result<(), Infallible> {
        self.iter().try_for_each(f)
    }
}
