//! Groups of documents.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::metrics::{RequestedMetric, counted_table, metric_cells, metrics_json};
use super::records;
use super::search_answer::Answer;
use super::table::Align;
use crate::api::search::Value;
use crate::api::search::group::GroupFound;
use crate::api::{DocAddress, Field};
use crate::console::Console;
use crate::error::Result;
use crate::text::{Json, Printer, counted, printable, thousands};

/// The text of a value that the documents of a group do not have.
pub(super) const MISSING: &str = "(missing)";

/// Prints a row for each group of the first grouping.
pub(crate) fn print(answer: &Answer<'_>, console: &mut Console<'_>) -> Result<()> {
    let (segments, asked, found) = (answer.segments, &answer.request.groups[0], &answer.found.groups[0]);
    let metrics = RequestedMetric::all(segments, &asked.metrics)?;
    let printers: Vec<Printer> = found.fields.iter().map(Printer::of).collect();
    let names: Vec<_> = found.fields.iter().map(|field| (printable(&field.name), Align::Left)).collect();
    let has_docs = found.groups.iter().any(|group| !group.docs.is_empty());
    let mut table = counted_table(&names, &metrics, has_docs.then_some("best"));
    for group in &found.groups {
        let text = |(value, printer): (&Option<Value>, &Printer)| match value {
            Some(value) => printable(&printer.to_text(value)),
            None => MISSING.to_owned(),
        };
        let mut row: Vec<_> = group.values.iter().zip(&printers).map(text).collect();
        row.push(thousands(group.count));
        row.extend(metric_cells(&group.metrics, &metrics));
        row.push(group.docs.iter().map(|doc| segments.place(*doc)).collect::<Vec<_>>().join(" "));
        table.row(row);
    }
    table.print(console)?;
    let groups =
        found.distinct.map_or_else(String::new, |found| counted(found.get(), "group", "groups") + ", ");
    let docs = counted(found.docs, "document", "documents");
    if asked.with_missing {
        return Ok(console.line(format_args!("{groups}{docs}"))?);
    }
    let missing = thousands(found.missing);
    let of = if names.len() > 1 { " in one of the columns" } else { "" };
    Ok(console.line(format_args!("{groups}{docs}, {missing} without a value{of}"))?)
}

/// The grouping at index `at` as entries of a JSON object, with `columns` of the best documents of each group. In rows, NaN of
/// a document is no missing value.
pub(crate) fn groups_json(
    answer: &Answer<'_>,
    at: usize,
    columns: &[String],
    as_rows: bool,
) -> Result<[(&'static str, Json); 5]> {
    let found = &answer.found.groups[at];
    let metrics = RequestedMetric::all(answer.segments, &answer.request.groups[at].metrics)?;
    let printers: Vec<Printer> = found.fields.iter().map(Printer::of).collect();
    // One call for all groups opens each column once and reads it in file order.
    let best: Vec<DocAddress> = found.groups.iter().flat_map(|group| group.docs.iter().copied()).collect();
    let mut best = records::json(answer.segments, &best, columns, as_rows)?.into_iter();
    let group = |group: &GroupFound| {
        let value = |at: usize| match &group.values[at] {
            Some(value) => printers[at].json_value(value),
            None => Json::Raw(RawValue::NULL.to_owned()),
        };
        let named = |(at, field): (usize, &Field)| (Cow::Owned(field.name.clone()), value(at));
        Json::object([
            ("value", if found.fields.len() == 1 { value(0) } else { Json::NONE }),
            ("values", Json::Object(found.fields.iter().enumerate().map(named).collect())),
            ("count", group.count.into()),
            ("metrics", metrics_json(&group.metrics, &metrics)),
            ("documents", Json::any(best.by_ref().take(group.docs.len()))),
        ])
    };
    let names: Vec<String> = found.fields.iter().map(|field| field.name.clone()).collect();
    let only = if let [only] = names.as_slice() { only.as_str().into() } else { Json::NONE };
    Ok([
        ("column", only),
        ("columns", names.as_slice().into()),
        ("missing", found.missing.into()),
        ("distinct", found.distinct.map(|distinct| distinct.get()).into()),
        ("groups", found.groups.iter().map(group).collect()),
    ])
}
