//! Writes the seed inputs of the fuzzers: `cargo run --example seeds` in `fuzz/`.
//!
//! The seeds are small valid inputs of every decoder: without them, a fuzzer spends its time on magic numbers and
//! checksums.

use std::io;
use std::path::Path;

use docvalues::prelude::*;
use docvalues::terms::build::IdsBuilder;
use docvalues::terms::ids::Ids;
use docvalues::writer::BytesKind;
use docvalues::{IdForm, IdOptions};
use docvalues_format::binary::{self, BinaryOptions, Compression};
use docvalues_format::error::Section;
use docvalues_format::file::kind::from_f64;
use docvalues_format::granule::SectionRef;
use docvalues_format::numeric::{self, NumericOptions, Role};
use docvalues_format::{dictionary, presence};
use docvalues_testkit::rng::SplitMix64;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    for (number, file) in segments()?.iter().enumerate() {
        for target in ["segment", "resealed", "structured", "directory"] {
            save(target, number, file)?;
        }
    }
    for (number, file) in golden()?.iter().enumerate() {
        save("structured", 100 + number, file)?;
    }
    for (number, program) in programs().iter().enumerate() {
        save("program", number, program)?;
        save("merge", number, program)?;
    }
    for (number, rows) in rows().iter().enumerate() {
        save("input", number, rows)?;
    }
    for (number, text) in docvalues_fuzz::query_texts(60).iter().enumerate() {
        save("query", number, text.as_bytes())?;
    }
    for (number, made) in docvalues_fuzz::partial_inputs().iter().enumerate().step_by(3) {
        save("partial", number, made)?;
    }
    for (number, made) in docvalues_fuzz::store_inputs().iter().enumerate() {
        save("store", number, made)?;
    }
    for (number, made) in docvalues_fuzz::log_inputs().iter().enumerate() {
        save("log", number, made)?;
    }
    for (number, made) in docvalues_fuzz::delta_inputs().iter().enumerate() {
        save("delta", number, made)?;
    }
    for (number, made) in docvalues_fuzz::body_inputs().iter().enumerate() {
        save("body", number, made)?;
    }
    for (number, made) in docvalues_fuzz::scan_request_inputs().iter().enumerate() {
        save("scan_request", number, made)?;
    }
    for (number, made) in docvalues_fuzz::stream_inputs().iter().enumerate() {
        save("stream", number, made)?;
    }
    for (number, made) in ids()?.into_iter().enumerate() {
        save("ids", number, &docvalues_fuzz::ids_input(made))?;
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
            [Compression::None, Compression::Fsst, Compression::Block, Compression::OnPair]
                .into_iter()
                .enumerate()
        {
            let options = BinaryOptions { compression, jump_tables: number % 2 == 0 };
            let made = binary::encode(terms.concat(), &ends, &options)?;
            let input = joined(|place| made.try_map(place), |meta, out| meta.encode_meta(out));
            save("binary", 10 * form + number, &input)?;
        }
    }
    Ok(())
}

/// The small golden files: all layouts.
fn golden() -> Result<Vec<Vec<u8>>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/docvalues/tests/golden");
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "dv"));
    paths.sort();
    let files = paths.iter().map(std::fs::read).collect::<io::Result<Vec<_>>>()?;
    Ok(files.into_iter().filter(|file| file.len() < 9_000).collect())
}

/// Each form of the index, with and without a filter, with packed and other ids.
fn ids() -> Result<Vec<Ids<Vec<u8>>>> {
    let shapes: [fn(u32) -> String; 4] = [
        |i| format!("{i:06}"),
        |i| format!("{}{:x}", ["same beginning ", "x"][i as usize % 2], i.wrapping_mul(0x9e37_79b9)),
        |i| format!("{:08x}-0000-4000-8000-{:012x}", i.wrapping_mul(0x9e37_79b9), i),
        |i| format!("{}{}", char::from(b'0' + (i / 26) as u8), i % 26),
    ];
    let mut made = Vec::new();
    for form in IdForm::ALL {
        for (shape, count) in shapes.iter().zip([60, 90, 30, 1_000]).chain([(&shapes[0], 0), (&shapes[1], 1)])
        {
            let mut ids: Vec<String> = (0..count).map(shape).collect();
            ids.sort();
            let ids: Vec<_> = (0..).map(DocId::new).zip(ids).map(|(doc, id)| (id, doc)).collect();
            let filter_bits = if count % 60 == 0 { 8 } else { 0 };
            made.push(
                IdsBuilder::new(IdOptions { form, filter_bits, seed: 7, ..IdOptions::default() })
                    .build(&ids[..], count + 5)?,
            );
        }
    }
    Ok(made)
}

/// Random programs, short and long: any bytes are one.
fn programs() -> Vec<Vec<u8>> {
    let program = |seed| {
        let mut rng = SplitMix64::new(seed);
        let len = 8 << (seed % 8);
        (0..len).map(|_| if rng.chance(1, 4) { 0 } else { rng.below(256) as u8 }).collect()
    };
    (0..120).map(program).collect()
}

/// Bytes that choose a format and options, then rows: see `docvalues_fuzz::input`.
fn rows() -> Vec<Vec<u8>> {
    let plain = |format: u8, rows: &str| [&[format, 0, 0], rows.as_bytes()].concat();
    let described = |format: u8, schema: &str, rows: &str| {
        let len = u16::try_from(schema.len()).expect("a short schema file");
        [&[format, 128, 0], &len.to_le_bytes()[..], schema.as_bytes(), rows.as_bytes()].concat()
    };
    let schema = "[columns.d]\ntype=\"date\"\nformat=\"%d.%m.%Y\"\n[columns.t]\ntype=\"string[]\"\nseparator=\"|\"\n\
                  [columns.e]\ntype=\"timestamp[ms]\"\nformat=\"epoch\"\n[columns.s]\ntype=\"string\"\nkind=\"block\"\n";
    let types = "[columns.ip]\ntype=\"ip\"\n[columns.id]\ntype=\"uuid\"\n[columns.x]\ntype=\"bytes\"\n\
                 [columns.n]\ntype=\"i64[]\"\n[columns.f]\ntype=\"f64\"\n";
    vec![
        plain(
            0,
            "i,u,f,b,d,t,s\n-1,18446744073709551615,1.5,true,2013-01-31,2013-01-31T06:00:00.120+02:00,x\n,,,,,,\n\
                  7,0,1e300,false,0001-01-01,1969-12-31T23:59:59.999+02:00,\"a\"\"b\"\n",
        ),
        plain(0, "price,t\n1.50,2013-01-01 00:00:00.000000Z\nNA,2013-01-01 00:00:00.000001Z\n"),
        plain(0, "a;b\r\n1;NaN\r\n2;-inf\r\n"),
        plain(1, "a b\tc\n\"x\ty\"\t\"\"\"q\"\"\"\n\t\"NA\"\n"),
        plain(
            2,
            "{\"i\":-1,\"u\":18446744073709551615,\"f\":1.5,\"b\":true,\"d\":\"2013-01-31\",\"tags\":[\"a\",\"b\"],\
                  \"n\":[1,1,2],\"o\":{\"p\":[-0.5,2.0]}}\n{\"i\":9007199254740993,\"s\":\"\\u00e9\\n\",\"n\":null,\"tags\":[]}\n{}\n",
        ),
        plain(3, "{\"at\":\"2013-01-31 06:00:00Z\"}\n{\"at\":\"1600-01-01T00:00:00.000001Z\"}\n"),
        described(0, schema, "d,t,e,s\n31.01.2013,a|b,1700000000,x\n01.02.2013,c,-1,yyyyyyyy\n"),
        described(
            0,
            types,
            "ip,id,x,n,f\n10.0.0.1,f81d4fae-7dec-11d0-a765-00a0c91e6bf6,00ff,\"[-1,-1,5]\",+7\n\
                             ::1,F81D4FAE7DEC11D0A76500A0C91E6BF6,,[7],1e3\n",
        ),
    ]
}

fn save(target: &str, number: usize, input: &[u8]) -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join(format!("seed-{number}")), input)
}

type Place<'a> =
    dyn FnMut(Section, Vec<u8>) -> std::result::Result<SectionRef, std::convert::Infallible> + 'a;

/// Fields, then sections.
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

/// Segments with few and many documents, with one column and with one of each kind.
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
