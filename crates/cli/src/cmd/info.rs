//! `dv info`: columns, types, encodings, and where the bytes went.

use serde::Serialize;

use crate::args::InfoArgs;
use crate::console::Console;
use crate::failure::{Exit, Failure};
use crate::input::import::StoredRef;
use crate::output::summary::{columns, section_table};
use crate::output::text::{printable, thousands};
use crate::output::value::Printer;
use crate::read;
use crate::store::{ColumnStats, Segment, SegmentStats, SortKey};

pub(crate) fn run(args: &InfoArgs, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let segment = read::open(&args.file)?;
    let mut stats = segment.stats()?;
    stats.columns.sort_by_key(|column| read::order_of(&column.field));
    if args.json {
        let text = serde_json::to_string_pretty(&Info::new(&segment, &stats)).unwrap_or_default();
        writeln!(console.out, "{text}")?;
        return Ok(Exit::Ok);
    }
    let [major, minor, patch] = segment.writer();
    writeln!(
        console.out,
        "{}: {} documents, {} columns, {} bytes",
        segment.file(),
        thousands(segment.docs().into()),
        thousands(segment.column_count().into()),
        thousands(stats.bytes)
    )?;
    writeln!(
        console.out,
        "format version {}, written by release {major}.{minor}.{patch}, id {:032x}",
        segment.format_version(),
        segment.id()
    )?;
    if !segment.sort().is_empty() {
        let keys: Vec<_> = segment.sort().iter().map(|key| printable(&key.to_string())).collect();
        writeln!(console.out, "sorted by {}", keys.join(", then "))?;
    }
    writeln!(console.out)?;
    write!(console.out, "{}", columns(&stats, segment.docs(), console.out_width))?;
    if args.sections {
        write!(console.out, "\n{}", section_table(&stats))?;
    }
    Ok(Exit::Ok)
}

/// Everything that the directory knows.
#[derive(Serialize)]
pub(crate) struct Info<'a> {
    file: &'a str,
    format_version: u16,
    writer: String,
    id: String,
    documents: u32,
    bytes: u64,
    /// Header, footer, directory.
    overhead_bytes: u64,
    /// What the documents are sorted by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sort: Vec<SortInfo<'a>>,
    columns: Vec<ColumnInfo<'a>>,
}

#[derive(Serialize)]
struct SortInfo<'a> {
    column: &'a str,
    descending: bool,
    missing_first: bool,
}

#[derive(Serialize)]
struct ColumnInfo<'a> {
    name: &'a str,
    kind: &'static str,
    #[serde(rename = "type")]
    ty: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'a str>,
    encodings: &'a [String],
    documents: u32,
    values: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    terms: Option<u32>,
    /// As text, so that no number loses digits on its way through a JSON reader.
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<String>,
    bytes: u64,
    sections: Vec<SectionInfo>,
}

#[derive(Serialize)]
struct SectionInfo {
    section: &'static str,
    offset: u64,
    payload: u64,
    bytes: u64,
}

impl<'a> Info<'a> {
    pub(crate) fn new(segment: &'a Segment, stats: &'a SegmentStats) -> Info<'a> {
        let [major, minor, patch] = segment.writer();
        Info {
            file: segment.file(),
            format_version: segment.format_version(),
            writer: format!("{major}.{minor}.{patch}"),
            id: format!("{:032x}", segment.id()),
            documents: segment.docs(),
            bytes: stats.bytes,
            overhead_bytes: stats.overhead,
            sort: segment.sort().iter().map(SortInfo::new).collect(),
            columns: stats.columns.iter().map(ColumnInfo::new).collect(),
        }
    }
}

impl<'a> SortInfo<'a> {
    fn new(key: &'a SortKey) -> SortInfo<'a> {
        SortInfo { column: &key.column, descending: key.descending, missing_first: key.missing_first }
    }
}

impl<'a> ColumnInfo<'a> {
    fn new(column: &'a ColumnStats) -> ColumnInfo<'a> {
        let field = &column.field;
        let printer = Printer::new(field.logical, false, field.format.as_deref());
        let shown = |stored: i64| {
            let mut text = String::new();
            printer.text(StoredRef::Number(stored), &mut text);
            text
        };
        let section = |section: &crate::store::SectionStats| SectionInfo {
            section: section.section.name(),
            offset: section.offset,
            payload: section.payload,
            bytes: section.bytes,
        };
        ColumnInfo {
            name: &field.name,
            kind: field.kind.name(),
            ty: field.logical.name(),
            format: field.format.as_deref(),
            encodings: &column.encodings,
            documents: column.docs_with_value,
            values: column.value_count,
            terms: column.term_count,
            min: column.bounds.map(|(min, _)| shown(min)),
            max: column.bounds.map(|(_, max)| shown(max)),
            bytes: column.bytes(),
            sections: column.sections.iter().map(section).collect(),
        }
    }
}
