//! `dv report`: writes a page that describes columns.

use std::collections::HashMap;
use std::path::Path;

use super::request::{answer, open};
use crate::answer::report::zones::ZoneMap;
use crate::answer::report::{ColumnReport, Report, double};
use crate::api::search::facet::Facet;
use crate::api::search::histogram::{Histogram, Step};
use crate::api::search::stats::{ColumnStats, Stats};
use crate::api::search::{SearchAnswer, SearchRequest, Value};
use crate::api::{ColumnUsage, DocAddress, Field, Kind, LogicalType, from_f64, from_u64};
use crate::args::report::ReportArgs;
use crate::console::Console;
use crate::console::destination::{is_stream, unpacked};
use crate::error::{CliError, Exit, Result};
use crate::open::{OpenSegment, Opener, Segments};

/// The most columns of a page.
const COLUMNS: usize = 300;

/// The documents of the sample.
const SAMPLE: usize = 12;

/// The frequent values of a column.
const VALUES: usize = 10;

/// The most different texts whose spellings are compared.
const SPELLINGS: u64 = 5_000;

pub(crate) fn run(args: &ReportArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    args.output.as_deref().map_or(Ok(()), refuse_other_extension)?;
    if console.out_width.is_some() {
        let failure = CliError::usage("a page of HTML is not for a terminal");
        return Err(failure.hint("name a file with -o, such as -o report.html"));
    }
    let segments = open(&args.files, &args.filter, opener, console)?;
    let page = report(args, &segments, console)?.to_html()?;
    console.out.write_all(page.as_bytes())?;
    Ok(Exit::Ok)
}

/// Fails if the name of the page is that of another format.
fn refuse_other_extension(output: &Path) -> Result<()> {
    let extension = unpacked(output).extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension {
        Some(extension) if !["html", "htm"].contains(&extension.as_str()) && !is_stream(output) => {
            let found = format!("{}: expected the extension .html, found \".{extension}\"", output.display());
            let hint = "a report is a page of HTML; `dv stats`, `dv facet` and others write tables, such as -o values.csv";
            Err(CliError::usage(found).hint(hint))
        }
        _ => Ok(()),
    }
}

fn report<'s>(args: &'s ReportArgs, segments: &'s Segments, console: &mut Console<'_>) -> Result<Report<'s>> {
    let mut fields = segments.select(&args.columns)?;
    let left_out = fields.split_off(fields.len().min(COLUMNS));
    let of = (&args.filter, None);
    let stats = SearchRequest::new().stats(fields.iter().map(asked));
    let stats = answer(segments, of, stats)?.found.stats;
    let facets = stats.iter().filter_map(facet);
    let histograms = stats.iter().filter_map(|stats| histogram(stats, segments));
    let request = SearchRequest::new().facets(facets).histograms(histograms).top(SAMPLE);
    let answer = answer(segments, of, request)?;
    answer.explain(false, &[("values counted", answer.found.times.pass)], console);
    let SearchAnswer { hits: matching, facets, histograms, top, .. } = answer.found;

    let parts = segments.all();
    let usage = parts.iter().filter_map(|part| part.usage().transpose()).collect::<Result<Vec<_>, _>>()?;
    let mut by_field: HashMap<&str, Vec<&ColumnUsage>> = HashMap::new();
    for column in usage.iter().flat_map(|usage| &usage.columns) {
        by_field.entry(&column.field.name).or_default().push(column);
    }
    let (mut facets, mut histograms) = (facets.into_iter().peekable(), histograms.into_iter().peekable());
    let columns = stats.into_iter().map(|stats| {
        let usage = by_field.get(stats.field.name.as_str()).map_or(&[][..], Vec::as_slice);
        let largest = usage.iter().max_by_key(|column| column.bytes());
        let of_lucene = parts.iter().filter_map(|part| part.bytes_of(&stats.field.name));
        Ok(ColumnReport {
            bytes: usage.iter().map(|column| column.bytes()).chain(of_lucene).sum(),
            encodings: largest.map(|column| column.encodings.clone()).unwrap_or_default(),
            facet: facets.next_if(|facet| facet.field.name == stats.field.name),
            histogram: histograms.next_if(|histogram| histogram.field.name == stats.field.name),
            zones: ZoneMap::of(segments, &stats)?,
            stats,
        })
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let sample = if args.filter.query.is_some() { top } else { spread(segments) };
    let bytes = parts.iter().map(OpenSegment::bytes).sum();
    Ok(Report { segments, query: args.filter.query.as_deref(), matching, bytes, columns, left_out, sample })
}

/// Documents at even distances.
fn spread(segments: &Segments) -> Vec<DocAddress> {
    let (docs, count) = (segments.docs(), segments.docs().min(SAMPLE as u64));
    segments.at((0..count).map(|at| at * docs / count)).into_iter().flatten().collect()
}

fn asked(field: &Field) -> Stats {
    let stats = Stats::of(&field.name).distinct();
    if field.kind.is_bytes() { stats } else { stats.percentiles([50.0, 99.0]) }
}

/// The frequent values of a column, or all of text that has few. Columns in which hardly a value occurs twice have none.
fn facet(stats: &ColumnStats) -> Option<Facet> {
    let distinct = stats.distinct?.get();
    let most = match stats.field.kind {
        Kind::Sorted | Kind::SortedSet => 1 << 20,
        Kind::Binary => 1 << 16,
        Kind::Numeric | Kind::SortedNumeric => 1_000,
    };
    let is_repeated = distinct <= 20 || distinct <= stats.values / 2;
    let has_spellings = stats.field.logical == LogicalType::Utf8 && distinct <= SPELLINGS;
    let top = if has_spellings { usize::MAX } else { VALUES };
    (distinct > 0 && distinct <= most && is_repeated).then(|| Facet::of(&stats.field.name).top(top))
}

/// The histogram of a column of numbers or times that are not all alike.
fn histogram(stats: &ColumnStats, segments: &Segments) -> Option<Histogram> {
    let field = &stats.field;
    let end = |end: &Option<Value>| end.as_ref().and_then(Value::stored);
    let (low, high) = (end(&stats.min)?, end(&stats.max)?);
    let [least, greatest] = [low, high].map(|end| double(field.logical, end));
    let span = greatest - least;
    // Doubles that are infinite or too close have no round steps between them.
    let is_round = span.is_finite() && span > 1e-300 && span > 1e-12 * least.abs().max(greatest.abs());
    if low == high || field.logical == LogicalType::Bool || field.logical == LogicalType::F64 && !is_round {
        return None;
    }
    let auto = || Step::auto(field, low..=high, segments.zone().cloned());
    let step = growing(stats, low, high).unwrap_or_else(auto);
    Some(Histogram::of(&field.name, step))
}

/// Ranges from 0, 1, 2, 5, 10, 20 … on, for numbers most of which are far below the greatest.
fn growing(stats: &ColumnStats, low: i64, high: i64) -> Option<Step> {
    let logical = stats.field.logical;
    let stored: fn(i64) -> i64 = match logical {
        LogicalType::I64 => |number| number,
        LogicalType::U64 => |number| from_u64(number.cast_unsigned()),
        LogicalType::F64 => |number| from_f64(number as f64),
        _ => return None,
    };
    let median = stats.percentiles.first().and_then(|(_, value)| value.stored())?;
    let is_far = double(logical, high) > 1_000.0 * double(logical, median).max(1.0);
    if !is_far || double(logical, low) < 0.0 {
        return None;
    }
    let powers = (0..19).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_i64.pow(power)));
    let edges = std::iter::once(0).chain(powers).map(stored).take_while(|edge| *edge <= high);
    let mut edges: Vec<i64> = edges.collect();
    // The range of the least number is the first one.
    edges.drain(..edges.partition_point(|edge| *edge <= low).saturating_sub(1));
    Some(Step::Edges(edges))
}
