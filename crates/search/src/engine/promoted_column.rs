//! Columns of one part in the kind and type that they have in all parts together.
//!
//! | a part has | together with | it is read as |
//! | --- | --- | --- |
//! | numeric, sorted | sorted-numeric, sorted-set | lists of one value |
//! | binary | sorted, sorted-set | sorted, with a dictionary in memory, if it has few documents |
//! | sorted | binary, with many documents | the bytes of its terms |
//! | integers | doubles | doubles, exactly |
//! | unsigned integers | signed integers | signed integers, exactly |
//! | timestamps | timestamps of a finer unit | that unit |

use std::sync::Arc;

use docvalues_column::{
    BatchDocs, Bounds, Column, ColumnInfo, DocRange, Each, Field, Gathered, Kind, Lists, LogicalType,
    Pruning, Result as ColumnResult, Rows, TermOrd, Values, promotion, scan_by_gather,
};
use jiff::Timestamp;

use crate::error::{Error, Result};

/// A column of one part, read as one of another kind or type.
pub(crate) struct PromotedColumn {
    inner: Arc<dyn Column>,
    info: ColumnInfo,
}

/// The kind and type that columns of different parts have together: the same or, if they may `promote`, one that has
/// the values of all.
///
/// # Errors
///
/// If two have none in common.
pub(crate) fn common(fields: &[(usize, &Field)], promote: bool) -> Result<Option<Field>> {
    let Some((_, first)) = fields.first() else { return Ok(None) };
    let together = if promote { wider } else { same };
    let mut all = Field::clone(first);
    for (at, (_, field)) in fields.iter().enumerate() {
        let Some((kind, logical)) = together(&all, field) else {
            // The error names a column that does not fit this one by itself.
            let other = fields[..at].iter().find(|(_, other)| together(other, field).is_none());
            return Err(mixed(*other.unwrap_or(&fields[0]), fields[at]));
        };
        (all.kind, all.logical) = (kind, logical);
    }
    Ok(Some(all))
}

/// The kind and type of two columns, if these are the same.
fn same(a: &Field, b: &Field) -> Option<(Kind, LogicalType)> {
    ((a.kind, a.logical) == (b.kind, b.logical)).then_some((a.kind, a.logical))
}

/// The kind and type that two columns have in common.
fn wider(a: &Field, b: &Field) -> Option<(Kind, LogicalType)> {
    common_kind(a.kind, b.kind).zip(promotion::common(a.logical, b.logical))
}

fn mixed((part, field): (usize, &Field), (other_part, other): (usize, &Field)) -> Error {
    Error::MixedTypes {
        column: field.name.clone(),
        parts: [part, other_part],
        kinds: [field.kind, other.kind],
        types: [field.logical, other.logical],
    }
}

fn common_kind(a: Kind, b: Kind) -> Option<Kind> {
    use Kind::{Binary, Numeric, Sorted, SortedNumeric, SortedSet};
    match (a, b) {
        (Numeric, SortedNumeric) | (SortedNumeric, Numeric) => Some(SortedNumeric),
        (Sorted, SortedSet) | (SortedSet, Sorted) => Some(SortedSet),
        (Sorted, Binary) | (Binary, Sorted) => Some(Binary),
        _ => (a == b).then_some(a),
    }
}

/// `column` as one of the kind and type of `field`.
pub(crate) fn promoted(column: Arc<dyn Column>, field: &Field) -> Arc<dyn Column> {
    let own = &column.info().field;
    if (own.kind, own.logical) == (field.kind, field.logical) {
        return column;
    }
    let field = Field { kind: field.kind, logical: field.logical, ..own.clone() };
    widened(column, &field)
}

/// A column as one of a wider kind or type, that of `field`: numeric as sorted-numeric, sorted as sorted-set, integers as
/// doubles, unsigned integers as signed ones.
///
/// Reading a number that is not exact in the new type is an error that names it.
pub fn widened(column: Arc<dyn Column>, field: &Field) -> Arc<dyn Column> {
    let mut info = column.info().clone();
    if info.field.logical != field.logical {
        (info.bounds, info.sum) = (bounds_as(&info, field.logical), None);
    }
    info.field = field.clone();
    Arc::new(PromotedColumn { inner: column, info })
}

/// The bounds of a column as another type. An integer may have no double, so that reading it fails: only timestamps have
/// bounds.
fn bounds_as(info: &ColumnInfo, to: LogicalType) -> Bounds {
    let are_times = promotion::per_second(to).is_some();
    let convert = |end: &i64| promotion::convert(*end, info.field.logical, to).filter(|_| are_times);
    let range = info.bounds.range();
    let ends = convert(range.start()).zip(convert(range.end()));
    ends.map_or(Bounds::Unknown, |(low, high)| Bounds::Within(low..=high))
}

impl PromotedColumn {
    /// The error for a number that has no equal of the common type.
    #[cold]
    fn inexact(&self, stored: i64) -> docvalues_column::Error {
        let (from, to) = (self.inner.info().field.logical, self.info.field.logical);
        let number = promotion::integer(stored, from);
        let time =
            promotion::per_second(from).and_then(|unit| Timestamp::from_second(stored.div_euclid(unit)).ok());
        let time = time.map_or_else(String::new, |time| format!(" ({time})"));
        let name = &self.info.field.name;
        let why = format!("column \"{name}\": {number}{time} has no equal of type {}", to.name());
        docvalues_column::ErrorKind::Source { name: "parts".into(), source: why.into() }.into()
    }

    fn convert(&self, stored: i64) -> ColumnResult<i64> {
        let (from, to) = (self.inner.info().field.logical, self.info.field.logical);
        promotion::convert(stored, from, to).ok_or_else(|| self.inexact(stored))
    }
}

impl Column for PromotedColumn {
    fn info(&self) -> &ColumnInfo {
        &self.info
    }

    fn exists(&self, docs: DocRange, bits: &mut [u64]) -> ColumnResult<()> {
        self.inner.exists(docs, bits)
    }

    fn values(&self) -> Values<'_> {
        match (self.info.field.kind, self.inner.values()) {
            (Kind::Binary, _) => Values::Bytes(self),
            (_, Values::Ords(_, terms)) => Values::Ords(self, terms),
            _ => Values::Numbers(self),
        }
    }
}

impl Rows<i64> for PromotedColumn {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<i64>) -> ColumnResult<()> {
        let Some(rows) = self.inner.values().numbers() else { return Ok(()) };
        let mut own = Gathered::new();
        rows.gather(docs, &mut own)?;
        if self.info.is_multi_valued() {
            let lists = out.begin_many(docs.len()).0;
            for at in 0..docs.len() {
                let row = own.row(at).unwrap_or_default().iter();
                lists.push(&row.map(|number| self.convert(*number)).collect::<ColumnResult<Vec<_>>>()?);
            }
            return Ok(());
        }
        out.begin_one(docs.len());
        for at in 0..docs.len() {
            out.set(at, own.value(at).map(|number| self.convert(number)).transpose()?);
        }
        Ok(())
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, i64>) -> ColumnResult<()> {
        scan_by_gather::<i64>(self, docs.clip(self.info.docs), each)
    }
}

impl Rows<TermOrd> for PromotedColumn {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<TermOrd>) -> ColumnResult<()> {
        let Some(rows) = self.inner.values().ords() else { return Ok(()) };
        let mut own = Gathered::new();
        rows.gather(docs, &mut own)?;
        let lists = out.begin_many(docs.len()).0;
        (0..docs.len()).for_each(|at| lists.push(own.row(at).unwrap_or_default()));
        Ok(())
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, TermOrd>) -> ColumnResult<()> {
        scan_by_gather::<TermOrd>(self, docs.clip(self.info.docs), each)
    }

    fn filter(
        &self,
        docs: DocRange,
        wanted: &docvalues_column::OrdRange,
        bits: &mut [u64],
        pruned: &mut Pruning,
    ) -> ColumnResult<()> {
        match self.inner.values().ords() {
            Some(rows) => rows.filter(docs, wanted, bits, pruned),
            None => Ok(()),
        }
    }
}

impl Rows<u8> for PromotedColumn {
    fn gather(&self, docs: BatchDocs<'_>, out: &mut Gathered<u8>) -> ColumnResult<()> {
        let Values::Ords(rows, terms) = self.inner.values() else { return Ok(()) };
        let mut own = Gathered::new();
        rows.gather(docs, &mut own)?;
        let ord = |at| own.row(at).and_then(|row| row.first().copied());
        let ords: Vec<Option<TermOrd>> = (0..docs.len()).map(ord).collect();
        let mut found = Lists::new();
        terms.gather_terms(&ords.iter().copied().flatten().collect::<Vec<_>>(), &mut found)?;
        let mut next = found.slices().iter();
        let (strings, mut presence) = out.begin_many(docs.len());
        for (at, ord) in ords.into_iter().enumerate() {
            let term = ord.and_then(|_| next.next());
            strings.push(term.unwrap_or_default());
            presence.mark(at, term.is_some());
        }
        Ok(())
    }

    fn scan(&self, docs: DocRange, each: &mut Each<'_, u8>) -> ColumnResult<()> {
        scan_by_gather::<u8>(self, docs.clip(self.info.docs), each)
    }
}
