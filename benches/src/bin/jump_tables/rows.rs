//! Stored rows compared with columns: the fields of 20 documents, column by column or in one value.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use docvalues::search::Search;
use docvalues::search::export::Cell;
use docvalues::{
    BytesKind, Compression, DocId, FieldSpec, LogicalType, OpenOptions, Schema, Segment, SegmentWriter,
    WriterOptions,
};
use docvalues_benches::archive::{Archive, Document, FIELDS, Value, add_values, json, like};
use docvalues_benches::forget;
use docvalues_testkit::rng::SplitMix64;

use crate::Outcome;
use crate::measure::Sample;
use crate::more::PAGE;
use crate::work::RETRIEVED;

/// Limit of the documents of the segments.
const DOCS: u32 = 200_000;

/// A document has the fields of this many documents of the archive: 70 fields.
const COPIES: u32 = 5;

/// Documents of a page of results.
const FETCHED: usize = 20;

const REQUESTS: u32 = 21;

/// One way to store the fields.
pub(crate) struct Stored {
    pub(crate) name: &'static str,
    pub(crate) fields: usize,
    /// Bytes of a document.
    pub(crate) bytes: f64,
    /// Times with a cold and with a warm page cache.
    pub(crate) cold: Sample,
    pub(crate) warm: Sample,
    /// Pages that a request touches in a newly opened segment.
    pub(crate) pages: u64,
}

/// Fetches nine fields and seventy, from columns and from rows.
pub(crate) fn run(docs: u32, folder: &Path) -> Outcome<Vec<Stored>> {
    eprintln!("rows");
    let docs = docs.min(DOCS);
    let all: Vec<(String, usize)> = (0..COPIES as usize)
        .flat_map(|copy| fields().map(move |at| (name(at, copy), copy * FIELDS.len() + at)))
        .collect();
    let nine: Vec<(String, usize)> =
        all.iter().filter(|(name, _)| RETRIEVED.contains(&&**name)).cloned().collect();
    let columns = folder.join("rows-columns.dv");
    write_columns(docs, &all, &columns)?;
    let mut stored = Vec::new();
    for wanted in [&nine, &all] {
        let names: Vec<&str> = wanted.iter().map(|(name, _)| &**name).collect();
        let bytes = {
            let segment = Segment::open(&columns)?;
            let stats = segment.usage()?;
            let of = stats.columns.iter().filter(|column| names.contains(&&*column.field.name));
            of.map(|column| column.bytes()).sum::<u64>()
        };
        let fetch = |segment: &Segment, docs: &[DocId]| from_columns(segment, &names, docs);
        stored.push(measure("columns", names.len(), docs, bytes, &columns, fetch)?);
        for (name, compression) in
            [("`_source`, FSST", Compression::Fsst), ("`_source`, blocks of 4 KiB", Compression::Block)]
        {
            let rows = folder.join("rows-source.dv");
            write_rows(docs, wanted, compression, &rows)?;
            let bytes = fs::metadata(&rows)?.len();
            stored.push(measure(name, names.len(), docs, bytes, &rows, from_rows)?);
            fs::remove_file(rows)?;
        }
    }
    fs::remove_file(columns)?;
    Ok(stored)
}

/// The indexes of the fields.
fn fields() -> impl Iterator<Item = usize> {
    (0..FIELDS.len()).filter(|&at| !["url", "image_pixels"].contains(&FIELDS[at]))
}

fn name(at: usize, copy: usize) -> String {
    if copy == 0 { FIELDS[at].to_owned() } else { format!("{}_{copy}", FIELDS[at]) }
}

/// Calls `each` with the values of each document.
fn documents(docs: u32, mut each: impl FnMut(&[Option<Value<'_>>]) -> Outcome) -> Outcome {
    let archive = Archive { docs: docs * COPIES, seed: 1, length_percent: 85 };
    let mut parts = vec![Document::default(); COPIES as usize];
    for doc in 0..docs {
        for (copy, part) in (0..).zip(&mut parts) {
            archive.read(doc + copy * docs, part);
        }
        each(&parts.iter().flat_map(Document::values).collect::<Vec<_>>())?;
    }
    Ok(())
}

fn write_columns(docs: u32, all: &[(String, usize)], path: &Path) -> Outcome {
    let mut schema = Schema::new();
    let mut ids = Vec::new();
    for (name, at) in all {
        ids.push(schema.add(like(FIELDS[at % FIELDS.len()], name))?);
    }
    let mut writer = SegmentWriter::create(path, schema, WriterOptions::default())?;
    documents(docs, |values| {
        Ok(add_values(&mut writer, ids.iter().zip(all).map(|(&id, (_, at))| (id, values[*at])))?)
    })?;
    writer.finish()?;
    Ok(())
}

fn write_rows(docs: u32, wanted: &[(String, usize)], compression: Compression, path: &Path) -> Outcome {
    let mut schema = Schema::new();
    let source = FieldSpec::new("_source", LogicalType::Utf8).kind(BytesKind::Binary);
    let source = schema.add(source.compression(compression))?;
    let mut writer = SegmentWriter::create(path, schema, WriterOptions::default())?;
    let mut row = Vec::new();
    documents(docs, |values| {
        row.clear();
        json(&mut row, wanted.iter().map(|(name, at)| (&**name, values[*at])))?;
        Ok(add_values(&mut writer, [(source, Some(Value::Text(str::from_utf8(&row)?)))])?)
    })?;
    writer.finish()?;
    Ok(())
}

fn from_columns(segment: &Segment, names: &[&str], docs: &[DocId]) -> Outcome<u64> {
    let search = Search::new(segment).threads(1);
    let mut retriever = search.retriever(names)?;
    let chunk = retriever.retrieve(docs)?;
    let cells = chunk.rows().flat_map(|row| row.values().collect::<Vec<_>>());
    Ok(cells.map(|cell| if let Cell::Bytes(bytes) = cell { bytes.len() as u64 } else { 8 }).sum())
}

fn from_rows(segment: &Segment, docs: &[DocId]) -> Outcome<u64> {
    let rows = segment.binary("_source")?;
    let (mut buffer, mut sum) = (Vec::new(), 0);
    for &doc in docs {
        sum += rows.get(doc, &mut buffer)?.map_or(0, <[u8]>::len) as u64;
    }
    Ok(sum)
}

fn measure(
    name: &'static str,
    fields: usize,
    docs: u32,
    bytes: u64,
    path: &Path,
    fetch: impl Fn(&Segment, &[DocId]) -> Outcome<u64>,
) -> Outcome<Stored> {
    let page = |request: u32| {
        let mut random = SplitMix64::new(request.into());
        (0..FETCHED).map(|_| DocId::new(random.below_u32(docs))).collect::<Vec<_>>()
    };
    let open = || Segment::open_with(path, OpenOptions::new());
    let (mut cold, mut warm, mut touched) = (Vec::new(), Vec::new(), Vec::new());
    for request in 0..REQUESTS {
        forget(path)?;
        let segment = open()?;
        let before = segment.bytes_touched();
        cold.push(time(|| fetch(&segment, &page(request)))?);
        touched.push((segment.bytes_touched() - before).div_ceil(PAGE));
    }
    let segment = open()?;
    (0..REQUESTS).try_for_each(|request| fetch(&segment, &page(request)).map(drop))?;
    for request in 0..REQUESTS {
        warm.push(time(|| fetch(&segment, &page(request)))?);
    }
    touched.sort_unstable();
    Ok(Stored {
        name,
        fields,
        bytes: bytes as f64 / f64::from(docs.max(1)),
        cold: Sample::of(cold),
        warm: Sample::of(warm),
        pages: touched[touched.len() / 2],
    })
}

fn time(mut work: impl FnMut() -> Outcome<u64>) -> Outcome<Duration> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed())
}
