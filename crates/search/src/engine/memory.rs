//! Allocations proportional to the number of documents, which may fail.

use docvalues_storage::prefer_huge_pages;

use crate::error::{Error, Result};

/// The default memory limit of a search.
pub(crate) const DEFAULT: usize = 256 << 20;

/// The least memory limit that a search accepts.
pub(crate) const MIN: usize = 64 << 10;

/// The smallest zeroed allocation that is tried first, since `vec!` aborts if memory runs out.
const TRY_FIRST_FROM: usize = 256 << 20;

/// Returns an error if `bytes` exceeds `most`.
pub(crate) fn limit(bytes: usize, most: usize) -> Result<()> {
    if bytes > most { Err(Error::Memory { bytes: bytes as u64 }) } else { Ok(()) }
}

/// An empty vector with room for `len` items, in huge pages, whose first use takes a fifth of the time.
pub(crate) fn with_capacity<T>(len: usize) -> Result<Vec<T>> {
    let mut room = Vec::new();
    let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
    room.try_reserve_exact(len).map_err(|_| Error::Memory { bytes })?;
    prefer_huge_pages(&mut room);
    Ok(room)
}

/// A vector of `len` zeros. Pages are mapped on first use.
pub(crate) fn zeroed<T: Clone + Default>(len: usize) -> Result<Vec<T>> {
    // `vec!` aborts the process if memory runs out, so try a fallible allocation first.
    if len.saturating_mul(size_of::<T>()) >= TRY_FIRST_FROM {
        drop(with_capacity::<T>(len)?);
    }
    let mut room = vec![T::default(); len];
    prefer_huge_pages(&mut room);
    Ok(room)
}

// With 32 bits, an eighth of all addresses may be free.
#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::*;

    #[test]
    fn an_allocation_too_large_is_an_error() {
        let len = usize::MAX / 64;
        for refused in [with_capacity::<u64>(len), zeroed::<u64>(len)] {
            assert!(matches!(refused, Err(Error::Memory { bytes }) if bytes == len as u64 * 8));
        }
        assert_eq!(zeroed::<u64>(3).unwrap(), [0; 3]);
    }
}
