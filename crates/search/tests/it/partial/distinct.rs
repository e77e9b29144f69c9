//! Distinct values that are estimated.

use docvalues_column::{Field, Kind, LogicalType, Part};
use docvalues_search::stats::{Distinct, Stats};
use docvalues_search::{Docs, Parts, Search};
use docvalues_testkit::model::{MemSource, ModelColumn};

fn distinct(kind: Kind, columns: Vec<ModelColumn>) -> Distinct {
    within(256 << 20, kind, columns)
}

/// Statistics over all parts equal those of each part, merged in two ways.
fn within(memory: usize, kind: Kind, columns: Vec<ModelColumn>) -> Distinct {
    let logical = if kind.is_bytes() { LogicalType::Bytes } else { LogicalType::I64 };
    let part = |column: &ModelColumn| {
        let docs = u32::try_from(column.len()).unwrap();
        Part::new(MemSource::new(docs, [(Field::new("it", kind, logical), column.clone())]))
    };
    let stats = Stats::of("it").distinct();
    let all = Parts::new(columns.iter().map(part));
    let expected = Search::over(&all).memory(memory).stats(Docs::All, &stats).unwrap();
    let partial = |column: &ModelColumn| {
        let parts = Parts::new([part(column)]);
        Search::over(&parts).memory(memory).partial_stats(Docs::All, &stats).unwrap()
    };
    let left = columns.iter().map(partial).reduce(|all, next| all.merge(next).unwrap()).unwrap();
    let right = columns.iter().map(partial).rev().reduce(|all, next| next.merge(all).unwrap()).unwrap();
    assert_eq!(left.finish(), expected);
    assert_eq!(right.finish(), expected);
    expected.distinct.unwrap()
}

#[test]
fn numbers_are_estimated_if_they_are_in_one_set() {
    let column = |values: &mut dyn Iterator<Item = i64>| ModelColumn::Numeric(values.map(Some).collect());
    let near = |from: i64| column(&mut (from..from + 40_000));
    let far = |from: i64| column(&mut (from..from + 70_000).map(|number| number * 1_000_003));
    let kind = Kind::Numeric;
    // Close together in each part, and in all.
    assert_eq!(distinct(kind, vec![near(0), near(30_000), near(90_000)]), Distinct::Exact(110_000));
    // Close together in each part only.
    assert!(matches!(distinct(kind, vec![near(0), near(1 << 50), near(7)]), Distinct::About(_)));
    assert!(matches!(distinct(kind, vec![near(0), far(0), near(1 << 50), far(9)]), Distinct::About(_)));
    let few = column(&mut [0, i64::MAX, 7].into_iter());
    assert_eq!(distinct(kind, vec![few.clone(), near(0), few]), Distinct::Exact(40_001));
}

#[test]
fn byte_strings_are_estimated_if_they_are_in_one_set() {
    let strings = |from: u32, to: u32| (from..to).map(|n| Some(n.to_be_bytes().to_vec())).collect();
    let binary = |from, to| ModelColumn::Binary(strings(from, to));
    assert_eq!(distinct(Kind::Binary, vec![binary(0, 30_000), binary(10, 60_000)]), Distinct::Exact(60_000));
    let many = vec![binary(0, 50_000), binary(40_000, 80_000), binary(9, 100_000)];
    assert!(matches!(distinct(Kind::Binary, many), Distinct::About(_)));
    // Few, but too long for a 16th of the memory.
    let long = |from: u32, to: u32| {
        let long = |n: u32| Some([vec![b'x'; 1_000], n.to_be_bytes().to_vec()].concat());
        ModelColumn::Binary((from..to).map(long).collect())
    };
    for (end, is_exact) in [(3, true), (6, false), (40, false), (3_000, false)] {
        let found = within(0, Kind::Binary, vec![long(0, end), long(0, 1), long(end / 2, end), long(2, 4)]);
        assert_eq!(found == Distinct::Exact(u64::from(end.max(4))), is_exact, "{found:?} of {end}");
    }
    let sorted = |from, to| ModelColumn::Sorted(strings(from, to));
    let many = vec![sorted(0, 50_000), sorted(40_000, 80_000)];
    assert_eq!(distinct(Kind::Sorted, many), Distinct::Exact(80_000));
}
