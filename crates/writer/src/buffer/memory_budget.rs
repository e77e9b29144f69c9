//! How much the buffered values take, against the caller's budget.

use docvalues_storage::{Spill, prefer_huge_pages};

use super::scratch::CHUNK_LEN;
use crate::error::ErrorKind;

/// Bytes of a block of memory from which on it may take 2 MiB more than is used of it.
const LARGE: usize = 4 << 20;

/// Bytes that buffers hold, by their capacity, and the most they may.
///
/// What is counted is what grows with the documents: the heap blocks of the buffers, not the
/// allocator's own few bytes a block, nor the schema.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    budget: usize,
    used: usize,
    /// From so many bytes on, some are to go elsewhere.
    tight: usize,
}

impl MemoryBudget {
    pub(crate) fn new(budget: usize) -> MemoryBudget {
        MemoryBudget { budget, used: 0, tight: budget / 2 }
    }

    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// Whether half of the budget is used, so that buffers should be spilled. What a document adds has the other
    /// half.
    pub(crate) fn is_tight(&self) -> bool {
        self.used > self.tight
    }

    /// How many bytes should be used once buffers were spilled, so that some time goes by before that is done
    /// again.
    pub(crate) fn spill_target(&self) -> usize {
        self.budget / 4
    }

    /// Says that all was spilled that could be: if that is not enough, an eighth more may come before it is
    /// tried again.
    pub(crate) fn after_spill(&mut self) {
        self.tight = (self.budget / 2).max(self.used.saturating_add(self.budget / 8));
    }

    /// Makes room in `vec` for `more` elements, so that pushing them cannot fail.
    ///
    /// Doubles the capacity, as `Vec` does; where the budget has no room for that, adds an eighth.
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
        if capacity.saturating_mul(size_of::<T>()) >= LARGE {
            prefer_huge_pages(vec);
        }
        Ok(())
    }

    /// Counts `bytes` more.
    pub(crate) fn charge(&mut self, bytes: usize) -> Result<(), ErrorKind> {
        match self.used.checked_add(bytes) {
            Some(used) if used <= self.budget => {
                self.used = used;
                Ok(())
            }
            _ => Err(ErrorKind::Budget { budget: self.budget }),
        }
    }

    /// Counts `bytes` less: they were charged before, and are free now.
    pub(crate) fn release(&mut self, bytes: usize) {
        self.used = self.used.saturating_sub(bytes);
    }
}

/// How much memory sorting may take, and where what has no room in it goes.
#[derive(Clone, Debug)]
pub(crate) struct SpillBudget {
    pub(crate) spill: Option<Spill>,
    pub(crate) bytes: usize,
}

impl SpillBudget {
    /// A quarter of a budget, but for a segment that has no file.
    pub(crate) fn new(budget: usize, spill: Option<&Spill>) -> SpillBudget {
        match spill {
            Some(spill) => SpillBudget { spill: Some(spill.clone()), bytes: (budget / 4).max(CHUNK_LEN) },
            None => SpillBudget { spill: None, bytes: usize::MAX },
        }
    }

    pub(crate) fn spill(&self) -> Option<&Spill> {
        self.spill.as_ref()
    }
}
