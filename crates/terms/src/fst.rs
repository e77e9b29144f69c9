//! A minimal automaton: keys share their prefixes and suffixes.
//!
//! Arcs spell a key byte by byte from the *root*; a key ends at an accepting node. Nodes with the same
//! continuations are one node: `doc-0000000000` to `doc-0999999999` need ten nodes of ten arcs each. The rank of a
//! key is found by counting: each arc holds the number of keys under the arcs before it.
//!
//! | | |
//! | --- | --- |
//! | good for | ids with structure: counters, timestamps, codes |
//! | no better than a trie for | random ids, which share no suffixes |
//! | time | O(bytes of the key): a step for every node that branches |
//!
//! The bytes are in `fst/node.rs`; what is common to all node-based forms is in `nodes.rs`.
//!
//! # Drawing
//!
//! The keys `doc-1`, `doc-2`, `log-1` and `log-2`. The ends `1` and `2` are one node, which both chains lead to:
//!
//! ```text
//! position   bytes                      node
//!        0   a0 00 31 01                branch: a run of two labels from `1`; both end a key
//!        4   61 03 04 6f 63 2d          chain: 3 labels `oc-`, then 4 bytes back, to 0
//!       10   61 03 0a 6f 67 2d          chain: 3 labels `og-`, then 10 bytes back, to 0
//!       16   81 21 64 6c 00 0c 02 06    branch, the root: `d`, no keys before, to 4; `l`, two keys before, to 10
//!       24   08 00 00 00                bytes of the root
//!
//! rank(log-2) = 2 (before `l`) + 1 (before `2` in the run) = 3
//! ```
//!
//! # Differences from other implementations
//!
//! * `fst` (the crate) and Lucene's FST store outputs on arcs, pushed towards the root, and share nodes only if the
//!   remaining outputs are equal. A rank needs no outputs: the counts of a node depend only on the keys under it.
//!   So this is an automaton, not a transducer.
//! * A path without branches is one node, whose bytes are compared at once. That includes the suffix of a key that
//!   no other shares. Such suffixes are not shared byte by byte, but as a whole, or in their last eight or more
//!   bytes if the suffix before ends alike. So the automaton is not quite minimal, and a random key costs one
//!   look-up in the registry instead of one a byte. The first byte of such a suffix is in the arc: see
//!   `nodes/arcs.rs`.
//! * Nodes that the registry forgot are written again, as in the others: see `fst/registry.rs`.
//!
//! Sources: Daciuk, Mihov, Watson and Watson, *Incremental construction of minimal acyclic finite-state automata*
//! (2000); Mihov and Maurel, *Direct construction of minimal acyclic subsequential transducers* (2001); the crate
//! `fst`, and Lucene's `NodeHash`, for the bounded registry.

use crate::nodes::tree::Tree;

pub use build::FstBuilder;

mod build;
pub(crate) mod node;
mod registry;
#[cfg(test)]
mod tests;

/// An automaton in a section.
pub type Fst<B> = Tree<node::FstNodes, B>;
