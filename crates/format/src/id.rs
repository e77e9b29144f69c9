//! Typed numbers: documents, value indices and term ords, which must not be confused.
//!
//! They have no `Deref`, no `From<u32>` and no public field, as those would allow mixing them. A column maps a
//! [`DocId`] to a [`ValueIndex`] (its *rank*), and a dictionary maps a [`TermOrd`] to a term.
//!
//! Two numbers have no type. The numbers of a section are counted by `u64`, because lists and offsets may have more than there
//! are documents. Rows of a batch or an update are counted by `u32`, because they belong to no segment yet.

use std::fmt;

/// A document's number within one segment, counted from 0.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct DocId(u32);

/// A document's rank among the documents of a column that have a value, in document order.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct ValueIndex(u32);

/// A term's rank among the terms of one dictionary, in byte order.
///
/// Lucene calls it an *ord*; a type named `Ord` would hide the prelude's trait.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct TermOrd(u32);

/// The most documents a segment holds: 2^32 − 2.
///
/// With this limit, a *count* of documents, the number after the last one and a marker for "none" all fit a `u32`.
pub const MAX_DOCS: u32 = u32::MAX - 1;

/// The most values a document may have in one column: 2^22.
///
/// A list of equal numbers takes no bytes. Without this limit, a hostile file of a few hundred bytes could make its
/// reader allocate all memory.
pub const MAX_VALUES_PER_DOC: u32 = 1 << 22;

/// Documents in one block of presence: 65,536, as in roaring bitmaps and Lucene's `IndexedDISI`.
pub const BLOCK_DOCS: u32 = 1 << 16;

macro_rules! number {
    ($name:ident, $raw:ty, $shown:literal) => {
        impl $name {
            /// Wraps a raw number.
            #[inline]
            pub const fn new(raw: $raw) -> $name {
                $name(raw)
            }

            /// The raw number, for arithmetic and serialization.
            #[inline]
            pub const fn get(self) -> $raw {
                self.0
            }
        }

        // `doc 7`, not `DocId(7)`: these are read in failing assertions, a hundred at a time.
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($shown, " {}"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

number!(DocId, u32, "doc");
number!(ValueIndex, u32, "value");
number!(TermOrd, u32, "ord");

impl DocId {
    /// The number of the block of 65,536 documents that this one lies in, and its place in the block.
    #[inline]
    pub const fn split(self) -> (u32, u16) {
        #[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
        (self.0 >> 16, self.0 as u16)
    }
}
