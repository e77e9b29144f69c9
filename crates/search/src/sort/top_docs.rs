//! The queue of the first documents.

use std::collections::BinaryHeap;

use docvalues_column::{DocAddress, DocId};

use super::key::{Entry, Keys};
use super::top_k::TopKQueue;
use crate::engine::{Interrupt, Request, Window, threads};
use crate::error::Result;

/// The numbers that an empty queue selects its bound from, for each of its documents. The bound of more would be tighter,
/// but selecting it takes time for each number.
const SAMPLED: usize = 64;

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
        // The last documents are near the front of a heap: reversed, a few documents are nearly sorted.
        found.reverse();
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

    /// The k-th best of the first numbers. Without it, the queue would collect the first documents, whatever their values,
    /// and replace most of them by better ones.
    fn choose_bound(&mut self, keys: &Keys, numbers: &[i64]) {
        let sample = &numbers[..numbers.len().min(self.top.saturating_mul(SAMPLED))];
        // After a cursor, any number of the first ones may come before `not_before`, so they give no bound.
        let is_new = self.heap.is_empty() && self.bound.is_none() && self.not_before.is_none();
        // Stored doubles are not in the order of the key: NaN comes last in either direction.
        let key = keys.as_slice().first().filter(|key| is_new && !key.is_of_doubles());
        if let Some(key) = key
            && (1..=sample.len() / 2).contains(&self.top)
        {
            let place = |number: i64| if key.descending { !number } else { number };
            let mut places: Vec<i64> = sample.iter().copied().map(place).collect();
            let (_, last, _) = places.select_nth_unstable(self.top - 1);
            self.bound = keys.entry_after(place(*last));
            self.heap.reserve(self.top);
        }
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

#[cfg(test)]
mod tests {
    use docvalues_column::{Field, Kind, LogicalType, SortKey};
    use docvalues_testkit::model::{MemSource, ModelColumn};

    use super::*;
    use crate::engine::{DocsByPart, Search};

    #[test]
    fn an_empty_queue_is_bounded_by_the_first_numbers() {
        let field = |name, logical| Field::new(name, Kind::Numeric, logical);
        let columns = [field("size", LogicalType::I64), field("score", LogicalType::F64)];
        let source = MemSource::new(1, columns.map(|field| (field, ModelColumn::Numeric(vec![Some(7)]))));
        let search = Search::new(&source);
        let keys = |key: SortKey| {
            let mut request = Request::open(&search, DocsByPart::All).unwrap();
            Keys::open(&mut request, &[key]).unwrap()
        };
        let bound = |mut queue: TopDocs, keys: &Keys, numbers: &[i64]| {
            queue.choose_bound(keys, numbers);
            queue.last().cloned()
        };
        let numbers: Vec<i64> = (0..1_000).map(|number| number * 7 % 1_000).collect();
        let up = keys(SortKey::of("size"));
        for (keys, last) in [(&up, 19), (&keys(SortKey::of("size").descending()), 980)] {
            assert_eq!(bound(TopDocs::new(20), keys, &numbers), keys.entry_after(last));
            assert_eq!(bound(TopDocs::new(20), keys, &numbers[..39]), None, "most are among the first");
            for number in [i64::MIN, i64::MAX] {
                assert_eq!(bound(TopDocs::new(1), keys, &[number; 2]), keys.entry_after(number));
            }
        }
        assert_eq!(bound(TopDocs::new(1), &up, &[]), None);
        let doubles = keys(SortKey::of("score"));
        assert_eq!(bound(TopDocs::new(20), &doubles, &numbers), None, "some may be NaN");
        let place = up.entry_after(500);
        let after = TopDocs::new(20).after(place.as_ref());
        assert_eq!(bound(after, &up, &numbers), None, "some come before it");
        let bounded = || TopDocs::bounded(20, place.clone());
        assert_eq!(bound(bounded(), &up, &numbers), bounded().last().cloned(), "it has a bound");
    }
}
