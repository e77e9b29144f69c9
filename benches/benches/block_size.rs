//! Best number of values in a block, relative to one block.
//!
//! `block-QUESTION/VALUES/COLUMN`: a `scan` reads all values, 4,096 at a time, `random` documents in random order, 1,024 at
//! a time. The first lines printed are the bits of a document, with headers and jump table. Throughput is documents a
//! second. Blocks are bit-packed here and have the given size; the writer would pick the size with the fewest bytes.
#![expect(clippy::cast_possible_truncation, clippy::expect_used, reason = "a bench may panic")]

use std::convert::Infallible;
use std::hint::black_box;

use criterion::{BenchmarkId, Throughput, criterion_group, criterion_main};
use docvalues::format::bits;
use docvalues::format::numeric::{Encoding, Numeric, NumericReader, ONE_BLOCK, Role, Stride, Transform};
use docvalues::format::source::Owned;
use docvalues::prelude::*;
use docvalues::reader::JumpTables;
use docvalues_benches::{Bench, data};

/// Values of a batch of a scan.
const RUN: usize = 4096;
/// Documents of a batch.
const BATCH: usize = 1024;
/// Random documents of one iteration.
const LOOKUPS: usize = 100_000;
/// Binary logarithms of the numbers of values.
const SHIFTS: [u8; 4] = [9, 12, 14, ONE_BLOCK];

/// `values` in packed blocks of 2^`shift`, as chapter 8 of docs/format.md lays them out.
fn packed(values: &[i64], shift: u8) -> Numeric<Vec<u8>> {
    let (min, max) = ends(values);
    let (mut blocks, mut jump) = (Vec::new(), Vec::new());
    for values in values.chunks(1 << shift) {
        let (low, high) = ends(values);
        let width = bits::width_of(high.abs_diff(low));
        let encoding = if width == 0 { Encoding::Constant } else { Encoding::Packed };
        let payload = ((blocks.len() + Stride::Short.bytes()) / 8) as u64;
        let tags = u64::from(encoding as u8) | u64::from(width) << 8 | payload << 16;
        let header = [low.abs_diff(min).to_le_bytes(), tags.to_le_bytes()].concat();
        jump.extend_from_slice(&header);
        blocks.extend_from_slice(&header);
        let residuals: Vec<u64> = values.iter().map(|value| value.abs_diff(low)).collect();
        bits::pack(&residuals, width, &mut blocks);
    }
    Numeric {
        role: Role::Values,
        count: values.len() as u64,
        min,
        max,
        transform: Transform::Affine { base: min, gcd: 1 },
        block_shift: shift,
        stride: Stride::Short,
        blocks: Some(blocks),
        jump: (values.len() > 1 << shift).then_some(jump),
        zones: None,
        fine_zones: None,
    }
}

fn ends(values: &[i64]) -> (i64, i64) {
    values.iter().fold((i64::MAX, i64::MIN), |(min, max), &value| (min.min(value), max.max(value)))
}

fn sum(values: &[i64]) -> i64 {
    values.iter().fold(0, |sum, &value| sum.wrapping_add(value))
}

fn scanned(reader: &NumericReader<Owned>, buffer: &mut [i64; RUN]) -> i64 {
    let mut total = 0_i64;
    for start in (0..reader.count()).step_by(RUN) {
        let end = reader.count().min(start + RUN as u64);
        let values = &mut buffer[..(end - start) as usize];
        reader.decode(start..end, values).expect("good bytes");
        total = total.wrapping_add(sum(values));
    }
    total
}

fn gathered(reader: &NumericReader<Owned>, docs: &[u32], buffer: &mut [i64; RUN]) -> i64 {
    let mut total = 0_i64;
    for docs in docs.chunks(BATCH) {
        let values = &mut buffer[..docs.len()];
        reader.gather(docs, values).expect("good bytes");
        total = total.wrapping_add(sum(values));
    }
    total
}

fn block_size(c: &mut Bench) {
    let docs = docvalues_benches::docs();
    let numbers = |docs: Vec<DocId>| docs.into_iter().map(DocId::get).collect::<Vec<u32>>();
    let requested = numbers(data::random_docs(docs, LOOKUPS));
    for name in ["ts", "size"] {
        let plain = data::numbers(name, docs).values;
        for shift in SHIFTS {
            let made = packed(&plain, shift);
            let bytes: usize = [&made.blocks, &made.jump].into_iter().flatten().map(Vec::len).sum();
            let size = if shift == ONE_BLOCK { "one".to_owned() } else { (1 << shift).to_string() };
            println!("{name} in blocks of {size}: {:.2} bits", bytes as f64 * 8.0 / f64::from(docs));
            let Ok(made) =
                made.try_map(&mut |section, bytes| Ok::<_, Infallible>(Owned::new(section, bytes)));
            let reader = NumericReader::open(made, JumpTables::Baked).expect("sections that fit");
            let mut buffer = [0; RUN];
            assert_eq!(scanned(&reader, &mut buffer), sum(&plain));

            let id = || BenchmarkId::new(&size, name);
            let mut group = c.benchmark_group("block-scan");
            group.throughput(Throughput::Elements(docs.into()));
            group.bench_function(id(), |b| b.iter(|| scanned(black_box(&reader), &mut buffer)));
            group.finish();
            let mut group = c.benchmark_group("block-random");
            group.throughput(Throughput::Elements(requested.len() as u64));
            group.bench_function(id(), |b| b.iter(|| gathered(black_box(&reader), &requested, &mut buffer)));
            group.finish();
        }
    }
}

criterion_group! { name = benches; config = docvalues_benches::criterion(); targets = block_size }
criterion_main!(benches);
