//! The [`Column`] trait: the values of one field.

use std::fmt;

use crate::{ColumnInfo, DocRange, Result, SkipIndex, Values};

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
