//! Records and pieces in so little room that they come in many runs and windows.

use docvalues_storage::AtomicFile;
use proptest::prelude::*;

use super::*;

/// Room in a file, and the folder that it is in.
fn room(bytes: usize) -> (tempfile::TempDir, SpillBudget) {
    let folder = tempfile::tempdir().unwrap();
    let file = AtomicFile::create(folder.path().join("a.dv")).unwrap();
    (folder, SpillBudget { spill: Some(file.spill()), bytes })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn records_are_sorted_in_any_room(
        records in proptest::collection::btree_set(any::<u128>(), 0..3_000),
        seed in any::<u64>(),
        bytes in 1..40_000_usize,
    ) {
        let (_folder, spill_budget) = room(bytes);
        let mut sorter = ExternalSorter::new(spill_budget);
        let mut shuffled: Vec<u128> = records.iter().copied().collect();
        let len = shuffled.len().max(1) as u64;
        (0..shuffled.len()).for_each(|i| shuffled.swap(i, usize::try_from(seed.wrapping_mul(i as u64 + 7) % len).unwrap()));
        shuffled.into_iter().try_for_each(|record| sorter.push(record)).unwrap();
        let mut sorted = Vec::new();
        sorter.finish(|record| {
            sorted.push(record);
            Ok(())
        }).unwrap();
        prop_assert!(sorted.into_iter().eq(records));
    }

    #[test]
    fn pieces_lie_where_they_belong_in_any_room(
        lens in proptest::collection::vec(prop_oneof![4 => 0..6_usize, 1 => 0..300_usize], 0..2_000),
        width in prop_oneof![Just(1_usize), Just(4), Just(8)],
        (even, bytes) in (any::<bool>(), 1..20_000_usize),
        stride in proptest::sample::select(vec![1_usize, 7, 613, 1_999]),
    ) {
        let (_folder, spill_budget) = room(bytes);
        let lens: Vec<usize> = lens.into_iter().map(|len| if even { 1 } else { len }).collect();
        let mut offsets = SpillVec::of(vec![0]);
        for len in &lens {
            offsets.in_memory.push(offsets.in_memory[offsets.in_memory.len() - 1] + i64::try_from(*len).unwrap());
        }
        let layout = match even {
            true => Layout::Fixed { count: lens.len(), width },
            false => Layout::Variable { offsets: &offsets, width },
        };
        let piece = |slot: usize| vec![u8::try_from(slot % 251).unwrap(); lens[slot] * width];
        let mut scatter = Scatter::new(layout, &spill_budget).unwrap();
        // Every slot once, in an order that jumps about.
        for start in 0..stride {
            for slot in (start..lens.len()).step_by(stride).collect::<Vec<_>>().into_iter().rev() {
                scatter.put(slot, &piece(slot)).unwrap();
            }
        }
        let mut all = Vec::new();
        scatter.finish(&mut |bytes| {
            all.extend(bytes);
            Ok(())
        }).unwrap();
        prop_assert!(all == (0..lens.len()).flat_map(piece).collect::<Vec<_>>());
    }
}
