//! The tables of columns and sections of `dv build` and `dv info`.

use super::table::{Align, Table};
use super::text::{decimal, printable, thousands};
use crate::api::SegmentUsage;

/// The table of columns. On a terminal that is too narrow, the encodings go to a table of their own.
pub(crate) fn columns(stats: &SegmentUsage, docs: u32, width: Option<usize>) -> String {
    let table = column_table(stats, docs, true);
    if width.is_none_or(|width| table.width() <= width) {
        return table.to_string();
    }
    let mut encodings = Table::new(&[("column", Align::Left), ("encodings", Align::Left)]);
    for column in &stats.columns {
        encodings.row(vec![printable(&column.field.name), column.encodings.join(", ")]);
    }
    format!("{}\n{encodings}", column_table(stats, docs, false))
}

/// A row for each column and for the whole segment.
fn column_table(stats: &SegmentUsage, docs: u32, encodings: bool) -> Table {
    let mut heading = vec![("column", Align::Left), ("kind", Align::Left), ("type", Align::Left)];
    heading.extend(encodings.then_some(("encodings", Align::Left)));
    heading.extend([("with value", Align::Right), ("bytes", Align::Right), ("bytes/doc", Align::Right)]);
    let mut table = Table::new(&heading);
    let row = |name: String, what: [&str; 2], how: String, with_value: String, bytes: u64| {
        let mut row = vec![name, what[0].to_owned(), what[1].to_owned()];
        row.extend(encodings.then_some(how));
        row.extend([with_value, thousands(bytes), per_doc(bytes, docs)]);
        row
    };
    for column in &stats.columns {
        let field = &column.field;
        let what = [field.kind.name(), field.logical.name()];
        let (how, with_value) = (column.encodings.join(", "), thousands(column.docs_with_value.into()));
        table.row(row(printable(&field.name), what, how, with_value, column.bytes()));
    }
    table.rule();
    let (no, none) = (["", ""], String::new);
    if !stats.ids.is_empty() {
        let bytes = stats.ids.iter().map(|section| section.bytes).sum();
        table.row(row("index of ids".to_owned(), no, none(), none(), bytes));
    }
    table.row(row("header, directory, footer".to_owned(), no, none(), none(), stats.overhead));
    let all = thousands(docs.into());
    table.row(row("whole segment".to_owned(), no, none(), all, stats.bytes));
    table
}

/// A row for each section of the columns, and of the index of ids of column `ids`.
pub(crate) fn section_table(stats: &SegmentUsage, ids: &str) -> Table {
    let mut table = Table::new(&[
        ("column", Align::Left),
        ("section", Align::Left),
        ("offset", Align::Right),
        ("payload", Align::Right),
        ("bytes", Align::Right),
    ]);
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

/// Bytes per document with two decimals; empty without documents.
fn per_doc(bytes: u64, docs: u32) -> String {
    if docs == 0 { String::new() } else { decimal(bytes, docs.into(), 2) }
}
