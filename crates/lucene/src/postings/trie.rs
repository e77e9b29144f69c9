//! The index of prefixes from Lucene 10.3 on: a trie.

use std::borrow::Cow;

use super::Place;
use crate::bytes::little;

/// An index of prefixes.
#[derive(Debug)]
pub(crate) struct Trie {
    pub(super) root: u64,
}

/// What an output says: where the block is, whether it has terms, and where the other blocks of its prefix are listed.
type Output = (u64, bool, Option<usize>);

/// A node: its output, and the node below it by a label, if there are any.
type Node = (Option<Output>, Option<usize>);

impl Trie {
    /// The block to which the longest prefix of a term leads; `None` if the index is damaged. `nodes` are its
    /// bytes.
    pub(super) fn find<'n>(&self, nodes: &'n [u8], term: &[u8]) -> Option<Place<'n>> {
        let (mut best, mut at) = (None, usize::try_from(self.root).ok()?);
        for prefix in 0..=term.len() {
            let (output, child) = node(nodes, at, term.get(prefix).copied())?;
            best = output.map(|output| (prefix, output)).or(best);
            let Some(child) = child else { break };
            at = child;
        }
        // The root has an output.
        let (prefix, (block, has_terms, floor)) = best?;
        let floor = match floor {
            Some(at) => Some(Cow::Borrowed(nodes.get(at..)?)),
            None => None,
        };
        Some(Place { prefix, block, has_terms, floor })
    }
}

/// Bits `first` to `first + count` of a number, as a number.
fn field(bits: u64, first: u32, count: u32) -> usize {
    // At most eight bits.
    usize::try_from(bits >> first & ((1 << count) - 1)).unwrap_or(0)
}

/// Reads the node at `at`, and looks for the one below it by `label`.
fn node(nodes: &[u8], at: usize, label: Option<u8>) -> Option<Node> {
    let head = u64::from(*nodes.get(at)?);
    match field(head, 0, 2) {
        0 => {
            let len = field(head, 2, 3) + 1;
            let block = little(nodes, at + 1, len)?;
            let floor = (field(head, 6, 1) == 1).then_some(at + 1 + len);
            Some((Some((block, field(head, 5, 1) == 1, floor)), None))
        }
        3 => several(nodes, at, label),
        kind => {
            let delta_len = field(head, 2, 3) + 1;
            let delta = little(nodes, at + 2, delta_len)?;
            let is_child = label.is_some() && label == nodes.get(at + 1).copied();
            let child = if is_child { Some(below(at, delta)?) } else { None };
            let mut output = None;
            if kind == 1 {
                let (start, len) = (at + 2 + delta_len, field(head, 5, 3) + 1);
                output = Some(decode(little(nodes, start, len)?, start + len));
            }
            Some((output, child))
        }
    }
}

/// A node with several nodes below it.
fn several(nodes: &[u8], at: usize, label: Option<u8>) -> Option<Node> {
    let head = little(nodes, at, 3)?;
    let (delta_len, output_len) = (field(head, 2, 3) + 1, field(head, 6, 3) + 1);
    let (strategy, len) = (field(head, 9, 2), field(head, 11, 5) + 1);
    let min = nodes.get(at + 2).copied()?;
    let (mut next, mut output, mut children) = (at + 3, None, 0);
    if field(head, 5, 1) == 1 {
        output = Some(little(nodes, next, output_len)?);
        next += output_len;
        if output.is_some_and(|output| output & 1 == 1) {
            children = usize::from(*nodes.get(next)?) + 1;
            next += 1;
        }
    }
    let labels = nodes.get(next..)?.get(..len)?;
    let deltas = next + len;
    let place = label.and_then(|label| place_of(labels, strategy, label.checked_sub(min)?, label));
    let child = match place {
        Some(place) => Some(below(at, little(nodes, deltas + place * delta_len, delta_len)?)?),
        None => None,
    };
    let output = output.map(|output| decode(output, deltas + children * delta_len));
    Some((output, child))
}

/// The place of a label, `above` the least one, among those of a node.
fn place_of(labels: &[u8], strategy: usize, above: u8, label: u8) -> Option<usize> {
    if above == 0 {
        return Some(0);
    }
    match strategy {
        // The largest label, and those between it and the least that are absent.
        0 => {
            let (max, absent) = labels.split_first()?;
            let is_there = label <= *max && !absent.contains(&label);
            let before = absent.iter().filter(|absent| **absent < label).count();
            if is_there { usize::from(above).checked_sub(before) } else { None }
        }
        // The other labels.
        1 => labels.iter().position(|other| *other == label).map(|place| place + 1),
        // A bit for each label from the least on.
        2 => {
            let (byte, bit) = (usize::from(above) / 8, above % 8);
            let is_there = labels.get(byte)? >> bit & 1 == 1;
            let before: u32 = labels[..byte].iter().map(|bits| bits.count_ones()).sum();
            let place = before + (labels[byte] & ((1 << bit) - 1)).count_ones();
            if is_there { usize::try_from(place).ok() } else { None }
        }
        _ => None,
    }
}

/// The node `delta` bytes before the one at `at`.
fn below(at: usize, delta: u64) -> Option<usize> {
    at.checked_sub(usize::try_from(delta).ok()?)
}

/// An output, after which other blocks are listed at `end` if there are any.
fn decode(output: u64, end: usize) -> Output {
    (output >> 2, output & 2 == 2, (output & 1 == 1).then_some(end))
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, reason = "small numbers")]
mod tests {
    use super::*;

    /// A leaf of a block of terms at this place.
    fn leaf(block: u8) -> Vec<u8> {
        vec![1 << 5, block]
    }

    /// A node with an output and several children, at `at`, with these labels and those below them.
    fn parent(at: usize, strategy: u32, min: u8, labels: &[u8], children: &[usize], floor: &[u8]) -> Vec<u8> {
        let head = 3 | 1 << 5 | strategy << 9 | (labels.len() as u32 - 1) << 11 | u32::from(min) << 16;
        let mut out = head.to_le_bytes()[..3].to_vec();
        out.push(50 << 2 | 2 | u8::from(!floor.is_empty()));
        if !floor.is_empty() {
            out.push(children.len() as u8 - 1);
        }
        out.extend(labels);
        out.extend(children.iter().map(|child| (at - child) as u8));
        out.extend(floor);
        out
    }

    #[test]
    fn labels_are_found_by_every_strategy() {
        // Children of "b", "d" and "f".
        let mut leaves = [leaf(2), leaf(3), leaf(4)].concat();
        leaves.push(0xEE);
        for (strategy, labels) in [(0, &[b'f', b'c', b'e'][..]), (1, &[b'd', b'f'][..]), (2, &[0b10101][..])]
        {
            for floor in [&[][..], &[1, b'x', 9 << 1]] {
                let at = leaves.len();
                let mut nodes = leaves.clone();
                nodes.extend(parent(at, strategy, b'b', labels, &[0, 2, 4], floor));
                let trie = Trie { root: at as u64 };
                let of = |term: &[u8]| trie.find(&nodes, term).unwrap();
                let found = [b'a', b'b', b'c', b'd', b'e', b'f', b'g'].map(|label| of(&[label, 7]).block);
                assert_eq!(found, [50, 2, 50, 3, 50, 4, 50], "strategy {strategy}");
                assert_eq!((of(b"").prefix, of(b"d").prefix, of(b"c").prefix), (0, 1, 0));
                assert_eq!(of(b"c").floor.as_deref(), (!floor.is_empty()).then_some(floor));
                for at in 0..nodes.len() {
                    for byte in [0, 1, 2, 3, 0x7F, 0xFF] {
                        let mut damaged = nodes.clone();
                        damaged[at] = byte;
                        let _ = trie.find(&damaged, b"dd");
                    }
                }
            }
        }
    }

    /// Copies would take as long as the index of the field.
    #[test]
    fn other_blocks_are_read_in_place() {
        let mut nodes = leaf(2);
        nodes.extend(parent(2, 1, b'b', b"d", &[0, 0], &[1, b'x', 9 << 1]));
        nodes.resize(1 << 20, 0xEE);
        let trie = Trie { root: 2 };
        let floor = trie.find(&nodes, b"c").unwrap().floor.unwrap();
        assert!(nodes.as_ptr_range().contains(&floor.as_ptr()));
        assert_eq!(floor[..3], [1, b'x', 9 << 1]);
    }

    #[test]
    fn single_children_are_followed() {
        // "a" has an output, "ab" leads to a leaf, and "a" below it has none.
        let mut nodes = leaf(9);
        let inner = nodes.len();
        nodes.extend([1, b'b', inner as u8, 7 << 2 | 2]);
        let root = nodes.len();
        nodes.extend([1, b'a', (root - inner) as u8, 1 << 2]);
        let trie = Trie { root: root as u64 };
        let of = |term: &[u8]| {
            let place = trie.find(&nodes, term).unwrap();
            (place.prefix, place.block, place.has_terms)
        };
        assert_eq!((of(b""), of(b"x")), ((0, 1, false), (0, 1, false)));
        assert_eq!((of(b"a"), of(b"ac")), ((1, 7, true), (1, 7, true)));
        assert_eq!((of(b"ab"), of(b"abc")), ((2, 9, true), (2, 9, true)));
    }
}
