//! Cost of checksums at first touch, and afterwards.
//!
//! Read `verify/<question>/<how>`; throughput is documents a second.
//!
//! | how | |
//! | --- | --- |
//! | `cold` | a column that was just opened: every touched granule is verified |
//! | `warm` | the same request ran before |
//! | `whole` | all granules were touched before |
//! | `never_cold`, `never_warm` | with `Verify::Never`: just opened, and read before |
//!
//! Only the checksums are cold: the bytes are in memory, and partly in the CPU's caches. `verify/open/*` opens the
//! segment and the column; `at_open` verifies all of it.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::hint::black_box;
use std::ops::ControlFlow;

use criterion::{BatchSize, Throughput, criterion_group, criterion_main};
use docvalues::prelude::*;
use docvalues::{Numeric, Verify};
use docvalues_benches::segment::{self, Written};
use docvalues_benches::{Bench, data};

const NAME: &str = "uni24";

fn open(written: &Written, verify: Verify) -> Numeric {
    written.open(OpenOptions::new().verify(verify)).numeric(NAME).expect("written")
}

fn get(column: &Numeric, docs: &[DocId]) -> i64 {
    docs.iter().map(|&doc| column.get(doc).expect("good bytes").unwrap_or(0)).sum()
}

fn gather(column: &Numeric, docs: &[DocId]) -> i64 {
    let mut out = vec![0; docs.len()];
    column.gather_or(docs, &mut out, 0).expect("good bytes");
    out.iter().sum()
}

/// `docs` is all of them.
fn scan(column: &Numeric, docs: &[DocId]) -> i64 {
    let (mut total, end) = (0, u32::try_from(docs.len()).unwrap_or(u32::MAX));
    let scanned = column.scan(0..end, |_, values| {
        total += values.iter().sum::<i64>();
        ControlFlow::Continue(())
    });
    scanned.expect("good bytes");
    total
}

fn verify(c: &mut Bench) {
    type Question = fn(&Numeric, &[DocId]) -> i64;
    let docs = docvalues_benches::docs();
    let written = segment::write(docs, &[NAME], WriterOptions::default());
    let plain = data::numbers(NAME, docs).values;
    let every: Vec<DocId> = (0..docs).map(DocId::new).collect();
    let questions: [(&str, Question, Vec<DocId>); 4] = [
        ("get_1", get, data::random_docs(docs, 1)),
        ("gather_100_random", gather, data::random_docs(docs, 100)),
        ("gather_1%_ascending", gather, data::hits(docs, 100)),
        ("scan", scan, every.clone()),
    ];
    for (name, question, requested) in questions {
        let ask = |column: &Numeric| question(black_box(column), black_box(&requested));
        let expected = requested.iter().map(|doc| plain[doc.get() as usize]).sum::<i64>();
        let mut group = c.benchmark_group(format!("verify/{name}"));
        group.throughput(Throughput::Elements(requested.len() as u64));
        for (cold, warm, verify) in
            [("cold", "warm", Verify::OnFirstTouch), ("never_cold", "never_warm", Verify::Never)]
        {
            let column = open(&written, verify);
            assert_eq!(ask(&column), expected);
            group.bench_function(cold, |b| {
                b.iter_batched_ref(|| open(&written, verify), |column| ask(column), BatchSize::SmallInput);
            });
            group.bench_function(warm, |b| b.iter(|| ask(&column)));
        }
        let column = open(&written, Verify::OnFirstTouch);
        scan(&column, &every);
        assert_eq!(ask(&column), expected);
        group.bench_function("whole", |b| b.iter(|| ask(&column)));
        group.finish();
    }

    let mut group = c.benchmark_group("verify/open");
    group.throughput(Throughput::Bytes(written.bytes.len() as u64));
    group.bench_function("on_first_touch", |b| b.iter(|| open(&written, Verify::OnFirstTouch)));
    group.bench_function("at_open", |b| b.iter(|| open(&written, Verify::AtOpen)));
    group.finish();
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = verify }
criterion_main!(benches);
