//! The tables that `dv build` and `dv info` show.

use super::table::{Align, Table};
use super::text::{decimal, printable, thousands};
use crate::store::{ColumnStats, SegmentStats};

/// A line for each column, and one for the whole.
pub(crate) fn column_table(stats: &SegmentStats, docs: u32) -> Table {
    let mut table = Table::new(&[
        ("column", Align::Left),
        ("kind", Align::Left),
        ("type", Align::Left),
        ("encodings", Align::Left),
        ("documents", Align::Right),
        ("bytes", Align::Right),
        ("bytes/doc", Align::Right),
    ]);
    for column in &stats.columns {
        let field = &column.field;
        table.row(vec![
            printable(&field.name),
            field.kind.name().to_owned(),
            field.logical.name().to_owned(),
            column.encodings.join(", "),
            thousands(column.docs_with_value.into()),
            thousands(column.bytes()),
            per_doc(column.bytes(), docs),
        ]);
    }
    table.rule();
    let line = |name: &str, bytes| {
        vec![
            name.to_owned(),
            String::new(),
            String::new(),
            String::new(),
            String::new(),
            thousands(bytes),
            per_doc(bytes, docs),
        ]
    };
    table.row(line("header, directory, footer", stats.overhead));
    let mut whole = line("whole segment", stats.bytes);
    whole[4] = thousands(docs.into());
    table.row(whole);
    table
}

/// A line for each section of each column.
pub(crate) fn section_table(stats: &SegmentStats) -> Table {
    let mut table = Table::new(&[
        ("column", Align::Left),
        ("section", Align::Left),
        ("offset", Align::Right),
        ("payload", Align::Right),
        ("bytes", Align::Right),
    ]);
    for ColumnStats { field, sections, .. } in &stats.columns {
        for section in sections {
            table.row(vec![
                printable(&field.name),
                section.section.name().to_owned(),
                section.offset.to_string(),
                thousands(section.payload),
                thousands(section.bytes),
            ]);
        }
    }
    table
}

/// Bytes a document with two digits; nothing where there are no documents.
fn per_doc(bytes: u64, docs: u32) -> String {
    if docs == 0 { String::new() } else { decimal(bytes, docs.into(), 2) }
}
