//! A position in a column, owned by the caller.

use docvalues_format::binary::Scratch;

use crate::core::Walks;

/// Reads the documents of one column, remembering where it was.
///
/// With [`JumpTables::Ignore`](crate::JumpTables::Ignore) a cursor goes forward over the blocks, and
/// begins again at the first after a step back, as Lucene 7's iterators did: documents in ascending
/// order cost O(blocks) together. In the other modes it is no faster than the column's own methods.
#[derive(Clone, Debug)]
pub struct Cursor<'c, C> {
    pub(crate) column: &'c C,
    pub(crate) walks: Walks,
    /// Byte strings that had to be decoded.
    pub(crate) scratch: Scratch,
}

impl<'c, C> Cursor<'c, C> {
    pub(crate) fn new(column: &'c C) -> Cursor<'c, C> {
        Cursor { column, walks: Walks::default(), scratch: Scratch::default() }
    }
}
