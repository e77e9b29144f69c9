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
use std::hash::BuildHasherDefault;

use super::super::mixed::Mixed;
use super::super::{Values, sample};
use super::matcher::{CHAIN, Matcher, PIECES, Piece};
use super::{MAX_SYMBOLS, Symbol};

/// The most bytes of a sample, for 64 MiB of values. Longer samples took longer and made no better tables.
const SAMPLE: usize = 128 << 10;

/// Bytes of a sample for the square root of those of the values.
const FACTOR: usize = 16;

/// The most rounds.
const ROUNDS: usize = 20;

/// The number of rounds without a better table after which training stops.
const PATIENCE: usize = 2;

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
    let sample = sample::values(strings, sample::len(strings.total_len(), FACTOR, SAMPLE))?;
    Ok(of_sample(&Sample::of(sample)))
}

/// Trains a symbol table on a sample.
fn of_sample(sample: &Sample) -> Trained {
    let sampled = sample.len();
    let mut counts = Counts::new();
    let mut matcher = Matcher::new();
    let (mut best, mut least) = (Vec::new(), counts.count(&matcher, sample));
    let mut last = 0;
    for round in 1..=ROUNDS {
        matcher.learn(counts.next(&matcher), MAX_SYMBOLS);
        let encoded = counts.count(&matcher, sample);
        if encoded < least {
            (best, least, last) = (matcher.symbols().to_vec(), encoded, round);
        } else if round - last >= PATIENCE {
            break;
        }
    }
    matcher.learn(best, CHAIN);
    Trained { matcher, sampled, encoded: least }
}

/// Values to train symbols with.
pub(super) struct Sample {
    values: Vec<Vec<u8>>,
    /// The bytes that occur, as pieces.
    bytes: Vec<Piece>,
}

impl Sample {
    pub(super) fn of(values: Vec<Vec<u8>>) -> Sample {
        let mut occurs = [false; 256];
        values.iter().flatten().for_each(|&byte| occurs[usize::from(byte)] = true);
        let bytes = (0..=u8::MAX).filter(|&byte| occurs[usize::from(byte)]).map(Piece::byte).collect();
        Sample { values, bytes }
    }

    /// Bytes of all values.
    fn len(&self) -> usize {
        self.values.iter().map(Vec::len).sum()
    }
}

/// Occurrences of pieces in a sample, alone and in pairs.
///
/// The first byte of each symbol counts as a piece as well. Otherwise a byte that is part of symbols would never be a
/// candidate itself.
pub(super) struct Counts {
    single: [u32; PIECES],
    /// A row and a column for each piece that may occur, so few symbols and bytes have a small matrix. Row 0 is for
    /// pieces at the start of a value, and column 0 for nothing.
    pairs: Vec<u32>,
    places: [Place; PIECES],
    /// The piece of each column.
    columns: Vec<Option<Piece>>,
    /// The gain of each candidate; kept to reuse its memory.
    gains: Gains,
}

/// Positions of a piece in the matrix of pairs.
#[derive(Clone, Copy, Default)]
struct Place {
    /// The start of its row.
    row: usize,
    column: usize,
    /// The column of its first byte, if it is a symbol of several bytes.
    first: usize,
}

impl Counts {
    pub(super) fn new() -> Counts {
        Counts {
            single: [0; PIECES],
            pairs: Vec::new(),
            places: [Place::default(); PIECES],
            columns: Vec::new(),
            gains: Gains::default(),
        }
    }

    /// Counts the pieces of `sample`, and returns the length of their codes.
    pub(super) fn count(&mut self, matcher: &Matcher, sample: &Sample) -> usize {
        self.clear(matcher, sample);
        let Counts { single, pairs, places, .. } = self;
        let mut cost = 0;
        for value in &sample.values {
            let mut before = 0;
            matcher.pieces(value, |piece| {
                let Place { row, column, first } = places[piece.index()];
                cost += piece.cost();
                single[piece.index()] += 1;
                pairs[before + column] += 1;
                pairs[before + first] += 1;
                before = row;
            });
        }
        for (code, symbol) in longer(matcher) {
            single[Piece::byte(symbol.first()).index()] += single[code];
        }
        cost
    }

    /// Clears all counts, and makes room for the pieces that may occur.
    fn clear(&mut self, matcher: &Matcher, sample: &Sample) {
        let Counts { single, pairs, places, columns, .. } = self;
        single.fill(0);
        columns.clear();
        columns.push(None);
        columns.extend((0..).map(Piece).take(matcher.symbols().len()).map(Some));
        columns.extend(sample.bytes.iter().copied().map(Some));
        let rows = columns.len();
        columns.resize(rows.next_multiple_of(TOGETHER), None);
        for (column, piece) in columns.iter().enumerate().filter_map(|(i, piece)| Some((i, (*piece)?))) {
            places[piece.index()] = Place { row: column * columns.len(), column, first: 0 };
        }
        for (code, symbol) in longer(matcher) {
            places[code].first = places[Piece::byte(symbol.first()).index()].column;
        }
        pairs.clear();
        pairs.resize(rows * columns.len(), 0);
    }

    /// The symbols with the greatest gain.
    pub(super) fn next(&mut self, matcher: &Matcher) -> Vec<Symbol> {
        let Counts { single, pairs, columns, gains, .. } = self;
        // Several candidates may be the same string: their gains add up.
        let mut add = |symbol: Symbol, gain| *gains.entry(symbol.as_number()).or_insert(0) += gain;
        for (a, row) in columns.iter().zip(pairs.chunks_exact(columns.len())) {
            // A pair is at most as frequent as its first piece.
            let Some(a) = a.filter(|a| single[a.index()] >= LEAST) else { continue };
            let symbol = matcher.symbol(a);
            let worth = if symbol.len == 1 { SINGLE } else { symbol.len.into() };
            add(symbol, u64::from(single[a.index()]) * worth);
            for (bs, counts) in columns.chunks_exact(TOGETHER).zip(row.chunks_exact(TOGETHER)) {
                // The OR of the counts is at least each of them.
                if counts.iter().fold(0, |bits, count| bits | count) < LEAST {
                    continue;
                }
                for (b, &count) in bs.iter().zip(counts).filter(|(_, count)| **count >= LEAST) {
                    let Some(b) = *b else { continue };
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

/// The symbols of several bytes, with their codes.
fn longer(matcher: &Matcher) -> impl Iterator<Item = (usize, &Symbol)> {
    matcher.symbols().iter().enumerate().filter(|(_, symbol)| symbol.len > 1)
}

/// The gain of each symbol, keyed by its number.
type Gains = HashMap<u128, u64, BuildHasherDefault<Mixed>>;
