//! The tables of columns, encodings and sections of `dv build` and `dv info`.

use super::table::{Align, Table};
use crate::api::{ColumnUsage, Field, LogicalType, SegmentUsage, to_f64};
use crate::text::quoting::decimal;
use crate::text::{Json, Printer, StoredRef, printable, thousands};

/// The maximum width of a minimum or maximum.
const MAX_END: usize = 24;

/// A table of columns with these counts.
pub(crate) fn table_with(counts: &[&str]) -> Table {
    let left = ["column", "kind", "type"].map(|name| (name, Align::Left));
    let counts: Vec<_> = counts.iter().map(|name| (*name, Align::Right)).collect();
    let range = ["min", "max"].map(|name| (name, Align::Left));
    let sizes = ["bytes", "%"].map(|name| (name, Align::Right));
    Table::new(&[&left[..], &counts[..], &range, &sizes].concat()).cut_first(&["min", "max"], MAX_END)
}

/// A row of [`table_with`]: a column, whose `bytes` are a part of `all`.
pub(crate) fn column_row(
    field: &Field,
    counts: impl IntoIterator<Item = String>,
    bounds: Option<(i64, i64)>,
    [bytes, all]: [u64; 2],
) -> Vec<String> {
    let names = [printable(&field.name), field.kind.name().to_owned(), field.logical.name().to_owned()];
    names.into_iter().chain(counts).chain(ends(field, bounds)).chain(sizes(bytes, all)).collect()
}

/// A number of bytes, and their share of `all` in percent.
fn sizes(bytes: u64, all: u64) -> [String; 2] {
    [thousands(bytes), decimal(bytes * 100, all, 1)]
}

/// A row for each column and for the whole segment. The overhead is the header, the directory and the footer.
pub(crate) fn column_table(stats: &SegmentUsage, docs: u32) -> Table {
    let mut table = table_with(&["docs", "distinct"]);
    for column in &stats.columns {
        let distinct = distinct(column).map(thousands).unwrap_or_default();
        let counts = [thousands(column.docs_with_value.into()), distinct];
        table.row(column_row(&column.field, counts, column.bounds, [column.bytes(), stats.bytes]));
    }
    table.rule();
    let mut of_file = |name: &str, docs: String, bytes: u64| {
        let mut row = vec![name.to_owned(), String::new(), String::new(), docs];
        row.extend([const { String::new() }; 3]);
        row.extend(sizes(bytes, stats.bytes));
        table.row(row);
    };
    if !stats.ids.is_empty() {
        of_file("index of ids", String::new(), stats.ids.iter().map(|section| section.bytes).sum());
    }
    of_file("overhead", String::new(), stats.overhead);
    of_file("whole segment", thousands(docs.into()), stats.bytes);
    table
}

/// The number of distinct values, if the directory has it.
pub(crate) fn distinct(column: &ColumnUsage) -> Option<u64> {
    column.term_count.map(u64::from).or(column.statistics.distinct)
}

/// The minimum and the maximum of a column as text; empty if they are not known.
fn ends(field: &Field, bounds: Option<(i64, i64)>) -> [String; 2] {
    let printer = Printer::of(field);
    known_ends(field, bounds)
        .map(|end| end.map(|stored| printable(&printer.to_text(stored))).unwrap_or_default())
}

/// The minimum and the maximum of a column as JSON; `null` if they are not known.
pub(crate) fn json_ends(field: &Field, bounds: Option<(i64, i64)>) -> [Json; 2] {
    let printer = Printer::of(field);
    known_ends(field, bounds).map(|end| end.map_or(Json::NONE, |stored| printer.json_value(stored)))
}

/// The stored bounds of a column. A bound that is NaN is none: the range of the numbers is not stored.
fn known_ends(field: &Field, bounds: Option<(i64, i64)>) -> [Option<StoredRef<'static>>; 2] {
    let is_nan = |stored| field.logical == LogicalType::F64 && to_f64(stored).is_nan();
    let known = |stored| (!is_nan(stored)).then_some(StoredRef::Number(stored));
    bounds.map_or_else(Default::default, |(min, max)| [min, max].map(known))
}

/// A row for each column, with its encodings.
pub(crate) fn encoding_table(stats: &SegmentUsage) -> Table {
    let mut table = Table::of(&["column", "encodings"], &[]).fold_last();
    for column in &stats.columns {
        table.row(vec![printable(&column.field.name), column.encodings.join(", ")]);
    }
    table
}

/// A row for each section of the columns, and of the index of ids of column `ids`.
pub(crate) fn section_table(stats: &SegmentUsage, ids: &str) -> Table {
    let mut table = Table::of(&["column", "section"], &["offset", "payload", "bytes"]);
    let columns = stats.columns.iter().map(|column| (column.field.name.as_str(), &column.sections));
    for (column, sections) in columns.chain([(ids, &stats.ids)]) {
        for section in sections {
            table.row(vec![
                printable(column),
                section.section.name().to_owned(),
                section.offset.to_string(),
                thousands(section.payload),
                thousands(section.bytes),
            ]);
        }
    }
    table
}
