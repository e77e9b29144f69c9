//! The builder of a dictionary, from ascending terms.

use super::block::BlockBuilder;
use super::seek::key;
use super::{Dictionary, Index, KEY_LEN, MAX_PREFIX};
use crate::binary::MAX_VALUE;
use crate::cursor::Put;
use crate::numeric::{self, NumericOptions, Role};
use crate::strings::shared_len;

/// An error of [`DictionaryBuilder::push`]: a term that a dictionary cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A term is not greater than the one before it.
    #[error("term {ord} is not greater than the term before it")]
    NotAscending {
        /// The ord that the term would have.
        ord: u32,
    },
    /// A term is longer than [`MAX_VALUE`].
    #[error("term {ord}: expected at most {MAX_VALUE} bytes, found {len}")]
    TooLong {
        /// The ord that the term would have.
        ord: u32,
        /// Its length in bytes.
        len: usize,
    },
    /// There are more than 2^32 − 1 terms.
    #[error("expected at most {} terms", u32::MAX)]
    TooMany,
}

/// Builds a dictionary from distinct terms in ascending byte order.
///
/// Holds the encoded blocks, and two terms. Adding a term is O(its length), whatever the lengths of the others.
#[derive(Clone, Debug, Default)]
pub struct DictionaryBuilder {
    count: u32,
    max_len: u32,
    total_len: u64,
    /// The term before.
    last: Vec<u8>,
    block: BlockBuilder,
    blocks: Vec<u8>,
    /// The start of each block.
    offsets: Vec<i64>,
    /// Bytes of blocks that [`take_blocks`](Self::take_blocks) returned, which precede `blocks`.
    taken: usize,
    /// The first term of each block, truncated to the bytes that a key may depend on, end to end.
    heads: Vec<u8>,
    /// The end of each of them in `heads`.
    head_ends: Vec<usize>,
}

impl DictionaryBuilder {
    /// Creates a builder without terms.
    pub fn new() -> DictionaryBuilder {
        DictionaryBuilder::default()
    }

    /// Adds the next term. Only the first may be empty.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if the term is not greater than the one before, too long, or one too many. The builder is then
    /// unchanged.
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

    /// The number of terms added.
    pub fn len(&self) -> u32 {
        self.count
    }

    /// Whether no term was added.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The term that was added last.
    pub fn last(&self) -> Option<&[u8]> {
        (self.count > 0).then_some(&self.last)
    }

    /// Removes the bytes of the complete blocks, and returns them. The section is all bytes returned, in order, followed
    /// by those of the finished dictionary.
    pub fn take_blocks(&mut self) -> Vec<u8> {
        self.taken += self.blocks.len();
        std::mem::take(&mut self.blocks)
    }

    /// Bytes of complete blocks that [`take_blocks`](Self::take_blocks) has not returned.
    pub fn blocks_len(&self) -> usize {
        self.blocks.len()
    }

    /// Returns the dictionary. `jump_tables` says whether the offsets get a jump table.
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

/// The prefix that keys leave out, for at least two blocks: the common prefix of all heads, or of all but some at
/// either end, whichever yields the most distinct keys.
///
/// Outliers are left out because a single one spoils the prefix: with an empty term among URLs, the common prefix is
/// empty, and every key is `https://`.
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

/// An index of a `Vec`, which always fits: a `Vec` has less than 2<sup>63</sup> bytes.
fn as_offset(at: usize) -> i64 {
    i64::try_from(at).unwrap_or(i64::MAX)
}

/// Encodes a dictionary of `terms`, which must be distinct and in ascending byte order. `jump_tables` says whether the
/// offsets of the blocks get a jump table.
///
/// # Errors
///
/// [`BuildError`] with the first term that is not greater than the one before, or is too long.
pub fn encode<'a>(
    terms: impl IntoIterator<Item = &'a [u8]>,
    jump_tables: bool,
) -> Result<Dictionary<Vec<u8>>, BuildError> {
    let mut builder = DictionaryBuilder::new();
    terms.into_iter().try_for_each(|term| builder.push(term))?;
    Ok(builder.finish(jump_tables))
}
