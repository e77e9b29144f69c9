//! The description of a segment: its space usage, and its directory as JSON.

use std::path::Path;

use super::usage_tables::{column_table, distinct, json_ends};
use crate::api::{ColumnUsage, IdIndex, SectionUsage, Segment, SegmentUsage, SortKey};
use crate::console::Console;
use crate::error::Result;
use crate::open::columns;
use crate::text::Json;
use crate::text::json::integer;

/// The space usage of a segment, with columns in the order of the input.
pub(crate) fn stats(segment: &Segment) -> Result<SegmentUsage> {
    let mut stats = segment.usage()?;
    stats.columns.sort_by_key(|column| columns::order_of(&column.field));
    Ok(stats)
}

/// The contents of the directory, as entries of a JSON object.
pub(crate) fn info(
    segment: &Segment,
    stats: &SegmentUsage,
) -> Result<impl Iterator<Item = (&'static str, Json)>> {
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

/// Describes a segment that was written: as JSON with `more` entries, or as a table of its columns, and below it what `line`
/// says of its size.
pub(crate) fn report(
    path: &Path,
    more: impl IntoIterator<Item = (&'static str, Json)>,
    line: impl FnOnce(u64) -> String,
    json: bool,
    console: &mut Console<'_>,
) -> Result<()> {
    let segment = Segment::open(path)?;
    let stats = stats(&segment)?;
    if json {
        return Ok(console.json(Json::object(info(&segment, &stats)?.chain(more)))?);
    }
    column_table(&stats, segment.docs()).print(console)?;
    writeln!(console.out)?;
    console.line(format_args!("{}: {}", path.display(), line(stats.bytes)))?;
    Ok(console.out.flush()?)
}

/// The keys of the index sort.
pub(crate) fn sort_json(keys: &[SortKey]) -> Json {
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
        ("filter_bits", ids.form().filter_bits(ids.filter_bits()).into()),
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
