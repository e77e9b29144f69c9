//! Every way to read a column agrees with a `Vec`.

use std::ops::{Range, RangeInclusive};

use proptest::prelude::*;

use super::pruning_stats::Share;
use super::*;
use crate::bits;
use crate::id::TermOrd;
use crate::source::test_section::TestSection;
use crate::sweep;

/// The bits that `filter` must set, by its documentation.
pub(super) fn expected_bits(values: &[i64], wanted: &RangeInclusive<i64>, mut bits: Vec<u64>) -> Vec<u64> {
    for (i, _) in values.iter().enumerate().filter(|(_, value)| wanted.contains(value)) {
        bits[i / 64] |= 1 << (i % 64);
    }
    bits
}

/// Ranges that miss, hit in part and hit all, with ends that are values and ends that are not.
fn wanted(values: &[i64], random: &mut Random) -> RangeInclusive<i64> {
    let mut end = || match random.below(8) {
        0 => i64::MIN,
        1 => i64::MAX,
        2 => random.next().cast_signed(),
        _ if values.is_empty() => 0,
        n => values[random.below(values.len() as u64) as usize].saturating_add(n - 4),
    };
    let ends = [end(), end()];
    ends[0].min(ends[1])..=ends[0].max(ends[1])
}

fn check_reader(values: &[i64], reader: &NumericReader<Owned>, random: &mut Random) {
    let len = values.len() as u64;
    assert_eq!(reader.count(), len);
    reader.verify().unwrap();

    for i in (0..len).step_by(values.len() / 500 + 1).chain(len.checked_sub(1)).chain((len > 0).then_some(0))
    {
        assert_eq!(reader.get(i), Ok(values[i as usize]), "value {i}");
        let pair = values.get(i as usize + 1).map(|&next| (values[i as usize], next));
        assert_eq!(reader.get_pair(i).ok(), pair, "pair {i}");
    }
    for i in [len, len + 1, len + 16384, u64::MAX] {
        let refused = reader.get(i).unwrap_err();
        assert!(matches!(refused.kind(), ErrorKind::OutOfRange { what: "value index", .. }), "{refused}");
        assert!(reader.get_pair(i.wrapping_sub(1)).is_err());
    }

    check_direct(values, reader);
    let mut all = vec![0; values.len()];
    reader.decode(0..len, &mut all).unwrap();
    assert_eq!(all, values);
    for _ in 0..8 {
        let range = random.range(values.len());
        let inside = &values[range.start as usize..range.end as usize];
        let mut run = vec![0; inside.len()];
        reader.decode(range.clone(), &mut run).unwrap();
        assert_eq!(run, inside, "decode {range:?}");
        let ord = |&value: &i64| TermOrd::new(u32::try_from(value).unwrap_or(u32::MAX));
        let mut ords = vec![TermOrd::new(0); inside.len()];
        reader.decode_ords(range.clone(), &mut ords).unwrap();
        assert!(ords.into_iter().eq(inside.iter().map(ord)), "ords {range:?}");

        let wanted = wanted(values, random);
        // Bits that are set stay set, and a word more than is needed stays as it is.
        let bits = vec![random.next() & random.next(); inside.len().div_ceil(64) + 1];
        let expected = expected_bits(inside, &wanted, bits.clone());
        let mut bits = bits;
        reader.filter(range.clone(), wanted.clone(), &mut bits, &mut Pruning::default()).unwrap();
        assert_eq!(bits, expected, "filter {range:?} by {wanted:?}");
        check_zones(values, reader, &range, &wanted);
    }
    #[expect(clippy::reversed_empty_ranges, reason = "that is the test")]
    reader.filter(0..len, 1..=0, &mut vec![0; values.len().div_ceil(64)], &mut Pruning::default()).unwrap();
    estimate::check(values, reader);
    check_counts(values, reader, random);
    check_gather(values, reader, random);
}

/// The bounds of a fine zone, by the description of the format.
fn ends_of_fine_zone(zone: &[i64], fine_zone: &[i64]) -> RangeInclusive<i64> {
    let ends = |values: &[i64]| (*values.iter().min().unwrap(), *values.iter().max().unwrap());
    let ((min, max), (low, high)) = (ends(zone), ends(fine_zone));
    // The highest bit of a distance and the two below it.
    let rounded = |distance: i128| {
        let mut unit = 1;
        while distance / unit > 7 {
            unit *= 2;
        }
        distance / unit * unit
    };
    let [min, max, low, high] = [min, max, low, high].map(i128::from);
    (min + rounded(low - min)) as i64..=(max - rounded(max - high)) as i64
}

/// Checks the bits of zones that may hold some of `wanted`, and the bounds of zones. Bits that were set stay set.
fn check_zones(
    values: &[i64],
    reader: &NumericReader<Owned>,
    range: &Range<u64>,
    wanted: &RangeInclusive<i64>,
) {
    let positions = range.start - range.start % ZONE..range.end;
    for (level, &size) in reader.levels().iter().enumerate() {
        let size = u64::from(size);
        let words = vec![0x8000_0001; ((positions.end - positions.start).div_ceil(size * 64) + 1) as usize];
        let (mut bits, mut counts, mut zones) = (words.clone(), Pruning::default(), Vec::new());
        reader.may_hold(level, positions.clone(), wanted, &mut counts, &mut bits).unwrap();
        reader.zones(level, positions.clone(), |zone| zones.push(zone)).unwrap();
        assert_eq!(zones.len() as u64, (positions.end - positions.start).div_ceil(size));
        let expected = positions.clone().step_by(size as usize).map(|first| {
            let zone = &values[(first - first % ZONE) as usize..];
            let zone = &zone[..zone.len().min(ZONE as usize)];
            let inner = zone[(first % ZONE) as usize..].chunks(size as usize).next().unwrap();
            let whole = *zone.iter().min().unwrap()..=*zone.iter().max().unwrap();
            (whole, if level == 0 { ends_of_fine_zone(zone, zone) } else { ends_of_fine_zone(zone, inner) })
        });
        let mut open = 0;
        for (at, (whole, ends)) in expected.enumerate() {
            assert_eq!(zones[at], ends, "zone {at} of level {level}");
            let [found, before] = [&bits, &words].map(|bits| bits[at / 64] >> (at % 64) & 1 == 1);
            let may_hold = !wanted.is_empty()
                && Share::of(&whole, wanted) != Share::None
                && Share::of(&ends, wanted) != Share::None;
            assert_eq!(found, before || may_hold, "zone {at} of level {level}: {wanted:?}");
            open += u64::from(may_hold);
        }
        let is_set = |bits: &[u64], at: usize| bits[at / 64] >> (at % 64) & 1 == 1;
        let past = zones.len()..bits.len() * 64;
        assert!(
            past.clone().all(|at| is_set(&bits, at) == is_set(&words, at)),
            "past the last zone of {past:?}"
        );
        if counts.fine_zones != PruneCounts::default() {
            assert_eq!(counts.fine_zones.open, open, "{wanted:?}");
            assert!(counts.fine_zones.total() <= zones.len() as u64, "{wanted:?}");
        }
        check_zone_counts(reader, positions.clone(), wanted, &counts);
    }
}

/// Zones are counted as a filter counts them.
fn check_zone_counts(
    reader: &NumericReader<Owned>,
    positions: Range<u64>,
    wanted: &RangeInclusive<i64>,
    counts: &Pruning,
) {
    let mut filtered = Pruning::default();
    let mut bits = vec![0; (positions.end - positions.start).div_ceil(64) as usize];
    reader.filter(positions, wanted.clone(), &mut bits, &mut filtered).unwrap();
    if counts.zones != PruneCounts::default() && filtered.directory == 0 {
        let PruneCounts { none, all, open } = filtered.zones;
        assert_eq!(counts.zones, PruneCounts { none, all: 0, open: all + open }, "{wanted:?}");
    }
}

/// Only a column of one affine block or without blocks has a `Direct`.
fn check_direct(values: &[i64], reader: &NumericReader<Owned>) {
    let meta = reader.meta();
    let is_one = match meta.transform {
        Transform::Constant(_) => true,
        Transform::Affine { .. } => meta.block_count() == 1,
        Transform::Decimal(_) | Transform::Table(_) => false,
    };
    let direct = reader.direct();
    assert_eq!(direct.is_some(), is_one);
    let Some(direct) = direct else { return };
    for (i, value) in (0..).zip(values) {
        direct.prefetch(i);
        assert_eq!(direct.get(i), Some(*value), "value {i}");
    }
    for i in [0, 1, 63, 16384, u64::MAX / 2, u64::MAX - values.len() as u64] {
        direct.prefetch(values.len() as u64 + i);
        assert_eq!(direct.get(values.len() as u64 + i), None, "value {i} after the last");
    }
}

/// Pruning statistics agree with the values, and do not depend on how positions are split.
fn check_counts(values: &[i64], reader: &NumericReader<Owned>, random: &mut Random) {
    let len = values.len() as u64;
    let wanted = wanted(values, random);
    let counted = |positions: Range<u64>| {
        let (mut counts, mut bits) = (Pruning::default(), vec![0; values.len().div_ceil(64)]);
        reader.filter(positions, wanted.clone(), &mut bits, &mut counts).unwrap();
        counts
    };
    let whole = counted(0..len);
    let mut parts = Pruning::default();
    // Anywhere, and where a zone or a block begins.
    let [a, b] = [(); 2].map(|()| random.below(len + 1).cast_unsigned());
    let a = if random.below(2) == 0 { a } else { a / 512 * 512 };
    for part in [0..a.min(b), a.min(b)..a.max(b), a.max(b)..len] {
        parts += counted(part);
    }
    assert_eq!(parts, whole, "{wanted:?}, cut at {a} and {b}");
    if whole.directory > 0 || values.is_empty() || wanted.is_empty() {
        let directory = if wanted.is_empty() { 0 } else { len };
        assert_eq!(whole, Pruning { directory, ..Pruning::default() }, "{wanted:?}");
        return;
    }
    let (mut zones, mut fine_zones, mut open) = (PruneCounts::default(), PruneCounts::default(), 0);
    for zone in values.chunks(ZONE as usize) {
        let (min, max) = (zone.iter().min().unwrap(), zone.iter().max().unwrap());
        let share = Share::of(&(*min..=*max), &wanted);
        zones.note(share, 1);
        if share != Share::Some {
            continue;
        }
        if reader.meta().fine_zones.is_none() {
            open += zone.len() as u64;
            continue;
        }
        let shares = zone
            .chunks(FINE_ZONE as usize)
            .map(|fine_zone| Share::of(&ends_of_fine_zone(zone, fine_zone), &wanted));
        // If every fine zone may match, none is counted as matching as a whole.
        let is_whole = shares.clone().all(|share| share != Share::None);
        for (fine_zone, share) in zone.chunks(FINE_ZONE as usize).zip(shares) {
            let share = if is_whole { Share::Some } else { share };
            fine_zones.note(share, 1);
            open += if share == Share::Some { fine_zone.len() as u64 } else { 0 };
        }
    }
    if reader.meta().zones.is_some() {
        assert_eq!((whole.zones, whole.fine_zones), (zones, fine_zones), "{wanted:?}");
        assert!(whole.read <= open, "{wanted:?}: {} of {open} values", whole.read);
    } else {
        assert_eq!((whole.zones, whole.fine_zones), (PruneCounts::default(), PruneCounts::default()));
    }
    if reader.meta().fine_zones.is_some() {
        assert_eq!(whole.blocks.total(), fine_zones.open, "{wanted:?}");
    }
    assert_eq!(whole.read == 0, whole.blocks.open == 0);
}

fn check_gather(values: &[i64], reader: &NumericReader<Owned>, random: &mut Random) {
    let indices: Vec<u32> = match values.len() as u64 {
        0 => Vec::new(),
        len => (0..300).map(|_| random.below(len) as u32).collect(),
    };
    let mut sorted = indices.clone();
    sorted.sort_unstable();
    let near = indices.iter().flat_map(|&i| [i, i.saturating_sub(1), i]).collect();
    // All from somewhere on, and some of them, in runs that begin and end anywhere.
    let start = indices.first().copied().unwrap_or(0);
    let dense: Vec<u32> = (start..values.len() as u32).take(700).collect();
    let some = dense.iter().copied().filter(|_| random.below(3) == 0).collect();
    for indices in [indices, sorted, near, dense, some, Vec::new()] {
        let mut out = vec![42; indices.len()];
        reader.gather(&indices, &mut out).unwrap();
        for (&i, &got) in indices.iter().zip(&out) {
            assert_eq!(got, values[i as usize], "gather {i}");
        }
        let mut ords = vec![TermOrd::new(42); indices.len()];
        let done = reader.gather_ords(&indices, &mut ords);
        for (&i, &got) in indices.iter().zip(&ords[..done]) {
            assert_eq!(i64::from(got.get()), values[i as usize], "ord {i}");
        }
        assert!(ords[done..].iter().all(|ord| ord.get() == 42));
    }
    let past = values.len() as u32;
    for indices in [&[past][..], &[0, past], &[u32::MAX]] {
        assert!(reader.gather(indices, &mut [0; 2][..indices.len()]).is_err(), "{indices:?}");
        let repeated = indices.repeat(16);
        let mut ords = vec![TermOrd::new(0); repeated.len()];
        let before = indices.iter().take_while(|&&index| index < past).count();
        assert!(reader.gather_ords(&repeated, &mut ords) <= before, "{indices:?}");
    }
}

fn check(values: &[i64], seed: u64) {
    let mut random = Random(seed);
    for jump_tables in [true, false] {
        for zones in [true, false] {
            let options = NumericOptions { jump_tables, zones, ..VALUES };
            check_column(values, &encode(values, &options), &options, &mut random);
        }
        let doubles = encode(values, &NumericOptions { doubles: true, jump_tables, ..VALUES });
        if matches!(doubles.transform, Transform::Decimal(_)) {
            check_column(values, &doubles, &NumericOptions { jump_tables, ..VALUES }, &mut random);
        } else {
            assert_eq!(doubles, encode(values, &NumericOptions { jump_tables, ..VALUES }));
        }
    }
}

fn check_column(values: &[i64], column: &Numeric<Vec<u8>>, options: &NumericOptions, random: &mut Random) {
    assert_eq!(column.zones.is_some(), options.zones && values.len() > 4096 && column.blocks.is_some());
    assert_eq!(column.jump.is_some(), options.jump_tables && column.block_count() > 1);
    assert_eq!(column.fine_zones.is_some(), column.zones.is_some());
    for mode in JumpTables::ALL {
        check_reader(values, &open(column, mode).unwrap(), random);
    }
    // As written by earlier releases, without fine zones.
    let bare = Numeric { fine_zones: None, ..column.clone() };
    if bare != *column {
        check_reader(values, &open(&bare, JumpTables::Baked).unwrap(), random);
    }
}

#[test]
fn every_shape_at_every_edge() {
    let edges = [0, 1, 2, 63, 64, 65, 511, 512, 513, 4095, 4096, 4097, 16383, 16384, 16385];
    let edges = if cfg!(miri) { &edges[..6] } else { &edges };
    for (turn, shape) in Shape::ALL.into_iter().enumerate() {
        // All in the full sweep; otherwise the long ones by turns.
        let is_checked = |at: usize, len: usize| len <= 513 || sweep((at + turn).is_multiple_of(2), true);
        for (_, &len) in edges.iter().enumerate().filter(|&(at, &len)| is_checked(at, len)) {
            check(&shape.values(len, 1), 2);
        }
    }
}

#[test]
fn long_columns() {
    let all = Shape::ALL.into_iter().zip([65_535, 65_536, 65_537].into_iter().cycle());
    for (shape, len) in all.step_by(sweep(2, 1)) {
        check(&shape.values(len, 3), 4);
    }
    // Past the end of a zone of the upper level.
    for shape in [Shape::Plateaus, Shape::Timestamps].into_iter().take(sweep(1, 2)) {
        check(&shape.values(262_144 + 5_000, 5), 6);
    }
}

#[test]
fn offsets_have_neither_table_nor_zones() {
    for role in [Role::Offsets, Role::TermOffsets] {
        let values = Shape::FewDistinct.values(10_000, 7);
        let column = encode(&values, &NumericOptions { role, ..VALUES });
        assert!(matches!(column.transform, Transform::Affine { .. }) && column.zones.is_none());
        check_reader(&values, &open(&column, JumpTables::Baked).unwrap(), &mut Random(8));
    }
}

/// Integers that fit four bytes, and those that just do not, in one block and in several.
#[test]
fn ascending_integers_about_as_wide_as_four_bytes_hold() {
    let mut random = Random(37);
    for width in 23..=34_u8 {
        for len in [1_000, 40_000] {
            let mut values: Vec<i64> =
                (0..len).map(|_| (random.next() & bits::mask(width)).cast_signed()).collect();
            // Narrow ones after them make several blocks.
            if len > 20_000 {
                values[20_000..].iter_mut().for_each(|value| *value &= 0xFF);
            }
            let reader = encode(&values, &VALUES)
                .try_map(&mut |section, bytes| Ok::<_, ()>(Owned::new(section, bytes)));
            let reader = NumericReader::open(reader.unwrap(), JumpTables::Baked).unwrap();
            for step in [1, 3] {
                let indices: Vec<u32> = (0..len as u32).step_by(step).collect();
                let mut out = vec![0; indices.len()];
                reader.gather(&indices, &mut out).unwrap();
                let wrong = indices.iter().zip(&out).find(|&(&i, &got)| got != values[i as usize]);
                assert_eq!(wrong, None, "{len} of {width} bits");
            }
        }
    }
}

#[test]
fn packed_integers_of_other_formats_are_gathered() {
    let mut random = Random(5);
    for width in (1..=bits::MAX_SPLIT_WIDTH).chain([64]) {
        let numbers: Vec<u64> = (0..1_000).map(|_| random.next() & bits::mask(width)).collect();
        let mut bytes = Vec::new();
        bits::pack(&numbers, width, &mut bytes);
        bytes.extend([0xFF; bits::OVERREAD]);
        for count in [1, 20, 63, 64, 65, 79, 500] {
            let mut indices: Vec<u32> = (0..count).map(|_| random.below(1_000) as u32).collect();
            let mut out = vec![7; count];
            for base in [0, i64::MAX] {
                assert_eq!(gather_packed(&bytes, width, base, &indices, &mut out), count);
                let number = |index: &u32| base.wrapping_add(numbers[*index as usize].cast_signed());
                assert!(out.iter().copied().eq(indices.iter().map(number)), "{count} of {width} bits");
                indices.sort_unstable();
            }
            // It stops at the first one that is not there.
            indices[count / 2] = 1_000_000;
            assert_eq!(gather_packed(&bytes, width, 0, &indices, &mut out), count / 2);
        }
        assert_eq!(gather_packed(&bytes, width, 0, &[], &mut []), 0);
    }
    assert_eq!([0, 57, 65].map(|width| gather_packed(&[0; 16], width, 0, &[0], &mut [7])), [0; 3]);
}

#[test]
fn narrow_ords_are_gathered_by_a_kernel() {
    let mut random = Random(41);
    for (width, from) in [(1, 0), (17, 0), (17, 1_000_000), (25, 7), (25, u32::MAX - (1 << 25) + 1)] {
        let ends = [0, bits::mask(width)];
        let random = (0..3_000).map(|_| random.next() & bits::mask(width));
        let values: Vec<i64> =
            ends.into_iter().chain(random).map(|x| i64::from(from) + x.cast_signed()).collect();
        let reader = open(&encode(&values, &VALUES), JumpTables::Baked).unwrap();
        for step in [1, 20] {
            let indices: Vec<u32> = (0..3_000).step_by(step).collect();
            let mut ords = vec![TermOrd::new(0); indices.len()];
            let done = reader.gather_ords(&indices, &mut ords);
            assert_eq!(done, indices.len(), "{width} bits from {from}");
            assert!(
                indices.iter().zip(&ords[..done]).all(|(&i, ord)| i64::from(ord.get()) == values[i as usize])
            );
        }
        // From anywhere on, within a byte or not.
        for start in [0, 1, 7, 8, 1_000] {
            let range = start..values.len() as u64;
            let mut ords = vec![TermOrd::new(0); values.len() - start as usize];
            reader.decode_ords(range, &mut ords).unwrap();
            let expected = &values[start as usize..];
            assert!(ords.iter().zip(expected).all(|(ord, &value)| i64::from(ord.get()) == value), "{start}");
        }
        // One more, and the greatest does not fit a `u32`.
        if from > 1 << 31 {
            let values: Vec<i64> = values.iter().map(|value| value + 1).collect();
            let reader = open(&encode(&values, &VALUES), JumpTables::Baked).unwrap();
            assert_eq!(reader.gather_ords(&[5; 16], &mut [TermOrd::new(0); 16]), 0);
            let mut ords = vec![TermOrd::new(0); values.len()];
            reader.decode_ords(0..values.len() as u64, &mut ords).unwrap();
            assert!(
                ords.iter()
                    .zip(values)
                    .all(|(ord, value)| ord.get() == u32::try_from(value).unwrap_or(u32::MAX))
            );
        }
    }
}

#[test]
fn encodings_are_counted_from_headers() {
    let shown = |shape: Shape| {
        let reader = open(&encode(&shape.values(60_000, 10), &VALUES), JumpTables::BuildOnFirstUse).unwrap();
        reader.encodings().unwrap().to_string()
    };
    let doubles = |shape: Shape| {
        let column = encode(&shape.values(60_000, 10), &NumericOptions { doubles: true, ..VALUES });
        open(&column, JumpTables::BuildOnFirstUse).unwrap().encodings().unwrap().to_string()
    };
    assert_eq!(doubles(Shape::Cents), "decimal(2) packed(11)");
    assert_eq!(doubles(Shape::Positions), "decimal(7, gcd 2) packed(49)");
    assert_eq!(shown(Shape::Constant), "constant");
    assert_eq!(shown(Shape::SmallRange), "affine packed(6)");
    assert_eq!(shown(Shape::Multiples), "affine(gcd 1000) packed(13)");
    assert_eq!(shown(Shape::FewDistinct), "table(4) packed(2)");
    assert_eq!(shown(Shape::Steps), "affine packed(6)");
    assert_eq!(shown(Shape::Plateaus), "affine(gcd 1000003) constant packed(1)");
    assert!(shown(Shape::Offsets).starts_with("affine linear("), "{}", shown(Shape::Offsets));
    let reader =
        open(&encode(&Shape::Plateaus.values(60_000, 10), &VALUES), JumpTables::BuildOnFirstUse).unwrap();
    let counts: u64 = reader.encodings().unwrap().blocks.iter().map(|count| count.blocks).sum();
    assert_eq!(counts, reader.meta().block_count());
}

proptest! {
    #![proptest_config(crate::cases(24))]
    #[test]
    fn any_shape_of_any_length(shape in prop::sample::select(&Shape::ALL[..]), len in 0..crate::at_most(20_000), seed: u64) {
        check(&shape.values(len, seed), seed ^ 1);
    }

    /// Kernels gather sixteen ascending indices at a time, if they lie in one block of narrow numbers.
    #[test]
    fn ascending_lists(
        widths in prop::collection::vec(prop_oneof![0_u32..=26, 0_u32..=63], 1..6),
        len in prop_oneof![1_usize..2_000, Just(crate::at_most(16_384)), Just(crate::at_most(17_000))],
        gap in prop::sample::select(vec![1_u64, 2, 20, 200, 2_000]),
        good in prop::sample::select(vec![u64::MAX, !0b100, 0xAAAA_AAAA_AAAA_AAAA, 0]),
        sloped: bool,
        seed: u64,
    ) {
        let mut random = Random(seed);
        let number = |(at, width): (usize, u32)| {
            let x = random.next() & bits::mask(u8::try_from(width).unwrap());
            x.cast_signed().wrapping_add(if sloped { at as i64 * 1_000 } else { 0 })
        };
        let values: Vec<i64> = widths.iter().flat_map(|&w| std::iter::repeat_n(w, len)).enumerate().map(number).collect();
        let column = encode(&values, &VALUES);
        let column = column.try_map(&mut |section, bytes| {
            Ok::<_, ()>(TestSection::new(section, bytes, |granule| good >> (granule % 64) & 1 == 1))
        });
        let reader = NumericReader::open(column.unwrap(), JumpTables::Baked).unwrap();
        let mut next = random.below(gap) as u32;
        let mut indices = Vec::new();
        while (next as usize) < values.len() {
            indices.push(next);
            next += 1 + random.below(2 * gap - 1) as u32;
        }
        let mut out = vec![0; indices.len()];
        reader.gather(&indices, &mut out).unwrap();
        let wrong = indices.iter().zip(&out).find(|&(&i, &got)| got != values[i as usize]);
        prop_assert_eq!(wrong, None);
        // An index past the end is an error, wherever it is in the list.
        if !indices.is_empty() {
            let at = random.below(indices.len() as u64) as usize;
            indices[at] = values.len() as u32 + random.below(3) as u32;
            prop_assert!(reader.gather(&indices, &mut out).is_err());
        }
    }

    #[test]
    fn any_values(values in prop::collection::vec(any::<i64>(), 0..crate::at_most(700)), seed: u64) {
        check(&values, seed);
    }
}
