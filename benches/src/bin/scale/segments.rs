//! Stores of few and of many small segments: the time, page faults, mappings, open files and memory of each step. Then a
//! process opens the largest again and again, until it may have no more mappings, or no more files.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use docvalues::reader::Access;
use docvalues::search::{Docs, Query};
use docvalues::store::{Store, StoreOptions, StoreReader};
use docvalues::{OpenOptions, SortKey};
use docvalues_benches::ingest::{self, IngestDoc, Versioned};
use docvalues_benches::record::{Run, command_of, figure};

use crate::readings::{Step, step, table};
use crate::{Outcome, show};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Numbers of segments, the largest last
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_values_t = [100, 1_000, 10_000], value_parser = docvalues_benches::count)]
    segments: Vec<u32>,
    /// Documents of each
    #[arg(long, value_name = "N", default_value = "1_000", value_parser = docvalues_benches::count)]
    docs: u32,
    /// The most readers of the store that the process opens, one beside the other
    #[arg(long, value_name = "N", default_value_t = 8)]
    openings: u32,
    /// Folder of the store, which is removed
    #[arg(long, value_name = "FOLDER", default_value_os_t = crate::default_folder())]
    folder: PathBuf,
    /// Record that gets the tables
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// The steps of a new process: openings, or else those of one reader and one writer.
#[derive(clap::Args)]
pub(crate) struct One {
    store: PathBuf,
    segments: u32,
    docs: u32,
    openings: u32,
}

/// Look-ups of a step, and new ids of a batch.
const IDS: u32 = 1_000;

/// Batches until there is a table of ids, at most.
const MOST_BATCHES: u32 = 2_000;

pub(crate) fn run(arguments: &Arguments) -> Outcome {
    std::fs::create_dir_all(&arguments.folder)?;
    let mut run = Run::new(&command_of("scale"), &format!("one run, {}", limits()));
    let mut tables = Vec::new();
    for &segments in &arguments.segments {
        let folder = tempfile::tempdir_in(&arguments.folder)?;
        let store = folder.path().join("store");
        let written = write(&store, segments, arguments.docs)?;
        let path = ["segments-one".to_owned(), store.display().to_string()];
        let one = |openings: u32| {
            let numbers = [segments, arguments.docs, openings].map(|number| number.to_string());
            table(&[&path[..], &numbers].concat())
        };
        tables.push(one(0)?);
        if Some(&segments) == arguments.segments.last() {
            run.table("segments-written", written);
            run.table("openings", one(arguments.openings)?);
        }
    }
    run.table("segments", beside(&tables));
    show(run, arguments.record.as_deref())
}

/// The tables of several stores, which have the same rows, as one: each cell has the figures of all.
fn beside(tables: &[Vec<Vec<String>>]) -> Vec<Vec<String>> {
    let mut all = tables.first().cloned().unwrap_or_default();
    for table in tables.iter().skip(1) {
        for (cells, others) in all.iter_mut().zip(table).skip(1) {
            for (cell, other) in cells.iter_mut().zip(others).skip(1) {
                cell.push_str(" / ");
                cell.push_str(other);
            }
        }
    }
    all
}

/// The limits of mappings and of open files.
fn limits() -> String {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let (maps, limits) = (read("/proc/sys/vm/max_map_count"), read("/proc/self/limits"));
    let files =
        limits.lines().find_map(|line| line.strip_prefix("Max open files")?.split_whitespace().next());
    format!("{} mappings and {} files at most", maps.trim(), files.unwrap_or("any number of"))
}

/// Documents from the number `first` on.
fn some_docs(first: u32, count: u32) -> Vec<Versioned> {
    let doc = |number: u32| (IngestDoc::new(number), IngestDoc::id(number), 1);
    (first..first + count).map(doc).collect()
}

/// Writes the store: a buffer of no size becomes a segment before the next batch. Returns the time of each tenth, and the bytes of
/// a segment up to its end.
fn write(path: &Path, segments: u32, docs: u32) -> Outcome<Vec<Vec<String>>> {
    let options = StoreOptions::new().buffer_bytes(1);
    let store = Store::create(path, ingest::store_schema(true), options)?;
    let mut table = vec![["segments", "ms each", "KiB each"].map(str::to_owned).to_vec()];
    let mut spent = Duration::ZERO;
    let (tenth, mut first) = ((segments / 10).max(1), 0);
    for segment in 0..segments {
        let batch = ingest::batch(&store, &some_docs(segment * docs, docs), true);
        let began = Instant::now();
        store.apply(batch)?;
        spent += began.elapsed();
        if (segment + 1) % tenth == 0 {
            let each = spent.as_secs_f64() * 1e3 / f64::from(segment + 1 - first);
            let files = std::fs::read_dir(path)?.map(|file| file?.metadata().map(|data| data.len()));
            let bytes = files.sum::<io::Result<u64>>()?;
            let kib = bytes as f64 / 1024.0 / f64::from(segment + 1);
            table.push(vec![format!("{} to {}", first + 1, segment + 1), figure(each), figure(kib)]);
            (first, spent) = (segment + 1, Duration::ZERO);
        }
    }
    store.commit()?;
    let written = store.snapshot().segments().len();
    if written != segments as usize {
        return Err(format!("expected {segments} segments, found {written}").into());
    }
    Ok(table)
}

pub(crate) fn one(one: &One) -> Outcome {
    if one.openings == 0 {
        step("nothing is open", || ());
        read(one)?;
        return change(one);
    }
    open_often(one, "mapped", OpenOptions::new());
    open_often(one, "with plain reads", OpenOptions::new().access(Access::Read));
    Ok(())
}

/// Searches and look-ups of a reader.
fn read(one: &One) -> Outcome {
    let reader = step("opened to read", || StoreReader::open(&one.store, OpenOptions::new()))?;
    let snapshot = reader.snapshot();
    if snapshot.segments().len() != one.segments as usize {
        return Err("expected another number of segments".into());
    }
    let range = Query::range("size", 1_000..);
    let search = || snapshot.search().threads(1);
    let first = step("count of a range of `size`, the first search", || search().count(&range))?;
    assert_eq!(step("the same again", || search().count(&range))?, first, "the same count");
    let keys = [SortKey::of("size").descending()];
    step("top 20 by `size`", || search().top(Docs::All, &keys, 20))?;
    step("the same again", || search().top(Docs::All, &keys, 20))?;
    let all = one.segments * one.docs;
    let id = IngestDoc::id;
    let found = step("the first look-up of an id", || snapshot.find(id(all / 2).as_bytes()))?;
    assert!(found.is_some(), "a document with this id");
    step(&format!("{IDS} ids that are there"), || {
        (0..IDS).try_for_each(|at| snapshot.find(id(at * (all / IDS).max(1)).as_bytes()).map(drop))
    })?;
    step("closed", || drop((snapshot, reader)));
    Ok(())
}

/// Batches, commits and deletes of a writer.
fn change(one: &One) -> Outcome {
    let store = step("opened to write", || Store::open(&one.store, StoreOptions::default()))?;
    let mut next = one.segments * one.docs;
    let mut batch = || {
        let batch = ingest::batch(&store, &some_docs(next, IDS), true);
        next += IDS;
        batch
    };
    let some = batch();
    step(&format!("a batch of {IDS} new ids"), || store.apply(some))?;
    let (until_table, mut batches) = (Step::begin(), 0);
    while store.stats()?.table_bytes == 0 && batches < MOST_BATCHES {
        store.apply(batch())?;
        batches += 1;
    }
    until_table.end("more of them, until a table has all ids");
    let some = batch();
    step("one more", || store.apply(some))?;
    step("a refresh", || store.refresh())?;
    step("a commit", || store.commit())?;
    step("one document of 128 deleted by a query", || store.delete_where(&Query::eq("code", 7)))?;
    step("a commit", || store.commit())?;
    step("closed", || drop(store));
    Ok(())
}

/// Opens the store to read as often as the process can. The first and the last opening are steps.
fn open_often(one: &One, how: &str, options: OpenOptions) {
    let mut readers = Vec::new();
    for at in 1..=one.openings {
        let opening = Step::begin();
        match StoreReader::open(&one.store, options) {
            Ok(reader) => {
                if at == 1 || at == one.openings {
                    opening.end(&format!("{how}, opening {at}"));
                }
                readers.push(reader);
            }
            Err(error) => {
                // Without the folder of this run.
                let error = error.to_string().replace(&format!("{}/", one.store.display()), "");
                opening.end(&format!("{how}, opening {at}: {error}"));
                return;
            }
        }
    }
}
