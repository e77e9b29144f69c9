//! The bytes of a level, admitted granule by granule as they are verified.
//!
//! ```text
//! granule     0          1          2          3
//! bytes      [ good     | ?        | ?        | good    ]   of a mapping, of memory, or of a buffer
//! admitted     1          0          0          1           a bit each, set once, never cleared
//! ```
//!
//! A mapping, or memory, has its bytes already: they are borrowed, and admitting a granule sets its bit. Otherwise
//! this is *demand paging in user space*: admitting a granule copies its bytes into a zeroed buffer, while other
//! threads read its neighbours.
//!
//! **The invariant of a buffer.** A granule whose bit is clear is written only by the thread that holds the mutex,
//! and read by none. A granule whose bit is set may be read by any thread, and is never written again.
//!
//! Bytes are verified *before* they are admitted, in the caller's own buffer. So the buffer only ever holds good
//! bytes, no lock is held while a file is read, and the copy (about 50 ns) is small beside the `pread` before it.
//! Two threads that need the same granule at once may both read the file; one of them copies.
//!
//! **Why a raw pointer.** The safe path to a mapped byte goes through the source, its variant, its slice and the
//! section's part of that. With a pointer to the first byte instead, a random read of 8 bytes took half the time in
//! cache (2.0 against 4.0 ns on a busy machine), and 0.6 of it over 256 MiB: fewer instructions between two cache
//! misses let more of them overlap.
#![expect(unsafe_code, reason = "one thread fills a granule while others read its neighbours")]

use std::alloc::{self, Layout};
use std::fmt;
use std::ops::{Deref, Range};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use docvalues_format::granule::GRANULE;
use docvalues_format::prefetch::prefetch;
use docvalues_format::source::PartlyVerified;

use crate::granule_set::GranuleSet;
use crate::source::Source;

/// `len` bytes in granules of 4 KiB; the last one may be shorter.
#[derive(Debug)]
pub(crate) struct PagedBytes {
    /// The first of `len` initialised bytes of one allocation or mapping, which `keep` keeps alive.
    bytes: NonNull<u8>,
    len: usize,
    /// The end of the bytes that `get` hands out. At most `len`.
    limit: usize,
    admitted: GranuleSet,
    keep: Keep,
}

/// The owner of the bytes.
#[derive(Clone, Debug)]
enum Keep {
    /// A source owns them; nobody writes them.
    Source(#[expect(dead_code, reason = "held to be dropped")] Arc<Source>),
    /// A buffer that is filled by `PagedBytes`.
    Buffer(Arc<Buffer>),
}

/// Zeroed memory of `len` bytes, freed when it is dropped.
#[derive(Debug)]
struct Buffer {
    bytes: NonNull<u8>,
    len: usize,
    /// Only the thread that holds the mutex may write.
    filling: Mutex<()>,
}

// SAFETY: `bytes` is what keeps `Buffer` from being `Send`. It is memory of its own, not bound to a thread.
unsafe impl Send for Buffer {}

// SAFETY: `bytes` is what keeps `Buffer` from being `Sync`. Through `&Buffer`, it is only copied as a pointer.
unsafe impl Sync for Buffer {}

// SAFETY: `bytes` is what keeps `PagedBytes` from being `Send`. What it points to is owned by a `Buffer` or by a
// `Source`, which are `Send` and `Sync`; neither is bound to a thread.
unsafe impl Send for PagedBytes {}

// SAFETY: `bytes` is what keeps `PagedBytes` from being `Sync`. Bytes of a source are only read, and a
// `Source` is `Sync`. Those of a buffer are, through `&self`, written by `admit` alone, in a granule
// whose bit is clear, under the mutex; and read by `get`, `peek`, `array`, `whole` and `partly_verified`,
// and by `SharedBytes`, in granules whose bit is set. `admit` sets the bit (release) after its last write, they find
// it set (acquire) before their first read, so the write happens before the read; and no write follows.
unsafe impl Sync for PagedBytes {}

impl PagedBytes {
    /// The `len` bytes at `at` of `source`, of which [`get`](Self::get) hands out the first `limit`. With
    /// `trusted`, all granules are admitted. `None` if `source` has no such slice.
    pub(crate) fn view(
        source: &Arc<Source>,
        at: usize,
        len: usize,
        limit: usize,
        trusted: bool,
    ) -> Option<PagedBytes> {
        let bytes = source.bytes()?.get(at..at.checked_add(len)?)?;
        let bytes = NonNull::from_ref(bytes).cast();
        let admitted =
            if trusted { GranuleSet::everything() } else { GranuleSet::none(len.div_ceil(GRANULE)) };
        Some(PagedBytes {
            bytes,
            len,
            limit: limit.min(len),
            admitted,
            keep: Keep::Source(Arc::clone(source)),
        })
    }

    /// A buffer of `len` bytes without admitted granules, of which [`get`](Self::get) will hand out the first
    /// `limit`. `None` if there is no memory for it.
    ///
    /// The operating system backs only the granules that are filled: large zeroed allocations are mappings that
    /// were never written.
    pub(crate) fn buffer(len: usize, limit: usize) -> Option<PagedBytes> {
        let buffer = Buffer::zeroed(len)?;
        let (bytes, admitted) = (buffer.bytes, GranuleSet::none(len.div_ceil(GRANULE)));
        Some(PagedBytes { bytes, len, limit: limit.min(len), admitted, keep: Keep::Buffer(buffer) })
    }

    /// The number of bytes, admitted or not.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether the bytes are a mapping's, or memory's.
    pub(crate) fn is_view(&self) -> bool {
        matches!(self.keep, Keep::Source(_))
    }
    /// The number of granules that are not admitted yet.
    pub(crate) fn left(&self) -> usize {
        self.admitted.left()
    }

    /// Whether `granule` is admitted.
    pub(crate) fn contains(&self, granule: usize) -> bool {
        self.admitted.contains(granule)
    }

    /// The bytes of `range`, if it lies below the limit and all of its granules are admitted.
    #[inline]
    pub(crate) fn get(&self, range: Range<usize>) -> Option<&[u8]> {
        if range.start > range.end || range.end > self.limit {
            return None;
        }
        if !self.admitted.all() && !self.admitted.contains_all(&range) {
            return None;
        }
        // SAFETY: (1, 2) `range.start <= range.end <= self.limit <= self.len` was checked. (3) Every
        // granule that holds a byte of it was found in `admitted`.
        Some(unsafe { self.slice(range) })
    }

    /// The `N` bytes at `at`, under the same conditions.
    #[inline(always)]
    pub(crate) fn array<const N: usize>(&self, at: usize) -> Option<&[u8; N]> {
        const { assert!(0 < N && N <= GRANULE) };
        let end = at.checked_add(N)?;
        if end > self.limit {
            return None;
        }
        if !self.admitted.all() && !self.admitted.contains_both(at / GRANULE, (end - 1) / GRANULE) {
            return None;
        }
        // SAFETY: (1, 2) `at <= end <= self.limit <= self.len` was checked. (3) The granules of the first
        // and of the last byte were found in `admitted`; there is none between them, because `N` is at
        // most a granule's length.
        let bytes = unsafe { self.slice(at..end) };
        // SAFETY: an array has the layout of a slice of as many bytes, and there are `N`.
        Some(unsafe { &*bytes.as_ptr().cast() })
    }

    /// All bytes below the limit, if all granules are admitted.
    #[inline]
    pub(crate) fn whole(&self) -> Option<&[u8]> {
        if !self.admitted.all() {
            return None;
        }
        // SAFETY: (1, 2) `0 <= self.limit <= self.len`. (3) Every granule is in `admitted`.
        Some(unsafe { self.slice(0..self.limit) })
    }

    /// The bytes from `start` to the limit, with a share of their owner, so they outlive `self`, if all granules are admitted.
    pub(crate) fn kept(&self, start: usize) -> Option<SharedBytes> {
        let bytes = self.whole()?.get(start..)?;
        let len = bytes.len();
        Some(SharedBytes { bytes: NonNull::from_ref(bytes).cast(), len, keep: self.keep.clone() })
    }

    /// All bytes below the limit, verified or not, with the set of admitted granules; `None` for a buffer with
    /// granules missing.
    #[inline]
    pub(crate) fn partly_verified(&self) -> Option<PartlyVerified<'_>> {
        let all = self.admitted.all();
        if !all && !self.is_view() {
            return None;
        }
        // SAFETY: (1, 2) `0 <= self.limit <= self.len`. (3) The bytes are a source's, or every granule is
        // in `admitted`.
        let bytes = unsafe { self.slice(0..self.limit) };
        Some(PartlyVerified { bytes, granules: if all { None } else { Some(self.admitted.words()) } })
    }

    /// Prefetches the cache line of the byte at `at`.
    #[inline]
    pub(crate) fn prefetch(&self, at: usize) {
        prefetch(self.bytes.as_ptr().wrapping_add(at));
    }

    /// The bytes of `range`, verified or not, in order to verify them. `None` if it does not lie inside, or some of
    /// it has yet to be read.
    pub(crate) fn peek(&self, range: Range<usize>) -> Option<&[u8]> {
        if range.start > range.end || range.end > self.len {
            return None;
        }
        if !self.is_view() && !self.admitted.contains_all(&range) {
            return None;
        }
        // SAFETY: (1, 2) `range.start <= range.end <= self.len` was checked. (3) The bytes are a
        // source's, or every granule that holds one was found in `admitted`.
        Some(unsafe { self.slice(range) })
    }

    /// The bytes of `range`.
    ///
    /// # Safety
    ///
    /// `range.start <= range.end` (1), `range.end <= self.len` (2), and, unless the bytes are a source's,
    /// every granule that holds a byte of `range` was found in `admitted` (3).
    #[inline]
    unsafe fn slice(&self, range: Range<usize>) -> &[u8] {
        // SAFETY: by (1) and (2) the offset stays inside the `len` bytes at `bytes` (or is 0).
        let start = unsafe { self.bytes.add(range.start) };
        // SAFETY: `start` is valid for reads of `range.len()` bytes, by (1) and (2) and the field's
        // promise; they are initialised, by the same. None is written while the slice lives: nobody
        // writes a source's, and by (3) and the invariant nobody writes these of a buffer. The slice
        // borrows `self`, whose `keep` keeps them. Neither allocations nor slices exceed `isize::MAX`.
        unsafe { std::slice::from_raw_parts(start.as_ptr(), range.len()) }
    }

    /// Admits `granule`; `bytes` must be all of it, and verified. Returns whether it was not admitted before.
    pub(crate) fn admit(&self, granule: usize, bytes: &[u8]) -> bool {
        let start = granule.saturating_mul(GRANULE);
        let len = self.len.saturating_sub(start).min(GRANULE);
        assert!(len > 0 && len == bytes.len(), "a granule is admitted as a whole");
        let Keep::Buffer(buffer) = &self.keep else {
            return self.admitted.insert(granule);
        };
        let _filling = buffer.filling.lock().unwrap_or_else(PoisonError::into_inner);
        if self.admitted.contains(granule) {
            return false;
        }
        // SAFETY: `len > 0`, so `start < self.len`: inside the buffer.
        let to = unsafe { self.bytes.add(start) };
        // SAFETY: 1. `bytes` is readable. 2. `to` is valid for `len` writes: `start + len <= self.len`,
        // and the buffer is our own. 3. Nobody reads them, since the granule's bit is clear, and nobody
        // else writes them: the bit was found clear under the mutex, which is held. 4. They do not
        // overlap: `bytes` is a slice, and none over a granule whose bit is clear exists.
        unsafe { to.copy_from_nonoverlapping(NonNull::from_ref(bytes).cast(), len) };
        self.admitted.insert(granule)
    }
}

impl Buffer {
    /// `None` if there is no memory for it.
    fn zeroed(len: usize) -> Option<Arc<Buffer>> {
        let bytes = match len {
            0 => NonNull::dangling(),
            _ => {
                let layout = Buffer::layout(len)?;
                // SAFETY: the layout's size is not zero.
                NonNull::new(unsafe { alloc::alloc_zeroed(layout) })?
            }
        };
        Some(Arc::new(Buffer { bytes, len, filling: Mutex::default() }))
    }

    /// `None` when `len` is more than any allocation can have.
    fn layout(len: usize) -> Option<Layout> {
        // No more than `malloc` guarantees: for larger alignments, std zeroes the memory itself, and so touches
        // every page.
        Layout::from_size_align(len, align_of::<u64>()).ok()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(layout) = Buffer::layout(self.len).filter(|layout| layout.size() > 0) {
            // SAFETY: `zeroed` allocated `bytes` with this same layout, since the length never changes;
            // and it is freed once, here.
            unsafe { alloc::dealloc(self.bytes.as_ptr(), layout) };
        }
    }
}

/// Bytes of a file, with a share of the mapping or the memory that they are in.
///
/// For readers that outlive a borrow of the source, or of a [`Section`](crate::Section): its
/// [`verified_bytes`](crate::Section::verified_bytes).
#[derive(Clone)]
pub struct SharedBytes {
    /// The first of `len` bytes of `keep`.
    bytes: NonNull<u8>,
    len: usize,
    keep: Keep,
}

impl SharedBytes {
    /// All bytes of a file, **unverified**, as [`Source::bytes`] returns them. O(1).
    pub fn of(source: &Arc<Source>) -> Option<SharedBytes> {
        let bytes = source.bytes()?;
        let (len, keep) = (bytes.len(), Keep::Source(Arc::clone(source)));
        Some(SharedBytes { bytes: NonNull::from_ref(bytes).cast(), len, keep })
    }

    /// The bytes of a range, as far as there are any. O(1).
    pub fn part(&self, range: Range<usize>) -> SharedBytes {
        let start = range.start.min(self.len);
        let bytes = &self[start..range.end.clamp(start, self.len)];
        let (len, keep) = (bytes.len(), self.keep.clone());
        SharedBytes { bytes: NonNull::from_ref(bytes).cast(), len, keep }
    }
}

const _: () = {
    const fn assert_shared<T: Send + Sync>() {}
    assert_shared::<Keep>();
};

// SAFETY: `bytes` is what keeps `SharedBytes` from being `Send`. What it points to is owned by `keep`, which is
// `Send` and `Sync`, as asserted above.
unsafe impl Send for SharedBytes {}

// SAFETY: `bytes` is what keeps `SharedBytes` from being `Sync`. The bytes are only read: nobody writes those of a
// source, nor those of a buffer once all granules are admitted, which `kept` checked.
unsafe impl Sync for SharedBytes {}

impl Deref for SharedBytes {
    type Target = [u8];

    #[inline(always)]
    fn deref(&self) -> &[u8] {
        // SAFETY: `of`, `part` and `kept` took `bytes` and `len` from a slice of initialised bytes. None of them is written
        // any more: they are those of a source, or `kept` found all granules admitted. `keep` shares their owner, which
        // neither moves nor frees them before it is dropped, and the result borrows `self`.
        unsafe { std::slice::from_raw_parts(self.bytes.as_ptr(), self.len) }
    }
}

// Without the bytes, which are a file's.
impl fmt::Debug for SharedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len)
    }
}

#[cfg(test)]
mod tests;
