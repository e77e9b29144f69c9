//! [`index`]: from a number of 32 bits to an index.

/// Converts a `u32` to an index.
pub(crate) fn index(id: u32) -> usize {
    usize::try_from(id).unwrap_or(usize::MAX)
}
