//! Permutes the presence of a column by the new order of the documents.

use docvalues_format::numeric::{self, Values as _};

use super::DocMap;
use crate::buffer::{PresenceBuffer, SpillVec};
use crate::error::ErrorKind;
use crate::index::index;

/// Words of a block of the rank directory.
const COUNTED: usize = 8;

/// The permuted presence, and the new index of each value. `None` if all documents have a value or none has: then
/// values move as their documents do.
pub(super) fn permute(
    docs: u32,
    presence: &PresenceBuffer,
    doc_map: &DocMap,
) -> Result<Option<(PresenceBuffer, SpillVec<u32>)>, ErrorKind> {
    if presence.count() == docs || presence.count() == 0 {
        return Ok(None);
    }
    let mut words = vec![0_u64; index(docs.div_ceil(64))];
    each_place(presence, doc_map, |place| {
        words[index(place / 64)] |= 1 << (place % 64);
        Ok(())
    })?;
    let mut before = Vec::with_capacity(words.len().div_ceil(COUNTED));
    let mut count = 0;
    for words in words.chunks(COUNTED) {
        before.push(count);
        count += ones(words);
    }
    let mut slots = SpillVec::default();
    each_place(presence, doc_map, |place| {
        let (word, first) = (index(place / 64), index(place / 64) / COUNTED * COUNTED);
        let below = words[word] & ((1 << (place % 64)) - 1);
        let slot = before[first / COUNTED] + ones(&words[first..word]) + below.count_ones();
        slots.push(slot, doc_map.spill_budget.spill.as_ref())
    })?;
    Ok(Some((PresenceBuffer::of_bits(words, docs), slots)))
}

fn ones(words: &[u64]) -> u32 {
    words.iter().map(|word| word.count_ones()).sum()
}

/// Calls `f` with the new number of each document that has a value.
fn each_place(
    presence: &PresenceBuffer,
    doc_map: &DocMap,
    mut f: impl FnMut(u32) -> Result<(), ErrorKind>,
) -> Result<(), ErrorKind> {
    let mut buffer = Vec::new();
    numeric::chunks(doc_map.places.len()).try_for_each(|range| {
        let docs = number(range.start)..number(range.end);
        let places = doc_map.places.read(range, &mut buffer)?;
        presence.docs(docs.clone()).try_for_each(|doc| f(places[index(doc - docs.start)]))
    })
}

/// A place among documents as their number; there never are more than fit.
fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
