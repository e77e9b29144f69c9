//! Look-ups.

use std::ops::{ControlFlow, Range};

use docvalues_format::error::Result;
use docvalues_format::source::SectionBytes;

use super::node::FstForm;
use crate::Dictionary;
use crate::known::Known;
use crate::walk::Head;
use crate::walk::find::Way;
use crate::walk::tree::{Tree, answers_as_its_tree};

/// An automaton in a section, read in place.
///
/// Opening reads four bytes. Whatever the others are, a look-up ends after as many steps as the key has bytes.
#[derive(Clone, Copy, Debug)]
pub struct Fst<B>(Tree<FstForm, B>);

impl<B: SectionBytes> Fst<B> {
    /// The automaton of `len` keys in `section`.
    ///
    /// # Errors
    ///
    /// When the root is not inside the section, or there are bytes and no keys, or the other way round.
    pub fn open(section: B, len: u32) -> Result<Fst<B>> {
        Tree::open(section, len).map(Fst)
    }
}

answers_as_its_tree!(Fst);
