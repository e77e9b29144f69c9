//! The index sort: sorts the documents of a segment by sort keys.
//!
//! ```text
//! keys       checked against the fields                                         check_keys
//!   |
//! codes      the values of the sort columns, packed into one number a document  key_codes
//!   |
//! records    code and document, 16 bytes: sorted, externally if there are many  doc_records
//!   |
//! doc map    the new number of each document                                    DocMap
//!   |
//! columns    values and presence, permuted                                      permutation, permute_presence
//!   |          columns on disk by way of windows of the result                  scatter
//! encode     as if the documents had been added in this order
//! ```
//!
//! A column on disk is permuted by two sequential passes, however large it is. The first writes each value, with its
//! new index, to the window of the result that contains it. The second assembles the windows in memory, one after the
//! other. Looking up the values in their new order would take a random read for each.
//!
//! The sort knows buffers, and no encoder: an encoder asks it for the values of a column in their new order.

mod check_keys;
mod doc_records;
mod key_codes;
mod permutation;
mod permute_presence;
mod scatter;
#[cfg(test)]
mod tests;

use crate::buffer::{PresenceBuffer, SpillBudget, SpillVec, SpillVecReader};
use crate::error::ErrorKind;
use crate::index::index;

pub(crate) use check_keys::check_keys;
use doc_records::ExternalSorter;
use key_codes::KeyCodes;
pub(crate) use key_codes::{KeyColumn, KeyValues};
pub(crate) use permutation::Permutation;
use scatter::{Layout, Scatter};

/// The new number of each document. (Lucene: `Sorter.DocMap`.)
#[derive(Debug)]
pub(crate) struct DocMap {
    places: SpillVec<u32>,
    spill_budget: SpillBudget,
}

impl DocMap {
    /// Sorts `docs` documents by `keys`, stably. `None` if they are sorted already.
    pub(crate) fn new(
        docs: u32,
        keys: &[KeyColumn<'_>],
        spill_budget: &SpillBudget,
    ) -> Result<Option<DocMap>, ErrorKind> {
        let mut codes = KeyCodes::new(docs, keys)?;
        if codes.are_all_equal() {
            return Ok(None);
        }
        loop {
            let mut sorter = ExternalSorter::new(spill_budget.clone());
            codes.each(|doc, code| sorter.push(code << u32::BITS | u128::from(doc)))?;
            if codes.are_whole() {
                return DocMap::of(docs, sorter, spill_budget);
            }
            codes.replace(ranks(docs, sorter, spill_budget)?);
        }
    }

    fn of(
        docs: u32,
        sorter: ExternalSorter,
        spill_budget: &SpillBudget,
    ) -> Result<Option<DocMap>, ErrorKind> {
        let (mut place, mut moved) = (0, false);
        let places = by_document(docs, spill_budget, |places| {
            sorter.finish(|record| {
                let doc = doc_of(record);
                moved |= doc != place;
                place += 1;
                places.put(index(doc), &(place - 1).to_le_bytes())
            })
        })?;
        Ok(moved.then(|| DocMap { places, spill_budget: spill_budget.clone() }))
    }

    /// Calls `each` with the old and the new number of all documents, in the old order. Without a map, the two are
    /// equal.
    pub(crate) fn each_place(
        doc_map: Option<&DocMap>,
        docs: u32,
        mut each: impl FnMut(u32, u32),
    ) -> Result<(), ErrorKind> {
        let Some(doc_map) = doc_map else {
            (0..docs).for_each(|doc| each(doc, doc));
            return Ok(());
        };
        let mut docs = 0..docs;
        doc_map.places.try_each(|place| {
            docs.next().into_iter().for_each(|doc| each(doc, place));
            Ok(())
        })
    }

    /// The new numbers, if they are in memory.
    pub(crate) fn in_memory(&self) -> Option<&[u32]> {
        (self.places.on_disk_len() == 0).then_some(&self.places.in_memory)
    }

    /// A sequential reader of the new numbers.
    pub(crate) fn places(&self) -> SpillVecReader<'_, u32> {
        self.places.stream()
    }

    /// The old numbers of the documents with the new numbers `places`.
    pub(crate) fn docs_at<const N: usize>(&self, places: [u32; N]) -> Result<[u32; N], ErrorKind> {
        let (mut docs, mut doc) = (places, 0);
        self.places.try_each(|place| {
            for (of, wanted) in docs.iter_mut().zip(places) {
                if place == wanted {
                    *of = doc;
                }
            }
            doc += 1;
            Ok(())
        })?;
        Ok(docs)
    }

    /// The permuted presence of a column, and the permutation of its values.
    pub(crate) fn presence(
        &self,
        docs: u32,
        presence: PresenceBuffer,
    ) -> Result<(PresenceBuffer, Permutation<'_>), ErrorKind> {
        let Some((presence, slots)) = permute_presence::permute(docs, &presence, self)? else {
            return Ok((presence, Permutation { doc_map: self, slots: None }));
        };
        Ok((presence, Permutation { doc_map: self, slots: Some(slots) }))
    }
}

/// The document of a record.
fn doc_of(record: u128) -> u32 {
    u32::try_from(record & u128::from(u32::MAX)).unwrap_or(u32::MAX)
}

/// The rank of each document's code among the distinct codes, and their number.
fn ranks(
    docs: u32,
    sorter: ExternalSorter,
    spill_budget: &SpillBudget,
) -> Result<(SpillVec<u32>, u32), ErrorKind> {
    let (mut last, mut rank) = (None, 0);
    let ranks = by_document(docs, spill_budget, |ranks| {
        sorter.finish(|record| {
            let code = record >> u32::BITS;
            rank += u32::from(last.replace(code).is_some_and(|last| last != code));
            ranks.put(index(doc_of(record)), &rank.to_le_bytes())
        })
    })?;
    Ok((ranks, rank + 1))
}

/// A number for each document, which `put` sets in any order.
fn by_document(
    docs: u32,
    spill_budget: &SpillBudget,
    put: impl FnOnce(&mut Scatter<'_>) -> Result<(), ErrorKind>,
) -> Result<SpillVec<u32>, ErrorKind> {
    // Large maps go to disk: they are read sequentially for each column, and the memory is left to the values.
    let on_disk =
        spill_budget.spill.as_ref().filter(|_| index(docs) > spill_budget.bytes / (4 * size_of::<u32>()));
    let mut scatter =
        Scatter::new(Layout::Fixed { count: index(docs), width: size_of::<u32>() }, spill_budget)?;
    put(&mut scatter)?;
    scatter.into_numbers(on_disk)
}
