//! `dv facet`: how many documents have each value.

use std::time::Instant;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::args::{FacetArgs, FacetBy};
use crate::console::Console;
use crate::failure::{Exit, Failure};
use crate::hits::{self, Hits, Then};
use crate::output::table::{fit, width};
use crate::output::text::{decimal, printable, thousands};
use crate::output::value::Printer;
use crate::read;
use crate::store::Segment;
use crate::store::search::Value;
use crate::store::search::facet::{Facet, FacetCounts, FacetOrder};

/// Columns of a terminal that a value may take.
const CELL: usize = 40;

/// Columns of the longest bar.
const BAR: usize = 30;

pub(crate) fn run(args: &FacetArgs, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let segment = read::open(&args.file)?;
    // Names the column that was meant, where there is none.
    let fields = read::select(std::slice::from_ref(&segment), &args.columns)?;
    let hits = Hits::find(&segment, &args.hits)?;
    let facets: Vec<Facet> = fields.iter().map(|field| facet(&field.name, args)).collect();
    let start = Instant::now();
    let found = hits::search(&segment, &args.hits).facets(hits.docs(), &facets)?;
    let took = start.elapsed();
    if args.json {
        print_json(&segment, &hits, &found, console)?;
    } else {
        for (at, facet) in found.iter().enumerate() {
            if at > 0 {
                writeln!(console.out)?;
            }
            print(facet, console)?;
        }
    }
    hits.explain(&Then::new("values counted", took), args.json, console);
    Ok(Exit::Ok)
}

fn facet(column: &str, args: &FacetArgs) -> Facet {
    let order = match args.by {
        FacetBy::Count => FacetOrder::Count,
        FacetBy::Value => FacetOrder::Value,
    };
    let top = if args.top == 0 { usize::MAX } else { args.top };
    let facet = Facet::on(column).top(top).order(order).min_count(args.min_count);
    match &args.prefix {
        Some(prefix) => facet.prefix(prefix.as_bytes()),
        None => facet,
    }
}

/// A line for each value, with a bar on a terminal.
fn print(facet: &FacetCounts, console: &mut Console<'_>) -> Result<(), Failure> {
    let [docs, missing, distinct] = [facet.docs, facet.missing, facet.distinct].map(thousands);
    let name = printable(&facet.field.name);
    writeln!(console.out, "{name}: {docs} documents, {missing} without a value, {distinct} values")?;
    let printer = Printer::new(facet.field.logical, false, facet.field.format.as_deref());
    let shown = |value: &Value| {
        let mut text = String::new();
        printer.text(value.into(), &mut text);
        fit(&printable(&text), CELL)
    };
    let rows: Vec<(String, u64)> = facet.values.iter().map(|(value, count)| (shown(value), *count)).collect();
    let widest = rows.iter().map(|(value, _)| width(value)).max().unwrap_or(0);
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let digits = thousands(most).len();
    for (value, count) in rows {
        let blanks = " ".repeat(widest - width(&value));
        let share = decimal(count * 100, facet.docs.max(1), 1);
        let bar = if console.out_width.is_some() { format!("  {}", bar(count, most)) } else { String::new() };
        writeln!(console.out, "  {value}{blanks}  {:>digits$}  {share:>5} %{bar}", thousands(count))?;
    }
    Ok(())
}

/// A bar of up to [`BAR`] columns, in eighths of them.
pub(super) fn bar(count: u64, most: u64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = count.saturating_mul(8 * BAR as u64).div_ceil(most.max(1));
    let [whole, rest] = [eighths / 8, eighths % 8].map(|n| usize::try_from(n).unwrap_or(0));
    format!("{}{}", "█".repeat(whole), EIGHTHS[rest])
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    file: &'a str,
    documents: u32,
    matching: u32,
    facets: Vec<FacetJson<'a>>,
}

/// A facet, as JSON has it.
#[derive(Serialize)]
pub(crate) struct FacetJson<'a> {
    column: &'a str,
    /// With and without a value.
    documents: u64,
    missing: u64,
    /// Of the values that a least count and a prefix leave.
    distinct: u64,
    values: Vec<ValueJson>,
}

#[derive(Serialize)]
struct ValueJson {
    value: Box<RawValue>,
    count: u64,
}

impl<'a> FacetJson<'a> {
    pub(crate) fn new(facet: &'a FacetCounts) -> FacetJson<'a> {
        let printer = Printer::new(facet.field.logical, false, facet.field.format.as_deref());
        let values = facet.values.iter();
        FacetJson {
            column: &facet.field.name,
            documents: facet.docs,
            missing: facet.missing,
            distinct: facet.distinct,
            values: values
                .map(|(value, count)| ValueJson { value: printer.json_value(value), count: *count })
                .collect(),
        }
    }
}

fn print_json(
    segment: &Segment,
    hits: &Hits,
    found: &[FacetCounts],
    console: &mut Console<'_>,
) -> Result<(), Failure> {
    let facets = found.iter().map(FacetJson::new).collect();
    let report = Report { file: segment.file(), documents: segment.docs(), matching: hits.count(), facets };
    Ok(writeln!(console.out, "{}", serde_json::to_string_pretty(&report).unwrap_or_default())?)
}
