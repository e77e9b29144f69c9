//! A section of nodes, read in place.

use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};

use docvalues_format::error::{Error, ErrorKind, Result};
use docvalues_format::source::SectionBytes;

use super::{Form, Known, each, find, root, verify};
use crate::Dictionary;

/// The nodes of a form, and how many keys they have.
#[derive(Clone, Debug)]
pub(crate) struct Tree<F, B> {
    section: B,
    root: Option<usize>,
    len: u32,
    form: PhantomData<F>,
}

impl<F: Form, B: SectionBytes> Tree<F, B> {
    pub(crate) fn open(section: B, len: u32) -> Result<Tree<F, B>> {
        Ok(Tree { root: root(&section, len)?, section, len, form: PhantomData })
    }
}

impl<F: Form, B: SectionBytes> Dictionary for Tree<F, B> {
    fn len(&self) -> u32 {
        self.len
    }

    #[inline(always)]
    fn find(&self, key: &[u8]) -> Result<Option<u32>> {
        let Some(root) = self.root else { return Ok(None) };
        let rank = match self.section.verified() {
            Some(bytes) => {
                let (place, len) = (self.section.place(), self.section.len());
                find::find::<F>(&Known { place, len, bytes }, root, key)?
            }
            None => find::find::<F>(&self.section, root, key)?,
        };
        match rank {
            Some(rank) if rank >= self.len => {
                let (found, max) = (rank.into(), (self.len - 1).into());
                let kind = ErrorKind::OutOfRange { what: "rank of a key", found, max };
                Err(Error::at(self.section.place(), root, kind))
            }
            rank => Ok(rank),
        }
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

/// What a form answers is what its tree does.
macro_rules! answers_as_its_tree {
    ($form:ident) => {
        impl<B: SectionBytes> Dictionary for $form<B> {
            fn len(&self) -> u32 {
                self.0.len()
            }

            fn find(&self, key: &[u8]) -> Result<Option<u32>> {
                self.0.find(key)
            }

            fn lower_bound(&self, key: &[u8]) -> Result<u32> {
                self.0.lower_bound(key)
            }

            fn each(
                &self,
                ranks: Range<u32>,
                each: &mut dyn FnMut(u32, &[u8]) -> Result<ControlFlow<()>>,
            ) -> Result<()> {
                self.0.each(ranks, each)
            }

            fn verify(&self) -> Result<()> {
                self.0.verify()
            }
        }
    };
}

pub(crate) use answers_as_its_tree;
