//! The OnPair encoder: greedy matching of the longest token at each position.

use std::hint::select_unpredictable;

use byteorder::{ByteOrder, LittleEndian};

use super::number_map::NumberMap;
use super::{CODES, FIRST_TOKEN, MAX_TOKEN};

/// A token of 1 to [`MAX_TOKEN`] bytes, as a number: its bytes, the first one highest, followed by zeros. Numbers of
/// strings ascend as the strings do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Token {
    bytes: u128,
    len: u8,
}

impl Token {
    /// The token of at most [`MAX_TOKEN`] `bytes`.
    pub(super) fn new(bytes: &[u8]) -> Token {
        let len = bytes.len().min(MAX_TOKEN);
        let mut padded = [0; MAX_TOKEN];
        padded[..len].copy_from_slice(&bytes[..len]);
        Token { bytes: u128::from_be_bytes(padded), len: u8::try_from(len).unwrap_or(0) }
    }

    pub(super) fn len(self) -> usize {
        self.len.into()
    }

    /// Appends the token's bytes.
    pub(super) fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bytes.to_be_bytes()[..self.len()]);
    }

    fn is_prefix_of(self, other: Token) -> bool {
        self.len <= other.len && shared(self.bytes, other.bytes) >= self.len()
    }
}

/// The number of bytes that two words begin with in common.
#[inline]
fn shared(a: u128, b: u128) -> usize {
    ((a ^ b).leading_zeros() / 8) as usize
}

/// The first three bytes of `word` and their number, as a number.
#[inline]
fn three(word: u128) -> u32 {
    3 << 24 | (word >> 104) as u32
}

/// The first two bytes of `word` and their number, as a number.
#[inline]
fn two(word: u128) -> u32 {
    2 << 24 | (word >> 112) as u32
}

/// Bytes of the longest token that is found by all of its bytes. Those of other tokens are enough to tell most of them
/// apart: of the hundreds that begin with three digits, few begin with the same four.
const SHORT: usize = 3;

/// The number of hash values.
const HASHES: usize = 1 << 12;

/// A hash of the first four bytes of `word`.
#[inline]
fn hash(word: u128) -> usize {
    let mixed = ((word >> 96) as u32).wrapping_mul(0x9E37_79B1);
    (mixed >> (u32::BITS - HASHES.ilog2())) as usize
}

/// A hash of all bytes of `word`.
#[inline]
fn hash_all(word: u128) -> usize {
    let bytes = word.to_le_bytes();
    let (low, high) = (LittleEndian::read_u64(&bytes[..8]), LittleEndian::read_u64(&bytes[8..]));
    let mixed = low.wrapping_mul(0xC2B2_AE3D_27D4_EB4F) ^ high.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    // Fewer bits than a `usize` has.
    usize::try_from(mixed >> (u64::BITS - HASHES.ilog2())).unwrap_or(0)
}

/// The tokens of an encoder.
///
/// The longest token that a text begins with is the last token that is not greater than the text, or one of the tokens
/// that this one begins with. Any string between the two, in order, begins with the token that is sought. Among tokens
/// of four bytes or more, only those with the first four bytes of the text are searched.
///
/// A token of [`MAX_TOKEN`] bytes is found by its hash instead, if no other one has the same: hundreds of these may share
/// their first bytes, such as `https://host0042`, and a search among them takes ten steps.
///
/// # Invariants
///
/// - `short` has the codes of tokens of two and three bytes, by [`two`] and [`three`].
/// - `keys[starts[h]..starts[h + 1]]` are the longer tokens that begin with four bytes of [`hash`] *h*, in ascending
///   order.
/// - `whole[h]` has the index in `keys` and the code of a token of [`MAX_TOKEN`] bytes with the value *h* of [`hash_all`];
///   code 0 if there is none.
/// - `prefixes[i]` has the lengths of those of `keys` that token `keys[i]` begins with, itself included (bit *l* for
///   length *l* + 1); their codes are in `codes`, from `first` on, in order of their lengths.
#[derive(Debug)]
pub(in crate::binary) struct Matcher {
    short: NumberMap<u16>,
    starts: Vec<u16>,
    whole: Vec<(u16, u16)>,
    keys: Vec<u128>,
    prefixes: Vec<Prefixes>,
    codes: Vec<u16>,
}

/// The tokens that a token begins with.
#[derive(Clone, Copy, Debug)]
struct Prefixes {
    lens: u16,
    first: u16,
}

impl Matcher {
    /// A matcher of at most [`MAX_TOKENS`](super::MAX_TOKENS) different tokens of two bytes or more, in the order of
    /// their codes.
    pub(super) fn new(tokens: &[Token]) -> Matcher {
        let code = |token: usize| u16::try_from(FIRST_TOKEN + token).unwrap_or(0);
        let mut short = NumberMap::new(2 * tokens.iter().filter(|token| token.len() <= SHORT).count());
        let mut long: Vec<(usize, Token, u16)> = Vec::with_capacity(tokens.len());
        for (i, &token) in tokens.iter().enumerate() {
            match token.len {
                ..=2 => *short.entry(two(token.bytes)) = code(i),
                3 => *short.entry(three(token.bytes)) = code(i),
                _ => long.push((hash(token.bytes), token, code(i))),
            }
        }
        long.sort_unstable();
        let mut starts = vec![0; HASHES + 1];
        long.iter().for_each(|&(hash, ..)| starts[hash + 1] += 1);
        (1..starts.len()).for_each(|hash| starts[hash] += starts[hash - 1]);
        let mut whole = vec![(0, 0); HASHES];
        for (i, &(_, token, code)) in (0..).zip(&long).filter(|(_, (_, token, _))| token.len() == MAX_TOKEN) {
            whole[hash_all(token.bytes)] = (i, code);
        }
        let keys = long.iter().map(|(_, token, _)| token.bytes).collect();
        let (mut prefixes, mut codes, mut open) = (Vec::with_capacity(long.len()), Vec::new(), Vec::new());
        for &(_, token, code) in &long {
            while open.pop_if(|(before, _): &mut (Token, u16)| !before.is_prefix_of(token)).is_some() {}
            open.push((token, code));
            // A token has at most 13 prefixes, so there are fewer than 2^16 codes.
            let first = u16::try_from(codes.len()).unwrap_or(u16::MAX);
            prefixes.push(Prefixes {
                lens: open.iter().fold(0, |lens, (token, _)| lens | 1 << (token.len - 1)),
                first,
            });
            codes.extend(open.iter().map(|&(_, code)| code));
        }
        Matcher { short, starts, whole, keys, prefixes, codes }
    }

    /// The code of `word`, if it is a token that is found by its hash.
    #[inline(always)]
    fn whole(&self, word: u128) -> Option<u16> {
        let (at, code) = self.whole[hash_all(word)];
        (code != 0 && self.keys[usize::from(at)] == word).then_some(code)
    }

    /// The code of the longest token that the `left` bytes in `word`, at least one, begin with; and its length.
    #[inline(always)]
    fn longest(&self, word: u128, left: usize) -> (u16, usize) {
        let hash = hash(word);
        let (start, end) = (usize::from(self.starts[hash]), usize::from(self.starts[hash + 1]));
        let keys = &self.keys[start..end];
        // A binary search without branches, which would be mispredicted half of the time.
        let (mut at, mut size) = (0, keys.len());
        while size > 1 {
            let half = size / 2;
            at = select_unpredictable(keys[at + half] <= word, at + half, at);
            size -= half;
        }
        if let Some(&key) = keys.get(at).filter(|key| **key <= word) {
            let (at, fits) = (start + at, shared(key, word).min(left));
            let Prefixes { lens, first } = self.prefixes[at];
            let lens = u32::from(lens) & ((1 << fits) - 1);
            if lens != 0 {
                let code = self.codes[usize::from(first) + lens.count_ones() as usize - 1];
                return (code, (u32::BITS - lens.leading_zeros()) as usize);
            }
        }
        if left >= 3
            && let Some(code) = self.short.get(three(word))
        {
            return (code, 3);
        }
        match self.short.get(two(word)) {
            Some(code) if left >= 2 => (code, 2),
            _ => ((word >> 120) as u16, 1),
        }
    }

    /// Calls `each` with the codes of `value`: at each position that of the longest token that matches.
    #[inline]
    pub(in crate::binary) fn codes(&self, value: &[u8], mut each: impl FnMut(u16)) {
        let mut rest = value;
        while let Some(word) = rest.first_chunk() {
            let word = u128::from_be_bytes(*word);
            let (code, len) = match self.whole(word) {
                Some(code) => (code, MAX_TOKEN),
                None => self.longest(word, MAX_TOKEN),
            };
            each(code);
            rest = &rest[len..];
        }
        let (mut word, mut left) = (last(value, rest.len()), rest.len());
        while left > 0 {
            let (code, len) = self.longest(word, left);
            each(code);
            // Fewer than 16 bytes are left, so the shift is less than the word's width.
            word <<= 8 * len;
            left -= len;
        }
    }
}

/// The last `left` bytes of `value`, fewer than 16, as a number: the first one highest, followed by zeros.
#[inline]
fn last(value: &[u8], left: usize) -> u128 {
    match value.last_chunk() {
        // One load, without a copy of bytes whose number varies.
        Some(word) if left > 0 => u128::from_be_bytes(*word) << (8 * (MAX_TOKEN - left)),
        _ => Token::new(&value[value.len() - left..]).bytes,
    }
}

/// Bits of a code.
const CODE: u32 = CODES.ilog2();

/// Bits of the codes that are packed together: four, in 6 bytes.
const PACKED: u32 = 4 * CODE;

/// Packs codes into bytes, four at a time.
#[derive(Debug, Default)]
pub(in crate::binary) struct Packer {
    /// The number of codes.
    pub(in crate::binary) codes: u64,
    /// The codes that are not packed, fewer than four, the first one lowest.
    word: u64,
    /// The bits of these codes.
    bits: u32,
}

impl Packer {
    /// Appends a code.
    #[inline(always)]
    pub(in crate::binary) fn push_code(&mut self, code: u16, packed: &mut Vec<u8>) {
        self.codes += 1;
        self.word |= u64::from(code) << self.bits;
        self.bits += CODE;
        if self.bits == PACKED {
            let [a, b, c, d, e, f, _, _] = self.word.to_le_bytes();
            packed.extend_from_slice(&[a, b, c, d, e, f]);
            (self.word, self.bits) = (0, 0);
        }
    }

    /// Appends the last codes.
    pub(in crate::binary) fn finish(self, packed: &mut Vec<u8>) {
        packed.extend(self.word.to_le_bytes().iter().take(self.bits.div_ceil(8) as usize));
    }
}
