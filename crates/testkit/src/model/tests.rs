//! The model against answers worked out by hand.

use docvalues_column::{
    BatchDocs, BinaryColumn, Column, DocId, Lists, LogicalType, NumericColumn, SortedColumn, SortedSetColumn,
    TermOrd, Terms,
};
use std::ops::{Bound, ControlFlow};

use super::*;

fn field(kind: Kind) -> Field {
    let logical = if kind.is_bytes() { LogicalType::Bytes } else { LogicalType::I64 };
    Field::new("x", kind, logical)
}

fn docs<const N: usize>(docs: [u32; N]) -> [DocId; N] {
    docs.map(DocId::new)
}

#[test]
fn numbers_are_where_they_were_put() {
    let column = MemNumeric::new(field(Kind::Numeric), 5, vec![Some(3), None, Some(-7)]);
    assert_eq!((column.docs(), column.docs_with_value()), (5, 2));
    assert_eq!(NumericColumn::bounds(&column), Some(-7..=3));
    assert_eq!(column.get(DocId::new(2)).unwrap(), Some(-7));
    assert_eq!(column.get(DocId::new(4)).unwrap(), None);
    let (mut out, mut present) = ([9; 4], [u64::MAX]);
    column.gather(&docs([2, 1, 7, 0]), &mut out, &mut present).unwrap();
    assert_eq!((out, present[0] & 15), ([-7, 0, 0, 3], 0b1001));
    let mut bits = [0b1000];
    NumericColumn::range(&column, ..0).within(1..5).collect_into(&mut bits).unwrap();
    assert_eq!(bits, [0b1010]);
    let mut seen = Vec::new();
    column
        .scan(0..100, &mut |batch| {
            assert!(matches!(batch.docs, BatchDocs::List(_)));
            seen.extend(batch.docs.iter().zip(batch.values.iter().copied()));
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(seen, [(DocId::new(0), 3), (DocId::new(2), -7)]);
}

#[test]
fn byte_strings_may_be_empty_and_absent() {
    let slots = vec![None, Some(b"".to_vec()), Some(b"\xffz".to_vec())];
    let column = MemBinary::new(field(Kind::Binary), 3, slots);
    let mut out = Lists::new();
    out.push(b"old");
    let mut present = [u64::MAX];
    column.gather(&docs([2, 0, 1]), &mut out, &mut present).unwrap();
    assert_eq!(out.slices().iter().collect::<Vec<_>>(), [&b"\xffz"[..], b"", b""]);
    assert_eq!(present[0] & 7, 0b101);
    column.gather_or(&docs([0]), &mut out, b"-").unwrap();
    assert_eq!(out.get(0), b"-");
    assert_eq!(column.range(Bound::Unbounded, Bound::Excluded(b"a")).count().unwrap(), 1);
}

#[test]
fn terms_are_numbered_in_byte_order() {
    let slots = ["pear", "", "apple", "pear"].map(|term| Some(term.as_bytes().to_vec()));
    let column = MemSorted::from_terms(field(Kind::Sorted), 4, &slots);
    let ords = (0..4).map(|doc| column.ord(DocId::new(doc)).unwrap().unwrap().get());
    assert_eq!(ords.collect::<Vec<_>>(), [2, 0, 1, 2]);
    assert_eq!(column.seek_exact(b"pea").unwrap(), None);
    assert_eq!(column.seek_ceil(b"pea").unwrap(), TermOrd::new(2));
    assert_eq!(column.seek_ceil(b"q").unwrap(), TermOrd::new(3));
    assert_eq!(column.prefix(b"").unwrap(), 0..3);
    assert_eq!(column.prefix(b"p").unwrap(), 2..3);
    assert!(column.prefix(b"x").unwrap().is_empty());
    assert_eq!(column.term_range(Bound::Excluded(b""), Bound::Included(b"pear")).unwrap(), 1..3);
    assert!(column.term_range(Bound::Included(b"z"), Bound::Included(b"a")).unwrap().is_empty());
    let error = column.term(TermOrd::new(3), &mut Vec::new()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoSuchOrd { ord: 3, len: 3, .. }));
}

#[test]
fn several_values_come_in_order_and_sets_without_repeats() {
    let numbers = ModelColumn::SortedNumeric(vec![vec![5, -1, 5], vec![]]);
    let AnyColumn::SortedNumeric(column) = numbers.open(field(Kind::SortedNumeric), 3) else { panic!() };
    let mut out = vec![99];
    column.get(DocId::new(0), &mut out).unwrap();
    assert_eq!((out, column.value_count(), column.docs_with_value()), (vec![-1, 5, 5], 3, 1));

    let slots = [BTreeSet::from([b"b".to_vec(), b"a".to_vec()]), BTreeSet::from([b"b".to_vec()])];
    let column = MemSortedSet::from_terms(field(Kind::SortedSet), 2, &slots);
    let mut out = Lists::new();
    column.gather(&docs([1, 0]), &mut out).unwrap();
    assert_eq!(out.get(0), [TermOrd::new(1)]);
    assert_eq!(out.get(1), [TermOrd::new(0), TermOrd::new(1)]);
    assert_eq!((column.value_count(), column.term_count()), (3, 2));
    assert_eq!(column.range(0..1).count().unwrap(), 1);
}

#[test]
fn a_source_lists_its_columns_by_name() {
    let column = || ModelColumn::Numeric(vec![]);
    let named = |name: &str| Field::new(name, Kind::Numeric, LogicalType::I64);
    let source = MemSource::new(2, [(named("z"), column()), (named("Z"), column())]);
    assert_eq!((source.docs(), source.names().unwrap()), (2, vec!["Z".into(), "z".into()]));
    let error = source.column("y").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoSuchColumn { field, .. } if field == "y"));
}
