//! Requests to a search, from the options of a command line or the keys of `dv query`.

use crate::answer::metrics::RequestedMetric;
use crate::api::SearchError;
use crate::api::search::Query;
use crate::api::search::facet::Facet;
use crate::api::search::group::{Group, GroupOrder, Metric};
use crate::api::search::histogram::{Histogram, Step, Unit};
use crate::api::search::query::Literal;
use crate::args::{GroupBy, GroupSpec, HistogramSpec, TextOrNumber};
use crate::error::CliError;
use crate::open::segments::Segments;

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

/// A histogram.
pub(super) fn histogram(segments: &Segments, spec: &HistogramSpec) -> Result<Histogram, CliError> {
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
    let metrics = histogram_metrics(segments, spec)?;
    Ok(metrics.into_iter().fold(histogram, |histogram, requested| histogram.metric(requested.metric)))
}

/// The metrics of each range of a histogram.
pub(super) fn histogram_metrics(
    segments: &Segments,
    spec: &HistogramSpec,
) -> Result<Vec<RequestedMetric>, CliError> {
    metrics(segments, [&spec.sum, &spec.min, &spec.max, &spec.mean, &[]])
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

/// A grouping.
pub(super) fn group(segments: &Segments, args: &GroupSpec) -> Result<Group, CliError> {
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
    group.metrics = group_metrics(segments, args)?.into_iter().map(|requested| requested.metric).collect();
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

/// The metrics of each group.
pub(super) fn group_metrics(segments: &Segments, args: &GroupSpec) -> Result<Vec<RequestedMetric>, CliError> {
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

/// The metrics of --sum, --min, --max, --mean and --distinct.
fn metrics(segments: &Segments, columns: [&[String]; 5]) -> Result<Vec<RequestedMetric>, CliError> {
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
