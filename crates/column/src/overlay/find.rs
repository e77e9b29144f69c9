//! [`Find`]: the changed documents of a list.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use docvalues_format::bits::{Work, push_docs};
use docvalues_format::id::DocId;

use super::block::{Block, split};
use super::changed_bits::may_have_changed;
use crate::rows::Element;

/// Documents that are looked for at once.
pub(super) const AT_ONCE: usize = 1_024;

/// Not a rank.
pub(super) const UNCHANGED: u16 = u16::MAX;

/// Finds the documents of a list of at most [`AT_ONCE`] that may have changed: their places in the list, ascending, and the
/// ranks of their new rows in their blocks, or [`UNCHANGED`].
///
/// Compiled for several CPUs, because ranks are counts of bits, for which baseline x86-64 has no instruction. It returns ranks,
/// because code that reads rows was not inlined into a function with other CPU features: two calls for each changed document.
///
/// The only branch on a rank is the test for [`UNCHANGED`], which predicts well: a mispredicted one would wait for the
/// cache misses of the look-up.
pub(super) struct Find<'a, T> {
    /// If they were made.
    pub(super) bits: Option<&'a [AtomicU64]>,
    pub(super) blocks: &'a [Option<Arc<Block<T>>>],
    pub(super) docs: &'a [DocId],
    /// In the type that [`push_docs`] writes.
    pub(super) places: &'a mut Vec<DocId>,
    pub(super) ranks: &'a mut Vec<u16>,
}

impl<T: Element> Work for Find<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Find { bits, blocks, docs, places, ranks } = self;
        let mut changed = [0; AT_ONCE / 64];
        let changed = &mut changed[..docs.len().div_ceil(64)];
        match bits {
            Some(bits) => mark(docs, changed, |doc| may_have_changed(bits, doc)),
            None => mark(docs, changed, |doc| block_of(blocks, doc).is_some_and(|(block, at)| block.has(at))),
        }
        places.clear();
        push_docs(changed, 0, places);
        ranks.resize(places.len(), UNCHANGED);
        for (place, to) in places.iter().zip(ranks) {
            let found = block_of(blocks, docs[place.get() as usize]);
            let rank =
                found.and_then(|(block, at)| block.rank_of(at).inspect(|rank| block.prefetch_row(*rank)));
            #[expect(clippy::cast_possible_truncation, reason = "below 16,384")]
            let of_doc = rank.unwrap_or(UNCHANGED.into()) as u16;
            *to = of_doc;
        }
    }
}

/// Writes a bit for each document, set if it may have changed: without a branch that depends on it.
#[inline(always)]
fn mark(docs: &[DocId], changed: &mut [u64], may_have_changed: impl Fn(DocId) -> bool) {
    for (docs, word) in docs.chunks(64).zip(changed) {
        let mut bits = 0;
        for doc in docs.iter().rev() {
            bits = bits << 1 | u64::from(may_have_changed(*doc));
        }
        *word = bits;
    }
}

/// The block of a document, if that has changes, and the document's number there.
#[inline(always)]
pub(super) fn block_of<T>(blocks: &[Option<Arc<Block<T>>>], doc: DocId) -> Option<(&Block<T>, u16)> {
    let (block, at) = split(doc);
    Some((blocks.get(block)?.as_deref()?, at))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::slice;

    use super::super::Changes;
    use super::super::block::DOCS;
    use super::*;

    #[test]
    fn changed_documents_of_lists_of_any_length_and_order() {
        let block = u32::try_from(DOCS).unwrap();
        let docs = 4 * block + 10;
        let edges = vec![0, 63, 64, 255, 256, block - 1, block, block + 1, docs - 1];
        let sets = [vec![], edges, (0..docs).step_by(7).collect(), (block..2 * block).collect()];
        for set in sets {
            let mut new = BTreeMap::new();
            let mut changes = Changes::<i64>::new(docs, false);
            change(&mut changes, &mut new, &set, 5);
            check(&changes, &new);
            // Clones, which share bits if those were made: one with more changes, and one with others.
            let (mut more, mut new_of_more) = (changes.clone(), new.clone());
            change(&mut more, &mut new_of_more, &[1, 62, 63, 70, block + 1, docs - 3], 3);
            let mut others = (0..docs).step_by(3).collect::<Vec<_>>();
            others.retain(|doc| !new_of_more.contains_key(doc));
            let (mut other, mut new_of_other) = (changes.clone(), new.clone());
            change(&mut other, &mut new_of_other, &others, 2);
            check(&other, &new_of_other);
            check(&more, &new_of_more);
            check(&changes, &new);
        }
    }

    /// Changes documents, and removes the values of each `nth`.
    fn change(changes: &mut Changes<i64>, new: &mut BTreeMap<u32, Option<i64>>, docs: &[u32], nth: u32) {
        let value = |doc: u32| (!doc.is_multiple_of(nth)).then(|| i64::from(doc * nth));
        new.extend(docs.iter().map(|doc| (*doc, value(*doc))));
        let rows = docs.iter().map(|doc| (DocId::new(*doc), &new[doc]));
        changes.set(rows.map(|(doc, row)| (doc, row.as_ref().map(slice::from_ref))));
    }

    /// Looks for documents in lists of several lengths, the longest of which has bits made.
    fn check(changes: &Changes<i64>, new: &BTreeMap<u32, Option<i64>>) {
        // Changed documents twice, and documents past the last one.
        let list: Vec<u32> =
            new.keys().rev().chain(new.keys()).copied().chain(0..changes.docs() + 3).collect();
        let edges = [AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 2 * AT_ONCE + 1, 65_537, 700];
        for len in [0, 1, 63, 64, 65, 511, 512, 513].into_iter().chain(edges) {
            let list = &list[..len];
            let wanted = list.iter().enumerate().filter_map(|(at, doc)| Some((at, *new.get(doc)?)));
            let docs: Vec<DocId> = list.iter().copied().map(DocId::new).collect();
            let mut found = Vec::new();
            changes.find(&docs, |at, row| found.push((at, row.map(|row| row[0]))));
            assert_eq!(found, wanted.collect::<Vec<_>>(), "{} changed, {len} asked", new.len());
        }
    }
}
