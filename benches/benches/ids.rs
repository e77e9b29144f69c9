//! Cost of finding the document of an id, in one segment and in many.
//!
//! First the dictionaries, over ids as they are and packed: blocks under a trie, a trie with all bytes, an FST, the
//! crate `fst` and a hash map, searched segment by segment, as in Lucene. Then filters and the fingerprint table; and
//! `bare`, a lower bound for 400 filters and one table: loads and compares without checks. Read
//! `ids/<kind>/<segments>/<ids>/<how>/<workload>`; throughput is ids a second.
#![expect(
    clippy::cast_possible_truncation,
    clippy::expect_used,
    reason = "a bench may panic, and its numbers are small"
)]

use std::collections::HashMap;
use std::convert::Infallible;
use std::hint::black_box;
use std::sync::Arc;

use criterion::{Throughput, criterion_group, criterion_main};
use docvalues::format::error::Section;
use docvalues::format::source::Owned;
use docvalues::terms::Dictionary;
use docvalues::terms::build::{IdOptions, IdsBuilder};
use docvalues::terms::exact_trie::{ExactTrie, TrieBuilder};
use docvalues::terms::fst::{Fst, FstBuilder};
use docvalues::terms::id_blocks::{BlocksBuilder, BlocksReader};
use docvalues::terms::lookup::{IdLookup, IdStore};
use docvalues::terms::packing::{Packed, Template};
use docvalues::terms::read::IdsReader;
use docvalues::{DocId, IdForm};
use docvalues_benches::ids::{IdKind, LookupIds, Window, random};
use docvalues_benches::{Bench, criterion, docs};

/// Numbers of segments. All have the same total of ids.
const SEGMENTS: [u32; 3] = [1, 13, 400];

/// Number of ids to look up in turn, distinct if the segments have that many.
const LOOKUPS: usize = 1_000_000;

/// Ids of an iteration. The next iteration looks up the next ones.
const WINDOW: usize = 2_000;

type Find = Box<dyn Fn(&[u8]) -> Option<u32>>;

/// Builds a dictionary from sorted ids.
type Make = fn(&[Vec<u8>]) -> Find;

/// The ids of some segments, sorted.
struct Shape {
    kind: IdKind,
    segments: Vec<Vec<Vec<u8>>>,
}

impl Shape {
    fn new(kind: IdKind, segments: u32) -> Shape {
        let each = docs() / segments;
        let segment = |segment| {
            let ids = segment * each..(segment + 1) * each;
            let mut ids: Vec<Vec<u8>> = ids.map(|i| kind.id(i).into_bytes()).collect();
            ids.sort_unstable();
            ids
        };
        Shape { kind, segments: (0..segments).map(segment).collect() }
    }

    fn ids(&self) -> u32 {
        self.segments.iter().map(|ids| ids.len() as u32).sum()
    }

    /// Present and absent ids.
    fn requested(&self) -> [(&'static str, LookupIds); 2] {
        let (kind, all) = (self.kind, self.ids());
        [
            ("present", LookupIds::present(kind, all, LOOKUPS)),
            ("absent", LookupIds::absent(kind, all, LOOKUPS)),
        ]
    }

    /// The same segments with packed ids.
    fn packed(&self) -> Shape {
        let all: Vec<&[u8]> = self.segments.iter().flatten().map(Vec::as_slice).collect();
        let template = Template::of(&all);
        let pack = |id: &Vec<u8>| template.pack(id, &mut Packed::default()).expect("it is of them").to_vec();
        let segments = self.segments.iter().map(|ids| ids.iter().map(pack).collect()).collect();
        Shape { kind: self.kind, segments }
    }
}

fn owned(bytes: Vec<u8>) -> Owned {
    Owned::new(Section::Ids, bytes)
}

/// The forms of a dictionary with their builders.
fn forms() -> [(&'static str, Make); 5] {
    [
        ("blocks", |ids| {
            let mut builder = BlocksBuilder::default();
            assert!(ids.iter().all(|id| builder.push(id)));
            let Ok(blocks) = builder
                .finish()
                .expect("ids")
                .try_map(&mut |role, bytes| Ok::<_, Infallible>(Owned::new(role, bytes)));
            let blocks = BlocksReader::open(blocks, ids.len() as u32).expect("just made");
            Box::new(move |id| blocks.find(id).expect("undamaged"))
        }),
        ("trie", |ids| {
            let mut builder = TrieBuilder::new();
            ids.iter().for_each(|id| builder.push(id).expect("sorted"));
            let trie = ExactTrie::open(owned(builder.finish()), ids.len() as u32).expect("just made");
            Box::new(move |id| trie.find(id).expect("undamaged"))
        }),
        ("automaton", |ids| {
            let mut builder = FstBuilder::new(FstBuilder::REGISTRY);
            ids.iter().for_each(|id| builder.push(id).expect("sorted"));
            let fst = Fst::open(owned(builder.finish()), ids.len() as u32).expect("just made");
            Box::new(move |id| fst.find(id).expect("undamaged"))
        }),
        ("fst", |ids| {
            let mut builder = fst::MapBuilder::memory();
            (0..).zip(ids).for_each(|(rank, id)| builder.insert(id, rank).expect("sorted"));
            let map = builder.into_map();
            Box::new(move |id| map.get(id).map(|rank| rank as u32))
        }),
        ("hash_map", |ids| {
            let map: HashMap<Vec<u8>, u32> = ids.iter().cloned().zip(0..).collect();
            Box::new(move |id| map.get(id).copied())
        }),
    ]
}

/// Dictionaries alone, newest first.
fn dictionaries(c: &mut Bench) {
    for (kind, segments) in IdKind::ALL.into_iter().flat_map(|kind| SEGMENTS.map(|segments| (kind, segments)))
    {
        let shape = Shape::new(kind, segments);
        for (look, shape) in [("text", &shape), ("packed", &shape.packed())] {
            let mut group = c.benchmark_group(format!("ids/{kind}/{segments}/{look}"));
            let requested = shape.requested();
            let template = Template::of(&shape_of_text(kind));
            for (name, make) in forms() {
                let found: Vec<Find> = shape.segments.iter().rev().map(|ids| make(ids)).collect();
                for (work, requested) in &requested {
                    let packed = (look == "packed").then(|| pack_all(&template, requested));
                    let mut windows = packed.as_ref().unwrap_or(requested).windows(WINDOW).cycle();
                    let expected = if *work == "present" { WINDOW } else { 0 };
                    group.throughput(Throughput::Elements(WINDOW as u64));
                    group.bench_function(format!("{name}/{work}"), |b| {
                        b.iter(|| {
                            let is_there =
                                |id: &&[u8]| found.iter().any(|find| find(black_box(id)).is_some());
                            let window = windows.next().expect("they begin again");
                            assert_eq!(window.ids().filter(is_there).count(), expected);
                        });
                    });
                }
            }
        }
    }
}

/// Some ids of a kind, far apart, to find their template.
fn shape_of_text(kind: IdKind) -> Vec<Vec<u8>> {
    (0..docs() * 2).step_by(997).map(|i| kind.id(i).into_bytes()).collect()
}

fn pack_all(template: &Template, requested: &LookupIds) -> LookupIds {
    let ids = requested.windows(WINDOW).flat_map(Window::ids);
    LookupIds::new(
        ids.map(|id| template.pack(id, &mut Packed::default()).expect("it is like the others").to_vec()),
    )
}

/// The indexes of the segments, newest first.
fn indexes(shape: &Shape, options: IdOptions) -> Vec<Arc<IdsReader<Owned>>> {
    let segments = shape.segments.iter().rev().map(|ids| {
        let ids: Vec<(&[u8], DocId)> = ids.iter().map(Vec::as_slice).zip((0..).map(DocId::new)).collect();
        let made = IdsBuilder::new(options).build(&ids[..], ids.len() as u32).expect("sorted");
        let Ok(made) = made.try_map(&mut |role, bytes| Ok::<_, Infallible>(Owned::new(role, bytes)));
        Arc::new(IdsReader::open(made).expect("just made"))
    });
    segments.collect()
}

/// Lookups across segments: without filters, with filters, with the fingerprint table, one by one and in bulks.
fn segments(c: &mut Bench) {
    for (kind, segments) in
        IdKind::ALL.into_iter().flat_map(|kind| [13, 400].map(|segments| (kind, segments)))
    {
        let shape = Shape::new(kind, segments);
        let mut group = c.benchmark_group(format!("ids/{kind}/{segments}/lookup"));
        let filtered = indexes(&shape, IdOptions::default());
        let store = IdStore::with_seed(1);
        store.add_all(&filtered).expect("few segments");
        let bare = |form| indexes(&shape, IdOptions { form, filter_bits: 0, ..IdOptions::default() });
        let files = Arc::new(IdLookup::new(filtered.iter().cloned()));
        let in_memory = IdLookup::new(filtered.iter().cloned()).with_filters_in_memory();
        let in_memory = Arc::new(in_memory.expect("undamaged"));
        let mut ways = vec![
            ("files".to_owned(), files),
            ("filters in memory".to_owned(), in_memory),
            ("table".to_owned(), store.snapshot()),
        ];
        ways.extend(
            IdForm::ALL
                .map(|form| (format!("no filter, {}", form.name()), Arc::new(IdLookup::new(bare(form))))),
        );
        for (work, requested) in shape.requested() {
            let expected = if work == "present" { WINDOW } else { 0 };
            group.throughput(Throughput::Elements(WINDOW as u64));
            for (name, lookup) in &ways {
                let (mut seeker, mut windows) = (lookup.seeker(), requested.windows(WINDOW).cycle());
                let mut next = || windows.next().expect("they begin again");
                group.bench_function(format!("{name}/{work}"), |b| {
                    b.iter(|| {
                        let is_there = |id: &&[u8]| seeker.find(id).expect("undamaged").is_some();
                        assert_eq!(next().ids().filter(is_there).count(), expected);
                    });
                });
                let (mut bulk, mut hits) = (Vec::new(), Vec::new());
                group.bench_function(format!("{name}, bulks of 20/{work}"), |b| {
                    b.iter(|| {
                        let found = next().bulks(20).map(|ids| {
                            bulk.clear();
                            bulk.extend(ids.ids());
                            seeker.find_many(&bulk, &mut hits).expect("undamaged");
                            hits.iter().flatten().count()
                        });
                        assert_eq!(found.sum::<usize>(), expected);
                    });
                });
            }
        }
    }
    limits(c);
}

/// A lower bound for 400 filters of 40,000 bits and one table: a load and a compare, without checks.
fn limits(c: &mut Bench) {
    let mut group = c.benchmark_group("ids/uuid/400/bare");
    let segments = SEGMENTS[2];
    let lines = (docs() / segments * 16).div_ceil(512) as usize;
    let filters: Vec<Vec<[u64; 8]>> = (0..segments).map(|i| vec![[u64::from(i); 8]; lines]).collect();
    let buckets = vec![[0_u32; 16]; docs() as usize / 12];
    let hashes: Vec<u64> =
        random(u32::MAX, LOOKUPS).map(|i| u64::from(i).wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    let mut windows = hashes.chunks(WINDOW).cycle();
    let mut next = || windows.next().expect("they begin again");
    group.throughput(Throughput::Elements(WINDOW as u64));
    group.bench_function("filters", |b| {
        b.iter(|| {
            let mut hits = 0;
            for &hash in next() {
                let bits: [u64; 8] = std::array::from_fn(|i| 1 << (hash >> (6 * i) & 63));
                for filter in &filters {
                    let line = ((u128::from(hash) * filter.len() as u128) >> 64) as usize;
                    let missing = (0..8).fold(0, |missing, i| missing | bits[i] & !filter[line][i]);
                    hits += usize::from(missing == 0);
                }
            }
            black_box(hits)
        });
    });
    group.bench_function("table", |b| {
        b.iter(|| {
            let mut hits = 0;
            for &hash in next() {
                let bucket = &buckets[((u128::from(hash) * buckets.len() as u128) >> 64) as usize];
                let tag = hash as u32 & 0xFFFF | 1;
                hits += bucket.iter().filter(|&&entry| entry >> 16 == tag).count();
            }
            black_box(hits)
        });
    });
}

criterion_group! {
    name = ids;
    config = criterion();
    targets = dictionaries, segments
}
criterion_main!(ids);
