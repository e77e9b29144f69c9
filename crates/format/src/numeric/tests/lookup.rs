//! A [`Lookup`] returns the values that [`NumericReader::get`] returns, and exists once all bytes are verified.

use proptest::prelude::*;

use super::*;
use crate::bits;
use crate::source::SectionBytes;
use crate::source::test_section::TestSection;

fn lookup<B: SectionBytes>(reader: &NumericReader<B>) -> Option<Lookup<&[u8]>> {
    reader.lookup(|section, start| section.verified()?.get(start..))
}

/// Looks up one value of each block, as headers are checked after enough look-ups.
fn look_up_some<B: SectionBytes>(reader: &NumericReader<B>, values: &[i64]) {
    (0..reader.meta().block_count().max(1)).for_each(|i| assert_eq!(reader.get(i), Ok(values[i as usize])));
}

/// Values in one block, in one with a line, in several without lines, in several with lines, and in several with steep
/// lines.
fn layouts() -> [Vec<i64>; 5] {
    let mut random = Random(53);
    let plain: Vec<i64> = (0..120_000).map(|_| random.below(1 << 40)).collect();
    let jagged = (0..).zip(&plain).map(|(i, x)| x >> (i / 16_384 % 2 * 17)).collect();
    // Lines that end after 4,096 values, so that there are several blocks.
    let lines = |step: i64| move |i: i64| i % 4_096 * step * (1 + i / 4_096 % 3) + i * 7_919 % 1_000;
    let [gentle, steep] = [1_000, 1 << 44].map(|step| (0..30_000).map(lines(step)).collect());
    let line = (0..30_000).map(|i| i * 1_000 + i * 7_919 % 1_000).collect();
    [plain, line, jagged, gentle, steep]
}

/// Checks the pair and the runs from `index` on, also past the last value.
fn check_neighbours(lookup: &Lookup<&[u8]>, values: &[i64], index: usize) {
    let pair = values.get(index..index + 2).map(|pair| [pair[0], pair[1]]);
    assert_eq!(lookup.pair(index as u64), pair, "pair {index}");
    for len in 0..=RUN {
        let mut run = [0; RUN];
        let found = lookup.run(index as u64, len, &mut run, |value| value);
        assert_eq!(found.map(|()| &run[..len]), values.get(index..index + len), "{len} from {index} on");
    }
    assert_eq!(lookup.run(index as u64, RUN + 1, &mut [0; RUN], |value| value), None);
}

#[test]
fn pairs_and_runs_are_values() {
    let mut random = Random(59);
    // One block each, of values of which a load holds four, and of wider ones.
    let one_block = [10, 14, 15, 40]
        .map(|width| -> Vec<i64> { (0..5_000).map(|_| random.below(1 << width) - 3).collect() });
    let mut ends = 0;
    let offsets = (0..30_000).map(|_| {
        ends += 1 + random.below(5);
        ends
    });
    let offsets: Vec<i64> = offsets.collect();
    for values in layouts().into_iter().take(4).chain(one_block).chain([offsets]) {
        let column = encode(&values, &VALUES);
        let reader = open(&column, JumpTables::Baked).unwrap();
        look_up_some(&reader, &values);
        let lookup = lookup(&reader).unwrap();
        // Around the ends of blocks, some others, and past the last value.
        let (count, size) = (values.len(), 1_usize << column.block_shift.min(14));
        let ends = (0..=count + 2).filter(|index| (index + RUN + 1) % size < RUN + 3);
        let some = (0..count).step_by(61).chain(count - RUN - 1..count + 3);
        ends.chain(some).for_each(|index| check_neighbours(&lookup, &values, index));
        for index in [u64::MAX - 1, u64::MAX] {
            assert_eq!(lookup.pair(index), None);
            assert_eq!(lookup.run(index, 2, &mut [0; RUN], |value| value), None);
        }
    }
}

#[test]
fn verified_columns_have_a_lookup() {
    let expected = [(false, false), (false, true), (true, false), (true, true), (true, true)];
    for (at, (values, (has_blocks, has_lines))) in layouts().iter().zip(expected).enumerate() {
        let (column, is_steep) = (encode(values, &VALUES), at == 4);
        let found = (column.jump.is_some(), column.stride == Stride::Long);
        assert_eq!(found, (has_blocks, has_lines), "layout {at}");
        for mode in JumpTables::ALL {
            let reader = open(&column, mode).unwrap();
            assert!(lookup(&reader).is_none(), "before the first look-up");
            look_up_some(&reader, values);
            let is_built = has_blocks && mode == JumpTables::BuildOnFirstUse;
            assert_eq!(lookup(&reader).is_some(), !is_built && !is_steep, "{mode:?}");
        }
    }
}

#[test]
fn columns_with_unverified_bytes_have_none() {
    let [plain, _, jagged, gentle, _] = layouts();
    let cases = [(&plain, Section::Values), (&jagged, Section::Values), (&jagged, Section::ValuesJump)];
    for (values, unverified) in cases.into_iter().chain([(&gentle, Section::ValuesJump)]) {
        let section = |section: Section, bytes: Vec<u8>| {
            Ok::<_, ()>(TestSection::new(section, bytes, |granule| section != unverified || granule > 0))
        };
        let column = encode(values, &VALUES).try_map(&mut { section }).unwrap();
        let reader = NumericReader::open(column, JumpTables::Baked).unwrap();
        look_up_some(&reader, values);
        assert!(lookup(&reader).is_none(), "{unverified:?}");
    }
}

#[test]
fn tables_of_values_and_decimals() {
    let doubles = NumericOptions { doubles: true, ..VALUES };
    for (shape, options) in [(Shape::FewDistinct, &VALUES), (Shape::Cents, &doubles)] {
        let values = shape.values(30_000, 7);
        let column = encode(&values, options);
        assert!(matches!(column.transform, Transform::Table(_) | Transform::Decimal(_)), "{shape:?}");
        let reader = open(&column, JumpTables::Baked).unwrap();
        look_up_some(&reader, &values);
        let lookup = lookup(&reader).unwrap();
        for (index, value) in (0..).zip(&values) {
            assert_eq!(lookup.get(index), Some(*value), "value {index}");
        }
    }
}

#[test]
fn packed_integers_of_other_formats() {
    let mut random = Random(61);
    for width in [0, 1, 7, 8, 28, 56, 64] {
        let integers: Vec<u64> = (0..300).map(|_| random.next() & bits::mask(width)).collect();
        let (mut bytes, count) = (Vec::new(), integers.len() as u64);
        bits::pack(&integers, width, &mut bytes);
        // Without the bytes after the last integer, those that end in the last seven bytes cannot be loaded.
        let end = bytes.len();
        bytes.extend([0xFF; bits::OVERREAD]);
        for (base, gcd) in [(0, 1), (-7, 1), (i64::MAX, 60_000)] {
            let of = |bytes| Lookup::of_packed(bytes, (width, count), (base, gcd), &[]).unwrap();
            let (lookup, cut) = (of(&bytes[..]), of(&bytes[..end]));
            for (index, integer) in (0..).zip(&integers) {
                let value = base.wrapping_add(integer.wrapping_mul(gcd).cast_signed());
                assert_eq!(lookup.get(index), Some(value), "{width} bits, {index}");
                assert!(cut.get(index).is_none_or(|found| found == value), "{width} bits, {index}");
            }
            assert_eq!([count, u64::MAX].map(|index| lookup.get(index)), [None; 2]);
        }
    }
    let table = |bytes| Lookup::of_packed(bytes, (4, 4), (0, 1), &[50, -3]).unwrap();
    let lookup = table(&[0x01_u8, 0x21, 0, 0, 0, 0, 0, 0, 0, 0][..]);
    // An index past the table is none.
    assert_eq!([0, 1, 2, 3].map(|index| lookup.get(index)), [Some(-3), Some(50), Some(-3), None]);
    for (width, count) in [(57, 1), (8, 1 << 61), (64, u64::MAX)] {
        assert!(Lookup::of_packed(&[0_u8; 16][..], (width, count), (0, 1), &[]).is_none());
    }
}

proptest! {
    #![proptest_config(crate::cases(24))]
    #[test]
    fn a_lookup_is_a_get(
        shape in prop::sample::select(&Shape::ALL[..]),
        len in 1..crate::at_most(40_000),
        widths in prop::collection::vec(0_u32..64, 1..6),
        seed: u64,
    ) {
        let values = shape.values(len, seed);
        // The same, with blocks of other widths.
        let jagged = values.iter().enumerate().map(|(i, x)| x >> widths[i / 4_096 % widths.len()]).collect();
        for values in [values, jagged] {
            let reader = open(&encode(&values, &VALUES), JumpTables::Baked).unwrap();
            look_up_some(&reader, &values);
            let Some(lookup) = lookup(&reader) else { continue };
            for (index, value) in (0..).zip(&values) {
                prop_assert_eq!(lookup.get(index), Some(*value), "value {}", index);
            }
            (0..len + 3).step_by(29).for_each(|index| check_neighbours(&lookup, &values, index));
            for past in [len as u64, len as u64 + 1, u64::MAX] {
                prop_assert_eq!(lookup.get(past), None);
            }
        }
    }

    /// Bytes that change after they were verified, as those of a mapped file can, never cause a panic.
    #[test]
    fn bytes_that_change(
        layout in 0_usize..4,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let values = &layouts()[layout];
        let reader = open(&encode(values, &VALUES), JumpTables::Baked).unwrap();
        look_up_some(&reader, values);
        let changed = reader.lookup(|section, start| {
            let mut bytes = section.verified()?.to_vec();
            let len = bytes.len();
            changes.iter().for_each(|(at, byte)| bytes[at.index(len)] ^= byte);
            Some(bytes.split_off(start).into_boxed_slice())
        });
        let (changed, count) = (changed.unwrap(), values.len() as u64);
        prop_assert_eq!(changed.get(count), None);
        for index in 0..count {
            // Any values, or none.
            let _ = (changed.get(index), changed.pair(index));
            let _ = changed.run(index, 3, &mut [0; RUN], |value| value);
        }
    }
}
