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

    /// The number as an index.
    pub(super) fn index(self) -> usize {
        self.0.into()
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
/// - `firsts[h]` is the root of a trie of the symbols of three bytes or more whose first three bytes have [`hash`] *h*.
/// - `pairs` has no entry for a pair of bytes that is no symbol.
#[derive(Debug)]
pub(in crate::binary) struct Matcher {
    symbols: Vec<Symbol>,
    firsts: Vec<u16>,
    candidates: Candidates,
    /// For each pair of bytes, its symbol, or nothing.
    pairs: Vec<Short>,
    /// For each byte, its piece of one byte.
    bytes: [Piece; 256],
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    symbol: Symbol,
    mask: u128,
    code: Piece,
    /// Whether the chain goes on with the next candidate.
    more: bool,
}

/// Tries of the symbols of three bytes or more: inner nodes are forks, and leaves are chains. A node is a number: [`FORK`]
/// plus the index of a fork, or one plus the index of the first symbol of a chain, or 0 for an empty chain.
#[derive(Debug, Default)]
struct Candidates {
    /// Each has the longest symbol first, and ends with one without [`more`](Candidate::more).
    chains: Vec<Candidate>,
    forks: Vec<Fork>,
}

const FORK: u16 = 1 << 15;

/// A node of symbols that begin with the same bytes, such as `/item-1` to `/item-9`.
#[derive(Debug)]
struct Fork {
    /// The index of the byte after those.
    at: u8,
    /// The next node, for each value of this byte.
    next: [u16; 256],
}

/// The most candidates that an encoder tries one by one, if their bytes tell them apart.
pub(super) const CHAIN: usize = 2;

impl Candidates {
    /// Adds a node of `group`, the longest first, and of `shorter`, with which all of `group` begin. Returns its number. A
    /// group of more than `longest_chain` becomes a fork.
    fn add(&mut self, group: &[Candidate], shorter: &[Candidate], longest_chain: usize) -> u16 {
        let Some(first) = group.first().filter(|_| group.len() > longest_chain) else {
            return self.add_chain(&[group, shorter].concat());
        };
        let shared = |c: &Candidate| {
            let differ = c.symbol.bytes ^ first.symbol.bytes;
            usize::from(c.symbol.len).min((differ.trailing_zeros() / 8) as usize)
        };
        // One of them ends here, or two differ in this byte.
        let at = group.iter().map(shared).min().unwrap_or(0);
        let (ended, mut longer): (Vec<_>, Vec<_>) =
            group.iter().copied().partition(|c| usize::from(c.symbol.len) == at);
        let shorter = [&ended[..], shorter].concat();
        let byte = |c: &Candidate| c.symbol.bytes.to_le_bytes()[at];
        // The longest stay first.
        longer.sort_by_key(byte);
        let mut next = [self.add_chain(&shorter); 256];
        for group in longer.chunk_by(|a, b| byte(a) == byte(b)) {
            next[usize::from(byte(&group[0]))] = self.add(group, &shorter, longest_chain);
        }
        self.forks.push(Fork { at: u8::try_from(at).unwrap_or(0), next });
        // There are fewer forks than symbols.
        u16::try_from(self.forks.len() - 1).map_or(0, |fork| FORK | fork)
    }

    fn add_chain(&mut self, chain: &[Candidate]) -> u16 {
        let start = u16::try_from(self.chains.len() + 1).unwrap_or(0);
        self.chains.extend(chain.iter().map(|c| Candidate { more: true, ..*c }));
        match self.chains.last_mut().filter(|_| !chain.is_empty()) {
            Some(last) => last.more = false,
            None => return 0,
        }
        start
    }
}

/// A symbol of two bytes, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Short(u16);

impl Short {
    const NONE: Short = Short(0);
    const TWO: u16 = 1 << 15;
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
        Matcher {
            symbols: Vec::new(),
            firsts: vec![0; HASHES],
            candidates: Candidates::default(),
            pairs: vec![Short::NONE; 1 << 16],
            bytes: std::array::from_fn(|byte| Piece::byte(u8::try_from(byte).unwrap_or(0))),
        }
    }

    /// Replaces the symbols by the first [`MAX_SYMBOLS`] of `symbols`. Up to `longest_chain` candidates are tried one by
    /// one: [`CHAIN`] in an encoder; any number while symbols change, as forks take longer to make.
    pub(super) fn learn(&mut self, mut symbols: Vec<Symbol>, longest_chain: usize) {
        symbols.truncate(MAX_SYMBOLS);
        let Matcher { symbols: old, firsts, candidates, pairs, bytes } = self;
        // Few of the entries are in use.
        for symbol in old.iter() {
            match symbol.len {
                1 => bytes[usize::from(symbol.first())] = Piece::byte(symbol.first()),
                2 => pairs[symbol.pair()] = Short::NONE,
                _ => firsts[hash(symbol.bytes)] = 0,
            }
        }
        candidates.chains.clear();
        candidates.forks.clear();
        let mut long = Vec::new();
        for (code, &symbol) in (0..).map(Piece).zip(&symbols) {
            match symbol.len {
                1 => bytes[usize::from(symbol.first())] = code,
                2 => pairs[symbol.pair()] = Short(code.0 | Short::TWO),
                len => long.push(Candidate { symbol, mask: mask(len), code, more: false }),
            }
        }
        let hash_of = |c: &Candidate| hash(c.symbol.bytes);
        long.sort_unstable_by_key(|c| (hash_of(c), Reverse(c.symbol.len), c.code.0));
        for group in long.chunk_by(|a, b| hash_of(a) == hash_of(b)) {
            firsts[hash_of(&group[0])] = candidates.add(group, &[], longest_chain);
        }
        *old = symbols;
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
        let Candidates { chains, forks } = &self.candidates;
        let mut node = self.firsts[hash(word)];
        while let Some(fork) = node.checked_sub(FORK) {
            let Fork { at, next } = &forks[usize::from(fork)];
            node = next[usize::from(word.to_le_bytes()[usize::from(*at) % ENTRY])];
        }
        let mut at = usize::from(node);
        while let Some(c) = chains.get(at.wrapping_sub(1)) {
            if word & c.mask == c.symbol.bytes && usize::from(c.symbol.len) <= left {
                return (c.code, c.symbol.len.into());
            }
            at = if c.more { at + 1 } else { 0 };
        }
        match self.pairs[pair(word)] {
            short if short != Short::NONE && left >= 2 => (Piece(short.0 & !Short::TWO), 2),
            _ => (self.bytes[pair(word) % 256], 1),
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
