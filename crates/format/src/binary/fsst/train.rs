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
    let mut matcher = Matcher::new(Vec::new());
    let mut best = Trained { matcher: matcher.clone(), sampled, encoded: counts.count(&matcher, &sample) };
    let mut last = 0;
    for round in 1..=ROUNDS {
        matcher = counts.next(&matcher);
        let encoded = counts.count(&matcher, &sample);
        if encoded < best.encoded {
            best = Trained { matcher: matcher.clone(), sampled, encoded };
            last = round;
        } else if round - last >= PATIENCE {
            break;
        }
    }
    Ok(best)
}

/// How often pieces occur in a sample, alone and in pairs.
struct Counts {
    single: Vec<u32>,
    /// The pair of *a* and *b* at `a * PIECES + b`.
    pairs: Vec<u32>,
}

impl Counts {
    fn new() -> Counts {
        Counts { single: vec![0; PIECES], pairs: vec![0; PIECES * PIECES] }
    }

    /// Counts the pieces of `sample`, and returns the bytes of their codes.
    ///
    /// The first byte of each symbol counts as a piece, too: or a byte that is part of symbols would
    /// never be a candidate itself.
    fn count(&mut self, matcher: &Matcher, sample: &[Vec<u8>]) -> usize {
        let rows = self.pairs.chunks_exact_mut(PIECES).zip(&self.single);
        rows.filter(|(_, count)| **count > 0).for_each(|(row, _)| row.fill(0));
        self.single.fill(0);
        let mut cost = 0;
        for value in sample {
            let mut before = None;
            for piece in matcher.pieces(value) {
                let symbol = matcher.symbol(piece);
                self.add(before, piece);
                if symbol.len > 1 {
                    self.add(before, Piece::byte(symbol.first()));
                }
                cost += piece.cost();
                before = Some(piece);
            }
        }
        cost
    }

    fn add(&mut self, before: Option<Piece>, piece: Piece) {
        self.single[usize::from(piece.0)] += 1;
        if let Some(before) = before {
            self.pairs[usize::from(before.0) * PIECES + usize::from(piece.0)] += 1;
        }
    }

    /// The table of what was worth the most.
    fn next(&self, matcher: &Matcher) -> Matcher {
        let mut gains = Vec::new();
        let pieces = || (0..).map(Piece).take(PIECES);
        for (a, (&count, row)) in pieces().zip(self.single.iter().zip(self.pairs.chunks_exact(PIECES))) {
            if count == 0 {
                continue;
            }
            let symbol = matcher.symbol(a);
            let worth = if symbol.len == 1 { SINGLE } else { symbol.len.into() };
            if count >= LEAST {
                gains.push((symbol.as_number(), u64::from(count) * worth));
            }
            for (b, &count) in pieces().zip(row).filter(|(_, count)| **count >= LEAST) {
                let both = symbol.with(matcher.symbol(b));
                gains.push((both.as_number(), u64::from(count) * u64::from(both.len)));
            }
        }
        // One string may be several candidates: together they are worth what each is.
        gains.sort_unstable_by_key(|gain| gain.0);
        gains.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        // There are thousands, of which few are taken.
        let best = |&(symbol, gain): &(u128, u64)| (Reverse(gain), symbol);
        if gains.len() > MAX_SYMBOLS {
            gains.select_nth_unstable_by_key(MAX_SYMBOLS, best);
            gains.truncate(MAX_SYMBOLS);
        }
        gains.sort_unstable_by_key(best);
        Matcher::new(gains.into_iter().map(|(symbol, _)| Symbol::of_number(symbol)).collect())
    }
}
