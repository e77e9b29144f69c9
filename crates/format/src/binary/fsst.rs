//! Byte strings as codes: one byte for what many of them have in common.
//!
//! Text has words that recur: `https://`, `.example.org/`, `"level":"`. A table of up to 255 *symbols*,
//! chosen by what the column's values are made of, gives each of them a code of one byte, and a value
//! is the codes of its symbols. This is FSST (Boncz, Neumann, Leis: *FSST: Fast Random Access String
//! Compression*, VLDB 2020), with symbols of up to 15 bytes instead of 8: on URLs, paths, user agents
//! and JSON that saves another 10 to 40 %, and the decoder stores 16 bytes as fast as 8.
//!
//! A value is decoded alone, from nothing but its codes and the table: random access stays what it is
//! without compression, and touches fewer bytes.
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
//! Code *c* below *n* stands for symbol *c*. 255 is the *escape*: the byte behind it stands for itself.
//! The writer uses no other code; a reader may take it for a symbol without bytes.

use crate::error::{Error, ErrorKind, Place, Result};

pub(super) use train::{Trained, train};

mod matcher;
#[cfg(test)]
mod tests;
mod train;

/// The code in front of a byte that stands for itself.
pub const ESCAPE: u8 = u8::MAX;

/// The most symbols: every code but [`ESCAPE`].
const MAX_SYMBOLS: usize = ESCAPE as usize;

/// Bytes of the longest symbol. With its length it fills 16 bytes, one load.
pub const MAX_SYMBOL: u8 = 15;

/// Where a table has the length of a symbol: behind its bytes.
const LEN_AT: usize = MAX_SYMBOL as usize;

/// A symbol's bytes, and its length.
const ENTRY: usize = LEN_AT + 1;

/// Codes that are decoded at a time.
const GROUP: usize = 8;

/// Bytes that the symbols of a group may be stored to: each store takes 16, seven symbols lie before the
/// last one.
const WINDOW: usize = (GROUP - 1) * LEN_AT + ENTRY;

/// Codes between two looks at the memory for what they stand for.
const CHUNK: usize = 1024;

/// A place inside of a value where no value begins or ends: behind an escape.
const NOWHERE: usize = usize::MAX;

/// A string of 1 to [`MAX_SYMBOL`] bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Symbol {
    /// Its bytes, the first one lowest; zeros behind them.
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

    /// The symbol as a number, by which symbols are in the same order: its bytes, then its length.
    fn as_number(self) -> u128 {
        self.bytes << 8 | u128::from(self.len)
    }

    /// The symbol of such a number.
    fn of_number(number: u128) -> Symbol {
        Symbol { bytes: number >> 8, len: number.to_le_bytes()[0] }
    }

    /// The first two bytes as a number.
    fn pair(self) -> usize {
        pair(self.bytes)
    }

    /// This one and `next` behind it, as far as that fits a symbol.
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

/// The bits of the first `len` bytes, of which there are at most [`MAX_SYMBOL`].
fn mask(len: u8) -> u128 {
    (1 << (8 * len)) - 1
}

/// A table of symbols, to decode with: 4 KiB.
///
/// # Invariants
///
/// The last byte of an entry is the length of its symbol: 1 to 15, or 0 if the code stands for none.
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
    /// When there are none, a length is not allowed, or the bytes are not as many as the lengths say.
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

    /// How many symbols there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.entries)
    }

    /// Decodes `codes` to the beginning of `out`, and returns how many bytes that gave.
    ///
    /// Grows `out` where it is too short, and never shortens it: what lies behind the end is unspecified.
    ///
    /// `None` if the last code is an escape.
    #[inline]
    pub(super) fn decode(&self, codes: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        self.decode_into(codes, out, &mut [], &mut [])
    }

    /// As [`decode`](Self::decode), for several values end to end: `bounds` are places in `codes`,
    /// ascending, and each is replaced by the place in `out` of what begins there.
    ///
    /// Cutting the values apart behind the decoder is twice as fast as decoding them one by one: the loop
    /// over the codes then knows of no ends, and the processor does not guess them.
    ///
    /// `None` also if a bound lies behind an escape.
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

    /// Whether every code stands for something.
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

    /// Decodes `codes` to the beginning of `out`; returns how many codes that took (all, unless the last
    /// one is an escape), and how many bytes it gave. `out` has room for them and a window.
    ///
    /// Where each code's bytes begin goes to `places`, unless that is empty.
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

    /// Stores the symbols of eight codes, none of them an escape, end to end; returns where each begins,
    /// and where the last one ends.
    #[inline]
    fn decode_group(&self, group: u64, window: &mut [u8; WINDOW]) -> [usize; GROUP + 1] {
        let mut ends = [0; GROUP + 1];
        for (i, code) in group.to_le_bytes().into_iter().enumerate() {
            let entry = &self.entries[usize::from(code)];
            // Says to the compiler what the invariant says: no store can leave the window.
            let len = usize::from(entry[LEN_AT] & MAX_SYMBOL);
            window[ends[i]..ends[i] + ENTRY].copy_from_slice(entry);
            ends[i + 1] = ends[i] + len;
        }
        ends
    }

    /// Decodes the first code of a group of which `left` codes are there, and the byte behind it if it is
    /// an escape; returns how many bytes that took and gave. `None` for an escape without a byte.
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

/// The first eight of `codes`, or those that are there and zeros.
#[inline]
fn group(codes: &[u8]) -> u64 {
    match codes.first_chunk() {
        Some(group) => u64::from_le_bytes(*group),
        None => codes.iter().rev().fold(0, |group, &code| group << 8 | u64::from(code)),
    }
}

/// Whether one of the eight codes is 255: the textbook's "has a zero byte", of the complement.
#[inline]
fn has_escape(group: u64) -> bool {
    const ONES: u64 = u64::MAX / 255;
    let inverted = !group;
    inverted.wrapping_sub(ONES) & group & (ONES << 7) != 0
}
