//! `dv info` of a store: its segments, and the columns of all of them.

use std::collections::HashMap;
use std::path::Path;

use super::column::{Column, column_table};
use crate::answer::segment_info::sort_json;
use crate::answer::table::Table;
use crate::api::search::Query;
use crate::api::store::{Snapshot, SnapshotSegment, StoreReader};
use crate::api::{Bounds, ColumnSource, ColumnUsage, Search, SegmentUsage};
use crate::args::inspect::InfoArgs;
use crate::console::Console;
use crate::error::{CliError, Exit, Result};
use crate::open::Opener;
use crate::text::{Json, counted, printable, thousands};

pub(super) fn run(args: &InfoArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let of_segments = [("--encodings", args.encodings), ("--sections", args.sections)];
    if let Some((option, _)) = of_segments.into_iter().find(|(_, asked)| *asked) {
        return Err(CliError::usage(format!("{option}: expected a segment, found a store"))
            .hint("name one of the segments in its folder"));
    }
    let snapshot = opener.store(&args.file)?;
    let usage = snapshot.segments().map(|part| part.segment.usage()).collect::<Result<Vec<_>, _>>()?;
    let columns = columns(&snapshot, &usage);
    let file = args.file.to_string_lossy();
    let logged = opener.commit.map_or_else(|| logged(&args.file, snapshot.sequence()), |_| (0, None));
    if args.json {
        console.json(json((&*file, &snapshot), &usage, &columns, logged))?;
        return Ok(Exit::Ok);
    }
    let docs = counted(snapshot.docs(), "document", "documents");
    let all_bytes = usage.iter().map(|usage| usage.bytes).sum();
    let bytes = thousands(all_bytes);
    let segments = counted(usage.len() as u64, "segment", "segments");
    console.line(format_args!(
        "{file}: {docs}, {}, {bytes} bytes in {segments}, commit {}",
        counted(columns.len() as u64, "column", "columns"),
        snapshot.commit()
    ))?;
    let schema = snapshot.schema();
    if let Some(id_field) = schema.id_field() {
        console.line(format_args!("ids in {}", printable(id_field)))?;
    }
    if let Some(version_field) = schema.version_field() {
        console.line(format_args!("versions in {}", printable(version_field)))?;
    }
    if !schema.sort().is_empty() {
        let keys: Vec<_> = schema.sort().iter().map(|key| printable(&key.to_string())).collect();
        console.line(format_args!("sorted by {}", keys.join(", then ")))?;
    }
    if let (batches @ 1.., docs) = logged {
        let docs = docs.map_or_else(|| "documents".to_owned(), |docs| counted(docs, "document", "documents"));
        let batches = counted(batches, "batch", "batches");
        console.line(format_args!("in the log, and in no commit yet: {docs} in {batches}"))?;
    }
    writeln!(console.out)?;
    column_table(&columns, all_bytes).print(console)?;
    if !usage.is_empty() {
        writeln!(console.out)?;
        segment_table(&snapshot).print(console)?;
    }
    Ok(Exit::Ok)
}

/// The batches that the log has after a commit, and the documents that they put, update and delete, if it tells.
fn logged(folder: &Path, commit: u64) -> (u64, Option<u64>) {
    let frames = StoreReader::log_frames(folder).into_iter().flatten().map_while(Result::ok);
    let batches = frames.filter(|frame| frame.sequence > commit).count() as u64;
    let count = || StoreReader::changes(folder, commit)?.try_fold(0, |docs, change| change.map(|_| docs + 1));
    (batches, if batches > 0 { count().ok() } else { None })
}

/// The columns of the schema, in its order.
fn columns(snapshot: &Snapshot, usage: &[SegmentUsage]) -> Vec<Column> {
    let mut columns: Vec<Column> = snapshot.schema().fields().iter().cloned().map(Column::new).collect();
    for (part, own) in usage.iter().enumerate() {
        let written: HashMap<&str, &ColumnUsage> =
            own.columns.iter().map(|column| (column.field.name.as_str(), column)).collect();
        for column in &mut columns {
            let written = written.get(column.field.name.as_str());
            let source = &**snapshot.parts().source(part);
            let docs = docs_with_value(source, &column.field.name)
                .unwrap_or_else(|| written.map_or(0, |written| written.docs_with_value.into()));
            let bounds = match source.column(&column.field.name) {
                Ok(column) => column.info().bounds.exact().cloned(),
                // The segment has no values of the column, or it cannot be read.
                Err(_) => written.is_none().then(|| Bounds::NONE.range()),
            };
            column.add(docs, bounds, written.map_or(0, |written| written.bytes()));
        }
    }
    columns
}

/// The number of documents that have a value of a column now, deleted or not; `None` if it cannot be read.
fn docs_with_value(source: &(dyn ColumnSource + Send + Sync), name: &str) -> Option<u64> {
    let count = source.column(name).ok()?.info().with_value;
    count.exact().or_else(|| Search::new(source).count(&Query::exists(name)).ok())
}

fn segment_table(snapshot: &Snapshot) -> Table {
    let mut table = Table::of(&["segment"], &["documents", "deleted", "bytes"]);
    for part in snapshot.segments() {
        let numbers = [u64::from(part.live.count()), deleted(&part), part.segment.len()].map(thousands);
        table.row(std::iter::once(name(&part)).chain(numbers).collect());
    }
    table
}

/// The name of the file.
fn name(part: &SnapshotSegment<'_>) -> String {
    let path = Path::new(part.segment.file());
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn deleted(part: &SnapshotSegment<'_>) -> u64 {
    u64::from(part.live.docs() - part.live.count())
}

fn json(
    (file, snapshot): (&str, &Snapshot),
    usage: &[SegmentUsage],
    columns: &[Column],
    (batches, docs): (u64, Option<u64>),
) -> Json {
    let schema = snapshot.schema();
    let segment = |part: SnapshotSegment<'_>| {
        Json::object([
            ("file", name(&part).into()),
            ("documents", part.live.count().into()),
            ("deleted", deleted(&part).into()),
            ("bytes", part.segment.len().into()),
        ])
    };
    Json::object([
        ("file", file.into()),
        ("commit", snapshot.commit().into()),
        ("sequence", snapshot.sequence().into()),
        ("documents", snapshot.docs().into()),
        ("bytes", usage.iter().map(|usage| usage.bytes).sum::<u64>().into()),
        ("id_field", schema.id_field().into()),
        ("version_field", schema.version_field().into()),
        ("sort", sort_json(schema.sort())),
        ("logged_batches", (batches > 0).then_some(batches).into()),
        ("logged_documents", docs.into()),
        ("columns", columns.iter().map(|column| column.json([])).collect()),
        ("segments", snapshot.segments().map(segment).collect()),
    ])
}
