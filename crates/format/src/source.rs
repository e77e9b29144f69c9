//! Access of decoders to the bytes of a section.
//!
//! A decoder never reads a file. It asks a [`SectionBytes`] for the few bytes that it needs, and gets verified bytes:
//! the crate `storage` verifies the checksum of a granule when it is read for the first time, for mappings, memory
//! and files that are read. [`Owned`] is a section on the heap, for tests of encoders and for copied tables.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Place, Result, Section};
use crate::granule::GRANULE;
use crate::prefetch::prefetch;

pub use crate::granule::TAIL;

/// The bytes of a section in memory, some of which may not be verified yet.
#[derive(Clone, Copy, Debug)]
pub struct PartlyVerified<'a> {
    /// All bytes, verified or not.
    pub bytes: &'a [u8],
    /// A bit for each granule, set once the granule is verified; `None` if all granules are.
    pub granules: Option<&'a [AtomicU64]>,
}

impl<'a> PartlyVerified<'a> {
    /// The bytes before `end`; `None` if there are not so many.
    #[inline]
    pub(crate) fn up_to(self, end: usize) -> Option<PartlyVerified<'a>> {
        Some(PartlyVerified { bytes: self.bytes.get(..end)?, ..self })
    }

    /// The bytes of `range`, if all of them are verified. Tests 64 granules at once.
    pub(crate) fn verified_range(self, range: Range<usize>) -> Option<&'a [u8]> {
        let bytes = self.bytes.get(range.clone())?;
        let Some(granules) = self.granules else { return Some(bytes) };
        let (first, end) = (range.start / GRANULE, range.end.div_ceil(GRANULE));
        let words = granules.get(first / 64..end.div_ceil(64))?;
        // Bits before the first granule and after the last one are ignored.
        let (front, back) = (first % 64, words.len() * 64 - (end - first / 64 * 64));
        let last = words.len().saturating_sub(1);
        let is_good = |(at, word): (usize, &AtomicU64)| {
            let front = if at == 0 { !(u64::MAX << front) } else { 0 };
            let back = if at == last { !(u64::MAX >> back) } else { 0 };
            PartlyVerified::load(word) | front | back == u64::MAX
        };
        words.iter().enumerate().all(is_good).then_some(bytes)
    }

    /// `N` bytes at `at`, if they are verified. `N` is at most the length of a granule.
    #[inline(always)]
    pub(crate) fn array<const N: usize>(&self, at: usize) -> Option<&'a [u8; N]> {
        const { assert!(0 < N && N <= GRANULE) };
        let bytes = self.bytes.get(at..at.checked_add(N)?)?.first_chunk()?;
        // Few loads cross into another granule.
        let is_good = self.is_good(at / GRANULE)
            && (at % GRANULE <= GRANULE - N || self.is_good((at + N - 1) / GRANULE));
        is_good.then_some(bytes)
    }

    /// Loads the bits of 64 granules. Acquire ordering makes the bytes of verified granules visible.
    #[inline(always)]
    pub(crate) fn load(granules: &AtomicU64) -> u64 {
        granules.load(Ordering::Acquire)
    }

    /// Returns whether `granule` is verified.
    #[inline(always)]
    pub(crate) fn is_good(&self, granule: usize) -> bool {
        let Some(granules) = self.granules else { return true };
        let word = granules.get(granule / 64);
        word.is_some_and(|word| PartlyVerified::load(word) >> (granule % 64) & 1 == 1)
    }
}

/// The bytes of one section, returned only after they are verified.
pub trait SectionBytes: Send + Sync {
    /// The place of the section, for error messages.
    fn place(&self) -> Place;

    /// Bytes of payload, without the [`TAIL`].
    fn len(&self) -> usize;

    /// Returns whether there is no payload.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes `range` of the section, which may reach [`TAIL`] bytes beyond the payload.
    ///
    /// # Errors
    ///
    /// [`Truncated`](Error::truncated) when `range` ends after the tail, `Checksum` when the bytes are
    /// damaged, `Io` when they had to be read and could not be.
    fn slice(&self, range: Range<usize>) -> Result<&[u8]>;

    /// Payload and tail as one slice, if every byte is verified.
    ///
    /// The fast path: a batch calls it once and then pays only for bounds checks.
    fn verified(&self) -> Option<&[u8]>;

    /// Payload and tail in memory, and which granules are verified; `None` if some bytes are not in memory yet.
    ///
    /// For kernels that look up many places at once and leave unverified ones to the caller.
    #[inline]
    fn partly_verified(&self) -> Option<PartlyVerified<'_>> {
        Some(PartlyVerified { bytes: self.verified()?, granules: None })
    }

    /// `N` bytes at `at`, if they are verified.
    ///
    /// The fast path of a single look-up. It verifies nothing and returns no error; after `None`, call
    /// [`array`](Self::array).
    #[inline]
    fn peek<const N: usize>(&self, at: usize) -> Option<&[u8; N]>
    where
        Self: Sized,
    {
        self.verified()?.get(at..)?.first_chunk()
    }

    /// Prefetches the bytes at `at`, which may be any offset.
    ///
    /// A batch prefetches all its values before it loads the first one, so that as many loads are in flight as the
    /// memory allows.
    #[inline]
    fn prefetch(&self, at: usize) {
        let _ = at;
    }

    /// `N` bytes at `at`.
    ///
    /// # Errors
    ///
    /// As [`slice`](Self::slice).
    #[inline]
    fn array<const N: usize>(&self, at: usize) -> Result<&[u8; N]>
    where
        Self: Sized,
    {
        match self.peek(at) {
            Some(bytes) => Ok(bytes),
            None => first_touch(self, at),
        }
    }

    /// Copies the bytes at `at` to `out`. They are not expected to be read again soon.
    ///
    /// A mapped file may be read instead, which takes less time than a page fault. The next call reads it again.
    ///
    /// # Errors
    ///
    /// As [`slice`](Self::slice).
    fn copy_to(&self, at: usize, out: &mut [u8]) -> Result<()> {
        out.copy_from_slice(self.slice(at..at.saturating_add(out.len()))?);
        Ok(())
    }

    /// As [`copy_to`](Self::copy_to), of `N` bytes.
    ///
    /// # Errors
    ///
    /// As [`slice`](Self::slice).
    fn copy<const N: usize>(&self, at: usize) -> Result<[u8; N]>
    where
        Self: Sized,
    {
        let mut out = [0; N];
        self.copy_to(at, &mut out)?;
        Ok(out)
    }
}

/// Not inlined, to keep the path of verified bytes short.
#[cold]
fn first_touch<const N: usize>(section: &impl SectionBytes, at: usize) -> Result<&[u8; N]> {
    let bytes = section.slice(at..at.saturating_add(N))?;
    bytes.first_chunk().ok_or_else(|| Error::truncated(section.place(), at, N, bytes.len()))
}

/// Payload and tail of a fully verified section: reads skip the checksums.
///
/// The section may be mapped and change under us, so every load is still bounds-checked.
#[derive(Clone, Copy, Debug)]
pub struct VerifiedSection<'a> {
    pub(crate) place: Place,
    pub(crate) bytes: &'a [u8],
}

impl<'a> VerifiedSection<'a> {
    /// All of `section`, if all of it is verified by now.
    #[inline]
    pub fn of(section: &'a impl SectionBytes) -> Option<VerifiedSection<'a>> {
        Some(VerifiedSection { place: section.place(), bytes: section.verified()? })
    }
}

impl SectionBytes for VerifiedSection<'_> {
    #[inline]
    fn place(&self) -> Place {
        self.place
    }

    #[inline]
    fn len(&self) -> usize {
        self.bytes.len().saturating_sub(TAIL)
    }

    #[inline(always)]
    fn prefetch(&self, at: usize) {
        prefetch(self.bytes.as_ptr().wrapping_add(at));
    }

    #[inline(always)]
    fn slice(&self, range: Range<usize>) -> Result<&[u8]> {
        bytes_of(self.bytes, self.place, range)
    }

    #[inline(always)]
    fn verified(&self) -> Option<&[u8]> {
        Some(self.bytes)
    }
}

/// The bytes `range` of a section that is at `place`.
#[inline(always)]
fn bytes_of(section: &[u8], place: Place, range: Range<usize>) -> Result<&[u8]> {
    let (at, needed) = (range.start, range.len());
    match section.get(range) {
        Some(bytes) => Ok(bytes),
        None => Err(Error::truncated(place, at, needed, section.len().saturating_sub(at))),
    }
}

/// A section on the heap: the output of an encoder, with its tail.
#[derive(Clone, Debug)]
pub struct Owned {
    place: Place,
    bytes: Box<[u8]>,
}

impl Owned {
    /// A section with this `payload`, to which the tail is appended.
    pub fn new(section: Section, mut payload: Vec<u8>) -> Owned {
        payload.resize(payload.len() + TAIL, 0);
        Owned { place: Place { section, offset: 0 }, bytes: payload.into() }
    }
}

impl SectionBytes for Owned {
    fn place(&self) -> Place {
        self.place
    }

    fn len(&self) -> usize {
        self.bytes.len() - TAIL
    }

    #[inline]
    fn slice(&self, range: Range<usize>) -> Result<&[u8]> {
        bytes_of(&self.bytes, self.place, range)
    }

    fn verified(&self) -> Option<&[u8]> {
        Some(&self.bytes)
    }
}

#[cfg(test)]
pub(crate) mod test_section;
