//! Training of a token table: merges of neighbours that occur often in a sample of the values.
//!
//! As in the paper, one pass over the sample cuts it into the longest tokens so far, and counts pairs of neighbours. A
//! pair that was seen often enough becomes a token at once, and the pass goes on with it. The threshold rises and falls
//! so that the table is full when the sample ends. Then a second pass counts the tokens: those that save fewer bytes
//! than they take in the table go, and frequent ones come first, so that they share cache lines of the decoder.
//!
//! Training is deterministic: the same values yield the same tokens.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::super::mixed::Mixed;
use super::super::{Values, sample};
use super::matcher::{Matcher, Token};
use super::number_map::NumberMap;
use super::{CODES, FIRST_TOKEN, MAX_TOKEN, MAX_TOKENS, bytes_of};

/// The most bytes of a sample, for 7 MiB of values. Twice as many take twice the time and save 3 % of the bytes of URLs,
/// 1 % of those of sentences.
const SAMPLE: usize = 512 << 10;

/// Bytes of a sample for the square root of those of the values.
const FACTOR: usize = 192;

/// The fewest occurrences of a pair that becomes a token.
const LEAST: u32 = 2;

/// The number of new tokens after which the threshold is adjusted.
const STEP: usize = 32;

/// A trained table, and its result on the sample.
#[derive(Debug)]
pub(in crate::binary) struct Trained {
    pub(in crate::binary) matcher: Matcher,
    /// The encoded section of tokens; empty if there are none.
    pub(in crate::binary) tokens: Vec<u8>,
    /// Bytes of the sample.
    pub(in crate::binary) sampled: usize,
    /// Bytes of its codes.
    pub(in crate::binary) encoded: usize,
}

/// Trains a token table on a sample of `strings`.
///
/// # Errors
///
/// When `strings` cannot be read.
pub(in crate::binary) fn train<S: Values>(strings: &S) -> Result<Trained, S::Error> {
    let total_len = strings.total_len();
    Ok(of_sample(&sample::values(strings, sample::len(total_len, FACTOR, SAMPLE))?, total_len))
}

/// Trains a token table on a sample of strings of `total_len` bytes.
fn of_sample(sample: &[Vec<u8>], total_len: u64) -> Trained {
    let sampled: usize = sample.iter().map(|part| part.len()).sum();
    let found = Merger::new(sampled).run(sample);
    let counts = count(&Matcher::new(&found), sample);
    let tokens = found.iter().zip(&counts[FIRST_TOKEN..]);
    // Each use of a token saves at least one code, of a byte and a half.
    let (total, sampled_len) = (u128::from(total_len), sampled as u128);
    let pays = |len: usize, count: u32| u128::from(count) * 3 * total > (len as u128 + 1) * 2 * sampled_len;
    let mut tokens: Vec<_> = tokens.filter(|&(token, &count)| pays(token.len(), count)).collect();
    tokens.sort_unstable_by_key(|&(token, count)| (Reverse(count), token));
    let tokens: Vec<Token> = tokens.into_iter().map(|(token, _)| *token).collect();
    let matcher = Matcher::new(&tokens);
    let codes: u64 = count(&matcher, sample).iter().map(|&count| u64::from(count)).sum();
    let encoded = usize::try_from(bytes_of(codes)).unwrap_or(usize::MAX);
    Trained { matcher, tokens: section(&tokens), sampled, encoded }
}

/// The encoded section of `tokens`, at most [`MAX_TOKENS`].
fn section(tokens: &[Token]) -> Vec<u8> {
    let count = u16::try_from(tokens.len()).unwrap_or(u16::MAX);
    let mut section = count.to_le_bytes().to_vec();
    section.extend(tokens.iter().map(|token| u8::try_from(token.len()).unwrap_or(0)));
    tokens.iter().for_each(|token| token.write(&mut section));
    section
}

/// The number of times that each code occurs.
fn count(matcher: &Matcher, sample: &[Vec<u8>]) -> Vec<u32> {
    let mut counts = vec![0; CODES];
    sample.iter().for_each(|value| matcher.codes(value, |code| counts[usize::from(code)] += 1));
    counts
}

/// The pass that merges neighbours.
struct Merger {
    tokens: Vec<Token>,
    /// A trie of the tokens: the child of a node by a byte, and its code or, if it is no token, 0. The first 256 nodes
    /// are the single bytes.
    children: NumberMap<(u16, u16)>,
    /// The number of nodes.
    nodes: u16,
    /// Occurrences of pairs of codes since they became a token, if they did.
    pairs: HashMap<u32, u32, BuildHasherDefault<Mixed>>,
    threshold: Threshold,
}

impl Merger {
    fn new(sampled: usize) -> Merger {
        let threshold = Threshold { now: LEAST, total: sampled, tokens: 0, scanned: 0 };
        // Tokens have eight bytes, more or less, at the end of a sample, and fewer before.
        let pairs = HashMap::with_capacity_and_hasher(sampled / 8, BuildHasherDefault::default());
        // A merge takes two occurrences of a pair, and adds at most as many nodes as its second token has bytes: there are
        // at most half as many nodes as bytes.
        let children = NumberMap::new(sampled.min(MAX_TOKENS * MAX_TOKEN));
        Merger { tokens: Vec::new(), children, nodes: 256, pairs, threshold }
    }

    fn run(mut self, sample: &[Vec<u8>]) -> Vec<Token> {
        let mut scanned = 0;
        for value in sample.iter().filter(|value| !value.is_empty()) {
            let (mut before, mut start) = (self.longest(value), 0);
            let mut at = before.1;
            while at < value.len() {
                let next = self.longest(&value[at..]);
                let end = at + next.1;
                let merged = match end - start <= MAX_TOKEN {
                    true => self.merge(before.0, next.0, &value[start..end], scanned + end),
                    false => None,
                };
                if self.tokens.len() == MAX_TOKENS {
                    return self.tokens;
                }
                match merged {
                    Some(code) => before = (code, end - start),
                    None => (before, start) = (next, at),
                }
                at = end;
            }
            scanned += value.len();
        }
        self.tokens
    }

    /// The code of the longest token that `text`, which is not empty, begins with; and its length.
    fn longest(&self, text: &[u8]) -> (u16, usize) {
        let first = u16::from(text[0]);
        let (mut node, mut found) = (first, (first, 1));
        for (len, &byte) in (2..).zip(&text[1..]) {
            let Some((child, code)) = self.children.get(child_key(node, byte)) else { break };
            node = child;
            if code != 0 {
                found = (code, len);
            }
        }
        found
    }

    /// Counts the pair of codes `a` and `b`, which stand for `bytes`. Returns the code of the new token, if they become
    /// one.
    fn merge(&mut self, a: u16, b: u16, bytes: &[u8], scanned: usize) -> Option<u16> {
        let count = self.pairs.entry(u32::from(a) << 16 | u32::from(b)).or_insert(0);
        *count += 1;
        if *count < self.threshold.now {
            return None;
        }
        *count = 0;
        let (mut node, mut key) = (u16::from(bytes[0]), 0);
        for &byte in &bytes[1..] {
            key = child_key(node, byte);
            let (child, _) = self.children.entry(key);
            if *child == 0 {
                *child = self.nodes;
                self.nodes += 1;
            }
            node = *child;
        }
        let (_, token) = self.children.entry(key);
        if *token != 0 {
            return None;
        }
        let code = u16::try_from(FIRST_TOKEN + self.tokens.len()).ok()?;
        *token = code;
        self.tokens.push(Token::new(bytes));
        self.threshold.adjust(self.tokens.len(), scanned);
        Some(code)
    }
}

/// The key of a child in the trie: not 0.
fn child_key(node: u16, byte: u8) -> u32 {
    (u32::from(node) << 8 | u32::from(byte)) + 1
}

/// The number of occurrences after which a pair becomes a token.
struct Threshold {
    now: u32,
    /// Bytes of the sample.
    total: usize,
    /// Tokens and bytes at the last adjustment.
    tokens: usize,
    scanned: usize,
}

impl Threshold {
    /// Compares the tokens per byte since the last adjustment with those that would fill the table at the end.
    fn adjust(&mut self, tokens: usize, scanned: usize) {
        let made = tokens - self.tokens;
        if made < STEP {
            return;
        }
        let took = scanned - self.scanned;
        let (room, left) = (MAX_TOKENS - tokens, self.total.saturating_sub(scanned).max(1));
        // made / took against room / left, without a division.
        let (rate, target) = (made * left, room * took);
        if rate > 2 * target {
            self.now += 1;
        } else if rate * 2 < target {
            self.now = LEAST.max(self.now - 1);
        }
        (self.tokens, self.scanned) = (tokens, scanned);
    }
}
