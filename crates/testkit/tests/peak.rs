//! The counting allocator, as the global allocator of a program.

use docvalues_testkit::damage::alloc::PeakAlloc;

#[global_allocator]
static ALLOC: PeakAlloc = PeakAlloc::new();

/// One test, because the counts are of the whole program.
#[test]
fn peaks_are_counted() {
    // Tolerance for the harness, whose thread may print meanwhile.
    const NOISE: usize = 64 << 10;
    let near = |bytes: usize, expected: usize| bytes.abs_diff(expected) < NOISE;

    let before = ALLOC.used();
    let (kept, peak) = ALLOC.peak_of(|| {
        drop(vec![1_u8; 8 << 20]);
        vec![1_u8; 1 << 20]
    });
    assert!(near(peak, 8 << 20), "{peak}");
    assert!(near(ALLOC.used() - before, 1 << 20), "{} after {before}", ALLOC.used());

    drop(kept);
    let (_, peak) = ALLOC.peak_of(|| vec![0_u8; 2 << 20]);
    assert!(near(peak, 2 << 20), "zeroed: {peak}");

    let (_, peak) = ALLOC.peak_of(|| {
        let mut grown = vec![1_u8; 1 << 20];
        grown.reserve_exact(3 << 20);
        grown
    });
    assert!(near(peak, (1 << 20) + (4 << 20)), "both while one is moved: {peak}");
    assert!(near(ALLOC.used(), before), "{} after {before}", ALLOC.used());

    // Only those of this thread.
    let (kept, more, peak) = ALLOC.here(|| {
        drop(vec![1_u8; 5_000]);
        std::thread::spawn(|| drop(vec![1_u8; 8 << 20])).join().unwrap();
        vec![1_u8; 3_000]
    });
    assert!((3_000..4_000).contains(&more) && (5_000..6_000).contains(&peak), "{more}, {peak}");
    assert_eq!(ALLOC.here(|| drop(kept)).1, -3_000);
}
