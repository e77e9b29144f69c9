//! From a value to its codes: the longest symbol at each place.

use std::cmp::Reverse;

use super::{ENTRY, ESCAPE, MAX_SYMBOLS, Symbol, mask, pair};

/// A symbol, or a byte that is none: one of [`PIECES`].
///
/// Below 256 the code of a symbol, from there on 256 and the byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece(pub(super) u16);

/// How many pieces there can be.
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

    /// Bytes that it takes when encoded.
    pub(super) fn cost(self) -> usize {
        if self.is_symbol() { 1 } else { 2 }
    }
}

/// A table of symbols, to encode with.
///
/// # Invariants
///
/// - There are at most [`MAX_SYMBOLS`] symbols, all different.
/// - Symbols that begin with the pair of bytes *p* are `candidates[starts[p]..starts[p + 1]]`, the
///   longest first.
#[derive(Clone, Debug)]
pub(in crate::binary) struct Matcher {
    symbols: Vec<Symbol>,
    starts: Vec<u8>,
    candidates: Vec<Candidate>,
    /// What each byte is where no longer symbol begins.
    bytes: [Piece; 256],
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    symbol: Symbol,
    mask: u128,
    code: Piece,
}

impl Matcher {
    /// A matcher for `symbols`, of which the first [`MAX_SYMBOLS`] count.
    pub(super) fn new(mut symbols: Vec<Symbol>) -> Matcher {
        symbols.truncate(MAX_SYMBOLS);
        let mut bytes = [Piece(0); 256];
        (0..=u8::MAX).for_each(|byte| bytes[usize::from(byte)] = Piece::byte(byte));
        let (mut starts, mut candidates) = (vec![0; (1 << 16) + 1], Vec::with_capacity(symbols.len()));
        for (code, &symbol) in (0..).map(Piece).zip(&symbols) {
            match symbol.len {
                1 => bytes[usize::from(symbol.first())] = code,
                len => candidates.push(Candidate { symbol, mask: mask(len), code }),
            }
        }
        candidates.sort_unstable_by_key(|c| (c.symbol.pair(), Reverse(c.symbol.len), c.code.0));
        candidates.iter().for_each(|c| starts[c.symbol.pair() + 1] += 1);
        (1..starts.len()).for_each(|pair| starts[pair] += starts[pair - 1]);
        Matcher { symbols, starts, candidates, bytes }
    }

    /// The symbol that `piece` stands for, or its byte as one.
    pub(super) fn symbol(&self, piece: Piece) -> Symbol {
        let symbol = self.symbols.get(usize::from(piece.0));
        symbol.copied().unwrap_or(Symbol::byte(piece.low()))
    }

    /// The pieces of `value`: at each place the longest symbol that is there.
    pub(super) fn pieces<'v>(&'v self, value: &'v [u8]) -> impl Iterator<Item = Piece> + 'v {
        let mut rest = value;
        std::iter::from_fn(move || {
            let (piece, len) = self.longest(rest)?;
            rest = &rest[len..];
            Some(piece)
        })
    }

    /// Appends the codes of `value`.
    pub(in crate::binary) fn encode(&self, value: &[u8], codes: &mut Vec<u8>) {
        for piece in self.pieces(value) {
            if !piece.is_symbol() {
                codes.push(ESCAPE);
            }
            codes.push(piece.low());
        }
    }

    /// The first piece of `rest`, and its length.
    #[inline]
    fn longest(&self, rest: &[u8]) -> Option<(Piece, usize)> {
        let word = load(rest);
        let pair = pair(word);
        let candidates = usize::from(self.starts[pair])..usize::from(self.starts[pair + 1]);
        let fits =
            |c: &&Candidate| word & c.mask == c.symbol.bytes && usize::from(c.symbol.len) <= rest.len();
        match self.candidates[candidates].iter().find(fits) {
            Some(found) => Some((found.code, found.symbol.len.into())),
            None => rest.first().map(|&byte| (self.bytes[usize::from(byte)], 1)),
        }
    }

    /// The section that holds the symbols.
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

/// The first 16 of `bytes`, or those that are there and zeros.
#[inline]
fn load(bytes: &[u8]) -> u128 {
    match bytes.first_chunk() {
        Some(word) => u128::from_le_bytes(*word),
        None => {
            let mut word = [0; ENTRY];
            word[..bytes.len()].copy_from_slice(bytes);
            u128::from_le_bytes(word)
        }
    }
}
