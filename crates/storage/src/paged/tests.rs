//! No file is read here, so that Miri can run all of it: `cargo +nightly miri test paged`.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// The bytes that granule `granule` is to have.
fn wanted(granule: usize, len: usize) -> Vec<u8> {
    vec![u8::try_from(granule % 250).unwrap() + 1; len]
}

fn granules(len: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..len.div_ceil(GRANULE)).map(move |granule| (granule, (len - granule * GRANULE).min(GRANULE)))
}

#[test]
fn only_loaded_granules_are_handed_out() {
    let pages = Pages::zeroed(3 * GRANULE + 64).unwrap();
    assert!(!pages.all());
    assert_eq!(pages.get(0..1), None);
    assert_eq!(pages.get(5..5), Some(&[][..]));

    assert!(pages.fill(1, &wanted(1, GRANULE)));
    assert_eq!(pages.get(GRANULE..2 * GRANULE), Some(&wanted(1, GRANULE)[..]));
    assert_eq!(pages.get(GRANULE - 1..GRANULE + 1), None, "reaches into granule 0");
    assert_eq!(pages.get(2 * GRANULE - 1..2 * GRANULE + 1), None, "reaches into granule 2");

    assert!(!pages.fill(1, &wanted(9, GRANULE)), "a loaded granule stays as it is");
    assert_eq!(pages.get(GRANULE..GRANULE + 1), Some(&[2][..]));

    for granule in [0, 2] {
        assert!(pages.fill(granule, &wanted(granule, GRANULE)));
    }
    assert!(!pages.all());
    assert!(pages.fill(3, &wanted(3, 64)));
    assert!(pages.all());
    let whole = pages.get(0..3 * GRANULE + 64).unwrap();
    assert_eq!((whole[GRANULE - 1], whole[GRANULE], whole[3 * GRANULE + 63]), (1, 2, 4));
}

#[test]
fn bounds() {
    let pages = Pages::zeroed(100).unwrap();
    assert!(pages.fill(0, &[7; 100]));
    assert_eq!(pages.get(0..100), Some(&[7; 100][..]));
    assert_eq!(pages.get(100..100), Some(&[][..]));
    let backwards = Range { start: 2, end: 1 };
    for range in [0..101, 100..101, 101..101, backwards, 0..usize::MAX] {
        assert_eq!(pages.get(range.clone()), None, "{range:?}");
    }
    let empty = Pages::zeroed(0).unwrap();
    assert!(empty.all());
    assert_eq!(empty.get(0..0), Some(&[][..]));
    assert_eq!(empty.get(0..1), None);
}

#[test]
fn more_than_there_is_memory_for() {
    assert!(Pages::zeroed(usize::MAX).is_none());
    // Miri ends the program when an allocation fails.
    if !cfg!(miri) {
        assert!(Pages::zeroed(usize::try_from(isize::MAX).unwrap() - 64).is_none());
    }
}

#[test]
#[should_panic(expected = "as a whole")]
fn half_a_granule() {
    Pages::zeroed(2 * GRANULE).unwrap().fill(0, &[1; 100]);
}

#[test]
#[should_panic(expected = "as a whole")]
fn a_granule_behind_the_last() {
    Pages::zeroed(GRANULE).unwrap().fill(1, &[]);
}

/// Threads load and read the same granules in different orders; what is readable is right.
#[test]
fn threads() {
    let len = if cfg!(miri) { 5 * GRANULE + 128 } else { 300 * GRANULE + 128 };
    let pages = Pages::zeroed(len).unwrap();
    let all: Vec<_> = granules(len).collect();
    let filled = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (pages, all, filled) = (&pages, &all, &filled);
            scope.spawn(move || {
                for step in 0..all.len() {
                    let (granule, len) = all[(step * 11 + thread * 3) % all.len()];
                    let start = granule * GRANULE;
                    if pages.get(start..start + len).is_none() && pages.fill(granule, &wanted(granule, len)) {
                        filled.fetch_add(1, Ordering::Relaxed);
                    }
                    let bytes = pages.get(start..start + len).unwrap();
                    assert!(bytes[0] == wanted(granule, 1)[0] && bytes[len - 1] == bytes[0]);
                }
            });
        }
        // Sees nothing, or what is right; and in the end, all.
        scope.spawn(|| {
            while pages.get(0..len).is_none() {
                std::thread::yield_now();
            }
            for (granule, len) in granules(len) {
                assert_eq!(
                    pages.get(granule * GRANULE..granule * GRANULE + len).unwrap(),
                    wanted(granule, len)
                );
            }
        });
    });
    assert_eq!(filled.into_inner(), all.len(), "each granule is filled once");
}
