//! The [`Column`] trait, a column's description, and its values by element type.

use std::fmt;
use std::ops::RangeInclusive;

use docvalues_format::file::field::Field;
use docvalues_format::file::kind::Kind;
use docvalues_format::id::TermOrd;

use crate::{DocRange, Result, Rows, SkipIndex, Terms};

/// The values of one field for all documents of a source.
///
/// # Examples
///
/// A column of numbers in memory, without gaps:
///
/// ```
/// use docvalues_column::{
///     BatchDocs, Bounds, Column, ColumnInfo, Count, DocRange, Each, Field, Gathered, Kind, LogicalType, Result, Rows,
///     Values, bits, scan_by_gather,
/// };
///
/// struct Sizes {
///     info: ColumnInfo,
///     values: Vec<i64>,
/// }
///
/// impl Column for Sizes {
///     fn info(&self) -> &ColumnInfo {
///         &self.info
///     }
///
///     fn exists(&self, docs: DocRange, out: &mut [u64]) -> Result<()> {
///         bits::check(docs, out);
///         bits::set_range(out, 0..docs.clip(self.info.docs).len()); // every document has a value
///         Ok(())
///     }
///
///     fn values(&self) -> Values<'_> {
///         Values::Numbers(self)
///     }
/// }
/// # impl Rows<i64> for Sizes {
/// #     fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<i64>) -> Result<()> {
/// #         let (values, _) = out.begin_one(docs.len());
/// #         for (value, doc) in values.iter_mut().zip(docs.iter()) {
/// #             *value = self.values[doc.get() as usize];
/// #         }
/// #         Ok(())
/// #     }
/// #     fn scan(&self, docs: DocRange, each: &mut Each<'_, i64>) -> Result<()> {
/// #         scan_by_gather(self, docs.clip(self.info.docs), each)
/// #     }
/// # }
///
/// let info = ColumnInfo {
///     field: Field::new("size", Kind::Numeric, LogicalType::I64),
///     docs: 3,
///     with_value: Count::Exact(3),
///     value_count: Count::Exact(3),
///     bounds: Bounds::Exact(7..=512),
///     sum: None,
/// };
/// let column = Sizes { info, values: vec![7, 512, 70] };
/// let mut out = [0];
/// column.exists(DocRange::new(1, 9), &mut out)?;
/// assert_eq!(out, [0b11]); // documents 1 and 2
/// # assert!(column.values().numbers().is_some());
/// # Ok::<(), docvalues_column::Error>(())
/// ```
pub trait Column: Send + Sync {
    /// The column's description. O(1); reads no value.
    fn info(&self) -> &ColumnInfo;

    /// Sets the bit of every document of `docs` that has a value. Documents past the last one have none.
    ///
    /// # Errors
    ///
    /// If bytes of the column are damaged.
    ///
    /// # Panics
    ///
    /// If `bits` has fewer than [`DocRange::words`] words.
    fn exists(&self, docs: DocRange, bits: &mut [u64]) -> Result<()>;

    /// The values, by element type. O(1).
    fn values(&self) -> Values<'_>;

    /// The skip index, if the column has one. Only columns of numbers do.
    fn skip_index(&self) -> Option<&dyn SkipIndex> {
        None
    }

    /// Whether this column stands in for one that the source lacks, as [`AbsentColumn`](crate::AbsentColumn) does.
    fn is_absent(&self) -> bool {
        false
    }
}

impl fmt::Debug for dyn Column + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column").field("info", self.info()).finish_non_exhaustive()
    }
}

/// The rows of a column, by element type.
///
/// A row holds at most one number or ord, or, if [`Kind::is_multi_valued`], any number of them. A row of bytes is one
/// byte string.
///
/// # Examples
///
/// ```
/// use docvalues_column::{BatchDocs, Column, DocId, Gathered, Lists, Result, Values};
///
/// /// The value of one document as text.
/// fn show(column: &dyn Column, doc: DocId) -> Result<String> {
///     let docs = BatchDocs::List(std::slice::from_ref(&doc));
///     Ok(match column.values() {
///         Values::Numbers(rows) => {
///             let mut numbers = Gathered::new();
///             rows.gather(docs, &mut numbers)?;
///             format!("{:?}", numbers.row(0))
///         }
///         Values::Ords(rows, terms) => {
///             let (mut ords, mut found) = (Gathered::new(), Lists::new());
///             rows.gather(docs, &mut ords)?;
///             terms.gather_terms(ords.row(0).unwrap_or_default(), &mut found)?;
///             found.slices().iter().map(String::from_utf8_lossy).collect()
///         }
///         Values::Bytes(rows) => {
///             let mut bytes = Gathered::new();
///             rows.gather(docs, &mut bytes)?;
///             String::from_utf8_lossy(bytes.row(0).unwrap_or_default()).into_owned()
///         }
///     })
/// }
/// # let absent = docvalues_column::AbsentColumn::new("size", 3);
/// # assert_eq!(show(&absent, DocId::new(0))?, "None");
/// # Ok::<(), docvalues_column::Error>(())
/// ```
#[derive(Clone, Copy)]
pub enum Values<'c> {
    /// 64-bit numbers in their stored form, which [`LogicalType`](crate::LogicalType) defines.
    Numbers(&'c dyn Rows<i64>),
    /// Ords, and the dictionary that they index.
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
