//! Test data: sections, references and a whole file.

use std::convert::Infallible;

use docvalues_format::dictionary;
use docvalues_format::error::Section;
use docvalues_format::file::column::{Column, Statistics, Values};
use docvalues_format::file::directory::DirectoryBuilder;
use docvalues_format::file::field::Field;
use docvalues_format::file::frame::{HEADER_LEN, Header};
use docvalues_format::file::kind::{Kind, LogicalType};
use docvalues_format::granule::{SectionRef, seal};
use docvalues_format::numeric::{self, Numeric, NumericOptions, Role};
use docvalues_format::presence::{self, Presence};

/// A distinct reference for each number.
pub(crate) fn reference(seed: u8) -> SectionRef {
    let number = |at: u8| u64::from_le_bytes([at, at + 1, at + 2, at + 3, at + 4, at + 5, at + 6, 1]);
    SectionRef { offset: number(seed), len: number(seed + 7), crc: 0x0101_0101 * u32::from(seed) }
}

pub(crate) fn encoded_ref(section: SectionRef) -> Vec<u8> {
    let mut out = Vec::new();
    section.encode(&mut out);
    out
}

/// The presence of `set` among `docs` documents.
pub(crate) fn present(docs: u32, set: impl IntoIterator<Item = u32>) -> Presence<Vec<u8>> {
    let mut words = vec![0; docs.div_ceil(64) as usize];
    set.into_iter().for_each(|doc| words[doc as usize / 64] |= 1_u64 << (doc % 64));
    presence::encode(docs, &words, true)
}

/// The sections of presence: blocks and jump table.
pub(crate) fn present_sections(docs: u32, set: impl IntoIterator<Item = u32>) -> (Vec<u8>, Vec<u8>) {
    match present(docs, set) {
        Presence::Blocks { blocks, jump: Some(jump), .. } => (blocks, jump),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn numbers(values: &[i64], role: Role) -> Numeric<Vec<u8>> {
    numeric::encode(
        values,
        &NumericOptions { role, doubles: false, jump_tables: true, zones: role.is_values() },
    )
}

pub(crate) fn meta(numbers: &Numeric<SectionRef>) -> Vec<u8> {
    let mut out = Vec::new();
    numbers.encode_meta(&mut out);
    out
}

/// Four documents, of which three have a `city` and all have a `size`.
pub(crate) fn whole_file() -> Vec<u8> {
    let terms = dictionary::encode([&b"Oslo"[..], b"Rome"], true).unwrap();
    let ords = numbers(&[0, 1, 0], Role::Values);
    let city = Column {
        field: Field::new("city", Kind::Sorted, LogicalType::Utf8),
        presence: present(4, [0, 1, 3]),
        values: Values::Numbers { offsets: None, values: ords, terms: Some(terms) },
        statistics: Statistics { distinct: Some(2), ..Statistics::default() },
    };
    let size = Column {
        field: Field::new("size", Kind::Numeric, LogicalType::I64),
        presence: present(4, 0..4),
        values: Values::Numbers {
            offsets: None,
            values: numbers(&[1000, 1030, 1010, 1070], Role::Values),
            terms: None,
        },
        statistics: Statistics { sum: Some(4110), ..Statistics::default() },
    };
    file(4, [city, size])
}

/// The file with these columns, which must be sorted by name.
fn file(docs: u32, columns: impl IntoIterator<Item = Column<Vec<u8>>>) -> Vec<u8> {
    let mut file = Header { writer: [0, 1, 0], ..Header::current() }.encode().to_vec();
    assert_eq!(file.len(), HEADER_LEN);
    let mut directory = DirectoryBuilder::default();
    for column in columns {
        let Ok(column) = column.try_map(&mut |_: Section, payload: Vec<u8>| {
            let (offset, len) = (file.len() as u64, payload.len() as u64);
            let (bytes, crc) = seal(payload);
            file.extend(bytes);
            Ok::<_, Infallible>(SectionRef { offset, len, crc })
        });
        directory.push(&column, file.len() as u64);
    }
    let (end, _) = directory.finish(file.len() as u64, docs);
    file.extend(end);
    file
}
