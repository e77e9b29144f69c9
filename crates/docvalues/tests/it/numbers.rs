//! `NumericSeeker`: single numbers of many segments, compared with their columns.

use docvalues::Numeric;
use docvalues::prelude::*;
use docvalues::reader::{Access, JumpTables, NumericSeeker, Verify};
use docvalues_testkit::damage::cases;
use docvalues_testkit::rng::SplitMix64;
use proptest::prelude::*;

/// The values of a segment, by kind of pattern: columns with one block, with several, or with none.
fn values(kind: u8, docs: usize, seed: u64) -> Vec<Option<i64>> {
    let mut random = SplitMix64::new(seed);
    let mut below = |end: u64| (random.next_u64() % end).cast_signed();
    let mut value = |doc: i64| match kind {
        0 => Some(1),
        1 => Some(7 + doc),
        2 => Some(below(1 << 20)),
        3 => Some(-5 + 1_000 * below(300)),
        4 => Some([i64::MIN, -1, 1 << 40, i64::MAX][below(4) as usize]),
        5 => Some(below(u64::MAX)),
        // Blocks that differ.
        6 => Some(doc / 600 * 1_000_000_007 + below(100)),
        7 => (below(3) > 0).then(|| below(50)),
        8 => (doc == 3).then_some(42),
        // A value in all documents but one.
        _ => (doc != 3).then(|| below(50)),
    };
    (0..docs as i64).map(&mut value).collect()
}

const KINDS: u8 = 10;

fn segment(values: &[Option<i64>]) -> Vec<u8> {
    let mut schema = Schema::new();
    let field = schema.add(FieldSpec::new("_version", LogicalType::I64)).unwrap();
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    for value in values {
        let mut document = writer.document();
        if let Some(value) = value {
            document.i64(field, *value).unwrap();
        }
        document.finish().unwrap();
    }
    writer.finish_bytes().unwrap()
}

fn column(bytes: Vec<u8>, options: OpenOptions) -> Numeric {
    Segment::from_bytes(bytes, options).unwrap().numeric("_version").unwrap()
}

/// Reads random documents by a seeker, some of them past the last one.
fn ask(seeker: &NumericSeeker<'_>, model: &[Vec<Option<i64>>], asked: u64, seed: u64) {
    let mut random = SplitMix64::new(seed);
    for _ in 0..asked {
        let place = (random.next_u64() % model.len() as u64) as usize;
        let doc = match random.next_u64() % 16 {
            0 => u32::MAX,
            _ => (random.next_u64() % (model[place].len() as u64 + 2)) as u32,
        };
        let right = model[place].get(doc as usize).copied().flatten();
        assert_eq!(seeker.get(place, DocId::new(doc)).unwrap(), right, "{place}: {doc}");
    }
}

fn options() -> impl Strategy<Value = OpenOptions> {
    let verify = prop_oneof![Just(Verify::OnFirstTouch), Just(Verify::AtOpen), Just(Verify::Never)];
    (verify, prop::sample::select(&JumpTables::ALL[..]))
        .prop_map(|(verify, jump_tables)| OpenOptions::new().verify(verify).jump_tables(jump_tables))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(30, 60)))]

    #[test]
    fn a_seeker_reads_the_numbers_of_the_columns(
        segments in prop::collection::vec(
            (0..KINDS, prop_oneof![0..5_usize, 511..514_usize, 500..600_usize, 3_000..9_000_usize]),
            1..12,
        ),
        options in options(),
        seed in any::<u64>(),
    ) {
        let model: Vec<_> = segments.iter().zip(seed..).map(|((kind, docs), seed)| values(*kind, *docs, seed)).collect();
        let columns: Vec<_> = model.iter().map(|values| column(segment(values), options)).collect();
        let seeker = NumericSeeker::new(&columns);
        prop_assert_eq!((seeker.len(), seeker.is_empty()), (columns.len(), false));
        // Before and after all bytes are verified, by this seeker and by the next one.
        ask(&seeker, &model, 40, seed);
        for (column, values) in columns.iter().zip(&model) {
            for doc in 0..values.len() as u32 {
                column.get(DocId::new(doc)).unwrap();
            }
        }
        ask(&seeker, &model, 400, !seed);
        ask(&NumericSeeker::new(&columns), &model, 400, seed);
    }
}

#[test]
fn files_that_are_mapped_or_read() {
    let folder = tempfile::tempdir().unwrap();
    let model: Vec<_> = (0..KINDS).map(|kind| values(kind, 9_000, 7)).collect();
    for access in [Access::Map, Access::Read] {
        let open = |(kind, values): (u8, &Vec<Option<i64>>)| {
            let path = folder.path().join(format!("{kind}.dv"));
            std::fs::write(&path, segment(values)).unwrap();
            Segment::open_with(&path, OpenOptions::new().access(access)).unwrap().numeric("_version").unwrap()
        };
        let columns: Vec<_> = (0..).zip(&model).map(open).collect();
        let seeker = NumericSeeker::new(&columns);
        (0..4).for_each(|seed| ask(&seeker, &model, 2_000, seed));
    }
}

/// With any damaged byte, a seeker returns the result of the column, or the same error.
#[test]
fn a_seeker_finds_the_damage_that_the_column_finds() {
    for kind in [0, 1, 2, 6, 9] {
        let good = segment(&values(kind, 3_000, 1));
        let mut errors = 0;
        for at in (0..good.len()).step_by(31) {
            let mut bytes = good.clone();
            bytes[at] ^= 0x10;
            let open =
                || Segment::from_bytes(bytes.clone(), OpenOptions::new()).and_then(|s| s.numeric("_version"));
            let (Ok(column), Ok(other)) = (open(), open()) else { continue };
            let seeker = NumericSeeker::new([&column]);
            for _ in 0..2 {
                for doc in (0..3_002).step_by(97).map(DocId::new) {
                    let (said, right) = (seeker.get(0, doc), other.get(doc));
                    errors += usize::from(said.is_err());
                    assert_eq!(
                        said.map_err(|e| e.to_string()),
                        right.map_err(|e| e.to_string()),
                        "{at}: {doc:?}"
                    );
                }
            }
        }
        assert!(errors > 10 || kind < 2, "{kind}: {errors}");
    }
}

#[test]
#[should_panic(expected = "index out of bounds")]
fn a_missing_column_panics() {
    let _ = NumericSeeker::new([]).get(0, DocId::new(0));
}
