//! From the rank of an id to its document, for those who ask many segments.

use std::ops::Range;

use docvalues_format::id::DocId;
use docvalues_format::numeric::Direct;

/// The documents of a segment's ids in the order of the ids, of which every byte was checked: in one line of memory.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct Docs<'a> {
    docs: Direct<'a>,
    /// How many documents the segment has.
    limit: u32,
}

impl<'a> Docs<'a> {
    pub(crate) fn new(docs: Direct<'a>, limit: u32) -> Docs<'a> {
        Docs { docs, limit }
    }

    /// The document of the id with `rank`; `None` if there is no such rank, or what stands there is no document.
    #[inline(always)]
    pub(crate) fn get(&self, rank: u32) -> Option<DocId> {
        let doc = u32::try_from(self.docs.get(rank.into())?).ok()?;
        (doc < self.limit).then(|| DocId::new(doc))
    }

    /// Tells the processor that the document of one of these ranks will be asked for soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self, ranks: Range<u32>) {
        self.docs.prefetch(ranks.start.into());
        self.docs.prefetch(ranks.end.into());
    }
}
