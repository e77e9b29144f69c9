//! Comparison of a granule with its checksum.

use crate::error::{Error, ErrorKind, Result, Section};

/// Verifies the checksum of one granule. `bytes` is the whole granule, and `at` is its offset in the file.
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
