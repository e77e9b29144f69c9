//! Finds the rank of a key.

use std::ops::ControlFlow::{self, Break, Continue};

use docvalues_format::error::Result;
use docvalues_format::source::SectionBytes;

use super::{Head, Next, Node, NodeFormat, step};

/// A search in progress.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Walk<'k> {
    /// The next node.
    pub(crate) at: usize,
    /// The rest of the key at that node.
    pub(crate) rest: &'k [u8],
    /// The number of keys before those of the node.
    pub(crate) rank: u32,
}

impl Walk<'_> {
    /// Processes the current node, which begins with `head`. Moves on to the next one, or breaks with the result.
    #[inline(always)]
    pub(crate) fn step<F: NodeFormat>(
        &mut self,
        section: &impl SectionBytes,
        head: &Head,
    ) -> Result<ControlFlow<Option<u32>>> {
        let Node { key_first, labels, then } = F::read(section, self.at, head)?;
        if key_first {
            if self.rest.is_empty() {
                return Ok(Break(Some(self.rank)));
            }
            self.rank = self.rank.wrapping_add(1);
        }
        if labels.len != 0 {
            let Some((begin, tail)) = self.rest.split_at_checked(labels.len) else {
                return Ok(Break(None));
            };
            if labels.get(section)? != begin {
                return Ok(Break(None));
            }
            self.rest = tail;
        }
        let back = match then {
            Next::End => return Ok(Break(self.rest.is_empty().then_some(self.rank))),
            Next::Back(back) => back,
            Next::Arcs(is_key, arcs) => {
                let Some((&label, tail)) = self.rest.split_first() else {
                    return Ok(Break(is_key.then_some(self.rank)));
                };
                let Some(entry) = arcs.find(section, label)? else { return Ok(Break(None)) };
                self.rank = self.rank.wrapping_add(u32::from(is_key)).wrapping_add(entry.before);
                self.rest = tail;
                if let Some(peek) = entry.peek {
                    match self.rest.split_first() {
                        Some((&byte, tail)) if byte == peek => self.rest = tail,
                        _ => return Ok(Break(None)),
                    }
                }
                entry.back
            }
        };
        match step(section, self.at, back)? {
            Some(to) => self.at = to,
            None => return Ok(Break(self.rest.is_empty().then_some(self.rank))),
        }
        Ok(Continue(()))
    }
}

/// The rank of `key` among the keys of the node at `root`. O(bytes of the key): every step consumes at least one,
/// or ends.
#[inline(always)]
pub(crate) fn find<F: NodeFormat>(
    section: &impl SectionBytes,
    root: usize,
    key: &[u8],
) -> Result<Option<u32>> {
    let mut way = Walk { at: root, rest: key, rank: 0 };
    loop {
        if let Break(rank) = way.step::<F>(section, section.array(way.at)?)? {
            return Ok(rank);
        }
    }
}

/// The number of the `len` keys that are less than `key`.
pub(crate) fn lower_bound<F: NodeFormat>(
    section: &impl SectionBytes,
    root: usize,
    len: u32,
    key: &[u8],
) -> Result<u32> {
    // `end` is the rank of the first key after those of the current node.
    let (mut at, mut rest, mut rank, mut end) = (root, key, 0u32, len);
    loop {
        let Node { key_first, labels, then } = F::node(section, at)?;
        if key_first {
            if rest.is_empty() {
                return Ok(rank);
            }
            rank = rank.saturating_add(1);
        }
        let bytes = labels.get(section)?;
        let begin = &rest[..rest.len().min(bytes.len())];
        if begin != bytes {
            // This includes a key that ends inside the labels: it is less.
            return Ok(if begin < bytes { rank } else { end });
        }
        rest = &rest[bytes.len()..];
        let back = match then {
            Next::End => return Ok(if rest.is_empty() { rank } else { end }),
            Next::Back(back) => back,
            Next::Arcs(is_key, arcs) => {
                let Some((&label, tail)) = rest.split_first() else { return Ok(rank) };
                rank = rank.saturating_add(is_key.into());
                let (count, _) = arcs.shape(section)?;
                let arc = arcs.below(section, label)?;
                if arc == count {
                    return Ok(end);
                }
                let base = rank;
                let entry = arcs.entry(section, arc)?;
                rank = base.saturating_add(entry.before);
                if arcs.label(section, arc)? != label {
                    return Ok(rank);
                }
                if arc + 1 < count {
                    end = base.saturating_add(arcs.entry(section, arc + 1)?.before);
                }
                rest = tail;
                if let Some(peek) = entry.peek {
                    match rest.split_first() {
                        Some((&byte, tail)) if byte == peek => rest = tail,
                        Some((&byte, _)) if byte > peek => return Ok(end),
                        _ => return Ok(rank),
                    }
                }
                entry.back
            }
        };
        match step(section, at, back)? {
            Some(to) => at = to,
            None => return Ok(if rest.is_empty() { rank } else { end }),
        }
    }
}
