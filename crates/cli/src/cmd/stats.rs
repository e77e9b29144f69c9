//! `dv stats`: what the values of columns are.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::args::StatsArgs;
use crate::console::Console;
use crate::facts::{Facts, rounded};
use crate::failure::{Exit, Failure};
use crate::hits::Hits;
use crate::output::table::{Align, Table, cut_note, fit, width};
use crate::output::text::{printable, thousands};
use crate::read;
use crate::store::search::stats::{ColumnStats, Distinct, Stats};
use crate::store::{self, Field};

/// Columns of a terminal that a value of the table may take.
const CELL: usize = 24;

pub(crate) fn run(args: &StatsArgs, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let segment = read::open(&args.file)?;
    let fields = read::select(std::slice::from_ref(&segment), &args.columns)?;
    let hits = Hits::find(&segment, &args.hits)?;
    let asked: Vec<Stats> = fields.iter().map(|field| asked(field, args)).collect();
    let (mut found, then) = hits.ask("values summed up", |search, docs| search.stats_of(docs, &asked))?;
    let in_file = segment.stats()?;
    let of_field = |name: &str| in_file.columns.iter().find(|column| column.field.name == name);
    let is_all = hits.count() == segment.docs();
    for stats in &mut found {
        // Of all documents the directory may know it.
        let known = of_field(&stats.field.name).filter(|_| is_all && stats.distinct.is_none());
        stats.distinct = stats.distinct.or(known.and_then(distinct).map(Distinct::Exact));
    }
    let bytes = |stats: &ColumnStats| of_field(&stats.field.name).map_or(0, store::ColumnStats::bytes);
    let columns: Vec<Column<'_>> = found.iter().map(|stats| Column::new(stats, bytes(stats))).collect();
    if args.json {
        hits.print_json(BTreeMap::from([("columns", columns)]), console)?;
    } else {
        print(&columns, console)?;
    }
    hits.explain(Some(&then), args.json, console);
    Ok(Exit::Ok)
}

/// What to find out: of byte strings, there is less to be known, which is said of those that were named.
fn asked(field: &Field, args: &StatsArgs) -> Stats {
    let mut stats = Stats::of(&field.name);
    stats.distinct = args.distinct;
    if !field.kind.is_bytes() || !args.columns.is_empty() {
        stats.spread = args.spread;
        stats.percentiles = args.percentiles.clone();
    }
    stats
}

/// How many different values there are, if the directory says.
fn distinct(stats: &store::ColumnStats) -> Option<u64> {
    stats.term_count.map(u64::from).or(stats.statistics.distinct)
}

/// What is known of a column.
#[derive(Serialize)]
pub(crate) struct Column<'a> {
    name: &'a str,
    kind: &'static str,
    #[serde(rename = "type")]
    ty: &'static str,
    /// With a value.
    documents: u64,
    missing: u64,
    values: u64,
    /// Those that are NaN: they are in nothing that follows but `distinct`.
    #[serde(skip_serializing_if = "is_zero")]
    nans: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    distinct: Option<u64>,
    /// Whether `distinct` is not exact.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    distinct_is_estimate: bool,
    #[serde(flatten)]
    facts: Facts,
    #[serde(skip_serializing_if = "is_zero")]
    bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

impl<'a> Column<'a> {
    pub(crate) fn new(stats: &'a ColumnStats, bytes: u64) -> Column<'a> {
        let field = &stats.field;
        Column {
            name: &field.name,
            kind: field.kind.name(),
            ty: field.logical.name(),
            documents: stats.docs - stats.missing,
            missing: stats.missing,
            values: stats.values,
            nans: stats.nans,
            distinct: stats.distinct.map(Distinct::get),
            distinct_is_estimate: matches!(stats.distinct, Some(Distinct::About(_))),
            facts: Facts::of(stats),
            bytes,
        }
    }
}

/// Prints a table; on a terminal that is too narrow, how many values there are and what they are in two.
fn print(columns: &[Column<'_>], console: &mut Console<'_>) -> Result<(), Failure> {
    let whole = table(columns, true, true);
    if console.out_width.is_none_or(|width| whole.width() <= width) {
        write!(console.out, "{whole}")?;
    } else {
        write!(console.out, "{}\n{}", table(columns, true, false), table(columns, false, true))?;
    }
    let ends = columns.iter().flat_map(|column| [&column.facts.min, &column.facts.max]);
    if ends.flatten().any(|value| width(&printable(value)) > CELL) {
        console.out.flush()?;
        console.note(&cut_note(CELL));
    }
    Ok(())
}

fn table(columns: &[Column<'_>], counts: bool, facts: bool) -> Table {
    let mut heading = vec![("column", Align::Left)];
    if counts {
        heading.extend([("kind", Align::Left), ("type", Align::Left)]);
        heading.extend(["with value", "missing", "values", "distinct", "bytes"].map(|h| (h, Align::Right)));
    }
    let spread = columns.iter().any(|column| column.facts.deviation.is_some());
    let percentiles: Vec<String> = columns
        .iter()
        .map(|column| &column.facts.percentiles)
        .find(|percentiles| !percentiles.is_empty())
        .map(|percentiles| percentiles.iter().map(|(percentile, _)| format!("p{percentile}")).collect())
        .unwrap_or_default();
    if facts {
        heading.extend([("min", Align::Left), ("max", Align::Left)]);
        heading.extend([("sum", Align::Right), ("mean", Align::Right)]);
        heading.extend(spread.then_some(("deviation", Align::Right)));
        heading.extend(percentiles.iter().map(|percentile| (percentile.as_str(), Align::Right)));
    }
    let mut table = Table::new(&heading);
    for column in columns {
        let mut row = vec![printable(column.name)];
        if counts {
            row.extend([column.kind.to_owned(), column.ty.to_owned()]);
            row.extend([column.documents, column.missing, column.values].map(thousands));
            let about = if column.distinct_is_estimate { "~" } else { "" };
            row.push(column.distinct.map(|count| format!("{about}{}", thousands(count))).unwrap_or_default());
            row.push(thousands(column.bytes));
        }
        if facts {
            let end = |value: &Option<String>| fit(&printable(value.as_deref().unwrap_or_default()), CELL);
            row.extend([end(&column.facts.min), end(&column.facts.max)]);
            row.push(column.facts.sum.clone().unwrap_or_default());
            row.push(column.facts.mean.as_deref().map(rounded).unwrap_or_default());
            row.extend(spread.then(|| column.facts.deviation.as_deref().map(rounded).unwrap_or_default()));
            row.extend(column.facts.percentiles.iter().map(|(_, value)| value.clone()));
        }
        table.row(row);
    }
    table
}
