//! A section of which every byte is known to be good.

use std::ops::Range;

use docvalues_format::error::{Error, Place, Result};
use docvalues_format::prefetch::prefetch;
use docvalues_format::source::{SectionBytes, TAIL};

/// Payload and tail of a section, all of which was checked: what is read without asking again.
///
/// It may be mapped, and change behind our back: every load is still compared with where the bytes end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VerifiedSection<'a> {
    place: Place,
    bytes: &'a [u8],
}

impl<'a> VerifiedSection<'a> {
    /// All of `section`, if all of it was checked by now.
    #[inline]
    pub(crate) fn of(section: &'a impl SectionBytes) -> Option<VerifiedSection<'a>> {
        Some(VerifiedSection { place: section.place(), bytes: section.verified()? })
    }
}

impl SectionBytes for VerifiedSection<'_> {
    fn place(&self) -> Place {
        self.place
    }

    fn len(&self) -> usize {
        self.bytes.len().saturating_sub(TAIL)
    }

    #[inline(always)]
    fn prefetch(&self, at: usize) {
        prefetch(self.bytes.as_ptr().wrapping_add(at));
    }

    #[inline(always)]
    fn slice(&self, range: Range<usize>) -> Result<&[u8]> {
        let (at, needed) = (range.start, range.len());
        match self.bytes.get(range) {
            Some(bytes) => Ok(bytes),
            None => Err(Error::truncated(self.place, at, needed, self.bytes.len().saturating_sub(at))),
        }
    }

    #[inline(always)]
    fn verified(&self) -> Option<&[u8]> {
        Some(self.bytes)
    }
}
