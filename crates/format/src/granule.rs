//! Sections and their checksums: a CRC-32 for each granule of 4 KiB.
//!
//! A section is verified by *granules* of 4 KiB, so reading one value costs the checksums of the few granules that it
//! lies in. On disk, from the section's offset:
//!
//! ```text
//! level 0   payload, then 64 to 127 zero bytes        to a multiple of 64
//! level 1   CRC-32 (u32) of every granule of level 0  zero-padded to a multiple of 64
//! level 2   CRC-32 (u32) of every granule of level 1  zero-padded to a multiple of 64
//! ...       until a level is a single granule, whose CRC-32 is the SectionRef's
//! ```
//!
//! Granules are counted from the level's first byte; the last one may be shorter. A payload of up to 4,032 bytes has
//! a single level. One of up to 4 MiB less 64 bytes has one level of checksums, and one of up to 4 GiB less 64 bytes
//! has two. Checksums add a thousandth of the payload.
//!
//! A flipped bit in level 0 makes one granule unreadable. In level *n* it makes the 1,024<sup>*n*</sup> granules of
//! level 0 unreadable whose checksums depend on its granule. The [`SectionRef`] lies in a directory page, which has
//! its own checksum.
//!
//! A reference to a section takes 20 bytes in the directory:
//!
//! | offset | bytes | field | meaning |
//! | --- | --- | --- | --- |
//! | 0 | 8 | `offset` | the section's first byte in the file |
//! | 8 | 8 | `len` | bytes of payload |
//! | 16 | 4 | `crc` | CRC-32 of the only granule of the last level |

use std::ops::Range;

use crate::cursor::{Cursor, Put};
use crate::error::{ErrorKind, Result};

pub use check::check;
pub use seal::{Sealer, seal};

mod check;
mod seal;
#[cfg(test)]
mod tests;

/// Bytes that share a checksum and are verified together.
pub const GRANULE: usize = 4096;

/// Zero bytes after the payload of every section. A load of up to 64 bytes that begins in the payload ends in the
/// section.
pub const TAIL: usize = 64;

/// Sections, and the levels of their checksums, are whole multiples of this many bytes.
pub const ALIGN: usize = 64;

/// The payload length from which a section begins at a multiple of [`GRANULE`]: see [`section_start`].
pub const LARGE_SECTION: u64 = 1 << 20;

/// Bytes of a checksum.
pub const CRC_LEN: usize = size_of::<u32>();

/// The most levels of a section. Each is a thousandth of the one below, so 2<sup>64</sup> bytes shrink to one granule
/// at the seventh.
pub const MAX_LEVELS: usize = 7;

const GRANULE_64: u64 = GRANULE as u64;
const CRC_64: u64 = CRC_LEN as u64;

/// The place of a section, and the root of its checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SectionRef {
    /// The section's first byte, counted from the start of the file.
    pub offset: u64,
    /// Bytes of payload, without tail and checksums.
    pub len: u64,
    /// CRC-32 of the only granule of the last level.
    pub crc: u32,
}

impl SectionRef {
    /// Bytes of a reference in the directory.
    pub const ENCODED_LEN: usize = 2 * size_of::<u64>() + CRC_LEN;

    /// Appends the 20 bytes of the reference.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.put_u64(self.offset);
        out.put_u64(self.len);
        out.put_u32(self.crc);
    }

    /// Reads a reference. Opening the file checks that the section lies inside it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Truncated`] when fewer than 20 bytes are left, [`ErrorKind::OutOfRange`] when the section would
    /// end after byte 2<sup>64</sup>.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<SectionRef> {
        let section = SectionRef { offset: cursor.u64()?, len: cursor.u64()?, crc: cursor.u32()? };
        let (found, max) = (section.len, u64::MAX - section.offset);
        let kind = ErrorKind::OutOfRange { what: "length of the section", found, max };
        if section.end().is_some() { Ok(section) } else { Err(cursor.refuse(kind)) }
    }

    /// The first byte after the section, its tail and its checksums; `None` if that exceeds a `u64`.
    pub fn end(&self) -> Option<u64> {
        self.offset.checked_add(extent(self.len)?)
    }
}

/// Bytes that a section with `len` bytes of payload occupies in the file, with tail and checksums; `None` if that
/// exceeds a `u64`.
pub fn extent(len: u64) -> Option<u64> {
    Layout::of(len).map(|layout| layout.extent())
}

/// One level of a section. Offsets are counted from the section's first byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// The level's first byte.
    pub at: u64,
    /// Bytes of payload or checksums.
    pub used: u64,
    /// All bytes, a multiple of [`ALIGN`]. Those after `used` are zero.
    pub len: u64,
}

impl Level {
    /// The number of granules, at least one.
    pub fn granules(&self) -> u64 {
        self.len.div_ceil(GRANULE_64)
    }

    /// The byte range of granule `index`; empty if there is no such granule.
    pub fn granule(&self, index: u64) -> Range<u64> {
        let start = index.saturating_mul(GRANULE_64).min(self.len);
        let end = start.saturating_add(GRANULE_64).min(self.len);
        self.at + start..self.at + end
    }

    /// The first byte after the level.
    pub fn end(&self) -> u64 {
        self.at + self.len
    }
}

/// The levels of a section. They depend on the payload's length alone. O(1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    levels: [Level; MAX_LEVELS],
    count: usize,
}

impl Layout {
    /// The layout of a section with `len` bytes of payload; `None` if its extent exceeds a `u64`.
    pub fn of(len: u64) -> Option<Layout> {
        let mut levels = [Level::default(); MAX_LEVELS];
        let mut next = Level { at: 0, used: len, len: aligned(len.checked_add(TAIL as u64)?)? };
        for (below, level) in levels.iter_mut().enumerate() {
            *level = next;
            let at = level.at.checked_add(level.len)?;
            if level.granules() == 1 {
                return Some(Layout { levels, count: below + 1 });
            }
            // At most a 1,024th of `u64::MAX`: neither the product nor the rounding can overflow.
            let used = level.granules() * CRC_64;
            next = Level { at, used, len: aligned(used)? };
        }
        None
    }

    /// The levels, from the payload upwards. The last one has a single granule.
    pub fn levels(&self) -> &[Level] {
        &self.levels[..self.count]
    }

    /// All bytes of the section in the file.
    pub fn extent(&self) -> u64 {
        self.levels[self.count - 1].end()
    }
}

/// The offset at which a writer begins a section with `len` bytes of payload, if all bytes before `at` are in use.
///
/// Large sections are aligned to pages, so a granule is one page of the file. Reading a value of a mapped file that
/// is not in memory then faults one page instead of two.
pub fn section_start(at: u64, len: u64) -> u64 {
    let align = if len < LARGE_SECTION { ALIGN as u64 } else { GRANULE_64 };
    at.checked_next_multiple_of(align).unwrap_or(at)
}

/// `len` rounded up to a multiple of [`ALIGN`].
fn aligned(len: u64) -> Option<u64> {
    len.checked_next_multiple_of(ALIGN as u64)
}
