//! Columns of 64-bit numbers.
//!
//! # From values to bytes
//!
//! Encoding has two steps. The first is chosen for the column, the second for each block of 2^`block_shift` values; a
//! block may also be the whole column:
//!
//! 1. a [`Transform`] maps values to small numbers `q`: the difference from the smallest value, divided by the
//!    greatest common divisor; for doubles that are decimals, the same of their integers; or the index in a table of
//!    the distinct values;
//! 2. an [`Encoding`] maps the numbers of a block to residuals, which are [packed](crate::bits).
//!
//! All arithmetic is modulo 2^64, so a column may hold `i64::MIN` and `i64::MAX` at once. The writer computes the
//! size of every combination and picks the cheapest; in long columns it estimates the gain of lines from a sample.
//!
//! # Sections
//!
//! | section | holds |
//! | --- | --- |
//! | values | blocks end to end, each with a header and residuals: see [`Encoding`] |
//! | values jump table | a copy of each block's header, to find a block in O(1); absent if there is one block |
//! | values table | the 2 to 256 distinct values, i64s in ascending order |
//! | zone map | the smallest and the largest of every 4,096 values, and of every 262,144 |
//! | fine zones | bounds of every 512 values in two bytes; stored in a directory extension |
//!
//! A column of equal values has no sections.
//!
//! # Byte by byte
//!
//! Eight timestamps, a minute apart, with one late by 120 s. The greatest common divisor is a minute, so `q` is a
//! number of minutes, of four bits each:
//!
//! ```
//! use docvalues_format::numeric::{self, NumericOptions, Role, Transform};
//!
//! let minutes = [0, 1, 2, 3, 4, 5, 6, 9];
//! let values = minutes.map(|minute| 1_700_000_000_000 + minute * 60_000);
//! let options = NumericOptions { role: Role::Values, doubles: false, jump_tables: true, zones: true };
//! let column = numeric::encode(&values, &options);
//!
//! assert_eq!(column.transform, Transform::Affine { base: values[0], gcd: 60_000 });
//! let blocks = column.blocks.unwrap();
//! let (header, residuals) = blocks.split_at(16);
//! assert_eq!(header[8..10], [1, 4]); // packed, four bits each
//! assert_eq!(residuals, [0x10, 0x32, 0x54, 0x96, 0, 0, 0, 0]); // two a byte, the first in the low bits
//! assert!(column.jump.is_none() && column.zones.is_none()); // one block, one zone
//! ```
//!
//! # What a reader may trust
//!
//! Opening checks the lengths of sections and reads the table of values, nothing else. A block is checked each time
//! it is located, and an ord each time it is looked up, so damage gives an error or a wrong number, never a panic.
//! [`NumericReader::verify`] reads everything.

use std::convert::Infallible;
use std::ops::Range;

use crate::cursor::{Cursor, Put};
use crate::error::{ErrorKind, Result, Section};
use crate::granule::SectionRef;

mod block;
mod decode;

mod choose_encoding;
mod decimal;
mod direct;
mod encode;
mod estimate;
mod fast_get;
mod filter;
mod fine_zone;
mod gather;
mod locate;
mod numbers;
mod ords;
mod pruning_stats;
mod read;
mod simd;
mod skip_index;
mod slice;
mod table;
mod value_stats;
mod verify;
mod walk;
mod zone;

pub use block::{Block, Encoding, Stride};
pub use decimal::{DECIMAL_LIMIT, Decimal, MAX_DIGITS};
pub use direct::Direct;
pub use encode::{NumericOptions, encode, encode_from};
pub use fine_zone::{FINE_ZONE, FINE_ZONE_LEN, FINE_ZONES_TAG, FineZones};
pub use pruning_stats::{PruneCounts, Pruning};
pub use read::NumericReader;
pub use verify::{BlockCount, Encodings};
pub use walk::Walk;
pub use zone::{ZONE, ZONE_LEN, ZONES_PER_ZONE};

/// A value to encode: an integer type that converts to `i64`. Those of 64 and 32 bits, `i64` and `u32`, are encoded as
/// they are, others are converted first.
pub trait Number: Copy + Into<i64> {
    /// The values as the encoder reads them: they themselves, or converted in `wider`.
    #[doc(hidden)]
    fn slice<'a>(values: &'a [Self], wider: &'a mut Vec<i64>) -> slice::Slice<'a>;
}

/// Values to encode: a slice, or values in a file if they exceed memory.
pub trait Values {
    /// The type of the values.
    type Number: Number;
    /// The error of reading values.
    type Error;

    /// The number of values.
    fn len(&self) -> usize;

    /// Returns whether there are no values.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the values of `range`, at most 2^14 of them. Values that are not in memory are read into `buf`.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    fn read<'a>(
        &'a self,
        range: Range<usize>,
        buf: &'a mut Vec<Self::Number>,
    ) -> Result<&'a [Self::Number], Self::Error>;
}

impl<T: Number> Values for [T] {
    type Number = T;
    type Error = Infallible;

    fn len(&self) -> usize {
        self.len()
    }

    fn read<'a>(&'a self, range: Range<usize>, _: &'a mut Vec<T>) -> Result<&'a [T], Infallible> {
        Ok(&self[range])
    }
}

/// The ranges in which `len` values are read: each as long as the largest block.
pub fn chunks(len: usize) -> impl Iterator<Item = Range<usize>> {
    blocks(0..len, *BLOCK_SHIFTS.end())
}

/// The blocks of 2^`shift` values in `range`, which begins with a block.
fn blocks(range: Range<usize>, shift: u8) -> impl Iterator<Item = Range<usize>> {
    range.clone().step_by(1 << shift).map(move |start| start..range.end.min(start + (1 << shift)))
}

/// The block sizes of a column, as exponents of two; [`ONE_BLOCK`] is another one.
pub const BLOCK_SHIFTS: std::ops::RangeInclusive<u8> = 9..=14;

/// The exponent of a block that holds the whole column.
///
/// If all parts of a column have similar values, cutting it into blocks saves nothing. In one block a value is one
/// load, without a jump entry.
pub const ONE_BLOCK: u8 = 40;

/// The most values of a [`Transform::Table`].
pub const MAX_TABLE: usize = 256;

/// Bytes of the longest table.
const TABLE_LEN: usize = MAX_TABLE * size_of::<i64>();

/// The use of the numbers, which determines the sections that they fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The column's own values or ords.
    Values,
    /// Offsets of each document's values or bytes.
    Offsets,
    /// Offsets of the blocks of terms.
    TermOffsets,
    /// The document of each id, in the order of the ids.
    IdDocs,
}

impl Role {
    /// Every role.
    pub const ALL: [Role; 4] = [Role::Values, Role::Offsets, Role::TermOffsets, Role::IdDocs];

    /// The section of the blocks, and that of the jump table.
    pub const fn sections(self) -> (Section, Section) {
        match self {
            Role::Values => (Section::Values, Section::ValuesJump),
            Role::Offsets => (Section::Offsets, Section::OffsetsJump),
            Role::TermOffsets => (Section::TermOffsets, Section::TermOffsetsJump),
            Role::IdDocs => (Section::IdDocs, Section::IdDocsJump),
        }
    }

    /// Returns whether the column may have a table of values and zones: only values have sections for them.
    pub const fn is_values(self) -> bool {
        matches!(self, Role::Values)
    }
}

/// A mapping from the values of a column to small numbers `q`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform<S> {
    /// All values are equal to this one; there are no blocks.
    Constant(i64),
    /// `value = base + q * gcd`.
    Affine {
        /// The smallest value.
        base: i64,
        /// A common divisor of all differences from the smallest value; at least 1.
        gcd: u64,
    },
    /// `value = (base + q * gcd) / 10^digits`, a double.
    Decimal(Decimal),
    /// `value = table[q]`: the section holds the distinct values in ascending order.
    Table(S),
}

impl<S> Transform<S> {
    /// The transform's name, as `dv info` shows it.
    pub const fn name(&self) -> &'static str {
        match self {
            Transform::Constant(_) => "constant",
            Transform::Affine { .. } => "affine",
            Transform::Decimal(_) => "decimal",
            Transform::Table(_) => "table",
        }
    }
}

/// A column of numbers with its sections, which are encoded bytes (`Vec<u8>`), references in the directory
/// ([`SectionRef`]) or opened sections ([`SectionBytes`](crate::source::SectionBytes)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numeric<S> {
    /// The use of the numbers, which names their sections.
    pub role: Role,
    /// The number of values.
    pub count: u64,
    /// The smallest value; 0 if there is none.
    pub min: i64,
    /// The largest value; 0 if there is none.
    pub max: i64,
    /// The mapping from values to numbers.
    pub transform: Transform<S>,
    /// The logarithm of the values in a block, one of [`BLOCK_SHIFTS`] or [`ONE_BLOCK`].
    pub block_shift: u8,
    /// The length of a block's header.
    pub stride: Stride,
    /// The blocks; absent if the transform is constant.
    pub blocks: Option<S>,
    /// The baked jump table; absent if there is one block.
    pub jump: Option<S>,
    /// The zone map.
    pub zones: Option<S>,
    /// The fine zones. They are not in the directory but in an extension of the root: see [`FineZones`].
    pub fine_zones: Option<S>,
}

const TAG_CONSTANT: u8 = 0;
const TAG_AFFINE: u8 = 1;
const TAG_TABLE: u8 = 2;
const TAG_DECIMAL: u8 = 3;
const HAS_JUMP: u8 = 1;
const HAS_ZONES: u8 = 2;

impl<S> Numeric<S> {
    /// Maps every section with `f`, in file order: blocks, jump table, table of values, zone map, fine zones. The
    /// fine zones lie after all columns.
    ///
    /// # Errors
    ///
    /// The first that `f` returns.
    pub fn try_map<T, E>(self, f: &mut dyn FnMut(Section, S) -> Result<T, E>) -> Result<Numeric<T>, E> {
        let (role, (of_blocks, of_jump)) = (self.role, self.role.sections());
        let blocks = self.blocks.map(|s| f(of_blocks, s)).transpose()?;
        let jump = self.jump.map(|s| f(of_jump, s)).transpose()?;
        let transform = match self.transform {
            Transform::Constant(value) => Transform::Constant(value),
            Transform::Affine { base, gcd } => Transform::Affine { base, gcd },
            Transform::Decimal(decimal) => Transform::Decimal(decimal),
            Transform::Table(s) => Transform::Table(f(Section::ValuesTable, s)?),
        };
        let zones = self.zones.map(|s| f(Section::ZoneMap, s)).transpose()?;
        let fine_zones = self.fine_zones.map(|s| f(Section::FineZones, s)).transpose()?;
        let Numeric { count, min, max, block_shift, stride, .. } = self;
        Ok(Numeric { role, count, min, max, transform, block_shift, stride, blocks, jump, zones, fine_zones })
    }

    /// How many blocks there are.
    pub fn block_count(&self) -> u64 {
        match self.transform {
            Transform::Constant(_) => 0,
            _ => self.count.div_ceil(1 << self.block_shift),
        }
    }

    /// Checks that all fields agree with each other and with the length of each section.
    fn check(&self, len: impl Fn(&S) -> u64) -> Result<(), ErrorKind> {
        let above = |what, found, max| Err(ErrorKind::OutOfRange { what, found, max });
        if !BLOCK_SHIFTS.contains(&self.block_shift) && self.block_shift != ONE_BLOCK {
            return above("block shift", self.block_shift.into(), (*BLOCK_SHIFTS.end()).into());
        }
        if self.block_shift == ONE_BLOCK && self.block_count() > 1 {
            return above("values in one block", self.count, 1 << ONE_BLOCK);
        }
        let has_blocks = self.blocks.is_some();
        ErrorKind::rule(self.min <= self.max, "the smallest value is above the largest")?;
        ErrorKind::rule(self.fine_zones.is_none() || self.zones.is_some(), "fine zones without a zone map")?;
        let has_lookups = self.jump.is_some() || self.zones.is_some();
        ErrorKind::rule(has_blocks || !has_lookups, "a jump table or a zone map without blocks")?;
        match &self.transform {
            Transform::Constant(value) => {
                let is_it = (self.min, self.max) == (*value, *value);
                ErrorKind::rule(is_it, "the constant differs from the smallest or largest value")?;
                return ErrorKind::rule(!has_blocks, "a constant column has blocks");
            }
            Transform::Affine { base, gcd } => {
                let is_good = *gcd != 0 && *base == self.min;
                ErrorKind::rule(is_good, "the base is not the smallest value or the divisor is zero")?;
            }
            Transform::Decimal(decimal) => {
                ErrorKind::rule(self.role.is_values(), "only the role of values may have decimals")?;
                let first = Decimal::new(self.min, decimal.gcd, decimal.digits);
                let are = first == Some(*decimal) && decimal.integer(self.max).is_some();
                ErrorKind::rule(are, "the smallest or largest value is not a decimal of these digits")?;
            }
            Transform::Table(table) => {
                ErrorKind::rule(self.role.is_values(), "only the role of values may have a table")?;
                let (found, max) = (len(table), TABLE_LEN as u64);
                if found % 8 != 0 || !(2 * 8..=max).contains(&found) {
                    return above("length of the values table", found, max);
                }
            }
        }
        let none = ErrorKind::Broken("a column with different values has no blocks");
        let (blocks, stride) = (len(self.blocks.as_ref().ok_or(none)?), self.stride.bytes() as u64);
        let headers = self.block_count().saturating_mul(stride);
        if self.count < 2 || headers > blocks {
            return above("number of blocks", self.block_count(), blocks / stride);
        }
        if let Some(jump) = &self.jump {
            ErrorKind::equal("length of the jump table", len(jump), headers)?;
            ErrorKind::rule(self.block_count() > 1, "a jump table for a single block")?;
        }
        if let Some(zones) = &self.zones {
            ErrorKind::rule(self.role.is_values(), "only the role of values may have a zone map")?;
            ErrorKind::rule(self.count > ZONE, "a zone map for a single zone")?;
            ErrorKind::equal("length of the zone map", len(zones), zone::encoded_len(self.count))?;
        }
        let fine_zones = self.fine_zones.as_ref();
        let expected = fine_zone::encoded_len(self.count);
        fine_zones.map_or(Ok(()), |all| ErrorKind::equal("length of the fine zones", len(all), expected))
    }
}

impl Numeric<SectionRef> {
    /// Appends the column's fields to a directory entry.
    ///
    /// | offset | bytes | field | meaning |
    /// | ---: | ---: | --- | --- |
    /// | 0 | 8 | `count` | u64: values |
    /// | 8 | 8 | `min` | i64: smallest value |
    /// | 16 | 8 | `max` | i64: largest value |
    /// | 24 | 8 | `gcd` | u64: the divisor; 0 unless affine or decimal |
    /// | 32 | 1 | `transform` | 0 constant, 1 affine, 2 table, 3 decimal |
    /// | 33 | 1 | `block_shift` | 9 to 14, or 40: one block |
    /// | 34 | 1 | `stride` | bytes of a header: 16 or 32 |
    /// | 35 | 1 | `sections` | bit 0: jump table, bit 1: zone map |
    /// | 36 | 1 | `digits` | u8: digits after the point; only if decimal |
    /// | … | | `refs` | a section reference for each that is there: blocks, jump table, values table, zone map |
    pub fn encode_meta(&self, out: &mut Vec<u8>) {
        let (tag, gcd, digits, table) = match self.transform {
            Transform::Constant(_) => (TAG_CONSTANT, 0, None, None),
            Transform::Affine { gcd, .. } => (TAG_AFFINE, gcd, None, None),
            Transform::Table(table) => (TAG_TABLE, 0, None, Some(table)),
            Transform::Decimal(Decimal { gcd, digits, .. }) => (TAG_DECIMAL, gcd, Some(digits), None),
        };
        out.put_u64(self.count);
        out.put_i64(self.min);
        out.put_i64(self.max);
        out.put_u64(gcd);
        out.put_u8(tag);
        out.put_u8(self.block_shift);
        out.put_u8(self.stride as u8);
        let bit = |there: bool, bit: u8| if there { bit } else { 0 };
        out.put_u8(bit(self.jump.is_some(), HAS_JUMP) | bit(self.zones.is_some(), HAS_ZONES));
        digits.into_iter().for_each(|digits| out.put_u8(digits));
        for section in [self.blocks, self.jump, table, self.zones].into_iter().flatten() {
            section.encode(out);
        }
    }

    /// Reads the fields that [`encode_meta`](Self::encode_meta) wrote for a column of this `role`.
    ///
    /// # Errors
    ///
    /// When a field is illegal, or two fields disagree.
    pub fn decode_meta(cursor: &mut Cursor<'_>, role: Role) -> Result<Numeric<SectionRef>> {
        let (count, min, max, gcd) = (cursor.u64()?, cursor.i64()?, cursor.i64()?, cursor.u64()?);
        let tag = cursor.u8()?;
        let unknown = cursor.refuse(ErrorKind::UnknownTag { what: "transform", tag });
        let block_shift = cursor.u8()?;
        let stride = cursor.u8()?;
        let stride = Stride::ALL.into_iter().find(|s| *s as u8 == stride);
        let stride = stride.ok_or_else(|| {
            cursor.refuse(ErrorKind::Broken("the length of a block header is neither 16 nor 32"))
        })?;
        let sections = cursor.u8()?;
        cursor.at_most("sections", sections.into(), (HAS_JUMP | HAS_ZONES).into())?;

        let decimal = match tag {
            TAG_DECIMAL => {
                let decimal = Decimal::new(min, gcd, cursor.u8()?);
                let none = ErrorKind::Broken("the smallest value is not a decimal of these digits");
                Some(decimal.ok_or_else(|| cursor.refuse(none))?)
            }
            _ => None,
        };

        let mut section = |there: bool| there.then(|| SectionRef::decode(cursor)).transpose();
        let blocks = section(tag != TAG_CONSTANT)?;
        let jump = section(sections & HAS_JUMP != 0)?;
        let table = section(tag == TAG_TABLE)?;
        let zones = section(sections & HAS_ZONES != 0)?;
        let transform = match (tag, table, decimal) {
            (TAG_CONSTANT, ..) => Transform::Constant(min),
            (TAG_AFFINE, ..) => Transform::Affine { base: min, gcd },
            (TAG_TABLE, Some(table), _) => Transform::Table(table),
            (TAG_DECIMAL, _, Some(decimal)) => Transform::Decimal(decimal),
            _ => return Err(unknown),
        };
        let may_divide = gcd == 0 || matches!(tag, TAG_AFFINE | TAG_DECIMAL);
        cursor.rule(may_divide, "a divisor without an affine or a decimal transform")?;
        let fine_zones = None;
        let meta = Numeric {
            role,
            count,
            min,
            max,
            transform,
            block_shift,
            stride,
            blocks,
            jump,
            zones,
            fine_zones,
        };
        cursor.check(meta.check(|section| section.len))?;
        Ok(meta)
    }
}

#[cfg(test)]
mod tests;
