//! What an automaton and a trie over sorted keys have in common: how they are built, walked and proved.
//!
//! Both are nodes in one section, each behind the nodes it leads to, and the *root*, which is the last, at the end:
//!
//! ```text
//! node … node root u32
//!             └──┘ bytes of the root, little endian; there is no section without keys
//! ```
//!
//! A node is given by the place of its first byte, and a node leads to another by how many bytes *back* that begins.
//! So every step of a walk goes down in the section, and every walk ends, whatever the bytes are. 0 bytes back is no
//! step: a key ends there, and nothing goes on. Most arcs into the last level of a dense set of keys are such, and
//! take no byte for where they lead.
//!
//! A key's rank is the sum, over the arcs on its way, of how many keys there are *before* each among those of its
//! node; see [`arcs`]. So Lucchesi and Kowaltowski number words (*Applications of finite automata representing large
//! vocabularies*, 1993), here with the sums in the arcs and not the counts in the nodes, so that a look-up reads one
//! number a step. It also makes outputs independent
//! of the way to a node: nodes with the same keys behind them are the same node, in an automaton.
//!
//! [`NodeFormat`] says how a node's bytes are read; [`find`], [`each`] and [`verify`] are written once over it.

use std::ops::Range;

use docvalues_format::error::{Error, ErrorKind, Place, Result};
use docvalues_format::source::SectionBytes;

use arcs::Arcs;

pub(crate) mod arcs;
pub(crate) mod build;
pub(crate) mod each;
pub(crate) mod find;
#[cfg(test)]
mod tests;
pub(crate) mod tree;
pub(crate) mod verify;

/// Bytes that every node can be asked for: some of them may be the next one's.
pub(crate) type Head = [u8; 16];

/// How the nodes of a form are read.
pub(crate) trait NodeFormat: Send + Sync {
    /// Reads the node at `at`, which begins with `head`.
    fn read(section: &impl SectionBytes, at: usize, head: &Head) -> Result<Node>;

    /// Reads the node at `at`.
    #[inline(always)]
    fn node(section: &impl SectionBytes, at: usize) -> Result<Node> {
        Self::read(section, at, section.array(at)?)
    }
}

/// A node, as every form has them.
#[derive(Clone, Copy)]
pub(crate) struct Node {
    /// Whether a key ends in front of the labels.
    pub(crate) key_first: bool,
    /// The bytes that every key goes on with, and where they are.
    pub(crate) labels: Labels,
    /// What comes behind the labels.
    pub(crate) then: Next,
}

/// Where some bytes of keys are.
#[derive(Clone, Copy)]
pub(crate) struct Labels {
    /// Where the first is.
    pub(crate) at: usize,
    /// How many there are.
    pub(crate) len: usize,
}

/// What comes behind a node's labels.
#[derive(Clone, Copy)]
pub(crate) enum Next {
    /// A key ends.
    End,
    /// Another node, so many bytes back.
    Back(u64),
    /// A key, if the first says so, and arcs.
    Arcs(bool, Arcs),
}

impl Labels {
    /// No bytes.
    pub(crate) const NONE: Labels = Labels { at: 0, len: 0 };

    pub(crate) fn range(self) -> Range<usize> {
        self.at..self.at.saturating_add(self.len)
    }

    /// The bytes.
    #[inline(always)]
    pub(crate) fn get<B: SectionBytes>(self, section: &B) -> Result<&[u8]> {
        if self.len == 0 {
            return Ok(&[]);
        }
        section.slice(self.range())
    }
}

/// The node `back` bytes before the one at `at`; `None` if a key ends instead.
#[inline(always)]
pub(crate) fn step(section: &impl SectionBytes, at: usize, back: u64) -> Result<Option<usize>> {
    if back == 0 {
        return Ok(None);
    }
    match usize::try_from(back).ok().and_then(|back| at.checked_sub(back)) {
        Some(to) => Ok(Some(to)),
        None => Err(broken(section.place(), at, "an arc leads out of the section")),
    }
}

/// A rule that the bytes at `at` break.
#[cold]
pub(crate) fn broken(place: Place, at: usize, rule: &'static str) -> Error {
    Error::at(place, at, ErrorKind::Broken(rule))
}

/// Bytes behind the root: its length.
pub(crate) const ROOT_LEN: usize = size_of::<u32>();

/// Where the root begins in the section of `len` keys; `None` without keys.
pub(crate) fn root(section: &impl SectionBytes, len: u32) -> Result<Option<usize>> {
    let bytes = section.len();
    let Some(end) = bytes.checked_sub(ROOT_LEN) else {
        return match (len, bytes) {
            (0, 0) => Ok(None),
            _ => Err(broken(section.place(), 0, "keys without a root")),
        };
    };
    if len == 0 {
        return Err(broken(section.place(), 0, "bytes, and no keys"));
    }
    let root = u32::from_le_bytes(*section.array(end)?);
    match usize::try_from(root).ok().and_then(|root| end.checked_sub(root)) {
        Some(at) if at < end => Ok(Some(at)),
        _ => Err(broken(section.place(), end, "the root is not inside the section")),
    }
}
