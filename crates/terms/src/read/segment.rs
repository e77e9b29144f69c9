//! The ids of a segment as one of many: [`SegmentIds`] for [`IdsReader`].

use std::ops::{ControlFlow, Range};

use docvalues_format::error::Result;
use docvalues_format::id::DocId;
use docvalues_format::source::SectionBytes;

use super::IdsReader;
use crate::bloom::{Lines, Probe};
use crate::dictionary::VerifiedDictionary;
use crate::lookup::{Docs, SegmentIds};
use crate::packing::Template;

impl<B: SectionBytes> SegmentIds for IdsReader<B> {
    fn len(&self) -> u32 {
        self.inner.count
    }

    fn bounds(&self) -> Option<(&[u8], &[u8])> {
        (self.inner.count > 0).then_some((&*self.inner.least, &*self.inner.greatest))
    }

    fn template(&self) -> &Template {
        &self.inner.template
    }

    fn seed(&self) -> u64 {
        self.inner.seed
    }

    fn may_hold(&self, probe: &Probe) -> Result<bool> {
        self.may_hold(probe)
    }

    fn lines(&self) -> Option<Lines<'_>> {
        match &self.filter {
            Some(filter) => filter.verified(),
            None => Some(Lines::ALL),
        }
    }

    fn dictionary(&self) -> Option<VerifiedDictionary<'_>> {
        self.inner.keys.checked()
    }

    fn docs(&self) -> Option<Docs<'_>> {
        Some(Docs::new(self.inner.docs.direct()?, self.inner.doc_count))
    }

    fn doc(&self, rank: u32) -> Result<DocId> {
        self.doc(rank)
    }

    fn prefetch(&self, packed: &[u8]) {
        self.prefetch_packed(packed);
    }

    fn find_packed(&self, packed: &[u8]) -> Result<Option<DocId>> {
        self.find_packed(packed)
    }

    fn each(&self, ranks: Range<u32>, each: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.each_id(ranks, |_, id| {
            each(id);
            Ok(ControlFlow::Continue(()))
        })
    }
}
