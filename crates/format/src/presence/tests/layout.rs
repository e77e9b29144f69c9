//! The bytes of each layout, and which one is chosen.

use super::*;
use crate::cursor::Cursor;
use crate::error::ErrorKind;
use crate::granule::SectionRef;
use crate::presence::encode::plan;

#[test]
fn the_tags_are_the_indices() {
    for (tag, kind) in (0..).zip(Kind::ALL) {
        assert_eq!((kind.tag(), Kind::from_tag(tag)), (tag, Some(kind)));
    }
    assert_eq!(Kind::from_tag(6), None);
}

/// The kind that the encoder chooses for `set` in a block of `docs` documents, and the length of its payload.
fn chosen(docs: u32, set: impl IntoIterator<Item = usize>) -> (Kind, usize) {
    let words = words(&bits(BLOCK, set));
    let header = plan(words[..].try_into().unwrap(), docs);
    (header.kind, header.payload_len(docs))
}

#[test]
fn the_cheapest_kind_is_chosen_and_of_equals_the_fastest() {
    assert_eq!(chosen(BLOCK_DOCS, []), (Kind::Empty, 0));
    assert_eq!(chosen(BLOCK_DOCS, 0..BLOCK), (Kind::Full, 0));
    assert_eq!(chosen(1000, 0..1000), (Kind::Full, 0));
    assert_eq!(chosen(BLOCK_DOCS, 0..BLOCK - 1), (Kind::Runs, 8));
    assert_eq!(chosen(BLOCK_DOCS, [5]), (Kind::Runs, 8)); // a list is as short, but has no shorter search
    assert_eq!(chosen(BLOCK_DOCS, [5, 7, 9]), (Kind::List, 8));
    assert_eq!(chosen(BLOCK_DOCS, (0..256).map(|i| i * 2)), (Kind::List, 512));
    assert_eq!(chosen(BLOCK_DOCS, (0..257).map(|i| i * 2)), (Kind::Sparse, 784));
    assert_eq!(chosen(BLOCK_DOCS, (0..7920).map(|i| i * 8)), (Kind::Sparse, 8440));
    assert_eq!(chosen(BLOCK_DOCS, (0..7921).map(|i| i * 8)), (Kind::Dense, 8448));
    let runs = |n: usize| (0..n * 20).filter(|i| i % 20 < 15);
    assert_eq!(chosen(BLOCK_DOCS, runs(2110)), (Kind::Runs, 8440));
    assert_eq!(chosen(BLOCK_DOCS, runs(2111)), (Kind::Dense, 8448));
    assert_eq!(chosen(1000, (0..500).map(|i| i * 2)), (Kind::Dense, 136));
}

/// The sections of `set` in `docs` documents.
fn sections(docs: usize, set: impl IntoIterator<Item = usize>) -> (Vec<u8>, Vec<u8>) {
    match encode_bits(&bits(docs, set), true) {
        Presence::Blocks { blocks, jump: Some(jump), .. } => (blocks, jump),
        presence => panic!("{presence:?}"),
    }
}

#[test]
fn a_header_and_its_jump_entry_name_kind_runs_and_values() {
    // The first block full, the second with two runs: 10..=11 and 20.
    let (blocks, jump) = sections(BLOCK + 30, (0..BLOCK).chain([10, 11, 20].map(|low| BLOCK + low)));
    assert_eq!(blocks[..8], [1, 0, 0, 0, 0, 0, 1, 0]);
    assert_eq!(blocks[8..16], [5, 0, 2, 0, 3, 0, 0, 0]);
    assert_eq!(blocks[16..], [10, 0, 20, 0, 0, 0, 2, 0]); // starts, befores
    assert_eq!(jump[..16], [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0]);
    assert_eq!(jump[16..], [0, 0, 1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 5, 0, 2, 0]);
}

#[test]
fn a_list_has_each_document_and_ends_in_zeros() {
    let (blocks, jump) = sections(BLOCK, [3, 700, 0xFFFE]);
    assert_eq!(blocks, [2, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0xBC, 2, 0xFE, 0xFF, 0, 0]);
    assert_eq!(jump, [0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0]);
}

#[test]
fn a_sparse_block_has_starts_and_low_bytes() {
    // Every second document of the first 514: 128 in buckets 0 and 1, one in bucket 2.
    let (blocks, _) = sections(BLOCK, (0..257).map(|i| i * 2));
    assert_eq!(blocks[..8], [3, 0, 0, 0, 1, 1, 0, 0]);
    let payload = &blocks[8..];
    assert_eq!(payload[..10], [0, 0, 128, 0, 0, 1, 1, 1, 1, 1]); // 0, 128, 256, 257, 257
    assert_eq!(payload[512..520], [1, 1, 0, 0, 0, 0, 0, 0]); // starts[256], zero
    assert_eq!(payload[520..524], [0, 2, 4, 6]);
    assert_eq!(payload[520 + 254..], [252, 254, 0, 0, 0, 0, 0, 0, 0, 0]); // bucket 1, bucket 2, zero
}

#[test]
fn a_dense_block_has_ranks_and_words() {
    // Of 600 documents every second one, and 599: two strides.
    let (blocks, _) = sections(600, (0..300).map(|i| i * 2).chain([599]));
    assert_eq!(blocks[..8], [4, 0, 0, 0, 45, 1, 0, 0]);
    assert_eq!(blocks[8..16], [0, 0, 0, 1, 0, 0, 0, 0]); // 0, 256, zero
    assert_eq!(blocks[16..16 + 64], [0x55; 64]);
    assert_eq!(
        blocks[80..96],
        [0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0xD5, 0, 0, 0, 0, 0]
    );
    assert_eq!(blocks.len(), 8 + 136);
}

#[test]
fn the_directory_fields_round_trip() {
    let section = |offset, len| SectionRef { offset, len, crc: 7 };
    let blocks = |jump| Presence::Blocks { values: 3, blocks: section(64, 24), jump };
    let place = Place { section: Section::DirectoryPage, offset: 1000 };
    for (presence, len) in
        [(Presence::None, 1), (Presence::All, 1), (blocks(None), 25), (blocks(Some(section(192, 32))), 45)]
    {
        let mut bytes = Vec::new();
        presence.encode_meta(&mut bytes);
        assert_eq!(bytes.len(), len);
        let decoded = Presence::decode_meta(&mut Cursor::new(place, &bytes), 70_000).unwrap();
        assert_eq!(decoded, presence);
        for cut in 0..len {
            let refused = Presence::decode_meta(&mut Cursor::new(place, &bytes[..cut]), 70_000).unwrap_err();
            assert!(matches!(refused.kind(), ErrorKind::Truncated { .. }), "{refused}");
        }
    }
}

#[test]
fn invalid_directory_fields_are_refused() {
    let section = |len| SectionRef { offset: 64, len, crc: 7 };
    let place = Place { section: Section::DirectoryPage, offset: 1000 };
    let refused = |values, blocks, jump: u64| {
        let mut bytes = Vec::new();
        let presence = Presence::Blocks { values, blocks: section(blocks), jump: Some(section(jump)) };
        presence.encode_meta(&mut bytes);
        let decoded = Presence::decode_meta(&mut Cursor::new(place, &bytes), 70_000);
        decoded.err().map(|error| error.to_string())
    };
    assert_eq!(refused(69_999, 16, 32), None);
    for (values, blocks, jump, why) in [
        (
            70_000,
            16,
            32,
            "directory page at byte 1001: documents with a value: expected at most 69999, found 70000",
        ),
        (0, 16, 32, "directory page at byte 1001: presence blocks without a value"),
        (1, 8, 32, "directory page at byte 1021: expected 16 bytes, found 8"),
        (1, 16, 48, "directory page at byte 1041: length of the jump table: expected 32, found 48"),
    ] {
        assert_eq!(refused(values, blocks, jump).as_deref(), Some(why));
    }
    let tag = Presence::decode_meta(&mut Cursor::new(place, &[4]), 1).unwrap_err();
    assert_eq!(tag.kind(), &ErrorKind::UnknownTag { what: "shape of presence", tag: 4 });
}
