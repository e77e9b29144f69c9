//! Segments with an id index, compared with a `BTreeMap`: for any sort, in memory or in a file, built at once or merged
//! from pieces.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use docvalues::reader::{IdForm, Verify};
use docvalues::writer::{ErrorKind as WriteErrorKind, IdOptions};
use docvalues::{
    BytesKind, DocId, FieldId, FieldSpec, LiveDocs, LogicalType, Merger, OpenOptions, Schema, Segment,
    SegmentWriter, SortKey, WriterOptions,
};
use docvalues_testkit::damage::cases;
use docvalues_testkit::rng::SplitMix64;
use proptest::prelude::*;

/// The pattern of ids.
#[derive(Clone, Copy, Debug)]
enum Look {
    Uuid,
    Hex,
    Numbered,
    Anything,
    Mixed,
    /// 16 random bytes.
    Random,
}

impl Look {
    fn id(self, i: u64, rng: &mut SplitMix64) -> Vec<u8> {
        // Unique by its last or its first digits.
        let (a, b) = (rng.next_u64(), rng.next_u64());
        match self {
            Look::Uuid => {
                let (a, b) = (format!("{a:016x}"), format!("{:016x}", b << 32 | i));
                format!("{}-{}-{}-{}-{}", &a[..8], &a[8..12], &a[12..], &b[..4], &b[4..]).into_bytes()
            }
            Look::Hex => format!("{a:016x}{i:08x}").into_bytes(),
            Look::Numbered => format!("doc-{:06}", 7 * i).into_bytes(),
            Look::Anything => [&a.to_le_bytes()[..(b % 9) as usize], &i.to_be_bytes()[4..]].concat(),
            Look::Mixed if b.is_multiple_of(3) => Look::Anything.id(i, rng),
            Look::Mixed => Look::Hex.id(i, rng),
            Look::Random => [a.to_be_bytes(), b.to_be_bytes()].concat(),
        }
    }
}

/// Documents with a number each, and mostly with an id.
#[derive(Clone, Debug)]
struct Docs(Vec<(i64, Option<Vec<u8>>)>);

impl Docs {
    fn new(count: u64, look: Look, sparse: bool, seed: u64) -> Docs {
        let mut rng = SplitMix64::new(seed);
        let doc = |i| {
            let id = look.id(i, &mut rng);
            let has = !sparse || rng.below(3) > 0;
            (rng.below(50) as i64, has.then_some(id))
        };
        Docs((0..count).map(doc).collect())
    }

    /// The documents in the order of `sort`.
    fn sorted(&self, sort: Sort) -> Docs {
        let mut docs = self.clone();
        match sort {
            Sort::None => {}
            Sort::Number => docs.0.sort_by_key(|doc| doc.0),
            Sort::Id => docs.0.sort_by(|a, b| (a.1.is_none(), &a.1).cmp(&(b.1.is_none(), &b.1))),
        }
        docs
    }

    fn by_id(&self) -> BTreeMap<&[u8], u32> {
        (0..).zip(&self.0).filter_map(|(doc, (_, id))| Some((id.as_deref()?, doc))).collect()
    }
}

#[derive(Clone, Copy, Debug)]
enum Sort {
    None,
    Number,
    Id,
}

impl Sort {
    fn keys(self) -> Vec<SortKey> {
        match self {
            Sort::None => vec![],
            Sort::Number => vec![SortKey::of("n")],
            Sort::Id => vec![SortKey::of("id")],
        }
    }
}

fn schema() -> (Schema, FieldId, FieldId) {
    let mut schema = Schema::new();
    let number = schema.add(FieldSpec::new("n", LogicalType::I64)).unwrap();
    let id = schema.add(FieldSpec::new("id", LogicalType::Bytes)).unwrap();
    (schema, number, id)
}

fn add<T>(writer: &mut SegmentWriter<T>, docs: &[(i64, Option<Vec<u8>>)], fields: (FieldId, FieldId)) {
    for (number, id) in docs {
        let mut doc = writer.document();
        doc.i64(fields.0, *number).unwrap();
        if let Some(id) = id {
            doc.bytes(fields.1, id).unwrap();
        }
        doc.finish().unwrap();
    }
}

/// The bytes of a segment of these documents.
fn build(docs: &Docs, sort: Sort, options: Option<IdOptions>, budget: Option<usize>) -> Vec<u8> {
    let (schema, number, id) = schema();
    let Some(budget) = budget else {
        let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
        options.iter().for_each(|options| writer.id_field(id, *options).unwrap());
        writer.sort_by(sort.keys()).unwrap();
        add(&mut writer, &docs.0, (number, id));
        return writer.finish_bytes().unwrap();
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ids.dv");
    let options_of_writer = WriterOptions::new().budget(budget);
    let mut writer = SegmentWriter::create(&path, schema, options_of_writer).unwrap();
    options.iter().for_each(|options| writer.id_field(id, *options).unwrap());
    writer.sort_by(sort.keys()).unwrap();
    add(&mut writer, &docs.0, (number, id));
    writer.finish().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    std::fs::read(path).unwrap()
}

fn open(file: &[u8]) -> Segment {
    Segment::from_bytes(file.to_vec(), OpenOptions::new()).unwrap()
}

/// Checks that a segment finds and lists the ids of the model.
fn compare(segment: &Segment, docs: &Docs) {
    segment.verify().unwrap();
    let (ids, model) = (segment.ids().unwrap().unwrap(), docs.by_id());
    assert_eq!((ids.field(), ids.len() as usize), ("id", model.len()));
    let column = segment.binary("id").unwrap();
    let mut value = Vec::new();
    for (&id, &doc) in &model {
        assert_eq!(ids.find(id).unwrap(), Some(DocId::new(doc)), "{}", id.escape_ascii());
        assert_eq!(column.get(DocId::new(doc), &mut value).unwrap(), Some(id));
        // Neighbours of the id do not exist.
        for other in [&[id, b"0"].concat(), &id[..id.len() - 1], &[b"0", id].concat()] {
            assert_eq!(ids.find(other).unwrap().map(DocId::get), model.get(other).copied());
        }
    }
    let mut listed = Vec::new();
    ids.each(|id, doc| {
        listed.push((id.to_vec(), doc.get()));
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(listed.iter().map(|(id, doc)| (&id[..], doc)).eq(model.iter().map(|(&id, doc)| (id, doc))));
    let prefixes =
        model.keys().step_by(17).flat_map(|id| [1, 3, 9, id.len()].map(|len| &id[..len.min(id.len())]));
    for prefix in prefixes {
        let mut found = Vec::new();
        ids.prefix(prefix, |id, _| {
            found.push(id.to_vec());
            ControlFlow::Continue(())
        })
        .unwrap();
        assert!(
            found.iter().map(Vec::as_slice).eq(model.keys().copied().filter(|id| id.starts_with(prefix)))
        );
    }
}

fn looks() -> impl Strategy<Value = Look> {
    prop::sample::select(vec![
        Look::Uuid,
        Look::Hex,
        Look::Numbered,
        Look::Anything,
        Look::Mixed,
        Look::Random,
    ])
}

fn options() -> impl Strategy<Value = IdOptions> {
    let forms = prop::sample::select(IdForm::ALL.to_vec());
    let bits = prop::sample::select(vec![0, 1, 8, 16, 32]);
    (forms, bits, any::<u64>())
        .prop_map(|(form, filter_bits, seed)| IdOptions::new().form(form).filter_bits(filter_bits).seed(seed))
}

fn sorts() -> impl Strategy<Value = Sort> {
    prop::sample::select(vec![Sort::None, Sort::Number, Sort::Id])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(30, 60)))]

    #[test]
    fn every_id_is_found(
        count in prop::sample::select(vec![0, 1, 2, 23, 24, 25, 48, 49, 97, 511, 2_000]),
        look in looks(),
        sparse in any::<bool>(),
        (options, sort, seed) in (options(), sorts(), any::<u64>()),
    ) {
        let docs = Docs::new(count, look, sparse, seed);
        let file = build(&docs, sort, Some(options), None);
        compare(&open(&file), &docs.sorted(sort));
        // The same bytes, in memory and in a file.
        prop_assert!(build(&docs, sort, Some(options), Some(300 << 10)) == file);
    }

    /// Pieces with and without an index, with deletes.
    #[test]
    fn a_merge_equals_a_segment_built_at_once(
        count in 1_u64..1_500,
        look in looks(),
        cuts in prop::collection::vec(any::<u64>(), 0..5),
        (options, sort, seed) in (options(), sorts(), any::<u64>()),
    ) {
        let docs = Docs::new(count, look, true, seed);
        let mut places: Vec<usize> = cuts.iter().map(|cut| (cut % count) as usize).chain([0, count as usize]).collect();
        places.sort_unstable();
        let (mut rng, mut left, mut pieces) = (SplitMix64::new(seed), Vec::new(), Vec::new());
        for (number, place) in places.windows(2).enumerate() {
            let piece = Docs(docs.0[place[0]..place[1]].to_vec());
            let mut live = LiveDocs::all(piece.0.len() as u32);
            for (i, doc) in (0..).zip(&piece.0) {
                if rng.below(4) > 0 {
                    left.push(doc.clone());
                } else {
                    live.delete(DocId::new(i));
                }
            }
            pieces.push((open(&build(&piece, Sort::None, Some(options).filter(|_| number % 2 == 0), None)), live));
        }
        let left = Docs(left);
        let mut merger = Merger::new(WriterOptions::default()).id_field("id", options).sort_by(sort.keys());
        for (segment, live) in &pieces {
            merger.add_live("a piece", segment, live).unwrap();
        }
        let (file, summary) = merger.finish_bytes().unwrap();
        prop_assert!(file == build(&left, sort, Some(options), None));
        prop_assert_eq!(summary.ids.unwrap().field, "id");
        compare(&open(&file), &left.sorted(sort));
    }
}

#[test]
fn random_ids_are_only_in_their_column() {
    let options = IdOptions::new().form(IdForm::Column);
    let segment = |docs: &Docs, sort| open(&build(docs, sort, Some(options), None));
    let form = |segment: &Segment| segment.ids().unwrap().unwrap().form();
    let docs = Docs::new(5_000, Look::Random, false, 3);
    for sort in [Sort::None, Sort::Number, Sort::Id] {
        let segment = segment(&docs, sort);
        assert_eq!(form(&segment), IdForm::Column);
        compare(&segment, &docs.sorted(sort));
        let index = segment.ids().unwrap().unwrap().sizes().total();
        // 16 bytes in the column.
        assert!(index <= 5_000 * 4, "{index}");
    }
    // A merge chooses again.
    let halves = [0..2_500, 2_500..5_000].map(|docs_of_half| Docs(docs.0[docs_of_half].to_vec()));
    let halves = halves.map(|half| segment(&half, Sort::None));
    let mut merger = Merger::new(WriterOptions::default()).id_field("id", options);
    for half in &halves {
        assert_eq!(form(half), IdForm::Column);
        merger.add("a half", half);
    }
    let (merged, _) = merger.finish_bytes().unwrap();
    assert!(merged == build(&docs, Sort::None, Some(options), None));
    // Compressed, of several lengths, or missing.
    for (look, sparse) in [(Look::Hex, false), (Look::Anything, false), (Look::Random, true)] {
        let docs = Docs::new(5_000, look, sparse, 3);
        let segment = segment(&docs, Sort::None);
        assert_eq!(form(&segment), IdForm::Blocks);
        compare(&segment, &docs);
    }
}

/// The index reads the values of the column itself, and does not verify all of them first.
#[test]
fn values_of_ids_are_verified_as_they_are_touched() {
    let docs = Docs::new(5_000, Look::Random, false, 3);
    let mut file = build(&docs, Sort::None, Some(IdOptions::new().form(IdForm::Column)), None);
    let id = |doc: usize| docs.0[doc].1.clone().unwrap();
    let at = file.windows(16).position(|bytes| bytes == id(2_500)).unwrap();
    file[at] ^= 1;
    let segment = Segment::from_bytes(file, OpenOptions::new().verify(Verify::AtOpen)).unwrap();
    let ids = segment.ids().unwrap().unwrap();
    assert_eq!(ids.form(), IdForm::Column);
    assert_eq!(ids.find(&id(0)).unwrap(), Some(DocId::new(0)));
    assert!(ids.find(&id(2_500)).is_err());
    assert!(segment.binary("id").is_err());
}

/// A store warms a merged segment by listing its ids.
#[test]
fn look_ups_after_a_listing_verify_nothing_more() {
    let docs = Docs::new(5_000, Look::Random, false, 3);
    let options = IdOptions::new().form(IdForm::Column).filter_bits(0);
    let segment = open(&build(&docs, Sort::None, Some(options), None));
    let ids = segment.ids().unwrap().unwrap();
    ids.each(|_, _| ControlFlow::Continue(())).unwrap();
    let before = segment.bytes_touched();
    for (doc, (_, id)) in (0..).zip(&docs.0) {
        assert_eq!(ids.find(id.as_deref().unwrap()).unwrap(), Some(DocId::new(doc)));
    }
    assert_eq!(segment.bytes_touched(), before);
}

#[test]
fn duplicate_ids_are_reported_in_input_order() {
    for (sort, budget) in
        [Sort::None, Sort::Number, Sort::Id].into_iter().flat_map(|sort| [(sort, 1 << 28), (sort, 300 << 10)])
    {
        let mut docs = Docs::new(9_000, Look::Uuid, false, 5);
        docs.0[8_000].1 = docs.0[77].1.clone();
        let folder = tempfile::tempdir().unwrap();
        let (schema, number, id) = schema();
        let options = WriterOptions::new().budget(budget);
        let mut writer = SegmentWriter::create(folder.path().join("twice.dv"), schema, options).unwrap();
        writer.id_field(id, IdOptions::default()).unwrap();
        writer.sort_by(sort.keys()).unwrap();
        add(&mut writer, &docs.0, (number, id));
        let refused = writer.finish().unwrap_err();
        let WriteErrorKind::DuplicateId { id, docs: twice } = refused.kind() else { panic!("{refused}") };
        assert_eq!((refused.field(), *twice), (Some("id"), [77, 8_000]));
        assert_eq!(Some(id), docs.0[77].1.as_ref());
        drop(refused);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    }
}

#[test]
fn unsuitable_id_fields_are_refused() {
    let mut writer = SegmentWriter::in_memory(Schema::new(), WriterOptions::default());
    let mut refused = |spec: FieldSpec| {
        let field = writer.add_field(spec).unwrap();
        let refused = writer.id_field(field, IdOptions::default()).unwrap_err();
        assert!(matches!(refused.kind(), WriteErrorKind::NoIdField(_)), "{refused}");
        refused.to_string()
    };
    assert!(refused(FieldSpec::new("a", LogicalType::U64)).contains("numbers"));
    assert!(refused(FieldSpec::new("b", LogicalType::Utf8).multi_valued()).contains("several"));
    assert!(refused(FieldSpec::new("c", LogicalType::Utf8).kind(BytesKind::Sorted)).contains("binary"));
    let late = writer.add_field(FieldSpec::new("d", LogicalType::Utf8)).unwrap();
    let mut doc = writer.document();
    doc.str(late, "there already").unwrap();
    doc.finish().unwrap();
    assert!(writer.id_field(late, IdOptions::default()).is_err());
    let binary = writer.add_field(FieldSpec::new("e", LogicalType::Utf8).kind(BytesKind::Binary)).unwrap();
    let mut doc = writer.document();
    doc.str(binary, "which is none too late").unwrap();
    doc.finish().unwrap();
    writer.id_field(binary, IdOptions::default()).unwrap();

    let mut writer = SegmentWriter::in_memory(Schema::new(), WriterOptions::default());
    let id = writer.add_field(FieldSpec::new("id", LogicalType::Utf8)).unwrap();
    writer.id_field(id, IdOptions::default()).unwrap();
    for len in [3, 65_535, 65_536, 4] {
        let mut doc = writer.document();
        doc.str(id, &"x".repeat(len)).unwrap();
        doc.finish().unwrap();
    }
    let refused = writer.finish_bytes().unwrap_err();
    let long = |kind| matches!(kind, &WriteErrorKind::LongId { doc: 2, len: 65_536, max: 65_535 });
    assert!(long(refused.kind()), "{refused}");
}

#[test]
fn a_merge_without_the_id_column_is_refused() {
    let segment = open(&build(&Docs::new(10, Look::Hex, false, 1), Sort::None, None, None));
    assert!(segment.ids().unwrap().is_none());
    for (name, why) in [("n", "numbers"), ("nobody", "no such column")] {
        let mut merger = Merger::new(WriterOptions::default()).id_field(name, IdOptions::default());
        merger.add("a segment", &segment);
        let refused = merger.finish_bytes().unwrap_err();
        assert!(refused.to_string().contains(why) && refused.field() == Some(name), "{refused}");
    }
}
