//! `dv histogram`: counts the values of a column by range.

use super::facet::{facet_json, print_bars};
use super::group::{RequestedMetric, metric_cells, metrics, metrics_json};
use super::matching_docs::MatchingDocs;
use crate::answer::table::{Align, Table};
use crate::api::search::Value;
use crate::api::search::facet::{Facet, FacetCounts};
use crate::api::search::histogram::{Bucket, Histogram, HistogramCounts, Step, Unit};
use crate::api::search::query::Literal;
use crate::api::{Field, SearchError};
use crate::args::{HistogramArgs, HistogramSpec, TextOrNumber};
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::opener::Opener;
use crate::open::segments::Segments;
use crate::text::json::Json;
use crate::text::print_value::Printer;
use crate::text::quoting::{printable, thousands};

const UNITS: [(&str, Unit); 8] = [
    ("second", Unit::Second),
    ("minute", Unit::Minute),
    ("hour", Unit::Hour),
    ("day", Unit::Day),
    ("week", Unit::Week),
    ("month", Unit::Month),
    ("quarter", Unit::Quarter),
    ("year", Unit::Year),
];

pub(crate) fn run(
    args: &HistogramArgs,
    opener: &Opener,
    console: &mut Console<'_>,
) -> Result<Exit, CliError> {
    let segments = Segments::open(opener, &args.files, args.filter.skip_damaged, console)?;
    // An unknown column gets a hint with the closest name.
    segments.select(std::slice::from_ref(&args.spec.column))?;
    let matching = MatchingDocs::find(&segments, &args.filter)?;
    let asked = asked(&segments, &args.spec)?;
    let (mut found, then) =
        matching.evaluate("values counted", |search, docs| search.histogram(docs, &asked))?;
    describe(&segments, &mut found)?;
    let metrics = metrics_of(&segments, &args.spec)?;
    if args.json {
        matching.print_json(histogram_json(&found, &metrics), console)?;
    } else if metrics.is_empty() && asked.facet.is_none() {
        print(&found, console)?;
    } else {
        print_table(&found, &metrics, console)?;
    }
    matching.explain(Some(&then), args.json, console);
    Ok(Exit::Ok)
}

/// The histogram of a command line or a request.
pub(super) fn asked(segments: &Segments, spec: &HistogramSpec) -> Result<Histogram, CliError> {
    let column = spec.column.clone();
    let wrong = |what: String| CliError::usage(format!("histogram of {column:?}: {what}"));
    let step = match &spec.step {
        Some(_) if !spec.edges.is_empty() => {
            return Err(wrong("expected either a step or edges, found both".into()));
        }
        Some(TextOrNumber(text)) => step(text).map_err(wrong)?,
        None => {
            let edges: Vec<Literal> =
                spec.edges.iter().map(|TextOrNumber(text)| Literal::read(text)).collect();
            match Step::edges(&segments.field(&column)?, &edges) {
                Err(SearchError::Request(what)) => return Err(wrong(what)),
                step => step?,
            }
        }
    };
    let mut histogram = Histogram::of(spec.column.clone(), step);
    if let Some(column) = &spec.facet {
        segments.select(std::slice::from_ref(column))?;
        histogram = histogram.facet(Facet::on(column).top(if spec.top == 0 { usize::MAX } else { spec.top }));
    }
    let metrics = metrics_of(segments, spec)?;
    Ok(metrics.into_iter().fold(histogram, |histogram, requested| histogram.metric(requested.metric)))
}

pub(super) fn metrics_of(
    segments: &Segments,
    spec: &HistogramSpec,
) -> Result<Vec<RequestedMetric>, CliError> {
    metrics(segments, [&spec.sum, &spec.min, &spec.max, &spec.mean, &[]])
}

/// Gives the columns of an answer the text formats that all segments have in common.
pub(super) fn describe(segments: &Segments, found: &mut HistogramCounts) -> Result<(), CliError> {
    segments.describe(&mut found.field)?;
    let mut facets = found.buckets.iter_mut().filter_map(|bucket| bucket.facet.as_mut());
    facets.try_for_each(|facet| segments.describe(&mut facet.field))
}

/// Parses a step: a calendar unit, or a number as in a query. Integers are exact.
fn step(text: &str) -> Result<Step, String> {
    if let Some((_, unit)) = UNITS.iter().find(|(name, _)| *name == text) {
        return Ok(Step::Every(*unit));
    }
    let parsed = |text: &str| text.parse().ok().map(Step::Width);
    let width = match Literal::read(text) {
        Literal::Int(number) => {
            u64::try_from(number).map(Step::Whole).ok().or_else(|| parsed(&number.to_string()))
        }
        Literal::Float(number) => Some(Step::Width(number)),
        _ => parsed(&text.replace('_', "")),
    };
    width.ok_or_else(|| {
        let units = UNITS.map(|(name, _)| name).join(", ");
        format!("expected a step that is a number or one of {units}, found {text:?}")
    })
}

/// Prints a line for each range.
fn print(found: &HistogramCounts, console: &mut Console<'_>) -> Result<(), CliError> {
    let [docs, missing, outside] = [found.docs, found.missing, found.outside].map(thousands);
    let name = printable(&found.field.name);
    let beside = if found.outside > 0 { format!(", {outside} values in no range") } else { String::new() };
    console.line(format_args!("{name}: {docs} documents, {missing} without a value{beside}"))?;
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
) -> Result<(), CliError> {
    let printer = Printer::of(&found.field);
    let name = printable(&found.field.name);
    let headings: Vec<String> = metrics.iter().map(RequestedMetric::heading).collect();
    let facet = found.buckets.iter().find_map(|range| range.facet.as_ref());
    let facet = facet.map(|facet| printable(&facet.field.name));
    let mut heading = vec![(name.as_str(), Align::Right), ("documents", Align::Right)];
    heading.extend(headings.iter().map(|heading| (heading.as_str(), Align::Right)));
    heading.extend(facet.as_deref().map(|name| (name, Align::Left)));
    let table = Table::new(&heading);
    let mut table = if facet.is_some() { table.fold_last() } else { table };
    for range in &found.buckets {
        let mut row = vec![printer.to_text(&begin(&found.field, range.from)), thousands(range.count)];
        row.extend(metric_cells(&range.metrics, metrics));
        row.extend(range.facet.as_ref().map(values));
        table.row(row);
    }
    table.print(console)?;
    let [docs, missing] = [found.docs, found.missing].map(thousands);
    let beside =
        if found.outside > 0 { format!(", {} in no range", thousands(found.outside)) } else { String::new() };
    Ok(console.line(format_args!("{docs} documents, {missing} without a value{beside}"))?)
}

/// The values of a facet with their counts, in one line.
fn values(facet: &FacetCounts) -> String {
    let printer = Printer::of(&facet.field);
    let value =
        |(value, count): &(_, u64)| format!("{} {}", printable(&printer.to_text(value)), thousands(*count));
    facet.values.iter().map(value).collect::<Vec<_>>().join(", ")
}

/// The start of a range. -0.0, which sorts before 0.0, is printed as 0.
fn begin(field: &Field, from: i64) -> Value {
    let from = Value::of(field.logical, from);
    if from == Value::F64(-0.0) { Value::F64(0.0) } else { from }
}

/// A histogram as entries of a JSON object.
pub(super) fn histogram_json(
    found: &HistogramCounts,
    metrics: &[RequestedMetric],
) -> [(&'static str, Json); 4] {
    let printer = Printer::of(&found.field);
    let range = |range: &Bucket| {
        let from = printer.json_value(&begin(&found.field, range.from));
        let facet = range.facet.as_ref().map(|facet| ("facet", facet_json(facet)));
        let of_metrics = ("metrics", metrics_json(&range.metrics, metrics));
        let counted = [("from", from), ("count", range.count.into()), of_metrics];
        Json::object(counted.into_iter().chain(facet))
    };
    [
        ("column", found.field.name.as_str().into()),
        ("missing", found.missing.into()),
        ("outside", found.outside.into()),
        ("ranges", found.buckets.iter().map(range).collect()),
    ]
}
