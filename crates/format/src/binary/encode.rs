//! From values to sections: raw, or compressed where that pays.

use super::fsst::{self, Trained};
use super::{Binary, BinaryOffsets, Coding, MAX_VALUE, deflate};
use crate::numeric::{self, NumericOptions, Role, Values};

/// How byte strings are to be compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
pub enum Refused {
    /// A value is longer than [`MAX_VALUE`].
    #[error("value {index} has {len} bytes, {MAX_VALUE} are the most")]
    TooLong {
        /// Which value.
        index: u64,
        /// Its bytes.
        len: u64,
    },
    /// A value ends before it begins, or behind the bytes.
    #[error("value {index} ends at byte {end}, which is before it begins or behind the last byte")]
    OutOfPlace {
        /// Which value.
        index: u64,
        /// Where it is said to end.
        end: u64,
    },
    /// There are bytes behind the last value.
    #[error("{0} bytes lie behind the last value")]
    LeftOver(u64),
}

/// Encodes byte strings that lie end to end in `bytes`; value *i* ends before byte `ends[i]`, where the
/// next one begins.
///
/// # Errors
///
/// [`Refused`] if a value is too long, or `ends` do not ascend to the length of `bytes`.
pub fn encode(bytes: Vec<u8>, ends: &[u64], options: &BinaryOptions) -> Result<Binary<Vec<u8>>, Refused> {
    check(bytes.len() as u64, ends.iter().copied())?;
    let count = ends.len() as u64;
    if let Some(Coded { bytes: coded, coding, ends: moved }) = coded(&bytes, ends, options.compression) {
        drop(bytes);
        let offsets = offsets(moved.as_deref().unwrap_or(ends), options);
        return Ok(Binary { count, bytes: Some(coded), coding, offsets });
    }
    let bytes = Some(bytes).filter(|bytes| !bytes.is_empty());
    Ok(Binary { count, bytes, coding: Coding::Raw, offsets: offsets(ends, options) })
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
    V: Values<Number = i64> + ?Sized,
    E: From<V::Error> + From<Refused>,
{
    let (mut start, mut index, mut room) = (None, 0, Vec::new());
    // The first length, and whether all others are the same.
    let (mut first, mut same) = (None, true);
    for range in numeric::pieces(offsets.len()) {
        for end in offsets.read(range, &mut room)?.iter().map(|end| end.cast_unsigned()) {
            let from = start.replace(end);
            let Some(value) = end.checked_sub(from.unwrap_or(0)).filter(|_| end <= len) else {
                return Err(Refused::OutOfPlace { index, end }.into());
            };
            match from {
                None if end != 0 => return Err(Refused::OutOfPlace { index, end }.into()),
                None => {}
                Some(_) if value > MAX_VALUE.into() => {
                    return Err(Refused::TooLong { index, len: value }.into());
                }
                Some(_) => {
                    same &= *first.get_or_insert(value) == value;
                    index += 1;
                }
            }
        }
    }
    match (start.unwrap_or(0), u32::try_from(first.unwrap_or(0))) {
        (end, _) if end != len => Err(Refused::LeftOver(len - end).into()),
        (_, Ok(len)) if same => Ok(BinaryOffsets::Fixed(len)),
        _ => Ok(BinaryOffsets::Variable(numeric::encode_from(offsets, &options.of_offsets(), drain)?)),
    }
}

/// Blocks shorten some values more than this, but no samples are made of them.
const VERY_GOOD: u64 = 16;

/// Bytes that `len` bytes of values at least take, if they are like those in `bytes`, of which value *i*
/// ends before byte `ends[i]`: three quarters of what a sample says, so that who asks may rely on it.
pub fn at_least(len: u64, bytes: &[u8], ends: &[u64], compression: Compression) -> u64 {
    match compression {
        Compression::None => return len,
        Compression::Block => return len / VERY_GOOD,
        Compression::Auto | Compression::Fsst => {}
    }
    let Trained { sampled, encoded, .. } = fsst::train(bytes, ends);
    let taken = u128::from(len) * encoded.min(sampled) as u128 * 3 / (sampled as u128 * 4).max(1);
    u64::try_from(taken).unwrap_or(len)
}

/// Refuses ends that do not ascend to `len`, and values that are too long.
fn check(len: u64, ends: impl Iterator<Item = u64>) -> Result<(), Refused> {
    let mut start = 0;
    for (index, end) in (0..).zip(ends) {
        match end.checked_sub(start).filter(|_| end <= len) {
            None => return Err(Refused::OutOfPlace { index, end }),
            Some(len) if len > MAX_VALUE.into() => return Err(Refused::TooLong { index, len }),
            Some(_) => start = end,
        }
    }
    if start == len { Ok(()) } else { Err(Refused::LeftOver(len - start)) }
}

/// The offsets of values that end at `ends`, which ascend.
fn offsets(ends: &[u64], options: &BinaryOptions) -> BinaryOffsets<Vec<u8>> {
    fixed(ends.iter().copied()).unwrap_or_else(|| {
        let starts = std::iter::once(0).chain(ends.iter().map(|end| end.cast_signed()));
        variable(&starts.collect::<Vec<i64>>(), options)
    })
}

/// The length of all values, if they have the same.
fn fixed(ends: impl Iterator<Item = u64>) -> Option<BinaryOffsets<Vec<u8>>> {
    let mut start = 0;
    let mut lens = ends.map(|end| end - std::mem::replace(&mut start, end));
    let first = lens.next().unwrap_or(0);
    let len = u32::try_from(first).ok()?;
    lens.all(|len| len == first).then_some(BinaryOffsets::Fixed(len))
}

fn variable(offsets: &[i64], options: &BinaryOptions) -> BinaryOffsets<Vec<u8>> {
    BinaryOffsets::Variable(numeric::encode(offsets, &options.of_offsets()))
}

/// Bytes that a section takes beside its payload, at least.
const OVERHEAD: usize = 128;

/// Values that are not raw.
struct Coded {
    bytes: Vec<u8>,
    coding: Coding<Vec<u8>>,
    /// Where each value ends in the bytes; `None`: offsets are those of the raw values.
    ends: Option<Vec<u64>>,
}

/// The values as they are to be compressed, if that pays.
fn coded(bytes: &[u8], ends: &[u64], compression: Compression) -> Option<Coded> {
    let (coded, extra) = match compression {
        Compression::None => return None,
        Compression::Auto | Compression::Fsst => codes(bytes, ends, compression)?,
        Compression::Block => blocks(bytes, ends)?,
    };
    let limit = match compression {
        // So that readers decode only where there is something to be had for it.
        Compression::Auto => bytes.len() - bytes.len() / 5,
        _ => bytes.len(),
    };
    (coded.bytes.len() + extra < limit).then_some(coded)
}

/// Values as codes, and the bytes of their other section.
fn codes(bytes: &[u8], ends: &[u64], compression: Compression) -> Option<(Coded, usize)> {
    if bytes.len() <= OVERHEAD {
        return None;
    }
    let trained = fsst::train(bytes, ends);
    // A sample tells in time where nothing is to be had.
    if compression == Compression::Auto && trained.encoded > trained.sampled - trained.sampled / 10 {
        return None;
    }
    let (mut codes, mut code_ends) = (Vec::new(), Vec::with_capacity(ends.len()));
    let (mut rest, mut start) = (bytes, 0);
    for &end in ends {
        let value = rest.split_off(..usize::try_from(end - start).ok()?)?;
        trained.matcher.encode(value, &mut codes);
        code_ends.push(codes.len() as u64);
        start = end;
    }
    let symbols = trained.matcher.section();
    let extra = symbols.len() + OVERHEAD;
    let coding = Coding::Fsst { total_len: bytes.len() as u64, symbols };
    Some((Coded { bytes: codes, coding, ends: Some(code_ends) }, extra))
}

/// Values in blocks, and the bytes of their other sections.
fn blocks(bytes: &[u8], ends: &[u64]) -> Option<(Coded, usize)> {
    let (packed, blocks) = deflate::encode(bytes, ends)?;
    let section = |section: &Vec<u8>| section.len() + OVERHEAD;
    let extra = section(&blocks.ends) + blocks.preset.as_ref().map_or(0, section);
    Some((Coded { bytes: packed, coding: Coding::Deflate(blocks), ends: None }, extra))
}
