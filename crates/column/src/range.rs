//! Ranges of documents and of ords: two types, so that the compiler rejects one in place of the other.
//!
//! ```
//! use docvalues_column::{DocRange, OrdRange, Result, Rows, TermOrd};
//!
//! fn right(hosts: &dyn Rows<TermOrd>, docs: DocRange, ords: OrdRange, bits: &mut [u64]) -> Result<()> {
//!     hosts.filter(docs, &ords, bits, &mut Default::default())
//! }
//! ```
//!
//! ```compile_fail,E0308
//! use docvalues_column::{DocRange, OrdRange, Result, Rows, TermOrd};
//!
//! fn swapped(hosts: &dyn Rows<TermOrd>, docs: DocRange, ords: OrdRange, bits: &mut [u64]) -> Result<()> {
//!     hosts.filter(ords, &docs, bits, &mut Default::default())
//! }
//! ```

use std::fmt;
use std::ops::Range;

use docvalues_format::id::{DocId, TermOrd};

macro_rules! range {
    ($(#[$doc:meta])* $name:ident, $id:ident) => {
        $(#[$doc])*
        ///
        /// Half-open, as [`Range`]. It is empty if `end` is not above `start`.
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
        pub struct $name {
            /// The first.
            pub start: u32,
            /// One past the last.
            pub end: u32,
        }

        impl $name {
            /// The range from `start` up to, but without, `end`.
            pub const fn new(start: u32, end: u32) -> $name {
                $name { start, end }
            }

            /// The length of the range.
            pub const fn len(self) -> usize {
                self.end.saturating_sub(self.start) as usize
            }

            /// Whether the range is empty.
            pub const fn is_empty(self) -> bool {
                self.start >= self.end
            }

            /// Whether the range contains `id`.
            pub const fn contains(self, id: $id) -> bool {
                self.start <= id.get() && id.get() < self.end
            }

            /// The common part of two ranges.
            #[must_use]
            pub fn intersection(self, other: $name) -> $name {
                let start = self.start.max(other.start);
                $name { start, end: self.end.min(other.end).max(start) }
            }

            /// The part of the range below `end`. It is empty, and at `end`, if there is none.
            #[must_use]
            #[inline]
            pub fn clip(self, end: u32) -> $name {
                let end = self.end.min(end);
                $name { start: self.start.min(end), end }
            }

            /// The ids in the range, ascending.
            pub fn iter(self) -> impl DoubleEndedIterator<Item = $id> + Clone {
                (self.start..self.end).map($id::new)
            }

            /// Consecutive ranges of `len` ids. The last one may be shorter.
            ///
            /// # Panics
            ///
            /// If `len` is 0.
            pub fn chunks(self, len: usize) -> impl ExactSizeIterator<Item = $name> + Clone {
                let step = u32::try_from(len).unwrap_or(u32::MAX);
                (self.start..self.end)
                    .step_by(len)
                    .map(move |start| $name { start, end: self.end.min(start.saturating_add(step)) })
            }
        }

        impl From<Range<u32>> for $name {
            fn from(range: Range<u32>) -> $name {
                $name { start: range.start, end: range.end }
            }
        }

        impl From<$name> for Range<u32> {
            fn from(range: $name) -> Range<u32> {
                range.start..range.end
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&(self.start..self.end), f)
            }
        }
    };
}

range! {
    /// A range of documents.
    DocRange, DocId
}

range! {
    /// A range of ords of a dictionary.
    OrdRange, TermOrd
}

impl DocRange {
    /// The number of words of a bitset over these documents.
    ///
    /// ```
    /// # use docvalues_column::DocRange;
    /// assert_eq!(DocRange::new(100, 165).words(), 2);
    /// ```
    pub const fn words(self) -> usize {
        self.len().div_ceil(64)
    }

    /// The index of `doc` in a bitset over these documents, which must contain it.
    #[inline]
    pub const fn place(self, doc: DocId) -> usize {
        doc.get().wrapping_sub(self.start) as usize
    }
}

impl OrdRange {
    /// The range of one ord.
    pub const fn one(ord: TermOrd) -> OrdRange {
        OrdRange { start: ord.get(), end: ord.get().saturating_add(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backwards_range_is_empty() {
        let backwards = DocRange::new(9, 3);
        assert!(backwards.is_empty());
        assert_eq!((backwards.len(), backwards.words(), backwards.iter().count()), (0, 0, 0));
        assert!(backwards.clip(5).is_empty());
        assert!(backwards.intersection(DocRange::new(0, 20)).is_empty());
        assert_eq!(backwards.chunks(4).len(), 0);
    }

    #[test]
    fn chunks_cover_the_range() {
        let chunks: Vec<_> = DocRange::new(5, 16).chunks(4).collect();
        assert_eq!(chunks, [5..9, 9..13, 13..16].map(DocRange::from));
        assert_eq!(DocRange::new(u32::MAX - 3, u32::MAX).chunks(1 << 20).count(), 1);
    }

    #[test]
    fn clipped_and_intersected() {
        assert_eq!(DocRange::new(3, 9).clip(5), DocRange::new(3, 5));
        assert!(DocRange::new(7, 9).clip(5).is_empty());
        assert_eq!(OrdRange::new(3, 9).intersection(OrdRange::new(5, 20)), OrdRange::new(5, 9));
        assert!(OrdRange::one(TermOrd::new(4)).contains(TermOrd::new(4)));
    }
}
