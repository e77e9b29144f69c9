//! The ids in order: ranks of bounds and prefixes, and walks over ranges.

use std::ops::{Bound, ControlFlow, Range};

use docvalues_format::error::{ErrorKind, Result};
use docvalues_format::id::DocId;
use docvalues_format::source::SectionBytes;
use docvalues_format::strings::successor;

use super::{IdsReader, KeysReader, NOT_PACKED, refuse};
use crate::packing::Packed;

impl<B: SectionBytes> IdsReader<B> {
    /// The number of ids less than `bound`, which may be any bytes.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    pub fn lower_bound(&self, bound: &[u8]) -> Result<u32> {
        let (mut buffer, mut rank) = (Packed::default(), self.inner.meta.count);
        if let Some(key) = self.inner.meta.template.pack_bound(bound, &mut buffer) {
            rank = 0;
            self.inner.with_dictionary(&mut |keys| {
                rank = keys.lower_bound(key)?;
                Ok(())
            })?;
        }
        Ok(rank)
    }

    /// The ranks of the ids that begin with `prefix`.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    pub fn prefix_ranks(&self, prefix: &[u8]) -> Result<Range<u32>> {
        let end = match successor(prefix) {
            Some(above) => self.lower_bound(&above)?,
            None => self.inner.meta.count,
        };
        Ok(self.lower_bound(prefix)?.min(end)..end)
    }

    /// Calls `each` with the ids that begin with `prefix` and their documents, in the order of the ids, until it
    /// breaks.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    pub fn prefix(&self, prefix: &[u8], each: impl FnMut(&[u8], DocId) -> ControlFlow<()>) -> Result<()> {
        self.each_of(self.prefix_ranks(prefix)?, each)
    }

    /// Calls `each` with the ids between two bounds and their documents, in the order of the ids, until it breaks.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    pub fn range(
        &self,
        bounds: (Bound<&[u8]>, Bound<&[u8]>),
        each: impl FnMut(&[u8], DocId) -> ControlFlow<()>,
    ) -> Result<()> {
        // The successor of an id is the id with a zero byte appended.
        let above = |id: &[u8]| self.lower_bound(&[id, &[0]].concat());
        let start = match bounds.0 {
            Bound::Included(id) => self.lower_bound(id)?,
            Bound::Excluded(id) => above(id)?,
            Bound::Unbounded => 0,
        };
        let end = match bounds.1 {
            Bound::Included(id) => above(id)?,
            Bound::Excluded(id) => self.lower_bound(id)?,
            Bound::Unbounded => self.inner.meta.count,
        };
        self.each_of(start..end, each)
    }

    /// Calls `each` with all ids and their documents, in the order of the ids, until it breaks.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find).
    pub fn each(&self, each: impl FnMut(&[u8], DocId) -> ControlFlow<()>) -> Result<()> {
        self.each_of(0..self.inner.meta.count, each)
    }

    /// The same for some ranks.
    fn each_of(
        &self,
        ranks: Range<u32>,
        mut each: impl FnMut(&[u8], DocId) -> ControlFlow<()>,
    ) -> Result<()> {
        self.each_id(ranks, |rank, id| Ok(each(id, self.doc(rank)?)))
    }

    /// Calls `each` with the ids at these places of an order that is quick to read, which need not be that of the ids.
    pub(crate) fn each_unordered(&self, places: Range<u32>, mut each: impl FnMut(&[u8])) -> Result<()> {
        if let KeysReader::Column(column) = &self.inner.keys {
            return column.each_value(places, each);
        }
        self.each_id(places, |_, id| {
            each(id);
            Ok(ControlFlow::Continue(()))
        })
    }

    /// Calls `each` with these ranks and their ids, unpacked and in order, until it breaks.
    pub(crate) fn each_id(
        &self,
        ranks: Range<u32>,
        mut each: impl FnMut(u32, &[u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let (template, mut id) = (self.template(), Vec::new());
        let mut unpacked = |rank, key: &[u8]| {
            template.unpack(key, &mut id).ok_or_else(|| refuse(ErrorKind::Broken(NOT_PACKED)))?;
            each(rank, &id)
        };
        self.inner.with_dictionary(&mut |keys| keys.each(ranks.clone(), &mut unpacked))
    }
}
