//! The bytes of an automaton's nodes.
//!
//! | first byte | node | then |
//! | --- | --- | --- |
//! | `00llllll` | *leaf*: one key, which is `l` bytes | the bytes; `l` = 63: their number, u32, in front of them |
//! | `01skwwww` | *chain*: one way on; `k`: a key ends in front of it | `s`: u8 number of labels, else there is one; `w` bytes of how far back it leads; the labels |
//! | `1k......` | *branch*: several; `k`: a key ends here | [arcs](crate::nodes::arcs) |

use docvalues_format::cursor::Put;
use docvalues_format::error::Result;
use docvalues_format::source::SectionBytes;

use crate::nodes::arcs::{self, Arc, Arcs, back, masked, put, width};
use crate::nodes::{Head, Labels, Next, Node, NodeFormat, broken};

/// The `l` of a leaf whose length follows.
const LONG: u8 = 63;
const CHAIN: u8 = 0b0100_0000;
const SEVERAL: u8 = 0b0010_0000;
const CHAIN_KEY: u8 = 0b0001_0000;
pub(crate) const BRANCH: u8 = 0b1000_0000;
pub(crate) const BRANCH_KEY: u8 = 0b0100_0000;
/// The most labels of a chain; longer paths are several chains.
pub(super) const MAX_CHAIN: usize = u8::MAX as usize;

/// Writes a leaf.
pub(crate) fn put_leaf(out: &mut Vec<u8>, tail: &[u8]) {
    match u8::try_from(tail.len()) {
        Ok(len) if len < LONG => out.put_u8(len),
        _ => {
            out.put_u8(LONG);
            out.put_u32(u32::try_from(tail.len()).unwrap_or(u32::MAX));
        }
    }
    out.put(tail);
}

/// Writes a chain at `at` that leads to the node at `to`.
pub(super) fn put_chain(out: &mut Vec<u8>, at: u64, labels: &[u8], is_key: bool, to: u64) {
    let back = back(at, to);
    let key = if is_key { CHAIN_KEY } else { 0 };
    let several = if labels.len() == 1 { 0 } else { SEVERAL };
    out.put_u8(CHAIN | several | key | width(back));
    if several != 0 {
        out.put_u8(u8::try_from(labels.len()).unwrap_or(u8::MAX));
    }
    put(out, back, width(back));
    out.put(labels);
}

/// Writes a branch at `at`.
pub(crate) fn put_branch(out: &mut Vec<u8>, at: u64, is_key: bool, arcs: &[Arc]) {
    arcs::encode(out, BRANCH | if is_key { BRANCH_KEY } else { 0 }, at, arcs);
}

/// Decodes the leaf at `at`, which begins with `head`.
#[inline(always)]
pub(crate) fn leaf(head: &Head, at: usize) -> Labels {
    match head[0] {
        LONG => {
            let len = u32::from_le_bytes([head[1], head[2], head[3], head[4]]);
            Labels { at: at + 5, len: usize::try_from(len).unwrap_or(usize::MAX) }
        }
        len => Labels { at: at + 1, len: len.into() },
    }
}

/// The node format of the automaton.
#[derive(Clone, Copy, Debug)]
pub struct FstNodes;

impl NodeFormat for FstNodes {
    #[inline(always)]
    fn read(section: &impl SectionBytes, at: usize, head: &Head) -> Result<Node> {
        let first = head[0];
        if first & BRANCH != 0 {
            let arcs = Arcs::new(at, [first, head[1]]);
            let then = Next::Arcs(first & BRANCH_KEY != 0, arcs);
            return Ok(Node { key_first: false, labels: Labels::NONE, then });
        }
        if first & CHAIN == 0 {
            return Ok(Node { key_first: false, labels: leaf(head, at), then: Next::End });
        }
        chain(section, at, head)
    }
}

#[inline(always)]
fn chain(section: &impl SectionBytes, at: usize, head: &Head) -> Result<Node> {
    let first = head[0];
    let width = usize::from(first & 15);
    let (len, begin) = match first & SEVERAL {
        0 => (1, 1),
        _ => (usize::from(head[1]), 2),
    };
    let back = head[begin..].first_chunk().map_or(0, |back| u64::from_le_bytes(*back));
    if width > 8 || len == 0 {
        return Err(broken(section.place(), at, "a chain of no labels, or that leads too far"));
    }
    let labels = Labels { at: at + begin + width, len };
    Ok(Node { key_first: first & CHAIN_KEY != 0, labels, then: Next::Back(masked(back, width)) })
}
