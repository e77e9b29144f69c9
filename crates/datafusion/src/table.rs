//! [`DocvaluesTable`]: documents as rows.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatchReader as _;
use arrow::datatypes::{DataType, Field as ArrowField, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion_common::stats::Precision;
use datafusion_common::{ColumnStatistics, Result, ScalarValue, Statistics, internal_err, plan_err};
use datafusion_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion_physical_plan::ExecutionPlan;
use datafusion_session::{Session, TableProvider};
use docvalues::column::{Bounds, Number as _, Part};
use docvalues::search::arrow::StringLayout;
use docvalues::search::{DocsByPart, Parts, Query};
use docvalues::store::Snapshot;
use docvalues::{ColumnSource, Field, Kind, LogicalType};

use crate::error::external;
use crate::filter::{self, TableField};
use crate::open_parts::OpenParts;
use crate::places::{self, Places};
use crate::scan::DocvaluesScan;
use crate::selection::Wanted;
#[cfg(feature = "proto")]
use crate::sliced::SlicedScan;
use crate::table_data::TableData;

/// A table of the documents of some segments, or of a store.
///
/// The columns are the fields of a store, or those of all segments, in the order in which these first have them. A segment
/// without a column has nulls there. Types are widened as in [`MixedTypes::Promote`](docvalues::search::MixedTypes::Promote).
///
/// # Examples
///
/// See the [crate](crate).
pub struct DocvaluesTable {
    pub(crate) data: Arc<TableData>,
}

impl DocvaluesTable {
    /// A table of the live documents of `parts`.
    ///
    /// # Errors
    ///
    /// If a segment is damaged, or segments have columns of the same name and of types that have nothing in common.
    pub fn new(parts: &Parts) -> Result<DocvaluesTable> {
        DocvaluesTable::of_parts(OpenParts::new(parts))
    }

    /// A table of the live documents of some parts.
    pub(crate) fn of_parts(open: OpenParts) -> Result<DocvaluesTable> {
        let open_now = open.now();
        let (parts, search) = (&open_now.parts, &open_now.search);
        let names: Vec<String> =
            parts.fields().map_err(external)?.into_iter().map(|field| field.name).collect();
        let export = search.export(DocsByPart::All, &names).map_err(external)?;
        let fields: Vec<Field> = export.fields().cloned().collect();
        let schema = export.batches().strings_as(StringLayout::Views).schema();
        let live = search.count(&Query::All).map_err(external)?;
        let mut data = TableData {
            schema,
            fields: Vec::new(),
            has_places: false,
            dataset: None,
            #[cfg(feature = "proto")]
            is_sliced: false,
            docs: (0..parts.len()).map(|part| parts.source(part).docs()).collect(),
            statistics: Statistics { num_rows: rows(live), ..Statistics::default() },
            open: Arc::new(open),
        };
        for field in fields {
            let column = ColumnFigures::of(parts, &field)?;
            let may_be_nan = column.may_be_nan(&field);
            data.fields.push(TableField {
                may_be_nan,
                has_ords: column.has_ords && !data.open.are_objects(),
                field: field.clone(),
            });
            let is_unchanged = live == parts.docs();
            data.statistics.column_statistics.push(column.statistics(&field, live, is_unchanged));
        }
        Ok(DocvaluesTable { data: Arc::new(data) })
    }

    /// This table with two columns more: `_part`, the number of a row's segment from 0 on, and `_doc`, that of its document in
    /// the segment. Conditions on them find rows without a search, in O(rows found).
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use datafusion::prelude::SessionContext;
    /// # use docvalues::prelude::*;
    /// # use docvalues_datafusion::DocvaluesTable;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let mut schema = Schema::new();
    /// # let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
    /// # let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// # for number in 0..10 {
    /// #     let mut doc = writer.document();
    /// #     doc.i64(size, number)?;
    /// #     doc.finish()?;
    /// # }
    /// # let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
    /// let table = DocvaluesTable::of_segments([segment])?.with_places()?;
    /// let context = SessionContext::new();
    /// context.register_table("hits", Arc::new(table))?;
    /// let found = context.sql("select size from hits where _part = 0 and _doc in (7, 9)").await?;
    /// assert_eq!(found.count().await?, 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If it has a column of such a name.
    pub fn with_places(self) -> Result<DocvaluesTable> {
        let mut data = Arc::unwrap_or_clone(self.data);
        let mut fields: Vec<_> = data.schema.fields().iter().cloned().collect();
        for name in [places::PART, places::DOC] {
            if data.schema.index_of(name).is_ok() {
                return plan_err!("a table with a column {name}, which is not the number of a row");
            }
            fields.push(Arc::new(ArrowField::new(name, DataType::Int64, false)));
            data.statistics.column_statistics.push(ColumnStatistics::new_unknown());
        }
        (data.schema, data.has_places) = (Arc::new(Schema::new(fields)), true);
        Ok(DocvaluesTable { data: Arc::new(data) })
    }

    /// A table of the documents of segments.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn of_segments<S: ColumnSource + Send + Sync + 'static>(
        segments: impl IntoIterator<Item = S>,
    ) -> Result<DocvaluesTable> {
        DocvaluesTable::new(&Parts::new(segments.into_iter().map(Part::new)))
    }

    /// A table of the documents of a snapshot of a store.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn of_snapshot(snapshot: &Snapshot) -> Result<DocvaluesTable> {
        DocvaluesTable::new(snapshot.parts())
    }

    /// Prepares the table for Ballista: each scan gets a child in memory, with one row for each of its partitions.
    ///
    /// A task of Ballista runs all partitions of each leaf that it gets. Ballista can split leaves in memory, but not a scan. So
    /// the child is such a leaf, and the scan runs the partitions that it lists. A
    /// [codec](crate::DocvaluesLogicalCodec::sliced) calls this when it decodes a table, so that a client need not.
    #[cfg(feature = "proto")]
    pub fn sliced(self) -> DocvaluesTable {
        self.map(|data| data.is_sliced = true)
    }

    /// This table with other data.
    pub(crate) fn map(self, change: impl FnOnce(&mut TableData)) -> DocvaluesTable {
        let mut data = Arc::unwrap_or_clone(self.data);
        change(&mut data);
        DocvaluesTable { data: Arc::new(data) }
    }
}

impl fmt::Debug for DocvaluesTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DocvaluesTable").field("schema", &self.data.schema).finish_non_exhaustive()
    }
}

#[async_trait]
impl TableProvider for DocvaluesTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.data.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (mut queries, mut places): (Vec<Query>, Option<Places>) = (Vec::new(), None);
        for filter in filters {
            match (self.data.places(filter), filter::query(filter, &self.data.fields)) {
                (Some(more), _) => {
                    places = Some(match places {
                        Some(places) => places.and(more),
                        None => more,
                    });
                }
                (None, Some(query)) => queries.push(query),
                (None, None) => return internal_err!("a filter that was not accepted: {filter}"),
            }
        }
        let wanted = Wanted { query: Query::all_of(queries), places };
        let columns = projection.cloned().unwrap_or_else(|| (0..self.data.schema.fields().len()).collect());
        let partitions = state.config().target_partitions().max(1);
        let scan = DocvaluesScan::new(Arc::clone(&self.data), wanted, columns, limit, partitions)?;
        #[cfg(feature = "proto")]
        if self.data.is_sliced {
            return Ok(Arc::new(SlicedScan::all(scan)?));
        }
        Ok(Arc::new(scan))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let support = |filter: &&Expr| {
            let is_known =
                self.data.places(filter).is_some() || filter::query(filter, &self.data.fields).is_some();
            if is_known {
                TableProviderFilterPushDown::Exact
            } else {
                TableProviderFilterPushDown::Unsupported
            }
        };
        Ok(filters.iter().map(support).collect())
    }

    fn statistics(&self) -> Option<Statistics> {
        Some(self.data.statistics.clone())
    }
}

/// Figures of a column, from the directories of all parts.
struct ColumnFigures {
    /// The documents with a value, if they are known exactly.
    with_value: Option<u64>,
    /// Bounds of all stored numbers, and whether both ends occur; `None` if a part has none or other types.
    bounds: Option<(i64, i64)>,
    are_exact: bool,
    /// Whether it has single strings, with ords in each part that has it.
    has_ords: bool,
}

impl ColumnFigures {
    fn of(parts: &Parts, field: &Field) -> Result<ColumnFigures> {
        let mut figures = ColumnFigures {
            with_value: Some(0),
            bounds: Some((i64::MAX, i64::MIN)),
            are_exact: true,
            has_ords: field.kind == Kind::Sorted
                && matches!(field.logical, LogicalType::Utf8 | LogicalType::Bytes),
        };
        for part in 0..parts.len() {
            let source = parts.source(part);
            if !source.fields().map_err(external)?.iter().any(|other| other.name == field.name) {
                continue;
            }
            let column = source.column(&field.name).map_err(external)?;
            let info = column.info();
            figures.with_value =
                figures.with_value.zip(info.with_value.exact()).map(|(sum, count)| sum + count);
            let range = match &info.bounds {
                Bounds::Unknown => None,
                _ if info.field.logical != field.logical => None,
                bounds => Some(bounds.range()),
            };
            figures.has_ords &= info.kind() == Kind::Sorted && info.field.logical == field.logical;
            figures.are_exact &= info.bounds.exact().is_some();
            figures.bounds = figures
                .bounds
                .zip(range)
                .map(|((low, high), range)| (low.min(*range.start()), high.max(*range.end())));
        }
        Ok(figures)
    }

    /// Whether a double may be NaN: those of either sign lie outside of both infinities.
    fn may_be_nan(&self, field: &Field) -> bool {
        let is_number = |stored: i64| !f64::from_stored(stored).is_nan();
        let is_nan_free = |(low, high): (i64, i64)| low > high || is_number(low) && is_number(high);
        field.logical == LogicalType::F64 && !self.bounds.is_some_and(is_nan_free)
    }

    fn statistics(&self, field: &Field, live: u64, is_unchanged: bool) -> ColumnStatistics {
        let mut statistics = ColumnStatistics::new_unknown();
        if let (Some(with_value), true) = (self.with_value, is_unchanged) {
            statistics.null_count = rows(live - with_value);
        }
        let exact = |value| {
            if is_unchanged && self.are_exact { Precision::Exact(value) } else { Precision::Inexact(value) }
        };
        if let Some((low, high)) = self.bounds.filter(|(low, high)| low <= high)
            && let (Some(low), Some(high)) = (scalar(field, low), scalar(field, high))
        {
            (statistics.min_value, statistics.max_value) = (exact(low), exact(high));
        }
        statistics
    }
}

/// A stored number of a single-valued column as a value; `None` for doubles, whose order differs.
fn scalar(field: &Field, stored: i64) -> Option<ScalarValue> {
    let zone = || Some("UTC".into());
    Some(match field.logical {
        _ if field.kind.is_multi_valued() => return None,
        LogicalType::I64 => ScalarValue::Int64(Some(stored)),
        LogicalType::Date => ScalarValue::Date32(Some(i32::try_from(stored).ok()?)),
        LogicalType::TimestampMillis => ScalarValue::TimestampMillisecond(Some(stored), zone()),
        LogicalType::TimestampMicros => ScalarValue::TimestampMicrosecond(Some(stored), zone()),
        LogicalType::TimestampNanos => ScalarValue::TimestampNanosecond(Some(stored), zone()),
        _ => return None,
    })
}

fn rows(count: u64) -> Precision<usize> {
    usize::try_from(count).map_or(Precision::Absent, Precision::Exact)
}
