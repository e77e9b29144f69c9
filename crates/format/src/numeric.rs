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
//! # Checks
//!
//! Opening checks the lengths of sections and reads the table of values, nothing else. A block is checked each time
//! it is located, and an ord each time it is looked up, so damage gives an error or a wrong number, never a panic.
//! [`NumericReader::verify`] reads everything.

use std::convert::Infallible;
use std::ops::Range;

use crate::error::{Result, Section};

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
mod lookup;
mod meta;
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
mod zone;

pub use block::{Block, Encoding, Stride};
pub use decimal::{DECIMAL_LIMIT, Decimal, MAX_DIGITS};
pub use direct::Direct;
pub use encode::{NumericOptions, encode, encode_from};
pub use fine_zone::{FINE_ZONE, FINE_ZONE_LEN, FINE_ZONES_TAG, FineZones};
pub use gather::{gather_packed, gather_packed_ords};
pub use lookup::{Lookup, RUN};
pub use pruning_stats::{PruneCounts, Pruning};
pub use read::NumericReader;
pub use table::Table;
pub use verify::{BlockCount, Encodings};
pub use zone::{ZONE, ZONE_LEN, ZONES_PER_ZONE};

/// A value to encode: an `i64` or a `u32`.
pub trait Number: Copy + Into<i64> {
    /// The values as the encoder reads them.
    #[doc(hidden)]
    fn slice(values: &[Self]) -> slice::Slice<'_>;
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
/// ([`SectionRef`](crate::granule::SectionRef)) or opened sections ([`SectionBytes`](crate::source::SectionBytes)).
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
}

#[cfg(test)]
mod tests;
