//! Several leaders, each with a replica, and tasks that write to all of them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use docvalues::store::{Background, BackgroundOptions, Store, StoreOptions, shard_of};
use docvalues::writer::Error as WriteError;
use docvalues_benches::ingest::IngestDoc;

use crate::{FIELDS, Link, process_cpu, schema};

/// Documents that a task creates before it sends a batch to each leader.
const AT_ONCE: u32 = 4_000;

/// The form in which a task gives documents to a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Input {
    /// One by one
    Documents,
    /// Slices of values
    Columns,
}

/// Prints a row for each number of tasks and each input, with replicas and without.
pub(crate) fn measure(shards: u32, tasks: &[u32], docs: u32, rounds: usize) {
    println!("\n{docs} documents in {shards} leaders, medians of {rounds} rounds\n");
    println!("| input | tasks | replicas | docs/s | leaders, CPU us a document | replicas, CPU us |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for input in [Input::Documents, Input::Columns] {
        for tasks in tasks {
            for has_replicas in [false, true] {
                let mut figures: Vec<_> =
                    (0..rounds).map(|_| run(shards, *tasks, docs, input, has_replicas)).collect();
                figures.sort_by(|a, b| a.0.total_cmp(&b.0));
                let (docs_s, leader_us, replica_us) = figures[rounds / 2];
                let count = if has_replicas { shards } else { 0 };
                let input = format!("{input:?}").to_lowercase();
                println!("| {input} | {tasks} | {count} | {docs_s:.0} | {leader_us:.2} | {replica_us:.2} |");
            }
        }
    }
}

/// Documents a second of the clock until all replicas have everything, and the microseconds of CPU time a document of the
/// leaders and of the replicas.
fn run(shards: u32, tasks: u32, docs: u32, input: Input, has_replicas: bool) -> (f64, f64, f64) {
    let folder = tempfile::tempdir().expect("a folder");
    let options = StoreOptions::new()
        .keep_frames(if has_replicas { 1 << 30 } else { 0 })
        .commit_every(Duration::from_secs(1));
    let background = Background::start(BackgroundOptions::default()).expect("threads");
    let path = |shard: u32, role: &str| folder.path().join(format!("{role}-{shard}"));
    let leader = |shard: u32| {
        let store = Arc::new(Store::create(path(shard, "leader"), schema(), options).expect("a folder"));
        background.add(&store).expect("a store");
        store
    };
    let leaders: Vec<Arc<Store>> = (0..shards).map(leader).collect();
    let start = |shard| Link::start(Path::new(&path(shard, "leader")), &path(shard, "replica"));
    let links: Vec<Link> = if has_replicas { (0..shards).map(start).collect() } else { Vec::new() };
    let (began, cpu) = (Instant::now(), process_cpu());
    let last: Vec<AtomicU64> = (0..shards).map(|_| AtomicU64::new(0)).collect();
    std::thread::scope(|scope| {
        for task in 0..tasks {
            let (leaders, last) = (&leaders, &last);
            scope.spawn(move || {
                let mine = (task..docs).step_by(tasks as usize).collect::<Vec<_>>();
                mine.chunks(AT_ONCE as usize).for_each(|numbers| write(leaders, last, numbers, input));
            });
        }
    });
    let ends = links.into_iter().zip(&last).map(|(link, last)| link.end(last.load(Relaxed)));
    let replica_cpu: f64 = ends.map(|(_, cpu, ..)| cpu).sum();
    let docs_s = f64::from(docs) / began.elapsed().as_secs_f64();
    for leader in &leaders {
        background.remove(leader).expect("a disk with room");
    }
    let each = |seconds: f64| seconds * 1e6 / f64::from(docs);
    (docs_s, each(process_cpu() - cpu), each(replica_cpu))
}

/// Applies documents as a batch for each leader.
fn write(leaders: &[Arc<Store>], last: &[AtomicU64], numbers: &[u32], input: Input) {
    let shards = u32::try_from(leaders.len()).expect("few leaders");
    let mut of_shard = vec![Vec::new(); leaders.len()];
    for number in numbers {
        let id = IngestDoc::id(*number);
        of_shard[shard_of(id.as_bytes(), shards) as usize].push((id, IngestDoc::new(*number)));
    }
    for ((store, last), docs) in leaders.iter().zip(last).zip(of_shard).filter(|(_, docs)| !docs.is_empty()) {
        let mut batch = store.batch().expect("a schema");
        match input {
            Input::Documents => by_document(&mut batch, &docs),
            Input::Columns => by_column(&mut batch, &docs),
        }
        .expect("values");
        let applied = store.apply(batch).expect("a disk with room");
        last.fetch_max(applied.sequence, Relaxed);
    }
}

fn by_document(
    batch: &mut docvalues::store::WriteBatch,
    docs: &[(String, IngestDoc)],
) -> Result<(), WriteError> {
    let id_field = batch.field("id").expect("a field");
    let fields = FIELDS.map(|name| batch.field(name).expect("a field"));
    for (id, doc) in docs {
        let mut row = batch.upsert();
        row.str(id_field, id)?;
        doc.add_to(&mut row, &fields)?;
        row.finish()?;
    }
    Ok(())
}

fn by_column(
    batch: &mut docvalues::store::WriteBatch,
    docs: &[(String, IngestDoc)],
) -> Result<(), WriteError> {
    let id_field = batch.field("id").expect("a field");
    let [ts, size, code, price, flag, host, status, path] =
        FIELDS.map(|name| batch.field(name).expect("a field"));
    let all = None;
    let numbers = |value: fn(&IngestDoc) -> i64| docs.iter().map(|(_, doc)| value(doc)).collect::<Vec<_>>();
    let doubles: Vec<f64> = docs.iter().map(|(_, doc)| doc.price).collect();
    let flags: Vec<bool> = docs.iter().map(|(_, doc)| doc.flag).collect();
    let (mut offsets, mut bytes) = (Vec::new(), Vec::new());
    let count = u32::try_from(docs.len()).expect("few documents");
    let mut columns = batch.upsert_columns(count).expect("few documents");
    columns.i64(ts, &numbers(|doc| doc.ts), all)?.i64(size, &numbers(|doc| doc.size), all)?;
    columns.i64(code, &numbers(|doc| doc.code), all)?.f64(price, &doubles, all)?.bool(flag, &flags, all)?;
    let mut texts = |field, text: fn(&(String, IngestDoc)) -> &str| -> Result<(), WriteError> {
        offsets.clear();
        bytes.clear();
        offsets.push(0);
        for doc in docs {
            bytes.extend_from_slice(text(doc).as_bytes());
            offsets.push(bytes.len() as u64);
        }
        columns.bytes(field, &offsets, &bytes, all).map(drop)
    };
    texts(id_field, |(id, _)| id)?;
    texts(host, |(_, doc)| &doc.host)?;
    texts(status, |(_, doc)| doc.status)?;
    texts(path, |(_, doc)| &doc.path)?;
    columns.finish();
    Ok(())
}
