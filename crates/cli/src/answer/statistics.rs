//! Statistics of columns.

use super::figure::{self, sum_and_mean};
use super::table::{Align, Table};
use crate::api::search::Value;
use crate::api::search::group::Measure;
use crate::api::search::stats::{ColumnStats, Distinct};
use crate::console::Console;
use crate::error::Result;
use crate::text::{Json, Printer, printable, thousands};

/// The maximum width of a value.
const CELL: usize = 24;

/// A column's statistics, and its size in the file.
pub(crate) struct Column<'a> {
    stats: &'a ColumnStats,
    printer: Printer,
    sum: Option<Measure>,
    mean: Option<Measure>,
    deviation: Option<Measure>,
    bytes: u64,
}

impl<'a> Column<'a> {
    pub(crate) fn new(stats: &'a ColumnStats, bytes: u64) -> Column<'a> {
        let (sum, mean) = sum_and_mean(stats);
        let deviation = stats.standard_deviation().map(Measure::Mean);
        Column { stats, printer: Printer::of(&stats.field), sum, mean, deviation, bytes }
    }

    /// The minimum and the maximum for a table.
    fn ends(&self) -> [String; 2] {
        let end = |value: &Option<Value>| value.as_ref().map(|value| self.printer.to_text(value));
        [&self.stats.min, &self.stats.max].map(|value| printable(&end(value).unwrap_or_default()))
    }

    /// The column as JSON.
    pub(crate) fn to_json(&self) -> Json {
        let Column { stats, printer, sum, mean, deviation, bytes } = self;
        let is_estimate = matches!(stats.distinct, Some(Distinct::About(_)));
        let value =
            |value: &Option<Value>| value.as_ref().map_or(Json::NONE, |value| printer.json_value(value));
        let figure =
            |figure: &Option<Measure>| figure.as_ref().map_or(Json::NONE, |it| figure::json(it, printer));
        let percentiles = stats.percentiles.iter();
        let percentiles =
            percentiles.map(|(percentile, found)| (percentile.to_string().into(), printer.json_value(found)));
        let percentiles =
            if percentiles.len() > 0 { Json::Object(percentiles.collect()) } else { Json::NONE };
        Json::object([
            ("name", stats.field.name.as_str().into()),
            ("kind", stats.field.kind.name().into()),
            ("type", stats.field.logical.name().into()),
            ("documents", (stats.docs - stats.missing).into()),
            ("missing", stats.missing.into()),
            ("values", stats.values.into()),
            // The entries below, except `distinct`, leave NaN out.
            ("nans", (stats.nans > 0).then_some(stats.nans).into()),
            ("distinct", stats.distinct.map(Distinct::get).into()),
            ("distinct_is_estimate", is_estimate.then_some(true).into()),
            ("min", value(&stats.min)),
            ("max", value(&stats.max)),
            ("sum", figure(sum)),
            ("mean", figure(mean)),
            ("deviation", figure(deviation)),
            ("percentiles", percentiles),
            ("bytes", (*bytes > 0).then_some(*bytes).into()),
        ])
    }
}

/// Prints a table, or two on a terminal that is too narrow: counts, and values.
pub(crate) fn print(columns: &[Column<'_>], console: &mut Console<'_>) -> Result<()> {
    let whole = table(columns, true, true);
    if whole.fits(console) {
        return whole.print(console);
    }
    table(columns, true, false).print(console)?;
    writeln!(console.out)?;
    table(columns, false, true).print(console)
}

fn table(columns: &[Column<'_>], counts: bool, facts: bool) -> Table {
    let mut heading = vec![("column", Align::Left)];
    if counts {
        heading.extend([("kind", Align::Left), ("type", Align::Left)]);
        heading.extend(["with value", "missing", "values", "distinct", "bytes"].map(|h| (h, Align::Right)));
    }
    let spread = columns.iter().any(|column| column.deviation.is_some());
    let mut percentiles = columns.iter().map(|column| &column.stats.percentiles);
    let percentiles = percentiles.find(|percentiles| !percentiles.is_empty()).into_iter().flatten();
    let percentiles: Vec<String> = percentiles.map(|(percentile, _)| format!("p{percentile}")).collect();
    if facts {
        heading.extend([("min", Align::Left), ("max", Align::Left)]);
        heading.extend([("sum", Align::Right), ("mean", Align::Right)]);
        heading.extend(spread.then_some(("deviation", Align::Right)));
        heading.extend(percentiles.iter().map(|percentile| (percentile.as_str(), Align::Right)));
    }
    let mut table = Table::new(&heading).cut_first(&["min", "max"], CELL);
    for column in columns {
        let mut row = vec![printable(&column.stats.field.name)];
        if counts {
            let ColumnStats { field, docs, missing, values, .. } = column.stats;
            row.extend([field.kind.name().to_owned(), field.logical.name().to_owned()]);
            row.extend([docs - missing, *missing, *values].map(thousands));
            row.extend([figure::distinct(column.stats), thousands(column.bytes)]);
        }
        if facts {
            let Column { stats, printer, sum, mean, deviation, .. } = column;
            let text = |figure: &Option<Measure>| {
                figure.as_ref().map(|it| figure::text(it, printer)).unwrap_or_default()
            };
            row.extend(column.ends());
            row.extend([sum, mean].map(text));
            row.extend(spread.then(|| text(deviation)));
            row.extend(stats.percentiles.iter().map(|(_, value)| printer.to_text(value)));
        }
        table.row(row);
    }
    table
}
