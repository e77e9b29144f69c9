//! An automaton: keys that begin or end alike share what is alike.
//!
//! A byte string leads from the *root* along arcs with its bytes, and is a key if it ends where one may. Nodes with the
//! same keys behind them are one node: `doc-0000000000` to `doc-0999999999` need ten nodes, each with ten arcs. The
//! rank of a key comes from counting: each arc knows how many keys there are behind the arcs before it.
//!
//! | | |
//! | --- | --- |
//! | good for | ids with structure: counters, times, codes |
//! | no better than a trie for | random ids, which share no ends |
//! | time | O(bytes of the key): a step for every node that branches |
//!
//! The bytes stand in `fst/node.rs`; what surrounds nodes in `nodes.rs`.
//!
//! # What differs from others
//!
//! * `fst` (the crate) and Lucene's FST store outputs on arcs, pushed towards the root, and nodes are shared only where
//!   what is left of the outputs is the same. A rank needs none of that: the counts of a node depend on nothing but the
//!   keys behind it. So this is an automaton, and not a transducer.
//! * A way that does not branch is one node: its bytes are compared at once. The end of a key that it shares with
//!   no other is such a way. It is not shared byte by byte: as a whole, or by what it has in common with the end before,
//!   if that is eight bytes or more. So this is not quite minimal, and a random key costs one look-up when it
//!   is built instead of one a byte. The first byte of such an end stands in the arc: see `nodes/arcs.rs`.
//! * Nodes that were forgotten are written again, as with the others: see `fst/registry.rs`.
//!
//! Sources: Daciuk, Mihov, Watson and Watson, *Incremental construction of minimal acyclic finite-state automata*
//! (2000); Mihov and Maurel, *Direct construction of minimal acyclic subsequential transducers* (2001); for the
//! registry that forgets, the crate `fst`, and Lucene's `NodeHash`.

use crate::nodes::tree::Tree;

pub use build::FstBuilder;

mod build;
pub(crate) mod node;
mod registry;
#[cfg(test)]
mod tests;

/// An automaton in a section.
pub type Fst<B> = Tree<node::FstNodes, B>;
