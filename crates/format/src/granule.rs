//! Which checksums a section has, and where.
//!
//! A section is checked in pieces of 4 KiB, its *granules*, so that reading one value costs the
//! checksum of the few granules it lies in. On disk, from the section's offset:
//!
//! ```text
//! level 0   payload, then 64 to 127 zero bytes        to a multiple of 64
//! level 1   CRC-32 (u32) of every granule of level 0  zero-padded to a multiple of 64
//! level 2   CRC-32 (u32) of every granule of level 1  zero-padded to a multiple of 64
//! ...       until a level is a single granule, whose CRC-32 is the SectionRef's
//! ```
//!
//! The granules of a level are counted from the level's first byte; its last one is as long as what
//! is left. A payload of at most 4,032 bytes is the only level, one of 4 MiB less 64 bytes has one
//! level of checksums above it, one of 4 GiB less 64 bytes two: a thousandth of the payload.
//!
//! What one flipped bit can do: in level 0 it makes one granule unreadable, in level *n* those
//! 1,024<sup>*n*</sup> granules of level 0 that are found through its granule. The [`SectionRef`]
//! itself lies in a directory page, which has a checksum of its own.
//!
//! A reference to a section takes 20 bytes there:
//!
//! | offset | bytes | field | meaning |
//! | --- | --- | --- | --- |
//! | 0 | 8 | `offset` | the section's first byte in the file |
//! | 8 | 8 | `len` | bytes of payload |
//! | 16 | 4 | `crc` | CRC-32 of the only granule of the last level |

use std::ops::Range;

use byteorder::{ByteOrder, LittleEndian};

use crate::cursor::{Cursor, Put};
use crate::error::{Error, ErrorKind, Result, Section};

pub use checksums::{Sealer, seal};

mod checksums;
#[cfg(test)]
mod tests;

/// Bytes that have a checksum together, and are checked together.
pub const GRANULE: usize = 4096;

/// Zero bytes after the payload of every section, so that an eight-byte (or 64-byte) load that
/// begins inside the payload ends inside the section.
pub const TAIL: usize = 64;

/// Sections, and the levels of their checksums, are whole multiples of this many bytes.
pub const ALIGN: usize = 64;

/// A section with as many bytes of payload, or more, begins at a multiple of [`GRANULE`]: see [`section_start`].
pub const LARGE_SECTION: u64 = 1 << 20;

/// Bytes of a checksum in a level.
pub const CRC_LEN: usize = size_of::<u32>();

/// The most levels there can be: each is a thousandth of the one below, and 2<sup>64</sup> bytes
/// are down to one granule with the seventh.
pub const MAX_LEVELS: usize = 7;

const GRANULE_64: u64 = GRANULE as u64;
const CRC_64: u64 = CRC_LEN as u64;

/// Where a section is, and the checksum that all its others hang from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SectionRef {
    /// Its first byte, counted from the start of the file.
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

    /// Reads a reference. That the section lies inside the file is checked where the file's length
    /// is known, at opening.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Truncated`] when fewer than 20 bytes are left, [`ErrorKind::OutOfRange`] when the
    /// section would end behind byte 2<sup>64</sup>.
    pub fn decode(cursor: &mut Cursor<'_>) -> Result<SectionRef> {
        let section = SectionRef { offset: cursor.u64()?, len: cursor.u64()?, crc: cursor.u32()? };
        let (found, max) = (section.len, u64::MAX - section.offset);
        let kind = ErrorKind::OutOfRange { what: "length of the section", found, max };
        if section.end().is_some() { Ok(section) } else { Err(cursor.refuse(kind)) }
    }

    /// The first byte of the file behind the section, its tail and its checksums; `None` if that is
    /// no `u64`.
    pub fn end(&self) -> Option<u64> {
        self.offset.checked_add(extent(self.len)?)
    }
}

/// Bytes that a section with `len` bytes of payload takes in the file, with tail and checksums;
/// `None` if that is no `u64`.
pub fn extent(len: u64) -> Option<u64> {
    Layout::of(len).map(|layout| layout.extent())
}

/// One level of a section: its bytes, counted from the section's first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// The level's first byte.
    pub at: u64,
    /// Bytes that mean something: payload, or checksums.
    pub used: u64,
    /// All bytes, a multiple of [`ALIGN`]. Those behind `used` are zero.
    pub len: u64,
}

impl Level {
    /// How many granules the level has. At least one.
    pub fn granules(&self) -> u64 {
        self.len.div_ceil(GRANULE_64)
    }

    /// The bytes of granule `index`, counted from the section's first byte; empty if there is no
    /// such granule.
    pub fn granule(&self, index: u64) -> Range<u64> {
        let start = index.saturating_mul(GRANULE_64).min(self.len);
        let end = start.saturating_add(GRANULE_64).min(self.len);
        self.at + start..self.at + end
    }

    /// The level's first byte behind its bytes.
    pub fn end(&self) -> u64 {
        self.at + self.len
    }

    /// The bytes that are zero in every good file, counted from the section's first byte.
    pub fn padding(&self) -> Range<u64> {
        self.at + self.used..self.end()
    }
}

/// Where the levels of a section lie. A function of the payload's length alone, O(1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    levels: [Level; MAX_LEVELS],
    count: usize,
}

impl Layout {
    /// The layout of a section with `len` bytes of payload; `None` if its extent is no `u64`.
    pub fn of(len: u64) -> Option<Layout> {
        let mut levels = [Level::default(); MAX_LEVELS];
        let mut next = Level { at: 0, used: len, len: aligned(len.checked_add(TAIL as u64)?)? };
        for (below, level) in levels.iter_mut().enumerate() {
            *level = next;
            let at = level.at.checked_add(level.len)?;
            if level.granules() == 1 {
                return Some(Layout { levels, count: below + 1 });
            }
            // A 1,024th of a u64: neither the product nor the rounding can overflow.
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

    /// Where the checksum of granule `index` of `level` lies, counted from the section's first byte;
    /// `None` for the single granule of the last level, whose checksum is in the [`SectionRef`].
    pub fn crc_at(&self, level: usize, index: u64) -> Option<u64> {
        let above = self.levels().get(level + 1)?;
        Some(above.at + index * CRC_64)
    }
}

/// Compares one granule with its checksum. `bytes` is the whole granule, `at` its first byte in
/// the file.
///
/// # Errors
///
/// [`ErrorKind::Checksum`], at `at`.
#[inline]
pub fn check(section: Section, at: u64, bytes: &[u8], expected: u32) -> Result<()> {
    let found = crc32fast::hash(bytes);
    if found == expected {
        Ok(())
    } else {
        Err(Error::new(section, at, ErrorKind::Checksum { found, expected }))
    }
}

/// Computes the checksums of a section again, in place, after some of its bytes were changed:
/// what a hostile writer would do, and a fuzz target does.
///
/// `None` when `bytes` is not the extent of a section with `len` bytes of payload.
pub fn reseal(len: usize, bytes: &mut [u8]) -> Option<u32> {
    let layout = Layout::of(len as u64)?;
    if layout.extent() != bytes.len() as u64 {
        return None;
    }
    for pair in layout.levels().windows(2) {
        // The extent is the length of a slice, so every position below it is a usize.
        let (from, to) = (usize::try_from(pair[0].at).ok()?, usize::try_from(pair[1].at).ok()?);
        let used = usize::try_from(pair[1].used).ok()?;
        let (below, above) = bytes.split_at_mut(to);
        let granules = below[from..].chunks(GRANULE);
        for (granule, crc) in granules.zip(above[..used].chunks_exact_mut(CRC_LEN)) {
            LittleEndian::write_u32(crc, crc32fast::hash(granule));
        }
    }
    let last = usize::try_from(layout.levels().last()?.at).ok()?;
    Some(crc32fast::hash(&bytes[last..]))
}

/// Where a writer begins a section with a payload of `len` bytes, if all before `at` is taken.
///
/// A granule of a large section then is a page of the file: one value of a file that is mapped and not in memory costs the
/// fault of one page, and not of the two in which its granule lies otherwise.
pub fn section_start(at: u64, len: u64) -> u64 {
    let align = if len < LARGE_SECTION { ALIGN as u64 } else { GRANULE_64 };
    at.checked_next_multiple_of(align).unwrap_or(at)
}

/// `len` rounded up to a multiple of [`ALIGN`].
fn aligned(len: u64) -> Option<u64> {
    len.checked_next_multiple_of(ALIGN as u64)
}
