//! The index of blocks: a path-compressed trie that counts the separators at most a key.
//!
//! A *separator* is the shortest byte string that is greater than the last key of one block and not greater than
//! the first key of the next. So the number of separators at most a key is the number of the only block that may
//! have it. Most separators end with the byte in which they differ from their neighbours, and are a single label.
//!
//! # Layout
//!
//! Nodes in breadth-first order, end to end. The child nodes of a node are adjacent, after those of all nodes
//! before it. So no positions are stored: the first child node is the second node, the next child node, of
//! whichever parent, is the third.
//!
//! | offset | bytes | field | meaning |
//! | ---: | ---: | --- | --- |
//! | 0 | 1 | `flags` | bit 0: a separator ends here · 1: there is a prefix · 2: there are labels · 3: some children are nodes |
//! | 1 | 2 | `prefix_len` | u16, if there is a prefix |
//! | … | … | `prefix` | the bytes that all separators below share here |
//! | … | 1 | `count` | labels − 1, if there are labels |
//! | … | … | `labels` | up to 32: a byte for each, ascending; more: 32 bytes, with bit *l* % 8 of byte *l* / 8 set for each label *l* |
//! | … | ⌈labels / 8⌉ | `inner` | bit *i*: the child of label *i* is a node, and not the end of a separator; if some are |
//!
//! At opening, the reader decodes the trie into arrays. A step counts the labels less than the key's next byte, 16
//! at a time, and reads the slot of that number. Decoding verifies that every node has a separator, that labels
//! ascend, and that the numbers of nodes and separators are right, so that look-ups need no checks.
//!
//! Sources: Morrison, *PATRICIA* (1968) for path compression; Bayer and Unterauer, *Prefix B-trees* (1977) for the
//! shortest separators; Jacobson's LOUDS (1989) for levels without pointers.
//!
//! # Drawing
//!
//! The separators `x`, `xa` and `xcyz`:
//!
//! ```text
//! root     0f           a separator ends here (x); prefix, labels, inner
//!          01 00 x      the prefix, one byte
//!          01 a c       two labels
//!          02           the child of label 1 (c) is a node; that of label 0 (a) ends a separator (xa)
//! node 1   03           a separator ends here (xcyz); prefix
//!          02 00 y z
//! ```
//!
//! A key `xb...` has two separators at most itself, `x` and `xa`, so it belongs to block 2.

use docvalues_format::error::{Error, ErrorKind, Place, Result};
use docvalues_format::prefetch::prefetch;

pub(crate) use build::Separators;

mod build;
mod read;
#[cfg(test)]
mod tests;

const ENDS: u8 = 1;
const PREFIX: u8 = 2;
const LABELS: u8 = 4;
const INNER: u8 = 8;

/// The most labels that are stored as a list; more are a bitmap.
const LISTED: usize = 32;

/// Labels that are compared at once.
const LANES: usize = 16;

/// Slots in a cache line.
const SLOTS_A_LINE: usize = 64 / size_of::<Slot>();

/// Cache lines of slots of a small trie, all of which are prefetched before it is known which are needed.
const SMALL: usize = 10;

/// The child of a label that ends a separator.
const LEAF: u32 = u32::MAX;

/// A node, with its positions in the arrays.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// Its first label, a multiple of [`LANES`].
    labels: u32,
    /// Its first slot; it has one more than labels.
    slots: u32,
    /// The first byte of its prefix.
    prefix: u32,
    prefix_len: u16,
    /// The number of labels.
    count: u16,
    /// Separators before all of this node.
    before: u32,
    /// The same, plus one if a separator ends here.
    inside: u32,
    /// Separators before the end of this node.
    end: u32,
}

/// The entry of a label, or of the position after the last one.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Separators before those of the label.
    before: u32,
    /// The child node, or [`LEAF`].
    child: u32,
}

/// A search in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descent {
    /// Bytes of the key that were consumed.
    used: usize,
    node: u32,
    at: At,
}

/// The item that was prefetched last.
#[derive(Clone, Copy, Debug)]
enum At {
    Node,
    Labels,
    /// A slot, and whether it is that of a label.
    Slot(u32, bool),
}

/// The trie, on the heap and verified.
#[derive(Debug)]
pub(crate) struct SeparatorTrie {
    nodes: Box<[Node]>,
    labels: Box<[u8]>,
    slots: Box<[Slot]>,
    prefixes: Box<[u8]>,
}

impl SeparatorTrie {
    /// Copies and verifies the trie of `separators` separators, at least one.
    ///
    /// O(bytes): some nanoseconds a node. Memory: 28 bytes a node and 9 a label, both at most as many as bytes.
    ///
    /// # Errors
    ///
    /// When it is malformed, or the number of separators is wrong.
    pub(crate) fn open(bytes: &[u8], separators: u32, place: Place) -> Result<SeparatorTrie> {
        read::read(bytes, separators).map_err(|what| Error::at(place, 0, ErrorKind::Broken(what)))
    }

    /// Prefetches the root, and as many slots as a small trie has.
    #[inline]
    pub(crate) fn prefetch(&self) {
        prefetch(self.nodes.as_ptr().cast());
        for line in self.labels.chunks(64).take(2) {
            prefetch(line.as_ptr());
        }
        for line in self.slots.chunks(SLOTS_A_LINE).take(SMALL) {
            prefetch(line.as_ptr().cast());
        }
    }

    /// Whether [`prefetch`](Self::prefetch) loads most of it.
    #[inline]
    pub(crate) fn is_small(&self) -> bool {
        self.slots.len() <= SMALL * SLOTS_A_LINE
    }

    /// The number of separators that are at most `key`. O(length of the key, as far as separators go).
    #[inline]
    pub(crate) fn at_most(&self, key: &[u8]) -> u32 {
        let (mut node, mut rest) = (&self.nodes[0], key);
        loop {
            let (slot, is_label) = match self.turn(node, &mut rest) {
                Ok(turn) => turn,
                Err(count) => return count,
            };
            let slot = &self.slots[slot as usize];
            if !is_label | (slot.child == LEAF) {
                // No branch for the label: it would be unpredictable.
                return slot.before + u32::from(is_label);
            }
            node = &self.nodes[slot.child as usize];
        }
    }

    /// Consumes the node's prefix and the next byte of `rest`. Returns the slot of that byte, and whether the byte
    /// is a label; or, as an error, the number of separators at most the key, if the node decides it.
    #[inline(always)]
    fn turn(&self, node: &Node, rest: &mut &[u8]) -> Result<(u32, bool), u32> {
        if node.prefix_len > 0 {
            let prefix = &self.prefixes[node.prefix as usize..][..usize::from(node.prefix_len)];
            match rest.strip_prefix(prefix) {
                Some(tail) => *rest = tail,
                None => return Err(if *rest < prefix { node.before } else { node.end }),
            }
        }
        let Some(&byte) = rest.split_off_first() else { return Err(node.inside) };
        let count = usize::from(node.count);
        let labels = &self.labels[node.labels as usize..][..count.next_multiple_of(LANES)];
        let less = below(labels, byte);
        // The last label may be followed by padding, which is no label.
        let is_label = less < count && labels[less] == byte;
        #[expect(clippy::cast_possible_truncation, reason = "a node has at most 256 labels")]
        Ok((node.slots + less as u32, is_label))
    }

    /// Starts a search step by step: [`at_most`](Self::at_most) for many keys at once.
    #[inline]
    pub(crate) fn descend(&self) -> Descent {
        prefetch(self.nodes.as_ptr().cast());
        Descent { used: 0, node: 0, at: At::Node }
    }

    /// Continues the search for `key` by one step, and prefetches for the next. Returns the number of separators at
    /// most the key once it is known.
    #[inline]
    pub(crate) fn step(&self, key: &[u8], way: &mut Descent) -> Option<u32> {
        let node = &self.nodes[way.node as usize];
        match way.at {
            At::Node => {
                let labels = &self.labels[node.labels as usize..][..usize::from(node.count)];
                labels.chunks(64).for_each(|line| prefetch(line.as_ptr()));
                prefetch(std::ptr::from_ref(&self.slots[node.slots as usize]).cast());
                way.at = At::Labels;
            }
            At::Labels => {
                let mut rest = &key[way.used..];
                match self.turn(node, &mut rest) {
                    Ok((slot, is_label)) => {
                        prefetch(std::ptr::from_ref(&self.slots[slot as usize]).cast());
                        way.used = key.len() - rest.len();
                        way.at = At::Slot(slot, is_label);
                    }
                    Err(count) => return Some(count),
                }
            }
            At::Slot(slot, is_label) => {
                let slot = &self.slots[slot as usize];
                if !is_label | (slot.child == LEAF) {
                    return Some(slot.before + u32::from(is_label));
                }
                prefetch(std::ptr::from_ref(&self.nodes[slot.child as usize]).cast());
                (way.node, way.at) = (slot.child, At::Node);
            }
        }
        None
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.nodes) + size_of_val(&*self.slots) + self.labels.len() + self.prefixes.len()
    }
}

/// The number of labels less than `byte`.
#[inline]
fn below(labels: &[u8], byte: u8) -> usize {
    let mut less = 0;
    for labels in labels.as_chunks::<LANES>().0 {
        less += labels.iter().map(|&label| u8::from(label < byte)).sum::<u8>() as usize;
    }
    less
}
