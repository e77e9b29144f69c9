//! The size of the chosen encoding is exact, and no other one is smaller.

use std::ops::Range;

use proptest::prelude::*;

use super::super::choose_encoding::{Cut, Plan, choose_encoding};
use super::super::encode::encode_blocks;
use super::super::numbers::{By, Numbers};
use super::super::slice::AnyValues;
use super::super::value_stats::{Distinct, Divisor, ValueStats};
use super::*;

/// Encodes every combination of blocks to get its size.
fn every_plan(values: &[i64], numbers: &[&Numbers<'_>], jump_tables: bool) -> Vec<Plan> {
    let mut plans = Vec::new();
    for shift in BLOCK_SHIFTS {
        for stride in Stride::ALL {
            for numbers in numbers {
                let (cut, table) = (Cut::Blocks { shift, stride }, numbers.table());
                let (blocks, jump) =
                    encode_blocks(&mut AnyValues::new(values), numbers, cut, 0, &mut |_| Ok(())).unwrap();
                let jump = if jump_tables && jump.len() > stride.bytes() { jump.len() } else { 0 };
                let bytes = blocks.len() + jump + table.map_or(0, size_of_val);
                plans.push(Plan { table: table.is_some(), cut, bytes: bytes as u64 });
            }
        }
    }
    plans
}

fn stats(values: &[i64]) -> Option<ValueStats> {
    ValueStats::of(&mut AnyValues::new(values)).unwrap()
}

fn check(values: &[i64]) {
    let stats = stats(values).unwrap();
    if stats.min == stats.max {
        return;
    }
    let by = By::Affine { base: stats.min, divisor: stats.divisor };
    let affine = Numbers::new(values.len(), &stats, by);
    let distinct = stats.distinct.clone().map(Distinct::sorted);
    let table = distinct.as_ref().map(|table| Numbers::new(values.len(), &stats, By::Table(table)));
    // Without gaps between the values there is no alternative to differences.
    let gaps = |table: &&Numbers<'_>| table.ends(&(0..values.len())) != affine.ends(&(0..values.len()));
    let table = table.as_ref().filter(gaps);
    for jump_tables in [true, false] {
        let chosen = choose_encoding(&mut AnyValues::new(values), &affine, table, jump_tables).unwrap();
        let all: Vec<_> = [Some(&affine), table].into_iter().flatten().collect();
        let plans = every_plan(values, &all, jump_tables);
        let least = plans.iter().map(|plan| plan.bytes).min().unwrap();
        match chosen.cut {
            Cut::Blocks { .. } => {
                assert!(plans.contains(&chosen), "{chosen:?} is none of {plans:?}");
                assert_eq!(chosen.bytes, least, "{chosen:?} of {plans:?}");
            }
            Cut::One(block) => {
                assert!(chosen.bytes <= least + least / 64, "{chosen:?} beside {plans:?}");
                assert_eq!(chosen.cut.stride() == Stride::Long, block.encoding == Encoding::Linear);
            }
        }

        let column = encode(values, &NumericOptions { jump_tables, zones: false, ..VALUES });
        let mut bytes = 0;
        let lengths = column.try_map(&mut |_, section: Vec<u8>| {
            bytes += section.len() as u64;
            Ok::<_, ()>(section)
        });
        assert_eq!(bytes, chosen.bytes);
        let lengths = lengths.unwrap();
        assert_eq!((lengths.block_shift, lengths.stride), (chosen.cut.shift(), chosen.cut.stride()));
    }
}

#[test]
fn the_cheapest_encoding_of_every_shape_is_chosen() {
    for shape in Shape::ALL {
        for len in [1, 2, 513, 4097, 40_000] {
            check(&shape.values(len, 11));
        }
    }
}

#[test]
fn stats_have_the_divisor_and_the_distinct_values() {
    assert!(stats(&[]).is_none());
    let stats = |values: &[i64]| {
        let stats = stats(values).unwrap();
        let distinct = stats.distinct.map(|distinct| distinct.sorted().values().to_vec());
        (stats.min, stats.max, stats.divisor.get(), distinct)
    };
    assert_eq!(stats(&[5, 5]), (5, 5, 0, Some(vec![5])));
    assert_eq!(stats(&[10, -2, 4]), (-2, 10, 6, Some(vec![-2, 4, 10])));
    let ends = [i64::MIN, i64::MAX];
    assert_eq!(stats(&[ends[1], ends[0], ends[1]]), (ends[0], ends[1], u64::MAX, Some(ends.to_vec())));
    let many: Vec<i64> = (0..256).rev().collect();
    assert_eq!(stats(&many).3.unwrap().len(), MAX_TABLE);
    assert_eq!(stats(&[&many[..], &[256]].concat()).3, None);
    // Divisors and distinct values may change late in the column.
    let late = |last: i64| [&[7].repeat(600)[..], &[7 + 96].repeat(600), &[last]].concat();
    assert_eq!(stats(&late(7 + 36)), (7, 103, 12, Some(vec![7, 43, 103])));
    assert_eq!(stats(&late(-1)), (-1, 103, 8, Some(vec![-1, 7, 103])));
}

/// Values that are computed when they are read. Reading value `broken` fails.
struct Far<'a> {
    values: &'a [i64],
    broken: usize,
}

impl Values for Far<'_> {
    type Number = i64;
    type Error = usize;

    fn len(&self) -> usize {
        self.values.len()
    }

    fn read<'a>(&'a self, range: Range<usize>, buf: &'a mut Vec<i64>) -> Result<&'a [i64], usize> {
        if range.contains(&self.broken) {
            return Err(self.broken);
        }
        buf.clear();
        buf.extend_from_slice(&self.values[range]);
        Ok(buf)
    }
}

#[test]
fn values_elsewhere_make_the_same_bytes() {
    for shape in Shape::ALL {
        for (role, doubles) in [(Role::Values, false), (Role::Values, true), (Role::Offsets, false)] {
            let values = shape.values(70_000, 5);
            let options = NumericOptions { role, doubles, ..VALUES };
            let (mut drained, mut most) = (Vec::new(), 0);
            let far = Far { values: &values, broken: usize::MAX };
            let mut column = encode_from(&far, &options, |blocks| {
                most = most.max(blocks.len());
                drained.append(blocks);
                Ok(())
            })
            .unwrap();
            assert!(most <= (1 << 14) * 8 + (1 << 5) * 32, "{most} bytes at a time");
            if let Some(rest) = &mut column.blocks {
                drained.append(rest);
                *rest = drained;
            }
            assert!(column == encode(&values, &options), "{shape:?}");
            for broken in [0, 20_000, 69_999] {
                assert_eq!(encode_from(&Far { values: &values, broken }, &options, |_| Ok(())), Err(broken));
            }
        }
    }
}

#[test]
fn values_of_four_bytes_are_the_same_numbers() {
    for shape in [Shape::SmallRange, Shape::Offsets, Shape::Sawtooth] {
        let short: Vec<u32> = shape.values(5_000, 3).iter().map(|&v| v as u32).collect();
        let long: Vec<i64> = short.iter().map(|&v| v.into()).collect();
        assert_eq!(encode(&short, &VALUES), encode(&long, &VALUES));
    }
}

#[test]
fn steep_lines_are_found() {
    // A minute in nanoseconds, with seven bits of jitter, which a line between two late values can make
    // eight: slope * i passes 2^63 in a block of 2^12. A day is left out, or one line would do.
    let mut random = Random(12);
    let minutes = (0..50_000).map(|i| if i < 20_480 { i } else { i + 1440 });
    let values: Vec<i64> = minutes.map(|i| i * 60_000_000_000 + random.below(100)).collect();
    let column = encode(&values, &VALUES);
    let shown = open(&column, JumpTables::Baked).unwrap().encodings().unwrap().to_string();
    assert_eq!(shown, "affine linear(7-8)");
    assert_eq!(column.block_shift, 12);
}

#[test]
fn one_block_is_taken_where_more_would_save_next_to_nothing() {
    // The last of 64 blocks of 1,024 could do with a bit less than 10: less than a 64th.
    let wide = (0..63 * 1024).map(|i| i * 7919 % 1024);
    let values: Vec<i64> = wide.chain((0..1024).map(|i| i * 7919 % 512)).collect();
    let column = encode(&values, &VALUES);
    assert_eq!((column.block_shift, column.jump), (ONE_BLOCK, None));
    // Of 96 such blocks, 33 are more.
    let values: Vec<i64> = values.into_iter().chain((0..32 * 1024).map(|i| i * 7919 % 512)).collect();
    assert_ne!(encode(&values, &VALUES).block_shift, ONE_BLOCK);
}

#[test]
fn one_line_through_all_values_is_one_block() {
    let values: Vec<i64> = (0..100_000).map(|i| i * 1_000 + i * i % 8).collect();
    let column = encode(&values, &VALUES);
    let shown = open(&column, JumpTables::Baked).unwrap().encodings().unwrap().to_string();
    assert_eq!((column.block_shift, &*shown), (ONE_BLOCK, "affine linear(3)"));
}

proptest! {
    #[test]
    fn a_divisor_divides_as_a_division_does(number in 1_u64.., small in 1_u64..5_000, quotient: u64) {
        for number in [number, small, small << 40, 1 << (number % 64)] {
            let quotient = quotient % (u64::MAX / number + u64::from(number > 1)).max(1);
            prop_assert_eq!(Divisor::of(number).quotient(number * quotient), quotient);
        }
    }
}

proptest! {
    #![proptest_config(crate::cases(24))]
    #[test]
    fn nothing_is_cheaper(shape in prop::sample::select(&Shape::ALL[..]), len in 1_usize..9_000, seed: u64) {
        check(&shape.values(len, seed));
    }

    #[test]
    fn nothing_is_cheaper_for_few_values(values in prop::collection::vec(-3_i64..300, 1..700)) {
        check(&values);
    }
}
