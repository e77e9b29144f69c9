//! Merges of columns that differ in type, and of sources that lack columns.

use docvalues::format::file::kind::{from_f64, from_u64};
use docvalues::writer::{Error as WriteError, ErrorKind as WriteErrorKind};
use docvalues::{
    ColumnSource, DocId, Field, Kind, LiveDocs, LogicalType, Merger, OpenOptions, Segment, SortKey,
    WriterOptions,
};
use docvalues_testkit::model::{MemSource, ModelColumn};
use proptest::prelude::*;

/// A source with these numbers in the column `n`.
fn single(logical: LogicalType, numbers: &[i64]) -> MemSource {
    let field = Field::new("n", Kind::Numeric, logical);
    let slots = numbers.iter().copied().map(Some).collect();
    MemSource::new(numbers.len() as u32, [(field, ModelColumn::Numeric(slots))])
}

/// A source with these lists in the column `n`.
fn lists(logical: LogicalType, lists: &[&[i64]]) -> MemSource {
    let field = Field::new("n", Kind::SortedNumeric, logical);
    let lists: Vec<_> = lists.iter().map(|list| list.to_vec()).collect();
    MemSource::new(lists.len() as u32, [(field, ModelColumn::SortedNumeric(lists))])
}

fn promoting<'a>() -> Merger<'a> {
    Merger::new(WriterOptions::default()).promote(true)
}

/// The bytes of the merge of `sources`, named 0.dv, 1.dv and so on.
fn merge<'a>(mut merger: Merger<'a>, sources: &[&'a MemSource]) -> Result<Vec<u8>, WriteError> {
    for (i, source) in sources.iter().enumerate() {
        merger.add(format!("{i}.dv"), *source);
    }
    merger.finish_bytes().map(|(bytes, _)| bytes)
}

fn refused<'a>(merger: Merger<'a>, sources: &[&'a MemSource]) -> String {
    merge(merger, sources).unwrap_err().to_string()
}

/// Integers above 2^53 in absolute value that are exact as doubles.
const LARGE: [i64; 4] = [1 << 53, -(1 << 53), i64::MIN, (1 << 62) + (1 << 20)];

#[test]
fn promoted_columns_equal_a_column_of_that_type() {
    let integers = [&[7, 0, -3][..], &LARGE].concat();
    let unsigned = [0, 9, 1 << 63, u64::MAX - 2047];
    let doubles = [f64::NAN, -0.0, 1.5];
    let as_doubles = |numbers: &[i64]| numbers.iter().map(|&n| from_f64(n as f64)).collect::<Vec<_>>();
    let i64s = single(LogicalType::I64, &integers);
    let u64s = single(LogicalType::U64, &unsigned.map(from_u64));
    let f64s = single(LogicalType::F64, &doubles.map(from_f64));
    let [a, b, c] = [
        single(LogicalType::F64, &as_doubles(&integers)),
        single(LogicalType::F64, &unsigned.map(|n| from_f64(n as f64))),
        single(LogicalType::F64, &doubles.map(from_f64)),
    ];
    for (sources, expected) in [([&i64s, &u64s, &f64s], [&a, &b, &c]), ([&f64s, &i64s, &u64s], [&c, &a, &b])]
    {
        assert!(merge(promoting(), &sources).unwrap() == merge(promoting(), &expected).unwrap());
    }
    // With an index sort.
    let sorted = || promoting().sort_by([SortKey::of("n").descending()]);
    assert!(merge(sorted(), &[&i64s, &f64s]).unwrap() == merge(sorted(), &[&a, &c]).unwrap());
}

#[test]
fn promoted_lists_stay_in_order() {
    let i64s = lists(LogicalType::I64, &[&[-5, 3, 3], &[]]);
    let f64s = lists(LogicalType::F64, &[&[from_f64(0.5)]]);
    let merged = merge(promoting(), &[&i64s, &f64s]).unwrap();
    let expected = lists(LogicalType::F64, &[&[-5.0, 3.0, 3.0].map(from_f64), &[], &[from_f64(0.5)]]);
    assert!(merged == merge(promoting(), &[&expected]).unwrap());
}

#[test]
fn unsigned_and_signed_integers_become_signed() {
    let i64s = single(LogicalType::I64, &[-1]);
    let u64s = single(LogicalType::U64, &[from_u64(i64::MAX as u64)]);
    let merged = merge(promoting(), &[&u64s, &i64s]).unwrap();
    assert!(merged == merge(promoting(), &[&single(LogicalType::I64, &[i64::MAX, -1])]).unwrap());
    let large = single(LogicalType::U64, &[from_u64(1 << 63)]);
    assert_eq!(
        refused(promoting(), &[&i64s, &large]),
        "field \"n\": 1.dv: expected a number that is exact as i64, found 9223372036854775808 of type u64"
    );
}

#[test]
fn an_inexact_number_is_reported_unless_deleted() {
    let f64s = single(LogicalType::F64, &[from_f64(1.0)]);
    let i64s = single(LogicalType::I64, &[4, (1 << 53) + 1]);
    assert_eq!(
        refused(promoting(), &[&f64s, &i64s]),
        "field \"n\": 1.dv: expected a number that is exact as f64, found 9007199254740993 of type i64"
    );
    for (logical, stored) in [
        (LogicalType::I64, i64::MAX),
        (LogicalType::I64, i64::MIN + 1),
        (LogicalType::U64, from_u64(u64::MAX)),
        (LogicalType::U64, from_u64((1 << 63) + 1)),
    ] {
        let error = merge(promoting(), &[&single(logical, &[stored]), &f64s]).unwrap_err();
        assert!(matches!(error.kind(), WriteErrorKind::Source { .. }), "{error}");
    }
    let mut merger = promoting();
    let mut live = LiveDocs::all(ColumnSource::docs(&i64s));
    live.delete(DocId::new(1));
    merger.add("0.dv", &f64s).add_live("1.dv", &i64s, &live).unwrap();
    let (bytes, _) = merger.finish_bytes().unwrap();
    let segment = Segment::from_bytes(bytes, OpenOptions::new()).unwrap();
    assert_eq!(segment.typed::<f64>("n").unwrap().get(DocId::new(1)).unwrap(), Some(4.0));
}

#[test]
fn other_types_are_never_promoted() {
    let f64s = single(LogicalType::F64, &[0]);
    let i64s = single(LogicalType::I64, &[0]);
    let plain = Merger::new(WriterOptions::default());
    assert_eq!(
        refused(plain, &[&i64s, &f64s]),
        "field \"n\": expected one kind and type, found numeric values of type i64 in \"0.dv\" and numeric values of type \
         f64 in \"1.dv\": `Merger::promote` makes them one type"
    );
    let of_other_kind = lists(LogicalType::F64, &[]);
    let date = single(LogicalType::Date, &[0]);
    for other in [&of_other_kind, &date] {
        let refused = refused(promoting(), &[&i64s, other]);
        assert!(refused.ends_with(": write one of them anew"), "{refused}");
    }
    // The message has the types of the columns, not the promoted type of the first two.
    let refused = refused(promoting(), &[&i64s, &f64s, &date]);
    assert!(
        refused.contains("of type i64 in \"0.dv\" and numeric values of type date in \"2.dv\""),
        "{refused}"
    );
}

#[test]
fn a_missing_column_is_refused_on_request() {
    let has = single(LogicalType::I64, &[1]);
    let lacks = MemSource::new(1, []);
    let same = || Merger::new(WriterOptions::default()).same_columns(true);
    assert_eq!(
        refused(same(), &[&has, &has, &lacks]),
        "field \"n\": expected a column of every source, found one in \"0.dv\" and none in \"2.dv\""
    );
    assert!(refused(same(), &[&lacks, &has]).ends_with("found one in \"1.dv\" and none in \"0.dv\""));
    merge(same(), &[&has, &has]).unwrap();
    merge(same().same_columns(false), &[&has, &lacks]).unwrap();
}

proptest! {
    /// A number is promoted if and only if the nearest double equals it.
    #[test]
    fn a_promoted_integer_is_exact_or_an_error(n in prop_oneof![any::<i64>(), any::<i32>().prop_map(i64::from), (0..63_u32, -9..9_i64).prop_map(|(bit, add)| (1_i64 << bit).wrapping_add(add))]) {
        let double = n as f64;
        let exact = format!("{double:.0}") == n.to_string();
        let merged = merge(promoting(), &[&single(LogicalType::I64, &[n]), &single(LogicalType::F64, &[0])]);
        prop_assert_eq!(merged.is_ok(), exact);
    }
}
