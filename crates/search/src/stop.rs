//! Searches that may be interrupted.

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};

/// Whether a search shall stop: asked between windows of documents.
#[derive(Clone, Default)]
pub(crate) struct Stop(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl Stop {
    pub(crate) fn new(stop: impl Fn() -> bool + Send + Sync + 'static) -> Stop {
        Stop(Some(Arc::new(stop)))
    }

    /// Whether the search can be interrupted at all.
    pub(crate) fn is_possible(&self) -> bool {
        self.0.is_some()
    }

    /// Refuses to go on if the search shall stop.
    #[inline]
    pub(crate) fn check(&self) -> Result<()> {
        match &self.0 {
            Some(stop) if stop() => Err(Error::Interrupted),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stop").field(&self.is_possible()).finish()
    }
}
