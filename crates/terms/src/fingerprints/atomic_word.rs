//! A 64-bit word that one thread writes while others read it.

use std::sync::atomic::{AtomicU64, Ordering};

/// An atomic word with relaxed loads and stores: the CPU's, or the model checker's.
pub(crate) trait Word {
    fn zero() -> Self;
    fn get(&self) -> u64;
    fn set(&self, bits: u64);
}

impl Word for AtomicU64 {
    #[inline]
    fn zero() -> AtomicU64 {
        AtomicU64::new(0)
    }

    #[inline]
    fn get(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }

    #[inline]
    fn set(&self, bits: u64) {
        self.store(bits, Ordering::Relaxed);
    }
}
