//! The model against results computed by hand.

use std::ops::{Bound, ControlFlow};

use docvalues_column::{
    BatchDocs, Bounds, Count, DocId, DocRange, Gathered, Lists, LogicalType, OrdRange, Pruning, TermOrd,
    Zone, bits,
};

use super::*;

fn open(column: &ModelColumn, docs: u32) -> Arc<dyn Column> {
    let logical = if column.kind().is_bytes() { LogicalType::Bytes } else { LogicalType::I64 };
    column.open(Field::new("x", column.kind(), logical), docs)
}

fn docs<const N: usize>(docs: [u32; N]) -> [DocId; N] {
    docs.map(DocId::new)
}

#[test]
fn numbers_are_in_their_slots() {
    let column = open(&ModelColumn::Numeric(vec![Some(3), None, Some(-7)]), 5);
    let info = column.info();
    assert_eq!((info.docs, info.with_value, info.value_count), (5, Count::Exact(2), Count::Exact(2)));
    assert_eq!((&info.bounds, info.sum), (&Bounds::Exact(-7..=3), Some(-4)));
    let rows = column.values().numbers().unwrap();
    let mut out = vec![9];
    assert_eq!((rows.get(DocId::new(2), &mut out).unwrap(), &out), (true, &vec![-7]));
    assert_eq!((rows.get(DocId::new(4), &mut out).unwrap(), &out), (false, &vec![]));
    let mut gathered = Gathered::new();
    rows.gather(BatchDocs::List(&docs([2, 1, 7, 0])), &mut gathered).unwrap();
    assert_eq!((gathered.values(), gathered.present()), (&[-7, 0, 0, 3][..], Some(&[0b1001][..])));
    let mut bits = [0b1000];
    rows.filter(DocRange::new(1, 5), &(i64::MIN..=-1), &mut bits, &mut Pruning::default()).unwrap();
    assert_eq!(bits, [0b1010]);
    let mut seen = Vec::new();
    rows.scan(DocRange::new(0, 100), &mut |batch| {
        assert!(matches!(batch.docs, BatchDocs::List(_)));
        seen.extend(batch.docs.iter().zip(batch.values.one().unwrap().iter().copied()));
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(seen, [(DocId::new(0), 3), (DocId::new(2), -7)]);
}

#[test]
fn zones_hold_their_documents() {
    let slots = (0..300).map(|doc| (doc != 70).then_some(doc)).collect();
    let column = open(&ModelColumn::Numeric(slots), 301);
    let index = column.skip_index().unwrap();
    let zones = |level, start, end| {
        let mut zones = Vec::new();
        index.zones(level, DocRange::new(start, end), &mut zones).unwrap();
        zones
    };
    let zone = |min, max, all_present| Zone { min, max, all_present };
    assert_eq!(index.levels(), [256, 64]);
    assert_eq!(zones(0, 0, 301), [zone(0, 255, false), zone(256, 299, false)]);
    assert_eq!(zones(1, 64, 200), [zone(64, 127, false), zone(128, 191, true), zone(192, 255, true)]);
    let (mut open, mut pruned) = ([0], Pruning::default());
    index.may_hold(1, DocRange::new(64, 301), &(100..=130), &mut open, &mut pruned).unwrap();
    assert_eq!((open, pruned.fine_zones.open, pruned.fine_zones.none), ([0b11], 2, 2));
}

#[test]
fn byte_strings_may_be_empty_and_absent() {
    let column = open(&ModelColumn::Binary(vec![None, Some(b"".to_vec()), Some(b"\xffz".to_vec())]), 3);
    let rows = column.values().bytes().unwrap();
    let mut out = Gathered::new();
    rows.gather(BatchDocs::List(&docs([2, 0, 1])), &mut out).unwrap();
    assert_eq!([out.row(0), out.row(1), out.row(2)], [Some(&b"\xffz"[..]), None, Some(b"")]);
    let mut matched = [0];
    let below = (Bound::Unbounded, Bound::Excluded(b"a".to_vec()));
    rows.filter(DocRange::new(0, 3), &below, &mut matched, &mut Pruning::default()).unwrap();
    assert_eq!(matched, [0b10]);
    assert_eq!((&column.info().bounds, column.info().sum), (&Bounds::Unknown, None));
}

#[test]
fn terms_are_numbered_in_byte_order() {
    let slots = ["pear", "", "apple", "pear"].map(|term| Some(term.as_bytes().to_vec()));
    let column = open(&ModelColumn::Sorted(slots.to_vec()), 4);
    let mut out = Gathered::new();
    let run = BatchDocs::Run(DocRange::new(0, 4));
    column.values().ords().unwrap().gather(run, &mut out).unwrap();
    assert_eq!(out.values(), [2, 0, 1, 2].map(TermOrd::new));
    let terms = column.values().terms().unwrap();
    assert_eq!(terms.seek_exact(b"pea").unwrap(), None);
    assert_eq!(terms.seek_ceil(b"pea").unwrap(), TermOrd::new(2));
    assert_eq!(terms.seek_ceil(b"q").unwrap(), TermOrd::new(3));
    assert_eq!(terms.prefix(b"").unwrap(), OrdRange::new(0, 3));
    assert_eq!(terms.prefix(b"p").unwrap(), OrdRange::new(2, 3));
    assert!(terms.prefix(b"x").unwrap().is_empty());
    let after_the_first = terms.term_range(Bound::Excluded(b""), Bound::Included(b"pear"));
    assert_eq!(after_the_first.unwrap(), OrdRange::new(1, 3));
    assert!(terms.term_range(Bound::Included(b"z"), Bound::Included(b"a")).unwrap().is_empty());
    let mut list = Lists::new();
    terms.gather_terms(&[TermOrd::new(2), TermOrd::new(1)], &mut list).unwrap();
    assert_eq!(list.slices().iter().collect::<Vec<_>>(), [&b"pear"[..], b"apple"]);
    let error = terms.term(TermOrd::new(3), &mut Vec::new()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoSuchOrd { ord: 3, len: 3, .. }));
}

#[test]
fn several_values_come_in_order_and_sets_without_repeats() {
    let column = open(&ModelColumn::SortedNumeric(vec![vec![5, -1, 5], vec![]]), 3);
    let mut out = vec![99];
    column.values().numbers().unwrap().get(DocId::new(0), &mut out).unwrap();
    assert_eq!(out, [-1, 5, 5]);
    assert_eq!((column.info().value_count, column.info().with_value), (Count::Exact(3), Count::Exact(1)));
    assert!(column.skip_index().is_none());

    let slots = vec![BTreeSet::from([b"b".to_vec(), b"a".to_vec()]), BTreeSet::from([b"b".to_vec()])];
    let column = open(&ModelColumn::SortedSet(slots), 2);
    let mut out = Gathered::new();
    column.values().ords().unwrap().gather(BatchDocs::List(&docs([1, 0])), &mut out).unwrap();
    assert_eq!(out.lists().get(0), [TermOrd::new(1)]);
    assert_eq!(out.lists().get(1), [TermOrd::new(0), TermOrd::new(1)]);
    assert_eq!(column.info().value_count, Count::Exact(3));
    let mut exists = [0];
    column.exists(DocRange::new(1, 9), &mut exists).unwrap();
    assert_eq!(bits::ones(&exists).collect::<Vec<_>>(), [0]);
}

#[test]
fn a_source_lists_its_columns_by_name() {
    let column = || ModelColumn::Numeric(vec![]);
    let named = |name: &str| Field::new(name, Kind::Numeric, LogicalType::I64);
    let source = MemSource::new(2, [(named("z"), column()), (named("Z"), column())]);
    assert_eq!((source.docs(), source.fields().unwrap()), (2, vec![named("Z"), named("z")]));
    let error = source.column("y").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoSuchColumn { field, .. } if field == "y"));
}
