//! Checks the constants, and every number from 100 up in the prose: each is part of a sentence that is generated
//! from the code.

use docvalues_format::error::Section;
use docvalues_format::source::Owned;
use docvalues_terms::bloom::{LINE, MAX_BITS, lines};
use docvalues_terms::hash::hash;
use docvalues_terms::id_blocks::{Blocks, BlocksReader};
use docvalues_terms::ids::{MAX_BOUND, MAX_ID_LEN};
use docvalues_terms::in_column::{BUCKET_KEYS, GROUP_BUCKETS, MAX_LEN, MAX_TIES};
use docvalues_terms::packing::{Kind, Packed, Template};

use crate::document::{Document, number};
use crate::examples::{blocks, index};

/// Whether a reader takes a block of `n` keys of one byte each.
fn is_read(n: u8) -> bool {
    let keys: Vec<u8> = (0..n).collect();
    let ids = [&[n, 2, 0, 1, 0][..], &keys].concat();
    let (end, count) = (u64::try_from(ids.len()).unwrap(), u32::from(n));
    let mut starts = vec![7, 7, 0, 0, 0, 0, 0, 0];
    docvalues_format::bits::pack(&[0, end], 7, &mut starts);
    docvalues_format::bits::pack(&[0, count.into()], 7, &mut starts);
    let [ids, starts] = [(Section::Ids, ids), (Section::IdStarts, starts)].map(|(s, b)| Owned::new(s, b));
    BlocksReader::open(Blocks { count: 1, ids, starts, index: None }, count).is_ok()
}

/// The most labels of a node that are listed: one byte each, after flags and count.
fn most_listed() -> usize {
    let is_listed = |labels: u8| {
        let words: Vec<String> = (0..=labels).map(|i| char::from(b'0' + i).to_string()).collect();
        index(&words.iter().map(String::as_str).collect::<Vec<_>>())[2..] == *words[1..].concat().as_bytes()
    };
    (2..70).filter(|&labels| is_listed(labels)).map(usize::from).max().unwrap()
}

/// The most bytes after the prefix of a block whose constant columns are left out.
fn most_columns() -> usize {
    let shape =
        |len: usize| blocks([b'a', b'b'].map(|byte| [&[byte][..], &vec![b'x'; len - 1]].concat())).ids[1];
    (2..1000).filter(|&len| shape(len) == 3).max().unwrap()
}

fn constant(name: &str) -> u64 {
    let int = |n: usize| n as u64;
    match name {
        "MAX_ID_LEN" => int(MAX_ID_LEN),
        "MAX_BOUND" => int(MAX_BOUND),
        "MAX_FILTER_BITS" => MAX_BITS.into(),
        "FILTER_LINE" => int(LINE),
        "MAX_ID_DIGITS" => {
            (0..300).filter(|&n| Template::new(Kind::Digits, n, b"", b"").is_some()).count() as u64
        }
        "MAX_KEYS" => (1..=127).filter(|&n| is_read(n)).count() as u64,
        "MAX_BYTE_COLUMNS" => int(most_columns()),
        "MAX_LISTED" => int(most_listed()),
        "MAX_COLUMN_ID" => int(MAX_LEN),
        "BUCKET_KEYS" => BUCKET_KEYS.into(),
        "GROUP_BUCKETS" => int(GROUP_BUCKETS),
        "MAX_TIES" => MAX_TIES.into(),
        _ => panic!("an unknown constant: {name}"),
    }
}

#[test]
fn every_constant_is_the_code_s() {
    for row in Document::ids().table("Ids", "constant") {
        let name = row[0].trim_matches('`');
        assert_eq!(number(&row[1]), Some(constant(name)), "{name}");
    }
}

/// Sentences with the numbers that the code gives them.
fn sentences() -> Vec<String> {
    let starts = blocks((0..60).map(|i| format!("k{i:02}")));
    assert_eq!((starts.count, starts.ids.len()), (2, 86 + 46));
    let digits = Template::new(Kind::Digits, 10, b"doc-", b"").unwrap();
    let mut buffer = Packed::default();
    let packed = digits.pack(b"doc-0000000258", &mut buffer).unwrap();
    let packed: Vec<String> = packed.iter().map(|byte| format!("{byte:02x}")).collect();
    let bits = LINE * 8;
    assert_eq!([lines(32, 16), lines(33, 16), lines(0, 16)], [1, 2, 0]);
    vec![
        format!("`doc-0000000258` is packed to `{}`", packed.join(" ")),
        format!("There are `ceil(count × filter_bits / {bits})` lines"),
        format!("The XXH3 of no bytes is `0x{:016X}` with seed 0.", hash(b"", 0)),
        format!("Their hashes are `0x{:016X}` and `0x{:016X}`", hash(b"ant", 0), hash(b"bee", 0)),
        "60 keys `k00` to `k59`, in blocks of 40 and 20, which take 86 and 46 bytes".to_owned(),
    ]
}

#[test]
fn every_number_from_100_up_is_the_code_s() {
    let mut prose = Document::ids().prose();
    for sentence in sentences() {
        assert!(prose.contains(&sentence), "the document does not say {sentence:?}");
        prose = prose.replace(&sentence, "¶");
    }
    // Numbers of chapters, as links have them.
    let prose: String =
        prose.split("](#").map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit())).collect();
    let words = prose.split(|c: char| !c.is_alphanumeric() && c != ',' && c != '_');
    let left: Vec<&str> = words.filter(|word| number(word).is_some_and(|number| number >= 100)).collect();
    assert_eq!(left, <[&str; 0]>::default(), "numbers that no sentence here explains");
}

#[test]
fn every_part_of_a_file_that_errors_name_is_in_the_document() {
    let prose = Document::ids().prose();
    use Section::{IdDocs, IdDocsJump, IdFilter, IdIndex, IdStarts, Ids};
    for section in [Ids, IdStarts, IdIndex, IdFilter, IdDocs, IdDocsJump] {
        assert!(prose.contains(section.name()), "{section}");
    }
}

/// The salts as the document has them make the filter's bits.
#[test]
fn salts() {
    let prose = Document::ids().prose();
    let shown = prose.split("SALTS = ").nth(1).unwrap();
    let salts: Vec<u32> = shown
        .split(' ')
        .take(8)
        .map(|salt| u32::from_str_radix(salt[2..].trim_end_matches(','), 16).unwrap())
        .collect();
    assert_eq!(salts.len(), 8);
    for id in [&b"ant"[..], b"bee", b""] {
        let hash = hash(id, 7);
        let mut filter = docvalues_terms::bloom::BloomFilterBuilder::new(1000, 10);
        filter.insert(hash);
        let made = filter.finish().unwrap();
        let count = made.len() as u64 / 64;
        let mut expected = vec![0_u8; made.len()];
        let line = usize::try_from(((hash >> 32) * count) >> 32).unwrap();
        for (word, salt) in salts.iter().enumerate() {
            let low = u32::try_from(hash & 0xffff_ffff).unwrap();
            let bit = (low.wrapping_mul(*salt) >> 26) as usize;
            expected[line * 64 + word * 8 + bit / 8] |= 1 << (bit % 8);
        }
        assert!(made == expected);
    }
}
