//! Verifies the structure of nodes, bottom up.

use docvalues_format::error::{Error, ErrorKind, Result};
use docvalues_format::source::SectionBytes;

use super::arcs::Arcs;
use super::{Next, Node, NodeFormat, ROOT_LEN, broken, step};

/// A node that was verified.
struct VisitedNode {
    at: usize,
    /// The number of keys under it.
    keys: u32,
    /// Whether an arc leads to it.
    used: bool,
}

/// Reads all nodes, which fill the section, and sums up the keys of each from those of its targets.
///
/// If labels ascend in every node and the sums before arcs match the counts, then keys ascend and each is at its
/// rank. So no key is spelled out. O(nodes × log nodes); memory: 24 bytes a node, which has at least two bytes.
pub(crate) fn verify<F: NodeFormat>(section: &impl SectionBytes, root: usize, len: u32) -> Result<()> {
    let end = section.len().saturating_sub(ROOT_LEN);
    let mut nodes: Vec<VisitedNode> = Vec::new();
    let mut at = 0;
    while at < end {
        let (keys, next) = node::<F>(section, at, at == root, &mut nodes)?;
        if next > end {
            return Err(broken(section.place(), at, "a node reaches beyond the last"));
        }
        nodes.push(VisitedNode { at, keys, used: at == root });
        at = next;
    }
    match nodes.last() {
        Some(last) if last.at != root => {
            return Err(broken(section.place(), root, "the root is not the last node"));
        }
        Some(last) if last.keys != len => {
            let kind = ErrorKind::Mismatch { what: "keys", found: last.keys.into(), expected: len.into() };
            return Err(Error::at(section.place(), root, kind));
        }
        _ => {}
    }
    match nodes.iter().find(|node| !node.used) {
        Some(node) => Err(broken(section.place(), node.at, "a node that nothing leads to")),
        None => Ok(()),
    }
}

/// The number of keys under the node at `at`, and its end.
fn node<F: NodeFormat>(
    section: &impl SectionBytes,
    at: usize,
    is_root: bool,
    nodes: &mut [VisitedNode],
) -> Result<(u32, usize)> {
    let refuse = |rule| Err(broken(section.place(), at, rule));
    let Node { key_first, labels, then } = F::node(section, at)?;
    labels.get(section)?;
    let (keys, end) = match then {
        Next::End if labels.len == 0 && !is_root => return refuse("a node without a key"),
        Next::End => (Some(1), None),
        Next::Back(_) if labels.len == 0 => return refuse("a node without labels"),
        Next::Back(back) => (Some(keys_of(section, at, back, nodes)?), None),
        Next::Arcs(is_key, arcs) => {
            (sum(section, at, &arcs, nodes)?.checked_add(is_key.into()), Some(arcs.verify(section)?))
        }
    };
    let end = end.unwrap_or_else(|| if labels.len == 0 { at + 1 } else { labels.range().end });
    match keys.and_then(|keys| keys.checked_add(key_first.into())) {
        Some(keys) => Ok((keys, end)),
        None => refuse("more than 2^32 - 1 keys"),
    }
}

/// Compares the sums before arcs with the keys of their targets.
fn sum(section: &impl SectionBytes, at: usize, arcs: &Arcs, nodes: &mut [VisitedNode]) -> Result<u32> {
    let (count, _) = arcs.shape(section)?;
    let mut keys = 0u32;
    for arc in 0..count {
        let entry = arcs.entry(section, arc)?;
        if entry.before != keys {
            let (found, expected) = (entry.before.into(), keys.into());
            let kind = ErrorKind::Mismatch { what: "keys before an arc", found, expected };
            return Err(Error::at(section.place(), at, kind));
        }
        keys = match keys.checked_add(keys_of(section, at, entry.back, nodes)?) {
            Some(keys) => keys,
            None => return Err(broken(section.place(), at, "more than 2^32 - 1 keys")),
        };
    }
    Ok(keys)
}

/// The keys of the node `back` bytes before the one at `at`.
fn keys_of(section: &impl SectionBytes, at: usize, back: u64, nodes: &mut [VisitedNode]) -> Result<u32> {
    let Some(to) = step(section, at, back)? else { return Ok(1) };
    match nodes.binary_search_by_key(&to, |node| node.at).ok().and_then(|node| nodes.get_mut(node)) {
        Some(node) => {
            node.used = true;
            Ok(node.keys)
        }
        None => Err(broken(section.place(), at, "an arc leads into the middle of a node")),
    }
}
