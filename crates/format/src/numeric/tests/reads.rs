//! The bytes that reading a column slices, and unverified bytes that it must not use.

use std::ops::{Range, RangeInclusive};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::agree::expected_bits;
use super::*;
use crate::error::Place;
use crate::granule::GRANULE;
use crate::source::test_section::TestSection;
use crate::source::{PartlyVerified, SectionBytes};
use crate::sweep;

/// A section that counts the bytes of calls of `slice`, but not of `copy`.
struct Counted(Owned, AtomicUsize);

impl SectionBytes for Counted {
    fn place(&self) -> Place {
        self.0.place()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn slice(&self, range: std::ops::Range<usize>) -> Result<&[u8]> {
        self.1.fetch_add(range.len(), Ordering::Relaxed);
        self.0.slice(range)
    }

    fn copy_to(&self, at: usize, out: &mut [u8]) -> Result<()> {
        self.0.copy_to(at, out)
    }

    fn verified(&self) -> Option<&[u8]> {
        None
    }
}

fn counted(column: Numeric<Vec<u8>>) -> NumericReader<Counted> {
    let column = in_memory(column).try_map(&mut |_, s| Ok::<_, ()>(Counted(s, AtomicUsize::new(0)))).unwrap();
    NumericReader::open(column, JumpTables::Baked).unwrap()
}

fn bytes_of_blocks(reader: &NumericReader<Counted>) -> usize {
    reader.meta.blocks.as_ref().unwrap().1.swap(0, Ordering::Relaxed)
}

#[test]
fn a_filter_looks_only_where_some_values_are_wanted_and_some_are_not() {
    // Ascending, but by a random bit: no two zones overlap, and no block is constant.
    let values: Vec<i64> = (0..600_000_i64).map(|i| i * 2 + Random(i.cast_unsigned()).below(2)).collect();
    let column = encode(&values, &VALUES);
    check_looks(&values, Numeric { fine_zones: None, ..column.clone() }, ZONE);
    check_looks(&values, column, FINE_ZONE);
}

/// Checks the bytes that filters read and their pruning counts, with a skip index down to zones of `step` values.
fn check_looks(values: &[i64], column: Numeric<Vec<u8>>, step: u64) {
    let all = column.blocks.as_ref().unwrap().len();
    let reader = counted(column);
    let len = values.len() as u64;
    let filter = |range: RangeInclusive<i64>| {
        let mut bits = vec![0; values.len().div_ceil(64)];
        let mut counts = Pruning::default();
        reader.filter(0..len, range.clone(), &mut bits, &mut counts).unwrap();
        assert_eq!(bits, expected_bits(values, &range, vec![0; bits.len()]));
        (bytes_of_blocks(&reader), counts)
    };
    let outright = Pruning { directory: len, ..Pruning::default() };
    assert_eq!(filter(-5..=-1), (0, outright), "below all");
    assert_eq!(filter(0..=i64::MAX), (0, outright), "all");
    let ((some, counts), zone) = (filter(300_000..=900_000), all / (600_000 / 4096));
    assert!(0 < some && some <= 3 * zone, "{some} of {all} bytes for the two zones with an end");
    // Values 150,000 to 450,000 of 147 zones: from the middle of zone 36 to that of 109.
    assert_eq!(counts.zones, PruneCounts { none: 147 - 74, all: 72, open: 2 });
    // All lie along one line, and are decided by 512: of the first zone the fifth of eight is not, of the last the seventh.
    // A fine zone tells its ends about as well as one in eight, so the neighbour of one that has an end may be open; so all
    // of the last zone may hold some, and are left to lines.
    let by_512 = PruneCounts { none: 4 + 1, all: 3 + 6, open: 2 };
    let fine_zones = PruneCounts { none: 4, all: 3, open: 1 + 8 };
    let expected = match step {
        FINE_ZONE => (fine_zones, PruneCounts { none: 1, all: 6, open: 2 }),
        _ => (PruneCounts::default(), by_512),
    };
    assert_eq!((counts.fine_zones, counts.blocks), expected);
    assert_eq!(counts.read, 2 * 512);

    let open = |positions: Range<u64>, wanted: RangeInclusive<i64>| -> Vec<u64> {
        let (mut bits, mut counts) = ([0; 3], Pruning::default());
        reader.may_hold(0, positions, &wanted, &mut counts, &mut bits).unwrap();
        (0..192).filter(|zone| bits[zone / 64] >> (zone % 64) & 1 == 1).map(|zone| zone as u64).collect()
    };
    for (wanted, zones) in [
        (300_000..=900_000, 36..110),
        (0..=5, 0..1),
        (500_000..=500_000, 61..62),
        (1_199_990..=i64::MAX, 146..147),
    ] {
        assert!(open(0..len, wanted.clone()).into_iter().eq(zones), "{wanted:?}");
    }
    assert!(open(0..len, -5..=-1).is_empty());
    assert_eq!(open(ZONE..150_000, 0..=20_000), [0, 1]);
    assert_eq!(bytes_of_blocks(&reader), 0);
}

#[test]
fn a_value_costs_no_bytes_besides_its_own() {
    for shape in [Shape::SmallRange, Shape::Steps] {
        let reader = counted(encode(&shape.values(100_000, 9), &VALUES));
        // The first value brings the header of the only block.
        reader.get(7).unwrap();
        bytes_of_blocks(&reader);
        for i in [0, 50_001, 99_999] {
            reader.get(i).unwrap();
            assert!(bytes_of_blocks(&reader) <= 6 + 8, "value {i} of {shape:?}");
        }
        reader.gather(&[70_000, 70_003], &mut [0; 2]).unwrap();
        assert!(bytes_of_blocks(&reader) <= 2 * 6 + 8);
    }
}

#[test]
fn a_batch_takes_nothing_from_granules_that_were_never_checked() {
    let good: [fn(usize) -> bool; 4] = [|_| true, |at| at % 2 == 1, |at| at != 3, |_| false];
    let shapes = [Shape::SmallRange, Shape::Steps, Shape::Timestamps, Shape::FewDistinct];
    // All of the other sections may be good, and known to be.
    let all = [Section::Values, Section::ValuesJump, Section::ValuesTable];
    let patched = [&all[..], &all[..1], &all[1..2]];
    let encoded = shapes.map(|shape| {
        let values = shape.values(150_000, 22);
        (shape, encode(&values, &VALUES), values)
    });
    let cases = encoded.iter().flat_map(|case| good.map(|good| (case, good)));
    for (((shape, column, values), good), patched) in
        cases.flat_map(|case| patched.map(|patched| (case, patched)))
    {
        let column = column
            .clone()
            .try_map(&mut |section, bytes| {
                let good = |granule| good(granule) || !patched.contains(&section);
                Ok::<_, ()>(TestSection::new(section, bytes, good))
            })
            .unwrap();
        let reader = NumericReader::open(column, JumpTables::Baked).unwrap();
        let mut random = Random(23);
        let apart = (0..5_000).map(|_| random.below(150_000) as u32);
        // Each beside seven good ones: some lie in two granules, and the second one is damaged.
        let near = (0..20_000).step_by(sweep(7, 1));
        let indices: Vec<u32> = apart.chain(near.flat_map(|i| [i, 0, 0, 0, 0, 0, 0, 0])).collect();
        let mut out = vec![0; indices.len()];
        reader.gather(&indices, &mut out).unwrap();
        assert!(indices.iter().zip(&out).all(|(&i, &got)| got == values[i as usize]), "{shape:?}");
    }
}

/// Among more granules than two words of bits know of, whether places follow each other or not.
#[test]
fn batches_ask_for_each_granule_of_a_large_section() {
    let mut random = Random(31);
    // One block, and blocks of two widths.
    let plain: Vec<i64> = (0..120_000).map(|_| random.below(1 << 40)).collect();
    let jagged: Vec<i64> = (0..).zip(&plain).map(|(i, x)| x >> (i / 16_384 % 2 * 17)).collect();
    let patterns: [fn(usize) -> bool; 3] = [
        |granule| granule % 64 != 3,
        |granule| granule / 64 != 1,
        |granule| (granule as u64 * 2_654_435_761) >> 9 & 3 != 0,
    ];
    for (values, good) in [&plain, &jagged].into_iter().flat_map(|values| patterns.map(|good| (values, good)))
    {
        let column = encode(values, &VALUES);
        assert!(column.blocks.as_ref().unwrap().len() > 100 * GRANULE);
        let column =
            column.try_map(&mut |section, bytes| Ok::<_, ()>(TestSection::new(section, bytes, good)));
        let reader = NumericReader::open(column.unwrap(), JumpTables::Baked).unwrap();
        for step in [sweep(5, 1), 97, 1_201] {
            let mut indices: Vec<u32> = (0..120_000).step_by(step).collect();
            for order in 0..2 {
                let mut out = vec![0; indices.len()];
                reader.gather(&indices, &mut out).unwrap();
                assert!(
                    indices.iter().zip(&out).all(|(&i, &got)| got == values[i as usize]),
                    "{step} {order}"
                );
                indices.sort_by_key(|&i| i.wrapping_mul(2_654_435_761));
            }
        }
    }
}

/// Single look-ups take a shorter way once the headers were looked at, if those are good.
#[test]
fn one_by_one_is_as_in_a_batch_whatever_the_headers_say() {
    // Lines that end after 4,096 values, so that there are several blocks.
    let lines = |step: i64| move |i: i64| i % 4_096 * step * (1 + i / 4_096 % 3) + i * 7_919 % 1_000;
    let (steep, gentle) = (lines(1 << 44), lines(1_000));
    let mixed = |i: i64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64.cast_signed());
    let wide = |i: i64| if i / 4_096 % 2 == 0 { i % 3 } else { mixed(i) };
    for (values, line) in [(&steep as &dyn Fn(i64) -> i64, true), (&gentle, true), (&wide, false)] {
        let values: Vec<i64> = (0..30_000).map(values).collect();
        let good = encode(&values, &VALUES);
        assert_eq!(good.stride == Stride::Long, line);
        let table = good.jump.clone().unwrap();
        let last = table.len() - good.stride.bytes();
        // A tag, a width, a payload past the end, and a bit of the slope.
        for at in
            [None, Some(8), Some(9), Some(15), Some(16)].into_iter().filter(|at| line || *at != Some(16))
        {
            let mut column = good.clone();
            if let (Some(table), Some(at)) = (&mut column.jump, at) {
                table[last + at] ^= 3;
            }
            let reader = open(&column, JumpTables::Baked).unwrap();
            let mut batch = vec![0; values.len()];
            // Twice: the first round reads the headers.
            for index in (0..values.len()).chain(0..values.len()) {
                let got = reader.get(index as u64).ok();
                let gathered = reader.gather(&[index as u32], &mut batch[..1]).is_ok();
                assert_eq!(got, gathered.then_some(batch[0]), "value {index}, byte {at:?}");
                if at.is_none() || index as u64 >> good.block_shift < (last / good.stride.bytes()) as u64 {
                    assert_eq!(got, Some(values[index]), "value {index}, byte {at:?}");
                }
            }
            assert!(reader.fast_path.get().is_some(), "byte {at:?}");
        }
    }
}

/// A value and a pair of values by the fast path are those of single look-ups, around the ends of blocks, and among granules
/// that are not verified.
#[test]
fn neighbours_on_the_fast_path_are_values() {
    let mut random = Random(47);
    let plain: Vec<i64> = (0..120_000).map(|_| random.below(1 << 40)).collect();
    let jagged: Vec<i64> = (0..).zip(&plain).map(|(i, x)| x >> (i / 16_384 % 2 * 17)).collect();
    let lines: Vec<i64> =
        (0..120_000).map(|i| i % 4_096 * 1_000 * (1 + i / 4_096 % 3) + i * 7_919 % 1_000).collect();
    let patterns: [fn(usize) -> bool; 3] = [|_| true, |granule| granule % 4 != 1, |_| false];
    for (values, good) in
        [&plain, &jagged, &lines].into_iter().flat_map(|values| patterns.map(|good| (values, good)))
    {
        let column = encode(values, &VALUES);
        let shift = column.block_shift;
        let section = |section: Section, bytes: Vec<u8>| {
            Ok::<_, ()>(TestSection::new(section, bytes, |granule| {
                section != Section::Values || good(granule)
            }))
        };
        let reader =
            NumericReader::open(column.try_map(&mut { section }).unwrap(), JumpTables::Baked).unwrap();
        (0..reader.meta.block_count()).for_each(|i| assert_eq!(reader.get(i), Ok(values[i as usize])));
        assert!(reader.fast_path.get().is_some());
        let all = (0..30).all(good);
        let ends =
            (1..reader.meta.block_count()).flat_map(|block| (block << shift) - 3..(block << shift) + 2);
        let some = (0..2_000).map(|i| i * 7_919 % 119_990);
        for index in ends.chain(some).chain([0, 119_990]).filter(|index| *index <= 119_990) {
            let at = index as usize;
            assert_eq!(reader.get(index), Ok(values[at]));
            let (pair, found) = ((values[at], values[at + 1]), reader.pair_verified(index));
            assert_eq!(reader.get_pair(index), Ok(pair), "pair {index}");
            assert!(found.is_none_or(|found| found == pair), "pair {index}");
            assert!(!all || found.is_some(), "pair {index}");
            let found = reader.get_verified(index);
            assert!(found.is_none_or(|found| found == values[at]), "value {index}");
            assert!(!all || found.is_some(), "value {index}");
        }
        assert_eq!([120_000, u64::MAX].map(|index| reader.get_verified(index)), [None; 2]);
        assert_eq!((reader.pair_verified(119_999), reader.pair_verified(u64::MAX)), (None, None));
    }
    let constant = open(&encode(&[7_i64; 100], &VALUES), JumpTables::Baked).unwrap();
    assert_eq!([99, 100].map(|index| constant.get_verified(index)), [Some(7), None]);
}

/// A section in memory without verified bytes. The first slice of all of it waits for another thread, twice.
struct Waiting<'a> {
    bytes: Owned,
    slices: &'a AtomicUsize,
    both: &'a Barrier,
}

impl SectionBytes for Waiting<'_> {
    fn place(&self) -> Place {
        self.bytes.place()
    }

    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn slice(&self, range: Range<usize>) -> Result<&[u8]> {
        if range == (0..self.len()) && self.slices.fetch_add(1, Ordering::Relaxed) == 0 {
            self.both.wait();
            self.both.wait();
        }
        self.bytes.slice(range)
    }

    fn verified(&self) -> Option<&[u8]> {
        None
    }

    fn partly_verified(&self) -> Option<PartlyVerified<'_>> {
        Some(PartlyVerified { bytes: self.bytes.verified()?, granules: Some(&[]) })
    }
}

/// While a thread checks all headers, other threads read values, and do not check the headers as well.
#[test]
fn one_thread_builds_the_fast_path() {
    let mut random = Random(49);
    // Blocks of different widths.
    let values: Vec<i64> = (0..120_000).map(|i| random.below(1 << 40) >> (i / 16_384 % 2 * 17)).collect();
    let (slices, both) = (AtomicUsize::new(0), Barrier::new(2));
    let column = in_memory(encode(&values, &VALUES))
        .try_map(&mut |_, bytes| Ok::<_, ()>(Waiting { bytes, slices: &slices, both: &both }));
    let reader = NumericReader::open(column.unwrap(), JumpTables::Baked).unwrap();
    assert!(reader.meta.block_count() > 1);
    let read = |index: u64| (index, reader.get(index));
    let (mut before, mut during) = (Vec::new(), Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| before.extend((0..reader.meta.block_count()).map(read)));
        both.wait();
        during.extend((0..100).map(read));
        both.wait();
    });
    for (index, found) in before.into_iter().chain(during).chain([read(119_999)]) {
        assert_eq!(found, Ok(values[index as usize]), "value {index}");
    }
    assert_eq!(slices.load(Ordering::Relaxed), 1);
    assert!(reader.fast_path.get().is_some());
}

/// The first look-up copies the header of the only block, and the values: nothing near them may be needed.
#[test]
fn the_first_look_up_slices_nothing() {
    let mut random = Random(50);
    let values: Vec<i64> = (0..60_000).map(|_| random.below(1 << 24)).collect();
    let column = encode(&values, &VALUES);
    assert_eq!(column.block_count(), 1);
    let (one, two) = (counted(column.clone()), counted(column));
    assert_eq!((one.get(59_999).unwrap(), bytes_of_blocks(&one)), (values[59_999], 0));
    assert_eq!((one.get(59_998).unwrap(), bytes_of_blocks(&one)), (values[59_998], 8));
    assert_eq!((two.get_pair(7).unwrap(), bytes_of_blocks(&two)), ((values[7], values[8]), 0));
    assert_eq!((two.get_pair(9).unwrap(), bytes_of_blocks(&two)), ((values[9], values[10]), 16));
    assert!(counted(encode(&values, &VALUES)).get_pair(59_999).is_err());
}

/// Zeros that are never touched use no memory.
#[cfg(target_pointer_width = "64")]
#[test]
fn residuals_lie_beyond_four_gibibytes() {
    const FAR: usize = 5 << 30;
    let values = Shape::Steps.values(60_000, 18);
    let mut column = encode(&values, &VALUES);
    let (stride, shift) = (column.stride.bytes(), column.block_shift);
    let first = values.len() >> shift << shift;
    let reader = open(&column, JumpTables::Baked).unwrap();
    let header = reader.locate((first >> shift) as u64).unwrap();
    let payload = reader.meta.payload((first >> shift) as u64, &header).unwrap();
    let (table, blocks) = (column.jump.as_mut().unwrap(), column.blocks.as_mut().unwrap());
    // The last block's residuals are carried away, and its entry in the jump table says where to.
    let tags = table.len() - stride + 8;
    let mut far = vec![0; FAR + payload.len()];
    far[..blocks.len()].copy_from_slice(blocks);
    far[FAR..].copy_from_slice(&blocks[payload.clone()]);
    far[payload].fill(0xFF);
    *blocks = far;
    table[tags + 2..tags + 8].copy_from_slice(&(FAR as u64 / 8).to_le_bytes()[..6]);

    let reader = NumericReader::open(in_memory(column), JumpTables::Baked).unwrap();
    let mut decoded = vec![0; values.len()];
    reader.decode(0..values.len() as u64, &mut decoded).unwrap();
    assert_eq!(decoded, values);
    let indices: Vec<u32> = (first as u32 - 5..values.len() as u32).rev().collect();
    let mut gathered = vec![0; indices.len()];
    reader.gather(&indices, &mut gathered).unwrap();
    for (&index, gathered) in indices.iter().zip(gathered) {
        let value = values[index as usize];
        assert_eq!((gathered, reader.get(index.into()).unwrap()), (value, value), "value {index}");
    }
}
