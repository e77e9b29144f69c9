//! Numbers of every encoding are written and read.

use docvalues_testkit::rng::SplitMix64;

use super::*;
use crate::order::Order;
use crate::packed::tests::{pack, width_of};
use crate::presence;
use crate::testing::{Encoder, body};

/// An encoding of Lucene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Packed,
    Table,
    /// Blocks of this many numbers, as a power of two.
    Blocks(u32),
}

/// Appends the entry of `numbers` from their table on, and their bytes.
pub(crate) fn encode(meta: &mut Encoder, data: &mut Encoder, numbers: &[i64], form: Form, has_tables: bool) {
    let start = data.out.len();
    let offset = data.offset();
    let min = numbers.iter().copied().min().unwrap_or(0);
    let steps = |min: i64, numbers: &[i64]| -> Vec<u64> {
        numbers.iter().map(|number| number.wrapping_sub(min).cast_unsigned()).collect()
    };
    let gcd = steps(min, numbers).into_iter().fold(0, |a, b| {
        let (mut a, mut b): (u64, u64) = (a, b);
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    });
    let gcd = gcd.max(1);
    let pack_all = |data: &mut Encoder, packed: Vec<u64>, width: u8| {
        let bytes = pack(data.order, width, &packed);
        data.bytes(&bytes).bytes(&[0; 3]);
    };
    meta.i64(numbers.len() as i64);
    let mut jump = -1;
    match form {
        Form::Packed => {
            let packed: Vec<u64> = steps(min, numbers).iter().map(|step| step / gcd).collect();
            let width = width_of(packed.iter().copied().max().unwrap_or(0));
            meta.i32(-1).u8(width).i64(min).i64(gcd.cast_signed());
            if width > 0 {
                pack_all(data, packed, width);
            }
        }
        Form::Table => {
            let mut table = numbers.to_vec();
            table.sort_unstable();
            table.dedup();
            meta.i32(table.len() as i32);
            table.iter().for_each(|number| {
                meta.i64(*number);
            });
            let places = numbers.iter().map(|number| table.binary_search(number).unwrap() as u64).collect();
            let width = width_of(table.len() as u64 - 1);
            meta.u8(width).i64(0).i64(1);
            pack_all(data, places, width);
        }
        Form::Blocks(shift) => {
            meta.i32(-2 - shift as i32).u8(0xFF).i64(min).i64(gcd.cast_signed());
            let mut starts = Vec::new();
            for block in numbers.chunks(1 << shift) {
                starts.push(data.offset());
                let min = block.iter().copied().min().unwrap();
                let packed: Vec<u64> = steps(min, block).iter().map(|step| step / gcd).collect();
                let width = width_of(packed.iter().copied().max().unwrap());
                data.u8(width).i64(min);
                if width > 0 {
                    data.i32((block.len() * usize::from(width)).div_ceil(8) as i32 + 3);
                    pack_all(data, packed, width);
                }
            }
            if has_tables {
                jump = data.offset();
                starts.push(jump);
                starts.iter().for_each(|start| {
                    data.i64(*start);
                });
            }
        }
    }
    meta.i64(offset).i64((data.out.len() - start) as i64);
    if has_tables {
        meta.i64(jump);
    }
}

/// Sequences that take each encoding.
fn shapes() -> Vec<(Form, Vec<i64>)> {
    let mut rng = SplitMix64::new(1);
    let mut some = |count: usize, from: i64, step: i64, below: u64| -> Vec<i64> {
        (0..count).map(|_| from.wrapping_add(step.wrapping_mul(rng.below(below).cast_signed()))).collect()
    };
    let mut shapes = vec![
        (Form::Packed, vec![]),
        (Form::Packed, vec![i64::MIN]),
        (Form::Packed, vec![7; 3_000]),
        (Form::Packed, vec![i64::MIN, i64::MAX, 0, -1, 1]),
        (Form::Packed, some(3_000, i64::MIN, 1, u64::MAX)),
        (Form::Table, some(5_000, -70, 1_000_003, 2)),
        (Form::Table, some(5_000, i64::MIN, i64::MAX / 200, 200)),
        (Form::Blocks(6), some(1_000, 0, 60, 1_000)),
        (Form::Blocks(6), vec![7; 1_000]),
        (Form::Blocks(10), some(5_000, i64::MIN, 1, u64::MAX)),
    ];
    for below in [2, 4, 16, 256, 4_096, 1 << 20, 1 << 28, 1 << 32, 1 << 40, 1 << 48, 1 << 56] {
        shapes.push((Form::Packed, some(2_500, -9, 100, below)));
    }
    let mut rising = some(20_000, 0, 1, 100);
    rising.iter_mut().zip(0..).for_each(|(number, at)| *number += at * 1_000);
    // Some blocks are constant.
    rising[5_000..9_000].fill(-5);
    shapes.push((Form::Blocks(9), rising));
    shapes
}

fn open(order: Order, numbers: &[i64], form: Form, has_tables: bool, mode: JumpTables) -> Numbers {
    let (mut meta, mut data) = (Encoder::new(order), Encoder::new(order));
    let docs = numbers.len() as u32;
    presence::tests::encode(&mut meta, &mut data, docs, &(0..docs).collect::<Vec<_>>(), has_tables);
    encode(&mut meta, &mut data, numbers, form, has_tables);
    let meta = body(meta);
    let mut cursor = Cursor::new(&meta);
    let entry = NumericEntry::read(&mut cursor, has_tables).unwrap();
    cursor.end().unwrap();
    Numbers::open(&entry, entry.count.cast_unsigned(), &Arc::new(body(data)), mode).unwrap()
}

fn check(read: &Numbers, numbers: &[i64]) {
    let count = numbers.len();
    assert_eq!(read.count(), count as u64);
    let mut rng = SplitMix64::new(2);
    let lookup = read.lookup();
    for at in (0..count).step_by(1 + count / 700) {
        assert_eq!(read.get(at as u64).unwrap(), numbers[at]);
        assert!(lookup.as_ref().is_none_or(|lookup| lookup.get(at as u64) == Some(numbers[at])), "{at}");
        let found = read.bounds_at(at as u64).unwrap();
        assert!(found.range().contains(&numbers[at]) && read.bounds().range().contains(&numbers[at]));
    }
    assert!(read.get(count as u64).is_err());
    assert!(lookup.is_none_or(|lookup| lookup.get(count as u64).is_none()));
    for len in [0, 1, 15, 16, 17, 100, 1_500, count] {
        let len = len.min(count);
        let start = rng.place(count - len + 1);
        let mut out = vec![1; len];
        read.decode(start as u64..(start + len) as u64, &mut out).unwrap();
        assert_eq!(out, numbers[start..start + len]);
    }
    check_ranges(read, numbers);
    assert!(read.decode(1..count as u64 + 1, &mut vec![0; count]).is_err());
    let random: Vec<u32> = (0..count.min(2_500)).map(|_| rng.below_u32(count as u32)).collect();
    let mut sorted = random.clone();
    sorted.sort_unstable();
    let all: Vec<u32> = (0..count.min(2_500) as u32).collect();
    // Around the borders of blocks of 64, also twice.
    let edges = [64_u32, 63, 65, 0, 64, 128, 127, 64].into_iter().filter(|index| (*index as usize) < count);
    for mut indices in [random, sorted, all, edges.collect(), vec![]] {
        for are_all in [true, false] {
            let mut out = vec![1; indices.len()];
            read.gather(&indices, are_all, -3, &mut out).unwrap();
            let expected = |index: &u32| numbers.get(*index as usize).copied().unwrap_or(-3);
            assert_eq!(out, indices.iter().map(expected).collect::<Vec<_>>());
            indices.iter_mut().step_by(3).for_each(|index| *index = NO_VALUE);
        }
    }
    assert!(read.gather(&[count as u32], true, 0, &mut [0]).is_err());
}

/// Compares numbers of the first block with ranges between some of them.
fn check_ranges(read: &Numbers, numbers: &[i64]) {
    let end = read.block_len().map_or(700, |len| len.min(700) as usize).min(numbers.len());
    let some: Vec<i64> =
        numbers[..end].iter().copied().step_by(1 + end / 2).chain([i64::MIN, i64::MAX]).collect();
    let pairs = some.iter().flat_map(|low| some.iter().map(move |high| *low..=*high));
    for wanted in pairs.filter(|wanted| !wanted.is_empty()) {
        for start in [0, 8, 65].into_iter().filter(|start| *start <= end) {
            let mut found = vec![0; (end - start) / 64];
            let done = read.compare(start as u64, &wanted, &mut found).unwrap();
            let is_found = |at: usize| found[at / 64] >> (at % 64) & 1 == 1;
            assert!((0..done).all(|at| is_found(at) == wanted.contains(&numbers[start + at])), "{wanted:?}");
            assert!(found[done / 64..].iter().all(|word| *word == 0));
        }
    }
    let past = 1 + numbers.len() as u64 / 64;
    assert!(read.compare(0, &(0..=1), &mut vec![0; past as usize]).is_err());
}

#[test]
fn numbers_are_read_as_they_were_written() {
    for (form, numbers) in shapes() {
        for order in [Order::Big, Order::Little] {
            for has_tables in [false, true] {
                for mode in JumpTables::ALL {
                    let read = open(order, &numbers, form, has_tables, mode);
                    let has_lookup = order == Order::Little && !matches!(form, Form::Blocks(_));
                    assert_eq!(read.lookup().is_some(), has_lookup, "{form:?}");
                    check(&read, &numbers);
                }
            }
        }
    }
}

#[test]
fn ords_are_read_by_kernels() {
    let mut rng = SplitMix64::new(5);
    for below in [1, 2, 300, 1 << 20, 1 << 32] {
        let numbers: Vec<i64> = (0..2_500).map(|_| 7 + rng.below(below).cast_signed()).collect();
        let read = open(Order::Little, &numbers, Form::Packed, true, JumpTables::Baked);
        let is = |ord: &TermOrd, number: &i64| i64::from(ord.get()) == *number;
        // A constant has no bytes, and the greatest number of 32 bits and 7 is no ord.
        let are_ords = (2..=1 << 20).contains(&below);
        for (start, len) in [(0, 2_500), (64, 1_024), (8, 20), (3, 1_000), (2_496, 4), (2_496, 5), (2_500, 0)]
        {
            let mut ords = vec![TermOrd::new(0); len];
            let done = read.decode_ords(start as u64, &mut ords);
            assert!(ords[..done].iter().zip(&numbers[start..]).all(|(ord, number)| is(ord, number)));
            assert!(start + len <= numbers.len() || done == 0);
            // Groups of eight, but the last ones: a window of 64 bytes reaches past the file.
            assert!(len < 2_500 || if are_ords { done >= 2_000 } else { done == 0 }, "{below}: {done}");
        }
        let mut indices: Vec<u32> = (0..700).map(|_| rng.below_u32(2_500)).collect();
        indices[600] = 2_500;
        let mut ords = vec![TermOrd::new(0); indices.len()];
        let done = read.gather_ords(&indices, &mut ords);
        assert_eq!(done, if are_ords { 600 } else { 0 }, "up to the index past the last number");
        let mut found = ords[..done].iter().zip(&indices);
        assert!(found.all(|(ord, index)| is(ord, &numbers[*index as usize])));
        let big = open(Order::Big, &numbers, Form::Packed, true, JumpTables::Baked);
        assert_eq!((big.decode_ords(0, &mut ords), big.gather_ords(&indices, &mut ords)), (0, 0));
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[test]
fn ranges_are_compared_by_kernels() {
    if !docvalues_format::bits::has_avx2() {
        return println!("SKIPPED: no AVX2");
    }
    let numbers: Vec<i64> = (0..2_000).map(|at| 60 * at - 7).collect();
    let compare = |order, form| {
        let read = open(order, &numbers, form, true, JumpTables::Baked);
        let mut found = vec![0_u64; 10];
        let done = read.compare(64, &(6_000..=60_000), &mut found).unwrap();
        (done, found.iter().map(|word| word.count_ones()).sum::<u32>())
    };
    // Numbers 101 to 703.
    assert_eq!(compare(Order::Little, Form::Packed), (640, 603));
    assert_eq!(compare(Order::Little, Form::Blocks(10)), (640, 603));
    assert_eq!(compare(Order::Big, Form::Packed), (0, 0));
}

#[test]
fn bounds_are_those_of_widths() {
    let of = |numbers: &[i64], form| open(Order::Little, numbers, form, true, JumpTables::Baked).bounds();
    assert_eq!(of(&[], Form::Packed), Bounds::NONE);
    assert_eq!(of(&[5, 5], Form::Packed), Bounds::Exact(5..=5));
    assert_eq!(of(&[5, 8, 20], Form::Packed), Bounds::Within(5..=5 + 3 * 15));
    assert_eq!(of(&[5, 8, 20], Form::Table), Bounds::Within(5..=20));
    assert_eq!(of(&[i64::MIN, i64::MAX], Form::Packed), Bounds::Unknown, "they wrap");
    assert_eq!(of(&[5; 100], Form::Blocks(6)), Bounds::Unknown);
}

#[test]
fn an_error_names_the_block() {
    let numbers: Vec<i64> = (0..640).map(|at| at * at).collect();
    let (mut meta, mut data) = (Encoder::new(Order::Little), Encoder::new(Order::Little));
    presence::tests::encode(&mut meta, &mut data, 640, &(0..640).collect::<Vec<_>>(), true);
    encode(&mut meta, &mut data, &numbers, Form::Blocks(6), true);
    // The fourth block gets another width. Each has a header of nine bytes, and the length of its integers.
    let mut at = 0;
    for _ in 0..3 {
        at += 13 + i32::from_le_bytes(*data.out[at + 9..].first_chunk().unwrap()) as usize;
    }
    data.out[at] = 99;
    let meta = body(meta);
    let entry = NumericEntry::read(&mut Cursor::new(&meta), true).unwrap();
    let read = Numbers::open(&entry, 640, &Arc::new(body(data)), JumpTables::Baked).unwrap();
    let error = read.get(200).unwrap_err().to_string();
    // Headers are kept from the second look-up on, if all of them are good.
    for index in (0..640).filter(|index| index / 64 != 3) {
        assert_eq!(read.get(index).unwrap(), numbers[index as usize]);
    }
    assert_eq!(read.get(255).unwrap_err().to_string(), error);
    for indices in [vec![5, 200, 300], (150..250).collect()] {
        let found = read.gather(&indices, true, 0, &mut vec![0; indices.len()]);
        assert_eq!(found.unwrap_err().to_string(), error);
    }
}

#[test]
fn hostile_bytes_are_errors_or_other_numbers() {
    for (form, numbers) in [
        (Form::Table, (0..100).map(|at| at % 7).collect::<Vec<i64>>()),
        (Form::Blocks(4), (0..100).map(|at| at * at % 50 + at).collect()),
    ] {
        let (mut meta, mut data) = (Encoder::new(Order::Little), Encoder::new(Order::Little));
        presence::tests::encode(&mut meta, &mut data, 100, &(0..100).collect::<Vec<_>>(), true);
        encode(&mut meta, &mut data, &numbers, form, true);
        let read = |meta: Encoder, data: Encoder, mode: JumpTables| {
            let meta = body(meta);
            let entry = NumericEntry::read(&mut Cursor::new(&meta), true)?;
            let count = entry.count.cast_unsigned();
            let numbers = Numbers::open(&entry, count, &Arc::new(body(data)), mode)?;
            let mut out = vec![0; 100];
            let _ = (numbers.decode(0..100, &mut out), numbers.bounds(), numbers.bounds_at(17));
            let _ = (numbers.get(count.saturating_sub(1)), numbers.get(0));
            numbers.gather(&[99, 0, 50, 17], true, 0, &mut out[..4])
        };
        let copy = |from: &Encoder| Encoder::of_bytes(from.order, from.out.clone());
        for byte in [0, 1, 0x7F, 0x80, 0xFF] {
            for mode in JumpTables::ALL {
                for at in 0..meta.out.len() {
                    let mut damaged = copy(&meta);
                    damaged.out[at] = byte;
                    let _ = read(damaged, copy(&data), mode);
                }
                for at in 0..data.out.len() {
                    let mut damaged = copy(&data);
                    damaged.out[at] = byte;
                    let _ = read(copy(&meta), damaged, mode);
                }
            }
        }
    }
}
