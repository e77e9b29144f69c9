//! Values compressed by FSST and OnPair: when they are chosen, and refused input.

use super::*;
use crate::binary::{CodeSection, Compressor, InMemory};
use crate::sweep;

fn urls(count: u32) -> Vec<String> {
    (0..count)
        .map(|i| format!("https://www.example.org/shop/item{:06}?ref=mail", i * 7919 % 1_000_000))
        .collect()
}

/// Incompressible bytes.
fn noise(count: u64) -> Vec<[u8; 8]> {
    (0..count).map(|i| (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes()).collect()
}

fn coding<T: AsRef<[u8]>>(values: &[T], compression: Compression) -> &'static str {
    made_as(values, &BinaryOptions { compression, jump_tables: true }).coding.name()
}

#[test]
fn values_are_compressed_only_if_that_is_shorter() {
    for (compression, of_urls) in
        [(Compression::None, "raw"), (Compression::Auto, "fsst"), (Compression::Fsst, "fsst")]
    {
        assert_eq!(coding(&urls(2_000), compression), of_urls, "{compression:?}");
        assert_eq!(coding(&noise(1_000), compression), "raw", "{compression:?}");
        // A table takes more than it saves.
        assert_eq!(coding(&urls(2), compression), "raw", "{compression:?}");
        assert_eq!(coding::<&str>(&[], compression), "raw", "{compression:?}");
    }
    // A saving of less than a fifth: only used on request.
    let little: Vec<_> = noise(8_000).iter().map(|noise| [b"ab", &noise[..]].concat()).collect();
    assert_eq!(coding(&little, Compression::Auto), "raw");
    assert_eq!(coding(&little, Compression::Fsst), "fsst");
}

/// Paths of different hosts.
fn paths(count: u64) -> Vec<String> {
    let words = ["river", "mountain", "forest", "desert", "island", "canyon", "winter", "holiday"];
    let mix = |i: u64| (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
    let path = |i: u64| {
        let word = |shift: u64| words[usize::try_from((mix(i) >> shift) % 8).unwrap()];
        let host = mix(i * i) % 3_000;
        format!("https://host{host:06}.example.org/{}/{}-{}/{i:06x}", word(3), word(6), word(9))
    };
    (0..count).map(path).collect()
}

/// `Auto` compresses 4 KiB of values and more, and tries OnPair from 1 MiB on.
#[test]
fn few_values_are_compressed_only_on_request() {
    let paths = paths(30_000).concat();
    let paths = |len: usize| -> Vec<&[u8]> { paths.as_bytes()[..len].chunks(50).collect() };
    let by_default = [(4_095, "raw"), (4_096, "fsst"), ((1 << 20) - 1, "fsst"), (1 << 20, "onpair")];
    for (len, coded) in by_default {
        assert_eq!(coding(&paths(len), Compression::Auto), coded, "{len}");
    }
    assert_eq!(coding(&paths(2_000), Compression::Fsst), "fsst");
    assert_eq!(coding(&paths(20_000), Compression::OnPair), "onpair");
}

/// `Auto` chooses by size: many words fit the large table, hexadecimal digits the small one.
#[test]
fn onpair_and_fsst_are_chosen_by_size() {
    let paths = paths(30_000);
    assert_eq!(coding(&paths, Compression::Auto), "onpair");
    assert_eq!(coding(&paths, Compression::OnPair), "onpair");
    let digits: Vec<_> =
        noise(80_000).iter().map(|noise| format!("{:016x}", u64::from_le_bytes(*noise))).collect();
    assert_eq!(coding(&digits, Compression::Auto), "fsst");
    assert_eq!(coding(&digits, Compression::OnPair), "onpair");
    assert_eq!(coding(&noise(10_000), Compression::OnPair), "raw");
    for compression in [Compression::Auto, Compression::OnPair] {
        let len = |compression| {
            made_as(&paths, &BinaryOptions { compression, jump_tables: true }).bytes.unwrap().len()
        };
        let (len, fsst) = (len(compression), len(Compression::Fsst));
        assert!(len * 5 < fsst * 4, "{len} {fsst}");
    }
}

#[test]
fn long_values_share_a_table_with_short_ones() {
    let long = urls(3_000).concat();
    let mut values: Vec<_> = urls(500).into_iter().map(String::into_bytes).collect();
    values.insert(0, long.clone().into_bytes());
    values.push(long.into_bytes());
    values.push(vec![0; 5_000]);
    values.push(vec![0xff; 5_000]);
    holds(&values, &[0, 502, 1, 0, u32::MAX, 501, 503]);
    assert!(coded_len(&values) * 3 < values.concat().len());
}

fn coded_len<T: AsRef<[u8]>>(values: &[T]) -> usize {
    let options = BinaryOptions { compression: Compression::Auto, jump_tables: true };
    made_as(values, &options).bytes.map_or(0, |bytes| bytes.len())
}

/// The compression ratio of URLs.
#[test]
fn urls_take_a_quarter() {
    let urls = urls(20_000);
    assert!(coded_len(&urls) * 4 < urls.concat().len(), "{}", coded_len(&urls));
}

#[test]
fn the_same_values_get_the_same_codes() {
    let urls = urls(5_000);
    let options = BinaryOptions { compression: Compression::Fsst, jump_tables: true };
    assert_eq!(made_as(&urls, &options), made_as(&urls, &options));
}

/// Every seventh byte of every section and its last one, of both codings, or every one in the full sweep.
#[test]
fn damaged_sections_are_refused_or_survived() {
    for good in [Compression::Fsst, Compression::OnPair].map(coded) {
        let mut sections = Vec::new();
        let Ok(_) = good.clone().try_map(&mut |section, bytes| {
            sections.push((section, bytes.len()));
            Ok::<_, Infallible>(bytes)
        });
        assert_eq!((sections[0].0, sections[1].0), (Section::Bytes, Section::Symbols));
        for (which, (_, len)) in sections.into_iter().enumerate() {
            // All flips in the full sweep; otherwise by turns.
            let flips = |at| [0x01, 0x80, 0xff].into_iter().skip(sweep(at / 7 % 3, 0)).take(sweep(1, 3));
            let places = (0..len).step_by(sweep(7, 1)).chain(len.saturating_sub(1)..len);
            for (at, flip) in places.flat_map(|at| flips(at).map(move |flip| (at, flip))) {
                let mut number = 0;
                let Ok(bad) = good.clone().try_map(&mut |_, mut bytes| {
                    if number == which {
                        bytes[at] ^= flip;
                    }
                    number += 1;
                    Ok::<_, Infallible>(bytes)
                });
                survive(bad, JumpTables::ALL[at % 2]);
            }
        }
    }
}

/// Hand-written codes: *0* is `ab`, *1* is `c`.
fn by_hand(codes: &[u8], ends: &[i64], total_len: u64) -> Made {
    let symbols = vec![2, 2, 1, b'a', b'b', b'c'];
    Binary { coding: Coding::Fsst { total_len, symbols }, ..with_offsets(codes, ends) }
}

#[test]
fn codes_stand_for_symbols_and_escapes_for_bytes() {
    let made = by_hand(&[0, 1, 0, 255, b'x', 1, 255, 255], &[0, 2, 2, 6, 8], 8);
    let values = [&b"abc"[..], b"", b"abxc", b"\xff"].map(<[u8]>::to_vec);
    reads(&open(made, JumpTables::Baked).unwrap(), &values, &[3, 0, 1, 2, u32::MAX, 0]);
}

#[test]
fn values_that_end_in_an_escape_are_an_error_when_read() {
    // Value 1 ends with an escape, value 2 begins with the byte after it.
    let reader = open(by_hand(&[0, 255, 1, 1], &[0, 1, 2, 4], 5), JumpTables::Baked).unwrap();
    let (buffer, scratch) = (&mut Vec::new(), &mut Scratch::default());
    assert_eq!(reader.get(0, buffer).unwrap(), b"ab");
    let kind = ErrorKind::Broken("a value ends in the middle of an escape");
    assert_eq!(*reader.get(1, buffer).unwrap_err().kind(), kind);
    assert_eq!(*reader.decode(0..3, scratch).unwrap_err().kind(), kind);
    assert_eq!(*reader.decode(0..2, scratch).unwrap_err().kind(), kind);
    assert_eq!(*reader.gather(&[2, 1], scratch, |_| {}).unwrap_err().kind(), kind);
    assert!(reader.verify().is_err());
}

#[test]
fn verify_refuses_codes_that_no_writer_writes() {
    let refusal =
        |made: Made| open(made, JumpTables::Baked).unwrap().verify().unwrap_err().kind().to_string();
    let unknown = by_hand(&[0, 2, 1], &[0, 1, 3], 4);
    assert_eq!(refusal(unknown), "a code without a symbol");
    let total = by_hand(&[0, 1, 1], &[0, 1, 3], 5);
    assert_eq!(refusal(total), "bytes of all values: expected 5, found 4");
}

#[test]
fn invalid_symbol_tables_are_refused_at_opening() {
    let refusal = |symbols: &[u8]| {
        let mut made = by_hand(&[0, 1, 1], &[0, 1, 3], 4);
        made.coding = Coding::Fsst { total_len: 4, symbols: symbols.to_vec() };
        let error = open(made, JumpTables::Baked).unwrap_err();
        assert_eq!(error.section(), Section::Symbols);
        error.kind().to_string()
    };
    for (symbols, message) in [
        (&[][..], "the symbol table is empty"),
        (&[0], "the symbol table is empty"),
        (&[1], "the symbol lengths are truncated"),
        (&[2, 1], "the symbol lengths are truncated"),
        (&[1, 0], "a symbol is empty or too long"),
        (&[1, 16, 0], "a symbol is empty or too long"),
        (&[1, 255], "a symbol is empty or too long"),
        (&[2, 1, 2, b'a', b'b'], "the symbol bytes are truncated"),
        (&[1, 1, b'a', b'b'], "bytes after the last symbol"),
    ] {
        assert_eq!(refusal(symbols), message, "{symbols:?}");
    }
    let whole = [&[255][..], &[15; 255], &[b'a'; 15 * 255]].concat();
    for len in 0..whole.len() {
        refusal(&whole[..len]);
    }
}

/// Hand-written codes of twelve bits: *256* is `ab`, *257* is `cde`.
fn tokens_by_hand(codes: &[u16], ends: &[i64], total_len: u64) -> Made {
    let tokens = vec![2, 0, 2, 3, b'a', b'b', b'c', b'd', b'e'];
    with_tokens(tokens, codes, ends, total_len)
}

fn with_tokens(tokens: Vec<u8>, codes: &[u16], ends: &[i64], total_len: u64) -> Made {
    let mut packed = vec![0; (codes.len() * 3).div_ceil(2)];
    for (i, code) in codes.iter().enumerate() {
        let (at, code) = (i * 3 / 2, code << (i % 2 * 4));
        packed[at] |= code.to_le_bytes()[0];
        packed[at + 1] |= code.to_le_bytes()[1];
    }
    let made = with_offsets(&vec![0; codes.len()], ends);
    Binary { coding: Coding::OnPair { total_len, tokens }, bytes: Some(packed), ..made }
}

#[test]
fn codes_of_twelve_bits_stand_for_tokens_and_bytes() {
    let made = tokens_by_hand(&[256, 120, 257, 256, 255, 0, 257], &[0, 3, 3, 5, 7], 13);
    let values = [&b"abxcde"[..], b"", b"ab\xff", b"\0cde"].map(<[u8]>::to_vec);
    let reader = open(made, JumpTables::Baked).unwrap();
    reads(&reader, &values, &[3, 0, 1, 2, u32::MAX, 0]);
    assert_eq!(reader.compression().unwrap(), "onpair(2)");
}

proptest! {
    #![proptest_config(crate::cases(64))]

    #[test]
    fn prefixes_are_found_without_decoding(
        values in vec(vec(prop_oneof![4 => Just(b'a'), 2 => Just(b'b'), 1 => any::<u8>()], 0..40), 1..300),
        prefixes in vec((any::<prop::sample::Index>(), 0..20_usize, any::<Option<u8>>()), 1..8),
        cut in any::<(prop::sample::Index, prop::sample::Index)>(),
    ) {
        // Values of one length have no offsets.
        for values in [values.clone(), values.iter().map(|_| values[0].clone()).collect()] {
            let made = made_as(&values, &BinaryOptions { compression: Compression::OnPair, jump_tables: true });
            let is_coded = made.coding.name() == "onpair";
            let reader = open(made, JumpTables::Baked).unwrap();
            prop_assert_eq!(reader.can_find_prefix(), is_coded);
            let (start, end) = (cut.0.index(values.len()), cut.1.index(values.len() + 1));
            for (of, len, more) in &prefixes {
                let value = of.get(&values);
                let prefix: Vec<u8> = value.iter().take(*len).copied().chain(*more).collect();
                let (mut found, mut scratch) = (Vec::new(), Scratch::default());
                let range = start.min(end) as u64..end as u64;
                reader.find_prefix(range, &prefix, &mut scratch, |index, is_whole| {
                    found.push((usize::try_from(index).unwrap(), is_whole));
                }).unwrap();
                let expected: Vec<(usize, bool)> = (start.min(end)..end)
                    .filter(|&i| is_coded && values[i].starts_with(&prefix))
                    .map(|i| (i, values[i] == prefix))
                    .collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}

#[test]
fn verify_refuses_tokens_that_no_writer_writes() {
    let refusal =
        |made: Made| open(made, JumpTables::Baked).unwrap().verify().unwrap_err().kind().to_string();
    let unknown = tokens_by_hand(&[256, 258, 257], &[0, 1, 3], 6);
    assert_eq!(refusal(unknown), "a code without a symbol");
    let total = tokens_by_hand(&[256, 257, 97], &[0, 1, 3], 7);
    assert_eq!(refusal(total), "bytes of all values: expected 7, found 6");
    let mut padding = tokens_by_hand(&[256, 257, 97], &[0, 1, 3], 6);
    assert_eq!(open(padding.clone(), JumpTables::Baked).unwrap().verify(), Ok(()));
    padding.bytes.as_mut().unwrap()[4] |= 16;
    assert_eq!(refusal(padding), "padding after the last code is not zero");
}

#[test]
fn codes_that_do_not_fill_their_bytes_are_refused_at_opening() {
    for len in [0, 4, 6] {
        let mut made = tokens_by_hand(&[256, 257, 97], &[0, 1, 3], 6);
        made.bytes.as_mut().unwrap().resize(len, 0);
        let error = open(made, JumpTables::Baked).unwrap_err();
        let expected = if len == 0 { "empty values have a bytes section" } else { "length of the codes" };
        assert!(error.kind().to_string().starts_with(expected), "{error}");
    }
}

#[test]
fn invalid_token_tables_are_refused_at_opening() {
    let refusal = |tokens: &[u8]| {
        let mut made = tokens_by_hand(&[256, 257, 97], &[0, 1, 3], 6);
        made.coding = Coding::OnPair { total_len: 6, tokens: tokens.to_vec() };
        let error = open(made, JumpTables::Baked).unwrap_err();
        assert_eq!(error.section(), Section::Symbols);
        error.kind().to_string()
    };
    for (tokens, message) in [
        (&[][..], "the token table is truncated"),
        (&[1], "the token table is truncated"),
        (&[0, 0], "the token table has no tokens, or too many"),
        (&[1, 15], "the token table has no tokens, or too many"),
        (&[2, 0, 2], "the token lengths are truncated"),
        (&[1, 0, 1, b'a'], "a token is too short or too long"),
        (&[1, 0, 17], "a token is too short or too long"),
        (&[2, 0, 2, 2, b'a', b'b', b'c'], "the token bytes are truncated"),
        (&[1, 0, 2, b'a', b'b', b'c'], "bytes after the last token"),
    ] {
        assert_eq!(refusal(tokens), message, "{tokens:?}");
    }
}

proptest! {
    #![proptest_config(crate::cases(64))]

    /// As [`any_table_and_any_codes`], for codes of twelve bits.
    #[test]
    fn any_tokens_and_any_codes(
        lens in vec(1..=17_u8, 1..8),
        bytes in vec(any::<u8>(), 60),
        codes in vec(prop_oneof![0..300_u16, 0..4096_u16], 1..2_500),
        cuts in vec(any::<prop::sample::Index>(), 0..9),
    ) {
        let mut ends: Vec<i64> = cuts.iter().map(|cut| cut.index(codes.len() + 1) as i64).collect();
        ends.extend([0, codes.len() as i64]);
        ends.sort_unstable();
        let own: usize = lens.iter().map(|&len| usize::from(len)).sum();
        let own = bytes.into_iter().cycle().take(own);
        let tokens = [u8::try_from(lens.len()).unwrap(), 0].into_iter().chain(lens.iter().copied()).chain(own).collect();
        agrees(with_tokens(tokens, &codes, &ends, 0))?;
    }

    /// For arbitrary bytes: no method panics, and if `verify` succeeds, all methods agree.
    #[test]
    fn any_table_and_any_codes(
        lens in vec(0..=17_u8, 0..8),
        symbols in vec(any::<u8>(), 0..60),
        codes in vec(prop_oneof![0..9_u8, Just(255)], 1..2_500),
        cuts in vec(any::<prop::sample::Index>(), 0..9),
    ) {
        let mut ends: Vec<i64> = cuts.iter().map(|cut| cut.index(codes.len() + 1) as i64).collect();
        ends.extend([0, codes.len() as i64]);
        ends.sort_unstable();
        let mut table = vec![u8::try_from(lens.len()).unwrap()];
        table.extend(&lens);
        let own: usize = lens.iter().map(|&len| usize::from(len)).sum();
        table.extend(symbols.iter().copied().cycle().take(if symbols.is_empty() { 0 } else { own }));
        let coding = Coding::Fsst { total_len: 0, symbols: table };
        agrees(Binary { coding, ..with_offsets(&codes, &ends) })?;
    }
}

/// No method panics, and either all of them fail or all agree.
fn agrees(made: Made) -> Result<(), TestCaseError> {
    let Ok(reader) = open(made, JumpTables::Baked) else {
        return Ok(());
    };
    let (buffer, scratch) = (&mut Vec::new(), &mut Scratch::default());
    let single: Result<Vec<Vec<u8>>> =
        (0..reader.count()).map(|i| Ok(reader.get(i, buffer)?.to_vec())).collect();
    let run = decoded(&reader, 0..reader.count());
    let mut gathered = Vec::new();
    let indices: Vec<u32> = (0..u32::try_from(reader.count()).unwrap()).collect();
    let all = reader.gather(&indices, scratch, |value| gathered.push(value.unwrap().to_vec()));
    prop_assert_eq!(single.is_ok(), run.is_ok());
    prop_assert_eq!(single.is_ok(), all.is_ok());
    drop(reader.verify());
    if let Ok(single) = single {
        prop_assert_eq!(&single, &run.unwrap());
        prop_assert_eq!(single, gathered);
    }
    Ok(())
}

/// Batches of values that are decoded in several parts, with indices of no value.
#[test]
fn long_values_are_gathered_in_parts() {
    let values: Vec<Vec<u8>> = (0..400_usize)
        .map(|i| format!("https://host{}.example.org/", i % 7).repeat(i % 90).into_bytes())
        .collect();
    let order: Vec<u32> =
        (0..1_000_u32).map(|i| if i % 9 == 4 { u32::MAX } else { i * 7_919 % 400 }).collect();
    assert_eq!(coding(&values, Compression::OnPair), "onpair");
    holds(&values, &order);
}

/// Groups that are compressed by themselves, and joined.
#[test]
fn groups_of_any_size_give_the_same_section() {
    let strings = urls(2_001);
    let bytes = strings.concat().into_bytes();
    let ends = strings.iter().scan(0, |end, value| {
        *end += value.len() as u64;
        Some(*end)
    });
    let ends: Vec<u64> = ends.collect();
    let all = InMemory { bytes: &bytes, ends: &ends };
    for compression in [Compression::Fsst, Compression::OnPair] {
        let in_groups = |size: usize| {
            let Ok(compressor) = Compressor::train(&all, compression);
            let compressor = compressor.unwrap();
            let (mut section, mut bytes) = (CodeSection::default(), Vec::new());
            let (mut taken, mut ends) = (Vec::new(), Vec::new());
            for group in strings.chunks(size) {
                let codes = compressor.codes(group.iter().map(String::as_bytes));
                let start = section.append(&codes, &mut bytes);
                ends.extend(codes.ends().iter().map(|end| start + end));
                taken.append(&mut bytes);
            }
            let joined = compressor.finish(section, bytes).unwrap();
            taken.extend(joined.bytes);
            (taken, joined.coding, ends)
        };
        let whole = in_groups(5_000);
        for size in [1, 3, 1_000] {
            assert!(in_groups(size) == whole, "{compression:?} {size}");
        }
    }
}
