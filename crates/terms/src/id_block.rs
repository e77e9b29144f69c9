//! A block of up to 48 ascending keys. A look-up compares their heads, and little else.
//!
//! # Layout
//!
//! | offset | bytes | field | meaning |
//! | ---: | ---: | --- | --- |
//! | 0 | 1 | `n` | keys: 1 to 48 |
//! | 1 | 1 | `shape` | 0: lengths of one byte · 1: of two · 2: one length for all · 3: and constant columns |
//! | 2 | 1 | `prefix_len` | bytes of the common prefix of all keys |
//! | … | 2 | `len` | u16: bytes of each key after the prefix; if `shape` is 2 or 3 |
//! | … | ⌈`len` / 8⌉ | `columns` | bit *i*: byte *i* after the prefix is the same in all keys; if `shape` is 3, where `len` is at most 255 |
//! | … | … | `prefix` | |
//! | … | … | `constants` | a byte for each set bit of `columns` |
//! | … | `n` × 1, 2, 4 | `heads` | the first bytes of each key's *tail* |
//! | … | `n` × 1, 2 | `lengths` | bytes of each tail; if `shape` is 0 or 1 |
//! | … | … | `rests` | the tails without their first four bytes, end to end |
//!
//! The *tail* of a key is the part after the prefix, without the constant columns. A *head* is the first four bytes
//! of a tail as a number: big-endian in value and padded with zeros, but stored little-endian. If all tails have
//! one or two bytes (`shape` 2 and 3), heads are as long; if tails are empty, heads have one byte.
//!
//! Heads ascend as the keys do, but may tie: for `a` and `a\0`, and for tails that begin alike. Keys whose head
//! equals that of the wanted key are compared in full.
//!
//! # Drawing
//!
//! Four keys of one length, `shape` 3: byte 1 after the prefix is `0` in all of them, and is stored once.
//!
//! ```text
//! keys        item-1041  item-1042  item-1050  item-2041
//!
//! 04 03 05    n, shape, prefix_len
//! 04 00       len: four bytes after the prefix
//! 02          columns: bit 1 is set
//! item-       prefix
//! 0           constants
//! 00 '1' '4' '1'    00 '2' '4' '1'    00 '0' '5' '1'    00 '1' '4' '2'     heads of 141, 142, 150, 241
//! ```
//!
//! Three keys of two lengths, `shape` 0:
//!
//! ```text
//! keys        ant  antelope  bee
//!
//! 03 00 00    n, shape, prefix_len
//! 00 't' 'n' 'a'    'e' 't' 'n' 'a'    00 'e' 'e' 'b'     heads of ant, ante, bee
//! 03 08 03    lengths
//! lope        rests: only antelope is longer than its head
//! ```
//!
//! Heads lie side by side, so a comparison of all 48 takes three AVX-512 loads, where a binary search would take six
//! unpredictable branches.

use std::ops::Range;

use crate::search;

pub(crate) use encode::encode;

mod encode;
mod head_search;
#[cfg(test)]
pub(crate) mod tests;

/// The most keys of a block.
pub(crate) const MAX_KEYS: usize = head_search::MAX;

/// Bytes after a block that are read and ignored, so that heads can be compared in whole groups.
pub(crate) const OVERREAD: usize = (head_search::LANES - 1) * HEAD;

/// The most bytes of a prefix.
const MAX_PREFIX: usize = u8::MAX as usize;

/// The longest keys, after the prefix, whose constant columns are removed.
const MAX_COLUMNS: usize = u8::MAX as usize;

/// The most bytes of a head.
const HEAD: usize = size_of::<u32>();

const LENGTHS_1: u8 = 0;
const LENGTHS_2: u8 = 1;
const ONE_LENGTH: u8 = 2;
const COLUMNS: u8 = 3;

/// The bytes of a head for tails of `len` bytes each.
const fn head_width(len: usize) -> usize {
    match len {
        0 | 1 => 1,
        2 => 2,
        _ => HEAD,
    }
}

/// The first `width` bytes of a tail as a number.
#[inline]
fn head(tail: &[u8], width: usize) -> u32 {
    if let (Some(head), HEAD) = (tail.first_chunk(), width) {
        return u32::from_be_bytes(*head);
    }
    (0..width).fold(0, |head, i| head << 8 | u32::from(tail.get(i).copied().unwrap_or(0)))
}

/// The parsed fields of a block.
pub(crate) struct Block<'a> {
    n: usize,
    prefix: &'a [u8],
    /// Eight bytes from the beginning of the prefix on.
    prefix_word: u64,
    /// A bit for each constant column; empty without any.
    columns: &'a [u8],
    constants: &'a [u8],
    tails: Tails<'a>,
    /// The heads, and all that follows them.
    heads: &'a [u8],
    /// All that follows the lengths.
    rests: &'a [u8],
    /// The offset of `rests` in the block.
    rests_at: usize,
}

/// The lengths of the tails.
enum Tails<'a> {
    /// The bytes of each key after the prefix, and of its tail.
    Same { len: usize, tail: usize },
    /// Lengths of one byte each.
    One(&'a [u8]),
    /// Lengths of two bytes each.
    Two(&'a [u8]),
}

impl<'a> Block<'a> {
    /// Parses the block at the beginning of `bytes`, which must have [`OVERREAD`] bytes after it and may have more.
    /// `None` if the fields exceed `bytes` or are invalid.
    #[inline]
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Block<'a>> {
        let (&[n, shape, prefix_len], mut rest) = bytes.split_first_chunk()?;
        let mut take = |len: usize| rest.split_off(..len);
        let n = usize::from(n);
        if n == 0 || n > MAX_KEYS {
            return None;
        }
        let len = match shape {
            ONE_LENGTH | COLUMNS => usize::from(u16::from_le_bytes(*take(2)?.first_chunk()?)),
            LENGTHS_1 | LENGTHS_2 => 0,
            _ => return None,
        };
        let columns = if shape == COLUMNS { take(len.div_ceil(8))? } else { &[] };
        let prefix_word = u64::from_le_bytes(*rest.first_chunk()?);
        let mut take = |len: usize| rest.split_off(..len);
        let prefix = take(prefix_len.into())?;
        // Bits after the last column count, too: then there are more than columns, and the length check below
        // fails.
        let constant = columns.iter().map(|bits| bits.count_ones() as usize).sum();
        let constants = take(constant)?;
        let tail = len.checked_sub(constant)?;
        let width = if shape >= ONE_LENGTH { head_width(tail) } else { HEAD };
        let heads = rest;
        rest.split_off(..n * width)?;
        let mut take = |len: usize| rest.split_off(..len);
        let tails = match shape {
            LENGTHS_1 => Tails::One(take(n)?),
            LENGTHS_2 => Tails::Two(take(2 * n)?),
            _ => Tails::Same { len, tail },
        };
        let rests_at = bytes.len() - rest.len();
        Some(Block { n, prefix, prefix_word, columns, constants, tails, heads, rests: rest, rests_at })
    }

    /// The number of keys: at least one.
    pub(crate) fn len(&self) -> usize {
        self.n
    }

    /// Bytes of the whole block.
    pub(crate) fn end(&self) -> usize {
        self.rests_at + self.rest_range(self.n).start
    }

    /// The index of `key`, if the block has it. O(length of the key); for equal heads of varied lengths, also O(n).
    #[inline]
    pub(crate) fn find(&self, key: &[u8]) -> Option<usize> {
        let tail = self.strip_prefix(key)?;
        match self.tails {
            Tails::Same { len, .. } if tail.len() != len => None,
            Tails::Same { .. } if self.columns.is_empty() => self.find_same(tail),
            Tails::Same { .. } => {
                let mut buffer = [0; MAX_COLUMNS];
                self.find_same(self.without_constants(tail, &mut buffer)?)
            }
            Tails::One(_) | Tails::Two(_) => self.find_varied(tail),
        }
    }

    /// The key after the prefix, if it begins with that.
    #[inline]
    fn strip_prefix<'k>(&self, key: &'k [u8]) -> Option<&'k [u8]> {
        let (Some(word), 0..8) = (key.first_chunk(), self.prefix.len()) else {
            return key.strip_prefix(self.prefix);
        };
        // A short prefix, the usual case, is compared in a register.
        let differ = (u64::from_le_bytes(*word) ^ self.prefix_word) & !(u64::MAX << (8 * self.prefix.len()));
        key.get(self.prefix.len()..).filter(|_| differ == 0)
    }

    /// The index of a tail among tails of one length.
    #[inline]
    fn find_same(&self, tail: &[u8]) -> Option<usize> {
        let width = head_width(tail.len());
        let places = self.places(head(tail, width), width)?;
        let rest = tail.get(HEAD..).unwrap_or(&[]);
        let mut rests = self.rests.get(places.start * rest.len()..)?;
        for place in places {
            if rests.split_off(..rest.len())? == rest {
                return Some(place);
            }
        }
        None
    }

    /// The index of a tail among tails of several lengths.
    fn find_varied(&self, tail: &[u8]) -> Option<usize> {
        let mut places = self.places(head(tail, HEAD), HEAD)?;
        let rest = tail.get(HEAD..).unwrap_or(&[]);
        places.find(|&place| {
            self.tail_len(place) == tail.len() && self.rests.get(self.rest_range(place)) == Some(rest)
        })
    }

    /// The range of keys whose head is `head`.
    #[inline]
    fn places(&self, head: u32, width: usize) -> Option<Range<usize>> {
        if width == HEAD {
            return head_search::places(self.heads, self.n, head);
        }
        let heads = self.heads.get(..self.n * width)?.chunks_exact(width);
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte));
        let less = heads.clone().filter(|bytes| number(bytes) < head).count();
        let equal = heads.filter(|bytes| number(bytes) == head).count();
        Some(less..less + equal)
    }

    /// The tail of a key after the prefix, if it has the constants.
    #[inline]
    fn without_constants<'r>(&self, key_tail: &[u8], buffer: &'r mut [u8; MAX_COLUMNS]) -> Option<&'r [u8]> {
        let (mut tail, mut constants) = (0, self.constants.iter());
        for (at, &byte) in key_tail.iter().enumerate() {
            if self.is_constant(at) {
                if *constants.next()? != byte {
                    return None;
                }
            } else {
                *buffer.get_mut(tail)? = byte;
                tail += 1;
            }
        }
        buffer.get(..tail)
    }

    fn is_constant(&self, column: usize) -> bool {
        self.columns.get(column / 8).is_some_and(|bits| bits >> (column % 8) & 1 == 1)
    }

    /// Bytes of the tail of key `place`.
    fn tail_len(&self, place: usize) -> usize {
        match &self.tails {
            Tails::Same { tail, .. } => *tail,
            Tails::One(lengths) => lengths.get(place).map_or(0, |&len| len.into()),
            Tails::Two(lengths) => {
                lengths.as_chunks::<2>().0.get(place).map_or(0, |&len| u16::from_le_bytes(len).into())
            }
        }
    }

    /// The range in `rests` of key `place`; for `n`, the empty range at the end. O(n).
    fn rest_range(&self, place: usize) -> Range<usize> {
        let rest = |place| self.tail_len(place).saturating_sub(HEAD);
        let start = match self.tails {
            Tails::Same { .. } => rest(0) * place,
            Tails::One(_) | Tails::Two(_) => (0..place).map(rest).sum(),
        };
        start..start + rest(place)
    }

    /// Sets `key` to the key at index `place`; `None` if there is none, or its bytes are missing. O(length + n).
    pub(crate) fn key(&self, place: usize, key: &mut Vec<u8>) -> Option<()> {
        key.clear();
        if place >= self.n {
            return None;
        }
        key.extend_from_slice(self.prefix);
        let tail = self.tail_len(place);
        let width = match self.tails {
            Tails::Same { .. } => head_width(tail),
            Tails::One(_) | Tails::Two(_) => HEAD,
        };
        let mut head = [0; HEAD];
        for (to, &from) in
            head.iter_mut().zip(self.heads.get(place * width..(place + 1) * width)?.iter().rev())
        {
            *to = from;
        }
        let head = &head[..tail.min(width)];
        let rest = self.rests.get(self.rest_range(place))?;
        if self.columns.is_empty() {
            key.extend_from_slice(head);
            key.extend_from_slice(rest);
            return Some(());
        }
        let Tails::Same { len, .. } = self.tails else { return None };
        let (mut own, mut constants) = (head.iter().chain(rest), self.constants.iter());
        for column in 0..len {
            key.push(*if self.is_constant(column) { constants.next()? } else { own.next()? });
        }
        Some(())
    }

    /// The number of keys less than `key`; `buffer` is a buffer for the keys it is compared with. O(log n × length).
    pub(crate) fn lower_bound(&self, key: &[u8], buffer: &mut Vec<u8>) -> Option<usize> {
        search(0..self.n, |place| self.key(place, buffer).map(|()| &buffer[..] < key).ok_or(())).ok()
    }
}
