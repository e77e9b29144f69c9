//! -0.0 and 0.0, which queries, counts and groups treat as one value.

use docvalues_column::{Field, Kind, LogicalType, Part, Value};
use docvalues_format::file::kind::from_f64;
use docvalues_search::facet::Facet;
use docvalues_search::group::{Group, GroupOrder};
use docvalues_search::histogram::{Histogram, Step};
use docvalues_search::stats::{Distinct, Stats};
use docvalues_search::{Docs, Parts, Search};
use docvalues_testkit::model::{MemSource, ModelColumn};

/// Columns of numbers near 0, alone and beside one far away, so that arrays and hash tables count them.
fn columns() -> Vec<Vec<f64>> {
    let zeros = [vec![-0.0], vec![-0.0, 0.0], vec![0.0, -0.0, -0.0], vec![-0.0; 3]];
    let far = |zeros: &Vec<f64>| [zeros.as_slice(), &[1.5, -1e9]].concat();
    zeros.iter().map(far).chain(zeros.clone()).collect()
}

fn part(kind: Kind, lists: &[Vec<f64>]) -> Part {
    let stored = |list: &Vec<f64>| list.iter().copied().map(from_f64).collect::<Vec<_>>();
    let column = if kind == Kind::Numeric {
        ModelColumn::Numeric(lists.iter().map(|list| stored(list).first().copied()).collect())
    } else {
        ModelColumn::SortedNumeric(lists.iter().map(stored).collect())
    };
    let field = Field::new("x", kind, LogicalType::F64);
    Part::new(MemSource::new(lists.len().try_into().unwrap(), [(field, column)]))
}

/// The number of documents with a zero in the facet of `x`.
fn zeros(values: &[(Value, u64)]) -> u64 {
    let is_zero = |value: &Value| matches!(value, Value::F64(number) if *number == 0.0);
    let zeros: Vec<_> = values.iter().filter(|(value, _)| is_zero(value)).collect();
    assert!(zeros.len() == 1 && zeros[0].0 == Value::F64(0.0), "{values:?}");
    zeros[0].1
}

#[test]
fn a_zero_of_either_sign_is_one_value() {
    for numbers in columns() {
        let single: Vec<Vec<f64>> = numbers.iter().map(|number| vec![*number]).collect();
        let expected = numbers.iter().filter(|number| **number == 0.0).count() as u64;
        let distinct = 1 + numbers.iter().filter(|number| **number != 0.0).count() as u64;
        for cut in 0..=single.len() {
            let parts = [&single[..cut], &single[cut..]].map(|lists| part(Kind::Numeric, lists));
            let parts = Parts::new(parts);
            let search = Search::over(&parts);
            let query = "x = -0.0".parse().unwrap();
            assert_eq!(search.count(&query).unwrap(), expected);
            let facet = search.facet(Docs::All, &Facet::of("x")).unwrap();
            assert_eq!((zeros(&facet.values), facet.distinct), (expected, distinct), "{numbers:?}");
            let partial = search.partial_facet(Docs::All, &Facet::of("x")).unwrap();
            assert_eq!(partial.finish(), facet);
            let stats = search.stats(Docs::All, &Stats::of("x").distinct()).unwrap();
            assert_eq!(stats.distinct, Some(Distinct::Exact(distinct)), "{numbers:?}");
            for order in [GroupOrder::Count, GroupOrder::Value, GroupOrder::Best] {
                let groups = search.group(Docs::All, &Group::of("x").order(order)).unwrap().groups;
                let counts: Vec<_> =
                    groups.into_iter().map(|group| (group.values[0].clone().unwrap(), group.count)).collect();
                assert_eq!(zeros(&counts), expected, "{numbers:?}");
            }
            let histogram = Histogram::of("x", Step::Edges(vec![i64::MIN])).facet(Facet::of("x"));
            let found = search.histogram(Docs::All, &histogram).unwrap();
            assert_eq!(zeros(&found.buckets[0].facet.as_ref().unwrap().values), expected, "{numbers:?}");
        }
    }
}

#[test]
fn a_document_with_both_zeros_counts_once() {
    let parts = Parts::new([part(Kind::SortedNumeric, &[vec![-0.0, 0.0], vec![-0.0], vec![0.0, 3.5]])]);
    let search = Search::over(&parts);
    let facet = search.facet(Docs::All, &Facet::of("x")).unwrap();
    assert_eq!(facet.values, [(Value::F64(0.0), 3), (Value::F64(3.5), 1)]);
    let stats = search.stats(Docs::All, &Stats::of("x").distinct()).unwrap();
    assert_eq!(stats.distinct, Some(Distinct::Exact(2)));
    // The least of all values is the stored one.
    assert_eq!(stats.min, Some(Value::F64(-0.0)));
}
