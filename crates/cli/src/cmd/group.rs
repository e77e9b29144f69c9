//! `dv group`: groups documents by the values of columns.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::matching_docs::MatchingDocs;
use crate::answer::figure::Figure;
use crate::answer::records;
use crate::answer::table::{Align, Table};
use crate::api::search::group::{Group, GroupFound, GroupOrder, Groups, Measure, Metric};
use crate::api::search::{Query, Value};
use crate::api::{DocAddress, Field};
use crate::args::{GroupArgs, GroupBy, GroupSpec};
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::opener::Opener;
use crate::open::segments::Segments;
use crate::text::json::Json;
use crate::text::print_value::Printer;
use crate::text::quoting::{printable, thousands};

pub(crate) fn run(args: &GroupArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let segments = Segments::open(opener, &args.files, args.filter.skip_damaged, console)?;
    let matching = MatchingDocs::find(&segments, &args.filter)?;
    let group = group(&segments, &args.spec)?;
    let (mut found, then) = matching.evaluate("groups found", |search, docs| search.group(docs, &group))?;
    found.fields.iter_mut().try_for_each(|field| segments.describe(field))?;
    if args.json {
        matching.print_json(groups_json(&segments, &found, &args.spec)?, console)?;
    } else {
        print(&segments, &found, (&metrics_of(&segments, &args.spec)?, args.spec.missing), console)?;
    }
    matching.explain(Some(&then), args.json, console);
    Ok(Exit::Ok)
}

/// A requested metric, its name, and its column.
pub(super) struct RequestedMetric {
    pub(super) metric: Metric,
    name: &'static str,
    field: Field,
}

impl RequestedMetric {
    /// The heading of its column in a table.
    pub(super) fn heading(&self) -> String {
        format!("{} of {}", self.name, printable(&self.field.name))
    }
}

/// The metrics of --sum, --min, --max, --mean and --distinct.
pub(super) fn metrics(
    segments: &Segments,
    columns: [&[String]; 5],
) -> Result<Vec<RequestedMetric>, CliError> {
    type Of = fn(String) -> Metric;
    let kinds: [(&str, Of); 5] = [
        ("sum", Metric::Sum),
        ("min", Metric::Min),
        ("max", Metric::Max),
        ("mean", Metric::Mean),
        ("distinct", Metric::Distinct),
    ];
    let mut metrics = Vec::new();
    // An empty list means no columns here, not all.
    for ((name, metric), columns) in kinds.into_iter().zip(columns).filter(|(_, columns)| !columns.is_empty())
    {
        for field in segments.select(columns)? {
            metrics.push(RequestedMetric { metric: metric(field.name.clone()), name, field });
        }
    }
    Ok(metrics)
}

fn metrics_of(segments: &Segments, args: &GroupSpec) -> Result<Vec<RequestedMetric>, CliError> {
    let columns = [&args.sum, &args.min, &args.max, &args.mean, &args.distinct];
    let mut all = metrics(segments, columns.map(Vec::as_slice))?;
    // What --having needs is computed as well, after what was asked for.
    let having = args.having.as_deref().map(Query::parse).transpose()?;
    for metric in having.iter().flat_map(Query::columns).filter_map(Metric::from_name) {
        if all.iter().any(|known| known.metric == metric) {
            continue;
        }
        let name = [metric.column().to_owned()];
        let only = |wanted: fn(String) -> Metric| {
            if wanted(name[0].clone()) == metric { name.as_slice() } else { &[] }
        };
        let kinds = [Metric::Sum, Metric::Min, Metric::Max, Metric::Mean, Metric::Distinct];
        all.extend(metrics(segments, kinds.map(only))?);
    }
    Ok(all)
}

pub(crate) fn group(segments: &Segments, args: &GroupSpec) -> Result<Group, CliError> {
    if args.docs == 0 && args.by != GroupBy::Best && !args.sort.is_empty() {
        let message = format!("group by {}: --sort needs --docs or --by best", args.column.0.join(","));
        return Err(CliError::usage(message).hint(
            "--docs COUNT shows the best documents of each group, --by best orders the groups by them",
        ));
    }
    if args.docs == 0 && !args.columns.is_empty() {
        let message = format!("group by {}: columns of documents need docs", args.column.0.join(","));
        return Err(CliError::usage(message).hint("docs is the number of best documents of each group"));
    }
    if args.column.0.is_empty() {
        return Err(CliError::usage("group: expected the name of a column, found an empty list"));
    }
    // An unknown column gets a hint with the closest name.
    let names = segments.select(&args.column.0)?.into_iter().map(|field| field.name);
    let mut group = Group { by: names.collect(), with_missing: args.missing, ..Group::by("") };
    group.having = args.having.as_deref().map(Query::parse).transpose()?;
    group.top = if args.top == 0 { usize::MAX } else { args.top };
    group.docs = args.docs;
    group.sort = segments.sort_keys("--sort", &args.sort)?;
    group.metrics = metrics_of(segments, args)?.into_iter().map(|requested| requested.metric).collect();
    group.order = match args.by {
        GroupBy::Count => GroupOrder::Count,
        GroupBy::Value => GroupOrder::Value,
        GroupBy::Best => GroupOrder::Best,
        GroupBy::Metric if group.metrics.is_empty() => {
            return Err(CliError::usage("--by metric needs a metric").hint("add one, such as --sum COLUMN"));
        }
        GroupBy::Metric => GroupOrder::Metric(0),
    };
    Ok(group)
}

/// The cells of metrics; empty if no document has a value.
pub(super) fn metric_cells(
    found: &[Option<Measure>],
    metrics: &[RequestedMetric],
) -> impl Iterator<Item = String> {
    found.iter().zip(metrics).map(|(measure, requested)| {
        let figure = measure.as_ref().and_then(Figure::of);
        figure.map(|figure| figure.rounded(&Printer::of(&requested.field))).unwrap_or_default()
    })
}

/// Metrics as JSON, such as `{"sum": {"size": 12}, "mean": {"size": 1.5}}`; `null` if no document has a value.
pub(super) fn metrics_json(found: &[Option<Measure>], metrics: &[RequestedMetric]) -> Json {
    let mut by_name: Vec<(Cow<'static, str>, Json)> = Vec::new();
    for (measure, RequestedMetric { name, field, .. }) in found.iter().zip(metrics) {
        let figure = measure.as_ref().and_then(Figure::of);
        let figure = figure.map_or(Json::NONE, |figure| figure.json(&Printer::of(field)));
        let entry = (field.name.clone().into(), figure);
        match by_name.iter_mut().find(|(known, _)| known == name) {
            Some((_, Json::Object(columns))) => columns.push(entry),
            _ => by_name.push(((*name).into(), Json::Object(vec![entry]))),
        }
    }
    if by_name.is_empty() { Json::NONE } else { Json::Object(by_name) }
}

fn print(
    segments: &Segments,
    found: &Groups,
    (metrics, with_missing): (&[RequestedMetric], bool),
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let printers: Vec<Printer> = found.fields.iter().map(Printer::of).collect();
    let names: Vec<String> = found.fields.iter().map(|field| printable(&field.name)).collect();
    let headings: Vec<String> = metrics.iter().map(RequestedMetric::heading).collect();
    let mut heading: Vec<_> = names.iter().map(|name| (name.as_str(), Align::Left)).collect();
    heading.push(("documents", Align::Right));
    heading.extend(headings.iter().map(|heading| (heading.as_str(), Align::Right)));
    let has_docs = found.groups.iter().any(|group| !group.docs.is_empty());
    heading.extend(has_docs.then_some(("best", Align::Left)));
    let table = Table::new(&heading).named_by(names.len());
    let mut table = if has_docs { table.fold_last() } else { table };
    for group in &found.groups {
        let text = |(value, printer): (&Option<Value>, &Printer)| match value {
            Some(value) => printable(&printer.to_text(value)),
            None => "(missing)".to_owned(),
        };
        let mut row: Vec<_> = group.values.iter().zip(&printers).map(text).collect();
        row.push(thousands(group.count));
        row.extend(metric_cells(&group.metrics, metrics));
        row.push(group.docs.iter().map(|doc| segments.place(*doc)).collect::<Vec<_>>().join(" "));
        table.row(row);
    }
    table.print(console)?;
    let groups =
        found.distinct.map_or_else(String::new, |distinct| format!("{} groups, ", thousands(distinct.get())));
    let [docs, missing] = [found.docs, found.missing].map(thousands);
    if with_missing {
        return Ok(console.line(format_args!("{groups}{docs} documents"))?);
    }
    let of = if names.len() > 1 { " in one of the columns" } else { "" };
    Ok(console.line(format_args!("{groups}{docs} documents, {missing} without a value{of}"))?)
}

/// Groups as entries of a JSON object.
pub(super) fn groups_json(
    segments: &Segments,
    found: &Groups,
    spec: &GroupSpec,
) -> Result<[(&'static str, Json); 5], CliError> {
    let metrics = metrics_of(segments, spec)?;
    let printers: Vec<Printer> = found.fields.iter().map(Printer::of).collect();
    // One call for all groups opens each column once and reads it in file order.
    let best: Vec<DocAddress> = found.groups.iter().flat_map(|group| group.docs.iter().copied()).collect();
    let mut best = records::json(segments, &best, &spec.columns)?.into_iter();
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
