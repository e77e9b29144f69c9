//! `dv info`: columns, types, encodings, and where the bytes went.

use serde::Serialize;

use crate::args::InfoArgs;
use crate::console::Console;
use crate::failure::{Exit, Failure};
use crate::input::import::StoredRef;
use crate::output::summary::{columns, section_table};
use crate::output::text::{decimal, printable, thousands};
use crate::output::value::Printer;
use crate::read;
use crate::store::{ColumnStats, IdIndex, Packing, SectionStats, Segment, SegmentStats, SortKey};

pub(crate) fn run(args: &InfoArgs, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let segment = read::open(&args.file)?;
    let mut stats = segment.stats()?;
    stats.columns.sort_by_key(|column| read::order_of(&column.field));
    if args.json {
        let text = serde_json::to_string_pretty(&Info::new(&segment, &stats)?).unwrap_or_default();
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
    let ids = segment.ids()?;
    if let Some(ids) = &ids {
        writeln!(console.out, "{}", ids_line(ids))?;
    }
    writeln!(console.out)?;
    write!(console.out, "{}", columns(&stats, segment.docs(), console.out_width))?;
    if args.sections {
        let ids = ids.as_ref().map_or("", IdIndex::field);
        write!(console.out, "\n{}", section_table(&stats, ids))?;
    }
    Ok(Exit::Ok)
}

/// How ids are found, and what that takes.
fn ids_line(ids: &IdIndex) -> String {
    let (count, sizes) = (u64::from(ids.len()), ids.sizes());
    let mut line = format!("ids in {}: {}", printable(ids.field()), ids.form().name());
    if ids.packed_as() != Packing::Raw {
        line += &format!(", packed as {}", ids.packed_as().name());
    }
    line += &match ids.filter_bits() {
        0 => ", no filter".to_owned(),
        bits => format!(", filter of {bits} bits"),
    };
    if count > 0 {
        let each = |bytes: u64| decimal(bytes, count, 2);
        line += &format!("; {} bytes an id: {} ids", each(sizes.total()), each(sizes.keys));
        let parts = [
            (sizes.starts, "block starts"),
            (sizes.index, "trie"),
            (sizes.filter, "filter"),
            (sizes.docs, "documents"),
        ];
        for (bytes, name) in parts.into_iter().filter(|(bytes, _)| *bytes > 0) {
            line += &format!(", {} {name}", each(bytes));
        }
    }
    line
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
    /// The index of ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    ids: Option<IdsInfo>,
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
struct IdsInfo {
    column: String,
    /// As --term-index names it.
    term_index: &'static str,
    /// What all ids look like.
    packed_as: &'static str,
    filter_bits: u8,
    /// As text, as all numbers of 64 bits.
    seed: String,
    ids: u32,
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
    pub(crate) fn new(segment: &'a Segment, stats: &'a SegmentStats) -> Result<Info<'a>, Failure> {
        let [major, minor, patch] = segment.writer();
        Ok(Info {
            file: segment.file(),
            format_version: segment.format_version(),
            writer: format!("{major}.{minor}.{patch}"),
            id: format!("{:032x}", segment.id()),
            documents: segment.docs(),
            bytes: stats.bytes,
            overhead_bytes: stats.overhead,
            sort: segment.sort().iter().map(SortInfo::new).collect(),
            ids: segment.ids()?.map(|ids| IdsInfo::new(&ids, stats)),
            columns: stats.columns.iter().map(ColumnInfo::new).collect(),
        })
    }
}

impl IdsInfo {
    fn new(ids: &IdIndex, stats: &SegmentStats) -> IdsInfo {
        IdsInfo {
            column: ids.field().to_owned(),
            term_index: ids.form().name(),
            packed_as: ids.packed_as().name(),
            filter_bits: ids.filter_bits(),
            seed: ids.seed().to_string(),
            ids: ids.len(),
            bytes: stats.ids.iter().map(|section| section.bytes).sum(),
            sections: stats.ids.iter().map(SectionInfo::new).collect(),
        }
    }
}

impl SectionInfo {
    fn new(section: &SectionStats) -> SectionInfo {
        SectionInfo {
            section: section.section.name(),
            offset: section.offset,
            payload: section.payload,
            bytes: section.bytes,
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
            sections: column.sections.iter().map(SectionInfo::new).collect(),
        }
    }
}
