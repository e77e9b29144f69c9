//! Builds nodes from ascending keys in one pass.
//!
//! The nodes on the path to the last key may still get arcs and are *open*; all others are written. A new key
//! closes the open nodes below its common prefix with the last key, bottom up: after Daciuk, Mihov, Watson and
//! Watson, *Incremental construction of minimal acyclic finite-state automata* (2000). Unlike there, only nodes
//! that branch, or at which a key ends and others continue, are ever open; the bytes in between are those of the
//! last key. So a key costs its bytes once, to compare and copy them, and a step for each node that it closes.

use docvalues_format::binary::MAX_VALUE;
use docvalues_format::cursor::Put;
use docvalues_format::dictionary::BuildError;
use docvalues_format::strings::shared_len;

use super::arcs::{Arc, END};
use crate::output::Output;

/// Encodes the nodes of a form.
pub trait NodeWriter {
    /// The encoded bytes.
    fn out(&mut self) -> &mut Output;

    /// Writes, or finds, the node of the single key `tail`, which is not empty.
    fn leaf(&mut self, tail: &[u8]) -> u64;

    /// Writes, or finds, the node after `labels` that has `arcs`, at least one. `is_key`: a key ends at the node.
    fn branch(&mut self, labels: &[u8], is_key: bool, arcs: &[Arc]) -> u64;
}

/// A node that may get more arcs.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// Bytes of the last key that lead to it.
    depth: usize,
    is_key: bool,
    /// The index of its first arc among those of all open nodes.
    arcs: usize,
}

/// Builds the nodes of ascending keys, and passes them to a writer.
#[derive(Debug, Default)]
pub struct Builder<W> {
    pub(crate) write: W,
    count: u32,
    last: Vec<u8>,
    /// Each deeper than the one before.
    open: Vec<Open>,
    arcs: Vec<Arc>,
}

impl<W: NodeWriter> Builder<W> {
    pub(crate) fn of(write: W) -> Builder<W> {
        Builder { write, count: 0, last: Vec::new(), open: Vec::new(), arcs: Vec::new() }
    }

    /// Appends a key.
    ///
    /// # Errors
    ///
    /// When it is not greater than the one before, too long, or one too many. The keys before are kept.
    pub fn push(&mut self, key: &[u8]) -> Result<(), BuildError> {
        let ord = self.count;
        if !u32::try_from(key.len()).is_ok_and(|len| len <= MAX_VALUE) {
            return Err(BuildError::TooLong { ord, len: key.len() });
        }
        let count = ord.checked_add(1).ok_or(BuildError::TooMany)?;
        let shared = shared_len(&self.last, key);
        if ord > 0 {
            if key.get(shared) <= self.last.get(shared) {
                return Err(BuildError::NotAscending { ord });
            }
            self.close(shared);
        }
        self.last.truncate(shared);
        self.last.extend_from_slice(&key[shared..]);
        self.count = count;
        Ok(())
    }

    /// Writes all nodes below the first `shared` bytes of the last key, and leaves a node open there.
    fn close(&mut self, shared: usize) {
        let mut from = self.above(shared);
        let mut arc = match self.last.len() == shared {
            true => None,
            false => Some(self.leaf(from)),
        };
        loop {
            if self.open.last().is_none_or(|open| open.depth < from) {
                self.open.push(Open { depth: from, is_key: arc.is_none(), arcs: self.arcs.len() });
            }
            self.arcs.extend(arc);
            if from == shared {
                return;
            }
            let Some(open) = self.open.pop() else { return };
            from = self.above(shared);
            arc = Some(self.freeze(open, from));
        }
    }

    /// The depth of the node above the deepest open one's arc: the deepest open node, or `shared`.
    fn above(&self, shared: usize) -> usize {
        self.open.last().map_or(shared, |open| open.depth.max(shared))
    }

    /// The arc from the depth `from` to the end of the last key.
    fn leaf(&mut self, from: usize) -> Arc {
        let (label, tail) = split(&self.last[from..]);
        let (peek, tail) = tail.split_first().map_or((None, tail), |(&peek, tail)| (Some(peek), tail));
        let to = if tail.is_empty() { END } else { self.write.leaf(tail) };
        Arc { label, peek, keys: 1, to }
    }

    /// The arc from depth `from` to a node that was open.
    fn freeze(&mut self, open: Open, from: usize) -> Arc {
        let (label, labels) = split(&self.last[from..open.depth]);
        let to = self.write.branch(labels, open.is_key, &self.arcs[open.arcs..]);
        Arc { label, peek: None, keys: self.keys(open), to }
    }

    /// The number of keys of an open node; below 2^32, as that of all keys.
    fn keys(&mut self, open: Open) -> u32 {
        self.arcs.drain(open.arcs..).fold(open.is_key.into(), |keys: u32, arc| keys.wrapping_add(arc.keys))
    }

    /// Writes the remaining nodes. Returns the section, without its flushed bytes.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        if self.count == 0 {
            return Vec::new();
        }
        let root = match self.open.last().copied() {
            None => self.write.leaf(&self.last),
            Some(deepest) => {
                let mut arc = self.leaf(deepest.depth);
                loop {
                    self.arcs.push(arc);
                    let open = self.open.pop().unwrap_or(deepest);
                    match self.open.last().copied() {
                        Some(above) => arc = self.freeze(open, above.depth),
                        None => {
                            let labels = &self.last[..open.depth];
                            break self.write.branch(labels, open.is_key, &self.arcs[open.arcs..]);
                        }
                    }
                }
            }
        };
        let encoded = self.write.out();
        let (len, mut out) = (encoded.end() - root, std::mem::take(&mut encoded.bytes));
        out.put_u32(u32::try_from(len).unwrap_or(u32::MAX));
        out
    }
}

/// The first of `bytes`, which are not empty, and the others.
fn split(bytes: &[u8]) -> (u8, &[u8]) {
    bytes.split_first().map_or((0, &[]), |(&first, rest)| (first, rest))
}
