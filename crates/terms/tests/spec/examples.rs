//! Compares every hexadecimal example with the output of the encoders.

use docvalues_terms::bloom::BloomFilterBuilder;
use docvalues_terms::exact_trie::TrieBuilder;
use docvalues_terms::fst::FstBuilder;
use docvalues_terms::hash::hash;
use docvalues_terms::id_blocks::BlocksBuilder;
use docvalues_terms::in_column::{InColumn, InColumnBuilder, Pushed};
use docvalues_terms::packing::{Kind, Template};

use crate::document::Document;

/// The section ids of the form `blocks`, of few keys.
pub(crate) fn block(keys: &[&str]) -> Vec<u8> {
    blocks(keys.iter().copied()).ids
}

pub(crate) fn blocks(
    keys: impl IntoIterator<Item = impl AsRef<[u8]>>,
) -> docvalues_terms::id_blocks::Blocks<Vec<u8>> {
    let mut builder = BlocksBuilder::new();
    keys.into_iter().for_each(|key| assert!(builder.push(key.as_ref())));
    builder.finish().unwrap()
}

/// The index over blocks, one for the keys that begin with each of the words.
pub(crate) fn index(words: &[&str]) -> Vec<u8> {
    let key = |word: &&str| (0..30).map(|i| format!("{word}--------{i:02}")).collect::<Vec<_>>();
    let made = blocks(words.iter().flat_map(key));
    assert_eq!(made.count as usize, words.len());
    made.index.unwrap()
}

pub(crate) fn trie(keys: &[&str]) -> Vec<u8> {
    let mut builder = TrieBuilder::new();
    keys.iter().for_each(|key| builder.push(key.as_bytes()).unwrap());
    builder.finish()
}

pub(crate) fn fst(keys: &[&str]) -> Vec<u8> {
    let mut builder = FstBuilder::new(FstBuilder::REGISTRY);
    keys.iter().for_each(|key| builder.push(key.as_bytes()).unwrap());
    builder.finish()
}

/// The heads and the buckets of four keys of one byte.
pub(crate) fn in_column() -> InColumn<Vec<u8>> {
    let keys = [0x00, 0x21, 0x22, 0xff];
    let mut builder = InColumnBuilder::new(&keys[..1], &keys[3..], 4).unwrap();
    keys.iter().for_each(|key| assert_eq!(builder.push(&[*key]), Pushed::Yes));
    let made = builder.finish();
    assert_eq!(made.heads, keys);
    made
}

/// The bytes that the example `name` claims to show.
fn made(name: &str) -> Vec<u8> {
    match name {
        "id-template" => {
            let mut out = Vec::new();
            Template::new(Kind::Digits, 10, b"doc-", b"").unwrap().encode(&mut out);
            out
        }
        "id-filter" => {
            let mut filter = BloomFilterBuilder::new(2, 16);
            [b"ant", b"bee"].iter().for_each(|id| filter.insert(hash(*id, 0)));
            filter.finish().unwrap()
        }
        "id-block" => block(&["ant", "antelope", "antler"]),
        "id-block-columns" => block(&["1-aX0", "1-bX0", "1-cX7"]),
        "id-starts" => blocks((0..60).map(|i| format!("k{i:02}"))).starts,
        "id-index" => index(&["a", "b", "cat", "cow", "d"]),
        "id-trie" => trie(&["car", "care", "cat", "dog"]),
        "id-fst" => fst(&["a1", "a1x", "b1", "b1x"]),
        "id-buckets" => in_column().starts,
        _ => panic!("nothing makes the example {name:?}"),
    }
}

/// The bytes as an example shows them, without its comments.
fn dump(bytes: &[u8]) -> String {
    let shown = |(line, bytes): (usize, &[u8])| {
        let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{:03x}  {}\n", line * 16, hex.join(" "))
    };
    bytes.chunks(16).enumerate().map(shown).collect()
}

#[test]
fn every_example_is_what_the_encoders_make() {
    let spec = Document::ids();
    let names = spec.examples();
    assert!(names.contains(&"id-fst"));
    for name in names {
        let (made, shown) = (made(name), spec.example(name));
        let made: Vec<Option<u8>> = made.into_iter().map(Some).collect();
        let bytes: Vec<u8> = made.iter().copied().flatten().collect();
        assert!(made == shown, "{name}:\n{}", dump(&bytes));
    }
}
