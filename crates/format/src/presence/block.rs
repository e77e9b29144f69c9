//! One located block: its header, and access to the bytes of its payload.

use std::ops::Range;

use super::header::Header;
use crate::error::{Error, ErrorKind, Result};
use crate::source::SectionBytes;

/// A located block: the position of its payload, and its header.
///
/// Documents are numbered from the start of the block, and values from its first value.
#[derive(Debug)]
pub struct Block<'a, B> {
    pub(super) bytes: &'a B,
    /// Byte of `bytes` at which the payload begins.
    pub(super) at: usize,
    /// Documents in the block.
    pub(super) docs: u32,
    pub(super) header: Header,
}

// Not derived: a derive would require `B: Copy`, although `B` is only borrowed.
impl<B> Clone for Block<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Block<'_, B> {}

/// The rank of a document in its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Values of the block before the document.
    pub before: u32,
    /// Whether the document has a value.
    pub present: bool,
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
