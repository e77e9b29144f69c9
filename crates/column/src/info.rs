//! The description of a column: its field, counts and bounds. It knows nothing of rows.

use std::ops::RangeInclusive;

use docvalues_format::file::field::Field;
use docvalues_format::file::kind::Kind;

/// The description of a column: all that is known without reading its values.
///
/// Searches answer from it what they can: a count, a minimum or a sum over all documents reads no value if it is exact.
///
/// ```
/// use docvalues_column::{Bounds, ColumnInfo, Count, Field, Kind, LogicalType};
///
/// let info = ColumnInfo {
///     field: Field::new("size", Kind::Numeric, LogicalType::I64),
///     docs: 1_000,
///     with_value: Count::Exact(900),
///     value_count: Count::Exact(900),
///     bounds: Bounds::Exact(70..=512),
///     sum: Some(250_000),
/// };
/// assert!(!info.all_present() && !info.is_multi_valued());
/// assert_eq!(info.bounds.range(), 70..=512);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnInfo {
    /// Name, kind and type.
    pub field: Field,
    /// The number of documents of the source, with and without a value. Document ids are below it.
    pub docs: u32,
    /// The number of documents that have a value.
    pub with_value: Count,
    /// The number of values of all documents together. A byte string is one value.
    pub value_count: Count,
    /// The smallest and the largest stored number; [`Unknown`](Bounds::Unknown) for columns of ords or bytes.
    pub bounds: Bounds,
    /// The sum of all stored numbers, if it is known. `None` for ords and bytes, and for doubles, whose stored numbers
    /// are not additive.
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

    /// Whether a row may have several values.
    pub fn is_multi_valued(&self) -> bool {
        self.field.kind.is_multi_valued()
    }
}

/// A number of documents or values: exact, or an upper bound.
///
/// ```
/// use docvalues_column::Count;
///
/// let (exact, bound) = (Count::Exact(7), Count::AtMost(9)); // 9 before some documents were overwritten
/// assert_eq!((exact.most(), bound.most()), (7, 9));
/// assert_eq!((exact.exact(), bound.exact()), (Some(7), None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// The exact number.
    Exact(u64),
    /// An upper bound: some of the counted documents or values may have been deleted or changed since.
    AtMost(u64),
}

impl Count {
    /// The exact count, or the upper bound.
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

/// The smallest and the largest of a column's stored numbers. The range of no numbers is empty.
///
/// ```
/// use docvalues_column::Bounds;
///
/// // A range filter is decided without reading a value if the bounds lie inside or outside of its range.
/// let bounds = Bounds::Within(70..=512);
/// let outside = |wanted: std::ops::RangeInclusive<i64>| {
///     *wanted.end() < *bounds.range().start() || *bounds.range().end() < *wanted.start()
/// };
/// assert!(outside(600..=700) && !outside(500..=700));
/// assert_eq!(bounds.exact(), None); // so 70 is no answer to "what is the minimum"
/// assert!(Bounds::NONE.range().is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// Both ends occur as values, or the range is empty.
    Exact(RangeInclusive<i64>),
    /// No value lies outside; the ends need not occur.
    Within(RangeInclusive<i64>),
    /// Nothing is known. Always so for columns of ords or bytes.
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

    /// The range, if it is exact.
    pub fn exact(&self) -> Option<&RangeInclusive<i64>> {
        if let Bounds::Exact(range) = self { Some(range) } else { None }
    }
}
