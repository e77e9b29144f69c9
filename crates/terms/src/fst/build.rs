//! Builds an automaton: equal nodes are written once.

use std::iter;

use xxhash_rust::xxh3::xxh3_64;

use super::node::{MAX_CHAIN, put_branch, put_chain, put_leaf};
use super::registry::Registry;
use crate::nodes::arcs::{Arc, END};
use crate::nodes::build::{Builder, NodeWriter};
use crate::output::Output;

/// The least common suffix of two keys that share a leaf: a chain to the leaf takes four bytes more than a leaf of
/// its own, and readers another step.
const MIN_END: usize = 8;

/// Makes an automaton of keys that come in ascending byte order, each once.
///
/// Memory: the section, the longest key, up to 256 arcs for each open node, and 8 bytes for every node that is
/// remembered. Time: O(bytes) a key.
///
/// ```
/// use docvalues_format::{error::Section, source::Owned};
/// use docvalues_terms::{Dictionary, fst::{Fst, FstBuilder}};
///
/// let mut builder = FstBuilder::new(FstBuilder::REGISTRY);
/// for key in ["doc-1", "doc-2", "doc-3"] {
///     builder.push(key.as_bytes())?;
/// }
/// let fst = Fst::open(Owned::new(Section::Ids, builder.finish()), 3)?;
/// assert_eq!(fst.find(b"doc-2")?, Some(1));
/// assert_eq!(fst.lower_bound(b"doc-22")?, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type FstBuilder = Builder<FstNodeWriter>;

impl FstBuilder {
    /// The default number of nodes to remember: 512 KiB when full.
    pub const REGISTRY: usize = 1 << 16;

    /// An automaton without keys that remembers `registry_size` nodes, rounded up to a power of two. With 0,
    /// nothing is shared and the result is a trie.
    pub fn new(registry_size: usize) -> FstBuilder {
        let registry = Registry::new(registry_size);
        Builder::of(FstNodeWriter { out: Output::default(), registry, scratch: Vec::new(), tail: Vec::new() })
    }
}

/// Writes nodes, each once as long as the registry remembers it.
#[derive(Debug)]
pub struct FstNodeWriter {
    out: Output,
    registry: Registry,
    /// A node encoded at the position of an older one, to compare them.
    scratch: Vec<u8>,
    /// The last suffix that a leaf was written for.
    tail: Vec<u8>,
}

impl FstNodeWriter {
    /// The position of the node with this hash that `put` encodes for a position: an older one, or a new one.
    ///
    /// Arcs are relative, so a node is compared as it would be encoded at the position of the older one. That must
    /// be after all nodes in `to`: from any other position the relative arc would be 0, which means the end of a
    /// key.
    fn share(&mut self, hash: u64, to: impl Iterator<Item = u64>, put: impl Fn(&mut Vec<u8>, u64)) -> u64 {
        let (out, scratch) = (&mut self.out.bytes, &mut self.scratch);
        let last = to.filter(|&to| to != END).max();
        let found = self.registry.find(hash, |place| {
            if last.is_some_and(|last| place <= last) {
                return false;
            }
            scratch.clear();
            put(scratch, place);
            usize::try_from(place)
                .ok()
                .and_then(|place| out.get(place..))
                .is_some_and(|at| at.starts_with(scratch))
        });
        found.unwrap_or_else(|| {
            let place = out.len() as u64;
            put(out, place);
            self.registry.insert(hash, place);
            place
        })
    }

    /// Writes as many chains as `labels` need; none without labels.
    fn chains(&mut self, labels: &[u8], to: u64) -> u64 {
        labels.rchunks(MAX_CHAIN).fold(to, |to, labels| self.chain(labels, false, to))
    }

    fn chain(&mut self, labels: &[u8], is_key: bool, to: u64) -> u64 {
        let hash = mix(mix(xxh3_64(labels), to), is_key.into());
        self.share(hash, iter::once(to), |out, at| put_chain(out, at, labels, is_key, to))
    }
}

impl NodeWriter for FstNodeWriter {
    fn out(&mut self) -> &mut Output {
        &mut self.out
    }

    /// Writes a suffix as one leaf; if it ends as the suffix before did, the common part becomes a leaf after a
    /// chain. Suffixes that many keys share (`@example.org`, `.json`) are frequent enough to follow each other.
    fn leaf(&mut self, tail: &[u8]) -> u64 {
        let pairs = self.tail.iter().rev().zip(tail.iter().rev());
        let same = pairs.take_while(|(a, b)| a == b).count();
        self.tail.clear();
        self.tail.extend_from_slice(tail);
        let own = if same < MIN_END { 0 } else { tail.len() - same };
        let (own, end) = tail.split_at(own);
        let to = self.share(xxh3_64(end), iter::empty(), |out, _| put_leaf(out, end));
        self.chains(own, to)
    }

    fn branch(&mut self, labels: &[u8], is_key: bool, arcs: &[Arc]) -> u64 {
        let to = match arcs {
            [arc] => {
                let labels = [arc.label, arc.peek.unwrap_or(0)];
                self.chain(&labels[..1 + usize::from(arc.peek.is_some())], is_key, arc.to)
            }
            _ => {
                let hash = arcs.iter().fold(is_key.into(), |hash, arc| {
                    let peek = arc.peek.map_or(0, |peek| 1 << 8 | u64::from(peek));
                    mix(hash, arc.to << 8 ^ u64::from(arc.label)) ^ (u64::from(arc.keys) << 9 | peek)
                });
                let to = arcs.iter().map(|arc| arc.to);
                self.share(mix(hash, 0), to, |out, at| put_branch(out, at, is_key, arcs))
            }
        };
        self.chains(labels, to)
    }
}

/// Folds a 128-bit product, as wyhash does: good enough for a table, and two instructions.
fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xD6E8_FEB8_6659_FD93);
    let [low, high] = [product & u128::from(u64::MAX), product >> 64];
    u64::try_from(low ^ high).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The registry compares 24 bits of the hash, so chosen ids can make two nodes collide.
    #[test]
    fn nodes_with_one_hash_are_shared_only_if_they_are_the_same() {
        let mut nodes = FstNodeWriter {
            out: Output::default(),
            registry: Registry::new(64),
            scratch: Vec::new(),
            tail: Vec::new(),
        };
        let chain = |nodes: &mut FstNodeWriter, to| {
            nodes.share(7, iter::once(to), |out, at| put_chain(out, at, b"x", true, to))
        };
        let ends = chain(&mut nodes, END);
        let leaf = nodes.share(8, iter::empty(), |out, _| put_leaf(out, b"tail"));
        let goes_on = chain(&mut nodes, leaf);
        assert_ne!(goes_on, ends);
        assert_eq!([chain(&mut nodes, leaf), chain(&mut nodes, END)], [goes_on, ends]);

        let arc = |label, to| Arc { label, keys: 1, peek: Some(b'p'), to };
        let branch = |nodes: &mut FstNodeWriter, to| {
            let arcs = [arc(b'a', to), arc(b'b', END)];
            nodes.share(9, arcs.iter().map(|arc| arc.to), |out, at| put_branch(out, at, false, &arcs))
        };
        let ends = branch(&mut nodes, END);
        let leaf = nodes.share(10, iter::empty(), |out, _| put_leaf(out, b"another tail"));
        assert_ne!(branch(&mut nodes, leaf), ends);
    }
}
