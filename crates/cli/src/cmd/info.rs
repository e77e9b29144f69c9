//! `dv info`: the columns of a segment with their types, ranges and sizes.

mod column;
#[cfg(feature = "lucene")]
mod of_lucene;
mod of_store;

use crate::answer::segment_info::{info, stats};
use crate::answer::usage_tables::{column_table, encoding_table, section_table};
use crate::api::{IdIndex, Packing};
use crate::args::inspect::InfoArgs;
use crate::console::Console;
use crate::error::{Exit, Result};
use crate::open::Opener;
#[cfg(feature = "lucene")]
use crate::open::files::is_lucene;
use crate::text::quoting::decimal;
use crate::text::{Json, counted, printable, thousands};

pub(crate) fn run(args: &InfoArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    #[cfg(feature = "lucene")]
    if is_lucene(&args.file) {
        return of_lucene::run(args, opener, console);
    }
    if args.file.is_dir() {
        return of_store::run(args, opener, console);
    }
    let segment = opener.segment(&args.file)?;
    let stats = stats(&segment)?;
    if args.json {
        console.json(Json::object(info(&segment, &stats)?))?;
        return Ok(Exit::Ok);
    }
    let [major, minor, patch] = segment.writer_version();
    console.line(format_args!(
        "{}: {}, {}, {} bytes",
        segment.file(),
        counted(segment.docs().into(), "document", "documents"),
        counted(segment.column_count().into(), "column", "columns"),
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

/// A line on the index of ids: its structure and its bytes per id.
fn ids_line(ids: &IdIndex) -> String {
    let (count, sizes) = (u64::from(ids.len()), ids.sizes());
    let mut line = format!("ids in {}: {}", printable(ids.field()), ids.form().name());
    if ids.packed_as() != Packing::Raw {
        line += &format!(", packed as {}", ids.packed_as().name());
    }
    line += &match ids.form().filter_bits(ids.filter_bits()) {
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
