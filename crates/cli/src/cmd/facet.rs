//! `dv facet`: counts the documents with each value of a column.

use super::matching_docs::MatchingDocs;
use crate::answer::table::{Align, MAX_PADDED};
use crate::api::search::facet::{Facet, FacetCounts};
use crate::args::FacetArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::files;
use crate::open::opener::Opener;
use crate::open::segments::Segments;
use crate::text::fit::{fit, is_number, width};
use crate::text::json::Json;
use crate::text::print_value::Printer;
use crate::text::quoting::{decimal, printable, thousands};

/// The most and the least width to which a value is cut if the lines are too wide.
const MAX_VALUE: usize = 40;
const MIN_VALUE: usize = 8;

/// The widths of the longest bar, on a wide and on a narrow terminal.
const MAX_BAR: usize = 30;
const MIN_BAR: usize = 10;

pub(crate) fn run(args: &FacetArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let (files, columns) = files::split(&args.arguments);
    if columns.is_empty() {
        return Err(CliError::usage("no column to count").hint("name columns after the files"));
    }
    let segments = Segments::open(opener, &files, args.filter.skip_damaged, console)?;
    // An unknown column gets a hint with the closest name.
    let fields = segments.select(&columns)?;
    let matching = MatchingDocs::find(&segments, &args.filter)?;
    let facets: Vec<Facet> = fields.iter().map(|field| facet(&field.name, args)).collect();
    let (mut found, then) =
        matching.evaluate("values counted", |search, docs| search.facets(docs, &facets))?;
    found.iter_mut().try_for_each(|facet| segments.describe(&mut facet.field))?;
    if args.json {
        matching.print_json([("facets", found.iter().map(facet_json).collect())], console)?;
    } else {
        for (at, facet) in found.iter().enumerate() {
            if at > 0 {
                writeln!(console.out)?;
            }
            print(facet, console)?;
        }
    }
    matching.explain(Some(&then), args.json, console);
    Ok(Exit::Ok)
}

fn facet(column: &str, args: &FacetArgs) -> Facet {
    let top = if args.top == 0 { usize::MAX } else { args.top };
    let facet = Facet::on(column).top(top).order(args.by.order()).min_count(args.min_count);
    match &args.prefix {
        Some(prefix) => facet.prefix(prefix.as_bytes()),
        None => facet,
    }
}

/// Prints a line for each value.
fn print(facet: &FacetCounts, console: &mut Console<'_>) -> Result<(), CliError> {
    let [docs, missing, distinct] = [facet.docs, facet.missing, facet.distinct].map(thousands);
    let name = printable(&facet.field.name);
    console.line(format_args!("{name}: {docs} documents, {missing} without a value, {distinct} values"))?;
    let printer = Printer::of(&facet.field);
    let rows = facet.values.iter().map(|(value, count)| {
        let share = decimal(count * 100, facet.docs.max(1), 1);
        (printable(&printer.to_text(value)), *count, format!("  {share:>5} %"))
    });
    print_bars(&rows.collect::<Vec<_>>(), Align::Left, console)
}

/// Prints values, their counts, a note on each, and bars.
pub(super) fn print_bars(
    rows: &[(String, u64, String)],
    align: Align,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let longest = rows.iter().map(|(value, ..)| width(value)).max().unwrap_or(0);
    let most = rows.iter().map(|(_, count, _)| *count).max().unwrap_or(0);
    let digits = thousands(most).len();
    let notes = rows.iter().map(|(.., more)| width(more)).max().unwrap_or(0);
    // Blanks before the value, the count and the bar.
    let others = 2 + 2 + digits + notes + 2;
    let room = console.out_width.map_or(usize::MAX, |width| width.saturating_sub(others));
    // Numbers are never cut, and other values only if they leave no room for the bars.
    let max = if align == Align::Right || longest.saturating_add(MAX_BAR) <= room {
        longest
    } else {
        let numbers = rows.iter().map(|(value, ..)| value).filter(|value| is_number(value));
        let number = numbers.map(|value| width(value)).max().unwrap_or(0);
        room.saturating_sub(MIN_BAR).clamp(MIN_VALUE, MAX_VALUE).max(number)
    };
    let widest = longest.min(max).min(MAX_PADDED);
    let longest_bar = room.saturating_sub(widest).min(MAX_BAR);
    for (value, count, more) in rows {
        let value = align.pad(&fit(value, max), widest);
        let line =
            format!("  {value}  {:>digits$}{more}  {}", thousands(*count), bar(*count, most, longest_bar));
        writeln!(console.out, "{}", line.trim_end())?;
    }
    if longest > max {
        console.note_cut();
    }
    Ok(())
}

/// A bar of up to `longest` characters, drawn in eighths of a character.
fn bar(count: u64, most: u64, longest: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = count.saturating_mul(8 * longest as u64).div_ceil(most.max(1));
    let [whole, rest] = [eighths / 8, eighths % 8].map(|n| usize::try_from(n).unwrap_or(0));
    format!("{}{}", "█".repeat(whole), EIGHTHS[rest])
}

/// A facet as JSON. The number of distinct values respects --min-count and --prefix.
pub(crate) fn facet_json(facet: &FacetCounts) -> Json {
    let printer = Printer::of(&facet.field);
    let value = |(value, count): &(_, u64)| {
        Json::object([("value", printer.json_value(value)), ("count", (*count).into())])
    };
    Json::object([
        ("column", facet.field.name.as_str().into()),
        ("documents", facet.docs.into()),
        ("missing", facet.missing.into()),
        ("distinct", facet.distinct.into()),
        ("values", facet.values.iter().map(value).collect()),
    ])
}
