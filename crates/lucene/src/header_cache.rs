//! Headers of blocks on the heap, once look-ups are many.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Result;

/// All headers are read after one look-up for each 16 of them, so that a few look-ups do not pay for it.
const HEADERS_PER_LOOKUP: u64 = 16;

/// The headers of the blocks of a column.
#[derive(Debug)]
pub(crate) struct HeaderCache<B> {
    lookups: AtomicU64,
    /// In the order of the blocks. Empty if one is damaged: each look-up then reads that of its own block.
    headers: OnceLock<Vec<B>>,
}

impl<B: Copy> HeaderCache<B> {
    pub(crate) fn new() -> HeaderCache<B> {
        HeaderCache { lookups: AtomicU64::new(0), headers: OnceLock::new() }
    }

    /// The headers, if they are in memory.
    #[inline(always)]
    pub(crate) fn all(&self) -> &[B] {
        self.headers.get().map_or(&[], Vec::as_slice)
    }

    /// The header of block `number` of `count`: from memory, or by `read`.
    #[inline(always)]
    pub(crate) fn get(&self, number: u64, count: u64, read: impl Fn(u64) -> Result<B>) -> Result<B> {
        let place = usize::try_from(number).ok();
        match self.headers.get().zip(place).and_then(|(headers, place)| headers.get(place)) {
            Some(header) => Ok(*header),
            None => self.read(number, count, read),
        }
    }

    #[inline(never)]
    fn read(&self, number: u64, count: u64, read: impl Fn(u64) -> Result<B>) -> Result<B> {
        // Each look-up gets another number, so one thread reads them.
        if self.lookups.fetch_add(1, Ordering::Relaxed) == 1 + count / HEADERS_PER_LOOKUP {
            let headers = (0..count).map(&read).collect::<Result<Vec<B>>>();
            self.headers.get_or_init(|| headers.unwrap_or_default());
        }
        read(number)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::error::{Error, ErrorKind};

    #[test]
    fn headers_are_read_once() {
        let (cache, reads) = (HeaderCache::new(), Cell::new(0));
        let read = |number: u64| -> Result<u64> {
            reads.set(reads.get() + 1);
            Ok(10 * number)
        };
        for number in (0..40).chain(0..40) {
            assert_eq!(cache.get(number, 40, read).unwrap(), 10 * number);
        }
        // Three, and with the fourth all of them.
        assert_eq!(reads.get(), 3 + 40 + 1);
    }

    #[test]
    fn a_damaged_header_fails_alone() {
        let cache = HeaderCache::new();
        let read = |number: u64| -> Result<u64> {
            if number == 7 { Err(Error::new("a file", 7, ErrorKind::Magic)) } else { Ok(number) }
        };
        for number in (0..20).chain(0..20) {
            assert_eq!(cache.get(number, 20, read).ok(), (number != 7).then_some(number));
        }
    }
}
