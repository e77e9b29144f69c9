//! Metrics of groups and ranges.

use std::borrow::Cow;

use super::figure::{json, text};
use super::table::{Align, Table};
use crate::api::Field;
use crate::api::search::group::{Measure, Metric};
use crate::error::Result;
use crate::open::Segments;
use crate::text::{Json, Printer, printable};

/// A requested metric: its name, such as `last`, what it is of, such as `price by date`, and the field of its column.
pub(super) struct RequestedMetric {
    name: String,
    of: String,
    field: Field,
}

impl RequestedMetric {
    /// The metrics of a request that `segments` answered.
    pub(super) fn all(segments: &Segments, metrics: &[Metric]) -> Result<Vec<RequestedMetric>> {
        let named = |metric: &Metric| {
            let whole = metric.name();
            let (name, of) = whole.split_once('(').unwrap_or_default();
            let (name, of) = (name.to_owned(), of.strip_suffix(')').unwrap_or(of).to_owned());
            Ok(RequestedMetric { name, of, field: segments.field(metric.column())? })
        };
        metrics.iter().map(named).collect()
    }

    /// The heading of its column in a table.
    fn heading(&self) -> String {
        format!("{} of {}", self.name, printable(&self.of))
    }
}

/// A table of counted documents: the columns `names`, which name a row, the count, the metrics, and perhaps a `last` column,
/// which is folded.
pub(super) fn counted_table(
    names: &[(String, Align)],
    metrics: &[RequestedMetric],
    last: Option<&str>,
) -> Table {
    let names = names.iter().map(|(name, align)| (name.as_str(), *align));
    let headings: Vec<String> = metrics.iter().map(RequestedMetric::heading).collect();
    let mut heading: Vec<_> = names.chain([("documents", Align::Right)]).collect();
    let ids = heading.len() - 1;
    heading.extend(headings.iter().map(|heading| (heading.as_str(), Align::Right)));
    heading.extend(last.map(|last| (last, Align::Left)));
    let table = Table::new(&heading).named_by(ids);
    if last.is_some() { table.fold_last() } else { table }
}

/// The cells of metrics; empty if no document has a value.
pub(super) fn metric_cells(
    found: &[Option<Measure>],
    metrics: &[RequestedMetric],
) -> impl Iterator<Item = String> {
    found.iter().zip(metrics).map(|(measure, requested)| {
        let figure = measure.as_ref().map(|figure| printable(&text(figure, &Printer::of(&requested.field))));
        figure.unwrap_or_default()
    })
}

/// Metrics as JSON, such as `{"sum": {"size": 12}, "last": {"size by time": 5}}`; `null` if no document has a value.
pub(super) fn metrics_json(found: &[Option<Measure>], metrics: &[RequestedMetric]) -> Json {
    let mut by_name: Vec<(Cow<'static, str>, Json)> = Vec::new();
    for (measure, RequestedMetric { name, of, field }) in found.iter().zip(metrics) {
        let figure = measure.as_ref().map_or(Json::NONE, |figure| json(figure, &Printer::of(field)));
        let entry = (of.clone().into(), figure);
        match by_name.iter_mut().find(|(known, _)| known == name) {
            Some((_, Json::Object(columns))) => columns.push(entry),
            _ => by_name.push((name.clone().into(), Json::Object(vec![entry]))),
        }
    }
    if by_name.is_empty() { Json::NONE } else { Json::Object(by_name) }
}
