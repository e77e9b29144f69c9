//! Writes and reads column batches: `cargo run --example batches`.
//!
//! An engine that has its values in columns passes slices with a validity bitset, in the layout of Arrow's arrays, and
//! reads them back the same way.

use std::ops::ControlFlow;

use docvalues::prelude::*;

const BATCH: u32 = 4_096;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut schema = Schema::new();
    let price = schema.add(FieldSpec::new("price", LogicalType::F64))?;
    let name = schema.add(FieldSpec::new("name", LogicalType::Utf8))?;
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());

    for batch in 0..25_u32 {
        let prices: Vec<f64> = (0..BATCH).map(|i| f64::from(batch * BATCH + i) / 4.0).collect();
        // Every third document has no price: its bit is 0, and its element of the slice is ignored.
        let mut has_price = vec![u64::MAX; docvalues::column::bits::words(0..BATCH)];
        (0..BATCH).step_by(3).for_each(|i| has_price[i as usize / 64] &= !(1 << (i % 64)));
        // Strings end to end, and the offset of each.
        let (mut offsets, mut bytes) = (vec![0], Vec::new());
        for i in 0..BATCH {
            bytes.extend_from_slice(format!("article {}", i % 100).as_bytes());
            offsets.push(bytes.len() as u64);
        }
        let mut documents = writer.batch(BATCH)?;
        documents.f64(price, &prices, Some(&has_price))?.bytes(name, &offsets, &bytes, None)?;
        documents.finish();
    }
    let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;
    println!("{} documents, {} bytes", segment.docs(), segment.len());

    // Read the prices as doubles, in batches.
    let price = segment.typed::<f64>("price")?;
    let (mut sum, mut count) = (0.0, 0);
    price.scan(0..segment.docs(), |_, prices| {
        sum += prices.iter().sum::<f64>();
        count += prices.len();
        ControlFlow::Continue(())
    })?;
    println!("{count} prices, {:.2} on average", sum / count as f64);
    println!("{} of 100 and more", price.range(100.0..).count()?);

    // Disk usage, by column.
    for column in segment.usage()?.columns {
        println!("{}: {} bytes, {}", column.field.name, column.bytes(), column.encodings.join(", "));
    }
    Ok(())
}
