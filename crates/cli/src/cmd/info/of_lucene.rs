//! `dv info` of an index of Lucene: its segments, and the columns of all of them.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::answer::table::{Align, Table};
use crate::answer::usage_tables::{column_row, json_ends, table_with};
use crate::api::lucene::{Index, Options, Segment};
use crate::api::{Bounds, ColumnSource as _, Field};
use crate::args::inspect::InfoArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::opener::Opener;
use crate::text::json::Json;
use crate::text::quoting::{counted, printable, thousands};

pub(super) fn run(args: &InfoArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
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
    let (own, internal): (Vec<&Column>, Vec<&Column>) =
        columns.values().partition(|column| !column.is_internal);
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
        if columns[0].is_internal {
            console.line("internal columns, which are read if they are named:")?;
        }
        column_table(&columns, bytes).print(console)?;
    }
    if !index.segments().is_empty() {
        writeln!(console.out)?;
        segment_table(&index).print(console)?;
    }
    for (_, error) in index.segments().iter().flat_map(|segment| segment.unreadable()) {
        console.note(&format!("dv: not read: {error}"));
    }
    Ok(Exit::Ok)
}

/// A column in all segments, with deleted documents.
struct Column {
    field: Field,
    is_internal: bool,
    docs: u64,
    /// The least and the greatest number, if they are known; the range is empty without numbers.
    bounds: Option<RangeInclusive<i64>>,
    bytes: u64,
}

impl Column {
    /// The least and the greatest number.
    fn ends(&self) -> Option<(i64, i64)> {
        self.bounds.clone().filter(|bounds| !bounds.is_empty()).map(RangeInclusive::into_inner)
    }
}

/// The columns by name.
fn columns(index: &Index) -> Result<BTreeMap<String, Column>, CliError> {
    let mut columns: BTreeMap<String, Column> = BTreeMap::new();
    for segment in index.segments() {
        let internal = segment.internal_fields().map(|field| (field.clone(), true));
        let own = segment.fields()?.into_iter().map(|field| (field, false));
        for (field, is_internal) in own.chain(internal) {
            let opened = segment.column(&field.name)?;
            let (info, name) = (opened.info(), field.name.clone());
            let bounds = Some(Bounds::NONE.range());
            let new = || Column { field, is_internal, docs: 0, bounds, bytes: 0 };
            let column = columns.entry(name.clone()).or_insert_with(new);
            column.docs += info.with_value.most();
            let both = column.bounds.take().zip(info.bounds.exact());
            column.bounds = both.map(|(a, b)| *a.start().min(b.start())..=*a.end().max(b.end()));
            column.bytes += segment.bytes_of(&name).unwrap_or(0);
        }
    }
    Ok(columns)
}

/// The bytes of the doc values of all segments.
fn bytes(index: &Index) -> u64 {
    index.segments().iter().map(|segment| segment.bytes()).sum()
}

/// As for a segment, without distinct values. `bytes` are those of all segments.
fn column_table(columns: &[&Column], bytes: u64) -> Table {
    let mut table = table_with(&["docs"]);
    for column in columns {
        let docs = [thousands(column.docs)];
        table.row(column_row(&column.field, docs, column.ends(), [column.bytes, bytes]));
    }
    table
}

fn segment_table(index: &Index) -> Table {
    let mut table = Table::new(&[
        ("segment", Align::Left),
        ("codec", Align::Left),
        ("Lucene", Align::Left),
        ("documents", Align::Right),
        ("deleted", Align::Right),
        ("bytes", Align::Right),
    ]);
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

fn json(file: &str, index: &Index, columns: &BTreeMap<String, Column>) -> Json {
    let column = |column: &Column| {
        let Field { name, kind, logical, .. } = &column.field;
        let [min, max] = json_ends(&column.field, column.ends());
        Json::object([
            ("name", name.as_str().into()),
            ("kind", kind.name().into()),
            ("type", logical.name().into()),
            ("internal", column.is_internal.into()),
            ("documents", column.docs.into()),
            ("min", min),
            ("max", max),
            ("bytes", column.bytes.into()),
        ])
    };
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
