//! Iterates over keys in rank order.

use std::ops::{ControlFlow, Range};

use docvalues_format::error::Result;
use docvalues_format::source::SectionBytes;

use super::arcs::Arcs;
use super::{Next, Node, NodeFormat, broken, step};

/// A node on the path to the current key that has arcs left.
struct Open {
    /// The position of the node.
    at: usize,
    /// Its arcs; `None` if a key ended before the node's labels, and all of the node is left.
    arcs: Option<Arcs>,
    /// The number of arcs, and the next one.
    count: usize,
    next: usize,
    /// Bytes of the key before the arc's label.
    depth: usize,
}

/// Walks keys in order.
///
/// The sums before arcs lead to the first key; from there, the walk takes one arc after another. So a wrong sum
/// yields a wrong key, but never a longer walk: every descent ends at a key, or in an error.
struct Keys<'a, F, B> {
    section: &'a B,
    open: Vec<Open>,
    key: Vec<u8>,
    form: std::marker::PhantomData<F>,
}

/// The key to find under a node.
enum Go {
    /// The key of this rank.
    To(u32),
    /// The first key.
    First,
    /// The first key after the one that ends before the node's labels.
    Behind,
}

/// Calls `each` with the keys of `ranks`, which must exist.
///
/// O(1) a key on average, plus the bytes that it does not share with the one before. For hostile bytes, O(section)
/// a key.
#[allow(clippy::type_complexity, reason = "a closure, said in full")]
pub(crate) fn each<F: NodeFormat>(
    section: &impl SectionBytes,
    root: usize,
    ranks: Range<u32>,
    each: &mut dyn FnMut(u32, &[u8]) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut keys =
        Keys::<F, _> { section, open: Vec::new(), key: Vec::new(), form: std::marker::PhantomData };
    for rank in ranks.clone() {
        if rank == ranks.start {
            keys.down(Some(root), Go::To(rank))?;
        } else {
            keys.next()?;
        }
        if each(rank, &keys.key)?.is_break() {
            break;
        }
    }
    Ok(())
}

impl<F: NodeFormat, B: SectionBytes> Keys<'_, F, B> {
    /// Moves to the next key.
    fn next(&mut self) -> Result<()> {
        loop {
            let Some(open) = self.open.last_mut() else {
                return Err(broken(self.section.place(), 0, "fewer keys than there should be"));
            };
            self.key.truncate(open.depth);
            let arc = open.next;
            open.next += 1;
            let (at, arcs, count) = (open.at, open.arcs, open.count);
            let Some(arcs) = arcs else {
                self.open.pop();
                return self.down(Some(at), Go::Behind);
            };
            if arc + 1 >= count {
                self.open.pop();
            }
            if arc < count {
                let to = self.along(at, arcs, arc)?;
                return self.down(to, Go::First);
            }
        }
    }

    /// Descends from the node `at`; without one, a key ends here.
    fn down(&mut self, mut at: Option<usize>, mut go: Go) -> Result<()> {
        while let Some(node) = at {
            let Node { key_first, labels, then } = F::node(self.section, node)?;
            if key_first {
                match go {
                    Go::To(0) | Go::First => {
                        let depth = self.key.len();
                        self.open.push(Open { at: node, arcs: None, count: 0, next: 0, depth });
                        return Ok(());
                    }
                    Go::To(rank) => go = Go::To(rank - 1),
                    Go::Behind => go = Go::First,
                }
            }
            // Nodes on a path do not overlap, so a key is shorter than the section. Hostile nodes might.
            if labels.len > self.section.len().saturating_sub(self.key.len()) {
                return Err(broken(self.section.place(), node, "a key of more bytes than there are"));
            }
            self.key.extend_from_slice(labels.get(self.section)?);
            at = match then {
                Next::End => None,
                Next::Back(back) => step(self.section, node, back)?,
                Next::Arcs(is_key, arcs) => match self.arc(node, is_key, arcs, &mut go)? {
                    ControlFlow::Continue(to) => to,
                    ControlFlow::Break(()) => return Ok(()),
                },
            };
        }
        match go {
            Go::To(0) | Go::First => Ok(()),
            _ => Err(broken(self.section.place(), 0, "fewer keys than the sums before arcs say")),
        }
    }

    /// Takes the arc that leads to `go`, and remembers the others. Breaks if the key ends at the node.
    fn arc(
        &mut self,
        at: usize,
        is_key: bool,
        arcs: Arcs,
        go: &mut Go,
    ) -> Result<ControlFlow<(), Option<usize>>> {
        let (count, _) = arcs.shape(self.section)?;
        let depth = self.key.len();
        let arc = match *go {
            Go::To(0) | Go::First if is_key => {
                self.open.push(Open { at, arcs: Some(arcs), count, next: 0, depth });
                return Ok(ControlFlow::Break(()));
            }
            Go::To(rank) => {
                let rank = rank - u32::from(is_key);
                let arc = arcs.of_rank(self.section, rank)?;
                let before = arcs.entry(self.section, arc)?.before;
                *go = Go::To(rank.saturating_sub(before));
                arc
            }
            Go::First | Go::Behind => 0,
        };
        if arc + 1 < count {
            self.open.push(Open { at, arcs: Some(arcs), count, next: arc + 1, depth });
        }
        self.along(at, arcs, arc).map(ControlFlow::Continue)
    }

    /// Follows an arc of the node at `at`.
    fn along(&mut self, at: usize, arcs: Arcs, arc: usize) -> Result<Option<usize>> {
        let entry = arcs.entry(self.section, arc)?;
        self.key.push(arcs.label(self.section, arc)?);
        self.key.extend(entry.peek);
        step(self.section, at, entry.back)
    }
}
