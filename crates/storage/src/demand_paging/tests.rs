//! No test reads a file, so Miri can run all of them: `cargo +nightly miri test demand_paging`.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

fn buffer(len: usize) -> Option<PagedBytes> {
    PagedBytes::buffer(len, len)
}

/// The bytes that granule `granule` is to have.
fn wanted(granule: usize, len: usize) -> Vec<u8> {
    vec![u8::try_from(granule % 250).unwrap() + 1; len]
}

fn granules(len: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..len.div_ceil(GRANULE)).map(move |granule| (granule, (len - granule * GRANULE).min(GRANULE)))
}

#[test]
fn only_loaded_granules_are_handed_out() {
    let pages = buffer(3 * GRANULE + 64).unwrap();
    assert!(pages.whole().is_none());
    assert_eq!(pages.get(0..1), None);
    assert_eq!(pages.get(5..5), Some(&[][..]));

    assert!(pages.admit(1, &wanted(1, GRANULE)));
    assert_eq!(pages.get(GRANULE..2 * GRANULE), Some(&wanted(1, GRANULE)[..]));
    assert_eq!(pages.get(GRANULE - 1..GRANULE + 1), None, "reaches into granule 0");
    assert_eq!(pages.get(2 * GRANULE - 1..2 * GRANULE + 1), None, "reaches into granule 2");

    assert!(!pages.admit(1, &wanted(9, GRANULE)), "a loaded granule stays as it is");
    assert_eq!(pages.get(GRANULE..GRANULE + 1), Some(&[2][..]));

    for granule in [0, 2] {
        assert!(pages.admit(granule, &wanted(granule, GRANULE)));
    }
    assert!(pages.whole().is_none());
    assert!(pages.admit(3, &wanted(3, 64)));
    assert!(pages.whole().is_some());
    let whole = pages.get(0..3 * GRANULE + 64).unwrap();
    assert_eq!((whole[GRANULE - 1], whole[GRANULE], whole[3 * GRANULE + 63]), (1, 2, 4));
}

#[test]
fn bounds() {
    let pages = buffer(100).unwrap();
    assert!(pages.admit(0, &[7; 100]));
    assert_eq!(pages.get(0..100), Some(&[7; 100][..]));
    assert_eq!(pages.get(100..100), Some(&[][..]));
    let backwards = Range { start: 2, end: 1 };
    for range in [0..101, 100..101, 101..101, backwards, 0..usize::MAX] {
        assert_eq!(pages.get(range.clone()), None, "{range:?}");
    }
    let empty = buffer(0).unwrap();
    assert!(empty.whole().is_some());
    assert_eq!(empty.get(0..0), Some(&[][..]));
    assert_eq!(empty.get(0..1), None);
}

#[test]
fn bytes_after_the_limit_are_not_handed_out() {
    let pages = PagedBytes::buffer(100, 80).unwrap();
    assert_eq!(pages.peek(0..1), None);
    assert!(pages.admit(0, &[7; 100]));
    assert_eq!(pages.get(0..80), Some(&[7; 80][..]));
    assert_eq!(pages.get(0..81), None);
    assert_eq!(pages.peek(0..100), Some(&[7; 100][..]));
    assert_eq!(pages.peek(0..101), None);
    assert_eq!(PagedBytes::buffer(100, 101).unwrap().limit, 100);
}

#[test]
fn a_view() {
    let bytes: Vec<u8> = (0..3 * GRANULE).map(|i| u8::try_from(i / GRANULE).unwrap()).collect();
    let source = Arc::new(Source::memory(bytes));
    let pages = PagedBytes::view(&source, 64, 2 * GRANULE, GRANULE + 1, false).unwrap();
    assert_eq!(Arc::strong_count(&source), 2);
    let start = source.bytes().unwrap()[64..].as_ptr();
    drop(source);
    assert_eq!(pages.get(0..1), None);
    let peeked = pages.peek(0..2 * GRANULE).unwrap();
    assert_eq!((peeked[0], peeked[GRANULE - 64], peeked.len()), (0, 1, 2 * GRANULE));
    assert_eq!(peeked.as_ptr(), start, "no byte was copied");
    assert!(pages.admit(1, &peeked[GRANULE..]));
    assert!(!pages.admit(1, &peeked[GRANULE..]));
    assert_eq!(pages.get(GRANULE..GRANULE + 1), Some(&[1][..]));
    assert_eq!(pages.get(GRANULE..GRANULE + 2), None, "after the limit");
    assert!(pages.whole().is_none());
    assert!(pages.admit(0, &peeked[..GRANULE]));
    assert!(pages.whole().is_some());
    assert_eq!(pages.get(0..1), Some(&[0][..]));
}

#[test]
fn a_view_lies_inside_of_its_source() {
    let source = Arc::new(Source::memory(vec![1; 100]));
    assert_eq!(PagedBytes::view(&source, 0, 100, 100, true).unwrap().get(0..100), Some(&[1; 100][..]));
    assert_eq!(PagedBytes::view(&source, 100, 0, 0, false).unwrap().get(0..0), Some(&[][..]));
    for (at, len) in [(0, 101), (1, 100), (101, 0), (usize::MAX, 1), (1, usize::MAX)] {
        assert!(PagedBytes::view(&source, at, len, len, true).is_none(), "{len} bytes at {at}");
    }
}

#[test]
fn verified_bytes_outlive_their_pages() {
    let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(2 * GRANULE).collect();
    let source = Arc::new(Source::memory(bytes));
    let pages = PagedBytes::view(&source, 64, GRANULE + 10, GRANULE + 5, false).unwrap();
    for range in [0..GRANULE, GRANULE..GRANULE + 10] {
        assert!(pages.kept(0).is_none());
        assert!(pages.admit(range.start / GRANULE, pages.peek(range.clone()).unwrap()));
    }
    assert_eq!(pages.kept(GRANULE + 5).unwrap().len(), 0);
    assert!(pages.kept(GRANULE + 6).is_none(), "after the limit");
    let kept = pages.kept(3).unwrap();
    drop((pages, source));
    assert_eq!((kept.len(), &kept[..3]), (GRANULE + 2, &[67, 68, 69][..]));

    let pages = buffer(GRANULE + 1).unwrap();
    for (granule, len) in granules(GRANULE + 1) {
        assert!(pages.kept(0).is_none());
        assert!(pages.admit(granule, &wanted(granule, len)));
    }
    let kept = pages.kept(GRANULE - 1).unwrap();
    drop(pages);
    assert_eq!(kept[..], [1, 2]);
    assert_eq!(buffer(0).unwrap().kept(0).unwrap().len(), 0);
}

#[test]
fn shared_bytes_outlive_their_source() {
    let source = Arc::new(Source::memory((0..100).collect::<Vec<u8>>()));
    let all = SharedBytes::of(&source).unwrap();
    drop(source);
    let part = all.part(10..20);
    let of_part = part.clone().part(3..usize::MAX);
    assert_eq!(
        (all.len(), &part[..3], &of_part[..]),
        (100, &[10, 11, 12][..], &[13, 14, 15, 16, 17, 18, 19][..])
    );
    drop((all, part));
    assert_eq!(of_part[6], 19);
    assert_eq!(
        [of_part.part(5..8), of_part.part(7..8), of_part.part(8..9)].map(|bytes| bytes.len()),
        [2, 0, 0]
    );
}

#[test]
fn out_of_memory() {
    assert!(buffer(usize::MAX).is_none());
    // Miri ends the program when an allocation fails.
    if !cfg!(miri) {
        assert!(buffer(usize::try_from(isize::MAX).unwrap() - 64).is_none());
    }
}

#[test]
#[should_panic(expected = "as a whole")]
fn half_a_granule() {
    buffer(2 * GRANULE).unwrap().admit(0, &[1; 100]);
}

#[test]
#[should_panic(expected = "as a whole")]
fn a_granule_after_the_last() {
    buffer(GRANULE).unwrap().admit(1, &[]);
}

/// Threads load and read the same granules in different orders; what is readable is right.
#[test]
fn threads() {
    let len = if cfg!(miri) { 5 * GRANULE + 128 } else { 300 * GRANULE + 128 };
    let pages = buffer(len).unwrap();
    let all: Vec<_> = granules(len).collect();
    let filled = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (pages, all, filled) = (&pages, &all, &filled);
            scope.spawn(move || {
                for step in 0..all.len() {
                    let (granule, len) = all[(step * 11 + thread * 3) % all.len()];
                    let start = granule * GRANULE;
                    if pages.get(start..start + len).is_none() && pages.admit(granule, &wanted(granule, len))
                    {
                        filled.fetch_add(1, Ordering::Relaxed);
                    }
                    let bytes = pages.get(start..start + len).unwrap();
                    assert!(bytes[0] == wanted(granule, 1)[0] && bytes[len - 1] == bytes[0]);
                }
            });
        }
        // Sees nothing, or what is right; and in the end, all.
        scope.spawn(|| {
            let kept = loop {
                match pages.kept(0) {
                    Some(kept) => break kept,
                    None => std::thread::yield_now(),
                }
            };
            assert_eq!(pages.get(0..len), Some(&kept[..]));
            for (granule, len) in granules(len) {
                assert_eq!(kept[granule * GRANULE..granule * GRANULE + len], wanted(granule, len));
            }
        });
    });
    assert_eq!(filled.into_inner(), all.len(), "each granule is filled once");
}
