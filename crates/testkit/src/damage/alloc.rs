//! An allocator that counts the peak of allocated bytes.
//!
//! A program has one global allocator, so a test that counts has a file of its own in `tests/`, with
//!
//! ```
//! use docvalues_testkit::damage::alloc::PeakAlloc;
//!
//! #[global_allocator]
//! static ALLOC: PeakAlloc = PeakAlloc::new();
//!
//! # fn main() {
//! let (bytes, peak) = ALLOC.peak_of(|| vec![0_u8; 1 << 20]);
//! assert!(peak >= bytes.len());
//! # }
//! ```
//!
//! It counts for all threads together, so the tests of such a file take turns. [`PeakAlloc::here`] counts for one thread,
//! whatever the others do.
#![allow(unsafe_code, reason = "an allocator is an unsafe trait; every call goes on to the system's")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

thread_local! {
    /// The bytes that this thread allocated less those that it freed, and the most of them since [`PeakAlloc::here`].
    static HERE: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

/// The system's allocator, with counts of the bytes in use and of their peak.
#[derive(Debug, Default)]
pub struct PeakAlloc {
    used: AtomicUsize,
    peak: AtomicUsize,
}

impl PeakAlloc {
    /// An allocator for `#[global_allocator]`.
    pub const fn new() -> PeakAlloc {
        PeakAlloc { used: AtomicUsize::new(0), peak: AtomicUsize::new(0) }
    }

    /// The bytes in use.
    pub fn used(&self) -> usize {
        self.used.load(Relaxed)
    }

    /// The most bytes in use since [`reset`](Self::reset).
    pub fn peak(&self) -> usize {
        self.peak.load(Relaxed)
    }

    /// Resets the peak to the bytes in use now.
    pub fn reset(&self) {
        self.peak.store(self.used(), Relaxed);
    }

    /// Runs `work`. Returns its result, and the peak of bytes in use beyond those before the call.
    pub fn peak_of<R>(&self, work: impl FnOnce() -> R) -> (R, usize) {
        let before = self.used();
        self.reset();
        let result = work();
        (result, self.peak().saturating_sub(before))
    }

    /// Runs `work`. Returns its result, the bytes that this thread has in use more than before the call, and the peak of
    /// those bytes during it.
    pub fn here<R>(&self, work: impl FnOnce() -> R) -> (R, isize, usize) {
        let (before, _) = HERE.get();
        HERE.set((before, before));
        let result = work();
        let (used, peak) = HERE.get();
        (result, used - before, (peak - before).unsigned_abs())
    }

    fn add(&self, bytes: usize) {
        let used = self.used.fetch_add(bytes, Relaxed).wrapping_add(bytes);
        self.peak.fetch_max(used, Relaxed);
        let (here, most) = HERE.get();
        let here = here.wrapping_add_unsigned(bytes);
        HERE.set((here, most.max(here)));
    }

    fn sub(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Relaxed);
        let (here, most) = HERE.get();
        HERE.set((here.wrapping_sub_unsigned(bytes), most));
    }
}

// SAFETY: every method returns what `System`, a `GlobalAlloc`, returns for the same arguments, and does
// nothing else but wrapping arithmetic on atomics and on a cell of the thread, which neither allocates nor panics: the
// cell needs no initialization and no destructor.
unsafe impl GlobalAlloc for PeakAlloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: our caller promises what `System` asks for: a layout whose size is not 0.
        let block = unsafe { System.alloc(layout) };
        if !block.is_null() {
            self.add(layout.size());
        }
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as for `alloc`.
        let block = unsafe { System.alloc_zeroed(layout) };
        if !block.is_null() {
            self.add(layout.size());
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: our caller promises that `block` came from this allocator with this layout; so it came
        // from `System` with it.
        unsafe { System.dealloc(block, layout) };
        self.sub(layout.size());
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: our caller promises that `block` came from this allocator, and so from `System`, with
        // this layout, and that `new_size` is not 0 and does not overflow when rounded up.
        let moved = unsafe { System.realloc(block, layout, new_size) };
        if !moved.is_null() {
            // Counts the new block before the old one is subtracted: both can exist while bytes are moved.
            self.add(new_size);
            self.sub(layout.size());
        }
        moved
    }
}
