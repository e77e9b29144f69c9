//! Memory for something of each document.

use docvalues_storage::prefer_huge_pages;

use crate::error::{Error, Result};

/// Bytes that a search may take where nobody says otherwise.
pub(crate) const DEFAULT: usize = 256 << 20;

/// The fewest bytes that a search can be told to take.
pub(crate) const LEAST: usize = 64 << 10;

/// Room that is smaller is seldom worth a word with the kernel.
const LARGE: usize = 4 << 20;

/// Room that is smaller is there, or the process has ended before.
const HUGE: usize = 256 << 20;

/// Refuses more bytes than there may be.
pub(crate) fn limit(bytes: usize, most: usize) -> Result<()> {
    if bytes > most { Err(Error::Memory { bytes: bytes as u64 }) } else { Ok(()) }
}

/// Room for so many, all of which will be used: in large pages, which take a fifth of the time to be touched first.
pub(crate) fn with_capacity<T>(len: usize) -> Result<Vec<T>> {
    let mut room = Vec::new();
    let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
    room.try_reserve_exact(len).map_err(|_| Error::Memory { bytes })?;
    Ok(advised(room))
}

/// So many zeros. Their pages are touched by whoever writes to them first.
pub(crate) fn zeroed<T: Clone + Default>(len: usize) -> Result<Vec<T>> {
    // Zeroed memory is had or the process ends, so whether there is much of it is asked first.
    if len.saturating_mul(size_of::<T>()) >= HUGE {
        drop(with_capacity::<T>(len)?);
    }
    Ok(advised(vec![T::default(); len]))
}

fn advised<T>(mut room: Vec<T>) -> Vec<T> {
    if room.capacity().saturating_mul(size_of::<T>()) >= LARGE {
        prefer_huge_pages(&mut room);
    }
    room
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        let len = usize::MAX / 64;
        for refused in [with_capacity::<u64>(len), zeroed::<u64>(len)] {
            assert!(matches!(refused, Err(Error::Memory { bytes }) if bytes == len as u64 * 8));
        }
        assert_eq!(zeroed::<u64>(3).unwrap(), [0; 3]);
    }
}
