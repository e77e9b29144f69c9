//! Cost of finding the document of an id in many segments, by FST, trie and others, relative to one another.
//!
//! [`docvalues_benches::id_structures`] has the names, and the question that each answers. Two more are measured here:
//!
//! | name | structure | question |
//! | --- | --- | --- |
//! | `ours-fst-text`, `ours-trie-text`, `ours-blocks-text` | dictionaries over ids that are not packed, in memory, one segment after the other | which share is packing and interleaving; is the FST as good as the crate's? |
//! | `std-hash-map` | a `HashMap` for each segment | what does order cost? |
//!
//! Read `ids/<kind>-<segments>x<ids>/<absent or present>/<structure>`; throughput is ids a second. Look-ups come in bulks
//! of 20. They take a million distinct ids in turn: absent ones are the next of the sequence, present ones are in random
//! order. The last lines are ratios of median times.
#![expect(
    clippy::cast_possible_truncation,
    clippy::expect_used,
    reason = "a bench may panic, and its numbers are small"
)]

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::time::Duration;

use criterion::Throughput;
use criterion::measurement::Measurement;
use docvalues::format::error::Section;
use docvalues::format::source::Owned;
use docvalues::terms::Dictionary;
use docvalues::terms::exact_trie::{ExactTrie, TrieBuilder};
use docvalues::terms::fst::{Fst, FstBuilder};
use docvalues::terms::id_blocks::{BlocksBuilder, BlocksReader};
use docvalues_benches::id_structures::{Place, Shape, Structure};
use docvalues_benches::ids::{IdKind, LookupIds};
use docvalues_benches::{Bench, ThreadTime, criterion, docs};

/// Ids to look up in turn, distinct if the segments have that many.
const LOOKUPS: usize = 1_000_000;

/// Ids of an iteration, in bulks. The next iteration looks up the next ones.
const WINDOW: usize = 200;
const BULK: usize = 20;

/// Finds the places of a bulk of ids.
type Find<'a> = &'a mut dyn FnMut(&[&[u8]], &mut Vec<Option<Place>>);

/// Finds the rank of an id among the sorted ids of a segment.
type Rank = Box<dyn Fn(&[u8]) -> Option<u32>>;

/// Builds a dictionary from sorted ids.
type Make = fn(&[Vec<u8>]) -> Rank;

/// Nanoseconds an id by shape, workload and structure.
type Times = BTreeMap<(String, &'static str, &'static str), Vec<f64>>;

fn main() {
    let mut criterion = criterion().configure_from_args();
    let mut times = Times::new();
    for (kind, segments) in [(IdKind::Uuid, 400), (IdKind::Uuid, 13), (IdKind::Seq, 400)] {
        compare(&mut criterion, Shape { kind, segments, each: docs() / segments }, &mut times);
    }
    criterion.final_summary();
    for (structure, other) in
        [("ours-fst", "ours-trie"), ("ours-blocks", "ours-trie"), ("crate-fst", "ours-fst-text")]
    {
        print_ratios(&times, structure, other);
    }
}

/// Measures all structures in one shape.
fn compare(criterion: &mut Bench, shape: Shape, times: &mut Times) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let requested = [
        ("absent", LookupIds::absent(shape.kind, shape.ids(), LOOKUPS)),
        ("present", LookupIds::present(shape.kind, shape.ids(), LOOKUPS)),
    ];
    let mut measure = |name, find: Find<'_>| {
        requested
            .iter()
            .for_each(|&(work, ref ids)| look_up(criterion, shape, (work, name), ids, find, times));
    };
    for structure in Structure::ALL {
        structure.build(folder.path(), shape).expect("a disk with room");
        let opened = structure.open(folder.path(), shape, true).expect("just built");
        let mut finder = opened.finder();
        measure(structure.name(), &mut |ids, found| finder.find(ids, found));
    }
    let segments: Vec<Vec<(Vec<u8>, u32)>> =
        (0..shape.segments).map(|segment| sorted(shape, segment)).collect();
    for (name, make) in dictionaries() {
        let dictionaries: Vec<(Rank, Vec<u32>)> = segments
            .iter()
            .map(|ids| {
                let (ids, docs): (Vec<Vec<u8>>, _) = ids.iter().cloned().unzip();
                (make(&ids), docs)
            })
            .collect();
        measure(name, &mut |ids, found| {
            found.clear();
            found.extend(ids.iter().map(|id| {
                (0..shape.segments).zip(&dictionaries).rev().find_map(|(segment, (rank, docs))| {
                    Some(Place { segment, doc: docs[rank(id)? as usize] })
                })
            }));
        });
    }
}

/// The ids of a segment with their documents.
fn sorted(shape: Shape, segment: u32) -> Vec<(Vec<u8>, u32)> {
    let ids = (segment * shape.each..).zip(0..shape.each);
    let mut ids: Vec<_> = ids.map(|(i, doc)| (shape.kind.id(i).into_bytes(), doc)).collect();
    ids.sort_unstable();
    ids
}

/// Dictionaries in memory.
fn dictionaries() -> [(&'static str, Make); 4] {
    [
        ("ours-fst-text", |ids| {
            let mut builder = FstBuilder::new(FstBuilder::REGISTRY);
            ids.iter().for_each(|id| builder.push(id).expect("sorted"));
            let bytes = Owned::new(Section::Ids, builder.finish());
            let fst = Fst::open(bytes, ids.len() as u32).expect("just made");
            Box::new(move |id| fst.find(id).expect("undamaged"))
        }),
        ("ours-trie-text", |ids| {
            let mut builder = TrieBuilder::new();
            ids.iter().for_each(|id| builder.push(id).expect("sorted"));
            let bytes = Owned::new(Section::Ids, builder.finish());
            let trie = ExactTrie::open(bytes, ids.len() as u32).expect("just made");
            Box::new(move |id| trie.find(id).expect("undamaged"))
        }),
        ("ours-blocks-text", |ids| {
            let mut builder = BlocksBuilder::default();
            assert!(ids.iter().all(|id| builder.push(id)));
            let Ok(blocks) = builder
                .finish()
                .expect("ids")
                .try_map(&mut |role, bytes| Ok::<_, Infallible>(Owned::new(role, bytes)));
            let blocks = BlocksReader::open(blocks, ids.len() as u32).expect("just made");
            Box::new(move |id| blocks.find(id).expect("undamaged"))
        }),
        ("std-hash-map", |ids| {
            let map: HashMap<Vec<u8>, u32> = ids.iter().cloned().zip(0..).collect();
            Box::new(move |id| map.get(id).copied())
        }),
    ]
}

/// Measures a structure.
fn look_up(
    criterion: &mut Bench,
    shape: Shape,
    (work, name): (&'static str, &'static str),
    ids: &LookupIds,
    find: Find<'_>,
    times: &mut Times,
) {
    let (mut windows, is_present) = (ids.windows(WINDOW).cycle(), work == "present");
    let (mut bulk, mut found) = (Vec::new(), Vec::new());
    let taken = times.entry((shape.to_string(), work, name)).or_default();
    let mut group = criterion.benchmark_group(format!("ids/{shape}/{work}"));
    group.throughput(Throughput::Elements(WINDOW as u64));
    group.bench_function(name, |b| {
        b.iter_custom(|iterations| {
            let start = ThreadTime.start();
            for _ in 0..iterations {
                for ids in windows.next().expect("they begin again").bulks(BULK) {
                    bulk.clear();
                    bulk.extend(ids.ids());
                    find(&bulk, &mut found);
                    assert!(found.iter().all(|place| place.is_some() == is_present), "other ids than built");
                }
            }
            let took: Duration = ThreadTime.end(start);
            taken.push(took.as_nanos() as f64 / (iterations * WINDOW as u64) as f64);
            took
        });
    });
}

/// Prints the ratio of the medians of two structures in each shape, if both were measured, not only run once.
fn print_ratios(times: &Times, structure: &'static str, other: &'static str) {
    let median = |shape: &String, work, name| {
        let mut taken = times.get(&(shape.clone(), work, name)).filter(|taken| taken.len() >= 10)?.clone();
        taken.sort_by(f64::total_cmp);
        Some(taken[taken.len() / 2])
    };
    for (shape, work, _) in times.keys().filter(|key| key.2 == structure) {
        if let (Some(one), Some(two)) = (median(shape, work, structure), median(shape, work, other)) {
            println!("ids: {structure} / {other}, {shape}, {work}: {:.2}", one / two);
        }
    }
}
