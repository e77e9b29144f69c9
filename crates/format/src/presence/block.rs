//! One block, once it was found: its header, and the bytes of its payload.

use std::ops::Range;

use super::header::Header;
use crate::error::{Error, ErrorKind, Result};
use crate::source::SectionBytes;

/// A block that was found: where its payload lies, and what its header says.
///
/// Documents are named by their place in the block, values are counted from its first.
#[derive(Debug)]
pub(super) struct Block<'a, B> {
    pub(super) bytes: &'a B,
    /// Where the payload begins in `bytes`.
    pub(super) at: usize,
    /// Documents in the block.
    pub(super) docs: u32,
    pub(super) header: Header,
    /// Whether rank entries may be used.
    pub(super) ranked: bool,
}

// Not derived: that would ask for a `B` that can be copied, where it is only borrowed.
impl<B> Clone for Block<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Block<'_, B> {}

/// Where a document stands in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Probe {
    /// Values of the documents before it.
    pub(super) before: u32,
    /// Whether it has a value itself.
    pub(super) present: bool,
}

impl<'a, B: SectionBytes> Block<'a, B> {
    /// The bytes `range` of the payload.
    #[inline]
    pub(super) fn slice(&self, range: Range<usize>) -> Result<&'a [u8]> {
        self.bytes.slice(self.at.saturating_add(range.start)..self.at.saturating_add(range.end))
    }

    /// `N` bytes at byte `at` of the payload.
    #[inline]
    pub(super) fn array<const N: usize>(&self, at: usize) -> Result<&'a [u8; N]> {
        self.bytes.array(self.at.saturating_add(at))
    }

    /// Refuses with `why`, at byte `at` of the payload.
    #[cold]
    pub(super) fn broken(&self, at: usize, why: &'static str) -> Error {
        Error::at(self.bytes.place(), self.at.saturating_add(at), ErrorKind::Broken(why))
    }
}
