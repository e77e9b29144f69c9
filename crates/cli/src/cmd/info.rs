//! `dv info`: columns, types, encodings, and where the bytes went.

use serde_json::{Value, json};

use crate::args::InfoArgs;
use crate::console::Console;
use crate::failure::{Exit, Failure};
use crate::input::import::StoredRef;
use crate::output::summary::{columns, section_table};
use crate::output::text::{decimal, present, printable, thousands};
use crate::output::value::Printer;
use crate::read;
use crate::store::{ColumnStats, IdIndex, Packing, SectionStats, Segment, SegmentStats};

pub(crate) fn run(args: &InfoArgs, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let segment = read::open(&args.file)?;
    let stats = stats(&segment)?;
    if args.json {
        console.json(&info(&segment, &stats)?)?;
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

/// What there is in a segment, its columns in the order of the input.
pub(crate) fn stats(segment: &Segment) -> Result<SegmentStats, Failure> {
    let mut stats = segment.stats()?;
    stats.columns.sort_by_key(|column| read::order_of(&column.field));
    Ok(stats)
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

/// Everything that the directory knows, as JSON.
pub(crate) fn info(segment: &Segment, stats: &SegmentStats) -> Result<Value, Failure> {
    let [major, minor, patch] = segment.writer();
    let keys = segment.sort().iter();
    let sort = keys.map(|key| {
        json!({ "column": key.column, "descending": key.descending, "missing_first": key.missing_first })
    });
    Ok(present(json!({
        "file": segment.file(),
        "format_version": segment.format_version(),
        "writer": format!("{major}.{minor}.{patch}"),
        "id": format!("{:032x}", segment.id()),
        "documents": segment.docs(),
        "bytes": stats.bytes,
        "overhead_bytes": stats.overhead,
        "sort": (sort.len() > 0).then(|| sort.collect::<Value>()),
        "ids": segment.ids()?.map(|ids| ids_info(&ids, stats)),
        "columns": stats.columns.iter().map(column_info).collect::<Value>(),
    })))
}

/// The index of ids; its seed as text, as all numbers of 64 bits.
fn ids_info(ids: &IdIndex, stats: &SegmentStats) -> Value {
    json!({
        "column": ids.field(),
        "term_index": ids.form().name(),
        "packed_as": ids.packed_as().name(),
        "filter_bits": ids.filter_bits(),
        "seed": ids.seed().to_string(),
        "ids": ids.len(),
        "bytes": stats.ids.iter().map(|section| section.bytes).sum::<u64>(),
        "sections": sections(&stats.ids),
    })
}

/// A column; least and greatest value as text, so that no number loses digits on its way through a JSON reader.
fn column_info(column: &ColumnStats) -> Value {
    let field = &column.field;
    let shown = |stored| Printer::of(field).shown(StoredRef::Number(stored));
    present(json!({
        "name": field.name,
        "kind": field.kind.name(),
        "type": field.logical.name(),
        "format": field.format,
        "encodings": column.encodings,
        "documents": column.docs_with_value,
        "values": column.value_count,
        "terms": column.term_count,
        "min": column.bounds.map(|(min, _)| shown(min)),
        "max": column.bounds.map(|(_, max)| shown(max)),
        "bytes": column.bytes(),
        "sections": sections(&column.sections),
    }))
}

fn sections(sections: &[SectionStats]) -> Value {
    let section = |of: &SectionStats| json!({ "section": of.section.name(), "offset": of.offset, "payload": of.payload, "bytes": of.bytes });
    sections.iter().map(section).collect()
}
