//! The fast encoder, decoder and trainer, compared with naive ones.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use super::matcher::{CHAIN, Matcher, Piece};
use super::train::{Counts, Sample};
use super::{ESCAPE, MAX_SYMBOL, MAX_SYMBOLS, Symbol};

/// Few different bytes, so that symbols share prefixes and end with values. They include zero, which pads the last word
/// of a value.
fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![Just(0), Just(b'a'), Just(b'b'), Just(255), any::<u8>()]
}

fn symbols() -> impl Strategy<Value = BTreeSet<Vec<u8>>> {
    btree_set(vec(byte(), 1..=usize::from(MAX_SYMBOL)), 0..=MAX_SYMBOLS)
}

fn values() -> impl Strategy<Value = Vec<Vec<u8>>> {
    vec(vec(byte(), 0..60), 0..20)
}

/// Values made of symbols and of other bytes.
fn with_values() -> impl Strategy<Value = (BTreeSet<Vec<u8>>, Vec<Vec<u8>>)> {
    symbols().prop_flat_map(|symbols| {
        let words: Vec<_> = symbols.iter().cloned().chain([b"a".to_vec(), vec![0]]).collect();
        let made = vec(prop::sample::select(words), 0..12).prop_map(|words| words.concat());
        let values = vec(prop_oneof![made, vec(byte(), 0..40)], 0..20);
        (Just(symbols), values)
    })
}

fn symbol(bytes: &[u8]) -> Symbol {
    let bytes_of = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u128::from(byte));
    Symbol { bytes: bytes_of, len: u8::try_from(bytes.len()).unwrap() }
}

fn matcher(symbols: &BTreeSet<Vec<u8>>, longest_chain: usize) -> Matcher {
    // One that knew others has forgotten them.
    let mut matcher = Matcher::new();
    let others = [&b"ab"[..], b"b", b"aab", b"aabb", b"aabc", b"abababab"];
    matcher.learn(others.map(symbol).to_vec(), CHAIN);
    matcher.learn(symbols.iter().map(|bytes| symbol(bytes)).collect(), longest_chain);
    matcher
}

/// The longest symbol at each position, or else the byte.
fn cut(symbols: &BTreeSet<Vec<u8>>, value: &[u8]) -> Vec<(Option<u8>, Vec<u8>)> {
    let (mut rest, mut pieces) = (value, Vec::new());
    while !rest.is_empty() {
        let fits = (0..).zip(symbols).filter(|(_, symbol)| rest.starts_with(symbol));
        let (code, len) = match fits.max_by_key(|(_, symbol)| symbol.len()) {
            Some((code, symbol)) => (Some(code), symbol.len()),
            None => (None, 1),
        };
        pieces.push((code, rest[..len].to_vec()));
        rest = &rest[len..];
    }
    pieces
}

/// The symbols with the greatest gain, by the definition in the module docs: all pieces and all pairs of neighbours.
fn next(symbols: &BTreeSet<Vec<u8>>, values: &[Vec<u8>]) -> Vec<Symbol> {
    let (mut singles, mut pairs) = (BTreeMap::new(), BTreeMap::new());
    for value in values {
        let mut before = None;
        for (code, bytes) in cut(symbols, value) {
            let first = (code.is_some() && bytes.len() > 1).then(|| (None, bytes[..1].to_vec()));
            let piece = (code, bytes);
            for piece in [Some(piece.clone()), first].into_iter().flatten() {
                if let Some(before) = before.clone() {
                    *pairs.entry((before, piece.clone())).or_insert(0) += 1;
                }
                *singles.entry(piece).or_insert(0) += 1;
            }
            before = Some(piece);
        }
    }
    let mut gains = BTreeMap::new();
    for ((_, bytes), count) in singles.into_iter().filter(|(_, count)| *count >= 3) {
        let worth = if bytes.len() == 1 { 4 } else { bytes.len() as u64 };
        *gains.entry(symbol(&bytes).as_number()).or_insert(0) += count * worth;
    }
    for (((_, a), (_, b)), count) in pairs.into_iter().filter(|(_, count)| *count >= 3) {
        let both = symbol(&a).with(symbol(&b));
        *gains.entry(both.as_number()).or_insert(0) += count * u64::from(both.len);
    }
    let mut gains: Vec<_> = gains.into_iter().collect();
    gains.sort_by_key(|&(symbol, gain)| (Reverse(gain), symbol));
    gains.into_iter().take(MAX_SYMBOLS).map(|(symbol, _)| Symbol::of_number(symbol)).collect()
}

proptest! {
    #![proptest_config(crate::cases(128))]

    #[test]
    fn a_value_is_cut_into_the_longest_symbols(
        (symbols, values) in with_values(),
        longest_chain in prop_oneof![Just(CHAIN), Just(MAX_SYMBOLS)],
    ) {
        let matcher = matcher(&symbols, longest_chain);
        for value in &values {
            let expected = cut(&symbols, value);
            let mut pieces = Vec::new();
            matcher.pieces(value, |piece| pieces.push(piece));
            let expected_pieces = expected.iter().map(|(code, bytes)| match code {
                Some(code) => Piece((*code).into()),
                None => Piece::byte(bytes[0]),
            });
            prop_assert_eq!(pieces, expected_pieces.collect::<Vec<_>>());
            let mut codes = Vec::new();
            matcher.encode(value, &mut codes);
            let expected_codes = expected.iter().flat_map(|(code, bytes)| match code {
                Some(code) => vec![*code],
                None => vec![ESCAPE, bytes[0]],
            });
            prop_assert_eq!(codes, expected_codes.collect::<Vec<_>>());
        }
    }

    /// Counts are independent of samples counted before.
    #[test]
    fn the_next_symbols_are_worth_the_most((symbols, values) in with_values(), others in values()) {
        let (matcher, mut counts) = (matcher(&symbols, MAX_SYMBOLS), Counts::new());
        counts.count(&matcher, &Sample::of(others));
        counts.next(&matcher);
        let cost = counts.count(&matcher, &Sample::of(values.clone()));
        let pieces = values.iter().flat_map(|value| cut(&symbols, value));
        prop_assert_eq!(cost, pieces.map(|(code, _)| if code.is_some() { 1 } else { 2 }).sum::<usize>());
        prop_assert_eq!(counts.next(&matcher), next(&symbols, &values));
    }
}
