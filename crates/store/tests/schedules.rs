//! Orders of threads that `shuttle` chooses: snapshots beside changes, merges and commits, readers beside the removal of files, and
//! side files of an observer.
//!
//! `RUSTFLAGS="--cfg shuttle" cargo test -p docvalues-store --test schedules`. Threads may change at each lock of the
//! store, and at each call of the directory. `DOCVALUES_SWEEP=full` takes four hundred times as many orders.
#![cfg(shuttle)]
#![expect(clippy::unwrap_used, reason = "tests")]

use std::error::Error as StdError;
use std::ffi::OsStr;
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use docvalues_column::{ColumnSource, DocAddress, DocId, Field, Kind, LogicalType};
use docvalues_reader::OpenOptions;
use docvalues_search::Query;
use docvalues_storage::{Directory, DirectoryEntry, DirectoryFile, FileLock, Result, Source};
use docvalues_store::{
    Durability, Observer, Publication, Snapshot, Store, StoreOptions, StoreReader, StoreSchema,
};
use docvalues_testkit::faults::PowerLossDirectory;
use shuttle::thread;

/// Orders of a sample.
const ORDERS: usize = 1_250;

/// A directory in memory. Other threads may run before each call.
#[derive(Debug)]
struct Yielding(PowerLossDirectory);

impl Yielding {
    fn inner(&self) -> &PowerLossDirectory {
        // Unlike `yield_now`, this does not tell the scheduler to choose another thread.
        thread::sleep(Duration::ZERO);
        &self.0
    }
}

impl Directory for Yielding {
    fn path(&self) -> &Path {
        self.0.path()
    }

    fn create(&self, name: &OsStr) -> Result<Box<dyn DirectoryFile>> {
        self.inner().create(name)
    }

    fn claim(&self, name: &OsStr) -> Result<Box<dyn DirectoryFile>> {
        self.inner().claim(name)
    }

    fn hold(&self, name: &OsStr, lock: FileLock) -> Result<Box<dyn DirectoryFile>> {
        self.inner().hold(name, lock)
    }

    fn open(&self, name: &OsStr) -> Result<Source> {
        self.inner().open(name)
    }

    fn list(&self) -> Result<Vec<DirectoryEntry>> {
        self.inner().list()
    }

    fn rename(&self, from: &OsStr, to: &OsStr) -> Result<()> {
        self.inner().rename(from, to)
    }

    fn remove(&self, name: &OsStr) -> Result<()> {
        self.inner().remove(name)
    }

    fn sync(&self) -> Result<()> {
        self.inner().sync()
    }
}

fn check(body: impl Fn() + Send + Sync + 'static) {
    let is_full = std::env::var_os("DOCVALUES_SWEEP").is_some_and(|sweep| sweep == "full");
    let orders = if is_full { 400 * ORDERS } else { ORDERS };
    let body = Arc::new(body);
    let again = body.clone();
    shuttle::check_random(move || again(), orders);
    // With three changes of priority: long runs of one thread.
    shuttle::check_pct(move || body(), orders, 3);
    println!("{} orders", 2 * orders);
}

fn spawn(store: &Arc<Store>, body: fn(&Store)) -> thread::JoinHandle<()> {
    let store = store.clone();
    thread::spawn(move || body(&store))
}

fn store() -> (Arc<dyn Directory>, Arc<Store>) {
    store_with(StoreOptions::default())
}

fn store_with(options: StoreOptions) -> (Arc<dyn Directory>, Arc<Store>) {
    let directory = directory();
    let store = Store::create_in(directory.clone(), schema(), options).unwrap();
    (directory, Arc::new(store))
}

fn directory() -> Arc<dyn Directory> {
    Arc::new(Yielding(PowerLossDirectory::new("/disk")))
}

fn schema() -> StoreSchema {
    let id = Field::new("id", Kind::Binary, LogicalType::Utf8);
    StoreSchema::new().with_field(id).unwrap().with_id_field("id").unwrap()
}

fn add(store: &Store, ids: &[&str]) {
    let mut segment = store.new_segment().unwrap();
    let field = segment.field("id").unwrap();
    for id in ids {
        let mut doc = segment.document();
        doc.str(field, id).unwrap();
        doc.finish().unwrap();
    }
    segment.finish().unwrap();
}

/// The ids of the live documents, ascending.
fn ids(snapshot: &Snapshot) -> Vec<String> {
    let live = snapshot.search().filter(&Query::all_of([])).unwrap();
    let id = |address: DocAddress| {
        let (column, mut id) =
            (snapshot.parts().source(address.part as usize).column("id").unwrap(), Vec::new());
        column.values().bytes().unwrap().get(address.doc, &mut id).unwrap();
        String::from_utf8(id).unwrap()
    };
    let mut found: Vec<String> = live.iter().map(id).collect();
    found.sort();
    assert_eq!(found.len() as u64, snapshot.docs());
    found
}

/// A snapshot shows a change whole or not at all, and never an older state than the one before.
#[test]
fn snapshots_beside_changes_merges_and_commits() {
    check(|| {
        let (_, store) = store();
        add(&store, &["a", "b"]);
        let writer = {
            let store = store.clone();
            thread::spawn(move || {
                add(&store, &["b", "c"]);
                store.delete_ids(["a"]).unwrap();
                store.commit().unwrap();
            })
        };
        let merger = {
            let store = store.clone();
            thread::spawn(move || store.merge_to(1).unwrap())
        };
        let states: [&[&str]; 3] = [&["a", "b"], &["a", "b", "c"], &["b", "c"]];
        let (mut at, mut sequence) = (0, 0);
        for _ in 0..25 {
            let snapshot = store.snapshot();
            let found = ids(&snapshot);
            at += states[at..].iter().position(|state| *state == found).unwrap();
            assert!(snapshot.sequence() >= sequence);
            sequence = snapshot.sequence();
            assert!(snapshot.find(b"b").unwrap().is_some());
            thread::yield_now();
        }
        writer.join().unwrap();
        merger.join().unwrap();
        assert_eq!(ids(&store.snapshot()), ["b", "c"]);
    });
}

/// A reader opens commits whole while the writer removes the files of older ones.
#[test]
fn readers_beside_the_removal_of_files() {
    check(|| {
        let (directory, store) = store();
        add(&store, &["a"]);
        store.commit().unwrap();
        let writer = {
            let store = store.clone();
            thread::spawn(move || {
                for id in ["b", "c"] {
                    add(&store, &[id]);
                    store.commit().unwrap();
                }
                store.merge_to(1).unwrap();
                store.commit().unwrap();
            })
        };
        let mut reader = StoreReader::open_in(directory, OpenOptions::new()).unwrap();
        let mut last = 0;
        // More often than the writer commits, so that both are at work for long.
        for _ in 0..25 {
            let snapshot = reader.snapshot();
            assert!(snapshot.commit() >= last);
            last = snapshot.commit();
            let found = ids(&snapshot);
            assert_eq!(found, ["a", "b", "c"][..found.len()]);
            assert_eq!(found.len() as u64, (last - 1).min(3));
            reader.reopen().unwrap();
        }
        writer.join().unwrap();
        reader.reopen().unwrap();
        assert_eq!((reader.snapshot().commit(), ids(&reader.snapshot()).len()), (5, 3));
    });
}

fn apply(store: &Store, write: &[&str], delete: &[&str]) {
    let mut batch = store.batch().unwrap();
    let field = batch.field("id").unwrap();
    for id in write {
        let mut doc = batch.upsert();
        doc.str(field, id).unwrap();
        doc.finish().unwrap();
    }
    delete.iter().for_each(|id| batch.delete(id.as_bytes()));
    store.apply(batch).unwrap();
}

/// Another writer takes the store over while batches are applied: what either acknowledged is there.
#[test]
fn a_writer_whose_lock_is_removed_beside_another() {
    check(|| {
        let options = StoreOptions::new().durability(Durability::EachBatch);
        let (directory, store) = store_with(options);
        let thief = {
            let directory = directory.clone();
            thread::spawn(move || {
                directory.remove(OsStr::new("LOCK")).unwrap();
                let store = Store::open_in(directory, options).unwrap();
                apply(&store, &["thief"], &[]);
            })
        };
        let mut acknowledged = vec!["thief".to_owned()];
        for at in 0..4 {
            let id = format!("owner {at}");
            let mut batch = store.batch().unwrap();
            let field = batch.field("id").unwrap();
            let mut doc = batch.upsert();
            doc.str(field, &id).unwrap();
            doc.finish().unwrap();
            match store.apply(batch) {
                Ok(_) => acknowledged.push(id),
                Err(error) => assert!(matches!(error, docvalues_store::Error::Poisoned { .. }), "{error}"),
            }
        }
        thief.join().unwrap();
        drop(store);
        let found = ids(&Store::open_in(directory, options).unwrap().snapshot());
        assert!(acknowledged.iter().all(|id| found.contains(id)), "{found:?} of {acknowledged:?}");
    });
}

/// Documents are deleted by the addresses of an old snapshot while others are written, flushed and committed.
#[test]
fn addresses_beside_flushes_and_commits() {
    check(|| {
        let options = StoreOptions::new().buffer_bytes(150);
        let (_, store) = store_with(options);
        apply(&store, &["a", "b", "c"], &[]);
        store.refresh().unwrap();
        let snapshot = store.snapshot();
        let threads = [
            spawn(&store, |store| apply(store, &["d", "e"], &["c"])),
            spawn(&store, |store| {
                for id in ["c", "f"] {
                    apply(store, &[id], &[]);
                    store.commit().unwrap();
                }
            }),
        ];
        let address = snapshot.find(b"b").unwrap().unwrap();
        assert_eq!(store.delete(&snapshot, &[address]).unwrap(), 1);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(store.delete(&snapshot, &[address]).unwrap(), 0);
        store.refresh().unwrap();
        let found = ids(&store.snapshot());
        assert!(
            found.iter().all(|id| id != "b")
                && ["a", "d", "e", "f"].iter().all(|id| found.contains(&(*id).to_owned())),
            "{found:?}"
        );
    });
}

/// One `a`, one of `x` and `y`, and perhaps `z`.
fn is_whole(found: &[String]) -> bool {
    let count = |id: &str| found.iter().filter(|known| *known == id).count();
    count("a") == 1 && count("x") + count("y") == 1 && found.len() == 2 + count("z")
}

/// Batches are whole in every snapshot and every commit, and an id has one document, while buffers are written to
/// segments, merged and committed.
#[test]
fn batches_beside_commits_and_merges() {
    for durability in [Durability::OnCommit, Durability::EachBatch] {
        check(move || {
            // Each second batch fills the buffer.
            let options = StoreOptions::new().durability(durability).buffer_bytes(150);
            let (directory, store) = store_with(options);
            apply(&store, &["a", "x"], &[]);
            let threads = [
                spawn(&store, |store| {
                    apply(store, &["a", "y"], &["x"]);
                    apply(store, &["a", "x"], &["y"]);
                }),
                spawn(&store, |store| apply(store, &["z", "a"], &[])),
                spawn(&store, |store| {
                    for _ in 0..2 {
                        store.commit().unwrap();
                        // A commit is one moment, whatever is applied meanwhile.
                        let directory = store.directory().clone();
                        let reader = StoreReader::open_in(directory, OpenOptions::new()).unwrap();
                        let found = ids(&reader.snapshot());
                        assert!(is_whole(&found), "{found:?} in commit {}", reader.snapshot().commit());
                        store.merge_to(1).unwrap();
                    }
                }),
            ];
            for _ in 0..10 {
                store.refresh().unwrap();
                let found = ids(&store.snapshot());
                assert!(is_whole(&found), "{found:?}");
                thread::sleep(Duration::ZERO);
            }
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            store.refresh().unwrap();
            assert_eq!(ids(&store.snapshot()), ["a", "x", "z"]);
            if durability == Durability::OnCommit {
                store.commit().unwrap();
            }
            drop(store);
            let again = Store::open_in(directory, StoreOptions::default()).unwrap();
            assert_eq!(ids(&again.snapshot()), ["a", "x", "z"]);
        });
    }
}

/// A delete by query finds a document that is replaced meanwhile: the one before, or the one after, wherever that is by then.
#[test]
fn deletes_by_query_beside_batches_and_merges() {
    check(|| {
        let (_, store) = store();
        apply(&store, &["a", "b"], &[]);
        let threads = [
            spawn(&store, |store| apply(store, &["b"], &[])),
            spawn(&store, |store| {
                store.commit().unwrap();
                store.merge_to(1).unwrap();
            }),
        ];
        assert_eq!(store.delete_where(&Query::eq("id", "b")).unwrap(), 1);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        store.refresh().unwrap();
        let found = ids(&store.snapshot());
        assert!(found == ["a"] || found == ["a", "b"], "{found:?}");
    });
}

/// Keeps the ids of each segment in a side file, and compares those of a merge by its moves. It looks at the store meanwhile.
#[derive(Default)]
struct Ids(OnceLock<Weak<Store>>);

impl Observer for Ids {
    fn publish(
        &self,
        publication: &mut Publication<'_>,
    ) -> std::result::Result<(), Box<dyn StdError + Send + Sync>> {
        if let Some(store) = self.0.get().and_then(Weak::upgrade) {
            check_side_files(&store.snapshot());
        }
        let ids = lines(publication.segment());
        for run in publication.moves() {
            let (Some(number), Some((_, first))) = (run.from.segment(), run.to) else { continue };
            let mut before = String::new();
            publication.side_file(number, "ids").unwrap().read_to_string(&mut before)?;
            let moved = before.lines().skip(run.docs.start as usize).take(run.docs.len());
            assert!(moved.eq(ids.lines().skip(first.get() as usize).take(run.docs.len())));
        }
        publication.write("ids", |out| out.write_all(ids.as_bytes()))?;
        Ok(())
    }
}

/// The ids of all documents, one a line.
fn lines(source: &dyn ColumnSource) -> String {
    let column = source.column("id").unwrap();
    let (values, mut id) = (column.values().bytes().unwrap(), Vec::new());
    let line = |doc| {
        values.get(DocId::new(doc), &mut id).unwrap();
        format!("{}\n", std::str::from_utf8(&id).unwrap())
    };
    (0..source.docs()).map(line).collect()
}

/// Each segment has its side file. Returns the number of segments.
fn check_side_files(snapshot: &Snapshot) -> usize {
    for segment in snapshot.segments() {
        let mut found = String::new();
        snapshot.side_file(segment.number, "ids").unwrap().read_to_string(&mut found).unwrap();
        assert_eq!(found, lines(segment.segment));
    }
    snapshot.segments().len()
}

/// Each snapshot, also one that the observer takes, and each commit has the side files of its segments, while segments are added,
/// flushed and merged. None is left.
#[test]
fn side_files_beside_flushes_merges_and_commits() {
    check(|| {
        let (directory, observer) = (directory(), Arc::new(Ids::default()));
        let options = StoreOptions::new().buffer_bytes(150);
        let store = Store::create_in_with(directory.clone(), schema(), options, observer.clone()).unwrap();
        let store = Arc::new(store);
        observer.0.set(Arc::downgrade(&store)).unwrap();
        let threads = [
            spawn(&store, |store| {
                apply(store, &["a", "b"], &[]);
                apply(store, &["b", "c"], &["a"]);
            }),
            spawn(&store, |store| {
                add(store, &["d", "e"]);
                store.merge_to(1).unwrap();
            }),
            spawn(&store, |store| {
                for _ in 0..2 {
                    store.commit().unwrap();
                    let directory = store.directory().clone();
                    let reader = StoreReader::open_in(directory, OpenOptions::new()).unwrap();
                    check_side_files(&reader.snapshot());
                }
            }),
        ];
        for _ in 0..10 {
            check_side_files(&store.snapshot());
            thread::sleep(Duration::ZERO);
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        store.commit().unwrap();
        assert_eq!(ids(&store.snapshot()), ["b", "c", "d", "e"]);
        let names = directory.list().unwrap().into_iter().map(|entry| entry.name.into_string().unwrap());
        let side_files = names.filter(|name| name.ends_with(".side")).count();
        assert_eq!(side_files, check_side_files(&store.snapshot()));
    });
}
