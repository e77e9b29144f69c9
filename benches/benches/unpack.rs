//! Cost of unpacking integers, by width, relative to copying 64-bit integers.
//!
//! `unpack/CONTENDER/WIDTH`: in a run (`unpack`), one at a time (`get`), and the copy (`vec`), a lower bound. Throughput
//! is integers a second.
#![expect(clippy::expect_used, reason = "a bench may panic")]

use std::hint::black_box;

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use docvalues::format::bits;
use docvalues_benches::Bench;
use docvalues_testkit::rng::SplitMix64;

/// The greatest number of integers of a block.
const COUNT: usize = 1 << 14;

const WIDTHS: [u8; 6] = [1, 7, 8, 17, 32, 64];

fn unpack(c: &mut Bench) {
    let mut group = c.benchmark_group("unpack");
    group.throughput(Throughput::Elements(COUNT as u64));
    let mut out = vec![0; COUNT];
    for width in WIDTHS {
        let mut random = SplitMix64::new(width.into());
        let numbers: Vec<u64> = (0..COUNT).map(|_| random.next_u64() & bits::mask(width)).collect();
        let mut packed = Vec::new();
        bits::pack(&numbers, width, &mut packed);
        packed.extend([0; bits::OVERREAD]);

        let run = |out: &mut [u64]| bits::unpack(&packed, black_box(width), 0, out).expect("all are there");
        run(&mut out);
        assert_eq!(out, numbers);
        group.bench_function(BenchmarkId::new("unpack", width), |b| b.iter(|| run(black_box(&mut out))));

        let one_by_one = |out: &mut [u64]| {
            let width = black_box(width);
            for (i, out) in out.iter_mut().enumerate() {
                *out = bits::get(&packed, width, i).expect("all are there");
            }
        };
        out.fill(0);
        one_by_one(&mut out);
        assert_eq!(out, numbers);
        group.bench_function(BenchmarkId::new("get", width), |b| b.iter(|| one_by_one(black_box(&mut out))));
    }
    let plain: Vec<u64> = (0..COUNT as u64).collect();
    group.bench_function("vec/64", |b| b.iter(|| black_box(&mut out).copy_from_slice(black_box(&plain))));
    group.finish();
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = unpack }
criterion_main!(benches);
