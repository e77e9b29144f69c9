//! Requests to a search, from the options of a command line or the keys of `dv query`, and their answers.

use std::path::PathBuf;

use crate::answer::search_answer::Answer;
use crate::api::SearchError;
use crate::api::search::calendar::{CalendarStep, TimeZone};
use crate::api::search::facet::Facet;
use crate::api::search::group::{Group, GroupOrder, Metric};
use crate::api::search::histogram::{Histogram, Step};
use crate::api::search::query::Literal;
use crate::api::search::stats::Stats;
use crate::api::search::{Query, SearchRequest, Value};
use crate::api::{Field, LogicalType};
use crate::args::aggregate::{FacetBy, GroupBy, GroupSpec, HistogramSpec, TextOrNumber};
use crate::args::filter::WhereArgs;
use crate::console::Console;
use crate::error::{CliError, Result};
use crate::import::type_flag;
use crate::open::{Opener, Segments, columns};
use crate::text::query_time;

/// Opens the files of a search, with timestamps in its zone.
pub(super) fn open(
    files: &[PathBuf],
    args: &WhereArgs,
    opener: &Opener,
    console: &mut Console<'_>,
) -> Result<Segments> {
    Ok(Segments::open(opener, files, args.skip_damaged, console)?.in_zone(&args.tz))
}

/// Answers `request` for the documents that match `--where` and, if there is one, the condition `more`.
pub(super) fn answer<'s>(
    segments: &'s Segments,
    (args, more): (&WhereArgs, Option<&str>),
    request: SearchRequest,
) -> Result<Answer<'s>> {
    let parse = |text| Query::parse(text).map_err(|error| columns::unparsed(segments.all(), text, error));
    let queries = [args.query.as_deref(), more].into_iter().flatten().map(parse);
    let mut query = Query::all_of(queries.collect::<Result<Vec<_>, _>>()?);
    segments.read_times(&mut query, str::to_owned);
    Answer::of(segments, request.query(query).explain(args.explain), args.threads)
}

/// The most results to return: on the command line, 0 stands for all.
pub(super) fn all_if_zero(top: usize) -> usize {
    if top == 0 { usize::MAX } else { top }
}

/// A facet.
pub(super) fn facet(column: &str, top: usize, by: FacetBy, min_count: u64, prefix: Option<&str>) -> Facet {
    let mut facet = Facet::of(column).top(all_if_zero(top)).order(by.order()).min_count(min_count);
    facet.prefix = prefix.map(Vec::from);
    facet
}

/// A histogram of the documents that match `--where` and, if there is one, the condition `more`.
pub(super) fn histogram(
    segments: &Segments,
    spec: &HistogramSpec,
    of: (&WhereArgs, Option<&str>),
) -> Result<Histogram> {
    let column = spec.column.clone();
    let wrong = |what: String| CliError::usage(format!("histogram of {column:?}: {what}"));
    let step = match &spec.step {
        Some(_) if !spec.edges.is_empty() => {
            return Err(wrong("expected either a step or edges, found both".into()));
        }
        Some(TextOrNumber(text)) if text == "auto" => auto(segments, &column, of)?,
        Some(TextOrNumber(text)) => step(text, segments.zone()).map_err(wrong)?,
        None => {
            let field = segments.field(&column)?;
            let mut edges: Vec<Literal> =
                spec.edges.iter().map(|TextOrNumber(text)| Literal::read(text)).collect();
            if let Some(field) = segments.time_field(&column) {
                edges.iter_mut().for_each(|edge| query_time::convert(&field, segments.zone(), edge));
            }
            match Step::edges(&field, &edges) {
                Err(SearchError::Request(what)) => return Err(wrong(what)),
                step => step?,
            }
        }
    };
    if let Step::Every(_) = step {
        require_no_text(&segments.field(&column)?)?;
    }
    let mut histogram = Histogram::of(spec.column.clone(), step);
    if let Some(column) = &spec.facet {
        segments.select(std::slice::from_ref(column))?;
        histogram = histogram.facet(Facet::of(column).top(all_if_zero(spec.top)));
    }
    histogram.metrics = metrics(segments, [&spec.sum, &spec.min, &spec.max, &spec.mean, &[]])?;
    Ok(histogram)
}

/// A step that makes about 40 ranges of the values that are found.
fn auto(segments: &Segments, column: &str, of: (&WhereArgs, Option<&str>)) -> Result<Step> {
    let found = answer(segments, of, SearchRequest::new().stats([Stats::of(column)]))?.found;
    let end = |end: &Option<Value>| end.as_ref().and_then(Value::stored).unwrap_or_default();
    let (first, last) = (end(&found.stats[0].min), end(&found.stats[0].max));
    Ok(Step::auto(&segments.field(column)?, first..=last, segments.zone().cloned()))
}

/// Parses a step: a calendar step in the zone, or a number as in a query. Integers are exact.
fn step(text: &str, zone: Option<&TimeZone>) -> Result<Step, String> {
    if let Ok(step) = CalendarStep::parse(text) {
        return Ok(Step::Every(step.zone(zone.cloned())));
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
        format!(
            "expected a step that is a number or one of second, minute, hour, day, week, month, quarter, year, several of \
             them such as 15min, weekday, hour-of-day or auto, found {text:?}"
        )
    })
}

/// A grouping.
pub(super) fn group(segments: &Segments, args: &GroupSpec) -> Result<Group> {
    if args.docs == 0 && args.by != GroupBy::Best && !args.sort.is_empty() {
        let message = format!("group by {}: --sort needs --docs or --by best", args.column.all().join(","));
        return Err(CliError::usage(message).hint(
            "--docs COUNT shows the best documents of each group, --by best orders the groups by them",
        ));
    }
    if args.docs == 0 && !args.columns.is_empty() {
        let message = format!("group by {}: columns of documents need docs", args.column.all().join(","));
        return Err(CliError::usage(message).hint("docs is the number of best documents of each group"));
    }
    if args.column.all().is_empty() {
        return Err(CliError::usage("group: expected the name of a column, found an empty list"));
    }
    let mut group = Group::of("");
    (group.by, group.steps) = group_keys(segments, args.column.all())?;
    group.with_missing = args.missing;
    group.having = args.having.as_deref().map(Query::parse).transpose()?;
    if let Some(having) = &mut group.having {
        let column_of = |name: &str| Metric::from_name(name).map(|metric| metric.column().to_owned());
        segments.read_times(having, |name| column_of(name).unwrap_or_default());
    }
    group.top = all_if_zero(args.top);
    group.docs = args.docs;
    group.sort = segments.sort_keys("--sort", &args.sort)?;
    let columns = [&args.sum, &args.min, &args.max, &args.mean, &args.distinct];
    group.metrics = metrics(segments, columns.map(Vec::as_slice))?;
    // What --having needs is computed as well, after what was asked for.
    let needed = group.having.iter().flat_map(Query::columns).filter_map(Metric::from_name);
    for metric in named_metrics(&args.metric)?.into_iter().chain(needed) {
        if !group.metrics.contains(&metric) {
            for column in [Some(metric.column()), metric.key()].into_iter().flatten() {
                segments.select(&[column.to_owned()])?;
            }
            group.metrics.push(metric);
        }
    }
    group.order = match args.by {
        GroupBy::Count => GroupOrder::Count,
        GroupBy::Value => GroupOrder::Value,
        GroupBy::Best => GroupOrder::Best,
        GroupBy::Metric if group.metrics.is_empty() => {
            return Err(CliError::usage("--by metric needs a metric").hint("add one, such as --sum COLUMN"));
        }
        GroupBy::Metric => {
            let metric = &group.metrics[0];
            if metric.key().is_some() && segments.field(metric.column())?.logical.is_bytes() {
                let message =
                    format!("--by metric: expected a metric that is a number, found {}", metric.name());
                let hint = "groups are in the order of the first of sum, min, max, mean, distinct and others";
                return Err(CliError::usage(message).hint(hint));
            }
            GroupOrder::Metric(0)
        }
    };
    Ok(group)
}

/// Steps, with the positions of their columns.
type Steps = Vec<(usize, CalendarStep)>;

/// The columns to group by: names, or `NAME:STEP` for the calendar steps of a column.
fn group_keys(segments: &Segments, columns: &[String]) -> Result<(Vec<String>, Steps)> {
    let (mut by, mut steps, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    for argument in columns {
        let is_whole = segments.find_field(argument)?.is_some();
        let names = if is_whole { vec![argument.as_str()] } else { argument.split(',').collect() };
        for name in names {
            let parts = match name.rsplit_once(':') {
                Some(parts) if !is_whole && segments.find_field(name)?.is_none() => Some(parts),
                _ => None,
            };
            match parts.map(|(column, step)| (column, CalendarStep::parse(step))) {
                Some((column, Ok(step))) => {
                    // An unknown column gets a hint with the closest name.
                    segments.select(&[column.to_owned()])?;
                    require_no_text(&segments.field(column)?)?;
                    steps.push((by.len(), step.zone(segments.zone().cloned())));
                    by.push(column.to_owned());
                }
                Some((column, Err(error))) if segments.find_field(column)?.is_some() => {
                    let message = format!("no column {name:?}, and as a step of {column:?}: {error}");
                    return Err(CliError::failed(message));
                }
                _ => {
                    plain.push(name.to_owned());
                    by.push(name.to_owned());
                }
            }
        }
    }
    if !plain.is_empty() {
        segments.select(&plain)?;
    }
    Ok((by, steps))
}

/// Refuses steps of a column of strings, which may be times that differ in their offsets.
fn require_no_text(field: &Field) -> Result<()> {
    let Field { name, logical, .. } = field;
    if *logical != LogicalType::Utf8 {
        return Ok(());
    }
    let message = format!("column {name:?} is string: expected a date or a timestamp for calendar units");
    let flag = type_flag(name, "timestamp");
    Err(CliError::usage(message)
        .hint(format!("`dv build` with {flag} stores times in UTC, whatever their offsets")))
}

/// The metrics of --sum, --min, --max, --mean and --distinct.
fn metrics(segments: &Segments, columns: [&[String]; 5]) -> Result<Vec<Metric>> {
    let kinds: [fn(String) -> Metric; 5] =
        [Metric::Sum, Metric::Min, Metric::Max, Metric::Mean, Metric::Distinct];
    let mut metrics = Vec::new();
    // An empty list means no columns here, not all.
    for (metric, columns) in kinds.into_iter().zip(columns).filter(|(_, columns)| !columns.is_empty()) {
        metrics.extend(segments.select(columns)?.into_iter().map(|field| metric(field.name)));
    }
    Ok(metrics)
}

/// The metrics of --metric, by the names that they have in conditions.
fn named_metrics(lists: &[String]) -> Result<Vec<Metric>> {
    let metric = |name: &str| {
        // The query language has the name in lower case, and without backticks.
        let metric = match Query::parse(&format!("{name} exists")) {
            Ok(Query::Condition(condition)) => Metric::from_name(condition.column()),
            _ => None,
        };
        let message = format!("--metric: expected the name of a metric, found {name:?}");
        let hint = "such as p50(NAME), the median, up to p100(NAME), first(NAME by KEY) or last(NAME by KEY); unusual \
                    names in backticks";
        metric.ok_or_else(|| CliError::usage(message).hint(hint))
    };
    let names = lists.iter().flat_map(|list| list.split_inclusive("),"));
    names.map(|name| metric(name.trim_end_matches(','))).collect()
}
