//! Partial results that do not merge, that exceed the memory, and columns that a shard lacks.

use docvalues_column::{Field, Kind, LogicalType, Part, SortKey};
use docvalues_search::facet::Facet;
use docvalues_search::group::{Group, GroupOrder, Metric};
use docvalues_search::histogram::{Histogram, Step, Unit};
use docvalues_search::stats::Stats;
use docvalues_search::{Docs, Error, MissingColumns, Parts, Result, Search};
use docvalues_testkit::model::{MemSource, ModelColumn};

fn numbers(name: &str, logical: LogicalType, values: impl IntoIterator<Item = i64>) -> (Field, ModelColumn) {
    (Field::new(name, Kind::Numeric, logical), ModelColumn::Numeric(values.into_iter().map(Some).collect()))
}

fn terms(name: &str, values: &[&str]) -> (Field, ModelColumn) {
    let values = values.iter().map(|value| Some(value.as_bytes().to_vec())).collect();
    (Field::new(name, Kind::Sorted, LogicalType::Utf8), ModelColumn::Sorted(values))
}

fn shard(docs: u32, columns: impl IntoIterator<Item = (Field, ModelColumn)>) -> Parts {
    Parts::new([Part::new(MemSource::new(docs, columns))])
}

fn over(parts: &Parts) -> Search<'_> {
    Search::over(parts).missing_columns(MissingColumns::NoValues)
}

fn refused<T: std::fmt::Debug>(merged: Result<T>) -> String {
    match merged {
        Err(Error::Request(why)) => why,
        other => panic!("expected an error, found {other:?}"),
    }
}

#[test]
fn results_of_different_requests_do_not_merge() {
    let parts = shard(2, [numbers("it", LogicalType::I64, [1, 2])]);
    let search = Search::over(&parts);
    let expected = "column \"it\": expected a partial result of the same request, found one of another";
    let facet = |top| search.partial_facet(Docs::All, &Facet::of("it").top(top)).unwrap();
    assert_eq!(refused(facet(1).merge(facet(2))), expected);
    let group = |top| search.partial_group(Docs::All, &Group::of("it").top(top)).unwrap();
    assert_eq!(refused(group(1).merge(group(2))), expected);
    let stats = |p: f64| search.partial_stats(Docs::All, &Stats::of("it").percentiles([p])).unwrap();
    assert_eq!(refused(stats(1.0).merge(stats(2.0))), expected);
    let histogram = |width| Histogram::of("it", Step::Whole(width));
    let histogram = |width| search.partial_histogram(Docs::All, &histogram(width)).unwrap();
    assert_eq!(refused(histogram(1).merge(histogram(2))), expected);
    let top = |top| search.partial_top(Docs::All, &[SortKey::of("it")], top).unwrap();
    assert_eq!(refused(top(1).merge(top(2))), expected);
    // A metric that does not exist.
    assert!(search.partial_group(Docs::All, &Group::of("it").order(GroupOrder::Metric(0))).is_err());
}

#[test]
fn columns_of_different_types_do_not_merge() {
    let [a, b] = [LogicalType::I64, LogicalType::Date].map(|logical| shard(1, [numbers("it", logical, [1])]));
    let expected = "column \"it\" is numeric i64 in one partial result and numeric date in another";
    let both = [&a, &b].map(Search::over);
    let [a, b] = both.each_ref().map(|search| search.partial_facet(Docs::All, &Facet::of("it")).unwrap());
    assert_eq!(refused(a.merge(b)), expected);
    let group = Group::of("none").metric(Metric::Max("it".into()));
    let both = both.map(|search| search.missing_columns(MissingColumns::NoValues));
    let [a, b] = both.each_ref().map(|search| search.partial_group(Docs::All, &group).unwrap());
    assert_eq!(refused(a.merge(b)), expected);
    let keys = [SortKey::of("it")];
    let [a, b] = both.each_ref().map(|search| search.partial_top(Docs::All, &keys, 1).unwrap());
    assert_eq!(refused(a.merge(b)), expected);
}

#[test]
fn a_shard_need_not_have_a_column() {
    let days = || numbers("day", LogicalType::Date, [0, 31, 365]);
    let names = || terms("name", &["ab", "ac", "b"]);
    let source = |has_all: bool| MemSource::new(3, [days(), names()].into_iter().filter(|_| has_all));
    let all = Parts::new([true, false].map(|has_all| Part::new(source(has_all))));
    let shards = [true, false].map(|has_all| Parts::new([Part::new(source(has_all))]));
    let whole = over(&all);
    for order in [[0, 1], [1, 0]] {
        let shards = order.map(|at: usize| over(&shards[at]));
        let months = Histogram::of("day", Step::every(Unit::Month));
        let histograms = [
            months.clone().facet(Facet::of("name").prefix("a")).metric(Metric::Max("day".into())),
            Histogram::of("day", Step::Edges(vec![0, 40])).facet(Facet::of("name")),
            months,
        ];
        for histogram in &histograms {
            let [a, b] =
                shards.each_ref().map(|search| search.partial_histogram(Docs::All, histogram).unwrap());
            let merged = a.merge(b).unwrap().finish().unwrap();
            assert_eq!(merged, whole.histogram(Docs::All, histogram).unwrap());
        }
        for facet in [Facet::of("name").prefix("a"), Facet::of("day").min_count(0)] {
            let [a, b] = shards.each_ref().map(|search| search.partial_facet(Docs::All, &facet).unwrap());
            assert_eq!(a.merge(b).unwrap().finish(), whole.facet(Docs::All, &facet).unwrap());
        }
        for stats in [Stats::of("name").distinct(), Stats::of("day").percentiles([50.0]).distinct()] {
            let [a, b] = shards.each_ref().map(|search| search.partial_stats(Docs::All, &stats).unwrap());
            assert_eq!(a.merge(b).unwrap().finish(), whole.stats(Docs::All, &stats).unwrap());
        }
    }
    // In one search, the type of the column is not known.
    let [_, lacking] = shards.each_ref().map(over);
    let months = Histogram::of("day", Step::every(Unit::Month));
    let partial = lacking.partial_histogram(Docs::All, &months).unwrap();
    assert!(partial.finish().is_err() && lacking.histogram(Docs::All, &months).is_err());
}

#[test]
fn the_column_is_described_by_a_part_with_values() {
    let part = |format: &str, value: Option<i64>| {
        let format = Some(format.to_owned()).filter(|format| !format.is_empty());
        let field = Field { format, ..Field::new("day", Kind::Numeric, LogicalType::Date) };
        Part::new(MemSource::new(1, [(field, ModelColumn::Numeric(vec![value]))]))
    };
    for parts in [
        [part("", None), part("%d", None), part("%m", Some(1)), part("%y", Some(1))],
        [part("", None), part("%d", None), part("%m", None), part("", None)],
    ] {
        let facet = Facet::of("day");
        let all = Parts::new(parts.clone());
        let shards = parts.map(|part| Parts::new([part]));
        let shards = shards.iter().map(|parts| over(parts).partial_facet(Docs::All, &facet).unwrap());
        let merged = shards.reduce(|all, next| all.merge(next).unwrap()).unwrap().finish();
        assert_eq!(merged, over(&all).facet(Docs::All, &facet).unwrap());
    }
}

#[test]
fn too_many_buckets_in_total() {
    let [a, b] = [0, 1 << 40].map(|at| shard(1, [numbers("it", LogicalType::I64, [at])]));
    let histogram = Histogram::of("it", Step::Whole(1));
    let [a, b] = [&a, &b].map(|parts| Search::over(parts).partial_histogram(Docs::All, &histogram).unwrap());
    let why = refused(a.merge(b).unwrap().finish());
    assert_eq!(why, "column \"it\" would need more than 65536 buckets: choose a greater width");
}

#[test]
fn results_beyond_the_memory_limit_are_errors() {
    let docs = 20_000;
    let wide = |name: &str| numbers(name, LogicalType::I64, (0..docs).map(|doc| doc * 1_000_003));
    let text: Vec<String> = (0..docs).map(|doc| format!("{doc:09}")).collect();
    let text: Vec<&str> = text.iter().map(String::as_str).collect();
    let one = numbers("one", LogicalType::I64, vec![1; text.len()]);
    let parts = shard(u32::try_from(docs).unwrap(), [wide("it"), wide("other"), terms("text", &text), one]);
    for threads in [1, 2] {
        let search = Search::over(&parts).memory(1 << 17).threads(threads);
        let is_memory = |error: &Error| matches!(error, Error::Memory { .. });
        for column in ["it", "text"] {
            let refused = search.partial_facet(Docs::All, &Facet::of(column)).unwrap_err();
            assert!(is_memory(&refused), "{refused}");
            for group in [Group::of(column), Group::of(column).docs(2).order(GroupOrder::Best)] {
                let refused = search.partial_group(Docs::All, &group).unwrap_err();
                assert!(is_memory(&refused), "{refused}");
            }
            let refused = search.partial_stats(Docs::All, &Stats::of(column).distinct()).unwrap_err();
            assert!(is_memory(&refused), "{refused}");
            let refused = search.partial_top(Docs::All, &[SortKey::of(column)], 3_000).unwrap_err();
            assert!(is_memory(&refused), "{refused}");
            assert_eq!(
                search.partial_top(Docs::All, &[SortKey::of(column)], 9).unwrap().entries().count(),
                9
            );
        }
        for metric in [Metric::Percentile("it".into(), 50.0), Metric::Distinct("text".into())] {
            let group = Group::of("one").metric(metric);
            assert!(search.partial_group(Docs::All, &group).is_err());
            assert!(Search::over(&parts).partial_group(Docs::All, &group).is_ok());
        }
        let stats = Stats::of("it").percentiles([50.0]);
        assert!(is_memory(&search.partial_stats(Docs::All, &stats).unwrap_err()));
        let edges = Histogram::of("it", Step::Edges(vec![0, 1_000])).facet(Facet::of("text"));
        assert!(search.partial_histogram(Docs::All, &edges).is_err());
    }
}
