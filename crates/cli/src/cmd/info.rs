//! `dv info`: the columns of a segment with their types, ranges and sizes.

mod of_store;

use crate::answer::usage_tables::{column_table, distinct, encoding_table, json_ends, section_table};
use crate::api::{ColumnUsage, IdIndex, Packing, SectionUsage, Segment, SegmentUsage, SortKey};
use crate::args::InfoArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::columns;
use crate::open::opener::Opener;
use crate::text::json::{Json, integer};
use crate::text::quoting::{decimal, printable, thousands};

pub(crate) fn run(args: &InfoArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    if args.file.is_dir() {
        return of_store::run(args, opener, console);
    }
    let segment = opener.segment(&args.file)?;
    let stats = stats(&segment)?;
    if args.json {
        console.json(&Json::object(info(&segment, &stats)?))?;
        return Ok(Exit::Ok);
    }
    let [major, minor, patch] = segment.writer_version();
    console.line(format_args!(
        "{}: {} documents, {} columns, {} bytes",
        segment.file(),
        thousands(segment.docs().into()),
        thousands(segment.column_count().into()),
        thousands(stats.bytes)
    ))?;
    console.line(format_args!(
        "format version {}, written by release {major}.{minor}.{patch}, id {:032x}",
        segment.format_version(),
        segment.id()
    ))?;
    if !segment.sort().is_empty() {
        let keys: Vec<_> = segment.sort().iter().map(|key| printable(&key.to_string())).collect();
        console.line(format_args!("sorted by {}", keys.join(", then ")))?;
    }
    let ids = segment.ids()?;
    if let Some(ids) = &ids {
        console.line(ids_line(ids))?;
    }
    writeln!(console.out)?;
    column_table(&stats, segment.docs()).print(console)?;
    if args.encodings {
        writeln!(console.out)?;
        encoding_table(&stats).print(console)?;
    }
    if args.sections {
        let ids = ids.as_ref().map_or("", IdIndex::field);
        writeln!(console.out)?;
        section_table(&stats, ids).print(console)?;
    }
    Ok(Exit::Ok)
}

/// The space usage of a segment, with columns in the order of the input.
pub(crate) fn stats(segment: &Segment) -> Result<SegmentUsage, CliError> {
    let mut stats = segment.usage()?;
    stats.columns.sort_by_key(|column| columns::order_of(&column.field));
    Ok(stats)
}

/// A line on the index of ids: its structure and its bytes per id.
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

/// The contents of the directory, as entries of a JSON object.
pub(crate) fn info(
    segment: &Segment,
    stats: &SegmentUsage,
) -> Result<impl Iterator<Item = (&'static str, Json)>, CliError> {
    let [major, minor, patch] = segment.writer_version();
    let entries = [
        ("file", segment.file().into()),
        ("format_version", segment.format_version().into()),
        ("writer", format!("{major}.{minor}.{patch}").into()),
        ("id", format!("{:032x}", segment.id()).into()),
        ("documents", segment.docs().into()),
        ("bytes", stats.bytes.into()),
        ("overhead_bytes", stats.overhead.into()),
        ("sort", sort_json(segment.sort())),
        ("ids", segment.ids()?.map_or(Json::NONE, |ids| ids_info(&ids, stats))),
        ("columns", stats.columns.iter().map(column_info).collect()),
    ];
    Ok(entries.into_iter())
}

/// The keys of the index sort.
fn sort_json(keys: &[SortKey]) -> Json {
    Json::any(keys.iter().map(|key| {
        Json::object([
            ("column", key.column.as_str().into()),
            ("descending", key.descending.into()),
            ("missing_first", key.missing_first.into()),
        ])
    }))
}

/// The index of ids.
fn ids_info(ids: &IdIndex, stats: &SegmentUsage) -> Json {
    Json::object([
        ("column", ids.field().into()),
        ("term_index", ids.form().name().into()),
        ("packed_as", ids.packed_as().name().into()),
        ("filter_bits", ids.filter_bits().into()),
        ("seed", integer(ids.seed().into())),
        ("ids", ids.len().into()),
        ("bytes", stats.ids.iter().map(|section| section.bytes).sum::<u64>().into()),
        ("sections", stats.ids.iter().map(section).collect()),
    ])
}

/// A column.
fn column_info(column: &ColumnUsage) -> Json {
    let field = &column.field;
    let [min, max] = json_ends(field, column.bounds);
    Json::object([
        ("name", field.name.as_str().into()),
        ("kind", field.kind.name().into()),
        ("type", field.logical.name().into()),
        ("format", field.format.as_deref().into()),
        ("encodings", column.encodings.as_slice().into()),
        ("documents", column.docs_with_value.into()),
        ("values", column.value_count.into()),
        ("terms", column.term_count.into()),
        ("distinct", distinct(column).into()),
        ("min", min),
        ("max", max),
        ("bytes", column.bytes().into()),
        ("sections", column.sections.iter().map(section).collect()),
    ])
}

fn section(section: &SectionUsage) -> Json {
    Json::object([
        ("section", section.section.name().into()),
        ("offset", section.offset.into()),
        ("payload", section.payload.into()),
        ("bytes", section.bytes.into()),
    ])
}
