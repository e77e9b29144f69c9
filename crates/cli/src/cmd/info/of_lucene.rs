//! `dv info` of an index of Lucene: its segments, and the columns of all of them.

use std::collections::BTreeMap;

use super::column::{Column, column_table};
use crate::answer::table::Table;
use crate::api::ColumnSource as _;
use crate::api::lucene::{Index, Options, Segment};
use crate::args::inspect::InfoArgs;
use crate::console::Console;
use crate::error::{CliError, Exit, Result};
use crate::open::Opener;
use crate::open::lucene::unreadable;
use crate::text::{Json, counted, printable, thousands};

pub(super) fn run(args: &InfoArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let of_segments = [("--encodings", args.encodings), ("--sections", args.sections)];
    if let Some((option, _)) = of_segments.into_iter().find(|(_, asked)| *asked) {
        return Err(CliError::usage(format!("{option}: expected a segment, found an index of Lucene")));
    }
    // Lists, if a segment has lists: a column has one kind here.
    let index = opener.lucene(&args.file, Options::new().unite_kinds(true))?;
    let columns = columns(&index)?;
    let file = args.file.to_string_lossy();
    if args.json {
        console.json(json(&file, &index, &columns))?;
        return Ok(Exit::Ok);
    }
    let bytes = bytes(&index);
    let (internal, own): (Vec<_>, Vec<_>) = columns.values().partition(|(is_internal, _)| *is_internal);
    console.line(format_args!(
        "{file}: {} documents, {} columns, {} bytes of doc values in {}",
        thousands(index.live_docs()),
        own.len(),
        thousands(bytes),
        counted(index.segments().len() as u64, "segment", "segments")
    ))?;
    let (engine, lucene) = (index.engine().name(), release(index.lucene()));
    console.line(format_args!("the commit was written by {engine}, with Lucene {lucene}"))?;
    for columns in [own, internal].into_iter().filter(|columns| !columns.is_empty()) {
        writeln!(console.out)?;
        if columns[0].0 {
            console.line("internal columns, which are read if they are named:")?;
        }
        column_table(columns.into_iter().map(|(_, column)| column), bytes).print(console)?;
    }
    if !index.segments().is_empty() {
        writeln!(console.out)?;
        segment_table(&index).print(console)?;
    }
    for error in unreadable(index.segments().iter().map(|segment| &**segment)) {
        console.note(&format!("dv: not read: {error}"));
    }
    Ok(Exit::Ok)
}

/// The columns by name, and whether each is internal.
fn columns(index: &Index) -> Result<BTreeMap<String, (bool, Column)>> {
    let mut columns: BTreeMap<String, (bool, Column)> = BTreeMap::new();
    for segment in index.segments() {
        let internal = segment.internal_fields().map(|field| (field.clone(), true));
        let own = segment.fields()?.into_iter().map(|field| (field, false));
        for (field, is_internal) in own.chain(internal) {
            let opened = segment.column(&field.name)?;
            let (info, name) = (opened.info(), field.name.clone());
            let bytes = segment.bytes_of(&name).unwrap_or(0);
            let (_, column) = columns.entry(name).or_insert_with(|| (is_internal, Column::new(field)));
            column.add(info.with_value.most(), info.bounds.exact().cloned(), bytes);
        }
    }
    Ok(columns)
}

/// The bytes of the doc values of all segments.
fn bytes(index: &Index) -> u64 {
    index.segments().iter().map(|segment| segment.bytes()).sum()
}

fn segment_table(index: &Index) -> Table {
    let mut table = Table::of(&["segment", "codec", "Lucene"], &["documents", "deleted", "bytes"]);
    for segment in index.segments() {
        let words = [segment.name().to_owned(), printable(segment.codec()), release(segment.lucene())];
        let deleted = deleted(segment);
        let numbers = [u64::from(segment.docs()) - deleted, deleted, segment.bytes()].map(thousands);
        table.row(words.into_iter().chain(numbers).collect());
    }
    table
}

fn deleted(segment: &Segment) -> u64 {
    segment.live().map_or(0, |live| u64::from(live.docs() - live.count()))
}

/// A release of Lucene as text.
fn release([major, minor, bugfix]: [i32; 3]) -> String {
    format!("{major}.{minor}.{bugfix}")
}

fn json(file: &str, index: &Index, columns: &BTreeMap<String, (bool, Column)>) -> Json {
    let column = |(is_internal, column): &(bool, Column)| column.json([("internal", (*is_internal).into())]);
    let segment = |segment: &Segment| {
        let unread = segment.unreadable().map(|(_, error)| error.to_string().into());
        let deleted = deleted(segment);
        Json::object([
            ("name", segment.name().into()),
            ("codec", segment.codec().into()),
            ("lucene", release(segment.lucene()).into()),
            ("documents", (u64::from(segment.docs()) - deleted).into()),
            ("deleted", deleted.into()),
            ("bytes", segment.bytes().into()),
            ("not_read", unread.collect()),
        ])
    };
    Json::object([
        ("file", file.into()),
        ("engine", index.engine().name().into()),
        ("lucene", release(index.lucene()).into()),
        ("documents", index.live_docs().into()),
        ("bytes", bytes(index).into()),
        ("columns", columns.values().map(column).collect()),
        ("segments", index.segments().iter().map(|found| segment(found)).collect()),
    ])
}
