//! The layouts of a column's fields and sections: each row of a table has the bytes of the field.

use docvalues_format::binary::{
    self, Binary, BinaryOffsets, BinaryOptions, Coding, Compression, MAX_SYMBOL, MAX_TOKEN,
};
use docvalues_format::dictionary;
use docvalues_format::error::Section;
use docvalues_format::file::column::Values;
use docvalues_format::granule::SectionRef;
use docvalues_format::id::DocId;
use docvalues_format::jump::JumpTables;
use docvalues_format::numeric::{Decimal, FINE_ZONES_TAG, FineZones, Numeric, Role, Stride, Transform};
use docvalues_format::presence::{Presence, PresenceReader};
use docvalues_format::source::Owned;

use crate::document::Document;
use crate::layouts::{check, check_both, column, f, module};
use crate::parts::{encoded_ref, meta, numbers, present_sections, reference};

#[test]
fn section_reference() {
    let section = SectionRef { offset: 0x0807_0605_0403_0201, len: 0x0F0E_0D0C_0B0A, crc: 0x1312_1110 };
    let fields = [
        f("offset", section.offset.to_le_bytes()),
        f("len", section.len.to_le_bytes()),
        f("crc", section.crc.to_le_bytes()),
    ];
    check_both("Reference", module!("granule.rs"), &encoded_ref(section), &fields);
}

#[test]
fn numeric_fields() {
    let numbers = |transform| Numeric {
        role: Role::Values,
        count: 0x11,
        min: -0x12,
        max: 0x13,
        transform,
        block_shift: 12,
        stride: Stride::Long,
        blocks: Some(reference(1)),
        jump: Some(reference(2)),
        zones: Some(reference(4)),
        fine_zones: Some(reference(5)),
    };
    let fields = |gcd: u64, tag: u8, refs: &[SectionRef]| {
        [
            f("count", 0x11_u64.to_le_bytes()),
            f("min", (-0x12_i64).to_le_bytes()),
            f("max", 0x13_i64.to_le_bytes()),
            f("gcd", gcd.to_le_bytes()),
            f("transform", [tag]),
            f("block_shift", [12]),
            f("stride", [32]),
            f("sections", [3]),
            f("refs", refs.iter().flat_map(|&section| encoded_ref(section)).collect::<Vec<_>>()),
        ]
    };
    let affine = meta(&numbers(Transform::Affine { base: -0x12, gcd: 0x14 }));
    let refs = [1, 2, 4].map(reference);
    check_both("Fields in the directory", module!("numeric/meta.rs"), &affine, &fields(0x14, 1, &refs));
    let decimal = meta(&numbers(Transform::Decimal(Decimal { base: -1, gcd: 0x15, digits: 0x16 })));
    let mut with_digits = fields(0x15, 3, &refs).to_vec();
    with_digits.insert(8, f("digits", [0x16]));
    check_both("Fields in the directory", module!("numeric/meta.rs"), &decimal, &with_digits);
    let table = meta(&numbers(Transform::Table(reference(3))));
    let refs = [1, 2, 3, 4].map(reference);
    check_both("Fields in the directory", module!("numeric/meta.rs"), &table, &fields(0, 2, &refs));
}

#[test]
fn numeric_block_header_and_zone() {
    // Falls by 3 a value; one value is 1 greater. The first number is 1,533 above the smallest.
    let falling = || (0..512).map(|i| 10_000 - 3 * i);
    let mut values: Vec<i64> = falling().collect();
    values[5] += 1;
    // So does the second block, from a greater value: one line for both would take more bytes.
    values.extend(falling().map(|value| value + 1_000_000));
    let column = numbers(&values, Role::Offsets);
    let fields = [
        f("base", 1533_u64.to_le_bytes()),
        f("encoding", [2]),
        f("width", [1]),
        f("payload", [4, 0, 0, 0, 0, 0]),
        f("slope", (-3_i64 << 16).to_le_bytes()),
    ];
    let jump = column.jump.unwrap();
    assert_eq!(column.blocks.unwrap()[..32], jump[..32]);
    check_both("Blocks", module!("numeric/block.rs"), &jump[..32], &fields);

    // One block has no jump table.
    let Numeric { blocks, jump: None, .. } = numbers(&[0, 3, 1, 7], Role::Offsets) else { unreachable!() };
    let short = &blocks.unwrap()[..16];
    let fields = [f("base", [0; 8]), f("encoding", [1]), f("width", [3]), f("payload", [2, 0, 0, 0, 0, 0])];
    check(&Document::spec().layout("Blocks")[..4], short, &fields);

    let values: Vec<i64> = (-7..5000).collect();
    let zones = numbers(&values, Role::Values).zones.unwrap();
    let fields = [f("min", (-7_i64).to_le_bytes()), f("max", 4088_i64.to_le_bytes())];
    check_both("Zone map", module!("numeric/zone.rs"), &zones[..16], &fields);

    let fine_zones = numbers(&values, Role::Values).fine_zones.unwrap();
    let fields = [f("low", [32]), f("high", [42])];
    check_both("Entry of a fine zone", module!("numeric/fine_zone.rs"), &fine_zones[2..4], &fields);
    let row = &Document::spec().table("Extensions", "tag")[2];
    assert_eq!(row[..2], [FINE_ZONES_TAG.to_string(), "`fine_zones`".to_owned()]);
    let body = FineZones::encode_all(&[FineZones { column: 0x0403_0201, section: reference(5) }]);
    let fields = [f("column", [1, 2, 3, 4]), f("section", encoded_ref(reference(5)))];
    check_both("Body of fine zones", module!("numeric/fine_zone.rs"), &body, &fields);
}

#[test]
fn presence_fields() {
    let (blocks, jump) = (reference(1), reference(2));
    let mut bytes = Vec::new();
    Presence::Blocks { values: 0x0403_0201, blocks, jump: Some(jump) }.encode_meta(&mut bytes);
    let fields = [
        f("shape", [3]),
        f("values", [1, 2, 3, 4]),
        f("blocks", encoded_ref(blocks)),
        f("jump", encoded_ref(jump)),
    ];
    let title = "Fields in the directory of presence";
    check_both(title, module!("presence.rs"), &bytes, &fields);
    bytes.clear();
    Presence::Blocks { values: 0x0403_0201, blocks, jump: None }.encode_meta(&mut bytes);
    let fields = [f("shape", [2]), f("values", [1, 2, 3, 4]), f("blocks", encoded_ref(blocks))];
    check(&Document::spec().layout(title)[..3], &bytes, &fields);
}

#[test]
fn presence_block_header_and_jump_entry() {
    let full = 0..65_536;
    let (blocks, jump) = present_sections(65_536 + 300, full.chain((70..270).map(|doc| 65_536 + doc)));
    let header = &blocks[8..16];
    let fields = [f("kind", [5]), f("runs", [1, 0]), f("values", [200, 0, 0, 0])];
    check_both("Presence blocks", module!("presence/header.rs"), header, &fields);
    let fields = [
        f("before", [0, 0, 1, 0]),
        f("payload", [2, 0, 0, 0]),
        f("values", [200, 0, 0, 0]),
        f("kind", [5]),
        f("runs", [1, 0]),
    ];
    check_both("Jump entry", module!("presence/header.rs"), &jump[16..], &fields);

    // Tests that read these blocks check the zero of both.
    for (at, mode) in [(9, JumpTables::BuildOnFirstUse), (16 + 13, JumpTables::Baked)] {
        let (mut blocks, mut jump) = (blocks.clone(), jump.clone());
        let section = if mode == JumpTables::Baked { &mut jump } else { &mut blocks };
        section[at] = 1;
        let meta = Presence::Blocks {
            values: 65_736,
            blocks: Owned::new(Section::Presence, blocks),
            jump: Some(Owned::new(Section::PresenceJump, jump)),
        };
        let reader = PresenceReader::open(meta, 65_836, mode).unwrap();
        let doc = DocId::new(65_600);
        assert!(reader.rank(doc).is_err(), "{mode:?}");
    }
}

/// The payload of the first presence block, whose kind must be `tag`.
fn payload(docs: u32, set: impl IntoIterator<Item = u32>, tag: u8) -> Vec<u8> {
    let (blocks, _) = present_sections(docs, set);
    assert_eq!(blocks[0], tag);
    blocks[8..].to_vec()
}

fn u16s(numbers: impl IntoIterator<Item = u16>) -> Vec<u8> {
    numbers.into_iter().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn presence_payloads() {
    let list = payload(9_000, [1, 5, 300, 8_000], 2);
    check_both("List", module!("presence/list.rs"), &list, &[f("docs", u16s([1, 5, 300, 8_000]))]);

    // 264 values, so that no padding follows: 128 in each of the first two buckets.
    let sparse = payload(9_000, (0..264).map(|i| i * 2), 3);
    let starts = [0, 128, 256].into_iter().chain([264; 34]);
    let lows = (0..264_u16).map(|i| (i * 2).to_le_bytes()[0]).collect::<Vec<u8>>();
    let fields = [f("starts", u16s(starts)), f("lows", lows)];
    check_both("Sparse", module!("presence/sparse.rs"), &sparse, &fields);

    let dense = payload(1_100, (0..1_100).step_by(2), 4);
    let words = [&[0x55; 137][..], &[5], &[0; 54]].concat();
    let fields = [f("ranks", u16s([0, 256, 512])), f("words", words)];
    check_both("Dense", module!("presence/dense.rs"), &dense, &fields);

    let runs = payload(9_000, (5..200).chain(300..700), 5);
    let fields = [f("starts", u16s([5, 300])), f("befores", u16s([0, 195]))];
    check_both("Runs", module!("presence/runs.rs"), &runs, &fields);
}

#[test]
fn binary_fields() {
    let Values::Numbers { offsets: Some(offsets), .. } = column("x").values else { unreachable!() };
    let fsst = [f("total_len", 0x23_u64.to_le_bytes()), f("symbols", encoded_ref(reference(6)))];
    let joined = |fields: &[crate::layouts::Named]| {
        fields.iter().flat_map(|(_, bytes)| bytes.clone()).collect::<Vec<_>>()
    };
    check_both("Fields of fsst", module!("binary/fsst.rs"), &joined(&fsst), &fsst);
    let fields = [
        f("count", 0x21_u64.to_le_bytes()),
        f("variable", [1]),
        f("coding", [1]),
        f("fixed_len", [0; 4]),
        f("bytes", encoded_ref(reference(5))),
        f("coded", joined(&fsst)),
        f("offsets", meta(&offsets)),
    ];
    let mut bytes = Vec::new();
    let coding = Coding::Fsst { total_len: 0x23, symbols: reference(6) };
    let offsets = BinaryOffsets::Variable(offsets);
    Binary { count: 0x21, bytes: Some(reference(5)), coding, offsets }.encode_meta(&mut bytes);
    check_both("Byte strings", module!("binary.rs"), &bytes, &fields);

    bytes.clear();
    let offsets = BinaryOffsets::Fixed(0x22);
    Binary { count: 0x21, bytes: Some(reference(5)), coding: Coding::Raw, offsets }.encode_meta(&mut bytes);
    let [count, _, _, _, data, ..] = fields;
    let fields = [count, f("variable", [0]), f("coding", [0]), f("fixed_len", [0x22, 0, 0, 0]), data];
    check(&Document::spec().layout("Byte strings")[..5], &bytes, &fields);

    let onpair = [f("total_len", 0x23_u64.to_le_bytes()), f("tokens", encoded_ref(reference(6)))];
    // 33 values of 34 codes take 1,683 bytes.
    let bytes = Some(SectionRef { len: 1_683, ..reference(5) });
    let (coding, offsets) =
        (Coding::OnPair { total_len: 0x23, tokens: reference(6) }, BinaryOffsets::Fixed(0x22));
    let mut made = Vec::new();
    Binary { count: 0x21, bytes, coding, offsets }.encode_meta(&mut made);
    check_both("Fields of onpair", module!("binary/onpair.rs"), &made[34..], &onpair);
}

#[test]
fn symbols_of_byte_strings() {
    let words = [&b"wren"[..], b"x"].concat().repeat(90);
    let ends: Vec<u64> = (1..=90).map(|i| i * 5).collect();
    let options = BinaryOptions { compression: Compression::Fsst, jump_tables: true };
    let made = binary::encode(words, &ends, &options).unwrap();
    let Coding::Fsst { symbols, total_len: 450 } = made.coding else { panic!("{made:?}") };
    let (count, rest) = symbols.split_first().unwrap();
    let (lens, own) = rest.split_at((*count).into());
    assert_eq!(lens.iter().map(|&len| usize::from(len)).sum::<usize>(), own.len());
    assert!(lens.iter().all(|&len| (1..=MAX_SYMBOL).contains(&len)));
    let fields = [f("count", [*count]), f("lens", lens), f("symbols", own)];
    check_both("Symbols", module!("binary/fsst.rs"), &symbols, &fields);
}

#[test]
fn tokens_of_byte_strings() {
    let words = [&b"wren"[..], b"x"].concat().repeat(900);
    let ends: Vec<u64> = (1..=900).map(|i| i * 5).collect();
    let options = BinaryOptions { compression: Compression::OnPair, jump_tables: true };
    let made = binary::encode(words, &ends, &options).unwrap();
    let Coding::OnPair { tokens, total_len: 4_500 } = made.coding else { panic!("{made:?}") };
    let (count, rest) = tokens.split_first_chunk().unwrap();
    let (lens, own) = rest.split_at(u16::from_le_bytes(*count).into());
    assert_eq!(lens.iter().map(|&len| usize::from(len)).sum::<usize>(), own.len());
    assert!(lens.iter().all(|&len| (2..=MAX_TOKEN).contains(&len.into())));
    let fields = [f("count", *count), f("lens", lens), f("tokens", own)];
    check_both("Tokens and their codes", module!("binary/onpair.rs"), &tokens, &fields);
}

#[test]
fn dictionary_fields_and_block() {
    let Values::Numbers { terms: Some(terms), .. } = column("x").values else { unreachable!() };
    let mut bytes = Vec::new();
    terms.encode_meta(&mut bytes);
    let fields = [
        f("count", [5, 0, 0, 0]),
        f("max_len", [7, 0, 0, 0]),
        f("total_len", [8, 0, 0, 0, 0, 0, 0, 0]),
        f("blocks", encoded_ref(reference(9))),
        f("offsets", meta(&terms.index.unwrap().offsets)),
        f("keys", encoded_ref(reference(11))),
        f("prefix_len", [4]),
        f("prefix", "http"),
    ];
    check_both("Dictionary", module!("dictionary.rs"), &bytes, &fields);

    let long = [b'a'; 300];
    let block = dictionary::encode([&long[..280], &long[..], b"b"], true).unwrap().blocks.unwrap();
    let ends = [&long[..], b"b"].concat();
    let fields =
        [f("class", [2]), f("shared", u16s([0, 280, 0])), f("own", u16s([280, 20, 1])), f("ends", ends)];
    check_both("Block", module!("dictionary/block.rs"), &block, &fields);
}
