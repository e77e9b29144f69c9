//! Memory accounting against the caller's budget: [`MemoryBudget`] of buffered values, [`SpillBudget`] of sorting.

use docvalues_storage::{Spill, prefer_huge_pages};

use super::scratch::CHUNK_LEN;
use crate::error::ErrorKind;

/// The capacity of all buffers in bytes, and its maximum.
///
/// It counts the heap blocks of buffers, which grow with the documents. It does not count the schema, or the
/// allocator's overhead.
///
/// ```text
/// 0          1/4                  1/2                                  budget
/// |           | target of a spill  | spill when above, if possible      | refuse
/// ```
#[derive(Debug, Default)]
pub(crate) struct MemoryBudget {
    budget: usize,
    used: usize,
    /// Buffers are spilled if more bytes are used.
    tight: usize,
}

impl MemoryBudget {
    pub(crate) fn new(budget: usize) -> MemoryBudget {
        MemoryBudget { budget, used: 0, tight: budget / 2 }
    }

    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// The number of bytes that can be charged.
    pub(crate) fn left(&self) -> usize {
        self.budget - self.used
    }

    /// Whether buffers should be spilled: more than half of the budget is used. The other half is for the next document
    /// or batch.
    pub(crate) fn is_tight(&self) -> bool {
        self.used > self.tight
    }

    /// The number of used bytes at which spilling stops: low enough that the next spill is not due soon.
    pub(crate) fn spill_target(&self) -> usize {
        self.budget / 4
    }

    /// Called after a spill. If more than half of the budget is still used, the next spill is due after another eighth.
    pub(crate) fn after_spill(&mut self) {
        self.tight = (self.budget / 2).max(self.used.saturating_add(self.budget / 8));
    }

    /// Reserves capacity in `vec` for `more` elements, so that pushing them cannot fail.
    ///
    /// Doubles the capacity, as `Vec` does. If the budget does not allow that, it grows by an eighth.
    pub(crate) fn reserve<T>(&mut self, vec: &mut Vec<T>, more: usize) -> Result<(), ErrorKind> {
        if vec.capacity() - vec.len() >= more {
            return Ok(());
        }
        self.grow(vec, more)
    }

    #[cold]
    fn grow<T>(&mut self, vec: &mut Vec<T>, more: usize) -> Result<(), ErrorKind> {
        let old = vec.capacity();
        let needed = vec.len().saturating_add(more);
        let charge = |capacity: usize| (capacity - old).saturating_mul(size_of::<T>());
        let doubled = needed.max(old.saturating_mul(2)).max(4);
        let capacity = match self.charge(charge(doubled)) {
            Ok(()) => doubled,
            Err(_) => {
                let frugal = needed.max(old.saturating_add(old / 8));
                self.charge(charge(frugal))?;
                frugal
            }
        };
        vec.reserve_exact(capacity - vec.len());
        prefer_huge_pages(vec);
        Ok(())
    }

    /// Adds `bytes` to the used memory.
    pub(crate) fn charge(&mut self, bytes: usize) -> Result<(), ErrorKind> {
        match self.used.checked_add(bytes) {
            Some(used) if used <= self.budget => {
                self.used = used;
                Ok(())
            }
            _ => Err(ErrorKind::Budget { budget: self.budget }),
        }
    }

    /// Subtracts `bytes`, which were charged before and are free now.
    pub(crate) fn release(&mut self, bytes: usize) {
        self.used = self.used.saturating_sub(bytes);
    }
}

/// The memory that a sort may take, and the temporary file for what exceeds it.
#[derive(Clone, Debug)]
pub(crate) struct SpillBudget {
    pub(crate) spill: Option<Spill>,
    pub(crate) bytes: usize,
}

impl SpillBudget {
    /// A quarter of `budget`; unlimited without a temporary file.
    pub(crate) fn new(budget: usize, spill: Option<&Spill>) -> SpillBudget {
        match spill {
            Some(spill) => SpillBudget { spill: Some(spill.clone()), bytes: (budget / 4).max(CHUNK_LEN) },
            None => SpillBudget { spill: None, bytes: usize::MAX },
        }
    }
}
