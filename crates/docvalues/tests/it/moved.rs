//! The new ids of documents after a sort and after a merge.

use docvalues::{
    Bitset, DocId, FieldSpec, LiveDocs, LogicalType, Merger, OpenOptions, Schema, Segment, SegmentWriter,
    SortKey, WriterOptions,
};
use docvalues_testkit::damage::cases;
use proptest::prelude::*;

/// A small budget, so that documents of a segment in a file are sorted in the temporary file.
const BUDGET: usize = 40_000;

/// A segment with a document for each of `keys`, and the new ids. The column `at` numbers the documents from `first`.
fn write(keys: &[Option<i64>], first: i64, sorts: bool, in_file: bool) -> (Segment, Vec<DocId>) {
    let mut schema = Schema::new();
    let key = schema.add(FieldSpec::new("key", LogicalType::I64)).unwrap();
    let at = schema.add(FieldSpec::new("at", LogicalType::I64)).unwrap();
    let fill = |writer: &mut dyn FnMut(i64, Option<i64>)| {
        (first..).zip(keys).for_each(|(number, key)| writer(number, *key));
    };
    let mut new = Vec::new();
    let moved = |old: DocId, doc: DocId| {
        assert_eq!(old.get() as usize, new.len(), "in the order in which they were added");
        new.push(doc);
    };
    // The two kinds of writers have no common type.
    macro_rules! filled {
        ($writer:expr) => {{
            let mut writer = $writer;
            if sorts {
                writer.sort_by([SortKey::of("key").descending()]).unwrap();
            }
            fill(&mut |number, value| {
                let mut doc = writer.document();
                doc.i64(at, number).unwrap();
                if let Some(value) = value {
                    doc.i64(key, value).unwrap();
                }
                doc.finish().unwrap();
            });
            writer
        }};
    }
    let segment = if in_file {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.dv");
        let options = WriterOptions::new().budget(BUDGET);
        filled!(SegmentWriter::create(&path, schema, options).unwrap()).finish_moved(moved).unwrap();
        Segment::open(&path).unwrap()
    } else {
        let writer = filled!(SegmentWriter::in_memory(schema, WriterOptions::default()));
        Segment::from_bytes(writer.finish_moved(moved).unwrap().0, OpenOptions::new()).unwrap()
    };
    (segment, new)
}

fn at(segment: &Segment, doc: DocId) -> i64 {
    segment.numeric("at").unwrap().get(doc).unwrap().unwrap()
}

fn any_keys() -> impl Strategy<Value = Vec<Option<i64>>> {
    let keys = |len| prop::collection::vec(prop::option::weighted(0.9, 0..40_i64), len);
    prop_oneof![keys(0..9_usize), keys(2_000..6_000_usize)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(12, 24)))]

    #[test]
    fn a_writer_reports_the_new_ids(keys in any_keys(), sorts: bool, in_file: bool) {
        let (segment, new) = write(&keys, 0, sorts, in_file);
        prop_assert_eq!(new.len(), keys.len());
        for (old, doc) in (0..).zip(new) {
            prop_assert_eq!(at(&segment, doc), old);
        }
    }

    #[test]
    fn a_merger_reports_the_new_ids(
        keys in prop::collection::vec(any_keys(), 1..4),
        (sorts, in_file, sorted) in any::<(bool, bool, bool)>(),
        every in 1..5_u32,
    ) {
        let parts = (0..).zip(&keys).map(|(i, keys)| write(keys, i * 10_000, sorts, in_file).0);
        let parts: Vec<Segment> = parts.collect();
        let live = parts.iter().map(|part| {
            Bitset::from_docs((0..part.docs()).filter(|doc| every == 1 || doc % every != 0).map(DocId::new), part.docs())
        });
        let live: Vec<Bitset> = live.collect();
        let mut moves = Vec::new();
        let mut merger = Merger::new(WriterOptions::default()).moved(|part, old, new| moves.push((part, old, new)));
        if sorted {
            merger = merger.sort_by([SortKey::of("key")]);
        }
        for (part, live) in parts.iter().zip(&live) {
            merger.add_live("part", part, &LiveDocs::from(live)).unwrap();
        }
        let (bytes, _) = merger.finish_bytes().unwrap();
        let merged = Segment::from_bytes(bytes, OpenOptions::new()).unwrap();
        let expected = (0..).zip(&live).flat_map(|(part, live)| live.iter().map(move |doc| (part, doc)));
        prop_assert!(moves.iter().map(|(part, old, _)| (*part, *old)).eq(expected), "each live document once, in order");
        for (part, old, new) in moves {
            prop_assert_eq!(at(&merged, new), at(&parts[part], old));
        }
    }
}
