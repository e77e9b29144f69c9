//! `dv stats`: what the values of columns are.

use serde::Serialize;

use crate::args::StatsArgs;
use crate::console::Console;
use crate::facts::{Facts, rounded};
use crate::failure::{Exit, Failure};
use crate::output::table::{Align, Table, cut_note, fit, width};
use crate::output::text::{printable, thousands};
use crate::read;
use crate::store::{ColumnStats, Segment};

/// Columns of a terminal that a value of the table may take.
const CELL: usize = 24;

pub(crate) fn run(args: &StatsArgs, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let segment = read::open(&args.file)?;
    let fields = read::select(std::slice::from_ref(&segment), &args.columns)?;
    let stats = segment.stats()?;
    let of_field = |name: &str| stats.columns.iter().find(|column| column.field.name == name);
    let columns = fields
        .iter()
        .filter_map(|field| of_field(&field.name))
        .map(|stats| Column::new(&segment, stats))
        .collect::<Result<Vec<_>, _>>()?;
    if args.json {
        let report = Report { file: segment.file(), documents: segment.docs(), columns };
        writeln!(console.out, "{}", serde_json::to_string_pretty(&report).unwrap_or_default())?;
        return Ok(Exit::Ok);
    }
    print(&columns, console)?;
    Ok(Exit::Ok)
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    file: &'a str,
    documents: u32,
    columns: Vec<Column<'a>>,
}

#[derive(Serialize)]
struct Column<'a> {
    name: &'a str,
    kind: &'static str,
    #[serde(rename = "type")]
    ty: &'static str,
    /// With a value.
    documents: u32,
    missing: u32,
    values: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    distinct: Option<u64>,
    #[serde(flatten)]
    facts: Facts,
    bytes: u64,
}

impl<'a> Column<'a> {
    fn new(segment: &Segment, stats: &'a ColumnStats) -> Result<Column<'a>, Failure> {
        let field = &stats.field;
        Ok(Column {
            name: &field.name,
            kind: field.kind.name(),
            ty: field.logical.name(),
            documents: stats.docs_with_value,
            missing: segment.docs().saturating_sub(stats.docs_with_value),
            values: stats.value_count,
            distinct: stats.term_count.map(u64::from).or(stats.statistics.distinct),
            facts: Facts::of(segment, stats)?,
            bytes: stats.bytes(),
        })
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
    if facts {
        heading.extend([("min", Align::Left), ("max", Align::Left)]);
        heading.extend([("sum", Align::Right), ("mean", Align::Right)]);
    }
    let mut table = Table::new(&heading);
    for column in columns {
        let mut row = vec![printable(column.name)];
        if counts {
            row.extend([column.kind.to_owned(), column.ty.to_owned()]);
            row.extend([column.documents, column.missing].map(|count| thousands(count.into())));
            row.push(thousands(column.values));
            row.push(column.distinct.map(thousands).unwrap_or_default());
            row.push(thousands(column.bytes));
        }
        if facts {
            let end = |value: &Option<String>| fit(&printable(value.as_deref().unwrap_or_default()), CELL);
            row.extend([end(&column.facts.min), end(&column.facts.max)]);
            row.push(column.facts.sum.clone().unwrap_or_default());
            row.push(column.facts.mean.as_deref().map(rounded).unwrap_or_default());
        }
        table.row(row);
    }
    table
}
