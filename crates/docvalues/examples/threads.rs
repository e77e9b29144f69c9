//! Reads one segment from many threads: `cargo run --example threads`.
//!
//! A column is an `Arc` without mutable state, so threads share a reference or a clone. Each thread filters a range of
//! documents into its own words of one bitset.

use docvalues::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut schema = Schema::new();
    let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    let sizes: Vec<i64> = (0..1_000_000).map(|i| i * 7_919 % 1_000_003).collect();
    let mut documents = writer.batch(1_000_000)?;
    documents.i64(size, &sizes, None)?;
    documents.finish();
    let segment = Segment::from_bytes(writer.finish_bytes()?, OpenOptions::new())?;

    let size = segment.numeric("size")?;
    let all = DocRange::new(0, segment.docs());
    let mut found = vec![0; all.words()];
    // Whole words, so that no two threads share one.
    let words = 2_048;
    std::thread::scope(|scope| -> Result<(), docvalues::column::Error> {
        let parts = all.chunks(64 * words).zip(found.chunks_mut(words));
        let threads: Vec<_> = parts
            .map(|(docs, bits)| {
                let size = &size;
                scope.spawn(move || size.range(..1_000).within(docs).collect_into(bits))
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or(Ok(())))
    })?;
    println!("{} documents are smaller than 1,000", docvalues::column::bits::count(&found));

    // A clone outlives the segment.
    drop(segment);
    let last = std::thread::spawn(move || size.get(DocId::new(999_999))).join();
    println!("the last one's size: {:?}", last.map_err(|_| "the thread panicked")??);
    Ok(())
}
