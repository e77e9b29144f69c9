//! Documents with versions, applied by several threads while the store commits, merges and refreshes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use docvalues_column::LogicalType;
use docvalues_search::Query;
use docvalues_store::{
    Background, BackgroundOptions, Condition, Durability, MergePolicy, Store, StoreOptions,
};
use docvalues_testkit::faults::PowerLossDirectory;

use crate::fixture;
use crate::versions::{Model, Operation, apply, contents, schema};

/// Several threads, while others commit, merge and refresh, or background threads do: the store ends as the versions say,
/// also when it is opened again.
#[test]
fn threads_end_as_the_versions_say() {
    const THREADS: u64 = 4;
    let rounds = crate::cases(60, 6_000);
    let [on_commit, each_batch] = [Durability::OnCommit, Durability::EachBatch];
    let within = Durability::Within(Duration::from_millis(2));
    let cases = [(on_commit, false), (each_batch, false), (on_commit, true), (within, true)];
    for (durability, has_background) in cases {
        let folder = tempfile::tempdir().unwrap();
        let mut options = StoreOptions::new().buffer_bytes(60_000).durability(durability);
        if has_background {
            options.refresh_every = Some(Duration::from_millis(1));
            options.commit_every = Some(Duration::from_millis(1));
        }
        let store = Store::create(folder.path().join("a"), schema(LogicalType::U64), options).unwrap();
        let store = Arc::new(store);
        let policy = MergePolicy::new().segments_per_tier(2);
        let background = has_background.then(|| {
            let background = Background::start(BackgroundOptions::new().merges(policy)).unwrap();
            background.add(&store).unwrap();
            background
        });
        // Operation `number` has this version, and one of 300 ids; each tenth is a deletion.
        let operation = |number: u64| {
            let mixed = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let size = (!(mixed >> 20).is_multiple_of(10)).then_some(number.cast_signed());
            let id = u32::try_from((mixed >> 40) % 300).unwrap();
            Operation { id, size, version: Some(number), condition: Condition::Always, is_update: false }
        };
        let batch = |thread: u64, round: u64| -> Vec<Operation> {
            // Threads take the versions in turn, so that each often loses. Half of the documents that are there are updated
            // before, which makes writing them stale.
            let operations = (0..25).map(|i| operation((round * 25 + i) * THREADS + thread));
            let updated = |operation: Operation| {
                let is_updated = operation.size.is_some_and(|size| size % 2 == 0);
                let update = is_updated.then(|| Operation { is_update: true, ..operation.clone() });
                update.into_iter().chain([operation])
            };
            operations.flat_map(updated).collect()
        };
        let is_done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let store = &store;
                    scope.spawn(move || {
                        for round in 0..rounds {
                            apply(store, &batch(thread, round));
                        }
                    })
                })
                .collect();
            scope.spawn(|| {
                while !has_background && !is_done.load(Ordering::Relaxed) {
                    store.commit().unwrap();
                    store.merge_to(2).unwrap();
                }
            });
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    if !has_background {
                        store.refresh().unwrap();
                    }
                    // This also compares that each id has one document.
                    contents(&store.snapshot());
                }
            });
            writers.into_iter().for_each(|writer| writer.join().unwrap());
            is_done.store(true, Ordering::Relaxed);
        });
        if let Some(background) = background {
            background.remove(&store).unwrap();
        }
        let mut model = Model::default();
        for number in 0..rounds * 25 * THREADS {
            model.apply(&operation(number), &mut 0);
        }
        store.refresh().unwrap();
        assert!(contents(&store.snapshot()) == model.docs);
        if !has_background {
            store.merge_to(1).unwrap();
        }
        let stats = store.stats().unwrap();
        assert_eq!(stats.applied.count, rounds * THREADS);
        assert!(stats.commits.count > 0 && stats.flushes.count > 0);
        assert!(has_background || stats.merges.count > 0);
        if durability == Durability::OnCommit {
            store.commit().unwrap();
        }
        drop(store);
        let store = Store::open(folder.path().join("a"), StoreOptions::default()).unwrap();
        assert!(contents(&store.snapshot()) == model.docs);
    }
}

/// The threads of rayon's pool may all wait for the lock that it holds.
#[test]
fn a_delete_by_query_needs_no_thread_of_the_pool() {
    // So many segments that a search would take several threads.
    let segments = 4 * std::thread::available_parallelism().map_or(1, usize::from);
    let disk = Arc::new(PowerLossDirectory::new("/disk"));
    let store = Arc::new(Store::create_in(disk, fixture::schema(), StoreOptions::default()).unwrap());
    for segment in 0..u32::try_from(segments).unwrap() {
        fixture::add(&store, &[(2 * segment, 1), (2 * segment + 1, 100)]).unwrap();
    }
    let (stop, begun) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let of_pool = (store.clone(), stop.clone(), begun.clone());
    rayon::spawn_broadcast(move |_| {
        let (store, stop, begun) = &of_pool;
        begun.fetch_add(1, Ordering::Relaxed);
        while !stop.load(Ordering::Relaxed) {
            store.position();
        }
    });
    while begun.load(Ordering::Relaxed) < rayon::current_num_threads() {
        std::thread::yield_now();
    }
    let (sender, receiver) = channel();
    std::thread::spawn(move || sender.send(store.delete_where(&Query::range("size", 50..))));
    let deleted = receiver.recv_timeout(Duration::from_secs(30));
    stop.store(true, Ordering::Relaxed);
    assert_eq!(deleted.unwrap().unwrap(), segments as u64);
}

/// Of documents that are replaced while a query searches, it finds the old ones or the new ones, wherever these are by then.
#[test]
fn a_delete_by_query_finds_documents_that_are_replaced_meanwhile() {
    const DOCS: u32 = 40;
    let docs = |size: i64| (0..DOCS).map(|doc| (doc, Some(size))).collect::<Vec<_>>();
    for round in 0..crate::cases(100, 20_000) {
        let disk = Arc::new(PowerLossDirectory::new("/disk"));
        let store = Store::create_in(disk, fixture::schema(), StoreOptions::default()).unwrap();
        fixture::apply(&store, &docs(1)).unwrap();
        if round % 2 == 0 {
            store.commit().unwrap();
        }
        std::thread::scope(|scope| {
            let deleted = scope.spawn(|| store.delete_where(&Query::range("size", 1..)).unwrap());
            scope.spawn(|| fixture::apply(&store, &docs(2)).unwrap());
            scope.spawn(|| {
                store.commit().unwrap();
                store.merge_to(1).unwrap();
            });
            assert_eq!(deleted.join().unwrap(), u64::from(DOCS));
        });
        store.refresh().unwrap();
        let left = store.snapshot().docs();
        assert!(left == 0 || left == u64::from(DOCS), "{left} of {DOCS}");
    }
}
