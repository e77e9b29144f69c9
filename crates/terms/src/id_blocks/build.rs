//! Splits ascending keys into blocks.

use docvalues_format::strings::shared_len;

use super::Blocks;
use crate::id_block::{self, MAX_KEYS};
use crate::id_blocks::block_index::Separators;
use crate::id_blocks::starts;
use crate::output::Output;

/// The fewest keys of a block other than the last.
const MIN_KEYS: usize = 24;

/// Builds blocks of ascending keys.
///
/// Holds the bytes that are not flushed, and the keys of one block.
///
/// # Examples
///
/// ```
/// use docvalues_format::error::Error;
/// use docvalues_format::source::Owned;
/// use docvalues_terms::Dictionary;
/// use docvalues_terms::id_blocks::{BlocksBuilder, BlocksReader};
///
/// let mut builder = BlocksBuilder::new();
/// for i in 0..1_000 {
///     assert!(builder.push(format!("key-{i:04}").as_bytes()));
/// }
/// assert!(!builder.push(b"key-0007")); // keys ascend
/// let blocks = builder.finish().expect("some keys");
/// let blocks = blocks.try_map::<_, Error>(&mut |section, bytes| Ok(Owned::new(section, bytes)))?;
/// let reader = BlocksReader::open(blocks, 1_000)?;
/// assert_eq!(reader.find(b"key-0500")?, Some(500));
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Default)]
pub struct BlocksBuilder {
    /// The section.
    pub(crate) ids: Output,
    /// One for each finished block.
    offsets: Vec<u64>,
    ranks: Vec<u64>,
    separators: Separators,
    /// The keys that are in no block yet, end to end.
    held: Vec<u8>,
    ends: Vec<usize>,
    /// The common prefix of each key with the one before; undefined for the first.
    shared: Vec<usize>,
    keys: u64,
}

impl BlocksBuilder {
    /// A builder without keys.
    pub fn new() -> BlocksBuilder {
        BlocksBuilder::default()
    }

    /// Appends `key`, of at most 65,535 bytes, and returns true, if it is greater than all before.
    pub fn push(&mut self, key: &[u8]) -> bool {
        if self.ends.len() > MAX_KEYS {
            self.cut();
        }
        let before = self.ends.len().checked_sub(1).map(|last| self.held(last));
        let shared = before.map_or(0, |before| shared_len(before, key));
        if before.is_some_and(|before| key.get(shared) <= before.get(shared)) {
            return false;
        }
        self.shared.push(shared);
        self.held.extend_from_slice(key);
        self.ends.push(self.held.len());
        self.keys += 1;
        true
    }

    fn held(&self, i: usize) -> &[u8] {
        let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.held[start..self.ends[i]]
    }

    /// Makes a block of some of the held keys, which are more than fit one.
    fn cut(&mut self) {
        // The last of the positions with the least shared prefix: fewer blocks.
        let places = (MIN_KEYS..=MAX_KEYS).rev();
        let at = places.min_by_key(|&at| self.shared[at]).unwrap_or(MAX_KEYS);
        let next = &self.held[self.ends[at - 1]..self.ends[at]];
        // Keys ascend, so what they share is shorter than the greater one.
        let separator = &next[..next.len().min(self.shared[at] + 1)];
        self.separators.push(separator);
        self.block(at);
    }

    /// Makes a block of the first `count` held keys.
    fn block(&mut self, count: usize) {
        self.offsets.push(self.ids.end());
        self.ranks.push(self.keys - self.ends.len() as u64);
        let mut keys = [&[][..]; MAX_KEYS];
        let (mut start, keys) = (0, &mut keys[..count]);
        for (key, &end) in keys.iter_mut().zip(&self.ends) {
            *key = &self.held[start..end];
            start = end;
        }
        id_block::encode(keys, &mut self.ids.bytes);
        self.held.drain(..start);
        self.ends.drain(..count);
        self.shared.drain(..count);
        self.ends.iter_mut().for_each(|end| *end -= start);
    }

    /// The blocks, without the flushed bytes of their section; `None` without keys.
    pub fn finish(mut self) -> Option<Blocks<Vec<u8>>> {
        while self.ends.len() > MAX_KEYS {
            self.cut();
        }
        if !self.ends.is_empty() {
            self.block(self.ends.len());
        }
        let count = u32::try_from(self.offsets.len()).ok().filter(|&count| count > 0)?;
        self.offsets.push(self.ids.end());
        self.ranks.push(self.keys);
        let starts = starts::encode(&self.offsets, &self.ranks);
        Some(Blocks { count, ids: self.ids.bytes, starts, index: self.separators.encode() })
    }
}
