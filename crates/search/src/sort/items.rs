//! Documents with what they are sorted by.

use docvalues_column::DocId;

use super::radix;
use super::sort_value::SortValue;
use crate::engine::memory;
use crate::error::Result;

/// A document with what it is sorted by. Items with equal values are in the order of their documents.
pub(super) trait Item: Ord + Send + Sync {
    fn doc(&self) -> DocId;

    fn is_equal_value(&self, other: &Self) -> bool;
}

/// A rank and a document, as [`radix::item`] packs them.
impl Item for u64 {
    fn doc(&self) -> DocId {
        radix::doc(*self)
    }

    fn is_equal_value(&self, other: &Self) -> bool {
        radix::rank(*self) == radix::rank(*other)
    }
}

/// A byte string of [`Strings`].
impl Item for (SortValue<&[u8]>, DocId) {
    fn doc(&self) -> DocId {
        self.1
    }

    fn is_equal_value(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// The byte strings of documents in one buffer: freeing them one by one would delay an interrupt.
pub(super) struct Strings {
    bytes: Vec<u8>,
    /// For each document its value, with the end of its byte string in place of the bytes.
    ends: Vec<SortValue<usize>>,
}

impl Strings {
    pub(super) fn with_capacity(docs: usize) -> Result<Strings> {
        Ok(Strings { bytes: Vec::new(), ends: memory::with_capacity(docs)? })
    }

    pub(super) fn push(&mut self, value: SortValue<&[u8]>) {
        let Strings { bytes, ends } = self;
        ends.push(value.map(|string| {
            bytes.extend_from_slice(string);
            bytes.len()
        }));
    }

    pub(super) fn values(&self) -> impl Iterator<Item = SortValue<&[u8]>> {
        let mut start = 0;
        self.ends
            .iter()
            .map(move |end| end.clone().map(|end| &self.bytes[std::mem::replace(&mut start, end)..end]))
    }
}
