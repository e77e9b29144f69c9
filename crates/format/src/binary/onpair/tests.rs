//! The fast encoder and decoder, compared with naive ones.

use std::collections::BTreeSet;

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use super::matcher::{Matcher, Token};
use super::*;
use crate::binary::InMemory;
use crate::error::Section;

/// Few different bytes, so that tokens begin with each other and end with values. They include zero, which pads the last
/// word of a value.
fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![Just(0), Just(b'a'), Just(b'b'), Just(255), any::<u8>()]
}

/// Tokens, and values made of them and of other bytes.
fn with_values() -> impl Strategy<Value = (BTreeSet<Vec<u8>>, Vec<Vec<u8>>)> {
    btree_set(vec(byte(), 2..=MAX_TOKEN), 1..400).prop_flat_map(|tokens| {
        let words: Vec<_> = tokens.iter().cloned().chain([b"a".to_vec(), vec![0]]).collect();
        let made = vec(prop::sample::select(words), 0..12).prop_map(|words| words.concat());
        (Just(tokens), vec(prop_oneof![made, vec(byte(), 0..40)], 0..20))
    })
}

/// The code of the longest token at each position, or else of the byte.
fn cut(tokens: &BTreeSet<Vec<u8>>, value: &[u8]) -> Vec<u16> {
    let (mut rest, mut codes) = (value, Vec::new());
    while !rest.is_empty() {
        let fits = (256..).zip(tokens).filter(|(_, token)| rest.starts_with(token));
        let (code, len) = match fits.max_by_key(|(_, token)| token.len()) {
            Some((code, token)) => (code, token.len()),
            None => (rest[0].into(), 1),
        };
        codes.push(code);
        rest = &rest[len..];
    }
    codes
}

fn matcher(tokens: &BTreeSet<Vec<u8>>) -> Matcher {
    Matcher::new(&tokens.iter().map(|token| Token::new(token)).collect::<Vec<_>>())
}

fn table(tokens: &BTreeSet<Vec<u8>>) -> TokenTable {
    let lens = tokens.iter().map(|token| u8::try_from(token.len()).unwrap());
    let count = u16::try_from(tokens.len()).unwrap().to_le_bytes();
    let section: Vec<u8> = count.into_iter().chain(lens).chain(tokens.iter().flatten().copied()).collect();
    TokenTable::parse(Place { section: Section::Symbols, offset: 0 }, &section).unwrap()
}

proptest! {
    #![proptest_config(crate::cases(128))]

    #[test]
    fn a_value_is_cut_into_the_longest_tokens((tokens, values) in with_values()) {
        let (matcher, table) = (matcher(&tokens), table(&tokens));
        let (mut packer, mut packed, mut ends, mut all) = (Packer::default(), Vec::new(), vec![0], Vec::new());
        for value in &values {
            matcher.codes(value, |code| packer.push_code(code, &mut packed));
            all.extend(cut(&tokens, value));
            ends.push(packer.codes);
            prop_assert_eq!(packer.codes, all.len() as u64);
        }
        packer.finish(&mut packed);
        prop_assert_eq!(packed.len() as u64, bytes_of(all.len() as u64));

        let codes = |start: u64, end: u64| {
            let (first, last) = place_of(start, end);
            let packed = &packed[usize::try_from(first).unwrap()..usize::try_from(last).unwrap()];
            Codes::new(packed, start, usize::try_from(end - start).unwrap())
        };
        let mut out = Vec::new();
        for (value, ends) in values.iter().zip(ends.windows(2)) {
            let codes = codes(ends[0], ends[1]);
            let unpacked: Vec<u16> = (0..codes.len).map(|i| codes.get(i)).collect();
            prop_assert_eq!(&unpacked, &cut(&tokens, value));
            prop_assert!(table.knows(codes));
            let len = table.decode(codes, &mut out, 0);
            prop_assert_eq!(&out[..len], &value[..]);
        }
        // From any value on, all together.
        for first in 0..ends.len() {
            let mut bounds: Vec<u64> = ends[first..].iter().map(|end| end - ends[first]).collect();
            let codes = codes(ends[first], all.len() as u64);
            table.decode_many(codes, &mut out, &mut bounds);
            let expected: Vec<u64> = (first..ends.len())
                .map(|last| values[first..last].concat().len() as u64)
                .collect();
            prop_assert_eq!(&bounds, &expected);
            prop_assert!(out.starts_with(&values[first..].concat()));
        }
    }

    /// A trained table has different tokens of allowed lengths, and encodes its sample in as many bytes as it says.
    #[test]
    fn training_holds_what_it_promises(values in vec(vec(prop_oneof![Just(b'a'), Just(b'b'), any::<u8>()], 0..60), 0..200)) {
        let ends: Vec<u64> = values.iter().scan(0, |end, value| { *end += value.len() as u64; Some(*end) }).collect();
        let bytes = values.concat();
        let strings = InMemory { bytes: &bytes, ends: &ends };
        let Ok(trained) = train(&strings);
        let Ok(again) = train(&strings);
        prop_assert_eq!(&trained.tokens, &again.tokens);
        let count = usize::from(LittleEndian::read_u16(&trained.tokens));
        let lens = &trained.tokens[2..2 + count];
        prop_assert!(count <= MAX_TOKENS && lens.iter().all(|&len| (2..=MAX_TOKEN).contains(&len.into())));
        let mut rest = &trained.tokens[2 + count..];
        let tokens: BTreeSet<&[u8]> = lens.iter().map(|&len| rest.split_off(..len.into()).unwrap()).collect();
        prop_assert_eq!((tokens.len(), rest.len()), (count, 0));
        let (mut packer, mut packed) = (Packer::default(), Vec::new());
        for value in &values {
            trained.matcher.codes(value, |code| packer.push_code(code, &mut packed));
        }
        packer.finish(&mut packed);
        prop_assert_eq!((trained.sampled, trained.encoded), (bytes.len(), packed.len()));
    }
}

/// Values of 0, 1 and many codes, around the edges of groups and of chunks.
#[test]
fn groups_and_chunks_have_edges() {
    let tokens: BTreeSet<Vec<u8>> = [&b"abcdefghijklmnop"[..], b"xy"].map(<[u8]>::to_vec).into();
    let (matcher, table) = (matcher(&tokens), table(&tokens));
    let mut out = Vec::new();
    for len in (0..20).chain([CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 7]) {
        for before in 0..2 {
            let value = b"abcdefghijklmnop".repeat(len);
            let (mut packer, mut packed) = (Packer::default(), Vec::new());
            for value in [&b"z"[..before], &value[..]] {
                matcher.codes(value, |code| packer.push_code(code, &mut packed));
            }
            packer.finish(&mut packed);
            let (first, last) = place_of(before as u64, (before + len) as u64);
            let packed = &packed[usize::try_from(first).unwrap()..usize::try_from(last).unwrap()];
            let codes = Codes::new(packed, before as u64, len);
            assert_eq!(table.decode(codes, &mut out, 0), value.len());
            assert_eq!(out[..value.len()], value);
            let mut bounds: Vec<u64> = (0..=len as u64).collect();
            table.decode_many(codes, &mut out, &mut bounds);
            assert!(bounds.iter().zip(0..).all(|(&bound, i)| bound == i * 16), "{len}");
            assert_eq!(out[..value.len()], value);
        }
    }
}
