//! Byte strings end to end: what is byte string *i*?
//!
//! # Sections
//!
//! | section | holds |
//! | --- | --- |
//! | bytes | the values, end to end, with nothing between |
//! | offsets | where each value begins, and where the last ends: [numbers](crate::numeric) |
//! | offsets jump table | the jump table of those |
//!
//! Values of one length need no offsets, and if that is zero, no bytes. Nor do no values.
//!
//! # Entry in the directory
//!
//! | offset | bytes | field | meaning |
//! | --- | --- | --- | --- |
//! | 0 | 8 | `count` | values |
//! | 8 | 1 | `variable` | 1 if there are offsets, else 0 |
//! | 9 | 4 | `fixed_len` | bytes of every value; 0 if there are offsets |
//! | 13 | 20 | `bytes` | reference to the bytes; unless all values are empty |
//! | 33 | | `offsets` | the entry of the offsets; if `variable` |
//!
//! # Cost
//!
//! A value of fixed length costs one cache miss, another one two: its two offsets stand side by
//! side. Offsets follow the line of the average length, so each takes about the bits of the largest
//! distance from that line within its block: usually 1 to 2 bytes.
//!
//! # What a reader may trust
//!
//! [`BinaryReader::open`] compares the numbers of the directory with the sections' lengths, and reads
//! no section. Two offsets that descend, or leave the bytes, are an error when they are met.

use crate::cursor::{Cursor, Put};
use crate::error::{ErrorKind, Result, Section};
use crate::granule::SectionRef;
use crate::numeric::{self, Numeric, NumericOptions, Role};

pub use read::BinaryReader;

mod read;
#[cfg(test)]
mod tests;

/// Bytes of the longest value, and of the longest term of a dictionary: 2 GiB.
pub const MAX_VALUE: u32 = 1 << 31;

/// Byte strings, wherever their sections are: just made (`Vec<u8>`), in the directory ([`SectionRef`]),
/// or opened ([`SectionBytes`](crate::source::SectionBytes)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary<S> {
    /// How many values there are.
    pub count: u64,
    /// The values, end to end; `None` if they are all empty.
    pub bytes: Option<S>,
    /// Where each begins and ends.
    pub offsets: BinaryOffsets<S>,
}

/// Where each of some byte strings begins and ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BinaryOffsets<S> {
    /// Every value has so many bytes.
    Fixed(u32),
    /// Where each begins, and where the last one ends: one more than values.
    Variable(Numeric<S>),
}

impl<S> BinaryOffsets<S> {
    /// The form's name, as `dv info` shows it.
    pub const fn name(&self) -> &'static str {
        match self {
            BinaryOffsets::Fixed(_) => "fixed",
            BinaryOffsets::Variable(_) => "variable",
        }
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
/// next one begins. `jump_tables` says whether the offsets get a jump table.
///
/// # Errors
///
/// [`Refused`] if a value is too long, or `ends` do not ascend to the length of `bytes`.
pub fn encode(bytes: Vec<u8>, ends: &[u64], jump_tables: bool) -> Result<Binary<Vec<u8>>, Refused> {
    let (len, count) = (bytes.len() as u64, ends.len() as u64);
    let mut offsets = Vec::with_capacity(ends.len() + 1);
    offsets.push(0);
    let (mut start, mut first_len, mut fixed) = (0, None, true);
    for (index, &end) in (0..).zip(ends) {
        let out_of_place = Refused::OutOfPlace { index, end };
        let len = end.checked_sub(start).filter(|_| end <= len).ok_or(out_of_place)?;
        if len > MAX_VALUE.into() {
            return Err(Refused::TooLong { index, len });
        }
        fixed &= *first_len.get_or_insert(len) == len;
        // Inside `bytes`, whose length is an `isize`.
        offsets.push(end.cast_signed());
        start = end;
    }
    if start != len {
        return Err(Refused::LeftOver(len - start));
    }
    let bytes = (len > 0).then_some(bytes);
    let offsets = match fixed {
        #[expect(clippy::cast_possible_truncation, reason = "no value is longer than MAX_VALUE")]
        true => BinaryOffsets::Fixed(first_len.unwrap_or(0) as u32),
        false => {
            let options = NumericOptions { role: Role::Offsets, jump_tables, zones: false };
            BinaryOffsets::Variable(numeric::encode(&offsets, &options))
        }
    };
    Ok(Binary { count, bytes, offsets })
}

impl<S> Binary<S> {
    /// Turns every section that is there into something else, in file order: bytes, offsets, their
    /// jump table.
    ///
    /// # Errors
    ///
    /// The first that `f` returns.
    pub fn try_map<T, E>(self, f: &mut impl FnMut(Section, S) -> Result<T, E>) -> Result<Binary<T>, E> {
        let bytes = self.bytes.map(|s| f(Section::Bytes, s)).transpose()?;
        let offsets = match self.offsets {
            BinaryOffsets::Fixed(len) => BinaryOffsets::Fixed(len),
            BinaryOffsets::Variable(offsets) => BinaryOffsets::Variable(offsets.try_map(f)?),
        };
        Ok(Binary { count: self.count, bytes, offsets })
    }

    /// Compares all fields with each other, given the length of each section.
    fn check(&self, len: impl Fn(&S) -> u64) -> Result<(), ErrorKind> {
        let equal = |what, found, expected| match found == expected {
            true => Ok(()),
            false => Err(ErrorKind::Mismatch { what, found, expected }),
        };
        let bytes = self.bytes.as_ref().map(&len);
        if bytes == Some(0) {
            return Err(ErrorKind::Broken("a section for the bytes of empty values"));
        }
        match &self.offsets {
            BinaryOffsets::Fixed(len) if self.count == 0 && *len > 0 => {
                Err(ErrorKind::Broken("no values have a length"))
            }
            BinaryOffsets::Fixed(len) => {
                let expected = self.count.saturating_mul(u64::from(*len));
                equal("length of the bytes", bytes.unwrap_or(0), expected)
            }
            BinaryOffsets::Variable(offsets) => {
                let bytes = bytes.ok_or(ErrorKind::Broken("values of different lengths have no bytes"))?;
                equal("number of offsets", offsets.count, self.count.saturating_add(1))?;
                equal("first offset", offsets.min.cast_unsigned(), 0)?;
                equal("last offset", offsets.max.cast_unsigned(), bytes)
            }
        }
    }
}

impl Binary<SectionRef> {
    /// Appends the fields to a directory entry; the layout stands in the head of
    /// [the module](self#entry-in-the-directory).
    pub fn encode_meta(&self, out: &mut Vec<u8>) {
        let (variable, fixed_len) = match self.offsets {
            BinaryOffsets::Fixed(len) => (0, len),
            BinaryOffsets::Variable(_) => (1, 0),
        };
        out.put_u64(self.count);
        out.put_u8(variable);
        out.put_u32(fixed_len);
        if let Some(bytes) = &self.bytes {
            bytes.encode(out);
        }
        if let BinaryOffsets::Variable(offsets) = &self.offsets {
            offsets.encode_meta(out);
        }
    }

    /// Reads what [`encode_meta`](Self::encode_meta) wrote.
    ///
    /// # Errors
    ///
    /// When a field holds what it may not, or two of them disagree.
    pub fn decode_meta(cursor: &mut Cursor<'_>) -> Result<Binary<SectionRef>> {
        let (count, variable, fixed_len) = (cursor.u64()?, cursor.u8()?, cursor.u32()?);
        cursor.at_most("variable", variable.into(), 1)?;
        let variable = variable == 1;
        if variable && fixed_len > 0 {
            return Err(cursor.refuse(ErrorKind::Broken("values of different lengths have a fixed one")));
        }
        let has_bytes = variable || (count > 0 && fixed_len > 0);
        let bytes = has_bytes.then(|| SectionRef::decode(cursor)).transpose()?;
        let offsets = match variable {
            true => BinaryOffsets::Variable(Numeric::decode_meta(cursor, Role::Offsets)?),
            false => BinaryOffsets::Fixed(fixed_len),
        };
        let meta = Binary { count, bytes, offsets };
        meta.check(|section| section.len).map_err(|kind| cursor.refuse(kind))?;
        Ok(meta)
    }
}
