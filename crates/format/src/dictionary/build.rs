//! From ascending terms to a dictionary.

use super::block::{BlockBuilder, shared_len};
use super::seek::key;
use super::{Dictionary, Index, KEY_LEN, MAX_PREFIX};
use crate::binary::MAX_VALUE;
use crate::cursor::Put;
use crate::numeric::{self, NumericOptions, Role};

/// Why a dictionary cannot be made of these terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A term is not above the one before it.
    #[error("term {ord} is not greater than the term before it")]
    NotAscending {
        /// The ord it would have.
        ord: u32,
    },
    /// A term is longer than [`MAX_VALUE`].
    #[error("term {ord} has {len} bytes, {MAX_VALUE} are the most")]
    TooLong {
        /// The ord it would have.
        ord: u32,
        /// Its bytes.
        len: usize,
    },
    /// There are more than 2^32 − 1 terms.
    #[error("there are more than {} terms", u32::MAX)]
    TooMany,
}

/// Makes a dictionary of terms that come in ascending byte order, each once.
///
/// Holds the encoded blocks, and two terms. Pushing a term costs O(its length), whatever the
/// others' lengths.
#[derive(Clone, Debug, Default)]
pub struct DictionaryBuilder {
    count: u32,
    max_len: u32,
    total_len: u64,
    /// The term before.
    last: Vec<u8>,
    block: BlockBuilder,
    blocks: Vec<u8>,
    /// Where each block begins.
    offsets: Vec<i64>,
    /// How many bytes of blocks were taken, before those that are here.
    taken: usize,
    /// The first term of each block, as much as a key may depend on, end to end.
    heads: Vec<u8>,
    /// Where each of them ends.
    head_ends: Vec<usize>,
}

impl DictionaryBuilder {
    /// Begins a dictionary without terms.
    pub fn new() -> DictionaryBuilder {
        DictionaryBuilder::default()
    }

    /// Adds the next term. Only the first may be empty.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if it is not above the one before, too long, or one too many. The dictionary then
    /// stays as it was.
    pub fn push(&mut self, term: &[u8]) -> Result<(), BuildError> {
        let (ord, len) = (self.count, term.len());
        if ord > 0 && term <= self.last.as_slice() {
            return Err(BuildError::NotAscending { ord });
        }
        let too_long = BuildError::TooLong { ord, len };
        let short = u32::try_from(len).ok().filter(|&len| len <= MAX_VALUE).ok_or(too_long)?;
        self.count = ord.checked_add(1).ok_or(BuildError::TooMany)?;
        self.max_len = self.max_len.max(short);
        self.total_len += u64::from(short);
        if self.block.is_full() {
            self.finish_block();
        }
        self.block.push(term);
        self.last.clear();
        self.last.extend_from_slice(term);
        Ok(())
    }

    /// How many terms were added.
    pub fn len(&self) -> u32 {
        self.count
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The term that was added last.
    pub fn last(&self) -> Option<&[u8]> {
        (self.count > 0).then_some(&self.last)
    }

    /// Takes the bytes of blocks that are complete. Those that were taken, one after the other, and then those
    /// of the finished dictionary are the section.
    pub fn take_blocks(&mut self) -> Vec<u8> {
        self.taken += self.blocks.len();
        std::mem::take(&mut self.blocks)
    }

    /// Bytes of blocks that are complete and were not taken.
    pub fn blocks_len(&self) -> usize {
        self.blocks.len()
    }

    /// Bytes on the heap, for a writer's budget.
    pub fn heap_bytes(&self) -> usize {
        self.last.capacity()
            + self.blocks.capacity()
            + self.offsets.capacity() * size_of::<i64>()
            + self.heads.capacity()
            + self.head_ends.capacity() * size_of::<usize>()
            + self.block.heap_bytes()
    }

    /// The sections; `jump_tables` says whether the offsets get a jump table.
    pub fn finish(mut self, jump_tables: bool) -> Dictionary<Vec<u8>> {
        if !self.block.is_empty() {
            self.finish_block();
        }
        let DictionaryBuilder {
            count, max_len, total_len, blocks, taken, mut offsets, heads, head_ends, ..
        } = self;
        let index = (head_ends.len() > 1).then(|| {
            let mut start = 0;
            let head = |end| &heads[std::mem::replace(&mut start, end)..end];
            let heads: Vec<&[u8]> = head_ends.into_iter().map(head).collect();
            let prefix = key_prefix(&heads);
            let mut keys = Vec::with_capacity(heads.len() * KEY_LEN);
            heads.iter().for_each(|head| keys.put_u64(key(head, prefix)));
            offsets.push(as_offset(taken + blocks.len()));
            let options =
                NumericOptions { role: Role::TermOffsets, doubles: false, jump_tables, zones: false };
            Index { offsets: numeric::encode(&offsets, &options), keys, prefix: prefix.into() }
        });
        let blocks = (count > 0).then_some(blocks);
        Dictionary { count, max_len, total_len, blocks, index }
    }

    fn finish_block(&mut self) {
        self.offsets.push(as_offset(self.taken + self.blocks.len()));
        let head = self.block.finish(&mut self.blocks);
        let head = &self.blocks[head];
        self.heads.extend_from_slice(&head[..head.len().min(MAX_PREFIX + KEY_LEN)]);
        self.head_ends.push(self.heads.len());
    }
}

/// The prefix behind which keys begin, for at least two blocks: what all heads have in common, or all
/// but some at either end, whichever tells most blocks apart.
///
/// Leaving some out matters because a single one spoils it: with an empty term among URLs, what all
/// have in common is nothing, and every key is `https://`.
fn key_prefix<'a>(heads: &[&'a [u8]]) -> &'a [u8] {
    let last = heads.len() - 1;
    let mut best = (0, &[][..]);
    for left_out in [0, 1, heads.len() / 16, heads.len() / 4] {
        let (Some(first), Some(last)) = (heads.get(left_out), heads.get(last - left_out)) else {
            continue;
        };
        let prefix = &first[..shared_len(first, last).min(MAX_PREFIX)];
        let different = heads.windows(2).filter(|pair| key(pair[0], prefix) != key(pair[1], prefix)).count();
        if different > best.0 {
            best = (different, prefix);
        }
    }
    best.1
}

/// A place in a `Vec`, which is never as long as 2<sup>63</sup> bytes.
fn as_offset(at: usize) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX)
}

/// Makes a dictionary of `terms`, in ascending byte order, each once; `jump_tables` says whether the
/// offsets of the blocks get a jump table.
///
/// # Errors
///
/// [`BuildError`], naming the first term that is not above the one before, or is too long.
pub fn encode<'a>(
    terms: impl IntoIterator<Item = &'a [u8]>,
    jump_tables: bool,
) -> Result<Dictionary<Vec<u8>>, BuildError> {
    let mut builder = DictionaryBuilder::new();
    terms.into_iter().try_for_each(|term| builder.push(term))?;
    Ok(builder.finish(jump_tables))
}
