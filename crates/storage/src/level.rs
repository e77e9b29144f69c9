//! One level of a section: payload, or the checksums of the level below.

use std::ops::Range;
use std::sync::Arc;

use docvalues_format::granule::GRANULE;

use crate::paged::Pages;
use crate::source::Source;
use crate::verified::Verified;

/// The bytes of a level, and which of its granules may be handed out.
///
/// Ranges count from the level's first byte.
#[derive(Debug)]
pub(crate) struct Level {
    /// The level's first byte in the file.
    offset: u64,
    len: usize,
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    /// A part of what the source can hand out at once, and those granules of it that were checked.
    Viewed { source: Arc<Source>, at: usize, checked: Verified },
    /// Read from a file, granule by granule.
    Paged(Pages),
}

impl Level {
    /// `len` bytes from byte `offset` of `source` on; the caller knows that they lie inside. With
    /// `trusted`, those of a mapping or of memory may be handed out at once.
    ///
    /// `None` if there is no memory for them, or no address.
    pub(crate) fn open(source: &Arc<Source>, offset: u64, len: u64, trusted: bool) -> Option<Level> {
        let len = usize::try_from(len).ok()?;
        let bytes = match source.whole() {
            None => Bytes::Paged(Pages::zeroed(len)?),
            Some(_) => {
                let at = usize::try_from(offset).ok()?;
                let granules = len.div_ceil(GRANULE);
                let checked = if trusted { Verified::everything() } else { Verified::none(granules) };
                Bytes::Viewed { source: Arc::clone(source), at, checked }
            }
        };
        Some(Level { offset, len, bytes })
    }

    /// All bytes of the level.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// How many granules the level has.
    pub(crate) fn granules(&self) -> usize {
        self.len.div_ceil(GRANULE)
    }

    /// The bytes of granule `index`, which the level has.
    pub(crate) fn granule(&self, index: usize) -> Range<usize> {
        let start = index * GRANULE;
        start..self.len.min(start + GRANULE)
    }

    /// Where byte `at` lies in the file.
    pub(crate) fn offset(&self, at: usize) -> u64 {
        // The level was found to lie in the file.
        self.offset + at as u64
    }

    /// Whether every granule may be handed out: one load.
    #[inline]
    pub(crate) fn all(&self) -> bool {
        match &self.bytes {
            Bytes::Viewed { checked, .. } => checked.all(),
            Bytes::Paged(pages) => pages.all(),
        }
    }

    /// The bytes of `range`, if it lies inside and all granules that it touches may be handed out.
    #[inline]
    pub(crate) fn get(&self, range: Range<usize>) -> Option<&[u8]> {
        match &self.bytes {
            Bytes::Viewed { checked, .. } if !checked.all() && !checked.contains_all(&range) => None,
            _ => self.peek(range),
        }
    }

    /// The bytes of `range`, checked or not, to check them; `None` if they have yet to be read.
    #[inline]
    pub(crate) fn peek(&self, range: Range<usize>) -> Option<&[u8]> {
        match &self.bytes {
            Bytes::Viewed { source, at, .. } => source.whole()?.get(*at..*at + self.len)?.get(range),
            Bytes::Paged(pages) => pages.get(range),
        }
    }

    /// Lets granule `index` be handed out; `bytes` are all of it. Whether it could not be before.
    pub(crate) fn admit(&self, index: usize, bytes: &[u8]) -> bool {
        match &self.bytes {
            Bytes::Viewed { checked, .. } => checked.insert(index),
            Bytes::Paged(pages) => pages.fill(index, bytes),
        }
    }

    /// Where a mapping, or memory, has the level.
    pub(crate) fn viewed(&self) -> Option<Range<usize>> {
        match &self.bytes {
            Bytes::Viewed { at, .. } => Some(*at..*at + self.len),
            Bytes::Paged(_) => None,
        }
    }
}
