//! OnPair compression of byte strings: codes of 12 bits for frequent substrings.
//!
//! A table of up to 3,840 *tokens* of 2 to 16 bytes, trained on the column's values, assigns a code to frequent
//! substrings; every single byte has a code as well. A value is the codes of its tokens. This is OnPair (Gargiulo,
//! Venturini: *OnPair: Short Strings Compression for Fast Random Access*, arXiv:2508.02280) in its variant with tokens
//! of at most 16 bytes.
//!
//! It differs from [FSST](super::fsst) in the size of the table: sixteen times as many substrings, for codes that are
//! half as long again. Long values that share words, such as URLs, paths and sentences, take a third less, and decode
//! faster, because they have fewer codes. Short alphabets, such as hexadecimal digits, take fewer bytes with FSST.
//!
//! # Fields in the directory
//!
//! | offset | bytes | field | meaning |
//! | --- | --- | --- | --- |
//! | 0 | 8 | `total_len` | bytes of all values |
//! | 8 | 20 | `tokens` | reference to the tokens |
//!
//! # Tokens and their codes
//!
//! | offset | bytes | field | meaning |
//! | --- | --- | --- | --- |
//! | 0 | 2 | `count` | u16: tokens: 1 to 3,840, *n* |
//! | 2 | *n* | `lens` | bytes of each token: 2 to 16 |
//! | 2 + *n* | | `tokens` | their bytes, end to end |
//!
//! Codes 0 to 255 stand for a byte, code 256 + *t* for token *t*. Code *i* is the 12 bits of the section from bit
//! 12 *i* on, the lowest bit of a byte first, so that two codes fill three bytes. The offsets of the values count codes,
//! not bytes. The bits after the last code are zero.
//!
//! The writer uses no code of 256 + *n* or more; a reader may treat one as any byte.
//!
//! # Drawing
//!
//! ```text
//! tokens    03 00   08 0d 03   https:// .example.org/ log
//!           n       lens       100      101           102      their codes, in hexadecimal
//!
//! value     https://a.example.org/log         25 bytes
//! codes     100 061 101 102                    6 bytes
//! bytes     00 11 06   01 21 10                two codes each: 100 061, 101 102
//! ```

use std::ops::Range;

use byteorder::{ByteOrder, LittleEndian};

use crate::error::{Error, ErrorKind, Place, Result};

pub(super) use matcher::Packer;
pub(super) use train::{Trained, train};

mod matcher;
mod number_map;
#[cfg(test)]
mod tests;
mod train;

/// The number of codes, of 12 bits each.
pub const CODES: usize = 1 << 12;

/// The first code of a token: those below it are bytes.
const FIRST_TOKEN: usize = 256;

/// The most tokens.
pub const MAX_TOKENS: usize = CODES - FIRST_TOKEN;

/// Bytes of the longest token.
pub const MAX_TOKEN: usize = 16;

/// Codes that are decoded together: they fill 12 bytes.
const GROUP: usize = 8;

/// Bytes of the codes of a group.
const GROUP_BYTES: usize = 12;

/// Bytes after the last code that its group may read.
pub(super) const OVERREAD: u64 = GROUP_BYTES as u64 + 2;

/// A mask of the lengths of tokens, which repeats for the compiler that they are small.
const LEN_MASK: u8 = 31;

/// Bytes that decoding a group may write, for any lengths that [`LEN_MASK`] allows.
const WINDOW: usize = (GROUP - 1) * LEN_MASK as usize + MAX_TOKEN;

/// Codes after which the decoder grows the output again.
const CHUNK: usize = 1024;

/// The number of bytes that `codes` fill, the last one perhaps by half.
pub(super) fn bytes_of(codes: u64) -> u64 {
    codes.saturating_mul(3).div_ceil(2)
}

/// The bytes that hold the codes from `start` to `end`, as offsets in the section.
pub(super) fn place_of(start: u64, end: u64) -> (u64, u64) {
    // An odd code begins in the middle of a byte.
    (bytes_of(start).saturating_sub(start % 2), bytes_of(end))
}

/// Consecutive codes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Codes<'a> {
    packed: &'a [u8],
    /// The first bit of the first code: 0 or 4.
    shift: u32,
    len: usize,
}

impl<'a> Codes<'a> {
    /// The codes from `start` on, `len` of them, of which `packed` are the bytes at [`place_of`], and perhaps more.
    #[inline]
    pub(super) fn new(packed: &'a [u8], start: u64, len: usize) -> Codes<'a> {
        Codes { packed, shift: if start % 2 == 1 { 4 } else { 0 }, len }
    }

    /// The codes from `start` to `end` of a section, if it has them.
    #[inline]
    pub(super) fn within(section: &'a [u8], start: u64, end: u64) -> Option<Codes<'a>> {
        let len = usize::try_from(end.checked_sub(start)?).ok()?;
        let (first, last) = place_of(start, end);
        let packed = section.get(usize::try_from(first).ok()?..)?;
        (last.saturating_sub(first) <= packed.len() as u64).then(|| Codes::new(packed, start, len))
    }

    /// The codes in groups of eight. After the last one, the last group has any codes.
    #[inline]
    fn groups(self) -> impl Iterator<Item = [u16; GROUP]> {
        let mut rest = self.packed;
        (0..self.len.div_ceil(GROUP)).map(move |_| {
            let group = unpack(rest, self.shift);
            rest = rest.get(GROUP_BYTES..).unwrap_or_default();
            group
        })
    }

    /// Code `i`.
    #[inline]
    fn get(self, i: usize) -> u16 {
        let bit = i * 12 + self.shift as usize;
        let bytes = self.packed.get(bit / 8..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u16::from_le_bytes(*bytes) >> (bit % 8) & 0xfff)
    }
}

/// A prefix of the values that are sought.
pub(super) struct Prefix {
    /// The prefix, followed by zeros, so that a word begins at each byte.
    padded: Vec<u8>,
    len: usize,
}

impl Prefix {
    pub(super) fn new(prefix: &[u8]) -> Prefix {
        Prefix { padded: [prefix, &[0; MAX_TOKEN]].concat(), len: prefix.len() }
    }

    /// Whether the first `len` bytes of `token`, at least one, are those of the prefix from byte `at` on, as far as
    /// that goes.
    #[inline]
    fn fits(&self, at: usize, token: &[u8; MAX_TOKEN], len: usize) -> bool {
        let Some(wanted) = self.padded.get(at..).and_then(<[u8]>::first_chunk) else { return false };
        // At least one byte, and at most 16.
        let left_out = MAX_TOKEN.saturating_sub(len.min(self.len - at));
        let differ = u128::from_le_bytes(*token) ^ u128::from_le_bytes(*wanted);
        differ << (8 * left_out) == 0
    }
}

/// The tokens of a decoder, of 68 KiB.
///
/// # Invariants
///
/// A length is 1 to 16.
#[derive(Debug)]
pub(super) struct TokenTable {
    /// Each code's bytes, followed by others.
    entries: Box<[[u8; MAX_TOKEN]; CODES]>,
    /// The number of each code's bytes; 1 for codes that stand for nothing.
    lens: Box<[u8; CODES]>,
    count: usize,
}

impl TokenTable {
    /// Reads a section of tokens.
    ///
    /// # Errors
    ///
    /// When there are no tokens or too many, a length is not allowed, or the lengths do not add up to the number of
    /// bytes.
    pub(super) fn parse(place: Place, section: &[u8]) -> Result<TokenTable> {
        let refuse = |at, what| Error::at(place, at, ErrorKind::Broken(what));
        let Some((count, rest)) = section.split_at_checked(2) else {
            return Err(refuse(0, "the token table is truncated"));
        };
        let count = usize::from(LittleEndian::read_u16(count));
        if count == 0 || count > MAX_TOKENS {
            return Err(refuse(0, "the token table has no tokens, or too many"));
        }
        let Some((lens, mut bytes)) = rest.split_at_checked(count) else {
            return Err(refuse(2, "the token lengths are truncated"));
        };
        let mut table = TokenTable::of_bytes(count);
        for (token, &len) in lens.iter().enumerate() {
            let (code, at) = (FIRST_TOKEN + token, 2 + token);
            if !(2..=MAX_TOKEN).contains(&usize::from(len)) {
                return Err(refuse(at, "a token is too short or too long"));
            }
            let Some((token, rest)) = bytes.split_at_checked(len.into()) else {
                return Err(refuse(at, "the token bytes are truncated"));
            };
            table.entries[code][..token.len()].copy_from_slice(token);
            table.lens[code] = len;
            bytes = rest;
        }
        match bytes.is_empty() {
            true => Ok(table),
            false => Err(refuse(0, "bytes after the last token")),
        }
    }

    /// A table of the codes of single bytes.
    fn of_bytes(count: usize) -> TokenTable {
        let entries = vec![[0; MAX_TOKEN]; CODES].into_boxed_slice().try_into();
        let lens = vec![1; CODES].into_boxed_slice().try_into();
        let (Ok(mut entries), Ok(lens)): (Result<Box<[_; CODES]>, _>, _) = (entries, lens) else {
            unreachable!("both have an element for each code");
        };
        entries.iter_mut().zip(0..=u8::MAX).for_each(|(entry, byte)| entry[0] = byte);
        TokenTable { entries, lens, count }
    }

    /// The number of tokens.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Whether all of `codes` stand for a byte or a token.
    pub(super) fn knows(&self, codes: Codes<'_>) -> bool {
        let mut left = codes.len;
        codes.groups().all(|group| {
            let here = left.min(GROUP);
            left -= here;
            group[..here].iter().all(|&code| usize::from(code) < FIRST_TOKEN + self.count)
        })
    }

    /// Whether the value that is `range` of `codes` begins with `prefix`; if so, whether it ends there.
    #[inline]
    pub(super) fn begins_with(&self, codes: Codes<'_>, range: Range<usize>, prefix: &Prefix) -> Option<bool> {
        let (mut at, end) = (0, range.end);
        for i in range {
            if at >= prefix.len {
                return Some(false);
            }
            let code = usize::from(codes.get(i)) % CODES;
            let len = usize::from(self.lens[code]);
            if !prefix.fits(at, &self.entries[code], len) {
                return None;
            }
            at += len;
            if at >= prefix.len {
                return Some(at == prefix.len && i + 1 == end);
            }
        }
        (at >= prefix.len).then_some(true)
    }

    /// Decodes `codes` to `out`, from byte `start` on, and returns the end of the decoded bytes.
    ///
    /// Grows `out` if it is too short, and never shortens it. The bytes after the decoded ones are unspecified.
    #[inline]
    pub(super) fn decode(&self, codes: Codes<'_>, out: &mut Vec<u8>, start: usize) -> usize {
        let most = start + codes.len * MAX_TOKEN + WINDOW;
        if out.len() < most {
            out.resize(most, 0);
        }
        let (mut end, mut left) = (start, codes.len);
        for group in codes.groups() {
            let Some(window) = out.get_mut(end..).and_then(<[u8]>::first_chunk_mut) else { break };
            let mut starts = [0; GROUP];
            let decoded = self.decode_group(&group, window, &mut starts);
            end += starts.get(left).map_or(decoded, |&start| start.into());
            left = left.saturating_sub(GROUP);
        }
        end
    }

    /// As [`decode`](Self::decode), for several values end to end. `bounds` are ascending numbers of codes; each is
    /// replaced by the offset of that code in `out`.
    ///
    /// Splitting the values after decoding is faster than decoding them one by one: the loop over the codes then has no
    /// unpredictable exits.
    pub(super) fn decode_many(&self, codes: Codes<'_>, out: &mut Vec<u8>, bounds: &mut [u64]) {
        let mut groups = codes.groups();
        let codes = codes.len;
        // The start of each group, and of each code after that.
        let (mut group_starts, mut starts) = ([0; CHUNK / GROUP], [[0; GROUP]; CHUNK / GROUP]);
        let (mut at, mut end, mut bounds) = (0, 0, bounds.iter_mut().peekable());
        while at < codes {
            let taken = (codes - at).min(CHUNK);
            let most = end + taken * MAX_TOKEN + WINDOW;
            if out.len() < most {
                out.resize(most, 0);
            }
            let places = group_starts.iter_mut().zip(&mut starts);
            for ((start, starts), group) in places.zip(groups.by_ref().take(taken.div_ceil(GROUP))) {
                let Some(window) = out.get_mut(end..).and_then(<[u8]>::first_chunk_mut) else { break };
                *start = end;
                end += self.decode_group(&group, window, starts);
            }
            let start_of =
                |code: usize| group_starts[code / GROUP] + usize::from(starts[code / GROUP][code % GROUP]);
            // A value begins at the start of its first code, and ends at the start of the code after its last one.
            while let Some(bound) = bounds.next_if(|bound| **bound < (at + taken) as u64) {
                let code = usize::try_from(*bound).unwrap_or(usize::MAX).saturating_sub(at);
                *bound = start_of(code % CHUNK) as u64;
            }
            at += taken;
            // Codes after the last one fill its group.
            end = if taken.is_multiple_of(GROUP) { end } else { start_of(taken) };
        }
        bounds.for_each(|bound| *bound = end as u64);
    }

    /// Stores the tokens of a group of codes end to end, and the start of each in `starts`. Returns the number of
    /// bytes.
    #[inline(always)]
    fn decode_group(
        &self,
        codes: &[u16; GROUP],
        window: &mut [u8; WINDOW],
        starts: &mut [u8; GROUP],
    ) -> usize {
        let mut at = 0;
        for (start, &code) in starts.iter_mut().zip(codes) {
            let code = usize::from(code) % CODES;
            #[expect(clippy::cast_possible_truncation, reason = "at most seven times `LEN_MASK`")]
            {
                *start = at as u8;
            }
            window[at..at + MAX_TOKEN].copy_from_slice(&self.entries[code]);
            at += usize::from(self.lens[code] & LEN_MASK);
        }
        at
    }
}

/// The first eight codes of `packed`, the first one from bit `shift` on, as if zeros followed them.
#[inline(always)]
fn unpack(packed: &[u8], shift: u32) -> [u16; GROUP] {
    // With the half of a byte before the first code, or the one after the last.
    const BYTES: usize = GROUP_BYTES + 2;
    let mut padded = [0; BYTES];
    let group = packed.first_chunk().unwrap_or_else(|| {
        let len = packed.len().min(BYTES);
        padded[..len].copy_from_slice(&packed[..len]);
        &padded
    });
    // Each word has four codes.
    let words =
        [LittleEndian::read_u64(&group[..8]), LittleEndian::read_u64(&group[6..])].map(|word| word >> shift);
    std::array::from_fn(|i| {
        let [low, high, ..] = (words[i / 4] >> (i % 4 * 12)).to_le_bytes();
        u16::from_le_bytes([low, high & 15])
    })
}
