//! A trie with a leaf for every key: bytes that keys begin with alike are there once.
//!
//! ```text
//! car, care, cat, dog
//!
//! place
//!     0   branch, a key (car)          e: a key ends (care)
//!     4   "a", branch                  r: to 0              t: a key ends (cat)
//!    14   leaf "g"
//!    16   branch, the root             c: to 4              d, and "o" behind it: to 14 (dog)
//! ```
//!
//! What lies between two branches, and the end of a key behind the last one, are bytes that are compared at once: the
//! *path compression* of Morrison's PATRICIA (1968). How a branch finds its arc depends on how many there are, as in
//! the adaptive radix tree of Leis, Kemper and Neumann (2013); here it also depends on how close together they lie:
//! see `nodes/arcs.rs`. The nodes stand in `exact_trie/node.rs`, what surrounds them in `nodes.rs`.
//!
//! Against the [automaton](crate::fst): no ends are shared, so ids with structure take more bytes; it is built in less
//! time, in one pass without a table, and what keys share is in the same node as the branch behind it.

use crate::nodes::tree::Tree;

pub use build::TrieBuilder;

mod build;
mod node;
#[cfg(test)]
mod tests;

/// A trie in a section.
pub type ExactTrie<B> = Tree<node::ExactNodes, B>;
