//! [`Find`]: the changed rows of a list of documents.

use std::sync::Arc;

use docvalues_format::bits::Work;
use docvalues_format::id::DocId;

use super::block::{Block, split};
use crate::rows::Element;

/// Documents that are looked for at once.
const AT_ONCE: usize = 128;

/// Calls `each` with the places in `docs` whose documents changed, ascending, and the new rows.
pub(super) struct Find<'a, 'd, T, F> {
    pub(super) blocks: &'a [Option<Arc<Block<T>>>],
    pub(super) docs: &'d [DocId],
    pub(super) each: F,
}

impl<'a, T: Element, F: FnMut(usize, Option<&'a [T]>)> Work for Find<'a, '_, T, F> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        for (docs, first) in self.docs.chunks(AT_ONCE).zip((0..).step_by(AT_ONCE)) {
            self.find_some(docs, first);
        }
    }
}

impl<'a, T: Element, F: FnMut(usize, Option<&'a [T]>)> Find<'a, '_, T, F> {
    /// The block of a document, if that has changes, and the document's number there.
    #[inline(always)]
    fn block(&self, doc: DocId) -> Option<(&'a Block<T>, u16)> {
        let (block, at) = split(doc);
        Some((self.blocks.get(block)?.as_deref()?, at))
    }

    /// At most [`AT_ONCE`] documents. The first loop has no branch that a changed document decides, and the second one reads
    /// the rows of all of them at once.
    #[inline(always)]
    fn find_some(&mut self, docs: &[DocId], first: usize) {
        let mut changed = [0_u8; AT_ONCE];
        let mut count = 0;
        for (at, doc) in (0..=u8::MAX).zip(docs) {
            changed[count % AT_ONCE] = at;
            count += usize::from(self.block(*doc).is_some_and(|(block, at)| block.has(at)));
        }
        for at in changed[..count].iter().map(|at| usize::from(*at)) {
            let doc = docs[at];
            if let Some(row) = self.block(doc).and_then(|(block, at)| block.row(at)) {
                (self.each)(first + at, row);
            }
        }
    }
}
