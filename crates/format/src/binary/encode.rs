//! From values to sections: raw, or compressed where that pays.

use std::convert::Infallible;
use std::ops::Range;

use super::deflate::Packer;
use super::fsst::{self, Trained};
use super::{Binary, BinaryOffsets, Coding, MAX_VALUE};
use crate::numeric::{self, NumericOptions, Role};

/// How byte strings are to be compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// [`Fsst`](Self::Fsst) where that saves a fifth of the bytes, otherwise none.
    #[default]
    Auto,
    /// Not: a value is read where it stands. The fastest.
    None,
    /// String by string, with a table of what they have in common: any value decodes alone. None where
    /// that is not smaller.
    Fsst,
    /// In blocks of 4 KiB: the fewest bytes, but a value costs the decoding of a block. None where that is
    /// not smaller.
    Block,
}

/// How byte strings are encoded.
#[derive(Clone, Copy, Debug)]
pub struct BinaryOptions {
    /// How they are compressed.
    pub compression: Compression,
    /// Whether the offsets get a jump table.
    pub jump_tables: bool,
}

impl BinaryOptions {
    fn of_offsets(&self) -> NumericOptions {
        NumericOptions { role: Role::Offsets, doubles: false, jump_tables: self.jump_tables, zones: false }
    }
}

/// Why byte strings cannot be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// A value is longer than [`MAX_VALUE`].
    #[error("value {index} has {len} bytes, {MAX_VALUE} are the most")]
    TooLong {
        /// Which value.
        index: u64,
        /// Its bytes.
        len: u64,
    },
    /// A value ends before it begins, or behind the bytes.
    #[error("value {index} ends at byte {end}, before its start or past the last byte")]
    OutOfPlace {
        /// Which value.
        index: u64,
        /// Where it is said to end.
        end: u64,
    },
    /// There are bytes behind the last value.
    #[error("{0} bytes after the last value")]
    LeftOver(u64),
}

impl From<Infallible> for EncodeError {
    fn from(never: Infallible) -> EncodeError {
        match never {}
    }
}

/// Encodes byte strings that lie end to end in `bytes`; value *i* ends before byte `ends[i]`, where the
/// next one begins.
///
/// # Errors
///
/// [`EncodeError`] if a value is too long, or `ends` do not ascend to the length of `bytes`.
pub fn encode(bytes: Vec<u8>, ends: &[u64], options: &BinaryOptions) -> Result<Binary<Vec<u8>>, EncodeError> {
    let (count, mut moved) = (ends.len() as u64, Vec::new());
    let offsets = in_memory(bytes.len(), ends, options)?;
    let Ok(coded) = compress(&InMemory { bytes: &bytes, ends }, options.compression, |codes| {
        moved.push(codes.len() as u64);
        Ok(())
    });
    Ok(match coded {
        Some(Compressed { bytes, coding: coding @ Coding::Fsst { .. } }) => {
            let offsets = in_memory(bytes.len(), &moved, options)?;
            Binary { count, bytes: Some(bytes), coding, offsets }
        }
        Some(Compressed { bytes, coding }) => Binary { count, bytes: Some(bytes), coding, offsets },
        None => Binary { count, bytes: (!bytes.is_empty()).then_some(bytes), coding: Coding::Raw, offsets },
    })
}

/// Encodes where raw byte strings begin that lie end to end, wherever that is: `offsets` has one more than
/// there are strings, and the last is `len`, the number of their bytes. Or it is empty, and there are none.
/// What becomes of the blocks is said by `drain`, as in [`numeric::encode_from`].
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
    // The first length, and whether all others are the same.
    let (mut first, mut same) = (None, true);
    for range in numeric::pieces(offsets.len()) {
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

/// Blocks shorten some values more than this, but no samples are made of them.
const VERY_GOOD: u64 = 16;

/// Bytes that `len` bytes of values at least take, if they are like `strings`: three quarters of what a
/// sample says, so that who asks may rely on it.
///
/// # Errors
///
/// When the strings cannot be read.
pub fn estimate_min_len<S: Values>(len: u64, strings: &S, compression: Compression) -> Result<u64, S::Error> {
    match compression {
        Compression::None => return Ok(len),
        Compression::Block => return Ok(len / VERY_GOOD),
        Compression::Auto | Compression::Fsst => {}
    }
    let Trained { sampled, encoded, .. } = fsst::train(strings)?;
    let taken = u128::from(len) * encoded.min(sampled) as u128 * 3 / (sampled as u128 * 4).max(1);
    Ok(u64::try_from(taken).unwrap_or(len))
}

/// The offsets of values in memory.
fn in_memory(
    len: usize,
    ends: &[u64],
    options: &BinaryOptions,
) -> Result<BinaryOffsets<Vec<u8>>, EncodeError> {
    let offsets: Vec<i64> = std::iter::once(0).chain(ends.iter().map(|end| end.cast_signed())).collect();
    encode_offsets(len as u64, offsets.as_slice(), options, |_| Ok(()))
}

/// Bytes that a section takes beside its payload, at least.
const OVERHEAD: u64 = 128;

/// Byte strings to compress, wherever they are.
pub trait Values {
    /// Why they cannot be read.
    type Error;

    /// Bytes of all of them.
    fn total_len(&self) -> u64;

    /// Where the string begins and ends to which byte `at` of them all belongs.
    ///
    /// # Errors
    ///
    /// When that cannot be read.
    fn around(&self, at: u64) -> Result<Range<u64>, Self::Error>;

    /// Some of their bytes.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    fn read(&self, range: Range<u64>) -> Result<Vec<u8>, Self::Error>;

    /// Shows each string to `f`, one after the other.
    ///
    /// # Errors
    ///
    /// The first of `f`, or when they cannot be read.
    fn for_each(&self, f: impl FnMut(&[u8]) -> Result<(), Self::Error>) -> Result<(), Self::Error>;
}

/// Byte strings that lie end to end in memory.
#[derive(Clone, Copy, Debug)]
pub struct InMemory<'a> {
    /// All of their bytes.
    pub bytes: &'a [u8],
    /// Where each ends: they ascend to the length of `bytes`.
    pub ends: &'a [u64],
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

    fn for_each(&self, mut f: impl FnMut(&[u8]) -> Result<(), Infallible>) -> Result<(), Infallible> {
        let (mut rest, mut start) = (self.bytes, 0);
        self.ends.iter().try_for_each(|&end| {
            let len = usize::try_from(end - std::mem::replace(&mut start, end)).unwrap_or(usize::MAX);
            f(rest.split_off(..len).unwrap_or_default())
        })
    }
}

/// Values that are not raw.
#[derive(Clone, Debug)]
pub struct Compressed {
    /// Their bytes, behind those that were taken.
    pub bytes: Vec<u8>,
    /// How values became these bytes.
    pub coding: Coding<Vec<u8>>,
}

/// Compresses byte strings, if that pays.
///
/// Behind each string `each` is shown the compressed bytes, and may take them: all that it took, and then
/// those that are returned, are the section. Where they end then is where the string ends, if strings are
/// compressed one by one.
///
/// # Errors
///
/// The first of `strings` or `each`.
pub fn compress<S: Values>(
    strings: &S,
    compression: Compression,
    mut each: impl FnMut(&mut Vec<u8>) -> Result<(), S::Error>,
) -> Result<Option<Compressed>, S::Error> {
    let (total_len, mut bytes, mut taken) = (strings.total_len(), Vec::new(), 0);
    let mut each = |bytes: &mut Vec<u8>| {
        let there = bytes.len();
        each(bytes)?;
        taken += (there - bytes.len()) as u64;
        Ok(())
    };
    let section = |section: &Vec<u8>| section.len() as u64 + OVERHEAD;
    let (coding, extra) = match compression {
        Compression::None => return Ok(None),
        Compression::Auto | Compression::Fsst if total_len <= OVERHEAD => return Ok(None),
        Compression::Auto | Compression::Fsst => {
            let trained = fsst::train(strings)?;
            // A sample tells in time where nothing is to be had.
            if compression == Compression::Auto && trained.encoded > trained.sampled - trained.sampled / 10 {
                return Ok(None);
            }
            strings.for_each(|value| {
                trained.matcher.encode(value, &mut bytes);
                each(&mut bytes)
            })?;
            let symbols = trained.matcher.section();
            let extra = section(&symbols);
            (Coding::Fsst { total_len, symbols }, extra)
        }
        Compression::Block => {
            let (mut packer, mut packs) = (Packer::new(strings)?, Some(()));
            strings.for_each(|value| {
                packs = packs.and_then(|()| packer.push(value, &mut bytes));
                each(&mut bytes)
            })?;
            let Some(blocks) = packs.and_then(|()| packer.finish(&mut bytes)) else { return Ok(None) };
            let extra = section(&blocks.ends) + blocks.preset.as_ref().map_or(0, section);
            (Coding::Deflate(blocks), extra)
        }
    };
    let limit = match compression {
        // So that readers decode only where there is something to be had for it.
        Compression::Auto => total_len - total_len / 5,
        _ => total_len,
    };
    let pays = taken + bytes.len() as u64 + extra < limit;
    Ok(pays.then_some(Compressed { bytes, coding }))
}
