//! [`Find`]: the changed rows of a list of documents.

use std::sync::Arc;

use docvalues_format::bits::Work;
use docvalues_format::id::DocId;

use super::block::Block;
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
    #[inline(always)]
    fn block(&self, doc: DocId) -> Option<&'a Block<T>> {
        self.blocks.get(doc.split().0 as usize)?.as_deref()
    }

    /// At most [`AT_ONCE`] documents, in steps, so that their cache misses overlap.
    #[inline(always)]
    fn find_some(&mut self, docs: &[DocId], first: usize) {
        let mut places = [(0_u8, 0_u16); AT_ONCE];
        let mut count = 0;
        for (at, doc) in (0..=u8::MAX).zip(docs) {
            let Some(block) = self.block(*doc) else { continue };
            let (has_changes, place) = block.place(doc.split().1);
            block.prefetch_place(place);
            places[count] = (at, place);
            count += usize::from(has_changes);
        }
        let mut rows = [(0_u8, 0_u16, 0_usize); AT_ONCE];
        let mut found = 0;
        for (at, place) in &places[..count] {
            let doc = docs[usize::from(*at)];
            let Some(block) = self.block(doc) else { continue };
            let (has_changed, rank) = block.rank_at(*place, doc.split().1);
            rows[found] = (*at, *place, rank);
            found += usize::from(has_changed);
            if has_changed {
                block.prefetch_row(rank);
            }
        }
        for (at, place, rank) in &rows[..found] {
            let doc = docs[usize::from(*at)];
            if let Some(block) = self.block(doc) {
                (self.each)(first + usize::from(*at), block.row_at(*place, doc.split().1, *rank));
            }
        }
    }
}
