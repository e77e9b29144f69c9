//! Look-ups.

use std::ops::{ControlFlow, Range};

use docvalues_format::error::Result;
use docvalues_format::source::SectionBytes;

use super::node::ExactForm;
use crate::Dictionary;
use crate::known::Known;
use crate::walk::Head;
use crate::walk::find::Way;
use crate::walk::tree::{Tree, answers_as_its_tree};

/// A trie in a section, read in place.
///
/// Opening reads four bytes. Whatever the others are, a look-up ends after as many steps as the key has bytes.
#[derive(Clone, Copy, Debug)]
pub struct ExactTrie<B>(Tree<ExactForm, B>);

impl<B: SectionBytes> ExactTrie<B> {
    /// The trie of `len` keys in `section`.
    ///
    /// # Errors
    ///
    /// When the root is not inside the section, or there are bytes and no keys, or the other way round.
    pub fn open(section: B, len: u32) -> Result<ExactTrie<B>> {
        Tree::open(section, len).map(ExactTrie)
    }
}

answers_as_its_tree!(ExactTrie);
