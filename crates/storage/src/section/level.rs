//! One level of a section's checksum tree: the payload, or the checksums of the level below.

use std::ops::Range;
use std::sync::Arc;

use docvalues_format::granule::GRANULE;

use crate::demand_paging::PagedBytes;
use crate::source::Source;

/// The longest level of checksums that is read from a mapped file and copied: that of 64 MiB.
const LONGEST_COPY: u64 = 64 << 10;

/// The bytes of a level, their offset in the file, and the granules that are admitted.
///
/// Ranges count from the level's first byte.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) pages: PagedBytes,
    /// The offset of the level's first byte in the file.
    offset: u64,
}

impl Level {
    /// The `len` bytes at `offset` of `source`, which must lie inside of it; only the first `limit` of them will be
    /// handed out. With `trusted`, all granules of a mapping or of memory are admitted at once. With `copied`, a level
    /// of up to 64 KiB is copied granule by granule even if it is mapped.
    ///
    /// `None` if there is no memory for them, or no address.
    pub(super) fn open(
        source: &Arc<Source>,
        offset: u64,
        len: u64,
        limit: usize,
        trusted: bool,
        copied: bool,
    ) -> Option<Level> {
        let copied = copied && len <= LONGEST_COPY;
        let len = usize::try_from(len).ok()?;
        let pages = match source.bytes() {
            Some(_) if !copied => {
                PagedBytes::view(source, usize::try_from(offset).ok()?, len, limit, trusted)?
            }
            _ => PagedBytes::buffer(len, limit)?,
        };
        Some(Level { pages, offset })
    }

    /// The length of the level in bytes.
    pub(super) fn len(&self) -> usize {
        self.pages.len()
    }

    /// The number of granules of the level.
    pub(super) fn granules(&self) -> usize {
        self.len().div_ceil(GRANULE)
    }

    /// The byte range of granule `index`, which must exist.
    pub(super) fn granule(&self, index: usize) -> Range<usize> {
        let start = index * GRANULE;
        start..self.len().min(start + GRANULE)
    }

    /// The offset of byte `at` in the file.
    pub(super) fn offset(&self, at: usize) -> u64 {
        // The level lies in the file, so this does not overflow.
        self.offset + at as u64
    }

    /// The range of `granules`, which must exist, in the file.
    pub(super) fn file_range(&self, granules: Range<usize>) -> Range<u64> {
        self.offset(granules.start * GRANULE)..self.offset(self.len().min(granules.end * GRANULE))
    }

    /// The range of the level in the mapping or in memory, if there is one.
    pub(super) fn viewed(&self) -> Option<Range<usize>> {
        let start = usize::try_from(self.offset).ok().filter(|_| self.pages.is_view())?;
        Some(start..start + self.len())
    }
}
