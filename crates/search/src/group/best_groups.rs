//! Top-k over groups, by their best documents.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::engine::{Cells, Interrupt, NO_ORD, Slot, Stored, Window};
use crate::error::Result;
use crate::sort::{Entry, Keys, TopKQueue};

/// The groups whose best documents come first, with these documents, as Lucene's `FirstPassGroupingCollector`.
///
/// A document that does not come before the last of the best documents changes nothing, and is rejected in O(1). A
/// group that was dropped can only return with a better document, so nothing of it is kept.
pub(super) struct BestGroups {
    by: Slot,
    top: usize,
    groups: BTreeMap<Entry, Stored>,
    best: HashMap<Stored, Entry>,
}

impl BestGroups {
    pub(super) fn new(by: Slot, top: usize) -> BestGroups {
        BestGroups { by, top, groups: BTreeMap::new(), best: HashMap::new() }
    }

    /// The values of the groups, in order.
    pub(super) fn finish(self) -> Vec<Stored> {
        self.groups.into_values().collect()
    }

    /// Adds a document that comes before the last one.
    fn put(&mut self, entry: Entry, value: Stored) {
        if let Some(best) = self.best.get_mut(&value) {
            if entry < *best {
                self.groups.remove(best);
                best.clone_from(&entry);
                self.groups.insert(entry, value);
            }
            return;
        }
        if self.best.len() >= self.top
            && let Some((_, last)) = self.groups.pop_last()
        {
            self.best.remove(&last);
        }
        self.best.insert(value.clone(), entry.clone());
        self.groups.insert(entry, value);
    }
}

impl TopKQueue for BestGroups {
    fn fork(&self) -> BestGroups {
        BestGroups::new(self.by, self.top)
    }

    fn slot(&self) -> Option<Slot> {
        Some(self.by)
    }

    fn last(&self) -> Option<&Entry> {
        if self.best.len() < self.top { None } else { self.groups.last_key_value().map(|(last, _)| last) }
    }

    fn collect(&mut self, keys: &Keys, window: &Window<'_>, at: usize) -> Result<()> {
        let is_competitive = self.last().map_or(Ok(true), |last| keys.comes_before(window, at, last))?;
        if let Some(value) = value(window.cells(self.by), at).filter(|_| is_competitive) {
            self.put(keys.entry(window, at)?, value);
        }
        Ok(())
    }

    fn merge(&mut self, other: BestGroups, stop: &Interrupt) -> Result<()> {
        let mut pace = stop.pace();
        for (entry, value) in other.groups {
            pace.step()?;
            if self.last().is_none_or(|last| entry < *last) {
                self.put(entry, value);
            }
        }
        Ok(())
    }
}

/// The value of document `at` of the window; a term is its ord, as a number.
fn value(cells: Cells<'_>, at: usize) -> Option<Stored> {
    match cells {
        Cells::Numbers(numbers) => numbers.get(at).map(Stored::Number),
        Cells::Ords(ords) => (ords[at] != NO_ORD).then(|| Stored::Number(ords[at].get().into())),
        Cells::Bytes(strings) => strings.get(at).map(|bytes| Stored::Bytes(bytes.to_vec())),
        Cells::NumberLists(_) | Cells::OrdLists(_) => None,
    }
}
