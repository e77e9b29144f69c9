//! Compares every table of tags in the document with the enum or the bytes that it describes.

use std::collections::BTreeMap;

use docvalues_format::binary::{Binary, BinaryOffsets, Coding};
use docvalues_format::dictionary::{Dictionary, Index};
use docvalues_format::error::Section;
use docvalues_format::file::column::{Column, Statistics, Values};
use docvalues_format::file::field::Field;
use docvalues_format::file::kind::{Kind, LogicalType, from_f64, from_u64};
use docvalues_format::file::sort::{self, SORT_TAG, SortKey};
use docvalues_format::granule::SectionRef;
use docvalues_format::numeric::{Decimal, Encoding, Numeric, Role, Stride, Transform};
use docvalues_format::presence::{self, Presence};

use crate::document::Document;
use crate::parts::{meta, present_sections, reference};

/// The tags and names under `title`, and the other cells of each row.
fn tags(title: &str) -> Vec<(u8, String, Vec<String>)> {
    let row = |mut cells: Vec<String>| {
        let rest = cells.split_off(2);
        (cells[0].parse().unwrap(), cells[1].trim_matches('`').to_owned(), rest)
    };
    Document::spec().table(title, "tag").into_iter().map(row).collect()
}

fn names(title: &str) -> Vec<(u8, String)> {
    tags(title).into_iter().map(|(tag, name, _)| (tag, name)).collect()
}

#[test]
fn kinds() {
    let kinds = Kind::ALL.map(|kind| (kind as u8, kind.name().to_owned()));
    assert_eq!(names("Kind"), kinds);
    for (row, kind) in tags("Kind").iter().zip(Kind::ALL) {
        assert_eq!(row.2[0].starts_with("any "), kind.is_multi_valued(), "{row:?}");
        assert_eq!(row.2[1].contains("*offsets*"), kind.is_multi_valued(), "{row:?}");
        assert_eq!(row.2[0].contains("byte string"), kind.is_bytes(), "{row:?}");
    }
}

#[test]
fn logical_types() {
    let found: Vec<(u8, String, String)> =
        tags("Logical type").into_iter().map(|(tag, name, mut rest)| (tag, name, rest.remove(0))).collect();
    let form = |t: LogicalType| if t.is_bytes() { "bytes" } else { "number" };
    let expected = LogicalType::ALL.map(|t| (t as u8, t.name().to_owned(), form(t).to_owned()));
    assert_eq!(found, expected);
    for (row, logical) in tags("Logical type").iter().zip(LogicalType::ALL) {
        assert_eq!(row.2[1].starts_with("16 bytes"), logical.fixed_len() == Some(16), "{row:?}");
    }
    // The mapping of the table: bit 63 inverted; bits 0 to 62 inverted if bit 63 is set.
    for bits in [0, 1, 1 << 63, u64::MAX, 1 << 63 | 12_345, 0x7FF0_0000_0000_0000] {
        assert_eq!(from_u64(bits).cast_unsigned(), bits ^ (1 << 63));
        let inverted = if bits >> 63 == 1 { bits ^ ((1 << 63) - 1) } else { bits };
        assert_eq!(from_f64(f64::from_bits(bits)).cast_unsigned(), inverted);
    }
}

#[test]
fn flags_of_the_statistics() {
    let none = Statistics::default();
    let flags = [
        Statistics { sum: Some(0), ..none },
        Statistics { distinct: Some(0), ..none },
        Statistics { ascending: true, ..none },
        Statistics { descending: true, ..none },
    ];
    let tag = |statistics| {
        let mut bytes = Vec::new();
        column(values(None, None), statistics).encode(0, &mut bytes);
        bytes[bytes.len() - Statistics::ENCODED_LEN]
    };
    let names_of = ["sum", "distinct", "ascending", "descending"].map(str::to_owned);
    let expected: Vec<(u8, String)> = flags.map(tag).into_iter().zip(names_of).collect();
    assert_eq!(names("Statistics"), expected);
}

#[test]
fn extensions_and_flags_of_sort_keys() {
    // The tests of the `terms` crate check the other one.
    assert_eq!(names("Extensions")[0], (u8::try_from(SORT_TAG).unwrap(), "sort".to_owned()));
    let key = SortKey::of("x");
    let flags = [key.clone().descending(), key.missing_first()].map(|key| sort::encode(&[key])[4]);
    let names_of = ["descending", "missing first"].map(str::to_owned);
    assert_eq!(names("Sort key"), flags.into_iter().zip(names_of).collect::<Vec<_>>());
}

#[test]
fn transforms_and_encodings() {
    let transforms: [Transform<SectionRef>; 4] = [
        Transform::Constant(0),
        Transform::Affine { base: 0, gcd: 1 },
        Transform::Table(reference(1)),
        Transform::Decimal(Decimal { base: 0, gcd: 1, digits: 2 }),
    ];
    let expected = transforms.map(|transform| {
        let name = transform.name().to_owned();
        (meta(&Numeric { transform, ..numeric(Role::Values) })[32], name)
    });
    assert_eq!(names("Transforms"), expected);
    assert_eq!(names("Blocks"), Encoding::ALL.map(|encoding| (encoding as u8, encoding.name().to_owned())));
    let widths: Vec<String> = tags("Blocks").into_iter().map(|(_, _, mut rest)| rest.remove(1)).collect();
    let (most, all) = (docvalues_format::bits::MAX_SPLIT_WIDTH, 64);
    assert!(docvalues_format::bits::is_width(all) && !docvalues_format::bits::is_width(most + 1));
    assert_eq!(widths, ["0".to_owned(), format!("1 to {most}, or {all}"), format!("0 to {most}, or {all}")]);
}

#[test]
fn codings() {
    let fsst = Coding::Fsst { total_len: 9, symbols: reference(1) };
    let onpair = Coding::OnPair { total_len: 9, tokens: reference(1) };
    let expected = [Coding::Raw, fsst, onpair].map(|coding| {
        let (name, offsets, mut bytes) = (coding.name().to_owned(), BinaryOffsets::Fixed(1), Vec::new());
        Binary { count: 9, bytes: Some(reference(9)), coding, offsets }.encode_meta(&mut bytes);
        (bytes[9], name)
    });
    assert_eq!(names("Codings"), expected);
}

#[test]
fn shapes_and_kinds_of_presence() {
    let blocks = |jump| Presence::Blocks { values: 1, blocks: reference(1), jump };
    let shapes = [Presence::None, Presence::All, blocks(None), blocks(Some(reference(2)))];
    let expected = shapes.map(|shape| {
        let mut bytes = Vec::new();
        shape.encode_meta(&mut bytes);
        bytes[0]
    });
    let found = names("Fields in the directory of presence");
    assert_eq!(found.iter().map(|(tag, _)| *tag).collect::<Vec<_>>(), expected);
    let kinds = presence::Kind::ALL.map(|kind| (kind.tag(), kind.name().to_owned()));
    assert_eq!(names("Presence blocks"), kinds);
}

/// The formulas of the table, evaluated by this test.
#[test]
fn payloads_of_presence_are_as_long_as_the_table_says() {
    let d = [65_536, 65_535, 9_000, 1_100, 513, 512];
    let mut seen = BTreeMap::new();
    for d in d {
        let sets: [Vec<u32>; 4] = [
            (0..d).step_by(usize::try_from(d / 7).unwrap()).collect(),
            (0..d).step_by(30).collect(),
            (0..d).step_by(2).collect(),
            (1..d / 2).collect(),
        ];
        for set in sets {
            let v = u32::try_from(set.len()).unwrap();
            let (blocks, _) = present_sections(d, set);
            let runs = u32::from(u16::from_le_bytes([blocks[2], blocks[3]]));
            let len = match blocks[0] {
                2 => 2 * v,
                3 => (2 * (d.div_ceil(256) + 1)).next_multiple_of(8) + v,
                4 => (2 * d.div_ceil(512)).next_multiple_of(8) + 64 * d.div_ceil(512),
                5 => 4 * runs,
                tag => panic!("{tag}"),
            };
            assert_eq!(
                blocks.len(),
                8 + len.next_multiple_of(8) as usize,
                "{d} documents, kind {}",
                blocks[0]
            );
            *seen.entry(blocks[0]).or_insert(0) += 1;
        }
    }
    assert_eq!(seen.into_keys().collect::<Vec<_>>(), [2, 3, 4, 5]);
    let formulas: Vec<String> =
        tags("Presence blocks").into_iter().map(|(_, _, mut rest)| rest.remove(0)).collect();
    let expected = [
        "0",
        "0",
        "2 × *v*",
        "round8(2 × (ceil(*d* / 256) + 1)) + *v*",
        "round8(2 × ceil(*d* / 512)) + 64 × ceil(*d* / 512)",
        "4 × `runs`",
    ];
    assert_eq!(formulas, expected);
}

fn numeric(role: Role) -> Numeric<SectionRef> {
    let (jump, zones) = (Some(reference(2)), role.is_values().then_some(reference(4)));
    let transform = match role {
        Role::Values => Transform::Table(reference(3)),
        Role::Offsets | Role::TermOffsets | Role::IdDocs => Transform::Affine { base: 0, gcd: 1 },
    };
    let (blocks, stride, block_shift) = (Some(reference(1)), Stride::Short, 9);
    // These are not part of a column's entry.
    let fine_zones = None;
    Numeric {
        role,
        count: 9,
        min: 0,
        max: 9,
        transform,
        block_shift,
        stride,
        blocks,
        jump,
        zones,
        fine_zones,
    }
}

fn values(offsets: Option<Numeric<SectionRef>>, terms: Option<Dictionary<SectionRef>>) -> Values<SectionRef> {
    Values::Numbers { offsets, values: numeric(Role::Values), terms }
}

fn column(values: Values<SectionRef>, statistics: Statistics) -> Column<SectionRef> {
    let field = Field::new("x", Kind::Numeric, LogicalType::I64);
    let presence = Presence::Blocks { values: 8, blocks: reference(5), jump: Some(reference(6)) };
    Column { field, presence, values, statistics }
}

#[test]
fn the_sections_of_a_column_lie_in_the_order_of_the_table() {
    let terms = || Dictionary {
        count: 99,
        max_len: 9,
        total_len: 99,
        blocks: Some(reference(7)),
        index: Some(Index {
            offsets: numeric(Role::TermOffsets),
            keys: reference(8),
            prefix: Box::default(),
        }),
    };
    let offsets = || numeric(Role::Offsets);
    let binary = |coding| {
        let offsets = BinaryOffsets::Variable(offsets());
        Values::Binary(Binary { count: 9, bytes: Some(reference(9)), coding, offsets })
    };
    let columns = [
        ("`numeric`", values(None, None)),
        ("`binary`", binary(Coding::Fsst { total_len: 9, symbols: reference(10) })),
        ("`sorted`", values(None, Some(terms()))),
        ("`sorted-numeric`", values(Some(offsets()), None)),
        ("`sorted-set`", values(Some(offsets()), Some(terms()))),
    ];
    let mut all = std::collections::BTreeSet::new();
    let rows = Document::spec().table("Order of sections", "kind");
    assert_eq!(rows.len(), columns.len());
    for (row, (name, values)) in rows.iter().zip(columns) {
        let (mut names, mut refs) = (Vec::new(), Vec::new());
        let column = column(values, Statistics::default());
        let mapped = column.clone().try_map(&mut |section: Section, at: SectionRef| {
            names.push(section.name());
            refs.push(at);
            Ok::<_, ()>(at)
        });
        assert_eq!(mapped.as_ref(), Ok(&column));
        all.extend(names.iter().copied());
        assert_eq!(row[..], [name.to_owned(), names.join(", ")]);
    }
    let every = Section::OF_COLUMNS.map(Section::name);
    assert_eq!(all, every.into_iter().collect());
}
