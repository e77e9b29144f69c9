//! What columns of all kinds share: batches of documents with a value, and the indices of their values.

use std::ops::Range;

use docvalues_column::{DocId, DocRange};
use docvalues_format::bits::{deposit, not_equal};
use docvalues_format::id::BLOCK_DOCS;
use docvalues_format::presence::NO_VALUE;

use crate::error::Result;
use crate::packed::BATCH;
use crate::presence::Presence;

/// Documents with a value in a window of a scan, if they are spread evenly.
const SCAN_WINDOW: u64 = 2048;

/// Entries of a small call. Clearing a buffer for a whole [`BATCH`] would take longer than looking these up.
const SMALL: usize = 64;

/// Calls `each` with the places of batches of `count` entries, and a buffer for each batch, which is as long.
pub(crate) fn in_batches<B: Copy + Default>(
    count: usize,
    mut each: impl FnMut(Range<usize>, &mut [B]) -> Result<()>,
) -> Result<()> {
    let (mut small, mut large);
    let buffer = if count <= SMALL {
        small = [B::default(); SMALL];
        &mut small[..]
    } else {
        large = [B::default(); BATCH];
        &mut large[..]
    };
    (0..count).step_by(BATCH).try_for_each(|start| {
        let len = BATCH.min(count - start);
        each(start..start + len, &mut buffer[..len])
    })
}

/// Calls `each` with the places in `docs` of batches, the indices of their values, and whether all have a value.
pub(crate) fn each_batch(
    presence: &Presence,
    docs: &[DocId],
    mut each: impl FnMut(Range<usize>, &[u32], bool) -> Result<()>,
) -> Result<()> {
    in_batches(docs.len(), |place, indices| {
        let are_all = presence.ranks(&docs[place.clone()], indices)?;
        each(place, indices, are_all)
    })
}

/// Bits of documents that have a value, for the presence of a gather.
pub(crate) fn words(indices: &[u32]) -> impl Iterator<Item = u64> {
    indices.chunks(64).map(|indices| not_equal(indices, NO_VALUE))
}

/// Calls `each` with the documents of windows that have a value, and the index of the first value, until it returns `false`.
///
/// Windows are longer in sparse columns, and short ones are merged, so that batches are full.
pub(crate) fn each_window(
    presence: &Presence,
    docs: DocRange,
    mut each: impl FnMut(&[DocId], u64) -> Result<bool>,
) -> Result<()> {
    let DocRange { mut start, end } = docs.clip(presence.docs());
    let even = SCAN_WINDOW * u64::from(presence.docs()) / u64::from(presence.values().max(1));
    let window = u32::try_from(even).unwrap_or(u32::MAX).min(BLOCK_DOCS).next_multiple_of(64);
    let mut found = Vec::new();
    while start < end {
        let first = presence.before(start)?;
        found.clear();
        while start < end && found.len() < BATCH {
            let stop = start.saturating_add(window).min(end);
            presence.collect(DocRange::new(start, stop), &mut found)?;
            start = stop;
        }
        if !found.is_empty() && !each(&found, first.into())? {
            break;
        }
    }
    Ok(())
}

/// Sets the bits of the documents of `docs` whose values have a bit in `found`, which begins with the first of them.
pub(crate) fn expand(presence: &Presence, docs: DocRange, found: &[u64], out: &mut [u64]) -> Result<()> {
    let mut there = vec![0; docs.words()];
    presence.exists(docs, &mut there)?;
    let mut at = 0_u32;
    for (there, out) in there.iter().zip(out) {
        let count = there.count_ones();
        let (word, shift) = ((at / 64) as usize, at % 64);
        let low = found.get(word).copied().unwrap_or(0) >> shift;
        let high = found.get(word + 1).copied().unwrap_or(0).unbounded_shl(64 - shift);
        *out |= deposit((low | high) & !u64::MAX.unbounded_shl(count), *there);
        at += count;
    }
    Ok(())
}
