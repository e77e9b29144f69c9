//! Answers of searches as tables.

use std::sync::Arc;

use arrow_array::{RecordBatch, RecordBatchReader as _};
use arrow_schema::{Field as ArrowField, Schema};
use docvalues::column::{Number, Part, PlainColumn, PlainColumns, PlainSource};
use docvalues::search::facet::FacetCounts;
use docvalues::search::group::{Groups, Measure, Metric};
use docvalues::search::histogram::HistogramCounts;
use docvalues::search::stats::{ColumnStats, Sum};
use docvalues::search::{DocsByPart, Parts, Search, Value};
use docvalues::{Field, Kind, LogicalType};

use crate::errors::{Result, argument};
use crate::opened::Opened;
use crate::table::{Table, type_name};

/// Columns of an answer. They become Arrow's as those of a segment do.
#[derive(Default)]
pub(crate) struct Answer {
    names: Vec<String>,
    fields: Vec<Field>,
    columns: Vec<PlainColumn>,
}

impl Answer {
    /// Adds a column of a type, to which `push` appends a value.
    fn column<T>(
        &mut self,
        name: &str,
        logical: LogicalType,
        values: impl IntoIterator<Item = Option<T>>,
        push: impl Fn(&mut PlainColumn, T),
    ) -> &mut Answer {
        let column = self.begin(name, logical);
        for value in values {
            match value {
                Some(value) => push(column, value),
                None => column.append_absent(1),
            }
        }
        self
    }

    /// Adds a column of values of a type.
    pub(crate) fn values<'v>(
        &mut self,
        name: &str,
        logical: LogicalType,
        values: impl IntoIterator<Item = Option<&'v Value>>,
    ) -> &mut Answer {
        self.column(name, logical, values, |column, value| match value {
            Value::Bytes(bytes) => column.push_strings([bytes.as_slice()]),
            value => column.push_numbers(&[value.stored().unwrap_or(0)]),
        })
    }

    /// Adds a column of numbers of a type, as stored.
    fn stored(
        &mut self,
        name: &str,
        logical: LogicalType,
        values: impl IntoIterator<Item = Option<i64>>,
    ) -> &mut Answer {
        self.column(name, logical, values, |column, number| column.push_numbers(&[number]))
    }

    /// Adds a column of text.
    pub(crate) fn text(
        &mut self,
        name: &str,
        texts: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> &mut Answer {
        let column = self.begin(name, LogicalType::Utf8);
        texts.into_iter().for_each(|text| column.push_strings([text.as_ref().as_bytes()]));
        self
    }

    /// Adds a column of counts.
    pub(crate) fn counts(
        &mut self,
        name: &str,
        counts: impl IntoIterator<Item = Option<u64>>,
    ) -> &mut Answer {
        let counts = counts.into_iter().map(|count| count.map(u64::to_stored));
        self.stored(name, LogicalType::U64, counts)
    }

    /// Adds a column of doubles.
    fn doubles(&mut self, name: &str, doubles: impl IntoIterator<Item = Option<f64>>) -> &mut Answer {
        let doubles = doubles.into_iter().map(|double| double.map(f64::to_stored));
        self.stored(name, LogicalType::F64, doubles)
    }

    /// Adds a column of sums: integers, unless one exceeds 64 bits.
    fn sums(&mut self, name: &str, sums: &[Option<Sum>]) -> &mut Answer {
        match (whole::<i64>(sums), whole::<u64>(sums)) {
            (Some(sums), _) => self.stored(name, LogicalType::I64, sums),
            (None, Some(sums)) => self.stored(name, LogicalType::U64, sums),
            (None, None) => self.doubles(name, sums.iter().map(|sum| sum.map(Sum::to_f64))),
        }
    }

    /// Adds a column for a metric.
    fn measures(
        &mut self,
        opened: &Opened,
        metric: &Metric,
        measures: &[Option<&Measure>],
    ) -> Result<&mut Answer> {
        let name = metric.name();
        Ok(match metric {
            Metric::Sum(_) => {
                let sums: Vec<_> = measures.iter().map(|measure| measure.and_then(Measure::sum)).collect();
                self.sums(&name, &sums)
            }
            Metric::Distinct(_) => {
                let count = |measure: &Measure| match measure {
                    Measure::Distinct(count) => Some(*count),
                    _ => None,
                };
                self.counts(&name, measures.iter().map(|measure| measure.and_then(count)))
            }
            // One of the values of the column, or like one.
            _ => {
                use LogicalType::{Date, TimestampMicros, TimestampMillis, TimestampNanos};
                let fields = opened.fields(&[metric.column()])?;
                let logical = fields.first().map_or(LogicalType::I64, |field| field.logical);
                let is_time = matches!(logical, Date | TimestampMillis | TimestampMicros | TimestampNanos);
                if matches!(metric, Metric::Mean(_)) && !is_time {
                    let doubles = measures.iter().map(|measure| measure.and_then(Measure::to_f64));
                    return Ok(self.doubles(&name, doubles));
                }
                self.values(&name, logical, measures.iter().map(|measure| measure.and_then(Measure::value)))
            }
        })
    }

    fn begin(&mut self, name: &str, logical: LogicalType) -> &mut PlainColumn {
        let kind = if logical.is_bytes() { Kind::Binary } else { Kind::Numeric };
        // Columns of an answer may have the same name.
        self.fields.push(Field::new(self.fields.len().to_string(), kind, logical));
        self.names.push(name.to_owned());
        let at = self.columns.len();
        self.columns.push(PlainColumn::of_kind(kind));
        &mut self.columns[at]
    }

    /// The table of the columns, with totals.
    pub(crate) fn table(&mut self, info: impl IntoIterator<Item = (&'static str, u64)>) -> Result<Table> {
        let Answer { names, fields, columns } = std::mem::take(self);
        let rows = columns.first().map_or(0, PlainColumn::docs);
        let columns = PlainColumns::new(rows, columns);
        let columns = columns.ok_or_else(|| argument("an answer whose columns have different lengths"))?;
        let places: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
        let source = PlainSource::new(Arc::new(columns), fields.clone().into());
        // Without rows, a column is known by its declaration only.
        let parts = Parts::new([Part::new(source)]).with_fields(fields);
        let batches = Search::over(&parts).export(DocsByPart::All, &places)?.batches();
        let schema = batches.schema();
        let named = schema.fields().iter().zip(&names);
        let named: Vec<ArrowField> =
            named.map(|(field, name)| field.as_ref().clone().with_name(name)).collect();
        let schema = Arc::new(Schema::new(named));
        let mut renamed = Vec::new();
        for batch in batches {
            renamed.push(RecordBatch::try_new(Arc::clone(&schema), batch?.columns().to_vec())?);
        }
        if renamed.is_empty() {
            renamed.push(RecordBatch::new_empty(Arc::clone(&schema)));
        }
        Ok(Table::new(schema, renamed, info))
    }
}

/// The only answer.
pub(crate) fn only<T>(answers: Vec<T>) -> Result<T> {
    answers.into_iter().next().ok_or_else(|| argument("expected an answer, found none"))
}

/// Sums that all are integers of a type, as stored.
fn whole<T: Number + TryFrom<i128>>(sums: &[Option<Sum>]) -> Option<Vec<Option<i64>>> {
    let stored = |sum: &Option<Sum>| match sum {
        None => Some(None),
        Some(sum) => T::try_from(sum.to_i128()?).ok().map(|sum| Some(sum.to_stored())),
    };
    sums.iter().map(stored).collect()
}

/// A row for each column. Counts of documents are known if none is deleted.
pub(crate) fn describe(opened: &Opened) -> Result<Table> {
    let fields = opened.fields(&opened.columns)?;
    let (mut docs, mut values) = (Vec::new(), Vec::new());
    for name in &opened.columns {
        let (mut with_value, mut all) = (Some(0), Some(0));
        for part in 0..opened.parts.len() {
            // A part without the column has no values in it.
            let Ok(column) = opened.parts.source(part).column(name) else { continue };
            let info = column.info();
            let add = |sum: Option<u64>, count: Option<u64>| Some(sum? + count?);
            with_value = add(with_value, info.with_value.exact());
            all = add(all, info.value_count.exact());
        }
        let is_known = opened.live == opened.docs();
        docs.push(with_value.filter(|_| is_known));
        values.push(all.filter(|_| is_known));
    }
    let mut answer = Answer::default();
    answer.text("name", fields.iter().map(|field| field.name.as_str()));
    answer.text("type", fields.iter().map(type_name));
    answer.text("kind", fields.iter().map(|field| field.kind.name()));
    answer.counts("docs", docs).counts("values", values).table([])
}

/// A facet: values and counts.
pub(crate) fn facet(found: &FacetCounts) -> Result<Table> {
    let FacetCounts { field, values, distinct, docs, missing, .. } = found;
    let info = [("docs", *docs), ("missing", *missing), ("distinct", *distinct)];
    let mut answer = Answer::default();
    answer.values(&field.name, field.logical, values.iter().map(|(value, _)| Some(value)));
    answer.counts("count", values.iter().map(|(_, count)| Some(*count))).table(info)
}

/// Groups: their values, counts and metrics.
pub(crate) fn groups(opened: &Opened, found: &Groups, metrics: &[Metric]) -> Result<Table> {
    let mut answer = Answer::default();
    for (at, field) in found.fields.iter().enumerate() {
        let values = found.groups.iter().map(|group| group.values.get(at)?.as_ref());
        answer.values(&field.name, field.logical, values);
    }
    answer.counts("count", found.groups.iter().map(|group| Some(group.count)));
    for (at, metric) in metrics.iter().enumerate() {
        let measures = found.groups.iter().map(|group| group.metrics.get(at)?.as_ref());
        answer.measures(opened, metric, &measures.collect::<Vec<_>>())?;
    }
    let distinct = found.distinct.map(|distinct| ("distinct", distinct.get()));
    answer.table([("docs", found.docs), ("missing", found.missing)].into_iter().chain(distinct))
}

/// A histogram: buckets, counts and metrics.
pub(crate) fn histogram(opened: &Opened, found: &HistogramCounts, metrics: &[Metric]) -> Result<Table> {
    let mut answer = Answer::default();
    let HistogramCounts { field, buckets, docs, missing, outside, .. } = found;
    answer.stored("from", field.logical, buckets.iter().map(|bucket| Some(bucket.from)));
    answer.counts("count", buckets.iter().map(|bucket| Some(bucket.count)));
    for (at, metric) in metrics.iter().enumerate() {
        let measures = buckets.iter().map(|bucket| bucket.metrics.get(at)?.as_ref());
        answer.measures(opened, metric, &measures.collect::<Vec<_>>())?;
    }
    answer.table([("docs", *docs), ("missing", *missing), ("outside", *outside)])
}

/// Statistics: one row.
pub(crate) fn stats(found: &ColumnStats) -> Result<Table> {
    let mut answer = Answer::default();
    for (name, count) in
        [("docs", found.docs), ("missing", found.missing), ("values", found.values), ("nans", found.nans)]
    {
        answer.counts(name, [Some(count)]);
    }
    answer.values("min", found.field.logical, [found.min.as_ref()]);
    answer.values("max", found.field.logical, [found.max.as_ref()]);
    answer.sums("sum", &[found.sum]).doubles("mean", [found.mean]);
    answer.doubles("std", [found.sample_variance().map(f64::sqrt)]);
    if let Some(distinct) = found.distinct {
        answer.counts("distinct", [Some(distinct.get())]);
    }
    answer.table([("docs", found.docs), ("missing", found.missing)])
}

/// Percentiles and their values.
pub(crate) fn percentiles(found: &ColumnStats) -> Result<Table> {
    let mut answer = Answer::default();
    answer.doubles("percent", found.percentiles.iter().map(|(percent, _)| Some(*percent)));
    let values = found.percentiles.iter().map(|(_, value)| Some(value));
    answer
        .values("value", found.field.logical, values)
        .table([("docs", found.docs), ("missing", found.missing)])
}
