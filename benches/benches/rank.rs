//! Cost of presence, from a document to the index of its value, relative to a `Vec` with an index for each document.
//!
//! The bench compares densities, in bytes and time, and single lookups with batches. Read
//! `rank/<density>/<how>/<order>`; throughput is documents a second. The baseline `array` is a `Vec<u32>` with an
//! index or a marker for each document: the most bytes, and one load. `no_rank` finds the block by its jump table, and
//! counts without the rank table. The documents are the hits of a query at 1 % and 0.01 %, ascending, and a tenth of all in
//! random order.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::convert::Infallible;
use std::hint::black_box;

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use docvalues::DocId;
use docvalues::format::jump::JumpTables;
use docvalues::format::presence::{self, NO_VALUE, PresenceReader};
use docvalues::format::source::Owned;
use docvalues_benches::layouts::Tables;
use docvalues_benches::layouts::docvalues::PresenceWalk;
use docvalues_benches::{Bench, data};
use docvalues_testkit::rng::SplitMix64;

/// The documents with a value.
fn shapes(docs: u32) -> Vec<(&'static str, Vec<u64>)> {
    let bitset = |mut there: Box<dyn FnMut() -> bool>| {
        let mut words = vec![0; docs.div_ceil(64) as usize];
        (0..docs).for_each(|doc| words[doc as usize / 64] |= u64::from(there()) << (doc % 64));
        words
    };
    let scattered = |per_1000: u64| {
        let mut random = SplitMix64::new(per_1000);
        bitset(Box::new(move || random.chance(per_1000, 1000)))
    };
    let runs = || {
        let (mut random, mut there) = (SplitMix64::new(7), false);
        bitset(Box::new(move || {
            there ^= random.chance(1, 1000);
            there
        }))
    };
    vec![
        ("0.1%", scattered(1)),
        ("1%", scattered(10)),
        ("10%", scattered(100)),
        ("60%", scattered(600)),
        ("runs", runs()),
    ]
}

fn open(docs: u32, present: &[u64]) -> (usize, PresenceReader<Owned>) {
    let (encoded, mut bytes) = (presence::encode(docs, present, true), 0);
    let Ok(opened) = encoded.try_map(&mut |section, payload: Vec<u8>| {
        bytes += payload.len();
        Ok::<_, Infallible>(Owned::new(section, payload))
    });
    (bytes, PresenceReader::open(opened, docs, JumpTables::Baked).expect("just encoded"))
}

/// The index of the value of each document.
fn array(docs: u32, present: &[u64]) -> Vec<u32> {
    let mut values = 0..;
    let index = |doc: u32| match present[doc as usize / 64] >> (doc % 64) & 1 {
        1 => values.next().expect("few enough documents"),
        _ => NO_VALUE,
    };
    (0..docs).map(index).collect()
}

fn rank(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let random = data::random_docs(docs, docs as usize / 10);
    let orders = [("ascending", data::hits(docs, 100)), ("few", data::hits(docs, 1)), ("random", random)];
    for (density, present) in shapes(docs) {
        let (bytes, reader) = open(docs, &present);
        let array = array(docs, &present);
        let kinds = reader.block_kinds().expect("just encoded");
        println!(
            "rank/{density}: {} of {docs} documents, {bytes} bytes, {:.2} bits a document, \
             empty/full/list/sparse/dense/runs {kinds:?}",
            reader.values(),
            bytes as f64 * 8.0 / f64::from(docs),
        );
        let mut group = c.benchmark_group(format!("rank/{density}"));
        for (order, requested) in &orders {
            group.throughput(Throughput::Elements(requested.len() as u64));
            let mut out = vec![0; requested.len()];
            let expected: Vec<u32> = requested.iter().map(|doc| array[doc.get() as usize]).collect();

            let one_by_one = |out: &mut [u32]| {
                for (&doc, out) in requested.iter().zip(out) {
                    *out = reader.rank(doc).expect("good bytes").map_or(NO_VALUE, |index| index.get());
                }
            };
            one_by_one(&mut out);
            assert_eq!(out, expected);
            group.bench_function(BenchmarkId::new("rank", order), |b| {
                b.iter(|| one_by_one(black_box(&mut out)));
            });

            let no_rank = |out: &mut [u32]| {
                let mut walk = PresenceWalk::new(&reader, Tables { jumps: true, ranks: false });
                for (&doc, out) in requested.iter().zip(out) {
                    *out = walk.rank(doc).map_or(NO_VALUE, |index| index.get());
                }
            };
            no_rank(&mut out);
            assert_eq!(out, expected);
            group.bench_function(BenchmarkId::new("no_rank", order), |b| {
                b.iter(|| no_rank(black_box(&mut out)));
            });

            let batch = |out: &mut [u32]| reader.rank_many(requested, out).expect("good bytes");
            batch(&mut out);
            assert_eq!(out, expected);
            group.bench_function(BenchmarkId::new("rank_many", order), |b| {
                b.iter(|| batch(black_box(&mut out)));
            });

            let plain = |out: &mut [u32]| {
                requested
                    .iter()
                    .zip(out)
                    .for_each(|(doc, out): (&DocId, _)| *out = array[doc.get() as usize]);
            };
            group.bench_function(BenchmarkId::new("array", order), |b| b.iter(|| plain(black_box(&mut out))));
        }
        group.finish();
    }
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = rank }
criterion_main!(benches);
