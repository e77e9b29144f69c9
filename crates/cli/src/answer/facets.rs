//! The values of a column with their counts.

use super::bars::print_bars;
use super::table::Align;
use crate::api::search::facet::FacetCounts;
use crate::console::Console;
use crate::error::Result;
use crate::text::quoting::decimal;
use crate::text::{Json, Printer, counted, printable, thousands};

/// Prints a line for each value of each facet.
pub(crate) fn print(facets: &[FacetCounts], console: &mut Console<'_>) -> Result<()> {
    for (at, facet) in facets.iter().enumerate() {
        if at > 0 {
            writeln!(console.out)?;
        }
        print_one(facet, console)?;
    }
    Ok(())
}

fn print_one(facet: &FacetCounts, console: &mut Console<'_>) -> Result<()> {
    let [docs, missing] = [counted(facet.docs, "document", "documents"), thousands(facet.missing)];
    let distinct = counted(facet.distinct, "value", "values");
    let name = printable(&facet.field.name);
    console.line(format_args!("{name}: {docs}, {missing} without a value, {distinct}"))?;
    let printer = Printer::of(&facet.field);
    let rows = facet.values.iter().map(|(value, count)| {
        let share = decimal(count * 100, facet.docs.max(1), 1);
        (printable(&printer.to_text(value)), *count, format!("  {share:>5} %"))
    });
    print_bars(&rows.collect::<Vec<_>>(), Align::Left, console)
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
