//! A segment of many documents and three columns: `ts` nearly ascends, `uni24` is random, and `host` has a thousand terms. It
//! is written with a budget, and read by a process of its own, from the disk at first.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use docvalues::column::{ColumnSource as _, Values};
use docvalues::search::facet::Facet;
use docvalues::search::{Docs, Query, Search};
use docvalues::{
    BytesKind, DocId, DocRange, FieldSpec, LogicalType, Schema, Segment, SegmentWriter, WriterOptions,
};
use docvalues_benches::process::mib;
use docvalues_benches::record::{Run, command_of, figure};
use docvalues_testkit::rng::SplitMix64;

use crate::readings::{step, table};
use crate::{Outcome, show};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Number of documents
    #[arg(long, value_name = "N", default_value = "300_000_000", value_parser = docvalues_benches::count)]
    docs: u32,
    /// Memory of the writer, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    budget: usize,
    /// Folder of the segment, which is removed
    #[arg(long, value_name = "FOLDER", default_value_os_t = crate::default_folder())]
    folder: PathBuf,
    /// Record that gets the tables
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// The steps of a new process.
#[derive(clap::Args)]
pub(crate) struct One {
    segment: PathBuf,
}

/// Documents of a batch.
const BATCH: u32 = 1 << 16;

/// The terms of `host`.
const HOSTS: u32 = 1_000;

/// Random documents of a step, while hardly a page is mapped, and afterwards.
const GETS: [u32; 2] = [1_000, 1_000_000];

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    std::fs::create_dir_all(&arguments.folder)?;
    let folder = tempfile::tempdir_in(&arguments.folder)?;
    let path = folder.path().join("segment.dv");
    let mut run = Run::new(&command_of("scale"), "one run");
    run.table("docs-written", write(&path, arguments)?);
    docvalues_benches::forget(&path)?;
    run.table("docs", table(&["docs-one".to_owned(), path.display().to_string()])?);
    show(run, arguments.record.as_deref())
}

/// Writes the segment.
fn write(path: &Path, arguments: &Arguments) -> Outcome<Vec<Vec<String>>> {
    let mut schema = Schema::new();
    let [ts, uni24] = ["ts", "uni24"].map(|name| schema.add(FieldSpec::new(name, LogicalType::I64)));
    let (ts, uni24) = (ts?, uni24?);
    let host = schema.add(FieldSpec::new("host", LogicalType::Utf8).kind(BytesKind::Sorted))?;
    let names: Vec<String> = (0..HOSTS).map(|host| format!("host-{host:03}.example.com")).collect();
    let (names, len) = (names.concat(), names[0].len() as u64);
    let offsets: Vec<u64> = (0..=u64::from(HOSTS)).map(|host| host * len).collect();
    let options = WriterOptions::new().budget(arguments.budget << 20);
    let mut writer = SegmentWriter::create(path, schema, options)?;
    let (mut random, mut time) = (SplitMix64::new(1), 1_500_000_000_000_i64);
    let (mut times, mut numbers, mut hosts) = (Vec::new(), Vec::new(), Vec::new());
    let began = Instant::now();
    let mut left = arguments.docs;
    while left > 0 {
        let count = left.min(BATCH);
        times.clear();
        numbers.clear();
        hosts.clear();
        for _ in 0..count {
            let next = random.next_u64();
            time += (next % 2_000).cast_signed();
            times.push(time + ((next >> 32) % 10_001).cast_signed());
            numbers.push((random.next_u64() >> 40).cast_signed());
            hosts.push(random.below_u32(HOSTS));
        }
        let mut batch = writer.batch(count)?;
        batch.i64(ts, &times, None)?.i64(uni24, &numbers, None)?;
        batch.terms(host, &hosts, &offsets, names.as_bytes(), None)?;
        batch.finish();
        left -= count;
    }
    let added = began.elapsed().as_secs_f64();
    let summary = writer.finish()?;
    let seconds = began.elapsed().as_secs_f64();
    let bytes = std::fs::metadata(path)?.len();
    let head = ["documents", "seconds to add", "to finish", "bytes a document", "budget, MiB", "peak, MiB"];
    let row = [
        summary.docs.to_string(),
        figure(added),
        figure(seconds - added),
        figure(bytes as f64 / f64::from(summary.docs)),
        arguments.budget.to_string(),
        figure(mib("VmHWM")),
    ];
    Ok(vec![head.map(str::to_owned).to_vec(), row.to_vec()])
}

pub(crate) fn one(one: &One) -> Outcome {
    step("nothing is open", || ());
    let segment = step("opened", || Segment::open(&one.segment))?;
    let last = DocId::new(segment.docs() - 1);
    let column = step("a first value of `ts`", || {
        let column = segment.numeric("ts")?;
        column.get(last).map(|value| black_box((value, column)).1)
    })?;
    let numbers = step("a first value of `uni24`", || {
        let column = segment.numeric("uni24")?;
        column.get(last).map(|value| black_box((value, column)).1)
    })?;
    let docs = segment.docs();
    let random = GETS.map(|gets| format!("{gets} values of `uni24`, at random, one at a time"));
    for (name, gets) in [(&*random[0], GETS[0]), (&*random[1], GETS[1]), ("the same again", GETS[1])] {
        let mut random = SplitMix64::new(2);
        let mut get = || numbers.get(DocId::new(random.below_u32(docs))).map(|value| _ = black_box(value));
        step(name, || (0..gets).try_for_each(|_| get()))?;
    }
    for name in ["scan of `uni24`", "the same again"] {
        step(name, || scan(&segment, docs))?;
    }
    let middle = column.get(DocId::new(docs / 2))?.ok_or("a value")?;
    let range = Query::range("ts", middle..middle + 1_000_000);
    for name in ["count of a range of `ts`", "the same again"] {
        step(name, || Search::new(&segment).threads(1).count(&range))?;
    }
    let facet = Facet::of("host");
    for name in ["facet of `host`", "the same again"] {
        let counts = step(name, || Search::new(&segment).threads(1).facet(Docs::All, &facet))?;
        drop(black_box(counts));
    }
    step("closed", || drop((column, numbers, segment)));
    Ok(())
}

/// Reads all values of `uni24`.
fn scan(segment: &Segment, docs: u32) -> Outcome<i64> {
    let (column, mut sum) = (segment.column("uni24")?, 0_i64);
    let Values::Numbers(rows) = column.values() else { return Err("expected numbers".into()) };
    rows.scan(DocRange::new(0, docs), &mut |batch| {
        sum = sum.wrapping_add(batch.values.items().iter().sum::<i64>());
        ControlFlow::Continue(())
    })?;
    Ok(black_box(sum))
}
