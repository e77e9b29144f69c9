//! One level of a section: payload, or the checksums of the level below.

use std::ops::Range;
use std::sync::Arc;

use docvalues_format::granule::GRANULE;

use crate::demand_paging::PagedBytes;
use crate::source::Source;

/// The bytes of a level, where they lie in the file, and which of its granules may be handed out.
///
/// Ranges count from the level's first byte.
#[derive(Debug)]
pub(crate) struct Level {
    pub(crate) pages: PagedBytes,
    /// The level's first byte in the file.
    offset: u64,
}

impl Level {
    /// `len` bytes from byte `offset` of `source` on, which lie inside, as the caller knows; only the
    /// first `limit` of them will be handed out. With `trusted`, those of a mapping or of memory may be
    /// so at once.
    ///
    /// `None` if there is no memory for them, or no address.
    pub(crate) fn open(
        source: &Arc<Source>,
        offset: u64,
        len: u64,
        limit: usize,
        trusted: bool,
    ) -> Option<Level> {
        let len = usize::try_from(len).ok()?;
        let pages = match source.whole() {
            Some(_) => PagedBytes::view(source, usize::try_from(offset).ok()?, len, limit, trusted)?,
            None => PagedBytes::buffer(len, limit)?,
        };
        Some(Level { pages, offset })
    }

    /// All bytes of the level.
    pub(crate) fn len(&self) -> usize {
        self.pages.len()
    }

    /// How many granules the level has.
    pub(crate) fn granules(&self) -> usize {
        self.len().div_ceil(GRANULE)
    }

    /// The bytes of granule `index`, which the level has.
    pub(crate) fn granule(&self, index: usize) -> Range<usize> {
        let start = index * GRANULE;
        start..self.len().min(start + GRANULE)
    }

    /// Where byte `at` lies in the file.
    pub(crate) fn offset(&self, at: usize) -> u64 {
        // The level was found to lie in the file.
        self.offset + at as u64
    }

    /// Where the bytes of `granules`, which the level has, lie in the file.
    pub(crate) fn file_range(&self, granules: Range<usize>) -> Range<u64> {
        self.offset(granules.start * GRANULE)..self.offset(self.len().min(granules.end * GRANULE))
    }

    /// Where a mapping, or memory, has the level.
    pub(crate) fn viewed(&self) -> Option<Range<usize>> {
        let start = usize::try_from(self.offset).ok().filter(|_| self.pages.is_view())?;
        Some(start..start + self.len())
    }
}
