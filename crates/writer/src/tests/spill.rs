//! A budget that is too small for the values: they go to a file, and the bytes stay the same.

use std::io;
use std::path::Path;

use docvalues_storage::{AtomicFile, Spill, Step};
use docvalues_testkit::faults::faulty_file;
use proptest::prelude::*;

use super::*;
use crate::buffer::{FieldBuffer, MemoryBudget};
use crate::{Compression, Error};

pub(super) fn specs(compression: Compression) -> [FieldSpec; 9] {
    let bytes = |name, kind| FieldSpec::new(name, LogicalType::Utf8).kind(kind);
    [
        FieldSpec::new("number", LogicalType::I64),
        FieldSpec::new("time", LogicalType::TimestampMillis),
        FieldSpec::new("price", LogicalType::F64),
        FieldSpec::new("numbers", LogicalType::I64).multi_valued(),
        bytes("raw", BytesKind::Binary).compression(Compression::None),
        bytes("coded", BytesKind::Binary).compression(compression),
        bytes("term", BytesKind::Sorted),
        bytes("either", BytesKind::Auto),
        FieldSpec::new("set", LogicalType::Utf8).multi_valued(),
    ]
}

/// What makes documents differ: how many different values there are, and how many documents have some.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kinds {
    pub(super) numbers: u64,
    pub(super) terms: u64,
    pub(super) missing: u64,
    pub(super) compression: Compression,
}

/// A pseudorandom number.
fn mix(i: u64, salt: u64) -> u64 {
    let mixed = (i ^ salt << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 16
}

/// Adds document `i`.
pub(super) fn add<T>(
    writer: &mut SegmentWriter<T>,
    fields: [FieldId; 9],
    i: u64,
    kinds: Kinds,
) -> crate::Result<()> {
    let Kinds { numbers, terms, missing, .. } = kinds;
    let [number, time, price, list, raw, coded, term, either, set] = fields;
    let there = |salt| !mix(i, salt).is_multiple_of(missing);
    let mut doc = writer.document();
    if there(1) {
        doc.i64(number, (mix(i, 2) % numbers).cast_signed())?;
    }
    doc.timestamp(time, (i * 1_000 + mix(i, 3) % 500).cast_signed())?;
    if there(4) {
        doc.f64(price, (mix(i, 5) % 100_000) as f64 / 100.0)?;
    }
    for part in 0..mix(i, 6) % 5 {
        doc.i64(list, (mix(i, 7 + part) % numbers).cast_signed())?;
    }
    if there(8) {
        doc.str(raw, &"raw".repeat((mix(i, 9) % 7) as usize))?;
    }
    doc.str(coded, &format!("https://www.example.org/{}/{}", mix(i, 10) % 10, mix(i, 11)))?;
    if there(12) {
        doc.str(term, &format!("{}", mix(i, 13) % terms))?;
    }
    doc.str(either, &format!("either {}", mix(i, 14) % terms))?;
    for part in 0..mix(i, 15) % 4 {
        doc.str(set, &format!("part {}", mix(i, 16 + part) % terms))?;
    }
    doc.finish().map(|_| ())
}

/// The bytes of `docs` documents, written to a file.
fn write(file: AtomicFile, docs: u64, kinds: Kinds, budget: usize, threads: usize) -> Result<Vec<u8>, Error> {
    let path = file.path().to_owned();
    let (schema, fields) = schema(specs(kinds.compression));
    let options = WriterOptions { budget, threads, ..WriterOptions::default() };
    let mut writer = SegmentWriter::to_file(file, schema, options);
    for i in 0..docs {
        add(&mut writer, fields, i, kinds)?;
        assert!(writer.buffered() <= budget);
        if i % 97 == 13 {
            // One that is given up leaves nothing.
            let mut doc = writer.document();
            doc.i64(fields[0], i64::MAX)?.i64(fields[3], i64::MIN)?.str(fields[4], "given up")?;
            doc.str(fields[6], "given up")?.str(fields[8], "given up")?;
        }
    }
    writer.finish()?;
    Ok(std::fs::read(path).unwrap())
}

fn unlimited(docs: u64, kinds: Kinds) -> Vec<u8> {
    let (schema, fields) = schema(specs(kinds.compression));
    let options = WriterOptions { budget: usize::MAX, ..WriterOptions::default() };
    let mut writer = SegmentWriter::in_memory(schema, options);
    (0..docs).for_each(|i| add(&mut writer, fields, i, kinds).unwrap());
    writer.finish_bytes().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap();
    names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_budget_and_any_number_of_threads_give_the_same_bytes(
        docs in 1..20_000_u64,
        numbers in prop_oneof![1..3_u64, 1..1000_u64, Just(1 << 40)],
        terms in prop_oneof![1..300_u64, Just(1 << 40)],
        missing in prop_oneof![Just(u64::MAX), 2..20_u64],
        compression in prop_oneof![
            Just(Compression::Auto),
            Just(Compression::Fsst),
            Just(Compression::OnPair)
        ],
        budget in prop_oneof![150_000..300_000_usize, 300_000..3_000_000_usize],
        threads in proptest::sample::select(vec![1, 2, 3, 8]),
    ) {
        let kinds = Kinds { numbers, terms, missing, compression };
        let folder = tempfile::tempdir().unwrap();
        let file = AtomicFile::create(folder.path().join("a.dv")).unwrap();
        let written = write(file, docs, kinds, budget, threads).unwrap();
        prop_assert!(written == unlimited(docs, kinds), "{} documents in {budget} bytes", docs);
        prop_assert_eq!(names(folder.path()), ["a.dv"]);
    }
}

/// Threads share the columns, and the strings of the last ones.
#[test]
fn threads_compress_the_strings_of_columns_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for compression in [Compression::Fsst, Compression::OnPair] {
        let written = |threads, budget| {
            let spec = |name: &str| FieldSpec::new(name, LogicalType::Utf8).kind(BytesKind::Binary);
            let (schema, fields) = schema(["a", "b", "c"].map(|name| spec(name).compression(compression)));
            let options = WriterOptions { budget, threads, ..WriterOptions::default() };
            let mut writer = SegmentWriter::in_memory(schema, options);
            writer.spill_to(Spill::in_folder(folder.path()));
            for i in 0..20_000 {
                let mut doc = writer.document();
                // Columns of two lengths, and a short one.
                for (field, every) in fields.into_iter().zip([1, 3, 1_000]) {
                    let text = format!("https://www.example.org/{}/{}", mix(i, 10) % 10, mix(i, every));
                    if mix(i, 12).is_multiple_of(every) {
                        doc.str(field, &text).unwrap();
                    }
                }
                doc.finish().unwrap();
            }
            writer.finish_bytes().unwrap()
        };
        let expected = written(1, usize::MAX);
        for (threads, budget) in [(2, usize::MAX), (3, usize::MAX), (3, 300_000), (8, 1_000_000)] {
            assert!(
                written(threads, budget) == expected,
                "{compression:?}: {threads} threads, {budget} bytes"
            );
        }
    }
}

/// The heaviest columns are begun first.
#[test]
fn strings_in_a_temporary_file_weigh_as_much() {
    let spec = FieldSpec::new("text", LogicalType::Utf8).kind(BytesKind::Binary);
    let (mut field, mut memory) = (FieldBuffer::new(&spec), MemoryBudget::new(usize::MAX));
    (0..100).for_each(|_| field.push_bytes(&[b'x'; 1_000], &mut memory).unwrap());
    field.spill(&Spill::in_folder(std::env::temp_dir()), &mut memory).unwrap();
    assert!(field.heap() == 0 && field.weight() >= 100_000);
}

/// Without a look at the strings that are in a file, a column would be of the other kind.
#[test]
fn whether_a_dictionary_pays_is_found_out_in_files_too() {
    for (terms, kind) in [(3_000, Kind::Sorted), (1 << 40, Kind::Binary)] {
        let kinds = Kinds { numbers: 10, terms, missing: u64::MAX, compression: Compression::None };
        let folder = tempfile::tempdir().unwrap();
        let file = AtomicFile::create(folder.path().join("a.dv")).unwrap();
        let written = write(file, 30_000, kinds, 200_000, 1).unwrap();
        assert!(written == unlimited(30_000, kinds));
        let (_, columns) = columns(&written);
        let either = columns.iter().find(|column| column.field.name == "either").unwrap();
        assert_eq!(either.field.kind, kind);
    }
}

#[test]
fn when_the_disk_is_full_nothing_stays_and_the_file_is_named() {
    let kinds = Kinds { numbers: 1 << 40, terms: 100, missing: 5, compression: Compression::Auto };
    let (docs, budget) = (10_000, 200_000);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dv");
    let good = unlimited(docs, kinds);
    let mut failed = 0;
    let steps = [(Step::Create, true), (Step::Write, true), (Step::Read, true), (Step::Write, false)];
    for ((step, spilling), threads) in steps.into_iter().flat_map(|step| [(step, 1), (step, 3)]) {
        for at in [1, 2, 7, 20, 45].map(|at| if spilling { at } else { at + 30 }) {
            let mut calls = 0_usize;
            let file = faulty_file(&path, move |found, bytes| {
                calls += usize::from(found == step);
                let fails = found == step && calls == at + 1;
                if fails { Err(io::ErrorKind::StorageFull.into()) } else { Ok(bytes) }
            });
            match file.map_err(Error::from).and_then(|file| write(file, docs, kinds, budget, threads)) {
                Ok(written) => assert!(written == good, "{step:?} {at}"),
                Err(error) => {
                    failed += 1;
                    let ErrorKind::Storage(storage) = error.kind() else { panic!("{error}") };
                    assert_eq!(storage.step(), step);
                    assert!(error.to_string().contains("/.a.dv."), "{error}");
                    assert!(names(folder.path()).is_empty(), "{step:?} {at}");
                }
            }
            let _ = std::fs::remove_file(&path);
        }
    }
    assert!(failed >= 28, "{failed} calls failed");
}

/// Plain columns are in memory; a part of the values would be taken for all of them.
#[test]
fn values_in_a_temporary_file_are_no_plain_columns() {
    let folder = tempfile::tempdir().unwrap();
    let number = || FieldSpec::new("n", LogicalType::I64);
    let term = || FieldSpec::new("n", LogicalType::Utf8).kind(BytesKind::Sorted);
    for spec in [number(), number().multi_valued(), term()] {
        let (schema, [field]) = schema([spec]);
        let mut writer =
            SegmentWriter::in_memory(schema, WriterOptions { budget: 40_000, ..WriterOptions::default() });
        writer.spill_to(Spill::in_folder(folder.path()));
        let is_term = writer.schema().get(field).unwrap().logical() == LogicalType::Utf8;
        for doc in 0..20_000_u32 {
            let mut document = writer.document();
            // Some documents have no value, so that values do not lie at the places of their documents.
            match doc % 3 {
                0 => {}
                _ if is_term => drop(document.str(field, &doc.to_string()).unwrap()),
                _ => drop(document.i64(field, doc.into()).unwrap()),
            }
            document.finish().unwrap();
        }
        let expected = "expected all values in memory, found some in the temporary file";
        assert!(message(writer.into_plain()).ends_with(expected));
    }
}

/// Terms of more bytes than are read from a file at once.
#[test]
fn terms_longer_than_a_chunk_are_merged_from_files() {
    let term = |i: u64| format!("{}", mix(i, 1)).repeat(if i.is_multiple_of(3) { 20_000 } else { 1 });
    let spec = || FieldSpec::new("term", LogicalType::Utf8).kind(BytesKind::Sorted);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.dv");
    let options = WriterOptions { budget: 1 << 20, ..WriterOptions::default() };
    let mut writer = SegmentWriter::create(&path, Schema::new(), options).unwrap();
    let mut other = SegmentWriter::in_memory(Schema::new(), WriterOptions::default());
    let fields = [writer.add_field(spec()).unwrap(), other.add_field(spec()).unwrap()];
    for i in 0..60 {
        let mut doc = writer.document();
        doc.str(fields[0], &term(i)).unwrap();
        doc.finish().unwrap();
        let mut doc = other.document();
        doc.str(fields[1], &term(i)).unwrap();
        doc.finish().unwrap();
    }
    writer.finish().unwrap();
    assert!(std::fs::read(path).unwrap() == other.finish_bytes().unwrap());
}

/// The values change where a chunk of the encoder ends.
#[test]
fn distinct_values_are_counted_across_chunks() {
    let (schema, [number]) = schema([FieldSpec::new("number", LogicalType::I64)]);
    let mut writer = in_memory(schema);
    for i in 0..20_000_i64 {
        let mut doc = writer.document();
        doc.i64(number, i / 64).unwrap();
        doc.finish().unwrap();
    }
    let (_, columns) = columns(&writer.finish_bytes().unwrap());
    assert_eq!(columns[0].statistics.distinct, Some(313));
}
