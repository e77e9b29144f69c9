//! Keys in, blocks out, as they come.

use super::Blocks;
use crate::common;
use crate::id_block::{self, MAX_KEYS};
use crate::id_blocks::block_index::Separators;
use crate::id_blocks::starts;

/// The fewest keys of a block, if it is not the last.
const MIN_KEYS: usize = 24;

/// Makes blocks of keys that ascend.
///
/// Holds what it made and nobody [took](Self::take), and the keys of one block.
#[derive(Debug, Default)]
pub struct BlocksBuilder {
    /// What was made of the section and is still here, and how many bytes of it are not.
    ids: Vec<u8>,
    taken: u64,
    /// Of each block that is made.
    offsets: Vec<u64>,
    ranks: Vec<u64>,
    separators: Separators,
    /// Keys that are in no block yet, end to end.
    held: Vec<u8>,
    ends: Vec<usize>,
    /// What each has in common with the one before it; of the first, anything.
    shared: Vec<usize>,
    keys: u64,
}

impl BlocksBuilder {
    /// No keys.
    pub fn new() -> BlocksBuilder {
        BlocksBuilder::default()
    }

    /// Appends `key`, which has at most 65,535 bytes, if it is greater than all before; tells whether it is.
    pub fn push(&mut self, key: &[u8]) -> bool {
        if self.ends.len() > MAX_KEYS {
            self.cut();
        }
        let before = self.ends.len().checked_sub(1).map(|last| self.held(last));
        let shared = before.map_or(0, |before| common(before, key));
        if before.is_some_and(|before| key.get(shared) <= before.get(shared)) {
            return false;
        }
        self.shared.push(shared);
        self.held.extend_from_slice(key);
        self.ends.push(self.held.len());
        self.keys += 1;
        true
    }

    /// Shows to `take` what was made of the section ids and is here; it may take all of it, as the front of the section.
    ///
    /// # Errors
    ///
    /// That of `take`.
    pub fn take<E>(&mut self, take: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let before = self.ids.len();
        take(&mut self.ids)?;
        self.taken += before.saturating_sub(self.ids.len()) as u64;
        Ok(())
    }

    fn held(&self, i: usize) -> &[u8] {
        let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.held[start..self.ends[i]]
    }

    /// Makes a block of some of the keys that are held, which are more than fit one.
    fn cut(&mut self) {
        // Of those that share least, the last: fewer blocks.
        let places = (MIN_KEYS..=MAX_KEYS).rev();
        let at = places.min_by_key(|&at| self.shared[at]).unwrap_or(MAX_KEYS);
        let next = &self.held[self.ends[at - 1]..self.ends[at]];
        // Keys ascend, so what they share is shorter than the greater one.
        let separator = &next[..next.len().min(self.shared[at] + 1)];
        self.separators.push(separator);
        self.block(at);
    }

    /// Makes a block of the first `count` keys that are held.
    fn block(&mut self, count: usize) {
        self.offsets.push(self.end());
        self.ranks.push(self.keys - self.ends.len() as u64);
        let mut keys = [&[][..]; MAX_KEYS];
        let (mut start, keys) = (0, &mut keys[..count]);
        for (key, &end) in keys.iter_mut().zip(&self.ends) {
            *key = &self.held[start..end];
            start = end;
        }
        id_block::encode(keys, &mut self.ids);
        self.held.drain(..start);
        self.ends.drain(..count);
        self.shared.drain(..count);
        self.ends.iter_mut().for_each(|end| *end -= start);
    }

    /// Bytes of the section so far.
    fn end(&self) -> u64 {
        self.taken + self.ids.len() as u64
    }

    /// The blocks, without what was taken of their section; `None` of no keys.
    pub fn finish(mut self) -> Option<Blocks<Vec<u8>>> {
        while self.ends.len() > MAX_KEYS {
            self.cut();
        }
        if !self.ends.is_empty() {
            self.block(self.ends.len());
        }
        let count = u32::try_from(self.offsets.len()).ok().filter(|&count| count > 0)?;
        self.offsets.push(self.end());
        self.ranks.push(self.keys);
        let starts = starts::encode(&self.offsets, &self.ranks);
        Some(Blocks { count, ids: self.ids, starts, index: self.separators.encode() })
    }
}
