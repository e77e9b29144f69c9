//! Bit-sliced filters.

use std::sync::Arc;

use proptest::prelude::*;

use super::super::{IdLookup, IdStore, SegmentIds};
use super::segment::{Ids, id};
use super::{check, seeds};

/// Segments of so many ids each, newest first, all of them different.
fn segments(sizes: &[u32], kind: u8, seed: impl Fn(usize) -> u64) -> Vec<Arc<Ids>> {
    let mut next = 0;
    let segment = |(i, &size): (usize, &u32)| {
        next += size;
        let ids = (next - size..next).map(|number| (id(number, kind), number));
        Arc::new(Ids::new(ids.collect(), seed(i)))
    };
    sizes.iter().enumerate().map(segment).collect()
}

/// Bytes of the filters of all segments that can be read.
fn filter_bytes(segments: &[Arc<Ids>]) -> usize {
    segments.iter().map(|segment| segment.read_lines().unwrap().map_or(0, |lines| lines.bytes())).sum()
}

fn in_memory(segments: &[Arc<Ids>]) -> IdLookup<Ids> {
    IdLookup::new(segments.iter().cloned()).with_filters_in_memory().unwrap()
}

#[test]
fn segments_with_a_filter_in_memory_are_not_read() {
    // Random ids, so that bounds are of no use; none of these numbers of ids is one of those that are not read at once.
    let segments = segments(&[400; 150], 0, |_| 7);
    let lookup = in_memory(&segments);
    assert!(lookup.filter_bytes() >= filter_bytes(&segments));
    assert!(lookup.filter_bytes() < filter_bytes(&segments) + filter_bytes(&segments) / 20);
    let ids: Vec<_> = (0..61_000).step_by(31).map(|number| id(number, 0)).collect();
    check(&lookup, &ids, |_, doc| doc.get() % 5 > 0);
    let asked = |segments: &[Arc<Ids>]| segments.iter().map(|segment| segment.asked()).sum::<u32>();
    let before = asked(&segments);
    let mut seeker = lookup.seeker();
    assert!((0..1_000).all(|number| seeker.find(&id(70_000 + number, 0)).unwrap().is_none()));
    assert_eq!(asked(&segments), before);
}

/// A row has no more bits than a line of memory: of more segments, there are two classes, and each is asked.
#[test]
fn more_segments_than_a_row_has_bits() {
    let segments = segments(&[20; 600], 0, |_| 7);
    let lookup = in_memory(&segments);
    // A line each, in rows of 64 bytes and of 11, with a word after the last; then the segment of each bit.
    assert_eq!(lookup.filter_bytes(), 512 * (64 + 11) + 2 * 8 + 600 * 4 + 10 * 8);
    let ids: Vec<_> = (0..12_500).step_by(43).map(|number| id(number, 0)).collect();
    check(&lookup, &ids, |_, doc| doc.get() % 5 > 0);
}

#[test]
fn a_fingerprint_table_or_a_single_filter_is_left_as_it_is() {
    let segments = segments(&[100; 20], 0, |_| 7);
    let store = IdStore::with_seed(1);
    store.add_all(&segments).unwrap();
    let table = store.snapshot();
    drop(store);
    let table = Arc::into_inner(table).unwrap().with_filters_in_memory().unwrap();
    assert_eq!((table.filter_bytes(), table.has_fingerprints()), (0, true));
    // Too few, or each of another size than all others, or with other seeds.
    assert_eq!(in_memory(&segments[..15]).sliced.unwrap().taken(0), 0);
    let sizes = [100, 205, 410, 820, 1_640, 3_280, 6_560, 13_100, 26_300];
    assert_eq!(in_memory(&self::segments(&sizes, 0, |_| 7)).sliced.unwrap().taken(0), 0);
    assert_eq!(
        in_memory(&self::segments(&[100; 20], 0, |i| u64::from(i % 3 > 0))).sliced.unwrap().taken(0),
        0
    );
    assert_eq!(in_memory(&[]).filter_bytes(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { 16 }))]

    /// Segments of a few sizes in any order; the filters of some are not readable at once, or have another seed.
    #[test]
    fn any_segments(
        sizes in prop::collection::vec(prop_oneof![0_u32..4, 20_u32..60, 500_u32..900], 0..200),
        kind in 0_u8..4,
        other in 2_usize..90,
        gone in 1_u32..9,
    ) {
        let segments = segments(&sizes, kind, |i| seeds()[usize::from(i % other == 1)]);
        let lookup = in_memory(&segments);
        let table = lookup.segments.len().div_ceil(64) * 8 + lookup.segments.len() * 4;
        prop_assert!(lookup.filter_bytes() <= 2 * filter_bytes(&segments) + table + 8 * 12);
        let all = sizes.iter().sum::<u32>();
        let ids: Vec<_> = (0..all + 500).step_by(all as usize / 800 + 1).map(|number| id(number, kind)).collect();
        check(&lookup, &ids, |place, doc| gone == 1 || !(doc.get() + place as u32).is_multiple_of(gone));
    }
}
