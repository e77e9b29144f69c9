//! FSST-compressed values: when they are chosen, and refused input.

use super::*;

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
        assert_eq!(coding(&urls(1_000), compression), of_urls, "{compression:?}");
        assert_eq!(coding(&noise(1_000), compression), "raw", "{compression:?}");
        // A table takes more than it saves.
        assert_eq!(coding(&urls(2), compression), "raw", "{compression:?}");
        assert_eq!(coding::<&str>(&[], compression), "raw", "{compression:?}");
    }
    // A saving of less than a fifth: only used on request.
    let little: Vec<_> = noise(2_000).iter().map(|noise| [b"ab", &noise[..]].concat()).collect();
    assert_eq!(coding(&little, Compression::Auto), "raw");
    assert_eq!(coding(&little, Compression::Fsst), "fsst");
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

proptest! {
    #![proptest_config(crate::cases(64))]

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
        let Ok(reader) = open(Binary { coding, ..with_offsets(&codes, &ends) }, JumpTables::Baked) else {
            return Ok(());
        };
        let (buffer, scratch) =
            (&mut Vec::new(), &mut Scratch::default());
        let single: Result<Vec<Vec<u8>>> =
            (0..reader.count()).map(|i| Ok(reader.get(i, buffer)?.to_vec())).collect();
        let run = decoded(&reader, 0..reader.count());
        let mut gathered = Vec::new();
        let indices: Vec<u32> = (0..u32::try_from(reader.count()).unwrap()).collect();
        let all = reader.gather(&indices, scratch, |value| gathered.push(value.unwrap().to_vec()));
        prop_assert_eq!(single.is_ok(), run.is_ok());
        prop_assert_eq!(single.is_ok(), all.is_ok());
        if let Ok(single) = single {
            prop_assert_eq!(&single, &run.unwrap());
            prop_assert_eq!(single, gathered);
        }
    }
}
