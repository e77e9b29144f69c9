//! Byte strings by index: raw, or compressed by FSST or OnPair.
//!
//! # Sections
//!
//! | section | holds |
//! | --- | --- |
//! | bytes | the values, end to end, without separators, or their compressed form: see [`Coding`] |
//! | symbols | the symbol table of an [FSST](Coding::Fsst) column, or the tokens of an [OnPair](Coding::OnPair) one |
//! | offsets | the start of each value, and the end of the last one: [numbers](crate::numeric) |
//! | offsets jump table | the jump table of the offsets |
//!
//! Values of equal length have no offsets. If they are all empty, or there are no values, there are no bytes either.
//!
//! # Drawing
//!
//! The values `wren`, an empty one, and `yew`:
//!
//! ```text
//! bytes     w r e n y e w
//! offsets   0       4       4       7         value i is bytes[offsets[i] .. offsets[i + 1]]
//! ```
//!
//! An empty value and a missing one differ: the missing one is in the [presence](crate::presence) of the column, and
//! takes no offset. Offsets are numbers like any others, so they are packed in blocks and found by a jump table, as in
//! Lucene's `DirectMonotonicWriter`, which also subtracts a line.
//!
//! # Entry in the directory
//!
//! | offset | bytes | field | meaning |
//! | --- | --- | --- | --- |
//! | 0 | 8 | `count` | values |
//! | 8 | 1 | `variable` | 1 if there are offsets, else 0 |
//! | 9 | 1 | `coding` | encoding of the values as bytes: see [`Coding`] |
//! | 10 | 4 | `fixed_len` | stored bytes of every value, or its codes with OnPair; 0 if there are offsets |
//! | 14 | 20 | `bytes` | reference to the bytes; unless all values are empty |
//! | 34 | | `coded` | fields of the coding: see `fsst.rs` and `onpair.rs` in `binary` |
//! | … | | `offsets` | the entry of the offsets; if `variable` |
//!
//! # Cost
//!
//! Reading a value of fixed length takes one cache miss; one of variable length takes two, because its two offsets are
//! neighbours. Offsets are stored as distances from a line with the average length as its slope: usually in 1 to 2
//! bytes each.
//!
//! FSST and OnPair add nanoseconds a value, and read fewer bytes from memory.
//!
//! # Hostile bytes
//!
//! [`BinaryReader::open`] checks the directory's numbers against the lengths of the sections, and reads no section but
//! the symbols. A look-up reports offsets that descend or leave the bytes.

use crate::cursor::{Cursor, Put};
use crate::error::{ErrorKind, Result, Section};
use crate::granule::SectionRef;
use crate::numeric::{Numeric, Role};

pub use compress::{CodeSection, Codes, Compressed, Compressor};
pub use encode::{
    BinaryOptions, Compression, EncodeError, InMemory, Values, encode, encode_offsets, estimate_min_len,
};
pub use fsst::{ESCAPE, MAX_SYMBOL};
pub use onpair::{CODES, MAX_TOKEN, MAX_TOKENS};
pub use read::{BinaryReader, Scratch, Strings};

mod coder;
mod compress;
mod encode;
mod fsst;
mod gather;
mod mixed;
mod onpair;
mod prefix;
mod read;
mod sample;
#[cfg(test)]
mod tests;
mod verify;

/// Bytes of the longest value, and of the longest term of a dictionary: 2 GiB.
pub const MAX_VALUE: u32 = 1 << 31;

const TAG_RAW: u8 = 0;
const TAG_FSST: u8 = 1;
/// The tag of DEFLATE blocks, which docvalues wrote until commit 498fb211. It stays reserved.
const TAG_DEFLATE: u8 = 2;
const TAG_ONPAIR: u8 = 3;

/// The refusal of a column with [`TAG_DEFLATE`].
const DEFLATE: &str = "the strings are DEFLATE blocks, which docvalues read until commit 498fb211: build the file again \
                       from its source, or from what `dv export` of that commit prints";

/// Byte strings, generic over their sections: encoded bytes (`Vec<u8>`), references in the directory ([`SectionRef`]),
/// or sections of an open file ([`SectionBytes`](crate::source::SectionBytes)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary<S> {
    /// Number of values.
    pub count: u64,
    /// The values, end to end, in their stored form; `None` if they are all empty.
    pub bytes: Option<S>,
    /// The compression of the values.
    pub coding: Coding<S>,
    /// The start and end of each value in the bytes.
    pub offsets: BinaryOffsets<S>,
}

/// The compression of byte strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coding<S> {
    /// Values are stored uncompressed.
    Raw,
    /// Each value is a sequence of one-byte codes, each of which stands for a symbol of several bytes.
    Fsst {
        /// Length of all values, uncompressed.
        total_len: u64,
        /// The symbol table.
        symbols: S,
    },
    /// Each value is a sequence of codes of 12 bits, each of which stands for a byte or for a token of several.
    OnPair {
        /// Length of all values, uncompressed.
        total_len: u64,
        /// The tokens.
        tokens: S,
    },
}

impl<S> Coding<S> {
    /// The coding's name, as `dv info` shows it.
    pub const fn name(&self) -> &'static str {
        match self {
            Coding::Raw => "raw",
            Coding::Fsst { .. } => "fsst",
            Coding::OnPair { .. } => "onpair",
        }
    }

    /// Maps the section of its table.
    ///
    /// # Errors
    ///
    /// The error of `f`.
    pub fn try_map<T, E>(self, f: impl FnOnce(S) -> Result<T, E>) -> Result<Coding<T>, E> {
        Ok(match self {
            Coding::Raw => Coding::Raw,
            Coding::Fsst { total_len, symbols } => Coding::Fsst { total_len, symbols: f(symbols)? },
            Coding::OnPair { total_len, tokens } => Coding::OnPair { total_len, tokens: f(tokens)? },
        })
    }
}

/// The start and end of each byte string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BinaryOffsets<S> {
    /// Every value has this length in bytes.
    Fixed(u32),
    /// The start of each value, and the end of the last one: one more number than values.
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

    /// The end of the last of `count` values.
    fn total(&self, count: u64) -> u64 {
        match self {
            BinaryOffsets::Fixed(len) => count.saturating_mul(u64::from(*len)),
            BinaryOffsets::Variable(offsets) => offsets.max.cast_unsigned(),
        }
    }
}

impl<S> Binary<S> {
    /// Maps every section, in file order: bytes, symbols, offsets, their jump table.
    ///
    /// # Errors
    ///
    /// The first error of `f`.
    pub fn try_map<T, E>(self, f: &mut dyn FnMut(Section, S) -> Result<T, E>) -> Result<Binary<T>, E> {
        let bytes = self.bytes.map(|s| f(Section::Bytes, s)).transpose()?;
        let coding = self.coding.try_map(|table| f(Section::Symbols, table))?;
        let offsets = match self.offsets {
            BinaryOffsets::Fixed(len) => BinaryOffsets::Fixed(len),
            BinaryOffsets::Variable(offsets) => BinaryOffsets::Variable(offsets.try_map(f)?),
        };
        Ok(Binary { count: self.count, bytes, coding, offsets })
    }

    /// Compares all fields with each other, given the length of each section.
    fn check(&self, len: impl Fn(&S) -> u64) -> Result<(), ErrorKind> {
        let bytes = self.bytes.as_ref().map(len);
        ErrorKind::rule(bytes != Some(0), "empty values have a bytes section")?;
        let has_coded = bytes.is_some() || matches!(self.coding, Coding::Raw);
        ErrorKind::rule(has_coded, "empty values are compressed")?;
        // Offsets are places in the bytes, or in their codes.
        let total = self.offsets.total(self.count);
        let bytes = match &self.coding {
            Coding::Raw | Coding::Fsst { .. } => bytes,
            Coding::OnPair { .. } => {
                ErrorKind::equal("length of the codes", bytes.unwrap_or(0), onpair::bytes_of(total))?;
                Some(total)
            }
        };
        match &self.offsets {
            BinaryOffsets::Fixed(len) => {
                ErrorKind::rule(self.count > 0 || *len == 0, "a column without values declares a length")?;
                ErrorKind::equal("length of the bytes", bytes.unwrap_or(0), total)
            }
            BinaryOffsets::Variable(offsets) => {
                let bytes = bytes.ok_or(ErrorKind::Broken("values of different lengths have no bytes"))?;
                ErrorKind::equal("number of offsets", offsets.count, self.count.saturating_add(1))?;
                ErrorKind::equal("first offset", offsets.min.cast_unsigned(), 0)?;
                ErrorKind::equal("last offset", offsets.max.cast_unsigned(), bytes)
            }
        }
    }
}

impl Binary<SectionRef> {
    /// Appends the fields to a directory entry; the layout is in the docs of
    /// [the module](self#entry-in-the-directory).
    pub fn encode_meta(&self, out: &mut Vec<u8>) {
        let (variable, fixed_len) = match self.offsets {
            BinaryOffsets::Fixed(len) => (0, len),
            BinaryOffsets::Variable(_) => (1, 0),
        };
        out.put_u64(self.count);
        out.put_u8(variable);
        out.put_u8(match self.coding {
            Coding::Raw => TAG_RAW,
            Coding::Fsst { .. } => TAG_FSST,
            Coding::OnPair { .. } => TAG_ONPAIR,
        });
        out.put_u32(fixed_len);
        if let Some(bytes) = &self.bytes {
            bytes.encode(out);
        }
        match &self.coding {
            Coding::Raw => {}
            Coding::Fsst { total_len, symbols } | Coding::OnPair { total_len, tokens: symbols } => {
                out.put_u64(*total_len);
                symbols.encode(out);
            }
        }
        if let BinaryOffsets::Variable(offsets) = &self.offsets {
            offsets.encode_meta(out);
        }
    }

    /// Reads what [`encode_meta`](Self::encode_meta) wrote.
    ///
    /// # Errors
    ///
    /// When a field has a value that the format does not allow, or two fields disagree.
    pub fn decode_meta(cursor: &mut Cursor<'_>) -> Result<Binary<SectionRef>> {
        let (count, variable) = (cursor.u64()?, cursor.u8()?);
        cursor.at_most("variable", variable.into(), 1)?;
        let tag = cursor.u8()?;
        match tag {
            TAG_RAW | TAG_FSST | TAG_ONPAIR => {}
            TAG_DEFLATE => return Err(cursor.refuse(ErrorKind::Retired(DEFLATE))),
            _ => return Err(cursor.refuse(ErrorKind::UnknownTag { what: "coding of byte strings", tag })),
        }
        let (variable, fixed_len) = (variable == 1, cursor.u32()?);
        cursor.rule(!variable || fixed_len == 0, "values of different lengths declare a fixed length")?;
        let has_bytes = variable || (count > 0 && fixed_len > 0);
        let bytes = has_bytes.then(|| SectionRef::decode(cursor)).transpose()?;
        let coding = match tag {
            TAG_FSST => Coding::Fsst { total_len: cursor.u64()?, symbols: SectionRef::decode(cursor)? },
            TAG_ONPAIR => Coding::OnPair { total_len: cursor.u64()?, tokens: SectionRef::decode(cursor)? },
            _ => Coding::Raw,
        };
        let offsets = match variable {
            true => BinaryOffsets::Variable(Numeric::decode_meta(cursor, Role::Offsets)?),
            false => BinaryOffsets::Fixed(fixed_len),
        };
        let meta = Binary { count, bytes, coding, offsets };
        cursor.check(meta.check(|section| section.len))?;
        Ok(meta)
    }
}
