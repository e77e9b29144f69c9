//! Typed values: numbers of every type are written and read in that type.

use std::fmt::Debug;
use std::ops::{Bound, ControlFlow, RangeBounds};

use docvalues::column::{
    Date, ErrorKind as ReadErrorKind, Lists, Number, TimestampMicros, TimestampMillis, TimestampNanos, bits,
};
use docvalues::prelude::*;
use docvalues::writer::{Document, Error as WriteError};
use docvalues::{FieldId, Numeric, SortedNumeric};
use docvalues_testkit::damage::cases;
use docvalues_testkit::rng::SplitMix64;
use proptest::prelude::*;

/// A numeric type, with the writer's method that takes it.
trait Written: Number + PartialOrd {
    /// Values near each edge of the type.
    fn edges() -> Vec<Self>;

    fn write(self, document: &mut Document<'_>, field: FieldId) -> Result<(), WriteError>;
}

macro_rules! written {
    ($($type:ty, $write:ident, $value:expr, $edges:expr;)*) => {$(
        impl Written for $type {
            fn edges() -> Vec<$type> {
                $edges.into()
            }

            fn write(self, document: &mut Document<'_>, field: FieldId) -> Result<(), WriteError> {
                document.$write(field, $value(self)).map(drop)
            }
        }
    )*};
}

const MOMENTS: [i64; 7] = [i64::MIN, -1, 0, 1, 1_363_000_000_000, 1_363_000_086_400, i64::MAX];

written! {
    i64, i64, std::convert::identity, [i64::MIN, i64::MIN + 1, -1, 0, 1, 42, i64::MAX - 1, i64::MAX];
    u64, u64, std::convert::identity, [0, 1, 42, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, u64::MAX - 1, u64::MAX];
    f64, f64, std::convert::identity, DOUBLES;
    bool, bool, std::convert::identity, [false, true];
    Date, date, |date: Date| i32::try_from(date.0).unwrap(), [i32::MIN, -1, 0, 1, 20_000, i32::MAX].map(|day| Date(day.into()));
    TimestampMillis, timestamp, |at: TimestampMillis| at.0, MOMENTS.map(TimestampMillis);
    TimestampMicros, timestamp, |at: TimestampMicros| at.0, MOMENTS.map(TimestampMicros);
    TimestampNanos, timestamp, |at: TimestampNanos| at.0, MOMENTS.map(TimestampNanos);
}

const DOUBLES: [f64; 15] = [
    f64::NEG_INFINITY,
    f64::MIN,
    -10.5,
    -f64::MIN_POSITIVE,
    -0.0,
    0.0,
    // The smallest double above 0.
    f64::from_bits(1),
    0.1,
    9.95,
    10.0,
    f64::MAX,
    f64::INFINITY,
    f64::NAN,
    -f64::NAN,
    f64::from_bits(f64::NAN.to_bits() | 42),
];

/// The documents of a single-valued and of a multi-valued column.
#[derive(Clone, Debug)]
struct Model<T> {
    one: Vec<Option<T>>,
    many: Vec<Vec<T>>,
}

impl<T: Written> Model<T> {
    /// `docs` documents whose values are drawn from `values`. Some have no value.
    fn draw(values: &[T], docs: usize) -> Model<T> {
        let mut rng = SplitMix64::named("typed");
        let mut value = || values[rng.place(values.len())];
        let one = (0..docs).map(|doc| (doc % 5 != 3).then(&mut value)).collect();
        let many = (0..docs).map(|doc| (0..doc % 4).map(|_| value()).collect()).collect();
        Model { one, many }
    }

    /// The segment of these documents.
    fn segment(&self) -> Segment {
        let mut schema = Schema::new();
        let one = schema.add(FieldSpec::new("one", T::LOGICAL)).unwrap();
        let many = schema.add(FieldSpec::new("many", T::LOGICAL).multi_valued()).unwrap();
        let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
        for (value, list) in self.one.iter().zip(&self.many) {
            let mut document = writer.document();
            value.iter().for_each(|value| value.write(&mut document, one).unwrap());
            list.iter().for_each(|value| value.write(&mut document, many).unwrap());
            document.finish().unwrap();
        }
        Segment::from_bytes(writer.finish_bytes().unwrap(), OpenOptions::new()).unwrap()
    }

    fn check(&self, ranges: &[(Bound<T>, Bound<T>)]) {
        let segment = self.segment();
        check_one(&segment.typed("one").unwrap(), &self.one, ranges);
        let mut sorted = self.many.clone();
        sorted.iter_mut().for_each(|list| list.sort_by_key(|value| value.to_stored()));
        check_many(&segment.typed_lists("many").unwrap(), &sorted, ranges);
    }
}

/// The values as stored numbers, to compare bits: `==` equates −0.0 and 0.0, and NaN with nothing.
fn exact<T: Number>(values: &[T]) -> Vec<i64> {
    values.iter().map(|value| value.to_stored()).collect()
}

/// Whether a loop counts `value`: NaN is in no range, not even in `..`.
fn is_in<T: PartialOrd>(value: &T, range: &impl RangeBounds<T>) -> bool {
    value.partial_cmp(value).is_some() && range.contains(value)
}

/// Documents in any order, with repeats, and some past the last one.
fn any_order(docs: usize) -> Vec<DocId> {
    let mut rng = SplitMix64::named("any order");
    (0..docs + 70).map(|_| DocId::new(rng.below_u32(docs as u32 + 3))).collect()
}

fn check_one<T: Written>(column: &Numeric<T>, model: &[Option<T>], ranges: &[(Bound<T>, Bound<T>)]) {
    assert_eq!(column.info().field.logical, T::LOGICAL);
    let value_of = |doc: DocId| model.get(doc.get() as usize).copied().flatten();
    let docs = any_order(model.len());
    for &doc in &docs {
        let expected = value_of(doc).map(T::to_stored);
        assert_eq!(column.get(doc).unwrap().map(T::to_stored), expected, "{doc:?}");
        assert_eq!(column.stored().get(doc).unwrap(), expected, "{doc:?}");
    }

    let fill = T::edges()[1];
    let (mut found, mut present) = (vec![fill; docs.len()], vec![0; docs.len().div_ceil(64)]);
    column.gather(&docs, &mut found, &mut present).unwrap();
    for (at, doc) in docs.iter().enumerate() {
        assert_eq!(bits::get(&present, at).then(|| found[at].to_stored()), value_of(*doc).map(T::to_stored));
        assert!(bits::get(&present, at) || found[at] == T::default(), "{doc:?}");
    }
    // Fewer documents than a word has bits. Most have a value.
    let few = &docs[..20];
    column.gather(few, &mut found[..few.len()], &mut present).unwrap();
    assert!((few.len()..64).all(|at| !bits::get(&present, at)));
    column.gather_or(&docs, &mut found, fill).unwrap();
    let filled: Vec<T> = docs.iter().map(|doc| value_of(*doc).unwrap_or(fill)).collect();
    assert_eq!(exact(&found), exact(&filled));

    let end = model.len() as u32;
    for part in [DocRange::new(0, end), DocRange::new(end / 3, end + 9), DocRange::new(end, end)] {
        let mut scanned = Vec::new();
        column
            .scan(part, |docs, values| {
                assert_eq!(docs.len(), values.len());
                scanned.extend(docs.iter().zip(exact(values)));
                ControlFlow::Continue(())
            })
            .unwrap();
        let expected = part.iter().filter_map(|doc| Some((doc, value_of(doc)?.to_stored())));
        assert!(scanned.iter().copied().eq(expected), "{part:?}");
    }

    for range in ranges {
        let expected = model.iter().flatten().filter(|value| is_in(*value, range)).count();
        assert_eq!(column.range(*range).count().unwrap(), expected, "{range:?}");
    }
}

fn check_many<T: Written>(column: &SortedNumeric<T>, model: &[Vec<T>], ranges: &[(Bound<T>, Bound<T>)]) {
    assert_eq!(column.info().field.logical, T::LOGICAL);
    let list_of = |doc: DocId| model.get(doc.get() as usize).map(Vec::as_slice).unwrap_or_default();
    let docs = any_order(model.len());
    let (mut list, mut lists) = (Vec::new(), Lists::new());
    column.gather(&docs, &mut lists).unwrap();
    assert_eq!(lists.len(), docs.len());
    for (doc, gathered) in docs.iter().zip(lists.slices().iter()) {
        let expected = exact(list_of(*doc));
        assert_eq!(exact(gathered), expected, "{doc:?}");
        column.get(*doc, &mut list).unwrap();
        assert_eq!(exact(&list), expected, "{doc:?}");
    }

    let part = DocRange::new(model.len() as u32 / 3, model.len() as u32 + 9);
    let mut scanned = Vec::new();
    column
        .scan(part, |docs, lists| {
            assert_eq!(docs.len(), lists.len());
            scanned.extend(docs.iter().zip(lists.iter().map(exact)));
            ControlFlow::Continue(())
        })
        .unwrap();
    let expected = part.iter().map(|doc| (doc, exact(list_of(doc)))).filter(|(_, list)| !list.is_empty());
    assert!(scanned.into_iter().eq(expected));

    for range in ranges {
        let expected = model.iter().filter(|list| list.iter().any(|value| is_in(value, range))).count();
        assert_eq!(column.range(*range).count().unwrap(), expected, "{range:?}");
    }
}

/// Every form of range with bounds from `ends`.
fn every_range<T: Copy>(ends: &[T]) -> Vec<(Bound<T>, Bound<T>)> {
    let bounds = |end: &T| [Bound::Included(*end), Bound::Excluded(*end)];
    let bounds: Vec<Bound<T>> = ends.iter().flat_map(bounds).chain([Bound::Unbounded]).collect();
    bounds.iter().flat_map(|low| bounds.iter().map(|high| (*low, *high))).collect()
}

fn check_type<T: Written>() {
    let (edges, ranges) = (T::edges(), every_range(&T::edges()));
    Model::draw(&edges, 700).check(&ranges);
    Model::draw(&edges[..1], 3).check(&ranges);
    Model::<T>::draw(&edges, 0).check(&ranges);
}

#[test]
fn numbers_of_every_type_round_trip() {
    check_type::<i64>();
    check_type::<u64>();
    check_type::<f64>();
    check_type::<bool>();
    check_type::<Date>();
    check_type::<TimestampMillis>();
    check_type::<TimestampMicros>();
    check_type::<TimestampNanos>();
}

/// More documents than a batch of `gather` or `scan` has.
#[test]
fn doubles_over_several_blocks() {
    let doubles: Vec<f64> = (0..1_000).map(|i| f64::from(i) / 8.0 - 60.0).chain(DOUBLES).collect();
    Model::draw(&doubles, 70_000)
        .check(&[(Bound::Included(0.0), Bound::Included(10.0)), (Bound::Excluded(-0.0), Bound::Unbounded)]);
}

#[test]
fn a_range_of_doubles_counts_like_a_loop() {
    let model = Model { one: DOUBLES.map(Some).to_vec(), many: vec![vec![]; DOUBLES.len()] };
    let price = model.segment().typed::<f64>("one").unwrap();
    let count = |is_in: fn(&f64) -> bool| DOUBLES.iter().filter(|price| is_in(price)).count();
    assert_eq!(price.range(0.0..=10.0).count().unwrap(), count(|price| (0.0..=10.0).contains(price)));
    assert_eq!(price.range(0.0..=0.0).count().unwrap(), 2, "0.0 and -0.0");
    assert_eq!(price.range(-0.0..0.1).count().unwrap(), count(|price| (-0.0..0.1).contains(price)));
    assert_eq!(price.range(..0.0).count().unwrap(), count(|price| *price < 0.0));
    assert_eq!(price.range(9.95..).count().unwrap(), count(|price| *price >= 9.95));
    assert_eq!(price.range(f64::INFINITY..).count().unwrap(), 1, "no NaN");
    assert_eq!(price.range(..).count().unwrap(), count(|price| !price.is_nan()));
    assert_eq!(price.range(f64::NAN..).count().unwrap(), 0);
    // In the order of stored numbers, −0.0 is below 0.0, and NaN above infinity.
    let stored = price.stored();
    assert_eq!(stored.range(0.0.to_stored()..).count().unwrap(), count(|price| *price >= 0.0) - 1 + 2);
}

#[test]
fn a_range_of_a_sorted_column_of_doubles_is_a_range_of_documents() {
    let mut schema = Schema::new();
    let price = schema.add(FieldSpec::new("price", LogicalType::F64)).unwrap();
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    writer.sort_by([SortKey::of("price")]).unwrap();
    for value in DOUBLES.iter().cycle().take(600) {
        let mut document = writer.document();
        document.f64(price, *value).unwrap();
        document.finish().unwrap();
    }
    let segment = Segment::from_bytes(writer.finish_bytes().unwrap(), OpenOptions::new()).unwrap();
    let price = segment.typed::<f64>("price").unwrap();
    for range in every_range(&DOUBLES) {
        let docs = price.doc_range(range).unwrap().unwrap();
        let all = DocRange::new(0, segment.docs());
        let matching = all.iter().filter(|doc| is_in(&price.get(*doc).unwrap().unwrap(), &range));
        assert!(matching.eq(docs.iter()), "{range:?}: {docs:?}");
    }
}

/// A single-valued and a multi-valued column of each type, and `host` with terms.
fn of_every_type() -> Segment {
    let mut schema = Schema::new();
    for logical in LogicalType::ALL.into_iter().filter(|logical| !logical.is_bytes()) {
        schema.add(FieldSpec::new(logical.name(), logical)).unwrap();
        schema.add(FieldSpec::new(format!("{}s", logical.name()), logical).multi_valued()).unwrap();
    }
    schema.add(FieldSpec::new("host", LogicalType::Utf8)).unwrap();
    let bytes = SegmentWriter::in_memory(schema, WriterOptions::default()).finish_bytes().unwrap();
    Segment::from_bytes(bytes, OpenOptions::new()).unwrap()
}

/// Opens `column`, whose type is `found`, as type `T`.
#[track_caller]
fn check_refusal<T: Debug>(
    opened: Result<T, docvalues::column::Error>,
    column: &str,
    found: LogicalType,
    asked: LogicalType,
) {
    let refused = match opened {
        Ok(_) => return assert_eq!(found, asked, "{column}"),
        Err(refused) => refused,
    };
    let is_wrong_type = matches!(
        refused.kind(),
        ReadErrorKind::WrongType { found: is, asked: was, .. } if (*is, *was) == (found, asked)
    );
    assert!(is_wrong_type, "{refused:?}");
    let (found, asked) = (found.name(), asked.name());
    assert!(
        refused.to_string().ends_with(&format!(": column \"{column}\" is {found}, not {asked}")),
        "{refused}"
    );
}

fn check_refusals<T: Number>(segment: &Segment) {
    for found in LogicalType::ALL.into_iter().filter(|logical| !logical.is_bytes()) {
        let (one, many) = (found.name(), format!("{}s", found.name()));
        check_refusal(segment.typed::<T>(one), one, found, T::LOGICAL);
        check_refusal(segment.typed_lists::<T>(&many), &many, found, T::LOGICAL);
    }
    for other in ["host", "f64s"] {
        let refused = segment.typed::<T>(other).unwrap_err();
        assert!(matches!(refused.kind(), ReadErrorKind::WrongKind { .. }), "{refused}");
    }
}

#[test]
fn a_wrong_type_is_an_error_that_names_both() {
    let segment = of_every_type();
    check_refusals::<i64>(&segment);
    check_refusals::<u64>(&segment);
    check_refusals::<f64>(&segment);
    check_refusals::<bool>(&segment);
    check_refusals::<Date>(&segment);
    check_refusals::<TimestampMillis>(&segment);
    check_refusals::<TimestampMicros>(&segment);
    check_refusals::<TimestampNanos>(&segment);
    for found in LogicalType::ALL.into_iter().filter(|logical| !logical.is_bytes()) {
        let (one, many) = (found.name(), format!("{}s", found.name()));
        check_refusal(segment.numeric(one), one, found, LogicalType::I64);
        check_refusal(segment.sorted_numeric(&many), &many, found, LogicalType::I64);
        // `stored` reads every type.
        segment.stored(one).unwrap();
        segment.stored_lists(&many).unwrap();
    }
}

/// Doubles with any bits, and special values.
fn any_double() -> impl Strategy<Value = f64> {
    prop_oneof![
        2 => any::<u64>().prop_map(f64::from_bits),
        2 => prop::sample::select(&DOUBLES[..]),
        3 => (-50..50_i32).prop_map(|eighths| f64::from(eighths) / 8.0),
    ]
}

fn any_bound() -> impl Strategy<Value = Bound<f64>> {
    prop_oneof![
        any_double().prop_map(Bound::Included),
        any_double().prop_map(Bound::Excluded),
        Just(Bound::Unbounded)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(50, 100)))]

    #[test]
    fn any_doubles_round_trip(
        docs in prop::collection::vec(
            (prop::option::weighted(0.8, any_double()), prop::collection::vec(any_double(), 0..4)),
            0..300,
        ),
        ranges in prop::collection::vec((any_bound(), any_bound()), 1..20),
    ) {
        let (one, many) = docs.into_iter().unzip();
        Model { one, many }.check(&ranges);
    }
}
