//! A column: its description and the way to its values.

use std::fmt;
use std::ops::RangeInclusive;

use docvalues_format::file::field::Field;
use docvalues_format::file::kind::Kind;
use docvalues_format::id::TermOrd;

use crate::{DocRange, Result, Rows, SkipIndex, Terms};

/// The values of one field for the documents of a source.
pub trait Column: Send + Sync {
    /// The column's description. O(1), without a look at any value.
    fn info(&self) -> &ColumnInfo;

    /// Adds to `bits` every document of `docs` that has a value. Documents past the last one have none.
    ///
    /// # Errors
    ///
    /// When bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `bits` has fewer than [`DocRange::words`] words.
    fn exists(&self, docs: DocRange, bits: &mut [u64]) -> Result<()>;

    /// The values, by what they are.
    fn values(&self) -> Values<'_>;

    /// The skip index, if the column has one; of numbers only.
    fn skip_index(&self) -> Option<&dyn SkipIndex> {
        None
    }

    /// Whether the source has no such column and this one stands in for it: see [`AbsentColumn`](crate::AbsentColumn).
    fn is_absent(&self) -> bool {
        false
    }
}

impl fmt::Debug for dyn Column + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column").field("info", self.info()).finish_non_exhaustive()
    }
}

/// The values of a column: one of three kinds of elements, in rows.
///
/// [`Kind::is_multi_valued`] tells whether a row has at most one number or ord, or any number of them. A row of bytes is
/// one byte string.
#[derive(Clone, Copy)]
pub enum Values<'c> {
    /// 64-bit numbers, as they are stored: [`LogicalType`](crate::LogicalType) says what they mean.
    Numbers(&'c dyn Rows<i64>),
    /// Ords, and the dictionary that they point into.
    Ords(&'c dyn Rows<TermOrd>, &'c dyn Terms),
    /// Byte strings.
    Bytes(&'c dyn Rows<u8>),
}

impl<'c> Values<'c> {
    /// The rows of numbers, if these are numbers.
    pub fn numbers(self) -> Option<&'c dyn Rows<i64>> {
        if let Values::Numbers(rows) = self { Some(rows) } else { None }
    }

    /// The rows of ords, if these are ords.
    pub fn ords(self) -> Option<&'c dyn Rows<TermOrd>> {
        if let Values::Ords(rows, _) = self { Some(rows) } else { None }
    }

    /// The rows of bytes, if these are byte strings.
    pub fn bytes(self) -> Option<&'c dyn Rows<u8>> {
        if let Values::Bytes(rows) = self { Some(rows) } else { None }
    }

    /// The dictionary, if there is one.
    pub fn terms(self) -> Option<&'c dyn Terms> {
        if let Values::Ords(_, terms) = self { Some(terms) } else { None }
    }
}

/// The description of a column: all that is known before any of its values is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Name, kind and type.
    pub field: Field,
    /// Documents of the source, with and without a value here. Document ids are below it.
    pub docs: u32,
    /// Documents that have a value.
    pub with_value: Count,
    /// Values of all documents together; a byte string is one.
    pub value_count: Count,
    /// The smallest and the largest stored number; [`Unknown`](Bounds::Unknown) of a column without numbers.
    pub bounds: Bounds,
    /// The sum of all stored numbers, if it is known; `None` of a column without numbers. Of doubles it would mean
    /// nothing.
    pub sum: Option<i128>,
}

impl ColumnInfo {
    /// Whether every document is known to have a value.
    pub fn all_present(&self) -> bool {
        self.with_value == Count::Exact(self.docs.into())
    }

    /// The column's kind.
    pub fn kind(&self) -> Kind {
        self.field.kind
    }

    /// Whether a row has any number of values, and not at most one.
    pub fn is_multi_valued(&self) -> bool {
        self.field.kind.is_multi_valued()
    }
}

/// A number of documents or values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// So many.
    Exact(u64),
    /// So many or fewer: some of those that were counted may have been deleted or changed.
    AtMost(u64),
}

impl Count {
    /// The count if it is exact, else the most that there may be.
    pub const fn most(self) -> u64 {
        match self {
            Count::Exact(count) | Count::AtMost(count) => count,
        }
    }

    /// The count, if it is exact.
    pub const fn exact(self) -> Option<u64> {
        match self {
            Count::Exact(count) => Some(count),
            Count::AtMost(_) => None,
        }
    }
}

/// The smallest and the largest of some numbers. An empty range: there are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// Both ends are values.
    Exact(RangeInclusive<i64>),
    /// No value lies outside.
    Within(RangeInclusive<i64>),
    /// Nothing is known; also of columns without numbers.
    Unknown,
}

impl Bounds {
    /// The bounds of no numbers.
    pub const NONE: Bounds = Bounds::Exact(RangeInclusive::new(i64::MAX, i64::MIN));

    /// A range that holds all values; empty if there are none.
    pub fn range(&self) -> RangeInclusive<i64> {
        match self {
            Bounds::Exact(range) | Bounds::Within(range) => range.clone(),
            Bounds::Unknown => i64::MIN..=i64::MAX,
        }
    }

    /// The range, if both of its ends are values or it is empty.
    pub fn exact(&self) -> Option<&RangeInclusive<i64>> {
        if let Bounds::Exact(range) = self { Some(range) } else { None }
    }
}
