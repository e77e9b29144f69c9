//! How a decoder gets at the bytes of a section.
//!
//! A decoder never sees a file. It asks a [`SectionBytes`] for the few bytes it needs, and gets them
//! checked: `storage` verifies the checksum of what it hands out for the first time, in a mapping,
//! in memory or over plain reads. [`Owned`] is the plain one, for encoders' tests and for tables
//! that were copied to the heap.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Place, Result, Section};
use crate::granule::GRANULE;

pub use crate::granule::TAIL;

/// The bytes of a section, of which some may never have been compared with their checksums.
#[derive(Clone, Copy, Debug)]
pub struct PartlyVerified<'a> {
    /// All of them.
    pub bytes: &'a [u8],
    /// A bit for each granule, set once it is known to be good; `None` if all are.
    pub granules: Option<&'a [AtomicU64]>,
}

impl<'a> PartlyVerified<'a> {
    /// The same of the bytes before `end`; `None` if there are not so many.
    #[inline]
    pub(crate) fn up_to(self, end: usize) -> Option<PartlyVerified<'a>> {
        Some(PartlyVerified { bytes: self.bytes.get(..end)?, ..self })
    }

    /// The bytes of `range` if they are known to be good; 64 granules are asked about at once.
    pub(crate) fn verified_range(self, range: Range<usize>) -> Option<&'a [u8]> {
        let bytes = self.bytes.get(range.clone())?;
        let Some(granules) = self.granules else { return Some(bytes) };
        let (first, end) = (range.start / GRANULE, range.end.div_ceil(GRANULE));
        let words = granules.get(first / 64..end.div_ceil(64))?;
        // In front of the first granule and behind the last one, nothing need be known.
        let (front, behind) = (first % 64, words.len() * 64 - (end - first / 64 * 64));
        let last = words.len().saturating_sub(1);
        let is_good = |(at, word): (usize, &AtomicU64)| {
            let front = if at == 0 { !(u64::MAX << front) } else { 0 };
            let behind = if at == last { !(u64::MAX >> behind) } else { 0 };
            PartlyVerified::load(word) | front | behind == u64::MAX
        };
        words.iter().enumerate().all(is_good).then_some(bytes)
    }

    /// `N` bytes at `at`, at most a granule's, if they are known to be good.
    #[inline(always)]
    pub(crate) fn array<const N: usize>(&self, at: usize) -> Option<&'a [u8; N]> {
        const { assert!(0 < N && N <= GRANULE) };
        let bytes = self.bytes.get(at..at.checked_add(N)?)?.first_chunk()?;
        // Few reach into another granule.
        let is_good = self.is_good(at / GRANULE)
            && (at % GRANULE <= GRANULE - N || self.is_good((at + N - 1) / GRANULE));
        is_good.then_some(bytes)
    }

    /// The bits of 64 granules, so that the bytes of the good ones are seen as they are.
    #[inline(always)]
    pub(crate) fn load(granules: &AtomicU64) -> u64 {
        granules.load(Ordering::Acquire)
    }

    /// Whether `granule` is known to be good.
    #[inline(always)]
    pub(crate) fn is_good(&self, granule: usize) -> bool {
        let Some(granules) = self.granules else { return true };
        let word = granules.get(granule / 64);
        word.is_some_and(|word| PartlyVerified::load(word) >> (granule % 64) & 1 == 1)
    }
}

/// The bytes of one section, handed out once they are known to be what was written.
pub trait SectionBytes: Send + Sync {
    /// Where the section lies, for error messages.
    fn place(&self) -> Place;

    /// Bytes of payload, without the [`TAIL`].
    fn len(&self) -> usize;

    /// Whether there is no payload.
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

    /// Payload and tail as one slice, if every byte of them is known to be good by now.
    ///
    /// The warm path: a batch asks once and then pays for bounds alone.
    fn verified(&self) -> Option<&[u8]>;

    /// Payload and tail where they lie in memory, with what is known of them by now; `None` where some of
    /// them are still to be read.
    ///
    /// For kernels, which look up many places at once and leave those that are not known to be good.
    #[inline]
    fn partly_verified(&self) -> Option<PartlyVerified<'_>> {
        Some(PartlyVerified { bytes: self.verified()?, granules: None })
    }

    /// `N` bytes at `at`, if they are known to be good by now.
    ///
    /// The way of a single look-up, which makes no error and checks nothing that was not checked:
    /// `None` tells nothing of the bytes, [`array`](Self::array) does.
    #[inline]
    fn peek<const N: usize>(&self, at: usize) -> Option<&[u8; N]>
    where
        Self: Sized,
    {
        self.verified()?.get(at..)?.first_chunk()
    }

    /// Tells the processor that the bytes at `at`, wherever that is, will be asked for soon.
    ///
    /// What a batch does for all its values before it loads the first of them: as many are then on their
    /// way as the memory can bring at once, instead of as many as the processor looks ahead.
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
}

/// Out of the way of those who find their bytes checked.
#[cold]
fn first_touch<const N: usize>(section: &impl SectionBytes, at: usize) -> Result<&[u8; N]> {
    let bytes = section.slice(at..at.saturating_add(N))?;
    bytes.first_chunk().ok_or_else(|| Error::truncated(section.place(), at, N, bytes.len()))
}

/// A section in memory: what an encoder made, with its tail.
#[derive(Clone, Debug)]
pub struct Owned {
    place: Place,
    bytes: Box<[u8]>,
}

impl Owned {
    /// Takes an encoder's `payload`, and adds the tail.
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
        let (at, needed) = (range.start, range.len());
        let left = self.bytes.len().saturating_sub(at);
        self.bytes.get(range).ok_or_else(|| Error::truncated(self.place, at, needed, left))
    }

    fn verified(&self) -> Option<&[u8]> {
        Some(&self.bytes)
    }
}

#[cfg(test)]
pub(crate) mod test_section;
