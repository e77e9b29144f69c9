//! A section whose bytes are all verified.

use std::ops::Range;

use docvalues_format::error::{Error, Place, Result};
use docvalues_format::prefetch::prefetch;
use docvalues_format::source::{SectionBytes, TAIL};

/// Payload and tail of a fully verified section: reads skip the checksums.
///
/// The section may be mapped and change under us, so every load is still bounds-checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VerifiedSection<'a> {
    place: Place,
    bytes: &'a [u8],
}

impl<'a> VerifiedSection<'a> {
    /// All of `section`, if all of it is verified by now.
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
