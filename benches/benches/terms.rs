//! Cost of a dictionary, from ords to terms and from terms to ords, relative to a `Vec<Vec<u8>>` and binary search.
//!
//! `terms-QUESTION/CONTENDER/TERMS`: the hosts of the documents (22 bytes, long common prefixes) and 64-digit hexadecimal
//! ids (no common prefixes). `term` finds the terms of random ords, one by one or by a `gather`, `hit` and `miss` the ords
//! of terms, `prefix` a range; `each` walks over all terms. Throughput is terms a second.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::convert::Infallible;
use std::hint::black_box;
use std::ops::{ControlFlow, Range};

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use docvalues::TermOrd;
use docvalues::format::dictionary::{self, DictionaryReader};
use docvalues::format::jump::JumpTables;
use docvalues::format::source::Owned;
use docvalues::format::strings::successor;
use docvalues_benches::{Bench, data};
use docvalues_testkit::rng::SplitMix64;

/// Terms of one iteration: too many for the branch predictor to learn.
const LOOKUPS: usize = 10_000;

fn open(terms: &[Vec<u8>]) -> (usize, DictionaryReader<Owned>) {
    let encoded = dictionary::encode(terms.iter().map(Vec::as_slice), true).expect("ascending");
    let mut bytes = 0;
    let Ok(opened) = encoded.try_map(&mut |section, payload: Vec<u8>| {
        bytes += payload.len();
        Ok::<_, Infallible>(Owned::new(section, payload))
    });
    (bytes, DictionaryReader::open(opened, JumpTables::Baked).expect("just encoded"))
}

fn hosts() -> Vec<Vec<u8>> {
    let mut ids = data::host_ids(docvalues_benches::docs());
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter().map(|id| data::host_name(id).into_bytes()).collect()
}

fn ids() -> Vec<Vec<u8>> {
    let mut random = SplitMix64::new(64);
    let mut id = |_| (0..4).map(|_| format!("{:016x}", random.next_u64())).collect::<String>().into_bytes();
    let mut ids: Vec<_> = (0..docvalues_benches::docs() / 10).map(&mut id).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn random_ords(count: u32) -> Vec<TermOrd> {
    let mut random = SplitMix64::new(1);
    (0..LOOKUPS).map(|_| TermOrd::new(random.below_u32(count))).collect()
}

/// The ords of the terms that begin with `prefix`.
fn with_prefix(reader: &DictionaryReader<Owned>, prefix: &[u8]) -> Range<u32> {
    let ceil = |term: &[u8]| reader.seek_ceil(term).expect("good bytes").get();
    ceil(prefix)..successor(prefix).map_or(reader.len(), |next| ceil(&next))
}

/// The baseline for a prefix: two binary searches.
fn prefixed(terms: &[Vec<u8>], prefix: &[u8]) -> Range<usize> {
    let start = terms.partition_point(|term| term.as_slice() < prefix);
    start..start + terms[start..].partition_point(|term| term.starts_with(prefix))
}

fn terms(c: &mut Bench) {
    for (name, terms) in [("hosts", hosts()), ("ids", ids())] {
        let (bytes, reader) = open(&terms);
        let (own, heap) = (terms.iter().map(Vec::len).sum::<usize>(), terms.len() * size_of::<Vec<u8>>());
        println!(
            "terms/{name}: {} terms of {own} bytes; {bytes} bytes encoded, at least {} in vectors",
            terms.len(),
            own + heap
        );
        to_terms(c, name, &terms, &reader);
        to_ords(c, name, &terms, &reader);
    }
}

/// Ord to term.
fn to_terms(c: &mut Bench, name: &str, terms: &[Vec<u8>], reader: &DictionaryReader<Owned>) {
    let mut group = c.benchmark_group("terms-term");
    let mut term = Vec::new();
    let ords = random_ords(reader.len());
    for &ord in &ords {
        reader.term(ord, &mut term).expect("an ord");
        assert_eq!(term, terms[ord.get() as usize]);
    }
    group.throughput(Throughput::Elements(LOOKUPS as u64));
    group.bench_function(BenchmarkId::new("dictionary", name), |b| {
        b.iter(|| {
            for &ord in &ords {
                reader.term(ord, black_box(&mut term)).expect("an ord");
            }
        });
    });
    let mut gather = reader.gather();
    group.bench_function(BenchmarkId::new("gather", name), |b| {
        let mut bytes = Vec::new();
        b.iter(|| {
            for ords in ords.chunks(dictionary::BATCH) {
                bytes.clear();
                gather.locate(ords).expect("ords");
                gather.append_to(black_box(&mut bytes)).expect("good bytes");
            }
        });
    });
    group.bench_function(BenchmarkId::new("vec", name), |b| {
        b.iter(|| {
            for &ord in &ords {
                terms[ord.get() as usize].clone_into(black_box(&mut term));
            }
        });
    });
    let walk = || {
        let mut total = 0;
        let walked = reader.for_each(0..reader.len(), |_, term| {
            total += black_box(term).len();
            ControlFlow::Continue(())
        });
        walked.expect("good bytes");
        total
    };
    assert_eq!(walk(), terms.iter().map(Vec::len).sum::<usize>());
    group.finish();
    let mut group = c.benchmark_group("terms-each");
    group.throughput(Throughput::Elements(reader.len().into()));
    group.bench_function(BenchmarkId::new("dictionary", name), |b| b.iter(walk));
    group.bench_function(BenchmarkId::new("vec", name), |b| {
        b.iter(|| terms.iter().map(|term| black_box(term.as_slice()).len()).sum::<usize>());
    });
    group.finish();
}

/// Term to ord.
fn to_ords(c: &mut Bench, name: &str, terms: &[Vec<u8>], reader: &DictionaryReader<Owned>) {
    let ords = random_ords(reader.len());
    let hits: Vec<Vec<u8>> = ords.iter().map(|ord| terms[ord.get() as usize].clone()).collect();
    let misses = hits.iter().map(|term| [term.as_slice(), b"x"].concat()).collect();
    for (question, requested) in [("terms-hit", &hits), ("terms-miss", &misses)] {
        for term in requested {
            let expected = terms.binary_search(term).ok();
            let ord = reader.seek_exact(term).expect("good bytes");
            assert_eq!(ord.map(|ord| ord.get() as usize), expected);
            assert_eq!(ord.is_some(), question == "terms-hit");
        }
        let dictionary = |term: &[u8]| reader.seek_exact(term).expect("good bytes");
        let mut group = c.benchmark_group(question);
        group.throughput(Throughput::Elements(LOOKUPS as u64));
        group.bench_function(BenchmarkId::new("dictionary", name), |b| {
            b.iter(|| requested.iter().filter(|term| dictionary(term).is_some()).count());
        });
        group.bench_function(BenchmarkId::new("vec", name), |b| {
            b.iter(|| requested.iter().filter(|term| terms.binary_search(term).is_ok()).count());
        });
        group.finish();
    }
    // A tenth of the hosts share 5 bytes, and so on; of the ids 8 digits are unique.
    let prefixes: Vec<&[u8]> = hits.iter().map(|term| &term[..8]).collect();
    for prefix in &prefixes {
        let Range { start, end } = with_prefix(reader, prefix);
        assert_eq!(start as usize..end as usize, prefixed(terms, prefix));
    }
    let mut group = c.benchmark_group("terms-prefix");
    group.throughput(Throughput::Elements(LOOKUPS as u64));
    group.bench_function(BenchmarkId::new("dictionary", name), |b| {
        b.iter(|| prefixes.iter().map(|prefix| with_prefix(reader, prefix).len()).sum::<usize>());
    });
    group.bench_function(BenchmarkId::new("vec", name), |b| {
        b.iter(|| prefixes.iter().map(|prefix| prefixed(terms, prefix).len()).sum::<usize>());
    });
    group.finish();
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = terms }
criterion_main!(benches);
