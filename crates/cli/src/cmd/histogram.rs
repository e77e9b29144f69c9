//! `dv histogram`: how many values lie in each of a row of ranges.

use std::time::Instant;

use serde::Serialize;
use serde_json::value::RawValue;

use super::facet::bar;
use crate::args::HistogramArgs;
use crate::console::Console;
use crate::failure::{Exit, Failure};
use crate::hits::{self, Hits, Then};
use crate::output::table::width;
use crate::output::text::{printable, thousands};
use crate::output::value::Printer;
use crate::read;
use crate::store::search::Value;
use crate::store::search::histogram::{Histogram, HistogramCounts, Step, Unit};

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

pub(crate) fn run(args: &HistogramArgs, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let segment = read::open(&args.file)?;
    // Names the column that was meant, where there is none.
    read::select(std::slice::from_ref(&segment), std::slice::from_ref(&args.column))?;
    let hits = Hits::find(&segment, &args.hits)?;
    let asked = Histogram { column: args.column.clone(), step: step(&args.step)? };
    let start = Instant::now();
    let found = hits::search(&segment, &args.hits).histogram(hits.docs(), &asked)?;
    let took = start.elapsed();
    if args.json {
        let report = Report::new(segment.file(), segment.docs(), &found);
        writeln!(console.out, "{}", serde_json::to_string_pretty(&report).unwrap_or_default())?;
    } else {
        print(&found, console)?;
    }
    hits.explain(&Then::new("values counted", took), args.json, console);
    Ok(Exit::Ok)
}

/// A unit of the calendar, or a number with or without `_`.
fn step(text: &str) -> Result<Step, Failure> {
    if let Some((_, unit)) = UNITS.iter().find(|(name, _)| *name == text) {
        return Ok(Step::Every(*unit));
    }
    let width = text.replace('_', "").parse().map(Step::Width);
    width.map_err(|_| {
        let units = UNITS.map(|(name, _)| name).join(", ");
        Failure::new(Exit::Usage, format!("--step {text}: neither a number nor one of {units}"))
    })
}

/// A line for each range, with a bar on a terminal.
fn print(found: &HistogramCounts, console: &mut Console<'_>) -> Result<(), Failure> {
    let [docs, missing, outside] = [found.docs, found.missing, found.outside].map(thousands);
    let name = printable(&found.field.name);
    let beside = if found.outside > 0 { format!(", {outside} values in no range") } else { String::new() };
    writeln!(console.out, "{name}: {docs} documents, {missing} without a value{beside}")?;
    let printer = Printer::new(found.field.logical, false, found.field.format.as_deref());
    let rows: Vec<(String, u64)> = found
        .ranges
        .iter()
        .map(|range| {
            let mut text = String::new();
            printer.text((&Value::Number(range.from)).into(), &mut text);
            (text, range.count)
        })
        .collect();
    let widest = rows.iter().map(|(from, _)| width(from)).max().unwrap_or(0);
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let digits = thousands(most).len();
    for (from, count) in rows {
        let blanks = " ".repeat(widest - width(&from));
        let bar = if console.out_width.is_some() { format!("  {}", bar(count, most)) } else { String::new() };
        writeln!(console.out, "  {blanks}{from}  {:>digits$}{bar}", thousands(count))?;
    }
    Ok(())
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    file: &'a str,
    documents: u32,
    matching: u64,
    column: &'a str,
    missing: u64,
    outside: u64,
    ranges: Vec<RangeJson>,
}

#[derive(Serialize)]
struct RangeJson {
    from: Box<RawValue>,
    count: u64,
}

impl<'a> Report<'a> {
    fn new(file: &'a str, documents: u32, found: &'a HistogramCounts) -> Report<'a> {
        let printer = Printer::new(found.field.logical, false, found.field.format.as_deref());
        let range = |from| printer.json_value(&Value::Number(from));
        let ranges = found.ranges.iter().map(|r| RangeJson { from: range(r.from), count: r.count }).collect();
        let HistogramCounts { docs, missing, outside, .. } = *found;
        Report { file, documents, matching: docs, column: &found.field.name, missing, outside, ranges }
    }
}
