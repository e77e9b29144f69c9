//! [`Find`]: the changed documents of a list.

use std::sync::Arc;

use docvalues_format::bits::Work;
use docvalues_format::id::DocId;

use super::block::{Block, split};
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
    pub(super) blocks: &'a [Option<Arc<Block<T>>>],
    pub(super) docs: &'a [DocId],
    pub(super) found: &'a mut [Found; AT_ONCE],
}

impl<T: Element> Work for Find<'_, T> {
    type Output = usize;

    #[inline(always)]
    fn run(self) -> usize {
        let Find { blocks, docs, found } = self;
        let mut count = 0;
        // No branch depends on whether a document changed.
        for (place, doc) in (0..).zip(docs) {
            found[count % AT_ONCE].0 = place;
            count += usize::from(block_of(blocks, *doc).is_some_and(|(block, at)| block.has(at)));
        }
        for (place, rank) in &mut found[..count] {
            let block = block_of(blocks, docs[usize::from(*place)]);
            let of_doc = block.and_then(|(block, at)| block.rank_of(at)).unwrap_or_default();
            #[expect(clippy::cast_possible_truncation, reason = "below 16,384")]
            let of_doc = of_doc as u16;
            *rank = of_doc;
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
            let value = |doc: &u32| (*doc, (doc % 5 > 0).then_some(i64::from(*doc)));
            let new: BTreeMap<u32, Option<i64>> = set.iter().map(value).collect();
            let mut changes = Changes::<i64>::new(docs, false);
            changes.set(new.iter().map(|(doc, row)| (DocId::new(*doc), row.as_ref().map(slice::from_ref))));

            // Changed documents twice, and documents past the last one.
            let list: Vec<u32> = set.iter().rev().chain(&set).copied().chain(0..docs + 3).collect();
            for len in [0, 1, AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 2 * AT_ONCE + 1, list.len()] {
                let list = &list[..len];
                let wanted = list.iter().enumerate().filter_map(|(at, doc)| Some((at, *new.get(doc)?)));
                let docs: Vec<DocId> = list.iter().copied().map(DocId::new).collect();
                let mut found = Vec::new();
                changes.find(&docs, |at, row| found.push((at, row.map(|row| row[0]))));
                assert_eq!(found, wanted.collect::<Vec<_>>(), "{} changed, {len} asked", set.len());
            }
        }
    }
}
