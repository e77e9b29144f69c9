//! Writes a segment, opens it, and reads it in several ways: `cargo run --example quickstart`.

use std::ops::ControlFlow;

use docvalues::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::temp_dir().join("docvalues-quickstart.dv");

    // Declare the fields. A document need not have a value for any of them.
    let mut schema = Schema::new();
    let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
    let host = schema.add(FieldSpec::new("host", LogicalType::Utf8))?;
    let tags = schema.add(FieldSpec::new("tags", LogicalType::Utf8).multi_valued())?;

    // The complete file appears under its name when `finish` returns.
    let mut writer = SegmentWriter::create(&path, schema, WriterOptions::default())?;
    for i in 0..10_000_i64 {
        let mut doc = writer.document();
        doc.i64(size, i * i % 5_000)?.str(host, &format!("host{:02}.example", i % 17))?;
        if i % 4 == 0 {
            doc.str(tags, "even")?.str(tags, "fourth")?;
        }
        doc.finish()?;
    }
    let summary = writer.finish()?;
    println!("{} documents in {} bytes", summary.docs, summary.bytes);

    // Opening decodes nothing. Bytes are verified when they are first touched.
    let segment = Segment::open(&path)?;

    // One value, and several values in any order.
    let size = segment.numeric("size")?;
    println!("document 77: size {:?}", size.get(DocId::new(77))?);
    let wanted = [9_999, 5, 77, 5].map(DocId::new);
    let mut sizes = [0; 4];
    size.gather_or(&wanted, &mut sizes, -1)?;
    println!("documents {wanted:?}: sizes {sizes:?}");

    // A range filter. It skips blocks by the column's zone maps.
    println!("{} documents of 1,000 to 1,999 bytes", size.range(1_000..2_000).count()?);

    // A facet: count ords, and look up only the terms that are shown.
    let host = segment.sorted("host")?;
    let mut counts = vec![0_u32; host.terms().term_count() as usize];
    host.scan(0..segment.docs(), |_, ords| {
        ords.iter().for_each(|ord| counts[ord.get() as usize] += 1);
        ControlFlow::Continue(())
    })?;
    let (ord, count) = (0..).zip(&counts).max_by_key(|(_, count)| **count).ok_or("no hosts")?;
    let mut term = Vec::new();
    host.terms().term(TermOrd::new(ord), &mut term)?;
    println!("most frequent host: {} ({count} documents)", String::from_utf8_lossy(&term));

    // A set of terms per document.
    let tags = segment.sorted_set("tags")?;
    let ords = tags.terms().prefix(b"even")?;
    println!("{} documents are tagged `even`", tags.range(ords).count()?);

    std::fs::remove_file(&path)?;
    Ok(())
}
