//! A search for values that begin with a prefix, without decoding them.

use std::ops::Range;

use super::onpair::Prefix;
use super::read::{BinaryReader, OpenCoding, Scratch};
use crate::error::Result;
use crate::source::SectionBytes;

/// Values whose offsets are read together.
const STEP: u64 = 1024;

impl<B: SectionBytes> BinaryReader<B> {
    /// Whether the values are OnPair codes: a prefix is compared without decoding any other.
    pub fn can_find_prefix(&self) -> bool {
        matches!(self.coding, OpenCoding::OnPair { .. })
    }

    /// Calls `each` with the index of every value of `range` that begins with `prefix`, in ascending order, and with
    /// whether the value is no longer.
    ///
    /// Compares the first codes of each value. Does nothing unless [`can_find_prefix`](Self::can_find_prefix).
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode).
    pub fn find_prefix(
        &self,
        range: Range<u64>,
        prefix: &[u8],
        scratch: &mut Scratch,
        mut each: impl FnMut(u64, bool),
    ) -> Result<()> {
        let OpenCoding::OnPair { tokens, .. } = &self.coding else { return Ok(()) };
        let prefix = Prefix::new(prefix);
        let (mut at, offsets) = (range.start, &mut scratch.offsets);
        while at < range.end {
            let next = range.end.min(at + STEP);
            self.offsets_of(at..next, offsets)?;
            let (first, last) = (offsets.first().copied().unwrap_or(0), offsets.last().copied().unwrap_or(0));
            let codes = self.codes(first, last)?;
            for (index, ends) in (at..).zip(offsets.windows(2)) {
                let place = |offset: u64| usize::try_from(offset - first).unwrap_or(usize::MAX);
                if let Some(is_whole) = tokens.begins_with(codes, place(ends[0])..place(ends[1]), &prefix) {
                    each(index, is_whole);
                }
            }
            at = next;
        }
        Ok(())
    }
}
