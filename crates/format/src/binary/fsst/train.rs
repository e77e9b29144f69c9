//! Training of a symbol table: the symbols that shorten a sample of the values the most.
//!
//! As in the paper, the table grows in rounds, from an empty one. Each round encodes the sample with the current
//! symbols. Each symbol, and each concatenation of two neighbouring ones, is a candidate for the next table; its gain
//! is the number of bytes that it covers. Symbols can double in length in each round, and later rounds correct earlier
//! choices. The best table of all rounds is used. The paper stops after five rounds, which misses up to a third of the
//! savings.
//!
//! Training is deterministic: the same values yield the same symbols.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::super::{Values, sample};
use super::matcher::{Matcher, PIECES, Piece};
use super::{MAX_SYMBOLS, Symbol};

/// Bytes of a sample. Longer samples took longer and made no better tables.
const SAMPLE: usize = 128 << 10;

/// The most rounds.
const ROUNDS: usize = 20;

/// The number of rounds without a better table after which training stops.
const PATIENCE: usize = 4;

/// The fewest occurrences of a candidate in the sample.
const LEAST: u32 = 3;

/// The gain of an occurrence of a one-byte symbol, in bytes: without the symbol, the byte takes an escape.
const SINGLE: u64 = 4;

/// The number of counts that are tested together. Most are zero.
const TOGETHER: usize = 16;

/// A trained table, and its result on the sample.
#[derive(Debug)]
pub(in crate::binary) struct Trained {
    pub(in crate::binary) matcher: Matcher,
    /// Bytes of the sample.
    pub(in crate::binary) sampled: usize,
    /// Bytes of its codes.
    pub(in crate::binary) encoded: usize,
}

/// Trains a symbol table on a sample of `strings`.
///
/// # Errors
///
/// When `strings` cannot be read.
pub(in crate::binary) fn train<S: Values>(strings: &S) -> Result<Trained, S::Error> {
    let sample = sample::values(strings, SAMPLE)?;
    let sampled = sample.iter().map(|part| part.len()).sum();
    let mut counts = Counts::new();
    let mut matcher = Matcher::new();
    let (mut best, mut least) = (Vec::new(), counts.count(&matcher, &sample));
    let mut last = 0;
    for round in 1..=ROUNDS {
        matcher.learn(counts.next(&matcher));
        let encoded = counts.count(&matcher, &sample);
        if encoded < least {
            (best, least, last) = (matcher.symbols().to_vec(), encoded, round);
        } else if round - last >= PATIENCE {
            break;
        }
    }
    matcher.learn(best);
    Ok(Trained { matcher, sampled, encoded: least })
}

/// Occurrences of pieces in a sample, alone and in pairs.
pub(super) struct Counts {
    single: Vec<u32>,
    /// The count of the pair *a*, *b* is at `a * PIECES + b`.
    pairs: Vec<u32>,
    /// The gain of each candidate; kept to reuse its memory.
    gains: Gains,
}

impl Counts {
    pub(super) fn new() -> Counts {
        Counts { single: vec![0; PIECES], pairs: vec![0; PIECES * PIECES], gains: Gains::default() }
    }

    /// Counts the pieces of `sample`, and returns the length of their codes.
    ///
    /// The first byte of each symbol counts as a piece as well. Otherwise a byte that is part of symbols would never be
    /// a candidate itself.
    pub(super) fn count(&mut self, matcher: &Matcher, sample: &[Vec<u8>]) -> usize {
        let rows = self.pairs.chunks_exact_mut(PIECES).zip(&self.single);
        rows.filter(|(_, count)| **count > 0).for_each(|(row, _)| row.fill(0));
        self.single.fill(0);
        let mut cost = 0;
        for value in sample {
            let mut before = None;
            matcher.pieces(value, |piece| {
                self.add(before, piece);
                cost += piece.cost();
                before = Some(piece);
            });
        }
        self.add_first_bytes(matcher);
        cost
    }

    fn add(&mut self, before: Option<Piece>, piece: Piece) {
        self.single[usize::from(piece.0)] += 1;
        if let Some(before) = before {
            self.pairs[usize::from(before.0) * PIECES + usize::from(piece.0)] += 1;
        }
    }

    /// Adds the count of each symbol of several bytes to that of its first byte.
    fn add_first_bytes(&mut self, matcher: &Matcher) {
        let longer = (0..).zip(matcher.symbols()).filter(|(_, symbol)| symbol.len > 1);
        let bytes: Vec<(usize, usize)> =
            longer.map(|(code, symbol)| (code, Piece::byte(symbol.first()).0.into())).collect();
        let add = |counts: &mut [u32]| bytes.iter().for_each(|&(code, byte)| counts[byte] += counts[code]);
        let rows = self.pairs.chunks_exact_mut(PIECES).zip(&self.single);
        rows.filter(|(_, count)| **count > 0).for_each(|(row, _)| add(row));
        add(&mut self.single);
    }

    /// The symbols with the greatest gain.
    pub(super) fn next(&mut self, matcher: &Matcher) -> Vec<Symbol> {
        let Counts { single, pairs, gains } = self;
        // Several candidates may be the same string: their gains add up.
        let mut add = |symbol: Symbol, gain| *gains.entry(symbol.as_number()).or_insert(0) += gain;
        let pieces = || (0..).map(Piece).take(PIECES);
        for (a, (&count, row)) in pieces().zip(single.iter().zip(pairs.chunks_exact(PIECES))) {
            if count == 0 {
                continue;
            }
            let symbol = matcher.symbol(a);
            let worth = if symbol.len == 1 { SINGLE } else { symbol.len.into() };
            if count >= LEAST {
                add(symbol, u64::from(count) * worth);
            }
            for (bs, counts) in (0..).step_by(TOGETHER).zip(row.chunks_exact(TOGETHER)) {
                // The OR of the counts is at least each of them.
                if counts.iter().fold(0, |bits, count| bits | count) < LEAST {
                    continue;
                }
                for (b, &count) in (bs..).map(Piece).zip(counts).filter(|(_, count)| **count >= LEAST) {
                    let both = symbol.with(matcher.symbol(b));
                    add(both, u64::from(count) * u64::from(both.len));
                }
            }
        }
        let mut gains: Vec<_> = gains.drain().collect();
        // Of thousands of candidates, at most 255 are used.
        let best = |&(symbol, gain): &(u128, u64)| (Reverse(gain), symbol);
        if gains.len() > MAX_SYMBOLS {
            gains.select_nth_unstable_by_key(MAX_SYMBOLS, best);
            gains.truncate(MAX_SYMBOLS);
        }
        gains.sort_unstable_by_key(best);
        gains.into_iter().map(|(symbol, _)| Symbol::of_number(symbol)).collect()
    }
}

/// The gain of each symbol, keyed by its number.
type Gains = HashMap<u128, u64, BuildHasherDefault<Mixed>>;

/// A fast hash of symbols. It need not resist attacks, because a sample bounds the number of symbols.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u128(byte.into()));
    }

    fn write_u128(&mut self, number: u128) {
        /// The golden ratio in 128 bits.
        const ODD: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
        let mixed = (number ^ u128::from(self.0)).wrapping_mul(ODD);
        let high = u64::try_from(mixed >> 64).unwrap_or(0);
        // The map uses the lowest bits, which multiplication mixes least.
        self.0 = high ^ high >> 32;
    }
}
