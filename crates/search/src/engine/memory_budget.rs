//! A memory budget that the threads of a pass share.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hashbrown::HashTable;

use super::interrupt::Interrupt;

/// A limit on the memory of all threads. Each takes from it before it allocates. If a request is refused, the pass is
/// discarded.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    bytes: usize,
    used: AtomicUsize,
    is_over: AtomicBool,
    stop: Interrupt,
}

impl MemoryBudget {
    pub(crate) fn new(bytes: usize, stop: &Interrupt) -> MemoryBudget {
        let (used, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
        MemoryBudget { bytes, used, is_over, stop: stop.clone() }
    }

    /// The limit in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The bytes that were taken and not returned.
    #[cfg(test)]
    pub(super) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Whether a request was refused.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Takes `bytes`. Returns false if that exceeds the limit.
    pub(crate) fn take(&self, bytes: usize) -> bool {
        let used = self.used.fetch_add(bytes, Ordering::Relaxed);
        let fits = used.checked_add(bytes).is_some_and(|used| used <= self.bytes);
        fits || self.refuse()
    }

    /// Returns `bytes` to the budget.
    pub(crate) fn give(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Reserves room for `more` items in `list`, at least doubling its capacity. Returns false if the budget does not
    /// allow it. The old allocation counts until it was copied.
    pub(crate) fn grow<T>(&self, list: &mut Vec<T>, more: usize) -> bool {
        if list.capacity() - list.len() >= more {
            return true;
        }
        let (old, len) = (list.capacity(), list.len());
        let new = old.saturating_mul(2).max(len.saturating_add(more)).max(8);
        if !self.take(new.saturating_mul(size_of::<T>())) {
            return false;
        }
        let is_there = list.try_reserve_exact(new - len).is_ok();
        self.give(if is_there { old } else { new } * size_of::<T>());
        is_there || self.refuse()
    }

    /// Reserves room for an item in a hash table, doubling it if it is full. On false, because there is no room or
    /// the search is interrupted, the table has lost items.
    #[inline]
    pub(crate) fn grow_table<T>(&self, table: &mut HashTable<T>, hash: impl Fn(&T) -> u64) -> bool {
        table.len() < table.capacity() || self.double(table, hash)
    }

    #[cold]
    fn double<T>(&self, table: &mut HashTable<T>, hash: impl Fn(&T) -> u64) -> bool {
        let old = table.allocation_size();
        let most = old.saturating_mul(2).max(256);
        if self.is_over() || !self.take(most) {
            return false;
        }
        // By hand, since the table's own growth cannot be interrupted.
        let mut larger = HashTable::new();
        let is_there = larger.try_reserve(table.len() + 1, &hash).is_ok();
        let mut pace = self.stop.pace();
        let mut items = table.drain();
        while is_there
            && pace.step().is_ok()
            && let Some(item) = items.next()
        {
            larger.insert_unique(hash(&item), item, &hash);
        }
        let is_whole = is_there && items.len() == 0;
        drop(items);
        *table = larger;
        // Returns the old table, and the part of the estimate that the new one does not take.
        self.give((most + old).saturating_sub(table.allocation_size()));
        is_whole || self.refuse()
    }

    /// Marks the budget as exceeded.
    fn refuse(&self) -> bool {
        self.is_over.store(true, Ordering::Relaxed);
        false
    }
}
