//! Cost of a request over 100,000 hits of another index in 13 segments, relative to the same hits by a query.
//!
//! `hits-COLUMN/CONTENDER/REQUEST`: the documents in a range of an unordered column, or of an ascending one. `query` is the
//! range; `lists` and `bits` make a set of lists or of bitsets with `Search::doc_set`, for each request. The request is a
//! facet of 100,000 hosts and the 20 first documents by size; `scores` adds a column of scores with `Parts::with_column`, and
//! sorts by it. Throughput is hits a second.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::hint::black_box;

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use docvalues::Bitset;
use docvalues::column::Part;
use docvalues::prelude::*;
use docvalues::search::facet::Facet;
use docvalues::search::stats::Stats;
use docvalues::search::{Parts, SearchAnswer, SearchRequest};
use docvalues_benches::column_input::ColumnInput;
use docvalues_benches::{Bench, segment};

const PARTS: u32 = 13;

const HITS: u32 = 100_000;

/// The documents in segments of equal size.
fn parts(docs: u32) -> Parts {
    let inputs = ["host", "size", "ts", "uni24"].map(|name| (name, ColumnInput::of(name, docs)));
    // A multiple of 64, as the bits of documents with a value are cut in whole words.
    let size = docs / PARTS / 64 * 64;
    let part = |part: u32| {
        let (start, end) = (part * size, if part + 1 == PARTS { docs } else { (part + 1) * size });
        let mut schema = Schema::new();
        let fields: Vec<_> =
            inputs.iter().map(|(name, _)| schema.add(segment::spec(name)).expect("names differ")).collect();
        let mut writer = SegmentWriter::in_memory(schema, WriterOptions::new().budget(usize::MAX));
        let mut batch = writer.batch(end - start).expect("few enough documents");
        inputs.iter().zip(fields).for_each(|((_, input), field)| input.add_to(&mut batch, field, start..end));
        batch.finish();
        let bytes = writer.finish_bytes().expect("memory does not fail");
        Part::new(Segment::from_bytes(bytes, OpenOptions::new()).expect("a segment"))
    };
    Parts::new((0..PARTS).map(part))
}

fn requests(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let parts = parts(docs);
    let search = Search::over(&parts).threads(1);
    let request =
        SearchRequest::new().facets([Facet::of("host")]).sort([SortKey::of("size").descending()]).top(20);
    let docs_of = |part: usize| parts.source(part).docs();
    // As much of a width as the hits are of all documents.
    let share = |width: i64| width * i64::from(HITS) / i64::from(docs);
    let times = search.stats(Docs::All, &Stats::of("ts")).expect("good bytes");
    let [first, last] = [times.min, times.max].map(|end| end.and_then(|end| end.stored()).expect("a number"));
    let middle = first + (last - first) / 2;
    for (name, range) in [("uni24", 0..share(1 << 24)), ("ts", middle..middle + share(last - first))] {
        let query = Query::range(name, range);
        let set = search.filter(&query).expect("good bytes");
        let lists: Vec<Vec<DocId>> =
            (0..parts.len()).map(|part| set.of_part(part).to_vec(docs_of(part))).collect();
        let bits: Vec<Bitset> = (0..)
            .zip(&lists)
            .map(|(part, list)| Bitset::from_docs(list.iter().copied(), docs_of(part)))
            .collect();
        let score = |doc: &DocId| (*doc, f64::from(doc.get() % 1_000));
        let scores: Vec<Vec<(DocId, f64)>> =
            lists.iter().map(|list| list.iter().map(score).collect()).collect();
        let in_lists: Vec<Docs<'_>> = lists.iter().map(|list| Docs::list(list).expect("ascending")).collect();
        let in_bits: Vec<Docs<'_>> = bits.iter().map(Docs::Bits).collect();

        let by = |query: Query| search.request(&request.clone().query(query)).expect("good bytes");
        let of = |docs: &[Docs<'_>]| by(Query::hits(search.doc_set(docs).expect("of these parts")));
        let by_score = || {
            let values = scores.iter().map(|values| values.iter().copied());
            let scored = parts.with_column("score", values).expect("of these parts");
            let request = request.clone().query(Query::exists("score"));
            let request = request.sort([SortKey::of("score").descending()]);
            Search::over(&scored).threads(1).request(&request).expect("good bytes")
        };
        let counts = |answer: SearchAnswer| (answer.hits, answer.facets);
        let expected = by(query.clone());
        assert_eq!((of(&in_lists).top, of(&in_bits).top), (expected.top.clone(), expected.top.clone()));
        let expected = counts(expected);
        for answer in [of(&in_lists), of(&in_bits), by_score()] {
            assert_eq!(counts(answer), expected);
        }

        let mut group = c.benchmark_group(format!("hits-{name}"));
        group.throughput(Throughput::Elements(set.count()));
        let id = |contender: &str| BenchmarkId::new(contender, "facet-top");
        group.bench_function(id("query"), |b| b.iter(|| by(black_box(&query).clone())));
        group.bench_function(id("lists"), |b| b.iter(|| of(black_box(&in_lists))));
        group.bench_function(id("bits"), |b| b.iter(|| of(black_box(&in_bits))));
        group.bench_function(id("scores"), |b| b.iter(by_score));
        group.finish();
    }
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = requests }
criterion_main!(benches);
