//! Writes the inputs that the fuzzers begin with: `cargo run --example seeds` in `fuzz/`.
//!
//! Good bytes of every decoder, small: a fuzzer that begins with nothing spends its time on magic
//! numbers and checksums.

use std::io;
use std::path::Path;

use docvalues::prelude::*;
use docvalues::writer::BytesKind;
use docvalues_format::binary::{self, BinaryOptions, Compression};
use docvalues_format::error::Section;
use docvalues_format::file::kind::from_f64;
use docvalues_format::granule::SectionRef;
use docvalues_format::numeric::{self, NumericOptions, Role};
use docvalues_format::{dictionary, presence};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    for (number, file) in segments()?.iter().enumerate() {
        for target in ["segment", "resealed", "directory"] {
            save(target, number, file)?;
        }
    }
    for (number, values) in numbers().iter().enumerate() {
        let made = numeric::encode(
            values,
            &NumericOptions { role: Role::Values, doubles: true, jump_tables: number % 3 > 0, zones: true },
        );
        save("numeric", number, &joined(|place| made.try_map(place), |meta, out| meta.encode_meta(out)))?;
    }
    for (number, (docs, bits)) in presences().iter().enumerate() {
        let made = presence::encode(*docs, bits, number % 3 > 0);
        let mut input = docs.to_le_bytes().to_vec();
        input.extend(joined(|place| made.try_map(place), |meta, out| meta.encode_meta(out)));
        save("presence", number, &input)?;
    }
    for (number, terms) in terms().iter().enumerate() {
        let made = dictionary::encode(terms.iter().map(Vec::as_slice), number % 2 == 0)?;
        save("dictionary", number, &joined(|place| made.try_map(place), |meta, out| meta.encode_meta(out)))?;
        let ends: Vec<u64> = terms
            .iter()
            .scan(0, |end, term| {
                *end += term.len() as u64;
                Some(*end)
            })
            .collect();
        for (form, compression) in
            [Compression::None, Compression::Fsst, Compression::Block].into_iter().enumerate()
        {
            let options = BinaryOptions { compression, jump_tables: number % 2 == 0 };
            let made = binary::encode(terms.concat(), &ends, &options)?;
            let input = joined(|place| made.try_map(place), |meta, out| meta.encode_meta(out));
            save("binary", 10 * form + number, &input)?;
        }
    }
    Ok(())
}

fn save(target: &str, number: usize, input: &[u8]) -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join(format!("seed-{number}")), input)
}

type Place<'a> =
    dyn FnMut(Section, Vec<u8>) -> std::result::Result<SectionRef, std::convert::Infallible> + 'a;

/// Fields, and the sections behind them.
fn joined<M>(
    map: impl FnOnce(&mut &mut Place<'_>) -> std::result::Result<M, std::convert::Infallible>,
    encode: impl FnOnce(&M, &mut Vec<u8>),
) -> Vec<u8> {
    let mut sections = Vec::new();
    let mut place = |_, bytes: Vec<u8>| {
        let at = SectionRef { offset: sections.len() as u64, len: bytes.len() as u64, crc: 0 };
        sections.extend(bytes);
        Ok(at)
    };
    let Ok(meta) = map(&mut (&mut place as &mut Place<'_>));
    let mut input = Vec::new();
    encode(&meta, &mut input);
    input.extend(sections);
    input
}

fn numbers() -> Vec<Vec<i64>> {
    let times = |n| (0..n).map(|i| 1_500_000_000_000 + i * 997 + i * i % 13);
    vec![
        vec![],
        vec![-5; 40],
        (0..700).map(|i| i * i % 97).collect(),
        (0..1_500).map(|i| 1_000 * (i % 50)).collect(),
        times(1_200).collect(),
        (0..900).map(|i| [200, 404, 301, 500][i % 4]).collect(),
        vec![i64::MIN, i64::MAX, 0, -1, 1],
        (0..9_000).map(|i| i / 1_000).collect(),
        (0..1_300).map(|i| from_f64(f64::from(i * i % 9_973 - 5_000) / 100.0)).collect(),
    ]
}

fn presences() -> Vec<(u32, Vec<u64>)> {
    let bits = |docs: u32, has: fn(u32) -> bool| {
        let mut bits = vec![0; docs.div_ceil(64) as usize];
        (0..docs).filter(|&doc| has(doc)).for_each(|doc| bits[doc as usize / 64] |= 1 << (doc % 64));
        (docs, bits)
    };
    vec![
        bits(100, |_| true),
        bits(100, |_| false),
        bits(1_000, |doc| doc % 90 == 0),
        bits(70_000, |doc| doc % 101 == 7),
        bits(3_000, |doc| doc % 3 == 0),
        bits(70_000, |doc| doc / 700 % 3 == 0),
        bits(140_000, |doc| doc < 65_536 || doc == 139_999),
    ]
}

fn terms() -> Vec<Vec<Vec<u8>>> {
    let of = |n: u32, form: fn(u32) -> String| (0..n).map(|i| form(i).into_bytes()).collect();
    vec![
        vec![],
        vec![vec![]],
        of(9, |i| format!("tag{i:03}")),
        of(100, |i| format!("https://host{:04}.example.org/", i * 7)),
        vec![vec![], vec![0], vec![0, 0], vec![b'x'; 300], vec![0xff], vec![0xff; 9]],
        of(40, |i| format!("{:032x}", u128::from(i) * 0x9e37_79b9_7f4a_7c15)),
    ]
    .into_iter()
    .map(|mut terms: Vec<Vec<u8>>| {
        terms.sort();
        terms
    })
    .collect()
}

/// Segments with few and with many documents, with one column and with one of each kind.
fn segments() -> Result<Vec<Vec<u8>>> {
    let by_host = || vec![SortKey::new("host").missing_first(), SortKey::new("size").descending()];
    [(0, true, vec![]), (3, true, vec![]), (200, false, vec![]), (700, true, vec![]), (90, true, by_host())]
        .into_iter()
        .map(|(docs, tables, sort)| segment(docs, tables, sort))
        .collect()
}

fn segment(docs: i64, jump_tables: bool, sort: Vec<SortKey>) -> Result<Vec<u8>> {
    let mut schema = Schema::new();
    let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
    let time =
        schema.add(FieldSpec::new("time", LogicalType::TimestampMillis).format("%Y-%m-%dT%H:%M:%SZ"))?;
    let host = schema.add(FieldSpec::new("host", LogicalType::Utf8).kind(BytesKind::Sorted))?;
    let url = schema.add(FieldSpec::new("url", LogicalType::Utf8).kind(BytesKind::Binary))?;
    let tags = schema.add(FieldSpec::new("tags", LogicalType::Utf8).multi_valued())?;
    let prices = schema.add(FieldSpec::new("prices", LogicalType::F64).multi_valued())?;
    let mut writer =
        SegmentWriter::in_memory(schema, WriterOptions { jump_tables, ..WriterOptions::default() });
    writer.sort_by(sort)?;
    for i in 0..docs {
        let mut doc = writer.document();
        doc.timestamp(time, 1_500_000_000_000 + i * 1_000)?.str(host, &format!("host{:02}", i % 40))?;
        if i % 3 > 0 {
            doc.i64(size, i * i)?.str(url, &format!("/{i}"))?;
        }
        for j in 0..i % 4 {
            doc.str(tags, &format!("tag{}", (i + j) % 9))?.f64(prices, j as f64 / 4.0)?;
        }
        doc.finish()?;
    }
    Ok(writer.finish_bytes()?)
}
