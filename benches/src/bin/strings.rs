//! Times reading a column of URLs, for `benches/peers/urls_against_vortex.py`.
//!
//! `strings FOLDER` writes `urls.csv` and `urls.dv` with a million URLs (or `DOCVALUES_BENCH_DOCS`) to FOLDER, if they do
//! not exist. It prints a line of JSON: the bytes of the column, the sums of lengths that it read, and the CPU time in
//! nanoseconds of a URL: scanned, in batches of 1,024 random documents, and one by one.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a measurement")]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use docvalues::BytesKind;
use docvalues::column::Lists;
use docvalues::prelude::*;
use docvalues_benches::clock::cpu_time;
use docvalues_benches::data;

/// Random documents.
const TAKEN: usize = 1 << 17;

/// Random documents of a batch.
const BATCH: usize = 1 << 10;

/// Documents of a batch of the build.
const BUILT: u32 = 1 << 16;

fn main() {
    let folder = std::env::args().nth(1).expect("a folder");
    let [csv, segment] = ["urls.csv", "urls.dv"].map(|name| Path::new(&folder).join(name));
    if !csv.exists() || !segment.exists() {
        write(docvalues_benches::docs(), &csv, &segment);
    }
    let bytes = segment.metadata().expect("the file is there").len();
    let segment = Segment::open(segment).expect("a good segment");
    let (docs, column) = (segment.docs(), segment.binary("url").expect("written"));
    let (scanned, scan) = time(docs as usize, || {
        let mut sum = 0;
        let all = column.scan(0..docs, |_, values| {
            sum += values.iter().map(len).sum::<u64>();
            ControlFlow::Continue(())
        });
        all.expect("good bytes");
        sum
    });
    let random = data::random_docs(docs, TAKEN);
    let mut out = Lists::new();
    let (gathered, gather) = time(TAKEN, || {
        let batch = |docs: &[DocId]| {
            column.gather_or(docs, &mut out, b"").expect("good bytes");
            out.slices().iter().map(len).sum::<u64>()
        };
        random.chunks(BATCH).map(batch).sum()
    });
    let mut buffer = Vec::new();
    let (got, get) = time(TAKEN, || {
        let one = |doc: &DocId| len(column.get(*doc, &mut buffer).expect("good bytes").unwrap_or_default());
        random.iter().map(one).sum()
    });
    assert_eq!(gathered, got, "both read the same documents");
    println!(
        "{{\"rows\":{docs},\"bytes\":{bytes},\"scanned\":{scanned},\"scan\":{scan:.2},\"gather\":{gather:.2},\"get\":{get:.2}}}"
    );
}

fn len(value: &[u8]) -> u64 {
    value.len() as u64
}

/// Writes the URLs as text and as a segment, with the default compression.
fn write(docs: u32, csv: &Path, segment: &Path) {
    let urls = data::urls(docs);
    let mut text = BufWriter::new(File::create(csv).expect("a folder"));
    writeln!(text, "url").expect("room");
    for doc in 0..docs as usize {
        text.write_all(urls.get(doc)).and_then(|()| text.write_all(b"\n")).expect("room");
    }
    text.flush().expect("room");
    let mut schema = Schema::new();
    let spec = FieldSpec::new("url", LogicalType::Utf8).kind(BytesKind::Binary);
    let field = schema.add(spec).expect("a new field");
    let mut writer = SegmentWriter::create(segment, schema, WriterOptions::default()).expect("a folder");
    for start in (0..docs).step_by(BUILT as usize) {
        let end = docs.min(start + BUILT);
        let mut batch = writer.batch(end - start).expect("few documents");
        batch
            .bytes(field, &urls.offsets[start as usize..=end as usize], &urls.bytes, None)
            .expect("good values");
        batch.finish();
    }
    writer.finish().expect("room");
}

/// The result of `work`, and the median CPU time of five runs, in nanoseconds of each of `units`.
fn time(units: usize, mut work: impl FnMut() -> u64) -> (u64, f64) {
    let sum = work();
    let mut times: Vec<Duration> = (0..5)
        .map(|_| {
            let start = cpu_time();
            assert_eq!(work(), sum, "repetitions have the same answer");
            cpu_time().saturating_sub(start)
        })
        .collect();
    times.sort_unstable();
    (sum, times[times.len() / 2].as_nanos() as f64 / units as f64)
}
