//! Interruption of searches.

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};

/// The caller's interrupt flag, polled between windows of documents.
#[derive(Clone, Default)]
pub(crate) struct Interrupt(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Interrupt {
    pub(crate) fn new(stop: impl Fn() -> bool + Send + Sync + 'static) -> Interrupt {
        Interrupt(Some(Arc::new(stop)))
    }

    /// Whether the search can be interrupted at all.
    pub(crate) fn is_possible(&self) -> bool {
        self.0.is_some()
    }

    /// Returns an error if the search was interrupted.
    #[inline]
    pub(crate) fn check(&self) -> Result<()> {
        match &self.0 {
            Some(stop) if stop() => Err(Error::Interrupted),
            _ => Ok(()),
        }
    }

    pub(crate) fn pace(&self) -> Pace<'_> {
        Pace { stop: self, left: 0 }
    }
}

/// Polls the interrupt flag once every [`STEPS`] steps of a loop.
pub(crate) struct Pace<'a> {
    stop: &'a Interrupt,
    left: u32,
}

/// Steps between two polls: less than a millisecond if steps are short.
const STEPS: u32 = 1 << 14;

impl Pace<'_> {
    /// Counts a step, and returns an error if a poll finds the search interrupted.
    #[inline]
    pub(crate) fn step(&mut self) -> Result<()> {
        if self.left == 0 {
            self.left = STEPS;
            self.stop.check()?;
        }
        self.left -= 1;
        Ok(())
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Interrupt").field(&self.is_possible()).finish()
    }
}
