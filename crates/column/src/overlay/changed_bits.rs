//! [`ChangedBits`]: which documents changed, side by side.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use docvalues_format::id::DocId;

/// A bit for each document of a column, set if it may have changed. Made when a long list is gathered.
///
/// A look-up is one load, from 250 KB for two million documents; without these bits, it takes three loads, of the block, of its
/// bitmap and of a word. Clones share the bits, and set those of documents that change, so that a change copies nothing: a
/// document may have changed only in another clone.
#[derive(Clone, Debug, Default)]
pub(super) struct ChangedBits {
    words: Arc<OnceLock<Box<[AtomicU64]>>>,
}

impl ChangedBits {
    /// The bits, if they were made.
    #[inline]
    pub(super) fn get(&self) -> Option<&[AtomicU64]> {
        self.words.get().map(|words| &**words)
    }

    /// The bits; `make` lists the changed documents.
    pub(super) fn get_or_make(&self, make: impl FnOnce() -> Vec<u64>) -> &[AtomicU64] {
        self.words.get_or_init(|| make().into_iter().map(AtomicU64::new).collect())
    }

    /// Prepares for documents that change. Bits that a clone has yet to make would lack them, so they are not shared.
    pub(super) fn before_change(&mut self) {
        if self.get().is_none() && Arc::get_mut(&mut self.words).is_none() {
            *self = ChangedBits::default();
        }
    }

    /// Adds a document that changes, if the bits were made.
    #[inline]
    pub(super) fn add(&self, doc: DocId) {
        if let Some(words) = self.get() {
            // Whoever sees the change got it from this thread in a way that orders memory.
            words[doc.get() as usize / 64].fetch_or(1 << (doc.get() % 64), Ordering::Relaxed);
        }
    }

    /// The size in memory, in bytes.
    pub(super) fn heap(&self) -> usize {
        self.get().map_or(0, size_of_val)
    }
}

/// Whether a document may have changed. One past the last did not.
#[inline(always)]
pub(super) fn may_have_changed(words: &[AtomicU64], doc: DocId) -> bool {
    let doc = doc.get() as usize;
    words.get(doc / 64).is_some_and(|word| word.load(Ordering::Relaxed) >> (doc % 64) & 1 == 1)
}
