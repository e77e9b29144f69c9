//! What a look-up across segments costs, in CPU time of one thread:
//!
//! ```sh
//! cargo run --release -p docvalues-terms --example lookup                # three shapes
//! cargo run --release -p docvalues-terms --example lookup 400 2500       # segments, ids of each
//! ```
#![allow(clippy::unwrap_used, reason = "a tool that is run by hand")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use docvalues_format::error::Error;
use docvalues_format::id::DocId;
use docvalues_format::source::Owned;
use docvalues_terms::build::{IdOptions, IdsBuilder};
use docvalues_terms::lookup::{Hit, IdLookup, IdStore, Upkeep};
use docvalues_terms::read::IdsReader;

const QUERIES: u32 = 200_000;
const PASSES: usize = 5;
const BULK: usize = 20;

type Reader = IdsReader<Owned>;

/// A segment of the ids, whose documents come in the order of the ids as they were given.
fn segment(ids: impl Iterator<Item = String>) -> Reader {
    let mut ids: Vec<(String, DocId)> = ids.zip(0..).map(|(id, doc)| (id, DocId::new(doc))).collect();
    ids.sort_unstable();
    let made =
        IdsBuilder::new(IdOptions::default()).build(&ids[..], u32::try_from(ids.len()).unwrap()).unwrap();
    IdsReader::open(made.try_map::<_, Error>(&mut |section, bytes| Ok(Owned::new(section, bytes))).unwrap())
        .unwrap()
}

/// UUID number `number` of an endless stream: SplitMix64, twice.
fn uuid(number: u64) -> String {
    let mix = |number: u64| {
        let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let hex = format!("{:016x}{:016x}", mix(2 * number), mix(2 * number + 1));
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

fn now() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.try_into().unwrap(), now.tv_nsec.try_into().unwrap())
}

/// The median of some passes, for one of `QUERIES`.
fn each_of(queries: usize, mut pass: impl FnMut()) -> f64 {
    let mut times: Vec<Duration> = (0..PASSES)
        .map(|_| {
            let start = now();
            pass();
            now() - start
        })
        .collect();
    times.sort_unstable();
    nanos(times[PASSES / 2], queries)
}

#[allow(clippy::cast_precision_loss, reason = "for people to read")]
fn nanos(time: Duration, of: usize) -> f64 {
    time.as_nanos() as f64 / of as f64
}

/// Singles and bulks, in nanoseconds a document.
fn measure(lookup: &IdLookup<Reader>, ids: &[String], found: usize) -> [f64; 2] {
    let ids: Vec<&[u8]> = ids.iter().map(|id| id.as_bytes()).collect();
    let mut seeker = lookup.seeker();
    let single = each_of(ids.len(), || {
        let hits = ids.iter().filter(|id| black_box(seeker.find(id).unwrap()).is_some()).count();
        assert_eq!(hits, found);
    });
    let mut out: Vec<Option<Hit>> = Vec::new();
    let bulk = each_of(ids.len(), || {
        let mut hits = 0;
        for ids in ids.chunks(BULK) {
            seeker.find_many(ids, &mut out).unwrap();
            hits += out.iter().flatten().count();
        }
        assert_eq!(hits, found);
    });
    [single, bulk]
}

/// Adds segment by segment, as flushes do. Prints what an id costs, and the longest of the changes.
fn grow(segments: &[Arc<Reader>], ids: usize) {
    let store = IdStore::with_seed(1);
    let (mut all, mut worst, mut most) = (Duration::ZERO, Duration::ZERO, 0);
    for segment in segments {
        let start = now();
        store.add(Arc::clone(segment)).unwrap();
        let took = now() - start;
        (all, worst) = (all + took, worst.max(took));
        most = most.max(
            store.snapshot().tag_bytes() * 100
                / (store.snapshot().segments().count() * segment.len() as usize),
        );
    }
    println!(
        "  added one by one: {:.0} ns an id, the longest {worst:.0?} for {} ids; at most {}.{:02} B an id of table",
        nanos(all, ids),
        segments[0].len(),
        most / 100,
        most % 100,
    );
    // A sixteenth of the segments is left: the table is laid anew, and they move.
    let lookup = store.snapshot();
    let names: Vec<_> = lookup.segments().map(|(name, _)| name).skip(lookup.len().div_ceil(16)).collect();
    let start = now();
    store.remove(&names).unwrap();
    let removed = now() - start;
    let (before, mut longest, mut calls) = (store.snapshot().tag_bytes(), Duration::ZERO, 0);
    loop {
        let start = now();
        let left = store.maintain(4_096).unwrap();
        longest = longest.max(now() - start);
        calls += 1;
        if left == Upkeep::Done {
            break;
        }
    }
    let after = store.snapshot().tag_bytes();
    println!(
        "  {} segments removed: {removed:.0?}; table {before} -> {after} bytes: {calls} x 4,096 steps, at most {longest:.0?}",
        names.len(),
    );
}

fn run(count: u64, each: u64) {
    println!("{count} segments x {each} UUIDs");
    let segments = (0..count).map(|i| segment((i * each..(i + 1) * each).map(uuid)));
    let segments: Vec<Arc<Reader>> = segments.map(Arc::new).collect();
    let ids = usize::try_from(count * each).unwrap();
    let absent: Vec<String> = (0..QUERIES).map(|i| uuid(count * each + u64::from(i))).collect();
    let present: Vec<String> = (0..u64::from(QUERIES))
        .map(|i| uuid(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (count * each)))
        .collect();

    let files = IdLookup::new(segments.iter().cloned());
    let store = IdStore::with_seed(1);
    let start = now();
    store.add_all(&segments).unwrap();
    let filled = nanos(now() - start, ids);
    let table = store.snapshot();
    println!("  table: {:.2} B an id, filled in {filled:.0} ns an id", {
        #[allow(clippy::cast_precision_loss, reason = "for people to read")]
        let bytes = table.tag_bytes() as f64 / ids as f64;
        bytes
    });
    for (name, lookup, queries) in [("files", &files, 20_000), ("table", &table, QUERIES as usize)] {
        for (what, ids, found) in [("absent", &absent, 0), ("present", &present, queries)] {
            let [single, bulk] = measure(lookup, &ids[..queries], found);
            println!("  {name}, {what:>7}: {single:8.1} ns, in bulks of {BULK} {bulk:8.1} ns");
        }
    }
    grow(&segments, ids);
}

fn main() {
    let numbers: Vec<u64> = std::env::args().skip(1).map(|number| number.parse().unwrap()).collect();
    match numbers[..] {
        [count, each] => run(count, each),
        _ => {
            [(13, 77_000), (400, 2_500), (400, 25_000)].into_iter().for_each(|(count, each)| run(count, each))
        }
    }
}
