//! Segments as files: published atomically, read through a mapping and by plain reads.

use docvalues::column::ErrorKind as ReadErrorKind;
use docvalues::reader::{Access, JumpTables, Verify};
use docvalues::{FieldSpec, Kind, LogicalType, OpenOptions, Schema, Segment, SegmentWriter, WriterOptions};
use docvalues_testkit::damage::cases;
use docvalues_testkit::rng::SplitMix64;

use crate::write::{EVERY_KIND, check_some};

#[test]
fn mapped_and_plain_reads_agree() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("every kind.dv");
    std::fs::write(&path, &EVERY_KIND.1).unwrap();
    let options = [Access::Map, Access::Read].into_iter();
    let options =
        options.flat_map(|access| [Verify::OnFirstTouch, Verify::Never].map(|verify| (access, verify)));
    for (i, (access, verify)) in options.enumerate() {
        // All modes in the full sweep; otherwise by turns.
        for jump_tables in JumpTables::ALL.into_iter().skip(cases(i % 2, 0)).take(cases(1, 2)) {
            let options = OpenOptions::new().verify(verify).jump_tables(jump_tables).access(access);
            let segment = Segment::open_with(&path, options).unwrap();
            check_some(&segment, i);
            segment.verify().unwrap();
        }
    }
}

/// The first 64 bytes and the last 4 KiB of a mapped file are read at opening.
#[test]
fn damage_near_the_ends_of_a_mapped_file_is_found() {
    use std::io::{Seek as _, SeekFrom, Write as _};

    use docvalues::prelude::*;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.dv");
    let mut schema = Schema::new();
    // The directory is longer than what is read.
    let names: Vec<String> = (0..60).map(|column| format!("column {column:02}")).collect();
    let fields: Vec<_> =
        names.iter().map(|name| schema.add(FieldSpec::new(name, LogicalType::I64)).unwrap()).collect();
    let mut writer = SegmentWriter::create(&path, schema, WriterOptions::default()).unwrap();
    let (mut batch, mut random) = (writer.batch(500).unwrap(), SplitMix64::named("long file"));
    for field in fields {
        let values: Vec<i64> = (0..500).map(|_| random.next_i64()).collect();
        batch.i64(field, &values, None).unwrap();
    }
    batch.finish();
    writer.finish().unwrap();
    let good = std::fs::read(&path).unwrap();
    assert!(good.len() > 2 << 16, "{} bytes are mapped", good.len());

    let value = |access, name: &str| -> Result<Option<i64>, String> {
        let segment = Segment::open_with(&path, OpenOptions::new().access(access));
        let column = segment.and_then(|segment| segment.numeric(name)).map_err(|error| error.to_string())?;
        column.get(DocId::new(3)).map_err(|error| error.to_string())
    };
    let values = |access| ["column 00", "column 31", "column 59"].map(|name| value(access, name));
    let undamaged = values(Access::Read);
    assert!(undamaged.iter().all(Result::is_ok), "{undamaged:?}");
    let put = |at: usize, byte: u8| {
        let mut file = std::fs::File::options().write(true).open(&path).unwrap();
        file.seek(SeekFrom::Start(at as u64)).unwrap();
        file.write_all(&[byte]).unwrap();
    };
    let mut found = 0;
    for at in (0..70).chain(good.len() - 8_300..good.len()).step_by(cases(7, 1)) {
        put(at, good[at] ^ 4);
        let (mapped, read) = (values(Access::Map), values(Access::Read));
        assert_eq!(mapped, read, "a bit of byte {at}");
        let is_found = mapped != undamaged;
        assert!(is_found && mapped.iter().any(Result::is_err) || (64..good.len() - 64).contains(&at), "{at}");
        found += usize::from(is_found);
        put(at, good[at]);
    }
    assert!(found > 4_160 / cases(7, 1) / 3, "{found} bits");
    assert_eq!(values(Access::Map), undamaged);
}

#[test]
fn columns_outlive_their_segment_and_the_file_name() {
    use docvalues::prelude::*;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("short lived.dv");
    let mut schema = Schema::new();
    let size = schema.add(FieldSpec::new("size", LogicalType::I64)).unwrap();
    let mut writer = SegmentWriter::create(&path, schema, WriterOptions::default()).unwrap();
    writer.batch(3).unwrap().i64(size, &[5, 6, 7], None).unwrap();
    let mut batch = writer.batch(3).unwrap();
    batch.i64(size, &[5, 6, 7], None).unwrap();
    batch.finish();
    let summary = writer.finish().unwrap();
    assert_eq!(summary.docs, 3);
    let column = Segment::open(&path).unwrap().numeric("size").unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(column.get(DocId::new(2)).unwrap(), Some(7));
}

#[test]
fn wrong_names_and_kinds_are_errors() {
    let segment = Segment::from_bytes(EVERY_KIND.1.clone(), OpenOptions::new()).unwrap();
    let fields = segment.fields().unwrap();
    assert!(matches!(segment.numeric("no such").unwrap_err().kind(), ReadErrorKind::NoSuchColumn { .. }));
    for field in fields {
        assert_eq!(segment.stored(&field.name).is_ok(), field.kind == Kind::Numeric);
        match segment.numeric(&field.name).as_ref().map_err(docvalues::column::Error::kind) {
            Ok(_) => assert_eq!((field.kind, field.logical), (Kind::Numeric, LogicalType::I64)),
            Err(ReadErrorKind::WrongType { found, asked, .. }) => {
                assert_eq!((field.kind, *found, *asked), (Kind::Numeric, field.logical, LogicalType::I64));
            }
            Err(ReadErrorKind::WrongKind { found, asked, .. }) => {
                assert_eq!((*found, *asked), (field.kind, Kind::Numeric));
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    match Segment::open("/no such folder/no such file.dv").unwrap_err().kind() {
        ReadErrorKind::Io { file, source } => {
            assert!(file.ends_with("no such file.dv"));
            assert_eq!(source.kind(), std::io::ErrorKind::NotFound);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_failed_build_keeps_the_older_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.dv");
    std::fs::write(&path, b"an older file").unwrap();
    let mut schema = Schema::new();
    schema.add(FieldSpec::new("size", LogicalType::I64)).unwrap();
    drop(SegmentWriter::create(&path, schema, WriterOptions::default()).unwrap());
    assert_eq!(std::fs::read(&path).unwrap(), b"an older file");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
}

/// A large section is aligned to a page of the file, with zeros before it. A smaller one is not.
#[test]
fn granules_of_large_sections_are_pages_of_the_file() {
    const DOCS: u32 = 1 << 17;
    let mut schema = Schema::new();
    let fields = ["0 few", "1 many", "2 fewer", "3 many"]
        .map(|name| schema.add(FieldSpec::new(name, LogicalType::I64)).unwrap());
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    let mut random = docvalues_testkit::rng::SplitMix64::new(1);
    for doc in 0..DOCS {
        let mut document = writer.document();
        for (which, field) in fields.iter().enumerate() {
            if [doc % 64 == 0, true, doc > 9, true][which] {
                document.i64(*field, random.next_u64().cast_signed()).unwrap();
            }
        }
        document.finish().unwrap();
    }
    let file = writer.finish_bytes().unwrap();
    let stats = Segment::from_bytes(file.clone(), OpenOptions::new()).unwrap().usage().unwrap();
    let values = |column: &docvalues::reader::ColumnUsage| {
        column.sections.iter().map(|section| (section.payload, section.offset)).max().unwrap()
    };
    let places: Vec<_> = stats.columns.iter().map(values).collect();
    let large = u64::from(DOCS) * 8;
    assert!(places[1].0 >= large && places[2].0 < large && places[3].0 >= large, "{places:?}");
    assert_eq!([1, 2, 3].map(|i| places[i].1 % 4096 == 0), [true, false, true], "{places:?}");
    let verify = |file: Vec<u8>| Segment::from_bytes(file, OpenOptions::new()).unwrap().verify();
    verify(file.clone()).unwrap();
    let mut damaged = file;
    damaged[places[3].1 as usize - 1] = 1;
    assert!(verify(damaged).unwrap_err().to_string().contains("padding is not zero"));
}
