//! [`AbsentColumn`]: the stand-in for a column that a source lacks.

use docvalues_format::file::field::Field;
use docvalues_format::file::kind::{Kind, LogicalType};

use crate::batch::BatchDocs;
use crate::rows::{Each, Rows};
use crate::{Bounds, Column, ColumnInfo, Count, DocRange, Gathered, Pruning, Result, Values};

/// A numeric column without values: the stand-in for a column that a source lacks.
///
/// Searches over several sources use it if only some of them have a column.
///
/// ```
/// use docvalues_column::{AbsentColumn, Column, Count};
///
/// let column = AbsentColumn::new("size", 10);
/// assert!(column.is_absent());
/// assert_eq!(column.info().with_value, Count::Exact(0));
/// ```
#[derive(Clone, Debug)]
pub struct AbsentColumn {
    info: ColumnInfo,
}

impl AbsentColumn {
    /// A column `name` without values, for a source of `docs` documents.
    pub fn new(name: impl Into<String>, docs: u32) -> AbsentColumn {
        let info = ColumnInfo {
            field: Field::new(name, Kind::Numeric, LogicalType::I64),
            docs,
            with_value: Count::Exact(0),
            value_count: Count::Exact(0),
            bounds: Bounds::NONE,
            sum: Some(0),
        };
        AbsentColumn { info }
    }
}

impl Column for AbsentColumn {
    fn info(&self) -> &ColumnInfo {
        &self.info
    }

    fn exists(&self, docs: DocRange, bits: &mut [u64]) -> Result<()> {
        crate::bits::check(docs, bits);
        Ok(())
    }

    fn values(&self) -> Values<'_> {
        Values::Numbers(self)
    }

    fn is_absent(&self) -> bool {
        true
    }
}

impl Rows<i64> for AbsentColumn {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<i64>) -> Result<()> {
        let fill = out.fill();
        let (values, mut presence) = out.begin_one(docs.len());
        values.fill(fill);
        presence.none();
        Ok(())
    }

    fn scan(&self, _docs: DocRange, _each: &mut Each<'_, i64>) -> Result<()> {
        Ok(())
    }

    fn filter(
        &self,
        docs: DocRange,
        _wanted: &std::ops::RangeInclusive<i64>,
        bits: &mut [u64],
        _pruned: &mut Pruning,
    ) -> Result<()> {
        crate::bits::check(docs, bits);
        Ok(())
    }
}
