//! Merges: pieces of a data set, with deletes, become the segment that is built at once.

use std::path::Path;

use docvalues::writer::{Compression, ErrorKind as WriteErrorKind};
use docvalues::{ColumnSource, DocId, LiveDocs, Merger, OpenOptions, Segment, WriterOptions};
use docvalues_testkit::conformance::check_source;
use docvalues_testkit::damage::cases;
use docvalues_testkit::model::{MemSource, ModelColumn};
use docvalues_testkit::rng::SplitMix64;
use docvalues_testkit::shapes::{self, Dataset, Shape};
use proptest::prelude::*;

use crate::write::{COMPRESSIONS, EVERY_KIND, in_batches};

/// A data set cut into pieces, and its live documents.
struct Cut {
    /// The pieces, each without some of the columns.
    pieces: Vec<Dataset>,
    /// The live documents of each piece.
    live: Vec<LiveDocs>,
    /// All live documents.
    whole: Dataset,
}

/// The share of live documents in a piece.
#[derive(Clone, Copy, Debug)]
enum Lives {
    All,
    Most,
    Some,
    Few,
    None,
}

impl Lives {
    fn lives(self, rng: &mut SplitMix64) -> bool {
        match self {
            Lives::All => true,
            Lives::Most => !rng.next_u64().is_multiple_of(100),
            Lives::Some => rng.next_u64().is_multiple_of(2),
            Lives::Few => rng.next_u64().is_multiple_of(100),
            Lives::None => false,
        }
    }
}

impl Cut {
    /// Cuts `dataset` before each of `places`. A piece lacks the columns for which `leave_out` returns true.
    fn new(
        dataset: &Dataset,
        mut places: Vec<u32>,
        lives: &[Lives],
        leave_out: impl Fn(usize, usize) -> bool,
        seed: u64,
    ) -> Cut {
        let mut rng = SplitMix64::new(seed);
        places.iter_mut().for_each(|place| *place %= dataset.docs + 1);
        places.extend([0, dataset.docs]);
        places.sort_unstable();
        let (mut pieces, mut live, mut left) = (Vec::new(), Vec::new(), Vec::new());
        for (piece, place) in places.windows(2).enumerate() {
            let docs = place[0]..place[1];
            let mut live_docs = LiveDocs::all(docs.end - docs.start);
            for (i, doc) in (0..).zip(docs.clone()) {
                if lives[piece % lives.len()].lives(&mut rng) {
                    left.push((piece, doc));
                } else {
                    live_docs.delete(DocId::new(i));
                }
            }
            let columns = dataset.columns.iter().enumerate().filter(|&(column, _)| !leave_out(piece, column));
            let columns = columns
                .map(|(_, (field, column))| (field.clone(), column.pick(docs.clone().map(Some))))
                .collect();
            pieces.push(Dataset { docs: docs.end - docs.start, columns });
            live.push(live_docs);
        }
        let somewhere = |&(column, _): &(usize, _)| (0..pieces.len()).any(|piece| !leave_out(piece, column));
        let columns = dataset.columns.iter().enumerate().filter(somewhere).map(|(i, (field, column))| {
            let there = |&(piece, doc): &(usize, u32)| (!leave_out(piece, i)).then_some(doc);
            (field.clone(), column.pick(left.iter().map(there)))
        });
        let whole = Dataset { docs: left.len() as u32, columns: columns.collect() };
        Cut { pieces, live, whole }
    }

    /// Merges the pieces, given as `sources`.
    fn merge(
        &self,
        sources: &[impl ColumnSource],
        compression: Compression,
        options: WriterOptions,
    ) -> Vec<u8> {
        let mut merger = Merger::new(options).compression(compression);
        for (i, (source, live)) in sources.iter().zip(&self.live).enumerate() {
            merger.add_live(format!("piece {i}"), source, live).unwrap();
        }
        let (bytes, summary) = merger.finish_bytes().unwrap();
        assert_eq!((summary.bytes, summary.docs), (bytes.len() as u64, self.whole.docs));
        bytes
    }

    /// Merges segments of the pieces, and compares with the segment of the whole.
    fn check(&self, compression: Compression, options: WriterOptions) {
        let open = |file: Vec<u8>| Segment::from_bytes(file, OpenOptions::new()).unwrap();
        let pieces: Vec<_> =
            self.pieces.iter().map(|piece| open(in_batches(piece, 333, &COMPRESSIONS, options))).collect();
        let merged = self.merge(&pieces, compression, options);
        assert!(
            merged == in_batches(&self.whole, 1_000, &[compression], options),
            "other bytes than built at once"
        );
        let merged = open(merged);
        check_source(&merged, &self.whole.source());
        merged.verify().unwrap();
    }
}

fn any_lives() -> impl Strategy<Value = Vec<Lives>> {
    let one = prop_oneof![
        3 => Just(Lives::All), 1 => Just(Lives::Most), 1 => Just(Lives::Some), 1 => Just(Lives::Few), 1 => Just(Lives::None)
    ];
    proptest::collection::vec(one, 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(30, 60)))]

    #[test]
    fn merged_pieces_equal_a_segment_built_at_once(
        dataset in shapes::any_dataset(5),
        places in proptest::collection::vec(any::<u32>(), 0..5),
        lives in any_lives(),
        leave_out in any::<u32>(),
        compression in proptest::sample::select(&COMPRESSIONS),
        (seed, tables) in any::<(u64, bool)>(),
    ) {
        // A piece lacks every fourth column.
        let leave_out = |piece: usize, column: usize| leave_out.rotate_left((piece * 5 + column) as u32) & 3 == 3;
        let cut = Cut::new(&dataset, places, &lives, leave_out, seed);
        let options = WriterOptions::new().jump_tables(tables).zones(tables);
        cut.check(compression, options);
    }

    /// Sources that are not segments.
    #[test]
    fn models_merge_like_segments(
        dataset in shapes::any_dataset(3),
        (place, seed) in any::<(u32, u64)>(),
        lives in any_lives(),
    ) {
        let cut = Cut::new(&dataset, vec![place], &lives, |_, _| false, seed);
        let sources: Vec<MemSource> = cut.pieces.iter().map(Dataset::source).collect();
        let options = WriterOptions::default();
        prop_assert!(cut.merge(&sources, Compression::None, options) == in_batches(&cut.whole, 77, &[Compression::None], options));
    }
}

/// A part of the shapes, or all in the full sweep.
#[test]
fn every_shape_and_kind_of_column_is_merged() {
    let every_kind = [EVERY_KIND.0.clone()];
    let of_shape = |shape: Shape| Dataset::of_shapes(shape.docs, [shape]);
    let small = shapes::small().into_iter().skip(cases(1, 0)).step_by(cases(8, 1));
    let large = shapes::large().into_iter().skip(cases(1, 0)).step_by(cases(11, 1));
    for (i, dataset) in every_kind.into_iter().chain(small.chain(large).map(of_shape)).enumerate() {
        let places = [dataset.docs / 3, dataset.docs / 3 + 64, dataset.docs / 2].to_vec();
        let lives = if i % 2 == 0 { Lives::All } else { Lives::Most };
        let cut = Cut::new(&dataset, places, &[lives], |_, _| false, i as u64);
        cut.check(COMPRESSIONS[i % COMPRESSIONS.len()], WriterOptions::default());
    }
}

#[test]
fn empty_sources_are_merged() {
    let (bytes, summary) = Merger::new(WriterOptions::default()).finish_bytes().unwrap();
    assert_eq!((summary.docs, summary.columns.len()), (0, 0));
    Segment::from_bytes(bytes, OpenOptions::new()).unwrap().verify().unwrap();
}

/// A segment with one column, of one document.
fn single(field: docvalues::Field, column: ModelColumn) -> MemSource {
    MemSource::new(1, [(field, column)])
}

#[test]
fn columns_that_differ_in_kind_or_type_are_refused() {
    use docvalues::{Field, Kind, LogicalType};
    let text = |kind| Field::new("host", kind, LogicalType::Utf8);
    let sorted = single(text(Kind::Sorted), ModelColumn::Sorted(vec![Some(b"a".to_vec())]));
    let set = single(text(Kind::SortedSet), ModelColumn::SortedSet(vec![[b"a".to_vec()].into()]));
    let ip = Field::new("host", Kind::Binary, LogicalType::Ip);
    let ip = single(ip, ModelColumn::Binary(vec![Some(vec![0; 16])]));
    let date = Field::new("host", Kind::Numeric, LogicalType::Date);
    let number = single(date, ModelColumn::Numeric(vec![Some(1)]));
    let refused = |other: &MemSource| {
        let mut merger = Merger::new(WriterOptions::default());
        merger.add("a.dv", &sorted).add("b.dv", &sorted).add("c.dv", other);
        let error = merger.finish_bytes().unwrap_err();
        assert!(matches!(error.kind(), WriteErrorKind::Differ { .. }));
        error.to_string()
    };
    assert_eq!(
        refused(&set),
        "field \"host\": expected one kind and type, found sorted values of type string in \"a.dv\" and sorted-set values \
         of type string in \"c.dv\": write one of them anew"
    );
    assert!(refused(&ip).contains("binary values of type ip in \"c.dv\""));
    assert!(refused(&number).contains("numeric values of type date in \"c.dv\""));
}

/// If some segments have a dictionary and some do not, the merge chooses again.
#[test]
fn sorted_and_binary_columns_merge_to_the_smaller_kind() {
    use docvalues::{BytesKind, FieldSpec, Kind, LogicalType, Schema, SegmentWriter};
    let build = |values: &[Option<String>], kind, budget, path: &Path| {
        let mut schema = Schema::new();
        let field = schema.add(FieldSpec::new("s", LogicalType::Utf8).kind(kind)).unwrap();
        let options = WriterOptions::new().budget(budget);
        let mut writer = SegmentWriter::create(path, schema, options).unwrap();
        for value in values {
            let mut document = writer.document();
            if let Some(value) = value {
                document.str(field, value).unwrap();
            }
            document.finish().unwrap();
        }
        writer.finish().unwrap();
        std::fs::read(path).unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.dv");
    for (distinct, expected) in [(20, Kind::Sorted), (u64::MAX, Kind::Binary)] {
        let mut rng = SplitMix64::new(distinct);
        let value = |i| (i % 7 != 0).then(|| format!("value number {}", rng.next_u64() % distinct));
        let values: Vec<_> = (0..20_000).map(value).collect();
        let (first, second) = values.split_at(8_000);
        let pieces = [(first, BytesKind::Sorted), (second, BytesKind::Binary)];
        let pieces = pieces.map(|(values, kind)| build(values, kind, 64 << 20, &path));
        let pieces = pieces.map(|file| Segment::from_bytes(file, OpenOptions::new()).unwrap());
        let whole = build(&values, BytesKind::Auto, 64 << 20, &path);
        let kind = Segment::from_bytes(whole.clone(), OpenOptions::new()).unwrap().fields().unwrap()[0].kind;
        assert_eq!(kind, expected);
        for budget in [300_000, 64 << 20] {
            let mut merger = Merger::new(WriterOptions::new().budget(budget));
            for piece in &pieces {
                merger.add("piece", piece);
            }
            merger.finish(&path).unwrap();
            assert!(std::fs::read(&path).unwrap() == whole, "{kind:?} within {budget} bytes");
        }
    }
}

#[test]
fn a_merge_beyond_its_budget_spills_or_is_refused() {
    let sources = [64_000, 50_000].map(|docs| {
        let shapes = shapes::large().into_iter().filter(|shape| shape.docs > docs);
        let shapes = shapes.map(|shape| Shape { docs, ..shape });
        Dataset::of_shapes(docs, shapes.step_by(3)).source()
    });
    let merger = |budget| {
        let mut merger = Merger::new(WriterOptions::new().budget(budget));
        for source in &sources {
            merger.add("source", source);
        }
        merger
    };
    let (expected, _) = merger(64 << 20).finish_bytes().unwrap();
    let refused = merger(2 << 20).finish_bytes().map(drop).unwrap_err();
    assert!(matches!(refused.kind(), WriteErrorKind::Budget { .. }), "{refused}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("merged.dv");
    merger(2 << 20).finish(&path).unwrap();
    assert!(std::fs::read(&path).unwrap() == expected);
    let refused = merger(1_000).finish(&path).map(drop).unwrap_err();
    assert!(matches!(refused.kind(), WriteErrorKind::Budget { .. }), "{refused}");
    assert!(std::fs::read(&path).unwrap() == expected);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn a_spelling_is_kept_if_all_agree_or_by_choice() {
    use docvalues::{Field, Kind, LogicalType};
    let source = |format: Option<&str>, value| {
        let field =
            Field { format: format.map(str::to_owned), ..Field::new("at", Kind::Numeric, LogicalType::Date) };
        single(field, ModelColumn::Numeric(vec![value]))
    };
    let (year, day) = (source(Some("%Y"), Some(1)), source(Some("%d"), Some(2)));
    let (bare, empty) = (source(None, Some(3)), source(None, None));
    fn merged<'a>(sources: &[&'a MemSource], mut merger: Merger<'a>) -> Option<String> {
        for source in sources {
            merger.add("x", *source);
        }
        let (_, summary) = merger.finish_bytes().unwrap();
        summary.columns[0].field().format.clone()
    }
    let plain = || Merger::new(WriterOptions::default());
    assert_eq!(merged(&[&year, &year, &empty], plain()), Some("%Y".to_owned()));
    assert_eq!(merged(&[&year, &day], plain()), None);
    assert_eq!(merged(&[&year, &bare], plain()), None);
    assert_eq!(merged(&[&empty, &empty], plain()), None);
    let last = plain().spelling(|all| all.last().copied().flatten().map(str::to_owned));
    assert_eq!(merged(&[&year, &day], last), Some("%d".to_owned()));
}

#[test]
fn a_set_with_unsorted_ords_is_refused() {
    use docvalues::reader::Verify;
    use docvalues::{FieldSpec, LogicalType, Schema, SegmentWriter};
    let mut schema = Schema::new();
    let tags = schema.add(FieldSpec::new("tags", LogicalType::Utf8).multi_valued()).unwrap();
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    for _ in 0..3 {
        let mut doc = writer.document();
        doc.str(tags, "a").unwrap().str(tags, "b").unwrap();
        doc.finish().unwrap();
    }
    let (mut bytes, _) = writer.finish().unwrap();
    let stats = Segment::from_bytes(bytes.clone(), OpenOptions::new()).unwrap().usage().unwrap();
    let values = stats.columns[0]
        .sections
        .iter()
        .find(|at| at.payload == 24 && bytes[at.offset as usize + 16] == 0b10_1010);
    let ords = values.expect("six ords of one bit").offset as usize + 16;

    let merged = |bytes: &[u8]| {
        let segment = Segment::from_bytes(bytes.to_vec(), OpenOptions::new().verify(Verify::Never)).unwrap();
        let mut merger = Merger::new(WriterOptions::default());
        merger.add("x", &segment);
        merger.finish_bytes().map(drop)
    };
    merged(&bytes).unwrap();
    // The first document has b before a.
    bytes[ords] = 0b10_1001;
    let refused = merged(&bytes).unwrap_err().to_string();
    assert!(refused.contains("the ords of a document do not ascend"), "{refused}");
}

#[test]
fn live_documents_of_another_source_are_refused() {
    let source = MemSource::new(65, []);
    for docs in [0, 64, 66] {
        let mut merger = Merger::new(WriterOptions::default());
        let error = merger.add_live("a.dv", &source, &LiveDocs::all(docs)).map(drop).unwrap_err();
        let expected = format!("expected a set of live documents for 65 documents, found one for {docs}");
        assert_eq!(error.to_string(), expected);
    }
}
