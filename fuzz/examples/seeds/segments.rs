//! Segments, written here and golden.

use std::io;
use std::path::Path;

use docvalues::prelude::*;
use docvalues::writer::BytesKind;

use crate::Result;

/// The golden files: all layouts.
pub fn golden() -> Result<Vec<Vec<u8>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/docvalues/tests/golden");
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "dv"));
    paths.sort();
    Ok(paths.iter().map(std::fs::read).collect::<io::Result<_>>()?)
}

/// Segments with few and many documents, with one column and with one of each kind.
pub fn segments() -> Result<Vec<Vec<u8>>> {
    let by_host = || vec![SortKey::of("host").missing_first(), SortKey::of("size").descending()];
    [(0, true, vec![]), (3, true, vec![]), (200, false, vec![]), (700, true, vec![]), (90, true, by_host())]
        .into_iter()
        .map(|(docs, tables, sort)| segment(docs, tables, sort))
        .collect()
}

fn segment(docs: i64, jump_tables: bool, sort: Vec<SortKey>) -> Result<Vec<u8>> {
    let mut schema = Schema::new();
    let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
    let time =
        schema.add(FieldSpec::new("time", LogicalType::TimestampMillis).format("%Y-%m-%dT%H:%M:%SZ"))?;
    let host = schema.add(FieldSpec::new("host", LogicalType::Utf8).kind(BytesKind::Sorted))?;
    let url = schema.add(FieldSpec::new("url", LogicalType::Utf8).kind(BytesKind::Binary))?;
    let tags = schema.add(FieldSpec::new("tags", LogicalType::Utf8).multi_valued())?;
    let prices = schema.add(FieldSpec::new("prices", LogicalType::F64).multi_valued())?;
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::new().jump_tables(jump_tables));
    writer.sort_by(sort)?;
    for i in 0..docs {
        let mut doc = writer.document();
        doc.timestamp(time, 1_500_000_000_000 + i * 1_000)?.str(host, &format!("host{:02}", i % 40))?;
        if i % 3 > 0 {
            doc.i64(size, i * i)?.str(url, &format!("/{i}"))?;
        }
        for j in 0..i % 4 {
            doc.str(tags, &format!("tag{}", (i + j) % 9))?.f64(prices, j as f64 / 4.0)?;
        }
        doc.finish()?;
    }
    Ok(writer.finish_bytes()?)
}
