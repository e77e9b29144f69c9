//! [`Find`]: the changed documents of a list.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use docvalues_format::bits::Work;
use docvalues_format::id::DocId;

use super::block::{Block, split};
use super::changed_bits::may_have_changed;
use crate::rows::Element;

/// Documents that are looked for at once.
pub(super) const AT_ONCE: usize = 256;

/// A changed document: its place in the list, and the rank of its new row in its block.
pub(super) type Found = (u16, u16);

/// Finds the changed documents of a list of at most [`AT_ONCE`], in its order, and returns their number.
///
/// Compiled for several CPUs, because ranks are counts of bits, for which baseline x86-64 has no instruction. It returns ranks,
/// because code that reads rows was not inlined into a function with other CPU features: two calls for each changed document.
pub(super) struct Find<'a, T> {
    /// If they were made.
    pub(super) bits: Option<&'a [AtomicU64]>,
    pub(super) blocks: &'a [Option<Arc<Block<T>>>],
    pub(super) docs: &'a [DocId],
    pub(super) found: &'a mut [Found; AT_ONCE],
}

impl<T: Element> Work for Find<'_, T> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let Find { bits, blocks, docs, found } = self;
        let (mut asked, mut count) = (0, 0);
        // Two loops, in which no branch depends on whether a document changed.
        if let Some(bits) = bits {
            for (place, doc) in (0..).zip(docs) {
                found[asked % AT_ONCE].0 = place;
                asked += usize::from(may_have_changed(bits, *doc));
            }
        } else {
            for (place, doc) in (0..).zip(docs) {
                found[asked % AT_ONCE].0 = place;
                asked += usize::from(block_of(blocks, *doc).is_some_and(|(block, at)| block.has(at)));
            }
        }
        for at in 0..asked.min(AT_ONCE) {
            let (place, _) = found[at];
            let rank = block_of(blocks, docs[usize::from(place)]).and_then(|(block, at)| block.rank_of(at));
            #[expect(clippy::cast_possible_truncation, reason = "below 16,384")]
            let of_doc = rank.unwrap_or_default() as u16;
            found[count % AT_ONCE] = (place, of_doc);
            count += usize::from(rank.is_some());
        }
        count
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
        let docs = 3 * block + 10;
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
        for len in [0, 1, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 2 * AT_ONCE + 1, list.len(), 700] {
            let list = &list[..len];
            let wanted = list.iter().enumerate().filter_map(|(at, doc)| Some((at, *new.get(doc)?)));
            let docs: Vec<DocId> = list.iter().copied().map(DocId::new).collect();
            let mut found = Vec::new();
            changes.find(&docs, |at, row| found.push((at, row.map(|row| row[0]))));
            assert_eq!(found, wanted.collect::<Vec<_>>(), "{} changed, {len} asked", new.len());
        }
    }
}
