//! The index of prefixes up to Lucene 10.2: a finite-state transducer, whose nodes are read backwards.

use std::borrow::Cow;

use super::Place;
use crate::bytes::{Bytes, variable};

/// Flags of an arc.
const LAST: u8 = 0x02;
const TARGET_NEXT: u8 = 0x04;
const STOP: u8 = 0x08;
const HAS_OUTPUT: u8 = 0x10;
const HAS_FINAL_OUTPUT: u8 = 0x20;

/// First bytes of nodes whose arcs have the same length: sorted by label, by a bitmap of labels, and without gaps.
const SORTED: u8 = 0x20;
const BITMAP: u8 = 0x40;
const CONTINUOUS: u8 = 0x60;

/// The flag of a slot without an arc, of a label that the node has not: Lucene 8.2 has them where later releases have a bitmap.
const GAP: u8 = 0x40;

/// An index of prefixes.
#[derive(Debug)]
pub(crate) struct Fst {
    pub(super) start: u64,
    /// Whether nodes of arcs by a bitmap have gaps instead: up to version 6.
    pub(super) has_gaps: bool,
    /// The output of the empty prefix.
    pub(super) root: Vec<u8>,
}

/// A position; bytes before it are read next. `None` is the beginning, or a number that does not end.
#[derive(Clone, Copy)]
struct Backward<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// An arc that was read.
struct Arc {
    output: Vec<u8>,
    /// The rest of the output of a prefix that ends here.
    end: Option<Vec<u8>>,
    /// The next node, if it has arcs.
    target: Option<u64>,
}

impl Backward<'_> {
    fn u8(&mut self) -> Option<u8> {
        self.at = self.at.checked_sub(1)?;
        self.bytes.get(self.at).copied()
    }

    fn vint(&mut self) -> Option<usize> {
        usize::try_from(variable(5, || self.u8())?).ok()
    }

    /// A byte string after its length.
    fn string(&mut self) -> Option<Vec<u8>> {
        let len = self.vint()?;
        let start = self.at.checked_sub(len)?;
        let mut bytes = self.bytes.get(start..self.at)?.to_vec();
        bytes.reverse();
        self.at = start;
        Some(bytes)
    }

    /// The position `count` times `len` bytes further on.
    fn after(&self, count: usize, len: usize) -> Option<Self> {
        let at = self.at.checked_sub(count.checked_mul(len)?)?;
        Some(Backward { bytes: self.bytes, at })
    }

    /// The arc whose flags and label were read. Its target may be the node at `next`, which is known then.
    fn arc(&mut self, flags: u8) -> Option<Arc> {
        let output = if flags & HAS_OUTPUT > 0 { self.string()? } else { Vec::new() };
        let end = if flags & HAS_FINAL_OUTPUT > 0 { Some(self.string()?) } else { None };
        // An output may end here without more bytes.
        let end = end.or_else(|| (flags & 0x01 > 0).then(Vec::new));
        let target = if flags & (TARGET_NEXT | STOP) == 0 { Some(variable(9, || self.u8())?) } else { None };
        Some(Arc { output, end, target })
    }

    /// The address of the node that begins here.
    fn address(&self) -> Option<u64> {
        self.at.checked_sub(1).map(|at| at as u64)
    }
}

impl Fst {
    /// The block to which the longest prefix of a term leads; `None` if the index is damaged. `nodes` are its
    /// bytes.
    pub(super) fn find(&self, nodes: &[u8], term: &[u8], has_msb: bool) -> Option<Place<'static>> {
        // The longest prefix with an output, how much of `output` that is, and its end.
        let mut best = None;
        let (mut output, mut node) = (Vec::new(), Some(self.start));
        for (at, label) in term.iter().enumerate() {
            let Some(address) = node.filter(|node| *node > 0) else { break };
            let Some(arc) = arc(nodes, (address, self.has_gaps), *label)? else { break };
            output.extend(arc.output);
            // Each arc of a path is stored with its own output, unless the path comes back to a node.
            if output.len() > nodes.len() {
                return None;
            }
            if let Some(end) = arc.end {
                best = Some((at + 1, output.len(), end));
            }
            node = arc.target;
        }
        let (prefix, best) = match best {
            None => (0, &self.root),
            Some((prefix, len, end)) => {
                output.truncate(len);
                output.extend(end);
                (prefix, &output)
            }
        };
        let (block, has_terms, floor) = decode(best, has_msb)?;
        Some(Place { prefix, block, has_terms, floor: floor.map(Cow::Owned) })
    }
}

/// The code of a block in an output of the index: its place, and whether it has terms and other blocks follow it.
fn decode(output: &[u8], has_msb: bool) -> Option<(u64, bool, Option<Vec<u8>>)> {
    let mut bytes = Bytes(output);
    let code = if has_msb { bytes.msb_vlong()? } else { bytes.vlong()? };
    Some((code >> 2, code & 2 == 2, (code & 1 == 1).then(|| bytes.0.to_vec())))
}

/// The arc of a node with this label, if it has one. The outer `None` is damage.
fn arc(nodes: &[u8], (address, has_gaps): (u64, bool), label: u8) -> Option<Option<Arc>> {
    let at = usize::try_from(address).ok()?.checked_add(1)?;
    let mut reader = Backward { bytes: nodes, at };
    let first = reader.u8()?;
    if first == SORTED || first == BITMAP || first == CONTINUOUS {
        return of_same_length(reader, (first, has_gaps), label);
    }
    let (mut flags, mut found) = (first, None);
    loop {
        let this = reader.u8()?;
        let arc = reader.arc(flags)?;
        if this == label {
            let is_next = flags & TARGET_NEXT > 0 && flags & STOP == 0;
            if !is_next {
                return Some(Some(arc));
            }
            found = Some(arc);
        } else if this > label && found.is_none() {
            return Some(None);
        }
        if flags & LAST > 0 {
            break;
        }
        flags = reader.u8()?;
    }
    // The target follows the last arc.
    Some(match found {
        Some(arc) => Some(Arc { target: Some(reader.address()?), ..arc }),
        None => None,
    })
}

/// As [`arc`], of a node whose arcs have the same length.
fn of_same_length(mut reader: Backward<'_>, (kind, has_gaps): (u8, bool), label: u8) -> Option<Option<Arc>> {
    let (range, len) = (reader.vint()?, reader.vint()?);
    // Labels are bytes.
    if range > 256 {
        return None;
    }
    let within = |first: u8| label.checked_sub(first).map(usize::from).filter(|at| *at < range);
    let (count, place) = match kind {
        SORTED => (range, sorted(reader, range, len, label)?),
        BITMAP if has_gaps => {
            // The label of the first arc.
            let mut start = reader;
            start.u8()?;
            (range, within(start.u8()?))
        }
        BITMAP => {
            let mut bits = [0_u8; 32];
            for bits in &mut bits[..range.div_ceil(8)] {
                *bits = reader.u8()?;
            }
            let is_set = |at: &usize| bits[at / 8] >> (at % 8) & 1 == 1;
            let place = within(reader.u8()?).filter(is_set);
            let count = (0..range).filter(is_set).count();
            (count, place.map(|end| (0..end).filter(is_set).count()))
        }
        _ => (range, within(reader.u8()?)),
    };
    let Some(place) = place else { return Some(None) };
    let mut at = reader.after(place, len)?;
    let flags = at.u8()?;
    if kind == BITMAP && has_gaps && flags & GAP > 0 {
        return Some(None);
    }
    if kind == SORTED || kind == BITMAP && has_gaps {
        at.u8()?;
    }
    let mut arc = at.arc(flags)?;
    if flags & TARGET_NEXT > 0 && flags & STOP == 0 {
        arc.target = Some(reader.after(count, len)?.address()?);
    }
    Some(Some(arc))
}

/// The place of a label among `count` sorted arcs of `len` bytes.
fn sorted(reader: Backward<'_>, count: usize, len: usize, label: u8) -> Option<Option<usize>> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        let mut at = reader.after(middle, len)?;
        at.u8()?;
        match at.u8()?.cmp(&label) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Equal => return Some(Some(middle)),
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    Some(None)
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, reason = "small numbers")]
mod tests {
    use super::*;

    /// The output of a block at this place, with terms.
    fn block(at: u8) -> Vec<u8> {
        vec![at << 2 | 2]
    }

    /// A body that is read backwards, from the bytes of nodes in the order of reading. Returns the address of each.
    fn body(nodes: &[Vec<u8>]) -> (Vec<u8>, Vec<u64>) {
        let mut read: Vec<u8> = nodes.concat();
        // The byte at address 0 is none of a node.
        read.push(0);
        let len = read.len();
        let starts = nodes.iter().scan(0, |before, node| {
            let start = *before;
            *before += node.len();
            Some((len - 1 - start) as u64)
        });
        let starts = starts.collect();
        read.reverse();
        (read, starts)
    }

    /// An arc that ends with an output, and leads nowhere.
    fn leaf(label: Option<u8>, flags: u8, at: u8) -> Vec<u8> {
        let mut arc = vec![flags | STOP | HAS_OUTPUT | 0x01];
        arc.extend(label);
        arc.extend([1, at << 2 | 2]);
        arc
    }

    #[test]
    fn prefixes_lead_to_blocks() {
        // "b" ends and goes on to the next node, "d" ends; below "b" there is "x".
        let start =
            [vec![TARGET_NEXT | HAS_FINAL_OUTPUT | 0x01, b'b', 1, 5 << 2 | 2], leaf(Some(b'd'), LAST, 7)]
                .concat();
        let (nodes, starts) = body(&[start, leaf(Some(b'x'), LAST, 9)]);
        let fst = Fst { start: starts[0], has_gaps: false, root: block(1) };
        let of = |term: &[u8]| {
            let place = fst.find(&nodes, term, false).unwrap();
            (place.prefix, place.block)
        };
        assert_eq!(of(b""), (0, 1));
        assert_eq!(of(b"a"), (0, 1));
        assert_eq!(of(b"b"), (1, 5));
        assert_eq!(of(b"bw"), (1, 5));
        assert_eq!(of(b"bxy"), (2, 9));
        assert_eq!((of(b"d"), of(b"dx"), of(b"e")), ((1, 7), (1, 7), (0, 1)));
    }

    #[test]
    fn a_path_that_comes_back_ends() {
        // Arcs of all labels share their bytes: an output of 200 bytes, and the node itself as the target.
        let output = [&[9_u8 << 2 | 2][..], &[0; 199]].concat();
        let head = [CONTINUOUS, 0x80, 2, 0, 0, HAS_OUTPUT | 0x01, 0xC8, 1];
        let (nodes, starts) = body(&[[&head[..], &output, &[0xD2, 1]].concat()]);
        assert_eq!(starts, [210]);
        let fst = Fst { start: 210, has_gaps: false, root: block(1) };
        assert_eq!(fst.find(&nodes, b"a", false).unwrap().block, 9);
        assert_eq!(fst.find(&nodes, &[b'a'; 1_000], false), None);
    }

    #[test]
    fn nodes_of_all_kinds_are_searched() {
        let len = 4;
        let arc = |label: Option<u8>, at: u8| {
            let mut arc = leaf(label, 0, at);
            arc.resize(len, 0xEE);
            arc
        };
        let head = |kind: u8, count: u8| vec![kind, count, len as u8];
        let sorted = [head(SORTED, 3), arc(Some(b'b'), 2), arc(Some(b'd'), 3), arc(Some(b'f'), 4)].concat();
        let bitmap =
            [head(BITMAP, 5), vec![0b10101, b'b'], arc(None, 2), arc(None, 3), arc(None, 4)].concat();
        let continuous = [head(CONTINUOUS, 3), vec![b'd'], arc(None, 3), arc(None, 4), arc(None, 5)].concat();
        let gap = vec![GAP; len];
        let gaps =
            [head(BITMAP, 5), arc(Some(b'b'), 2), gap.clone(), arc(Some(b'd'), 3), gap, arc(Some(b'f'), 4)];
        for (node, has_gaps, expected) in [
            (sorted, false, [1, 2, 1, 3, 1, 4, 1]),
            (bitmap, false, [1, 2, 1, 3, 1, 4, 1]),
            (gaps.concat(), true, [1, 2, 1, 3, 1, 4, 1]),
            (continuous, false, [1, 1, 1, 3, 4, 5, 1]),
        ] {
            let (nodes, starts) = body(&[node]);
            let fst = Fst { start: starts[0], has_gaps, root: block(1) };
            let found = [b'a', b'b', b'c', b'd', b'e', b'f', b'g'];
            let found = found.map(|label| fst.find(&nodes, &[label], false).unwrap().block);
            assert_eq!(found, expected);
            for at in 0..nodes.len() {
                for byte in [0, 1, 0x20, 0x40, 0x7F, 0xFF] {
                    let mut damaged = nodes.clone();
                    damaged[at] = byte;
                    let _ = fst.find(&damaged, b"dd", true);
                }
            }
        }
    }
}
