//! A trie with a leaf for every key: common prefixes are stored once.
//!
//! ```text
//! car, care, cat, dog
//!
//! position
//!     0   branch, a key (car)          e: a key ends (care)
//!     4   "a", branch                  r: to 0              t: a key ends (cat)
//!    14   leaf "g"
//!    16   branch, the root             c: to 4              d, and "o" after it: to 14 (dog)
//! ```
//!
//! The bytes between two branches, and those of a key after its last branch, are compared at once: the *path
//! compression* of Morrison's PATRICIA (1968). The search for an arc depends on the number of arcs, as in the
//! adaptive radix tree of Leis, Kemper and Neumann (2013), and here also on how dense their labels are: see
//! `nodes/arcs.rs`. The bytes of nodes are in `exact_trie/node.rs`; what is common to all node-based forms is in
//! `nodes.rs`.
//!
//! Compared with the [automaton](crate::fst), no suffixes are shared, so ids with structure take more bytes. But
//! building takes less time, in one pass without a registry, and a shared prefix is in the same node as the branch
//! after it.

use crate::nodes::tree::Tree;

pub use build::TrieBuilder;

mod build;
mod node;
#[cfg(test)]
mod tests;

/// A trie in a section.
pub type ExactTrie<B> = Tree<node::ExactNodes, B>;
