//! The queue of the first documents.

use std::collections::BinaryHeap;

use docvalues_column::{DocAddress, DocId};

use super::key::{Entry, Keys};
use super::top_k::TopKQueue;
use crate::engine::{Interrupt, Request, Window, threads};
use crate::error::Result;

/// The first `top` documents.
pub(crate) struct TopDocs {
    top: usize,
    /// An entry that all of them come before.
    bound: Option<Entry>,
    /// An entry that none of them comes before. Groups have a queue each, and no such entry.
    not_before: Option<Box<Entry>>,
    /// The last of the kept documents is on top.
    heap: BinaryHeap<Entry>,
}

impl TopDocs {
    pub(crate) fn new(top: usize) -> TopDocs {
        TopDocs { top, bound: None, not_before: None, heap: BinaryHeap::new() }
    }

    /// As [`new`](Self::new), if all of the first documents are known not to come after `last`.
    pub(crate) fn bounded(top: usize, last: Option<Entry>) -> TopDocs {
        let next = |of: DocAddress| DocAddress { doc: DocId::new(of.doc.get().saturating_add(1)), ..of };
        let successor = |last: Entry| Entry { address: next(last.address), ..last };
        TopDocs { bound: last.map(successor), ..TopDocs::new(top) }
    }

    /// Leaves out the documents that come before `after`.
    pub(super) fn after(self, after: Option<&Entry>) -> TopDocs {
        TopDocs { not_before: after.cloned().map(Box::new), ..self }
    }

    /// The documents, in order.
    pub(crate) fn finish(self, request: &Request<'_>) -> Result<Vec<DocAddress>> {
        let mut found = self.heap.into_vec();
        threads::sort(&mut found, request.threads(), request.stop())?;
        Ok(found.into_iter().map(|entry| entry.address).collect())
    }
}

impl TopKQueue for TopDocs {
    fn fork(&self) -> TopDocs {
        let (bound, not_before) = (self.bound.clone(), self.not_before.clone());
        TopDocs { bound, not_before, ..TopDocs::new(self.top) }
    }

    fn last(&self) -> Option<&Entry> {
        if self.heap.len() < self.top { self.bound.as_ref() } else { self.heap.peek() }
    }

    fn not_before(&self) -> Option<&Entry> {
        self.not_before.as_deref()
    }

    fn has_ties(&self) -> bool {
        self.heap.len() < self.top
    }

    fn collect(&mut self, keys: &Keys, window: &Window<'_>, at: usize) -> Result<()> {
        if let Some(last) = self.last()
            && !keys.comes_before(window, at, last)?
        {
            return Ok(());
        }
        if let Some(after) = &self.not_before
            && keys.comes_before(window, at, after)?
        {
            return Ok(());
        }
        let entry = keys.entry(window, at)?;
        if self.heap.len() < self.top {
            self.heap.push(entry);
        } else if let Some(mut last) = self.heap.peek_mut() {
            *last = entry;
        }
        Ok(())
    }

    fn merge(&mut self, other: TopDocs, stop: &Interrupt) -> Result<()> {
        self.heap.extend(other.heap);
        let mut pace = stop.pace();
        while self.heap.len() > self.top {
            pace.step()?;
            self.heap.pop();
        }
        Ok(())
    }
}
