//! The documents that come first.

use std::collections::BinaryHeap;
use std::ops::{Range, RangeInclusive};

use docvalues_column::DocId;

use super::key::{Entry, Key, Keys};
use crate::columns::Columns;
use crate::error::Result;
use crate::pass::{Collector, Wants};
use crate::window::Window;

/// Values that are compared before any of them is looked at.
const CHUNK: usize = 64;

/// Keeps the documents that come first of those it sees.
pub(crate) struct TopDocs {
    keys: Keys,
    top: usize,
    /// The last of those that are kept is on top.
    heap: BinaryHeap<Entry>,
}

impl TopDocs {
    pub(super) fn new(keys: Keys, top: usize) -> TopDocs {
        TopDocs { keys, top, heap: BinaryHeap::new() }
    }

    /// The documents, in order.
    pub(super) fn finish(self) -> Vec<DocId> {
        self.heap.into_sorted_vec().into_iter().map(|entry| entry.doc).collect()
    }

    /// The last of those that are kept, if there are enough.
    fn last(&self) -> Option<&Entry> {
        if self.heap.len() < self.top { None } else { self.heap.peek() }
    }

    /// The first key, and the numbers of it that can still come in, if not all can.
    fn open(&self) -> Option<(Key, RangeInclusive<i64>)> {
        let key = *self.keys.as_slice().first()?;
        let last = self.last()?;
        // Documents come in ascending order, so one that is equal by its only key comes too late.
        let ties = self.keys.as_slice().len() > 1;
        Some((key, key.before(&last.places[0], ties)?))
    }

    fn offer(&mut self, window: &Window<'_>, at: usize) {
        let doc = window.doc(at);
        let places = self.keys.as_slice().iter().map(|key| key.place(window, at));
        if self.heap.len() < self.top {
            self.heap.push(Entry { places: places.collect(), doc });
        } else if let Some(mut last) = self.heap.peek_mut() {
            // Nothing is kept of a document that is worse by its first key.
            let mut places = places.peekable();
            if places.peek().zip(last.places.first()).is_some_and(|(place, last)| place > last) {
                return;
            }
            let entry = Entry { places: places.collect(), doc };
            if entry < *last {
                *last = entry;
            }
        }
    }

    /// Offers the documents whose number may still come in.
    fn numbers(&mut self, window: &Window<'_>, key: Key, mut open: RangeInclusive<i64>) {
        let values = window.numbers(key.slot).values;
        for (start, chunk) in (0..).step_by(CHUNK).zip(values.chunks(CHUNK)) {
            let (low, high) = (*open.start(), *open.end());
            if !chunk.iter().fold(false, |any, value| any | (low <= *value) & (*value <= high)) {
                continue;
            }
            for (at, value) in (start..).zip(chunk) {
                if open.contains(value) {
                    self.offer(window, at);
                    if let Some((_, narrower)) = self.open() {
                        open = narrower;
                    }
                }
            }
        }
    }
}

impl Collector for TopDocs {
    fn fork(&self) -> TopDocs {
        TopDocs::new(self.keys.clone(), self.top)
    }

    fn wants(&self, columns: &Columns, docs: Range<u32>, bits: &mut [u64]) -> Result<Wants> {
        let keys = self.keys.as_slice();
        let Some((key, last)) = keys.first().zip(self.last()) else { return Ok(Wants::All) };
        let can_tell = key.add_before(columns, docs, &last.places[0], keys.len() > 1, bits)?;
        Ok(if can_tell { Wants::Bits } else { Wants::All })
    }

    fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        for key in self.keys.as_slice() {
            window.read(key.slot)?;
        }
        match self.open() {
            Some((key, open)) if key.is_told_by_numbers(window) => self.numbers(window, key, open),
            _ => (0..window.len()).for_each(|at| self.offer(window, at)),
        }
        Ok(())
    }

    fn merge(&mut self, other: TopDocs) {
        self.heap.extend(other.heap);
        while self.heap.len() > self.top {
            self.heap.pop();
        }
    }
}
