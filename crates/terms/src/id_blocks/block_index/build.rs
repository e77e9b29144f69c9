//! Builds the trie of separators.

use std::collections::VecDeque;
use std::ops::Range;

use super::{ENDS, INNER, LABELS, LISTED, PREFIX};
use docvalues_format::cursor::Put;
use docvalues_format::strings::shared_len;

/// Ascending separators, end to end.
#[derive(Debug, Default)]
pub(crate) struct Separators {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Separators {
    /// Appends a separator, greater than all before.
    pub(crate) fn push(&mut self, separator: &[u8]) {
        self.bytes.extend_from_slice(separator);
        self.ends.push(self.bytes.len());
    }

    /// The number of separators.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, i: usize) -> &[u8] {
        let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[i]]
    }

    /// The trie; `None` without separators. O(bytes of all).
    pub(crate) fn encode(&self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        // The nodes left to write: their separators, and the depth of the node.
        let mut nodes = VecDeque::from([(0..self.len(), 0)]);
        (self.len() > 0).then_some(())?;
        while let Some((separators, depth)) = nodes.pop_front() {
            self.node(separators, depth, &mut out, &mut nodes);
        }
        Some(out)
    }

    fn node(
        &self,
        all: Range<usize>,
        depth: usize,
        out: &mut Vec<u8>,
        nodes: &mut VecDeque<(Range<usize>, usize)>,
    ) {
        let (first, last) = (self.get(all.start), self.get(all.end - 1));
        let prefix = &first[depth..][..shared_len(&first[depth..], &last[depth..])];
        let depth = depth + prefix.len();
        let ends = first.len() == depth;
        let (mut labels, mut inner) = (Vec::new(), [0_u8; 32]);
        let mut from = all.start + usize::from(ends);
        while from < all.end {
            let label = self.get(from)[depth];
            let same = (from..all.end).take_while(|&i| self.get(i)[depth] == label).count();
            if same > 1 || self.get(from).len() > depth + 1 {
                inner[labels.len() / 8] |= 1 << (labels.len() % 8);
                nodes.push_back((from..from + same, depth + 1));
            }
            labels.push(label);
            from += same;
        }
        let inner = &inner[..labels.len().div_ceil(8)];
        let has_inner = inner.iter().any(|&bits| bits != 0);
        let flag = |there: bool, flag: u8| if there { flag } else { 0 };
        let (has_prefix, has_labels) = (!prefix.is_empty(), !labels.is_empty());
        out.put_u8(
            flag(ends, ENDS) | flag(has_prefix, PREFIX) | flag(has_labels, LABELS) | flag(has_inner, INNER),
        );
        if has_prefix {
            // Keys have at most 65,535 bytes.
            out.put_u16(u16::try_from(prefix.len()).unwrap_or(u16::MAX));
            out.put(prefix);
        }
        if has_labels {
            out.put_u8(u8::try_from(labels.len() - 1).unwrap_or(u8::MAX));
            put_labels(&labels, out);
        }
        if has_inner {
            out.put(inner);
        }
    }
}

fn put_labels(labels: &[u8], out: &mut Vec<u8>) {
    if labels.len() <= LISTED {
        return out.put(labels);
    }
    let mut bits = [0_u8; 32];
    labels.iter().for_each(|label| bits[usize::from(label / 8)] |= 1 << (label % 8));
    out.put(&bits);
}
