//! FSST compression of byte strings: codes of one byte for frequent substrings.
//!
//! Text has recurring substrings: `https://`, `.example.org/`, `"level":"`. A table of up to 255 *symbols*, trained on
//! the column's values, assigns a one-byte code to each of them, and a value is stored as the codes of its symbols.
//! This is FSST (Boncz, Neumann, Leis: *FSST: Fast Random Access String Compression*, VLDB 2020), with symbols of up to
//! 15 bytes instead of 8. On URLs, paths, user agents and JSON, longer symbols save another 10 to 40 %, and the decoder
//! stores 16 bytes as fast as 8.
//!
//! Any value decodes alone, from its codes and the table. Random access works as without compression, and reads fewer
//! bytes.
//!
//! # Fields in the directory
//!
//! | offset | bytes | field | meaning |
//! | --- | --- | --- | --- |
//! | 0 | 8 | `total_len` | bytes of all values |
//! | 8 | 20 | `symbols` | reference to the symbols |
//!
//! # Symbols
//!
//! | offset | bytes | field | meaning |
//! | --- | --- | --- | --- |
//! | 0 | 1 | `count` | symbols: 1 to 255, *n* |
//! | 1 | *n* | `lens` | bytes of each symbol: 1 to 15 |
//! | 1 + *n* | | `symbols` | their bytes, end to end |
//!
//! # Codes
//!
//! Code *c* below *n* stands for symbol *c*. 255 is the *escape*: the byte after it stands for itself. The writer uses
//! no other code; a reader may treat one as an empty symbol.
//!
//! # Drawing
//!
//! ```text
//! symbols   03   08 0d 03   https:// .example.org/ log
//!           n    lens       0        1             2
//!
//! value     https://a.example.org/log         25 bytes
//! codes     00 ff 61 01 02                     5 bytes: symbol 0, escaped `a`, symbols 1 and 2
//! ```

use crate::error::{Error, ErrorKind, Place, Result};

pub(super) use train::{Trained, train};

mod matcher;
#[cfg(test)]
mod tests;
mod train;

/// The code before a byte that stands for itself.
pub const ESCAPE: u8 = u8::MAX;

/// The most symbols: every code but [`ESCAPE`].
const MAX_SYMBOLS: usize = ESCAPE as usize;

/// Bytes of the longest symbol. With its length, it fills 16 bytes, which take one load.
pub const MAX_SYMBOL: u8 = 15;

/// Position of the length in a table entry, after the bytes of the symbol.
const LEN_AT: usize = MAX_SYMBOL as usize;

/// Bytes of a table entry: a symbol, and its length.
const ENTRY: usize = LEN_AT + 1;

/// Codes that are decoded together.
const GROUP: usize = 8;

/// Bytes that decoding a group may write: a store of 16 bytes after at most seven symbols.
const WINDOW: usize = (GROUP - 1) * LEN_AT + ENTRY;

/// Codes after which the decoder grows the output again.
const CHUNK: usize = 1024;

/// Marks a code at which no value may begin or end, because it follows an escape.
const NOWHERE: usize = usize::MAX;

/// A string of 1 to [`MAX_SYMBOL`] bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Symbol {
    /// The bytes, the first one lowest, followed by zeros.
    bytes: u128,
    len: u8,
}

impl Symbol {
    fn byte(byte: u8) -> Symbol {
        Symbol { bytes: byte.into(), len: 1 }
    }

    fn first(self) -> u8 {
        self.bytes.to_le_bytes()[0]
    }

    /// The symbol as a number, of its bytes and its length. It preserves the order of symbols.
    fn as_number(self) -> u128 {
        self.bytes << 8 | u128::from(self.len)
    }

    /// The inverse of [`as_number`](Self::as_number).
    fn of_number(number: u128) -> Symbol {
        Symbol { bytes: number >> 8, len: number.to_le_bytes()[0] }
    }

    /// The first two bytes as a number.
    fn pair(self) -> usize {
        pair(self.bytes)
    }

    /// This symbol followed by `next`, truncated to the longest symbol.
    fn with(self, next: Symbol) -> Symbol {
        let len = (self.len + next.len).min(MAX_SYMBOL);
        Symbol { bytes: (self.bytes | next.bytes << (8 * self.len)) & mask(len), len }
    }
}

/// The first two bytes of `word` as a number.
fn pair(word: u128) -> usize {
    let [first, second, ..] = word.to_le_bytes();
    u16::from_le_bytes([first, second]).into()
}

/// A mask of the first `len` bytes, at most [`MAX_SYMBOL`].
fn mask(len: u8) -> u128 {
    (1 << (8 * len)) - 1
}

/// The symbol table of a decoder, of 4 KiB.
///
/// # Invariants
///
/// The last byte of an entry is the length of its symbol: 1 to 15, or 0 if the code has no symbol.
#[derive(Debug)]
pub(super) struct SymbolTable {
    entries: Box<[[u8; ENTRY]; 256]>,
    count: usize,
}

impl SymbolTable {
    /// Reads a section of symbols.
    ///
    /// # Errors
    ///
    /// When there are no symbols, a length is not allowed, or the lengths do not add up to the number of bytes.
    pub(super) fn parse(place: Place, section: &[u8]) -> Result<SymbolTable> {
        let broken = |at, what| Error::at(place, at, ErrorKind::Broken(what));
        let Some((&count, rest)) = section.split_first().filter(|(count, _)| **count > 0) else {
            return Err(broken(0, "the symbol table is empty"));
        };
        let count = usize::from(count);
        let Some((lens, mut bytes)) = rest.split_at_checked(count) else {
            return Err(broken(0, "the symbol lengths are truncated"));
        };
        let mut entries = Box::new([[0; ENTRY]; 256]);
        for (entry, (at, &len)) in entries.iter_mut().zip((1..).zip(lens)) {
            if len == 0 || len > MAX_SYMBOL {
                return Err(broken(at, "a symbol is empty or too long"));
            }
            let Some((symbol, rest)) = bytes.split_at_checked(len.into()) else {
                return Err(broken(at, "the symbol bytes are truncated"));
            };
            entry[..symbol.len()].copy_from_slice(symbol);
            entry[LEN_AT] = len;
            bytes = rest;
        }
        match bytes.is_empty() {
            true => Ok(SymbolTable { entries, count }),
            false => Err(broken(0, "bytes after the last symbol")),
        }
    }

    /// The number of symbols.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Decodes `codes` to the beginning of `out`, and returns the number of decoded bytes.
    ///
    /// Grows `out` if it is too short, and never shortens it. The bytes after the decoded ones are unspecified.
    ///
    /// `None` if the last code is an escape.
    #[inline]
    pub(super) fn decode(&self, codes: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        self.decode_into(codes, out, &mut [], &mut [])
    }

    /// As [`decode`](Self::decode), for several values end to end. `bounds` are ascending offsets of `codes`; each is
    /// replaced by the corresponding offset of `out`.
    ///
    /// Splitting the values after decoding is twice as fast as decoding them one by one: the loop over the codes then
    /// has no unpredictable exits.
    ///
    /// `None` also if a bound lies directly after an escape.
    pub(super) fn decode_many(&self, codes: &[u8], out: &mut Vec<u8>, bounds: &mut [u64]) -> Option<usize> {
        self.decode_into(codes, out, &mut [0; CHUNK + GROUP], bounds)
    }

    #[inline]
    fn decode_into(
        &self,
        codes: &[u8],
        out: &mut Vec<u8>,
        places: &mut [usize],
        bounds: &mut [u64],
    ) -> Option<usize> {
        let (mut at, mut end, mut bounds) = (0, 0, bounds.iter_mut().peekable());
        while at < codes.len() {
            let chunk = &codes[at..codes.len().min(at + CHUNK)];
            let most = end + chunk.len() * LEN_AT + WINDOW;
            if out.len() < most {
                out.resize(most, 0);
            }
            let (taken, made) = self.decode_chunk(chunk, &mut out[end..], places);
            while let Some(bound) = bounds.next_if(|bound| **bound < (at + taken) as u64) {
                let place = places[usize::try_from(*bound).ok()?.checked_sub(at)?];
                *bound = (end + (place != NOWHERE).then_some(place)?) as u64;
            }
            (at, end) = (at + taken, end + made);
            if taken == 0 {
                return None;
            }
        }
        bounds.for_each(|bound| *bound = end as u64);
        Some(end)
    }

    /// Whether every code has a symbol, and every escape a byte.
    pub(super) fn knows(&self, codes: &[u8]) -> bool {
        let mut codes = codes.iter();
        while let Some(&code) = codes.next() {
            let known = match code {
                ESCAPE => codes.next().is_some(),
                _ => usize::from(code) < self.count,
            };
            if !known {
                return false;
            }
        }
        true
    }

    /// Decodes `codes` to the beginning of `out`, which must have space for the bytes and a window. Returns the number
    /// of codes decoded (all, unless the last one is an escape), and the number of bytes.
    ///
    /// Writes the offset of each code's bytes to `places`, unless that is empty.
    #[inline]
    fn decode_chunk(&self, codes: &[u8], out: &mut [u8], places: &mut [usize]) -> (usize, usize) {
        let (mut at, mut end) = (0, 0);
        while at < codes.len()
            && let Some(window) = out.get_mut(end..).and_then(<[u8]>::first_chunk_mut)
        {
            let (group, left) = (group(&codes[at..]), codes.len() - at);
            let places = places.get_mut(at..).and_then(<[usize]>::first_chunk_mut);
            if has_escape(group) {
                let Some((taken, len)) = self.decode_one(group, left, window) else { break };
                if let Some(places) = places {
                    *places = [NOWHERE; GROUP];
                    places[0] = end;
                }
                (at, end) = (at + taken, end + len);
            } else {
                let ends = self.decode_group(group, window);
                if let Some(places) = places {
                    let starts: [usize; GROUP] = std::array::from_fn(|i| end + ends[i]);
                    *places = starts;
                }
                let taken = left.min(GROUP);
                (at, end) = (at + taken, end + ends[taken]);
            }
        }
        (at, end)
    }

    /// Stores the symbols of eight codes, none of them an escape, end to end. Returns the start of each, and the end of
    /// the last one.
    #[inline]
    fn decode_group(&self, group: u64, window: &mut [u8; WINDOW]) -> [usize; GROUP + 1] {
        let mut ends = [0; GROUP + 1];
        for (i, code) in group.to_le_bytes().into_iter().enumerate() {
            let entry = &self.entries[usize::from(code)];
            // The mask repeats the invariant for the compiler: no store can leave the window.
            let len = usize::from(entry[LEN_AT] & MAX_SYMBOL);
            window[ends[i]..ends[i] + ENTRY].copy_from_slice(entry);
            ends[i + 1] = ends[i] + len;
        }
        ends
    }

    /// Decodes the first code of a group of `left` codes, and the byte after it if it is an escape. Returns the number
    /// of codes read and of bytes written. `None` for an escape without a byte.
    fn decode_one(&self, group: u64, left: usize, window: &mut [u8; WINDOW]) -> Option<(usize, usize)> {
        let [code, byte, ..] = group.to_le_bytes();
        if code == ESCAPE {
            window[0] = byte;
            return (left >= 2).then_some((2, 1));
        }
        let entry = &self.entries[usize::from(code)];
        window[..ENTRY].copy_from_slice(entry);
        Some((1, entry[LEN_AT].into()))
    }
}

/// The first eight of `codes`, padded with zeros.
#[inline]
fn group(codes: &[u8]) -> u64 {
    match codes.first_chunk() {
        Some(group) => u64::from_le_bytes(*group),
        None => codes.iter().rev().fold(0, |group, &code| group << 8 | u64::from(code)),
    }
}

/// Whether one of the eight codes is 255: the well-known test for a zero byte, applied to the complement.
#[inline]
fn has_escape(group: u64) -> bool {
    const ONES: u64 = u64::MAX / 255;
    let inverted = !group;
    inverted.wrapping_sub(ONES) & group & (ONES << 7) != 0
}
