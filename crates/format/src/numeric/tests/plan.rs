//! The plan is exact, and nothing is cheaper.

use proptest::prelude::*;

use super::super::encode::{encode_blocks, encode_one};
use super::super::plan::{Cut, Numbers, Plan, Stats, plan};
use super::*;

/// The bytes of every combination of blocks, by encoding it.
fn every_plan(values: &[i64], stats: &Stats, jump_tables: bool) -> Vec<Plan> {
    let mut plans = Vec::new();
    for shift in BLOCK_SHIFTS {
        for stride in Stride::ALL {
            let mut add = |table: bool, numbers: Numbers<'_>, own: usize| {
                let (blocks, jump) = encode_blocks(numbers, shift, stride);
                let jump = if jump_tables && jump.len() > stride.bytes() { jump.len() } else { 0 };
                let cut = Cut::Blocks { shift, stride };
                plans.push(Plan { table, cut, bytes: (blocks.len() + jump + own) as u64 });
            };
            add(false, Numbers::Affine { values, base: stats.min, gcd: stats.gcd }, 0);
            if let Some(table) = &stats.distinct {
                add(true, Numbers::Table { values, table }, table.len() * 8);
            }
        }
    }
    plans
}

fn check(values: &[i64]) {
    let stats = Stats::of(values).unwrap();
    if stats.min == stats.max {
        return;
    }
    for jump_tables in [true, false] {
        let chosen = plan(values, &stats, jump_tables);
        let plans = every_plan(values, &stats, jump_tables);
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

        let column = encode(values, &NumericOptions { role: Role::Values, jump_tables, zones: false });
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
fn of_every_shape_the_cheapest_encoding_is_planned() {
    for shape in Shape::ALL {
        for len in [1, 2, 513, 4097, 40_000] {
            check(&shape.values(len, 11));
        }
    }
}

#[test]
fn statistics_know_what_divides_and_what_is_distinct() {
    let stats = |values: &[i64]| Stats::of(values).unwrap();
    assert_eq!(Stats::of(&[]), None);
    assert_eq!(stats(&[5, 5]), Stats { min: 5, max: 5, gcd: 0, distinct: Some(vec![5]) });
    assert_eq!(stats(&[10, -2, 4]).gcd, 6);
    let ends = stats(&[i64::MAX, i64::MIN, i64::MAX]);
    assert_eq!(
        ends,
        Stats { min: i64::MIN, max: i64::MAX, gcd: u64::MAX, distinct: Some(vec![i64::MIN, i64::MAX]) }
    );
    let many: Vec<i64> = (0..256).rev().collect();
    assert_eq!(stats(&many).distinct.unwrap().len(), MAX_TABLE);
    assert_eq!(stats(&[&many[..], &[256]].concat()).distinct, None);
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

#[test]
fn the_same_values_give_the_same_bytes() {
    let values = Shape::Timestamps.values(10_000, 13);
    assert_eq!(encode(&values, &VALUES), encode(&values, &VALUES));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn nothing_is_cheaper(shape in prop::sample::select(&Shape::ALL[..]), len in 1_usize..9_000, seed: u64) {
        check(&shape.values(len, seed));
    }

    #[test]
    fn nothing_is_cheaper_for_few_values(values in prop::collection::vec(-3_i64..300, 1..700)) {
        check(&values);
    }
}
