//! [`AbsentColumn`]: the stand-in for a column that a source lacks.

use docvalues_format::file::field::Field;
use docvalues_format::file::kind::{Kind, LogicalType};

use docvalues_format::id::TermOrd;

use crate::batch::BatchDocs;
use crate::rows::{Each, Element, Rows};
use crate::{
    Bounds, Column, ColumnInfo, Count, DocRange, ErrorKind, Gathered, Lists, Pruning, Result, Terms, Values,
};

/// A column without values: the stand-in for a column that a source lacks.
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
    /// A column `name` without values, for a source of `docs` documents. It is numeric, as nothing else is known.
    pub fn new(name: impl Into<String>, docs: u32) -> AbsentColumn {
        AbsentColumn::of(Field::new(name, Kind::Numeric, LogicalType::I64), docs)
    }

    /// The column `field` without values, for a source of `docs` documents.
    pub fn of(field: Field, docs: u32) -> AbsentColumn {
        let is_bytes = field.kind.is_bytes();
        let info = ColumnInfo {
            field,
            docs,
            with_value: Count::Exact(0),
            value_count: Count::Exact(0),
            bounds: if is_bytes { Bounds::Unknown } else { Bounds::NONE },
            sum: (!is_bytes).then_some(0),
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

    // Never inlined: where it is, the methods of all three types of rows are compiled again.
    #[inline(never)]
    fn values(&self) -> Values<'_> {
        match self.info.field.kind {
            Kind::Numeric | Kind::SortedNumeric => Values::Numbers(self),
            Kind::Sorted | Kind::SortedSet => Values::Ords(self, self),
            Kind::Binary => Values::Bytes(self),
        }
    }

    fn is_absent(&self) -> bool {
        true
    }
}

impl<T: Element> Rows<T> for AbsentColumn {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<T>) -> Result<()> {
        if self.info.is_multi_valued() || self.info.field.kind == Kind::Binary {
            let (lists, mut presence) = out.begin_many(docs.len());
            (0..docs.len()).for_each(|_| lists.push(&[]));
            presence.none();
        } else {
            let fill = out.fill();
            let (values, mut presence) = out.begin_one(docs.len());
            values.fill(fill);
            presence.none();
        }
        Ok(())
    }

    fn scan(&self, _docs: DocRange, _each: &mut Each<'_, T>) -> Result<()> {
        Ok(())
    }

    fn filter(
        &self,
        docs: DocRange,
        _wanted: &T::Range,
        bits: &mut [u64],
        _pruned: &mut Pruning,
    ) -> Result<()> {
        crate::bits::check(docs, bits);
        Ok(())
    }
}

impl Terms for AbsentColumn {
    fn term_count(&self) -> u32 {
        0
    }

    fn gather_terms(&self, ords: &[TermOrd], out: &mut Lists<u8>) -> Result<()> {
        out.clear();
        let field = &self.info.field.name;
        let missing = |ord: &TermOrd| ErrorKind::NoSuchOrd { field: field.clone(), ord: ord.get(), len: 0 };
        ords.first().map_or(Ok(()), |ord| Err(missing(ord).into()))
    }

    fn seek_ceil(&self, _term: &[u8]) -> Result<TermOrd> {
        Ok(TermOrd::new(0))
    }
}
