//! Documents one by one, by typed columns and by `Rows::get`, compared with a model: before and after the bytes are
//! verified, around the ends of blocks, and in damaged files.

use std::sync::{Arc, LazyLock};

use docvalues::column::Element;
use docvalues::prelude::*;
use docvalues::reader::{JumpTables, Verify};
use docvalues_testkit::damage::{Sweep, cases};
use docvalues_testkit::rng::SplitMix64;

/// Four presence blocks of 65,536 documents, the last of which is shorter.
const DOCS: u32 = 200_000;

/// The values of a document.
#[derive(Default)]
struct Document {
    size: i64,
    price: Option<i64>,
    host: u32,
    rack: Option<u32>,
    tags: Vec<u32>,
    levels: Vec<i64>,
    /// Of each document, at least one.
    codes: Vec<i64>,
}

struct Model {
    documents: Vec<Document>,
    /// The numbers of the hosts, racks and tags that documents have: the position of one is its ord.
    hosts: Vec<u32>,
    racks: Vec<u32>,
    tags: Vec<u32>,
    file: Vec<u8>,
}

static MODEL: LazyLock<Model> = LazyLock::new(|| {
    let documents = documents();
    let hosts = ords(documents.iter().map(|row| row.host));
    let racks = ords(documents.iter().filter_map(|row| row.rack));
    let tags = ords(documents.iter().flat_map(|row| row.tags.iter().copied()));
    let file = file(&documents);
    Model { documents, hosts, racks, tags, file }
});

fn documents() -> Vec<Document> {
    let mut random = SplitMix64::new(60);
    let mut below = |end: u64| (random.next_u64() % end) as u32;
    let document = |doc: u32| {
        let many = |tags: u64| if doc < DOCS / 2 { tags / 9 } else { tags };
        let mut tags: Vec<u32> = (0..many(below(12).into())).map(|_| below(900)).collect();
        tags.sort_unstable();
        tags.dedup();
        let mut levels: Vec<i64> =
            (0..below(4)).map(|_| [i64::MIN, -1, 1 << 40, i64::MAX][below(4) as usize]).collect();
        levels.sort_unstable();
        // Blocks of different widths.
        let size = if (doc / 8_192).is_multiple_of(2) {
            i64::from(below(50))
        } else {
            i64::from(below(1 << 30)) << 10
        };
        // A full presence block, a dense, an empty and a sparse one.
        let price = match doc >> 16 {
            0 => Some(7),
            1 => (below(5) > 1).then_some(i64::from(below(1 << 20))),
            2 => None,
            _ => (below(10) == 0).then_some(-3),
        };
        // Dense blocks, the last of which ends with documents without a value.
        let rack = (doc < DOCS - 1_000 && below(5) > 1).then(|| below(500));
        let codes =
            (0..=below(5) * below(3)).map(|i| i64::from(i) << 24 | i64::from(below(1 << 24))).collect();
        Document { size, price, host: below(3_000), rack, tags, levels, codes }
    };
    (0..DOCS).map(document).collect()
}

fn host(number: u32) -> String {
    format!("host{number:04}")
}

fn tag(number: u32) -> String {
    format!("tag{number:03}")
}

fn file(documents: &[Document]) -> Vec<u8> {
    let mut schema = Schema::new();
    let size = schema.add(FieldSpec::new("size", LogicalType::I64)).unwrap();
    let price = schema.add(FieldSpec::new("price", LogicalType::I64)).unwrap();
    let hosts = schema.add(FieldSpec::new("host", LogicalType::Utf8).kind(BytesKind::Sorted)).unwrap();
    let racks = schema.add(FieldSpec::new("rack", LogicalType::Utf8).kind(BytesKind::Sorted)).unwrap();
    let tags = schema.add(FieldSpec::new("tags", LogicalType::Utf8).multi_valued()).unwrap();
    let levels = schema.add(FieldSpec::new("levels", LogicalType::I64).multi_valued()).unwrap();
    let codes = schema.add(FieldSpec::new("codes", LogicalType::I64).multi_valued()).unwrap();
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    for row in documents {
        let mut document = writer.document();
        document.i64(size, row.size).unwrap();
        document.str(hosts, &host(row.host)).unwrap();
        if let Some(value) = row.price {
            document.i64(price, value).unwrap();
        }
        if let Some(number) = row.rack {
            document.str(racks, &host(number)).unwrap();
        }
        for number in &row.tags {
            document.str(tags, &tag(*number)).unwrap();
        }
        for level in &row.levels {
            document.i64(levels, *level).unwrap();
        }
        for code in &row.codes {
            document.i64(codes, *code).unwrap();
        }
        document.finish().unwrap();
    }
    writer.finish_bytes().unwrap()
}

/// The distinct numbers, ascending.
fn ords(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Checks the row of a document by `Rows::get`, with a buffer that may have a capacity and contents.
fn check<T: Element>(rows: &dyn Rows<T>, doc: DocId, buffer: &mut Vec<T>, row: &[T]) -> bool {
    let found = rows.get(doc, buffer);
    if let Ok(found) = &found {
        assert_eq!((*found, &buffer[..]), (!row.is_empty(), row), "{doc:?}");
    }
    found.is_ok()
}

/// Reads `docs` in every way. Every answer must be the model's, or an error; returns the number of errors.
fn read(segment: &Segment, docs: impl Iterator<Item = u32>) -> usize {
    let Model { documents, hosts, racks, tags, .. } = &*MODEL;
    let ord = |numbers: &[u32], number: &u32| TermOrd::new(numbers.binary_search(number).unwrap() as u32);
    let opened = || -> Result<_, docvalues::column::Error> {
        let (size, price) = (segment.numeric("size")?, segment.numeric("price")?);
        let (host, rack, tag) =
            (segment.sorted("host")?, segment.sorted("rack")?, segment.sorted_set("tags")?);
        let (level, code) = (segment.sorted_numeric("levels")?, segment.sorted_numeric("codes")?);
        Ok((size, price, host, rack, tag, level, code))
    };
    let Ok((size, price, host, rack, tag, level, code)) = opened() else { return 1 };
    let [size_rows, price_rows] = [size.column(), price.column()];
    let [host_rows, rack_rows, tag_rows] = [host.column(), rack.column(), tag.column()];
    let [level_rows, code_rows] = [level.column(), code.column()];
    let (none, mut errors) = (Document::default(), 0);
    let (mut numbers, mut terms) = (Vec::new(), Vec::new());
    for number in docs {
        let (doc, row) = (DocId::new(number), documents.get(number as usize));
        let Document { price: right_price, rack: right_rack, tags: right_tags, levels, codes, .. } =
            row.unwrap_or(&none);
        let right_size = row.map(|row| row.size);
        let right_host = row.map(|row| ord(hosts, &row.host));
        let right_rack = right_rack.map(|number| ord(racks, &number));
        let right_tags: Vec<TermOrd> = right_tags.iter().map(|number| ord(tags, number)).collect();
        if number.is_multiple_of(3) {
            (numbers, terms) = (Vec::new(), Vec::new());
        }
        let mut done = [
            size.get(doc).map(|found| assert_eq!(found, right_size, "size of {doc:?}")).is_ok(),
            price.get(doc).map(|found| assert_eq!(found, *right_price, "price of {doc:?}")).is_ok(),
            host.ord(doc).map(|found| assert_eq!(found, right_host, "host of {doc:?}")).is_ok(),
            rack.ord(doc).map(|found| assert_eq!(found, right_rack, "rack of {doc:?}")).is_ok(),
            tag.ords(doc, &mut terms).map(|()| assert_eq!(terms, right_tags, "tags of {doc:?}")).is_ok(),
            level.get(doc, &mut numbers).map(|()| assert_eq!(&numbers, levels, "levels of {doc:?}")).is_ok(),
            code.get(doc, &mut numbers).map(|()| assert_eq!(&numbers, codes, "codes of {doc:?}")).is_ok(),
        ]
        .to_vec();
        let rows = |column: &Arc<dyn Column>, buffer: &mut Vec<i64>, row: &[i64]| {
            check(column.values().numbers().unwrap(), doc, buffer, row)
        };
        done.push(rows(&size_rows, &mut numbers, right_size.as_slice()));
        done.push(rows(&price_rows, &mut numbers, right_price.as_slice()));
        done.push(rows(&level_rows, &mut numbers, levels));
        done.push(rows(&code_rows, &mut numbers, codes));
        let rows = |column: &Arc<dyn Column>, buffer: &mut Vec<TermOrd>, row: &[TermOrd]| {
            check(column.values().ords().unwrap(), doc, buffer, row)
        };
        done.push(rows(&host_rows, &mut terms, right_host.as_slice()));
        done.push(rows(&rack_rows, &mut terms, right_rack.as_slice()));
        done.push(rows(&tag_rows, &mut terms, &right_tags));
        errors += done.into_iter().filter(|done| !done).count();
    }
    errors
}

/// Some documents, and all around the ends of blocks.
fn some() -> impl Iterator<Item = u32> {
    let some = (0..DOCS).filter(|doc| doc.is_multiple_of(7) || (doc + 2) % 512 < 4);
    some.chain([DOCS - 1, DOCS, DOCS + 1, u32::MAX])
}

#[test]
fn documents_before_and_after_their_bytes_are_verified() {
    for (turn, verify) in [Verify::OnFirstTouch, Verify::AtOpen, Verify::Never].into_iter().enumerate() {
        // Both in the full sweep; otherwise by turns.
        for jump_tables in JumpTables::ALL.into_iter().skip(cases((turn + 1) % 2, 0)).take(cases(1, 2)) {
            let options = OpenOptions::new().verify(verify).jump_tables(jump_tables);
            let segment = Segment::from_bytes(MODEL.file.clone(), options).unwrap();
            // Scattered first, so that some bytes are verified and some are not; then many; then these once more.
            let scattered = (0..2_000_u32).map(|i| i.wrapping_mul(2_654_435_761) % (DOCS + 3));
            assert_eq!(read(&segment, scattered), 0);
            for _ in 0..2 {
                assert_eq!(read(&segment, some()), 0);
            }
        }
    }
}

#[test]
fn a_damaged_granule_is_an_error_each_time() {
    let file = &MODEL.file;
    let mut failed = 0;
    for at in Sweep::Sample(40).places(file.len()) {
        let mut damaged = file.clone();
        damaged[at] ^= 0x10;
        let Ok(segment) = Segment::from_bytes(damaged, OpenOptions::new()) else { continue };
        let docs = || (0..DOCS).step_by(211);
        let errors = read(&segment, docs());
        // Some bytes are verified by now, and the same documents fail.
        assert_eq!(read(&segment, docs()), errors, "byte {at}");
        failed += usize::from(errors > 0);
    }
    assert!(failed > 10, "{failed}");
}
