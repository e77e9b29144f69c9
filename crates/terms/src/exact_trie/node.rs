//! The bytes of a trie's nodes.
//!
//! | first byte | node | then |
//! | --- | --- | --- |
//! | `00llllll` | *leaf*: one key, which is `l` bytes | the bytes; `l` = 63: their number, u32, in front of them |
//! | `01llllll` | *branch* after `l` bytes that its keys share, 1 and more | the bytes, as of a leaf; a branch, as below |
//! | `1k......` | *branch*: several keys; `k`: one ends here | [arcs](crate::nodes::arcs) |
//!
//! `0x40` alone, a branch after no bytes, is invalid: such a branch begins with its own byte.

use docvalues_format::error::Result;
use docvalues_format::source::SectionBytes;

use crate::fst::node::{self, BRANCH, BRANCH_KEY, leaf, put_leaf};
use crate::nodes::arcs::{Arc, Arcs};
use crate::nodes::{Head, Labels, Next, Node, NodeFormat, broken};

const SHARED: u8 = 0b0100_0000;

/// Writes a branch after `labels` at the end of `out`, which `before` bytes precede in the section.
pub(super) fn put_branch(out: &mut Vec<u8>, before: u64, labels: &[u8], is_key: bool, arcs: &[Arc]) {
    let at = out.len();
    if !labels.is_empty() {
        put_leaf(out, labels);
        out[at] |= SHARED;
    }
    node::put_branch(out, before + at as u64, is_key, arcs);
}

/// The node format of the trie.
#[derive(Clone, Copy, Debug)]
pub struct ExactNodes;

impl NodeFormat for ExactNodes {
    #[inline(always)]
    fn read(section: &impl SectionBytes, at: usize, head: &Head) -> Result<Node> {
        let mut head = *head;
        let (mut labels, mut branch) = (Labels::NONE, at);
        if head[0] & BRANCH == 0 {
            let shared = head[0] & SHARED != 0;
            head[0] &= !SHARED;
            labels = leaf(&head, at);
            if !shared {
                return Ok(Node { key_first: false, labels, then: Next::End });
            }
            branch = labels.range().end;
            let [a, b] = *section.array::<2>(branch)?;
            (head[0], head[1]) = (a, b);
            if head[0] & BRANCH == 0 || labels.len == 0 {
                return Err(broken(
                    section.place(),
                    at,
                    "no branch behind what its keys share, or nothing shared",
                ));
            }
        }
        let then = Next::Arcs(head[0] & BRANCH_KEY != 0, Arcs::new(branch, [head[0], head[1]]));
        Ok(Node { key_first: false, labels, then })
    }
}
