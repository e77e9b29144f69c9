//! Eight readers beside a writer that commits each ten milliseconds, for two seconds, or in the full sweep for an hour.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use docvalues_reader::OpenOptions;
use docvalues_store::{MergePolicy, Snapshot, Store, StoreOptions, StoreReader};

use crate::cases;
use crate::fixture::{Stop, add, id, schema};

/// Documents of a segment.
const EACH: u32 = 500;

/// Segments after which the oldest documents are replaced.
const ROUND: u32 = 40;

/// The memory and the open files of this process.
#[derive(Clone, Copy, Debug)]
struct Usage {
    /// Bytes of memory, without mapped files.
    memory: u64,
    handles: u64,
}

impl Usage {
    /// `None` where `/proc` is not there.
    fn now() -> Option<Usage> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
        let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
        let handles = std::fs::read_dir("/proc/self/fd").ok()?.count() as u64;
        Some(Usage { memory: kib << 10, handles })
    }
}

/// Checks that each document has the size of its segment's round, and returns the number of values.
fn check(snapshot: &Snapshot) -> u64 {
    let mut checked = 0;
    for part in snapshot.segments() {
        let sizes = part.segment.numeric("size").unwrap();
        let scanned = sizes.scan(0..part.segment.docs(), |docs, values| {
            for (doc, value) in docs.iter().zip(values).filter(|(doc, _)| part.live.contains(*doc)) {
                assert_eq!(value % 1_000, 7, "{doc}");
                checked += 1;
            }
            std::ops::ControlFlow::Continue(())
        });
        scanned.unwrap();
    }
    assert_eq!(checked, snapshot.docs(), "a commit is whole");
    assert_eq!(checked % u64::from(EACH), 0, "a commit is whole");
    checked
}

fn write(store: &Store, end: Instant) -> u32 {
    let policy = MergePolicy::new().segments_per_tier(4).floor_bytes(1 << 14);
    let mut round = 0;
    while Instant::now() < end {
        let start = Instant::now();
        let first = round % ROUND * EACH;
        let docs: Vec<(u32, i64)> =
            (first..first + EACH).map(|doc| (doc, i64::from(round) * 1_000 + 7)).collect();
        add(store, &docs).unwrap();
        if round % 16 == 15 {
            // A whole segment's documents, so that their number stays a multiple.
            let gone = (round + 1) % ROUND * EACH;
            store.delete_ids((gone..gone + EACH).map(id)).unwrap();
        }
        store.commit().unwrap();
        if round % 8 == 7 {
            store.merge(&policy).unwrap();
            store.commit().unwrap();
        }
        round += 1;
        std::thread::sleep(Duration::from_millis(10).saturating_sub(start.elapsed()));
    }
    round
}

fn read_other_process(folder: &Path, stop: &AtomicBool, checked: &AtomicU64) {
    let mut reader = StoreReader::open(folder, OpenOptions::new()).unwrap();
    while !stop.load(Ordering::Relaxed) {
        reader.reopen().unwrap();
        checked.fetch_add(check(&reader.snapshot()), Ordering::Relaxed);
    }
}

#[test]
fn eight_readers_beside_a_writer() {
    let seconds = cases(2, 3_600);
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(), StoreOptions::default()).unwrap();
    let (stop, checked) = (AtomicBool::new(false), AtomicU64::new(0));
    let start = Instant::now();
    let usage = std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    checked.fetch_add(check(&store.snapshot()), Ordering::Relaxed);
                }
            });
            scope.spawn(|| read_other_process(folder.path(), &stop, &checked));
        }
        let _stop = Stop(&stop);
        let quarter = |n: u32| start + Duration::from_secs(seconds) * n / 4;
        let mut usage = Vec::new();
        let mut rounds = 0;
        for part in 1..=4 {
            rounds += write(&store, quarter(part));
            usage.push(Usage::now());
        }
        println!("{rounds} rounds in {seconds} s");
        usage
    });
    println!("{} values checked; {usage:?}", checked.into_inner());
    if let (Some(Some(first)), Some(Some(last)), true) = (usage.get(1), usage.last(), seconds > 1_000) {
        // Of so little memory, 5 % are less than what the allocator holds back.
        assert!(last.memory <= first.memory + first.memory / 20 + (2 << 20), "{usage:?}");
        assert!(last.handles <= first.handles + 4, "{usage:?}");
    }
}
