//! A trie with a leaf for every key: bytes that keys begin with alike are there once.
//!
//! ```text
//! car, care, cat, dog                 bytes, children first ("." ends a key, nothing behind it)
//!
//!        root                          leaf "og"
//!      c/    \d                        branch, a key, e: .       <- "car"
//!     "a"     "og"                     "a" branch, r: back to it, t: .
//!    r/ \t                             branch, c: back to "a", d: back to "og"
//!  key   .
//!   |e
//!   .
//! ```
//!
//! (The first two lines change places in the file, as the order of keys asks: `care` is closed before `dog` is.)
//!
//! What lies between two branches, and the end of a key behind the last one, are bytes that are compared at once: the
//! *path compression* of Morrison's PATRICIA (1968). How a branch finds its arc depends on how many there are, as in
//! the adaptive radix tree of Leis, Kemper and Neumann (2013); here it also depends on how close together they lie:
//! see [`arcs`](crate::walk::arcs). The nodes stand in `exact/node.rs`, what surrounds them in `walk.rs`.
//!
//! Against the [automaton](crate::fst): no ends are shared, so ids with structure take more bytes; it is built in less
//! time, in one pass without a table, and what keys share is in the same node as the branch behind it.

pub use build::TrieBuilder;
pub use read::ExactTrie;

mod build;
mod node;
mod read;
#[cfg(test)]
mod tests;
