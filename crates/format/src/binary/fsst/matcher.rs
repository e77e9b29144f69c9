//! The FSST encoder: greedy matching of the longest symbol at each position.

use std::cmp::Reverse;

use super::{ENTRY, ESCAPE, MAX_SYMBOLS, Symbol, mask, pair};

/// A piece of a value: a symbol, or a byte without one. There are [`PIECES`] of them.
///
/// A number below 256 is the code of a symbol; any other is 256 plus the byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece(pub(super) u16);

/// The number of different pieces.
pub(super) const PIECES: usize = 512;

impl Piece {
    pub(super) fn byte(byte: u8) -> Piece {
        Piece(256 | u16::from(byte))
    }

    /// The code, or the byte.
    fn low(self) -> u8 {
        self.0.to_le_bytes()[0]
    }

    fn is_symbol(self) -> bool {
        self.0 < 256
    }

    /// Bytes of the encoded piece.
    pub(super) fn cost(self) -> usize {
        if self.is_symbol() { 1 } else { 2 }
    }
}

/// The symbol table of an encoder.
///
/// # Invariants
///
/// - There are at most [`MAX_SYMBOLS`] symbols, all different.
/// - Symbols of three bytes or more that begin with three bytes of [`hash`] *h* are
///   `candidates[starts[h]..starts[h + 1]]`, the longest first.
#[derive(Debug)]
pub(in crate::binary) struct Matcher {
    symbols: Vec<Symbol>,
    starts: Vec<u8>,
    candidates: Vec<Candidate>,
    /// For each pair of bytes, the longest piece of at most two bytes that it begins with.
    pairs: Vec<Short>,
    /// For each byte, its piece of one byte.
    bytes: [Piece; 256],
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    symbol: Symbol,
    mask: u128,
    code: Piece,
}

/// A piece of one byte, or of two.
#[derive(Clone, Copy, Debug)]
struct Short(u16);

impl Short {
    const TWO: u16 = 1 << 15;

    #[inline]
    fn piece(self) -> Piece {
        Piece(self.0 & !Short::TWO)
    }

    #[inline]
    fn len(self) -> usize {
        1 + usize::from(self.0 >> 15)
    }
}

/// The number of hash values. Most have at most one symbol, and the table fits a cache.
const HASHES: usize = 1 << 12;

/// A hash of the first three bytes of `word`.
#[inline]
fn hash(word: u128) -> usize {
    let [first, second, third, ..] = word.to_le_bytes();
    let mixed = u32::from_le_bytes([first, second, third, 0]).wrapping_mul(0x9E37_79B1);
    (mixed >> (u32::BITS - HASHES.ilog2())) as usize
}

impl Matcher {
    /// A matcher without symbols.
    pub(super) fn new() -> Matcher {
        let mut matcher = Matcher {
            symbols: Vec::new(),
            starts: vec![0; HASHES + 1],
            candidates: Vec::new(),
            pairs: vec![Short(0); 1 << 16],
            bytes: [Piece(0); 256],
        };
        matcher.learn(Vec::new());
        matcher
    }

    /// Replaces the symbols by the first [`MAX_SYMBOLS`] of `symbols`.
    pub(super) fn learn(&mut self, mut symbols: Vec<Symbol>) {
        symbols.truncate(MAX_SYMBOLS);
        (0..=u8::MAX).for_each(|byte| self.bytes[usize::from(byte)] = Piece::byte(byte));
        let coded = || (0..).map(Piece).zip(&symbols);
        let of_one = coded().filter(|(_, symbol)| symbol.len == 1);
        of_one.for_each(|(code, symbol)| self.bytes[usize::from(symbol.first())] = code);
        let first_bytes = self.bytes.map(|piece| Short(piece.0));
        self.pairs.chunks_exact_mut(256).for_each(|pairs| pairs.copy_from_slice(&first_bytes));
        self.candidates.clear();
        for (code, &symbol) in coded() {
            match symbol.len {
                1 => {}
                2 => self.pairs[symbol.pair()] = Short(code.0 | Short::TWO),
                len => self.candidates.push(Candidate { symbol, mask: mask(len), code }),
            }
        }
        let Matcher { starts, candidates, .. } = self;
        candidates.sort_unstable_by_key(|c| (hash(c.symbol.bytes), Reverse(c.symbol.len), c.code.0));
        starts.fill(0);
        candidates.iter().for_each(|c| starts[hash(c.symbol.bytes) + 1] += 1);
        (1..starts.len()).for_each(|hash| starts[hash] += starts[hash - 1]);
        self.symbols = symbols;
    }

    /// The symbol of `piece`, or its byte as a symbol.
    pub(super) fn symbol(&self, piece: Piece) -> Symbol {
        let symbol = self.symbols.get(usize::from(piece.0));
        symbol.copied().unwrap_or(Symbol::byte(piece.low()))
    }

    /// The symbols, by code.
    pub(super) fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Calls `each` with the pieces of `value`: at each position the longest symbol that matches.
    #[inline]
    pub(super) fn pieces(&self, value: &[u8], mut each: impl FnMut(Piece)) {
        let mut rest = value;
        // Here, no symbol can end past the end of the value.
        while let Some(word) = rest.first_chunk() {
            let (piece, len) = self.longest(u128::from_le_bytes(*word), ENTRY);
            each(piece);
            rest = &rest[len..];
        }
        let (mut word, mut left) = (last(value, rest.len()), rest.len());
        while left > 0 {
            let (piece, len) = self.longest(word, left);
            each(piece);
            word >>= 8 * len;
            left -= len;
        }
    }

    /// Appends the codes of `value`.
    pub(in crate::binary) fn encode(&self, value: &[u8], codes: &mut Vec<u8>) {
        self.pieces(value, |piece| {
            if !piece.is_symbol() {
                codes.push(ESCAPE);
            }
            codes.push(piece.low());
        });
    }

    /// The first piece of the `left` bytes in `word`, at least one, and its length.
    #[inline(always)]
    fn longest(&self, word: u128, left: usize) -> (Piece, usize) {
        let hash = hash(word);
        let candidates = usize::from(self.starts[hash])..usize::from(self.starts[hash + 1]);
        let fits = |c: &&Candidate| word & c.mask == c.symbol.bytes && usize::from(c.symbol.len) <= left;
        if let Some(found) = self.candidates[candidates].iter().find(fits) {
            return (found.code, found.symbol.len.into());
        }
        let short = self.pairs[pair(word)];
        match short.len() <= left {
            true => (short.piece(), short.len()),
            false => (self.bytes[pair(word) % 256], 1),
        }
    }

    /// The encoded section of symbols.
    pub(in crate::binary) fn section(&self) -> Vec<u8> {
        #[expect(clippy::cast_possible_truncation, reason = "at most 255")]
        let mut section = vec![self.symbols.len() as u8];
        section.extend(self.symbols.iter().map(|symbol| symbol.len));
        for symbol in &self.symbols {
            section.extend(&symbol.bytes.to_le_bytes()[..symbol.len.into()]);
        }
        section
    }
}

/// The last `len` of `bytes`, fewer than 16, padded with zeros.
#[inline]
fn last(bytes: &[u8], len: usize) -> u128 {
    match bytes.last_chunk() {
        Some(_) if len == 0 => 0,
        Some(word) => u128::from_le_bytes(*word) >> (8 * (ENTRY - len)),
        None => {
            let (mut word, bytes) = ([0; ENTRY], &bytes[bytes.len() - len..]);
            word[..len].copy_from_slice(bytes);
            u128::from_le_bytes(word)
        }
    }
}
