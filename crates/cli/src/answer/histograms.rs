//! The values of a column, counted by range.

use super::bars::print_bars;
use super::facets::facet_json;
use super::metrics::{RequestedMetric, counted_table, metric_cells, metrics_json};
use super::search_answer::Answer;
use super::table::Align;
use crate::api::Field;
use crate::api::search::Value;
use crate::api::search::facet::FacetCounts;
use crate::api::search::histogram::{Bucket, HistogramCounts};
use crate::console::Console;
use crate::error::Result;
use crate::text::{Json, Printer, counted, printable, thousands};

/// Prints a line for each range of the first histogram; with metrics or a facet, a row of a table.
pub(crate) fn print(answer: &Answer<'_>, console: &mut Console<'_>) -> Result<()> {
    let (asked, found) = (&answer.request.histograms[0], &answer.found.histograms[0]);
    if !asked.metrics.is_empty() || asked.facet.is_some() {
        return print_table(found, &RequestedMetric::all(answer.segments, &asked.metrics)?, console);
    }
    let docs = counted(found.docs, "document", "documents");
    let outside = counted(found.outside, "value", "values");
    let (name, missing) = (printable(&found.field.name), thousands(found.missing));
    let beside = if found.outside > 0 { format!(", {outside} in no range") } else { String::new() };
    console.line(format_args!("{name}: {docs}, {missing} without a value{beside}"))?;
    let printer = Printer::of(&found.field);
    let begin = |range: &Bucket| printer.to_text(&begin(&found.field, range.from));
    let rows = found.buckets.iter().map(|range| (begin(range), range.count, String::new()));
    print_bars(&rows.collect::<Vec<_>>(), Align::Right, console)
}

/// Prints a table with a row for each range, its metrics and its facet.
fn print_table(
    found: &HistogramCounts,
    metrics: &[RequestedMetric],
    console: &mut Console<'_>,
) -> Result<()> {
    let printer = Printer::of(&found.field);
    let facet = found.buckets.iter().find_map(|range| range.facet.as_ref());
    let facet = facet.map(|facet| printable(&facet.field.name));
    let name = [(printable(&found.field.name), Align::Right)];
    let mut table = counted_table(&name, metrics, facet.as_deref());
    for range in &found.buckets {
        let mut row = vec![printer.to_text(&begin(&found.field, range.from)), thousands(range.count)];
        row.extend(metric_cells(&range.metrics, metrics));
        row.extend(range.facet.as_ref().map(values));
        table.row(row);
    }
    table.print(console)?;
    let (docs, missing) = (counted(found.docs, "document", "documents"), thousands(found.missing));
    let beside =
        if found.outside > 0 { format!(", {} in no range", thousands(found.outside)) } else { String::new() };
    Ok(console.line(format_args!("{docs}, {missing} without a value{beside}"))?)
}

/// The values of a facet with their counts, in one line.
fn values(facet: &FacetCounts) -> String {
    let printer = Printer::of(&facet.field);
    let value =
        |(value, count): &(_, u64)| format!("{} {}", printable(&printer.to_text(value)), thousands(*count));
    facet.values.iter().map(value).collect::<Vec<_>>().join(", ")
}

/// The start of a range. -0.0, which sorts before 0.0, is printed as 0.
pub(super) fn begin(field: &Field, from: i64) -> Value {
    let from = Value::of(field.logical, from);
    if from == Value::F64(-0.0) { Value::F64(0.0) } else { from }
}

/// The histogram at index `at` as entries of a JSON object.
pub(crate) fn histogram_json(answer: &Answer<'_>, at: usize) -> Result<[(&'static str, Json); 4]> {
    let (asked, found) = (&answer.request.histograms[at], &answer.found.histograms[at]);
    let metrics = RequestedMetric::all(answer.segments, &asked.metrics)?;
    let printer = Printer::of(&found.field);
    let range = |range: &Bucket| {
        let from = printer.json_value(&begin(&found.field, range.from));
        let facet = range.facet.as_ref().map(|facet| ("facet", facet_json(facet)));
        let of_metrics = ("metrics", metrics_json(&range.metrics, &metrics));
        let counted = [("from", from), ("count", range.count.into()), of_metrics];
        Json::object(counted.into_iter().chain(facet))
    };
    Ok([
        ("column", found.field.name.as_str().into()),
        ("missing", found.missing.into()),
        ("outside", found.outside.into()),
        ("ranges", found.buckets.iter().map(range).collect()),
    ])
}
