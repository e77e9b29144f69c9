//! Demand paging by ourselves: a buffer that fills granule by granule, while others read it.
//!
//! ```text
//! granule    0          1          2          3
//! bytes     [ loaded   | zero     | zero     | loaded  ]   one allocation, zeroed
//! loaded      1          0          0          1           a bit each, set once, never cleared
//! ```
//!
//! **The invariant.** A granule whose bit is clear is written by whoever holds `filling`, and read by
//! nobody. A granule whose bit is set is read by anyone, and written by nobody, ever again.
//!
//! Bytes are checked *before* they come here, in the caller's own buffer: what was ever in this one
//! is good, no lock is held while a file is read, and the copy (about 50 ns) is small beside the
//! `pread` it follows. Two threads that want the same granule at once may both read the file; one
//! of them copies.
#![expect(unsafe_code, reason = "one thread writes a granule while others read its neighbours")]

use std::alloc::{self, Layout};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use docvalues_format::granule::GRANULE;

use crate::verified::Verified;

/// A zeroed buffer of `len` bytes, filled by granules of 4 KiB; the last one may be shorter.
#[derive(Debug)]
pub(crate) struct Pages {
    bytes: NonNull<u8>,
    len: usize,
    loaded: Verified,
    filling: Mutex<()>,
}

// SAFETY: `bytes` is what keeps `Pages` from being `Send`. It is the only pointer to an allocation
// that `Pages` owns, and the allocation is not bound to a thread.
unsafe impl Send for Pages {}

// SAFETY: `bytes` is what keeps `Pages` from being `Sync`. Through `&self`, bytes are written by
// `fill` alone, in a granule whose bit is clear, under the mutex; and read by `get` alone, in granules
// whose bit is set. `fill` sets the bit (release) after its last write, `get` finds it set (acquire)
// before its first read, so the write happens before the read; and no write follows.
unsafe impl Sync for Pages {}

impl Pages {
    /// A buffer of `len` bytes with nothing loaded; `None` if there is no memory for it.
    ///
    /// The operating system gives memory to the granules that are filled, no others: large zeroed
    /// allocations are mappings that were never written.
    pub(crate) fn zeroed(len: usize) -> Option<Pages> {
        let bytes = match len {
            0 => NonNull::dangling(),
            _ => {
                let layout = Pages::layout(len)?;
                // SAFETY: the layout's size is not zero.
                NonNull::new(unsafe { alloc::alloc_zeroed(layout) })?
            }
        };
        let loaded = Verified::none(len.div_ceil(GRANULE));
        Some(Pages { bytes, len, loaded, filling: Mutex::new(()) })
    }

    /// `None` when `len` is more than any allocation can have.
    fn layout(len: usize) -> Option<Layout> {
        // Not more: beyond what `malloc` aligns anyway, std zeroes by hand, and so touches every page.
        Layout::from_size_align(len, align_of::<u64>()).ok()
    }

    /// Whether every granule is loaded: one load.
    #[inline]
    pub(crate) fn all(&self) -> bool {
        self.loaded.all()
    }

    /// The bytes of `range`, if all granules that it touches are loaded and it lies inside.
    #[inline]
    pub(crate) fn get(&self, range: Range<usize>) -> Option<&[u8]> {
        if range.start > range.end || range.end > self.len {
            return None;
        }
        if !self.loaded.all() && !self.loaded.contains_all(&range) {
            return None;
        }
        // SAFETY: `range.start <= range.end <= self.len` was checked, so the offset stays inside the
        // allocation (or is 0 from a dangling pointer).
        let start = unsafe { self.bytes.add(range.start) };
        // SAFETY: 1. `start` is valid for reads of `range.len()` bytes: they lie inside one live
        // allocation of `self.len` bytes, or none are read. 2. They are initialised: allocated zeroed.
        // 3. None is written while the slice lives: each lies in a granule whose bit was found set,
        // with acquire, and the invariant forbids writing those. The slice borrows `self`, so the
        // allocation outlives it. 4. An allocation is at most `isize::MAX` bytes.
        Some(unsafe { std::slice::from_raw_parts(start.as_ptr(), range.len()) })
    }

    /// Makes `granule` readable with these `bytes`, which must be all of it; whether this call did so.
    /// A granule that is loaded stays as it is.
    pub(crate) fn fill(&self, granule: usize, bytes: &[u8]) -> bool {
        let start = granule.saturating_mul(GRANULE);
        let len = self.len.saturating_sub(start).min(GRANULE);
        assert!(len > 0 && len == bytes.len(), "a granule is filled as a whole");
        let _filling = self.filling.lock().unwrap_or_else(PoisonError::into_inner);
        if self.loaded.contains(granule) {
            return false;
        }
        // SAFETY: `len > 0`, so `start < self.len`: inside the allocation.
        let to = unsafe { self.bytes.add(start) };
        // SAFETY: 1. `bytes` is readable. 2. `to` is valid for `len` writes: `start + len <= self.len`.
        // 3. Nobody reads them, since the granule's bit is clear, and nobody else writes them: the bit
        // was found clear under the mutex, which is held. 4. They do not overlap: `bytes` is a slice,
        // and none over a granule whose bit is clear exists.
        unsafe { to.copy_from_nonoverlapping(NonNull::from_ref(bytes).cast(), len) };
        self.loaded.insert(granule)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        if let Some(layout) = Pages::layout(self.len).filter(|layout| layout.size() > 0) {
            // SAFETY: `zeroed` allocated `bytes` with this same layout, since the length never changes;
            // and it is freed once, here.
            unsafe { alloc::dealloc(self.bytes.as_ptr(), layout) };
        }
    }
}

#[cfg(test)]
mod tests;
