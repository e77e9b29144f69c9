//! How much memory the accumulators of a pass may take.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Memory that the threads of a pass share. They ask before they take it; if one does not get what it asks for, the pass
/// is in vain.
#[derive(Debug)]
pub(super) struct Budget {
    bytes: usize,
    used: AtomicUsize,
    is_over: AtomicBool,
}

impl Budget {
    pub(super) fn new(bytes: usize) -> Budget {
        Budget { bytes, used: AtomicUsize::new(0), is_over: AtomicBool::new(false) }
    }

    /// Whether somebody did not get what he asked for.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Whether there are so many bytes left, which then are taken.
    fn take(&self, bytes: usize) -> bool {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed);
        let fits = used.checked_add(bytes).is_some_and(|used| used <= self.bytes);
        if !fits {
            self.is_over.store(true, Ordering::Relaxed);
        }
        fits
    }

    /// So many bytes are free again.
    pub(super) fn give(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Makes room for `more` items in `list`, at least twice what there was. False if the budget does not allow it; the
    /// old list counts until it was copied.
    pub(super) fn grow<T>(&self, list: &mut Vec<T>, more: usize) -> bool {
        if list.capacity() - list.len() >= more {
            return true;
        }
        let (old, len) = (list.capacity(), list.len());
        let new = old.saturating_mul(2).max(len.saturating_add(more)).max(8);
        if !self.take(new.saturating_mul(size_of::<T>())) {
            return false;
        }
        list.reserve_exact(new - len);
        self.give(old * size_of::<T>());
        true
    }

    /// The same for a hash table, whose memory is what `size` says: one that is full is twice as large after `grow`.
    pub(super) fn grow_table<T>(
        &self,
        table: &mut T,
        size: impl Fn(&T) -> usize,
        grow: impl FnOnce(&mut T),
    ) -> bool {
        let old = size(table);
        let most = old.saturating_mul(2).max(256);
        if !self.take(most) {
            return false;
        }
        grow(table);
        // What was taken too much, and the old table.
        self.give((most + old).saturating_sub(size(table)));
        true
    }
}
