//! Every layout: each row of its table has the bytes of the field at its offset, and every byte belongs to a row.

use docvalues_format::cursor::Cursor;
use docvalues_format::dictionary::{Dictionary, Index};
use docvalues_format::error::{ErrorKind, Place, Section};
use docvalues_format::file::column::{Column, Statistics, Values};
use docvalues_format::file::directory::DirectoryBuilder;
use docvalues_format::file::field::Field;
use docvalues_format::file::frame::{END_MAGIC, Footer, Header, MAGIC, VERSION};
use docvalues_format::file::kind::{Kind, LogicalType};
use docvalues_format::file::root::{ROOT_ENTRY_LEN, Root};
use docvalues_format::file::sort::{self, SortKey};
use docvalues_format::granule::SectionRef;
use docvalues_format::numeric::{Numeric, Role, Stride, Transform};
use docvalues_format::presence::Presence;

use crate::document::Document;
use crate::parts::{meta, numbers, reference};
pub(crate) use crate::rows::{Named, check, f};

/// Compares the table under `title` in the document, and the one from `first` in the module.
pub(crate) fn check_both(title: &str, module: &str, bytes: &[u8], fields: &[Named]) {
    check(&Document::spec().layout(title), bytes, fields);
    check(&Document::new(module).layout_from(fields[0].0), bytes, fields);
}

macro_rules! module {
    ($path:literal) => {
        include_str!(concat!("../../src/", $path))
    };
}

pub(crate) use module;

/// The header or footer with byte `at` replaced, and a valid checksum.
fn forged(mut bytes: [u8; 64], at: usize, crc: usize) -> [u8; 64] {
    bytes[at] = 0x40;
    let sum = crc32fast::hash(&bytes[..crc]);
    bytes[crc..crc + 4].copy_from_slice(&sum.to_le_bytes());
    bytes
}

#[test]
fn header() {
    let header =
        Header { version: 0x0201, required: 0x0605_0403, optional: 0x0A09_0807, writer: [12, 13, 14] };
    let bytes = header.encode();
    let fields = [
        f("magic", MAGIC),
        f("version", [1, 2]),
        f("required", [3, 4, 5, 6]),
        f("optional", [7, 8, 9, 10]),
        f("writer", [12, 0, 13, 0, 14, 0]),
        f("crc", crc32fast::hash(&bytes[..60]).to_le_bytes()),
    ];
    check_both("Header", module!("file/frame.rs"), &bytes, &fields);
    let magic = format!("`{}`", MAGIC.map(|byte| format!("{byte:02x}")).join(" "));
    assert_eq!(Document::spec().table("Header", "offset")[0][3], magic);
}

#[test]
fn invalid_header_fields_are_refused_by_row() {
    for row in Document::spec().layout("Header") {
        let at = row.offset.unwrap();
        let found = Header::decode(&forged(Header::current().encode(), at, 60));
        match (row.field.as_str(), found) {
            ("optional" | "writer" | "crc", found) => assert!(found.is_ok()),
            ("magic", Err(e)) => assert!(matches!(e.kind(), ErrorKind::Magic { .. })),
            ("version", Err(e)) => {
                let writer = Some(Header::current().writer);
                assert_eq!(e.kind(), &ErrorKind::TooNew { found: 0x40, newest: VERSION, writer });
            }
            ("required", Err(e)) => assert_eq!(e.kind(), &ErrorKind::UnknownFeatures { flags: 0x40 }),
            ("zero" | "reserved", Err(e)) => assert!(matches!(e.kind(), ErrorKind::Broken(_))),
            (_, found) => panic!("{row:?}: {found:?}"),
        }
    }
}

#[test]
fn footer() {
    let id = u128::from_le_bytes(std::array::from_fn(|i| 30 + u8::try_from(i).unwrap()));
    let footer = Footer {
        root_offset: 0x91,
        root_len: 0x92,
        root_crc: 0x93,
        docs: 0x94,
        columns: 0x95,
        id,
        required: 0x96,
    };
    let bytes = footer.encode();
    let fields = [
        f("root_offset", 0x91_u64.to_le_bytes()),
        f("root_len", 0x92_u32.to_le_bytes()),
        f("root_crc", 0x93_u32.to_le_bytes()),
        f("docs", 0x94_u32.to_le_bytes()),
        f("columns", 0x95_u32.to_le_bytes()),
        f("id", id.to_le_bytes()),
        f("version", VERSION.to_le_bytes()),
        f("required", 0x96_u32.to_le_bytes()),
        f("crc", crc32fast::hash(&bytes[..48]).to_le_bytes()),
        f("magic", END_MAGIC),
    ];
    check_both("Footer", module!("file/frame.rs"), &bytes, &fields);
    let magic = END_MAGIC.map(|byte| format!("{byte:02x}")).join(" ");
    let magic = format!("`{magic}` (`{}`)", str::from_utf8(&END_MAGIC).unwrap());
    assert_eq!(Document::spec().table("Footer", "offset").pop().unwrap()[3], magic);
}

#[test]
fn invalid_footer_fields_are_refused_by_row() {
    let footer =
        Footer { root_offset: 64, root_len: 32, root_crc: 1, docs: 2, columns: 1, id: 3, required: 0 };
    for row in Document::spec().layout("Footer") {
        let at = row.offset.unwrap();
        let found = Footer::decode(&forged(footer.encode(), at, 48), 192);
        match (row.field.as_str(), found) {
            ("root_crc" | "docs" | "columns" | "id" | "crc", found) => assert!(found.is_ok()),
            // The forged offset is byte 64, at which the root was.
            ("root_offset", found) => assert_eq!(found.unwrap(), footer),
            ("root_len", found) => assert_eq!(found.unwrap().root_len, 64),
            ("magic", Err(e)) => assert!(matches!(e.kind(), ErrorKind::NoFooter { .. })),
            ("version", Err(e)) => {
                assert_eq!(e.kind(), &ErrorKind::TooNew { found: 0x40, newest: VERSION, writer: None });
            }
            ("required", Err(e)) => assert_eq!(e.kind(), &ErrorKind::UnknownFeatures { flags: 0x40 }),
            ("zero" | "reserved", Err(e)) => assert!(matches!(e.kind(), ErrorKind::Broken(_))),
            (_, found) => panic!("{row:?}: {found:?}"),
        }
    }
}

/// A column with every optional part.
pub(crate) fn column(name: &str) -> Column<SectionRef> {
    let numbers = |role, seed| Numeric {
        role,
        count: 77,
        min: 0,
        max: 88,
        transform: Transform::Affine { base: 0, gcd: 1 },
        block_shift: 9,
        stride: Stride::Short,
        blocks: Some(reference(seed)),
        jump: Some(reference(seed + 20)),
        zones: None,
        fine_zones: None,
    };
    Column {
        field: Field {
            format: Some("%Y-%m".to_owned()),
            ..Field::new(name, Kind::SortedSet, LogicalType::Utf8)
        },
        presence: Presence::Blocks { values: 76, blocks: reference(1), jump: Some(reference(2)) },
        values: Values::Numbers {
            offsets: Some(numbers(Role::Offsets, 3)),
            values: numbers(Role::Values, 4),
            terms: Some(Dictionary {
                count: 5,
                max_len: 7,
                total_len: 8,
                blocks: Some(reference(9)),
                index: Some(Index {
                    offsets: numbers(Role::TermOffsets, 10),
                    keys: reference(11),
                    prefix: b"http"[..].into(),
                }),
            }),
        },
        statistics: Statistics { sum: Some(-12), distinct: Some(13), ascending: true, descending: false },
    }
}

#[test]
fn directory_root_and_page() {
    // The first name is long enough to fill a page.
    let (columns, start) = ([&"a".repeat(5_000), "left", "right"].map(column), 0x0001_0000);
    let mut directory = DirectoryBuilder::default();
    let ends = [0x0203_u64, 0x0504, start];
    columns.iter().zip(ends).for_each(|(column, end)| directory.push(column, end));
    let (bytes, footer) = directory.finish(start, 9);
    let entries = [0, 1, 2].map(|i| {
        let mut entry = Vec::new();
        columns[i].encode(ends[i], &mut entry);
        entry
    });

    let root = usize::try_from(footer.root_offset - start).unwrap();
    assert_eq!((root % 64, usize::try_from(footer.root_len)), (0, Ok(2 * ROOT_ENTRY_LEN)));
    let (first, first_len) = (&bytes[..12 + entries[0].len()], 12 + entries[0].len());
    let fields = [
        f("offset", start.to_le_bytes()),
        f("len", u32::try_from(first_len).unwrap().to_le_bytes()),
        f("crc", crc32fast::hash(first).to_le_bytes()),
        f("sections_end", ends[0].to_le_bytes()),
        f("columns_end", [1, 0, 0, 0]),
    ];
    let root = &bytes[root..root + 2 * ROOT_ENTRY_LEN];
    check_both("Root", module!("file/root.rs"), &root[..ROOT_ENTRY_LEN], &fields);

    let offsets = [16, 16 + entries[1].len(), 16 + entries[1].len() + entries[2].len()];
    let second = &bytes[first_len.next_multiple_of(64)..][..offsets[2]];
    let offsets = offsets.map(|offset| u32::try_from(offset).unwrap().to_le_bytes()).concat();
    let fields = [f("count", [2, 0, 0, 0]), f("offsets", offsets), f("entries", entries[1..].concat())];
    check_both("Page", module!("file/directory.rs"), second, &fields);
    let hashed = [&9_u32.to_le_bytes(), first, second].concat();
    assert_eq!(footer.id, xxhash_rust::xxh3::xxh3_128(&hashed), "of docs and pages, without padding");

    let mut zero = root.to_vec();
    zero[28] = 1;
    let footer = Footer { root_crc: crc32fast::hash(&zero), ..footer };
    let refused = Root::parse(&zero, &footer).unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::Broken(_)), "{refused}");
}

#[test]
fn extensions() {
    let mut directory = DirectoryBuilder::default();
    directory.push_extension(0x0304_0506, 0x0102, b"an index".to_vec());
    let (bytes, footer) = directory.finish(0x0200, 9);
    let bytes = &bytes[..usize::try_from(footer.root_len).unwrap()];
    let fields = [
        f("sections_end", 0x0102_u64.to_le_bytes()),
        f("tag", 0x0304_0506_u32.to_le_bytes()),
        f("len", 8_u32.to_le_bytes()),
        f("body", *b"an index"),
    ];
    check_both("Extensions", module!("file/root.rs"), bytes, &fields);
    let hashed = [&9_u32.to_le_bytes(), bytes].concat();
    assert_eq!(footer.id, xxhash_rust::xxh3::xxh3_128(&hashed), "of docs and extensions");
}

#[test]
fn sort_and_its_keys() {
    let keys = [SortKey::of("a").missing_first(), SortKey::of("größe").descending()];
    let [a, b] = keys.clone().map(|key| sort::encode(&[key])[4..].to_vec());
    let fields = [f("count", [2, 0, 0, 0]), f("keys", [a, b.clone()].concat())];
    check_both("Sort", module!("file/sort.rs"), &sort::encode(&keys), &fields);
    let fields = [f("flags", [1]), f("name_len", [7, 0, 0, 0]), f("name", "größe")];
    check_both("Sort key", module!("file/sort.rs"), &b, &fields);
}

#[test]
fn column_entry_and_statistics() {
    let column = column("name");
    let mut bytes = Vec::new();
    column.encode(0x0807_0605_0403_0201, &mut bytes);
    let mut presence = Vec::new();
    column.presence.encode_meta(&mut presence);
    let Values::Numbers { offsets: Some(offsets), values, terms: Some(terms) } = &column.values else {
        unreachable!()
    };
    let (offsets, ords, mut dictionary) = (meta(offsets), meta(values), Vec::new());
    terms.encode_meta(&mut dictionary);
    let statistics = &bytes[bytes.len() - Statistics::ENCODED_LEN..];
    let fields = [f("flags", [7]), f("sum", (-12_i128).to_le_bytes()), f("distinct", 13_u64.to_le_bytes())];
    check_both("Statistics", module!("file/column.rs"), statistics, &fields);

    let head = [
        f("sections_end", [1, 2, 3, 4, 5, 6, 7, 8]),
        f("name_len", [4, 0, 0, 0]),
        f("name", "name"),
        f("kind", [4]),
        f("logical", [10]),
        f("format_len", [5]),
        f("format", "%Y-%m"),
        f("presence", presence),
    ];
    let with = |parts: &[Named]| [&head[..], parts, &[f("statistics", statistics)]].concat();
    let parts = [f("parts", [&offsets[..], &ords, &dictionary].concat())];
    check(&Document::spec().layout("Column entry"), &bytes, &with(&parts));
    let parts = [f("offsets", offsets), f("values", ords), f("terms", dictionary)];
    check(&Document::new(module!("file/column.rs")).layout_from("sections_end"), &bytes, &with(&parts));
}

#[test]
fn a_reserved_byte_of_the_statistics_is_refused() {
    let column = Column {
        field: Field::new("x", Kind::Numeric, LogicalType::I64),
        presence: Presence::None,
        values: Values::Numbers {
            offsets: None,
            values: Numeric { blocks: None, jump: None, ..constant() },
            terms: None,
        },
        statistics: Statistics::default(),
    };
    let mut bytes = Vec::new();
    column.encode(64, &mut bytes);
    let place = Place { section: Section::DirectoryPage, offset: 0 };
    let decode = |bytes: &[u8]| Column::decode(&mut Cursor::new(place, bytes), 1, 64);
    assert_eq!(decode(&bytes), Ok(column));
    let at = bytes.len() - Statistics::ENCODED_LEN;
    for (at, byte) in [(at, 16), (at + 1, 1), (at + 7, 1)] {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        assert!(decode(&bytes).is_err(), "{at}");
    }
}

fn constant() -> Numeric<SectionRef> {
    let empty = numbers(&[], Role::Values);
    empty.try_map(&mut |section, _| Err(section)).unwrap()
}
