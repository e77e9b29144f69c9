//! A store of many small segments: the time, page faults, mappings, open files and memory of each step. At the end, the
//! process opens it again and again, until it may have no more mappings, or no more files.

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
    /// Number of segments
    #[arg(long, value_name = "N", default_value = "10_000", value_parser = docvalues_benches::count)]
    segments: u32,
    /// Documents of each
    #[arg(long, value_name = "N", default_value = "1_000", value_parser = docvalues_benches::count)]
    docs: u32,
    /// How often the process opens the store at a time, at most
    #[arg(long, value_name = "N", default_value_t = 8)]
    openings: u32,
    /// Folder of the store, which is removed
    #[arg(long, value_name = "FOLDER", default_value_os_t = crate::default_folder())]
    folder: PathBuf,
    /// Record that gets the tables
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// The steps of a new process.
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
    let &Arguments { segments, docs, openings, .. } = arguments;
    std::fs::create_dir_all(&arguments.folder)?;
    let folder = tempfile::tempdir_in(&arguments.folder)?;
    let store = folder.path().join("store");
    let mut run = Run::new(&command_of("scale"), &format!("one run, {}", limits()));
    run.table("segments-written", write(&store, segments, docs)?);
    let one = ["segments-one".to_owned(), store.display().to_string()];
    let numbers = [segments, docs, openings].map(|number| number.to_string());
    run.table("segments", table(&[&one[..], &numbers].concat())?);
    show(run, arguments.record.as_deref())
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

/// Writes the store: a buffer of no size becomes a segment before the next batch. Returns the times of each tenth.
fn write(path: &Path, segments: u32, docs: u32) -> Outcome<Vec<Vec<String>>> {
    let options = StoreOptions::new().buffer_bytes(1);
    let store = Store::create(path, ingest::store_schema(true), options)?;
    let mut table = vec![["segments", "ms each"].map(str::to_owned).to_vec()];
    let mut spent = Duration::ZERO;
    let (tenth, mut first) = ((segments / 10).max(1), 0);
    for segment in 0..segments {
        let batch = ingest::batch(&store, &some_docs(segment * docs, docs), true);
        let began = Instant::now();
        store.apply(batch)?;
        spent += began.elapsed();
        if (segment + 1) % tenth == 0 {
            let each = spent.as_secs_f64() * 1e3 / f64::from(segment + 1 - first);
            table.push(vec![format!("{} to {}", first + 1, segment + 1), figure(each)]);
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
    step("nothing is open", || ());
    read(one)?;
    change(one)?;
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
    until_table.end(&format!("{batches} more, until a table has all ids"));
    let some = batch();
    step("one more", || store.apply(some))?;
    step("a refresh", || store.refresh())?;
    step("a commit", || store.commit())?;
    step("one document of 128 deleted by a query", || store.delete_where(&Query::eq("code", 7)))?;
    step("a commit", || store.commit())?;
    step("closed", || drop(store));
    Ok(())
}

/// Opens the store to read as often as the process can.
fn open_often(one: &One, how: &str, options: OpenOptions) {
    let mut readers = Vec::new();
    for at in 1..=one.openings {
        let opening = Step::begin();
        match StoreReader::open(&one.store, options) {
            Ok(reader) => {
                opening.end(&format!("{how}, opening {at}"));
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
