//! Which symbols a column gets: those that shorten a sample of its values the most.
//!
//! The table grows from nothing in rounds, as in the paper: the sample is cut into the symbols there
//! are, and each symbol, and each two that follow each other, is a candidate for the next table, worth
//! the bytes that it stood for. Symbols double in length from round to round, and rounds correct the
//! choices of earlier ones; the best table of all is taken. The paper stops after five rounds, which
//! leaves up to a third of the saving on the table.
//!
//! Everything depends on the values alone: the same values get the same symbols.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::super::{Values, sample};
use super::matcher::{Matcher, PIECES, Piece};
use super::{MAX_SYMBOLS, Symbol};

/// Bytes of a sample. More of them did not make better tables, only slower ones.
const SAMPLE: usize = 128 << 10;

const ROUNDS: usize = 20;

/// Rounds without a better table after which no more are tried.
const PATIENCE: usize = 4;

/// What occurs less often in the sample is no candidate.
const LEAST: u32 = 3;

/// How many bytes a symbol of one byte counts for: without it, the byte takes an escape each time.
const SINGLE: u64 = 4;

/// How many counts are looked at together: most are zero.
const TOGETHER: usize = 16;

/// A table for values like those of a sample, and what it made of the sample.
#[derive(Debug)]
pub(in crate::binary) struct Trained {
    pub(in crate::binary) matcher: Matcher,
    /// Bytes of the sample.
    pub(in crate::binary) sampled: usize,
    /// Bytes of its codes.
    pub(in crate::binary) encoded: usize,
}

/// Chooses symbols for values.
///
/// # Errors
///
/// When they cannot be read.
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

/// How often pieces occur in a sample, alone and in pairs.
pub(super) struct Counts {
    single: Vec<u32>,
    /// The pair of *a* and *b* at `a * PIECES + b`.
    pairs: Vec<u32>,
    /// Room to sum up in what symbols are worth.
    gains: Gains,
}

impl Counts {
    pub(super) fn new() -> Counts {
        Counts { single: vec![0; PIECES], pairs: vec![0; PIECES * PIECES], gains: Gains::default() }
    }

    /// Counts the pieces of `sample`, and returns the bytes of their codes.
    ///
    /// The first byte of each symbol counts as a piece, too: or a byte that is part of symbols would
    /// never be a candidate itself.
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

    /// Counts the first byte of each longer symbol wherever the symbol was counted.
    fn add_first_bytes(&mut self, matcher: &Matcher) {
        let longer = (0..).zip(matcher.symbols()).filter(|(_, symbol)| symbol.len > 1);
        let bytes: Vec<(usize, usize)> =
            longer.map(|(code, symbol)| (code, Piece::byte(symbol.first()).0.into())).collect();
        let add = |counts: &mut [u32]| bytes.iter().for_each(|&(code, byte)| counts[byte] += counts[code]);
        let rows = self.pairs.chunks_exact_mut(PIECES).zip(&self.single);
        rows.filter(|(_, count)| **count > 0).for_each(|(row, _)| add(row));
        add(&mut self.single);
    }

    /// The symbols that were worth the most.
    pub(super) fn next(&mut self, matcher: &Matcher) -> Vec<Symbol> {
        let Counts { single, pairs, gains } = self;
        // One string may be several candidates: together they are worth what each is.
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
                // No count is greater than all their bits.
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
        // There are thousands, of which few are taken.
        let best = |&(symbol, gain): &(u128, u64)| (Reverse(gain), symbol);
        if gains.len() > MAX_SYMBOLS {
            gains.select_nth_unstable_by_key(MAX_SYMBOLS, best);
            gains.truncate(MAX_SYMBOLS);
        }
        gains.sort_unstable_by_key(best);
        gains.into_iter().map(|(symbol, _)| Symbol::of_number(symbol)).collect()
    }
}

/// What each symbol, as a number, is worth.
type Gains = HashMap<u128, u64, BuildHasherDefault<Mixed>>;

/// Hashes symbols: what they are worth is in no order anyway, and there are never more than a sample has.
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
        /// Of the golden ratio.
        const ODD: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
        let mixed = (number ^ u128::from(self.0)).wrapping_mul(ODD);
        let high = u64::try_from(mixed >> 64).unwrap_or(0);
        // The map looks at the lowest bits, into which nothing was carried from the others.
        self.0 = high ^ high >> 32;
    }
}
