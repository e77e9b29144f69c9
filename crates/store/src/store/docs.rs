//! The documents of a store now: the ids by which they are looked up, and the places where they are.

use docvalues_column::DocId;

use crate::segments::Place;

/// An id, its hash, and the place of the field of ids.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Id<'a> {
    pub(crate) id: &'a [u8],
    pub(crate) hash: u64,
    pub(crate) field: usize,
}

/// The place of a document now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Current {
    Buffer(Place),
    /// In the part of the buffer that is being written.
    Sealed(Place),
    Segment(usize, DocId),
    /// Its segment was dropped, as no document in it was live.
    Gone,
}
