//! Documents that are sorted in files, in pieces as small as they may be: as they are sorted in memory.

use docvalues_storage::AtomicFile;
use proptest::prelude::*;

use super::spill::{Kinds, add, specs};
use super::*;
use crate::{Compression, SortKey};

/// The bytes of `docs` documents, sorted; in a file if there is a budget.
fn write(docs: u64, kinds: Kinds, keys: &[SortKey], budget: Option<usize>) -> Vec<u8> {
    fn add_all<T>(
        writer: &mut SegmentWriter<T>,
        fields: [FieldId; 9],
        docs: u64,
        kinds: Kinds,
        keys: &[SortKey],
    ) {
        (0..docs).for_each(|i| add(writer, fields, i, kinds).unwrap());
        writer.sort_by(keys.to_vec()).unwrap();
    }
    let (schema, fields) = schema(specs(kinds.compression));
    let options = WriterOptions { budget: budget.unwrap_or(usize::MAX), ..WriterOptions::default() };
    let Some(_) = budget else {
        let mut writer = SegmentWriter::in_memory(schema, options);
        add_all(&mut writer, fields, docs, kinds, keys);
        return writer.finish_bytes().unwrap();
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dv");
    let mut writer = SegmentWriter::to_file(AtomicFile::create(&path).unwrap(), schema, options);
    add_all(&mut writer, fields, docs, kinds, keys);
    writer.finish().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    std::fs::read(path).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_budget_sorts_alike(
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
        keys in proptest::sample::subsequence(
            vec!["number", "time", "price", "raw", "coded", "term", "either"], 1..5
        ).prop_shuffle(),
        (descending, missing_first) in any::<(u8, u8)>(),
    ) {
        let kinds = Kinds { numbers, terms, missing, compression };
        let keys: Vec<_> = keys.iter().enumerate().map(|(i, name)| SortKey {
            column: (*name).to_owned(),
            descending: descending >> i & 1 == 1,
            missing_first: missing_first >> i & 1 == 1,
        }).collect();
        let in_file = write(docs, kinds, &keys, Some(budget));
        prop_assert!(in_file == write(docs, kinds, &keys, None), "{} documents in {budget} bytes", docs);
    }
}

/// As many documents as make several runs of records, and several windows of places.
#[test]
fn a_hundred_thousand_documents_are_sorted_in_pieces() {
    let kinds = Kinds { numbers: 1 << 40, terms: 1 << 40, missing: 3, compression: Compression::None };
    for keys in [["number", "raw"], ["coded", "term"]] {
        let keys = keys.map(|name| SortKey::of(name).descending());
        let in_file = write(100_000, kinds, &keys, Some(1_000_000));
        assert!(in_file == write(100_000, kinds, &keys, None));
    }
}

#[test]
fn documents_that_are_in_order_stay_as_they_are_and_the_file_says_so() {
    let kinds = Kinds { numbers: 9, terms: 9, missing: 5, compression: Compression::None };
    let unsorted = write(3_000, kinds, &[], None);
    let sorted = write(3_000, kinds, &[SortKey::of("time")], None);
    // What is different is the root, and the footer.
    let root = |bytes: &[u8]| {
        let footer = Footer::decode(bytes.last_chunk().unwrap(), bytes.len() as u64).unwrap();
        usize::try_from(footer.root_offset).unwrap()
    };
    assert!(unsorted[..root(&unsorted)] == sorted[..root(&sorted)]);
    assert!(sorted != unsorted);
}

#[test]
fn no_documents_and_one_are_sorted_too() {
    let kinds = Kinds { numbers: 9, terms: 9, missing: 2, compression: Compression::Auto };
    for docs in 0..3 {
        for key in ["number", "raw", "term", "either"].map(SortKey::of) {
            let keys = [key];
            let in_memory = write(docs, kinds, &keys, None);
            assert!(in_memory == write(docs, kinds, &keys, Some(1 << 20)));
            assert_eq!(columns(&in_memory).0, u32::try_from(docs).unwrap());
        }
    }
}
