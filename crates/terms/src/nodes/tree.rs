//! A section of nodes, searched in place.

use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};

use docvalues_format::error::{Error, ErrorKind, Result};
use docvalues_format::source::{SectionBytes, VerifiedSection};

use super::find::Walk;
use super::{Head, NodeFormat, each, find, root, verify};
use crate::Dictionary;

/// The nodes of a form in a section, searched in place.
///
/// Opening reads four bytes. Whatever the other bytes are, a look-up ends after at most as many steps as the key
/// has bytes.
#[derive(Clone, Copy, Debug)]
pub struct Tree<F, B> {
    section: B,
    root: Option<usize>,
    len: u32,
    form: PhantomData<F>,
}

impl<F, B: SectionBytes> Tree<F, B> {
    /// The nodes of `len` keys in `section`.
    ///
    /// # Errors
    ///
    /// When the root is not inside the section, or exactly one of `section` and the keys is empty.
    pub fn open(section: B, len: u32) -> Result<Tree<F, B>> {
        Ok(Tree { root: root(&section, len)?, section, len, form: PhantomData })
    }

    /// The same over a verified section, if all of it is verified by now.
    #[inline]
    pub(crate) fn verified(&self) -> Option<Tree<F, VerifiedSection<'_>>> {
        let (root, len) = (self.root, self.len);
        Some(Tree { section: VerifiedSection::of(&self.section)?, root, len, form: PhantomData })
    }

    /// Checks that a rank is below the number of keys.
    #[inline(always)]
    fn admit(&self, rank: Option<u32>) -> Result<Option<u32>> {
        match rank {
            Some(rank) if rank >= self.len => {
                let (found, max) = (rank.into(), self.len.saturating_sub(1).into());
                let kind = ErrorKind::OutOfRange { what: "rank of a key", found, max };
                Err(Error::at(self.section.place(), self.root.unwrap_or(0), kind))
            }
            rank => Ok(rank),
        }
    }
}

/// Search step by step, for callers that search many trees at once.
impl<F> Tree<F, VerifiedSection<'_>> {
    /// Starts the search for a key; `None` without keys.
    #[inline(always)]
    pub(crate) fn begin<'k>(&self, key: &'k [u8]) -> Option<Walk<'k>> {
        Some(Walk { at: self.root?, rest: key, rank: 0 })
    }

    /// The first bytes of the next node; `None` if it is out of bounds.
    #[inline(always)]
    pub(crate) fn load(&self, way: &Walk<'_>) -> Option<Head> {
        self.section.peek(way.at).copied()
    }

    /// See [`Walk::step`].
    #[inline(always)]
    pub(crate) fn step(&self, way: &mut Walk<'_>, head: &Head) -> Result<ControlFlow<Option<u32>>>
    where
        F: NodeFormat,
    {
        way.step::<F>(&self.section, head)
    }
}

impl<F: NodeFormat, B: SectionBytes> Dictionary for Tree<F, B> {
    fn len(&self) -> u32 {
        self.len
    }

    #[inline(always)]
    fn find(&self, key: &[u8]) -> Result<Option<u32>> {
        let Some(root) = self.root else { return Ok(None) };
        self.admit(match VerifiedSection::of(&self.section) {
            Some(verified) => find::find::<F>(&verified, root, key)?,
            None => find::find::<F>(&self.section, root, key)?,
        })
    }

    fn lower_bound(&self, key: &[u8]) -> Result<u32> {
        let Some(root) = self.root else { return Ok(0) };
        Ok(find::lower_bound::<F>(&self.section, root, self.len, key)?.min(self.len))
    }

    fn each(
        &self,
        ranks: Range<u32>,
        each: &mut dyn FnMut(u32, &[u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let Some(root) = self.root else { return Ok(()) };
        each::each::<F>(&self.section, root, ranks.start..ranks.end.min(self.len), each)
    }

    fn verify(&self) -> Result<()> {
        match self.root {
            Some(root) => verify::verify::<F>(&self.section, root, self.len),
            None => Ok(()),
        }
    }
}
