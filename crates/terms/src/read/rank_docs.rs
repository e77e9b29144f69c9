//! From the rank of an id to its document, through verified memory.

use std::ops::Range;

use docvalues_format::id::DocId;
use docvalues_format::numeric::Direct;

/// The fully verified documents of a segment's ids, by rank; 64 bytes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Docs<'a> {
    docs: Direct<'a>,
    /// The number of documents of the segment.
    limit: u32,
}

impl<'a> Docs<'a> {
    pub(crate) fn new(docs: Direct<'a>, limit: u32) -> Docs<'a> {
        Docs { docs, limit }
    }

    /// The document of the id with `rank`; `None` if there is no such rank, or its value is not a document of the
    /// segment.
    #[inline(always)]
    pub(crate) fn get(&self, rank: u32) -> Option<DocId> {
        let doc = u32::try_from(self.docs.get(rank.into())?).ok()?;
        (doc < self.limit).then(|| DocId::new(doc))
    }

    /// Prefetches the documents at both ends of `ranks`.
    #[inline(always)]
    pub(crate) fn prefetch(&self, ranks: Range<u32>) {
        self.docs.prefetch(ranks.start.into());
        self.docs.prefetch(ranks.end.into());
    }
}
