//! Reads a segment by requests, as from an object store: `cargo run --release --example requests [DOCUMENTS]`.
//!
//! Writes a segment (of 10,000,000 documents by default), opens it through a reader that counts requests, and prints
//! the waves of requests, the requests and the bytes that each call takes.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use docvalues::column::{Gathered, Values};
use docvalues::prelude::*;
use docvalues::reader::ReadAt;
use docvalues::search::facet::Facet;
use docvalues::search::{Docs, Search};

type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// A file that counts requests. A client of an object store would request the ranges of a wave in parallel.
struct Counting {
    file: Mutex<File>,
    len: u64,
    waves: AtomicU64,
    requests: AtomicU64,
    bytes: AtomicU64,
}

/// Numbers of waves, requests and bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) waves: u64,
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
}

impl Counting {
    fn open(path: &Path) -> io::Result<Counting> {
        let file = File::open(path)?;
        let (len, zero) = (file.metadata()?.len(), || AtomicU64::new(0));
        Ok(Counting { file: Mutex::new(file), len, waves: zero(), requests: zero(), bytes: zero() })
    }

    /// The cost since the last call.
    fn cost(&self) -> Cost {
        let take = |count: &AtomicU64| count.swap(0, Ordering::Relaxed);
        Cost { waves: take(&self.waves), requests: take(&self.requests), bytes: take(&self.bytes) }
    }

    fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        let mut file = self.file.lock().map_err(|_| io::Error::other("a reader has panicked"))?;
        file.seek(SeekFrom::Start(offset))?;
        file.read_exact(bytes)
    }
}

impl ReadAt for Counting {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.waves.fetch_add(1, Ordering::Relaxed);
        self.read(offset, bytes)
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> io::Result<Vec<Vec<u8>>> {
        self.waves.fetch_add(1, Ordering::Relaxed);
        let read = |range: &Range<u64>| {
            let len = usize::try_from(range.end - range.start).map_err(io::Error::other)?;
            let mut bytes = vec![0; len];
            self.read(range.start, &mut bytes)?;
            Ok(bytes)
        };
        ranges.iter().map(read).collect()
    }
}

/// Writes visits with a time, a host, a number of bytes, and a price for every third.
pub(crate) fn write(path: &Path, docs: u32) -> Result<()> {
    let mut schema = Schema::new();
    let time = schema.add(FieldSpec::new("time", LogicalType::I64))?;
    let host = schema.add(FieldSpec::new("host", LogicalType::Utf8))?;
    let bytes = schema.add(FieldSpec::new("bytes", LogicalType::I64))?;
    let price = schema.add(FieldSpec::new("price", LogicalType::F64))?;
    let mut writer = SegmentWriter::create(path, schema, WriterOptions::default())?;
    for doc in 0..i64::from(docs) {
        let noise = doc.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let mut visit = writer.document();
        visit.i64(time, 1_700_000_000 + doc / 7)?;
        visit.str(host, &format!("host{:03}.example.org", noise % 500))?;
        visit.i64(bytes, noise.cast_signed())?;
        if doc % 3 == 0 {
            visit.f64(price, f64::from(u32::try_from(noise % 100_000)?) / 100.0)?;
        }
        visit.finish()?;
    }
    writer.finish()?;
    Ok(())
}

/// Opens the segment at `path`, which has `docs` documents, makes several calls, and returns the cost of each.
pub(crate) fn ask(path: &Path, docs: u32) -> Result<Vec<(&'static str, Cost)>> {
    let reader = Arc::new(Counting::open(path)?);
    let mut costs = Vec::new();
    let mut note = |what| costs.push((what, reader.cost()));

    let segment = Segment::from_reader(reader.clone(), path, OpenOptions::new())?;
    note("open the segment");
    let twenty: Vec<DocId> =
        (1..=20).map(|i| DocId::new(i * 7919 * (docs / 160_000).max(1) % docs)).collect();
    let mapped = Segment::open(path)?;
    for (name, opened, asked) in [
        ("bytes", "open `bytes`, which all documents have", "gather 20 documents of it"),
        ("price", "open `price`, which a third has", "gather 20 documents of it"),
    ] {
        let column = segment.column(name)?;
        note(opened);
        let numbers = |column: &dyn Column| {
            let Values::Numbers(rows) = column.values() else { return Err("expected a column of numbers") };
            let mut found = Gathered::<i64>::new();
            rows.gather(docvalues::column::BatchDocs::List(&twenty), &mut found).map_err(|_| "unreadable")?;
            Ok(format!("{:?}", found.view()))
        };
        let found = numbers(&*column)?;
        note(asked);
        assert_eq!(found, numbers(&*mapped.column(name)?)?);
    }

    let facet = Search::new(&segment).facet(Docs::All, &Facet::of("host").top(10))?;
    note("facet: the ten hosts with most documents");
    assert_eq!(facet, Search::new(&mapped).facet(Docs::All, &Facet::of("host").top(10))?);
    let keys = [SortKey::of("bytes").descending()];
    let found = Search::new(&segment).top(Docs::All, &keys, 20)?;
    note("top: the 20 documents with most bytes");
    assert_eq!(found, Search::new(&mapped).top(Docs::All, &keys, 20)?);
    Ok(costs)
}

#[allow(dead_code, reason = "a test includes this file and calls `ask`")]
pub(crate) fn main() -> Result<()> {
    let docs = std::env::args().nth(1).map_or(Ok(10_000_000), |docs| docs.parse())?;
    let path = std::env::temp_dir().join(format!("docvalues-requests-{}.dv", std::process::id()));
    write(&path, docs)?;
    let costs = ask(&path, docs);
    println!("{} MiB, {docs} documents", std::fs::metadata(&path)?.len() >> 20);
    println!("{:>6} {:>9} {:>9}", "waves", "requests", "KiB");
    std::fs::remove_file(&path)?;
    for (what, Cost { waves, requests, bytes }) in costs? {
        println!("{waves:>6} {requests:>9} {:>9}  {what}", bytes >> 10);
    }
    Ok(())
}
