//! Index sorts: a sorted segment has the bytes of a segment whose documents were added in that order. Also segments
//! that claim a wrong order.

use docvalues::column::{Pruning, Section, Values, bits};
use docvalues::format::file::directory::content_id;
use docvalues::format::file::frame::{FOOTER_LEN, Footer};
use docvalues::format::file::root::{Extension, ROOT_ENTRY_LEN, Root};
use docvalues::format::file::sort::{self, SORT_TAG};
use docvalues::writer::Compression;
use docvalues::{
    ColumnSource, DocRange, Field, LogicalType, Merger, OpenOptions, OrdRange, Segment, SegmentWriter,
    SortKey, WriterOptions,
};
use docvalues_testkit::conformance::check_source;
use docvalues_testkit::damage::cases;
use docvalues_testkit::model::{MemSource, ModelColumn};
use docvalues_testkit::rng::SplitMix64;
use docvalues_testkit::shapes::{self, Dataset, Shape};
use proptest::prelude::*;

use crate::write::{COMPRESSIONS, EVERY_KIND, add_batches, add_documents, in_batches, schema};

fn open(file: Vec<u8>) -> Segment {
    Segment::from_bytes(file, OpenOptions::new()).unwrap()
}

/// Up to `most` keys over random single-valued columns.
fn any_keys(dataset: &Dataset, most: usize, rng: &mut SplitMix64) -> Vec<SortKey> {
    let single = dataset.columns.iter().filter(|(field, _)| !field.kind.is_multi_valued());
    let mut keys: Vec<_> = single
        .map(|(field, _)| SortKey {
            column: field.name.clone(),
            descending: rng.below(2) == 1,
            missing_first: rng.below(2) == 1,
        })
        .collect();
    let len = keys.len();
    keys.rotate_left(rng.below(len.max(1) as u64) as usize);
    keys.truncate(most);
    keys
}

/// The bytes of a segment of `dataset`, sorted when it is finished.
fn sorted(dataset: &Dataset, keys: &[SortKey], size: Option<u32>, options: WriterOptions) -> Vec<u8> {
    let (schema, fields) = schema(dataset, &COMPRESSIONS);
    let mut writer = SegmentWriter::in_memory(schema, options);
    writer.sort_by(keys.to_vec()).unwrap();
    match size {
        Some(size) => add_batches(&mut writer, &fields, dataset, size),
        None => add_documents(&mut writer, &fields, dataset),
    }
    writer.finish_bytes().unwrap()
}

/// The same through a file, with a small budget and several threads.
fn sorted_in_file(dataset: &Dataset, keys: &[SortKey], budget: usize) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sorted.dv");
    let (schema, fields) = schema(dataset, &COMPRESSIONS);
    let options = WriterOptions::new().budget(budget).threads(1 + budget % 3);
    let mut writer = SegmentWriter::create(&path, schema, options).unwrap();
    add_batches(&mut writer, &fields, dataset, 100);
    writer.sort_by(keys.to_vec()).unwrap();
    writer.finish().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    std::fs::read(path).unwrap()
}

fn footer_and_root(file: &[u8]) -> (Footer, Root) {
    let footer = Footer::decode(file.last_chunk().unwrap(), file.len() as u64).unwrap();
    let root = &file[footer.root_offset as usize..footer.root().end as usize];
    (footer, Root::parse(root, &footer).unwrap())
}

/// The bytes before the root: header, sections and pages.
fn columns(file: &[u8]) -> &[u8] {
    &file[..footer_and_root(file).0.root_offset as usize]
}

/// `file` with another body in the extension of its sort.
fn claim(file: &[u8], body: Vec<u8>) -> Vec<u8> {
    let (footer, mut root) = footer_and_root(file);
    root.extensions.retain(|extension| extension.tag != SORT_TAG);
    let end = root.pages.last().unwrap().sections.end;
    root.extensions.insert(0, Extension { tag: SORT_TAG, sections: end..end, body });
    let (mut out, encoded) = (columns(file).to_vec(), root.encode());
    let (_, extensions) = encoded.split_at(root.pages.len() * ROOT_ENTRY_LEN);
    let pages = root.pages.iter().map(|page| &out[page.bytes.start as usize..page.bytes.end as usize]);
    let id = content_id(footer.docs, pages, extensions);
    let (root_len, root_crc) = (encoded.len() as u32, crc32fast::hash(&encoded));
    out.extend(encoded);
    out.resize(out.len().next_multiple_of(FOOTER_LEN), 0);
    out.extend(Footer { id, root_len, root_crc, ..footer }.encode());
    out
}

#[track_caller]
fn check(dataset: &Dataset, keys: &[SortKey], options: WriterOptions) -> Vec<u8> {
    let model = dataset.sorted(keys);
    let file = sorted(dataset, keys, Some(333), options);
    assert!(columns(&file) == columns(&in_batches(&model, 1_000, &COMPRESSIONS, options)), "{keys:?}");
    let segment = open(file.clone());
    assert_eq!(segment.sort(), keys);
    check_source(&segment, &model.source());
    segment.verify().unwrap();
    file
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(30, 60)))]

    #[test]
    fn documents_are_in_the_order_of_their_rows(
        dataset in shapes::any_dataset(6),
        (seed, tables) in any::<(u64, bool)>(),
        (most, size, budget) in (1..5_usize, 1..500_u32, 20_000..2_000_000_usize),
    ) {
        let keys = any_keys(&dataset, most, &mut SplitMix64::new(seed));
        let options = WriterOptions::new().jump_tables(tables);
        let file = check(&dataset, &keys, options);
        prop_assert!(file == sorted(&dataset, &keys, Some(size), options), "other batches");
        prop_assert!(file == sorted(&dataset, &keys, None, options), "one by one");
        if tables {
            // The budget must fit a batch of 100 documents.
            let budget = budget + 2_000_000;
            prop_assert!(file == sorted_in_file(&dataset, &keys, budget), "another budget");
        }
    }

    /// Pieces that are sorted and then merged equal a segment that is sorted at once.
    #[test]
    fn merged_sorted_pieces_equal_one_sorted_segment(
        dataset in shapes::any_dataset(5),
        places in proptest::collection::vec(any::<u32>(), 0..5),
        (seed, file) in any::<(u64, bool)>(),
    ) {
        let keys = any_keys(&dataset, 3, &mut SplitMix64::new(seed));
        let mut ends: Vec<u32> = places.into_iter().map(|place| place % (dataset.docs + 1)).collect();
        ends.extend([0, dataset.docs]);
        ends.sort_unstable();
        let piece = |docs: &[u32]| {
            let columns = dataset.columns.iter();
            let columns = columns.map(|(field, column)| (field.clone(), column.pick((docs[0]..docs[1]).map(Some))));
            Dataset { docs: docs[1] - docs[0], columns: columns.collect() }
        };
        let pieces: Vec<_> = ends.windows(2).map(piece).collect();
        let options = WriterOptions::default();
        let segments: Vec<_> =
            pieces.iter().map(|piece| open(sorted(piece, &keys, Some(100), options))).collect();
        let unsorted: Vec<_> = pieces.iter().map(Dataset::source).collect();
        let (schema, fields) = schema(&dataset, &[Compression::Auto]);
        let mut writer = SegmentWriter::in_memory(schema, options);
        writer.sort_by(keys.clone()).unwrap();
        add_batches(&mut writer, &fields, &dataset, 100);
        let expected = writer.finish_bytes().unwrap();

        let mut merger = Merger::new(options);
        for segment in &segments {
            merger.add("piece", segment);
        }
        if file {
            let folder = tempfile::tempdir().unwrap();
            merger.finish(folder.path().join("merged.dv")).unwrap();
            prop_assert!(std::fs::read(folder.path().join("merged.dv")).unwrap() == expected);
        } else {
            prop_assert!(merger.finish_bytes().unwrap().0 == expected);
        }
        let mut merger = Merger::new(options).sort_by(keys);
        for source in &unsorted {
            merger.add("piece", source);
        }
        prop_assert!(merger.finish_bytes().unwrap().0 == expected);
    }

    /// Whatever order a segment claims, no call panics or returns a document outside of it.
    #[test]
    fn segments_that_claim_a_wrong_order_are_detected(
        dataset in shapes::any_dataset(4),
        seed in any::<u64>(),
    ) {
        let mut rng = SplitMix64::new(seed);
        let keys = any_keys(&dataset, 2, &mut rng);
        if keys.is_empty() {
            return Ok(());
        }
        let file = in_batches(&dataset, 333, &COMPRESSIONS, WriterOptions::default());
        let segment = open(claim(&file, sort::encode(&keys)));
        let is_so = dataset.sorted(&keys) == dataset.sorted(&[]);
        prop_assert_eq!(segment.verify().is_ok(), is_so);
        let mut found = vec![0; bits::words(0..dataset.docs + 3)];
        for _ in 0..20 {
            let (a, b) = (rng.below_u32(dataset.docs + 3), rng.below_u32(dataset.docs + 3));
            let column = segment.column(&keys[0].column).unwrap();
            let (docs, pruned) = (DocRange::new(a.min(b), a.max(b)), &mut Pruning::default());
            match column.values() {
                Values::Numbers(rows) => {
                    let (low, high) = column.info().bounds.range().into_inner();
                    let middle = low.midpoint(high);
                    for values in [low..=middle, middle..=high, middle..=middle, i64::MIN..=i64::MAX] {
                        rows.filter(docs, &values, &mut found, pruned).unwrap();
                        let docs = segment.stored(&keys[0].column).unwrap().doc_range(values).unwrap().unwrap();
                        prop_assert!(docs.start <= docs.end && docs.end <= dataset.docs);
                    }
                }
                Values::Ords(rows, terms) => {
                    let terms = terms.term_count();
                    let all = DocRange::new(0, dataset.docs);
                    rows.filter(all, &OrdRange::new(terms / 3, terms / 2), &mut found, pruned).unwrap();
                    rows.filter(docs, &OrdRange::new(a, b), &mut vec![0; found.len() + 1], pruned).unwrap();
                }
                Values::Bytes(_) => {}
            }
        }
    }
}

#[test]
fn every_shape_of_column_is_a_key_and_is_moved() {
    let mut rng = SplitMix64::new(7);
    let of_every_kind = &EVERY_KIND.0;
    for _ in 0..cases(1, 6) {
        check(of_every_kind, &any_keys(of_every_kind, 3, &mut rng), WriterOptions::default());
    }
    for shape in shapes::large().into_iter().skip(cases(2, 0)).step_by(cases(19, 3)) {
        let key = Shape { seed: 9, values: shapes::Values::Numeric(shapes::Numbers::FewDistinct), ..shape };
        let dataset = Dataset::of_shapes(shape.docs, [shape, key]);
        let keys = any_keys(&dataset, 2, &mut rng);
        let file = check(&dataset, &keys, WriterOptions::default());
        assert!(file == sorted_in_file(&dataset, &keys, 8_000_000), "{shape:?}");
    }
}

/// So many full-width keys that the sort takes several rounds.
#[test]
fn keys_that_exceed_a_number_are_ranked() {
    let shape = |seed, presence| Shape {
        docs: 3_000,
        presence,
        values: shapes::Values::Numeric(shapes::Numbers::Extremes),
        seed,
    };
    let shapes = (0..8).map(|seed| {
        let presence = if seed % 2 == 0 { shapes::Presence::All } else { shapes::Presence::Random(700) };
        shape(seed, presence)
    });
    let mut dataset = Dataset::of_shapes(3_000, shapes);
    // Most documents are equal in all keys but the last two.
    for (_, column) in &mut dataset.columns[..6] {
        *column = column.pick((0..3_000).map(|doc| Some(if doc % 10 == 0 { doc } else { 1 })));
    }
    let keys: Vec<_> = dataset.columns.iter().map(|(field, _)| SortKey::of(&field.name)).collect();
    check(&dataset, &keys, WriterOptions::default());
}

#[test]
fn a_range_of_the_primary_key_is_a_range_of_documents() {
    let shape = |values| Shape { docs: 5_000, presence: shapes::Presence::Random(800), values, seed: 3 };
    let numbers = shape(shapes::Values::Numeric(shapes::Numbers::SmallRange));
    let strings = shape(shapes::Values::Sorted(shapes::Strings::FewDistinct));
    let dataset = Dataset::of_shapes(5_000, [numbers, strings]);
    let names: Vec<_> = dataset.columns.iter().map(|(field, _)| field.name.clone()).collect();
    for how in 0..4 {
        let key = |name: &String| SortKey {
            column: name.clone(),
            descending: how % 2 == 1,
            missing_first: how > 1,
        };
        let by = |i: usize| [key(&names[i]), key(&names[1 - i])];
        let segment = open(sorted(&dataset, &by(0), None, WriterOptions::default()));
        let column = segment.numeric(&names[0]).unwrap();
        let bounds = column.info().bounds.range();
        for low in (*bounds.start() - 1..=bounds.end() + 1).step_by(37) {
            let values = low..=low + 100;
            let docs = column.doc_range(values.clone()).unwrap().unwrap();
            let mut found = vec![0; bits::words(0..5_000)];
            let each = (0..5_000).filter(|&doc| {
                column.get(docvalues::DocId::new(doc)).unwrap().is_some_and(|value| values.contains(&value))
            });
            assert!(each.eq(docs.start..docs.end), "{how} {values:?}: {docs:?}");
            column.range(values).collect_into(&mut found).unwrap();
            assert!(bits::ones(&found).eq(docs.start as usize..docs.end as usize));
        }
        assert_eq!(segment.sorted(&names[1]).unwrap().doc_range(0..1).unwrap(), None);
        let segment = open(sorted(&dataset, &by(1), None, WriterOptions::default()));
        let column = segment.sorted(&names[1]).unwrap();
        let docs = column.doc_range(1..3).unwrap().unwrap();
        let each = (0..5_000).filter(|&doc| {
            column.ord(docvalues::DocId::new(doc)).unwrap().is_some_and(|ord| (1..3).contains(&ord.get()))
        });
        assert!(each.eq(docs.start..docs.end));
        assert!(column.doc_range(4..4).unwrap().unwrap().is_empty());
        assert_eq!(segment.numeric(&names[0]).unwrap().doc_range(0..=9).unwrap(), None);
    }
}

#[test]
fn unsuitable_sort_keys_are_refused() {
    let dataset = &EVERY_KIND.0;
    let (schema, _) = schema(dataset, &COMPRESSIONS);
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    let mut refused = |keys: &[&str]| {
        let keys = keys.iter().map(|name| SortKey::of(*name));
        writer.sort_by(keys).unwrap_err().to_string()
    };
    assert_eq!(refused(&["flag", "flags"]), "field \"flags\": there is no such field to sort by");
    assert_eq!(
        refused(&["tags"]),
        "field \"tags\": documents cannot be sorted by a field of which one may have several values"
    );
    assert_eq!(
        refused(&["flag", "day", "flag"]),
        "field \"flag\": the documents are to be sorted by this field twice"
    );
    assert_eq!(refused(&["flag"; 17]), "documents are sorted by at most 16 fields");
    let source = dataset.source();
    let mut merger = Merger::new(WriterOptions::default()).sort_by([SortKey::of("tags")]);
    merger.add("x", &source);
    assert!(
        merger
            .finish_bytes()
            .unwrap_err()
            .to_string()
            .starts_with("field \"tags\": documents cannot be sorted")
    );
}

#[test]
fn impossible_sorts_are_refused_or_found_by_verify() {
    let file = EVERY_KIND.1.clone();
    let by = |names: &[&str]| sort::encode(&names.iter().map(|name| SortKey::of(*name)).collect::<Vec<_>>());
    for (name, problem) in [
        ("no such", "the index sort has a key whose column does not exist"),
        ("tags", "the index sort has a key whose column is multi-valued"),
        ("mixed", "document "),
    ] {
        let segment = open(claim(&file, by(&[name])));
        let error = segment.verify().unwrap_err();
        assert!(error.to_string().contains(problem), "{error}");
        assert!(error.to_string().contains(&format!("column \"{name}\"")), "{error}");
        let (section, offset) = error.place().unwrap();
        assert_eq!(section, Section::DirectoryRoot);
        assert!(offset > columns(&file).len() as u64);
        // A merge of such a segment still gives its documents.
        let mut merger = Merger::new(WriterOptions::default());
        merger.add("unsorted", &segment);
        open(merger.finish_bytes().unwrap().0).verify().unwrap();
    }
    // A key by which all documents are equal.
    open(claim(&file, by(&["nothing", "no terms"]))).verify().unwrap();
    for body in [vec![], by(&["day", "day"]), [&by(&["day"])[..], b"x"].concat(), by(&[""]), by(&[])] {
        let refused = Segment::from_bytes(claim(&file, body), OpenOptions::new()).unwrap_err();
        assert!(refused.to_string().contains("directory root at byte"), "{refused}");
    }
}

#[test]
fn a_key_may_be_sorted_in_some_sources_and_binary_in_others() {
    let source = |kind: fn(Vec<Option<Vec<u8>>>) -> ModelColumn, seed| {
        let mut rng = SplitMix64::new(seed);
        let mut value = || rng.chance(3, 4).then(|| format!("host {}", rng.below(300)).into_bytes());
        let values = kind((0..700).map(|_| value()).collect());
        let field = Field::new("host", values.kind(), LogicalType::Utf8);
        MemSource::new(700, [(field, values)])
    };
    let sources =
        [source(ModelColumn::Sorted, 1), source(ModelColumn::Binary, 2), source(ModelColumn::Sorted, 3)];
    let key = SortKey::of("host").descending();
    let merged = |budget: Option<usize>| {
        let options = WriterOptions::new().budget(budget.unwrap_or(usize::MAX));
        let mut merger = Merger::new(options).sort_by([key.clone()]);
        for source in &sources {
            merger.add("x", source);
        }
        if budget.is_none() {
            return merger.finish_bytes().unwrap().0;
        }
        let folder = tempfile::tempdir().unwrap();
        merger.finish(folder.path().join("merged.dv")).unwrap();
        std::fs::read(folder.path().join("merged.dv")).unwrap()
    };
    let segment = open(merged(None));
    segment.verify().unwrap();
    assert_eq!((segment.docs(), segment.sort()), (2_100, &[key.clone()][..]));
    assert!(merged(Some(60_000)) == merged(None));
}

#[test]
fn sources_keep_the_common_prefix_of_their_sorts() {
    let shape = |seed, docs| Shape {
        docs,
        presence: shapes::Presence::Random(900),
        values: shapes::Values::Numeric(shapes::Numbers::FewDistinct),
        seed,
    };
    let dataset = |docs| Dataset {
        columns: ["a", "b", "c"]
            .iter()
            .zip(0..)
            .map(|(name, seed)| (shape(seed, docs).field(*name), shape(seed, docs).column()))
            .collect(),
        docs,
    };
    let [a, b, c] = ["a", "b", "c"].map(SortKey::of);
    let segment = |docs, keys: &[SortKey]| open(sorted(&dataset(docs), keys, None, WriterOptions::default()));
    let merged = |segments: &[Segment]| {
        let mut merger = Merger::new(WriterOptions::default());
        for segment in segments {
            merger.add("x", segment);
        }
        let merged = open(merger.finish_bytes().unwrap().0);
        merged.verify().unwrap();
        merged.sort().to_vec()
    };
    let abc = [a.clone(), b.clone(), c.clone()];
    assert_eq!(merged(&[segment(90, &abc), segment(50, &abc)]), abc);
    assert_eq!(merged(&[segment(90, &abc), segment(50, &abc[..2]), segment(70, &abc)]), abc[..2]);
    assert_eq!(merged(&[segment(90, &abc), segment(50, &[a.clone(), b.descending(), c])]), abc[..1]);
    assert_eq!(merged(&[segment(90, &abc), segment(50, &[a.missing_first()])]), []);
    assert_eq!(merged(&[segment(90, &abc), segment(50, &[])]), []);
    // Sources without documents do not count.
    assert_eq!(merged(&[segment(90, &abc), segment(0, &[])]), abc);
    let (x, y) = (segment(90, &abc), segment(50, &abc));
    let mut merger = Merger::new(WriterOptions::default()).sort_by([]);
    merger.add("x", &x).add("y", &y);
    assert_eq!(open(merger.finish_bytes().unwrap().0).sort(), []);
}
