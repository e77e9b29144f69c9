//! Decodes the trie of separators into verified arrays.

use super::{ENDS, INNER, LABELS, LANES, LEAF, LISTED, Node, PREFIX, SeparatorTrie, Slot};

const ENDS_EARLY: &str = "the index of ids ends early";

/// Decodes and verifies a trie.
pub(super) fn read(bytes: &[u8], separators: u32) -> Result<SeparatorTrie, &'static str> {
    // All counts below are bounded by the number of bytes, with 16 labels for each node of two bytes.
    if bytes.len() > (u32::MAX / 32) as usize {
        return Err("the index of ids is too long");
    }
    let mut trie = Growing::default();
    let (mut rest, mut known) = (bytes, 1_u32);
    while trie.nodes.len() < known as usize {
        trie.node(&mut rest, &mut known)?;
        // Rejects impossible counts before memory is allocated for them: a bit may be a label, which takes nine
        // bytes of memory.
        let nodes = trie.nodes.len() + rest.len();
        let leaves = (trie.slots.len() + 1).saturating_sub(trie.nodes.len() + known as usize);
        if known as usize > nodes || leaves > separators as usize {
            return Err("a node of the index of ids has more labels than there are nodes and separators");
        }
    }
    if !rest.is_empty() {
        return Err("the index of ids goes on behind its last node");
    }
    trie.count(separators)?;
    let Growing { nodes, labels, slots, prefixes } = trie;
    Ok(SeparatorTrie {
        nodes: nodes.into(),
        labels: labels.into(),
        slots: slots.into(),
        prefixes: prefixes.into(),
    })
}

/// A length of at most 32 times the number of bytes, which is below 2^27.
fn small(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// The arrays of a trie under construction.
#[derive(Default)]
struct Growing {
    nodes: Vec<Node>,
    labels: Vec<u8>,
    slots: Vec<Slot>,
    prefixes: Vec<u8>,
}

impl Growing {
    /// Decodes a node. `known` is the number of nodes that the nodes so far imply.
    fn node(&mut self, rest: &mut &[u8], known: &mut u32) -> Result<(), &'static str> {
        let mut take = |len: usize| rest.split_off(..len).ok_or(ENDS_EARLY);
        let flags = take(1)?[0];
        if flags > (ENDS | PREFIX | LABELS | INNER)
            || flags & (ENDS | LABELS) == 0
            || flags & (LABELS | INNER) == INNER
        {
            return Err("a node of the index of ids has no such flags");
        }
        let mut node = Node {
            labels: small(self.labels.len()),
            slots: small(self.slots.len()),
            prefix: small(self.prefixes.len()),
            prefix_len: 0,
            count: 0,
            before: 0,
            inside: u32::from(flags & ENDS),
            end: 0,
        };
        if flags & PREFIX != 0 {
            node.prefix_len = u16::from_le_bytes(*take(2)?.first_chunk().ok_or(ENDS_EARLY)?);
            self.prefixes.extend_from_slice(take(node.prefix_len.into())?);
        }
        if flags & LABELS != 0 {
            node.count = u16::from(take(1)?[0]) + 1;
            let count = usize::from(node.count);
            match count <= LISTED {
                true => self.list(take(count)?)?,
                false => self.bitmap(take(32)?, count)?,
            }
            self.labels.resize(self.labels.len().next_multiple_of(LANES), u8::MAX);
            let inner = take(if flags & INNER != 0 { count.div_ceil(8) } else { 0 })?;
            for i in 0..count {
                let is_inner = inner.get(i / 8).is_some_and(|bits| bits >> (i % 8) & 1 == 1);
                self.slots.push(Slot { before: 0, child: if is_inner { *known } else { LEAF } });
                *known += u32::from(is_inner);
            }
        }
        self.slots.push(Slot { before: 0, child: LEAF });
        self.nodes.push(node);
        Ok(())
    }

    fn list(&mut self, labels: &[u8]) -> Result<(), &'static str> {
        self.labels.extend_from_slice(labels);
        match labels.is_sorted_by(|a, b| a < b) {
            true => Ok(()),
            false => Err("labels of the index of ids do not ascend"),
        }
    }

    fn bitmap(&mut self, bits: &[u8], count: usize) -> Result<(), &'static str> {
        let before = self.labels.len();
        self.labels
            .extend((0..=u8::MAX).filter(|label| bits[usize::from(label / 8)] >> (label % 8) & 1 == 1));
        match self.labels.len() - before == count {
            true => Ok(()),
            false => Err("a node of the index of ids has more or fewer labels than it says"),
        }
    }

    /// Computes the separators before and in each node and label. Children follow their parents.
    fn count(&mut self, separators: u32) -> Result<(), &'static str> {
        // Backwards: `end` becomes the number of separators of the node.
        for i in (0..self.nodes.len()).rev() {
            let node = self.nodes[i];
            let slots = &self.slots[node.slots as usize..][..usize::from(node.count)];
            let below: u32 = slots.iter().map(|slot| self.size(slot)).sum();
            self.nodes[i].end = node.inside + below;
        }
        if self.nodes[0].end != separators {
            return Err("the index of ids has more or fewer separators than there should be");
        }
        // Forwards: add the number before the node. For the root, that is 0.
        for i in 0..self.nodes.len() {
            let Node { slots, count, ref mut before, ref mut inside, ref mut end, .. } = self.nodes[i];
            (*inside, *end) = (*before + *inside, *before + *end);
            let mut next = *inside;
            for slot in slots as usize..slots as usize + usize::from(count) {
                self.slots[slot].before = next;
                let size = self.size(&self.slots[slot]);
                if self.slots[slot].child != LEAF {
                    self.nodes[self.slots[slot].child as usize].before = next;
                }
                next += size;
            }
            self.slots[slots as usize + usize::from(count)].before = next;
        }
        Ok(())
    }

    /// The number of separators of a label, while `end` holds that of its node.
    fn size(&self, slot: &Slot) -> u32 {
        match slot.child {
            LEAF => 1,
            child => self.nodes[child as usize].end,
        }
    }
}
