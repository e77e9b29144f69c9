//! The node structure that the trie and the automaton share: building, searching, iterating and verifying.
//!
//! Both are nodes in one section. Each node follows the nodes it leads to, so the *root* is the last:
//!
//! ```text
//! node … node root u32
//!             └──┘ bytes of the root, little endian; there is no section without keys
//! ```
//!
//! A node is addressed by the position of its first byte, and an arc leads *back* by a number of bytes. So every
//! step goes down in the section, and every search terminates, whatever the bytes are. 0 bytes back means that a
//! key ends and nothing follows. Most arcs into the last level of a dense set of keys are of that kind, and store
//! no position.
//!
//! A key's rank is the sum, over the arcs on its path, of the keys *before* each arc in its node; see [`arcs`].
//! Lucchesi and Kowaltowski number words in this way (*Applications of finite automata representing large
//! vocabularies*, 1993). They store the counts in nodes; storing sums in arcs lets a look-up read one number a
//! step. It also makes the counts independent of the path to a node, so the automaton can share all nodes with the
//! same keys under them.
//!
//! [`NodeFormat`] decodes the nodes of a form; [`find`], [`each`] and [`verify`] are generic over it.

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

/// The bytes loaded at the start of a node; some of them may be the next node's.
pub(crate) type Head = [u8; 16];

/// Decodes the nodes of a form.
pub(crate) trait NodeFormat: Send + Sync {
    /// Decodes the node at `at`, which begins with `head`.
    fn read(section: &impl SectionBytes, at: usize, head: &Head) -> Result<Node>;

    /// Decodes the node at `at`.
    #[inline(always)]
    fn node(section: &impl SectionBytes, at: usize) -> Result<Node> {
        Self::read(section, at, section.array(at)?)
    }
}

/// A node of any form.
#[derive(Clone, Copy)]
pub(crate) struct Node {
    /// Whether a key ends before the labels.
    pub(crate) key_first: bool,
    /// The bytes that all further keys share.
    pub(crate) labels: Labels,
    /// The continuation after the labels.
    pub(crate) then: Next,
}

/// The position of some bytes of keys.
#[derive(Clone, Copy)]
pub(crate) struct Labels {
    /// The position of the first byte.
    pub(crate) at: usize,
    /// The number of bytes.
    pub(crate) len: usize,
}

/// The continuation after a node's labels.
#[derive(Clone, Copy)]
pub(crate) enum Next {
    /// A key ends.
    End,
    /// Another node, this many bytes back.
    Back(u64),
    /// Arcs; if the flag is set, a key ends here as well.
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

/// The error for bytes at `at` that violate `rule`.
#[cold]
pub(crate) fn broken(place: Place, at: usize, rule: &'static str) -> Error {
    Error::at(place, at, ErrorKind::Broken(rule))
}

/// Bytes after the root: its length.
pub(crate) const ROOT_LEN: usize = size_of::<u32>();

/// The position of the root in the section of `len` keys; `None` without keys.
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
