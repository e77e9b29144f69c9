//! Groups by several columns, their distinct values, and conditions on them.

use std::collections::{BTreeMap, BTreeSet};

use docvalues_column::{Field, Kind, LogicalType, Part};
use docvalues_format::file::kind::{from_f64, to_f64};
use docvalues_search::group::{Group, GroupOrder, Measure, Metric};
use docvalues_search::stats::{Distinct, Sum};
use docvalues_search::{Docs, Error, Parts, Query, Search, Value};
use docvalues_testkit::damage::cases;
use docvalues_testkit::model::{Cell, ModelColumn};
use docvalues_testkit::rng::SplitMix64;
use docvalues_testkit::shapes::Dataset;
use proptest::prelude::*;

/// A value in the order of groups.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Plain {
    Number(i64),
    Bytes(Vec<u8>),
}

const BY: [&str; 4] = ["number", "double", "term", "bytes"];

/// Columns of few values, among them zero bytes, empty strings and both zeros.
fn any_rows(docs: u32, seed: u64, values: u64, missing: u64) -> Dataset {
    let mut rng = SplitMix64::new(seed);
    let field = |name: &str, kind, logical| Field::new(name, kind, logical);
    let mut optional = |of: &dyn Fn(u64) -> i64| -> Vec<Option<i64>> {
        (0..docs).map(|_| (rng.below(100) >= missing).then(|| of(rng.below(values)))).collect()
    };
    let numbers = optional(&|value| value.cast_signed() - 2);
    let doubles = optional(&|value| from_f64([-0.0, 0.0, 1.5, f64::NEG_INFINITY][(value % 4) as usize]));
    let (terms, strings) = (optional(&u64::cast_signed), optional(&u64::cast_signed));
    let sums = optional(&|value| value.cast_signed() * 1_000 - 1_500);
    let bytes = |list: Vec<Option<i64>>| -> Vec<Option<Vec<u8>>> {
        let parts: [&[u8]; 6] = [b"", b"\0", b"\0\x01", b"\0\xff", b"a", b"a\0"];
        let of = |value: i64| {
            let value = usize::try_from(value).unwrap();
            [parts[value % 6], &vec![0xff; value / 6 % 3], value.to_string().as_bytes()]
                [..(2 + value / 18).min(3)]
                .concat()
        };
        list.into_iter().map(|value| value.map(of)).collect()
    };
    let mut rng = SplitMix64::new(seed + 1);
    let sets =
        (0..docs).map(|_| (0..rng.below(4)).map(|_| vec![rng.below(values) as u8]).collect::<BTreeSet<_>>());
    let sets = ModelColumn::SortedSet(sets.collect());
    let mut rng = SplitMix64::new(seed + 2);
    let lists = (0..docs).map(|_| {
        let mut list: Vec<i64> = (0..rng.below(4)).map(|_| rng.below(values).cast_signed()).collect();
        list.sort_unstable();
        list
    });
    let lists = ModelColumn::SortedNumeric(lists.collect());
    let columns = vec![
        (field("number", Kind::Numeric, LogicalType::I64), ModelColumn::Numeric(numbers)),
        (field("double", Kind::Numeric, LogicalType::F64), ModelColumn::Numeric(doubles)),
        (field("term", Kind::Sorted, LogicalType::Bytes), ModelColumn::Sorted(bytes(terms))),
        (field("bytes", Kind::Binary, LogicalType::Bytes), ModelColumn::Binary(bytes(strings))),
        (field("sum", Kind::Numeric, LogicalType::I64), ModelColumn::Numeric(sums)),
        (field("set", Kind::SortedSet, LogicalType::Bytes), sets),
        (field("list", Kind::SortedNumeric, LogicalType::I64), lists),
    ];
    Dataset { docs, columns }
}

/// The values of a document as groups, keys and distinct values see them: with one zero.
fn values(rows: &Dataset, name: &str, doc: u32) -> Vec<Plain> {
    let (field, _) = rows.columns.iter().find(|(field, _)| field.name == name).unwrap();
    let is_double = field.logical == LogicalType::F64;
    let one_zero = |plain| match plain {
        Plain::Number(number) if is_double && to_f64(number) == 0.0 => Plain::Number(from_f64(0.0)),
        plain => plain,
    };
    stored(rows, name, doc).into_iter().map(one_zero).collect()
}

fn stored(rows: &Dataset, name: &str, doc: u32) -> Vec<Plain> {
    let (_, column) = rows.columns.iter().find(|(field, _)| field.name == name).unwrap();
    match column.cell(doc) {
        Cell::Missing => Vec::new(),
        Cell::Number(number) => vec![Plain::Number(number)],
        Cell::Bytes(bytes) => vec![Plain::Bytes(bytes.to_vec())],
        Cell::Numbers(numbers) => numbers.iter().map(|number| Plain::Number(*number)).collect(),
        Cell::Set(terms) => terms.iter().map(|term| Plain::Bytes(term.clone())).collect(),
    }
}

/// A group: its values, the number of its documents, and its metrics.
type Found = (Vec<Option<Value>>, u64, Vec<Option<Measure>>);

/// The metrics of the requests: a sum, percentiles, first and last documents, and distinct values of each kind of column.
fn metrics(with_distinct: bool) -> Vec<Metric> {
    let percentile = |name: &str, percentile| Metric::Percentile(name.into(), percentile);
    let first = |column: &str, key: &str| Metric::First(column.into(), key.into());
    let last = |column: &str, key: &str| Metric::Last(column.into(), key.into());
    let others = [
        Metric::Sum("sum".into()),
        percentile("sum", 50.0),
        last("number", "sum"),
        percentile("sum", 99.9),
        percentile("double", 0.0),
        first("term", "sum"),
        last("bytes", "double"),
        first("double", "number"),
        first("term", "sum"),
    ];
    let distinct = ["set", "list", "number", "term", "bytes", "double"];
    let distinct = distinct.into_iter().filter(|_| with_distinct).map(|name| Metric::Distinct(name.into()));
    others.into_iter().chain(distinct).collect()
}

fn value(plain: Plain, logical: LogicalType) -> Value {
    match plain {
        Plain::Number(number) => Value::of(logical, number),
        Plain::Bytes(bytes) => Value::Bytes(bytes),
    }
}

/// The groups in ascending order, missing values last, and the number of documents in none.
fn naive(rows: &Dataset, by: &[&str], metrics: &[Metric], with_missing: bool) -> (Vec<Found>, u64) {
    let mut groups: BTreeMap<Vec<(bool, Option<Plain>)>, Vec<u32>> = BTreeMap::new();
    let mut missing = 0;
    for doc in 0..rows.docs {
        let tuple = by.iter().map(|name| values(rows, name, doc).pop()).map(|value| (value.is_none(), value));
        let tuple: Vec<(bool, Option<Plain>)> = tuple.collect();
        if with_missing || tuple.iter().all(|(is_missing, _)| !is_missing) {
            groups.entry(tuple).or_default().push(doc);
        } else {
            missing += 1;
        }
    }
    let logical = |name: &str| rows.columns.iter().find(|(field, _)| field.name == name).unwrap().0.logical;
    let found = groups.into_iter().map(|(tuple, docs)| {
        let tuple = tuple
            .into_iter()
            .zip(by)
            .map(|((_, plain), name)| plain.map(|plain| value(plain, logical(name))));
        let metrics = metrics.iter().map(|metric| {
            let of = if matches!(metric, Metric::Distinct(_)) { values } else { stored };
            let mut all: Vec<Plain> = docs.iter().flat_map(|doc| of(rows, metric.column(), *doc)).collect();
            let measure = |plain: Plain| Measure::Value(value(plain, logical(metric.column())));
            let by_key = |key: &str| {
                let value = |doc: u32| stored(rows, metric.column(), doc).pop();
                let key = |doc: u32| values(rows, key, doc).pop();
                let both = docs.iter().filter_map(|doc| Some((key(*doc)?, *doc, value(*doc)?)));
                both.collect::<BTreeSet<_>>()
            };
            match metric {
                Metric::First(_, key) => by_key(key).pop_first().map(|(.., plain)| measure(plain)),
                Metric::Last(_, key) => by_key(key).pop_last().map(|(.., plain)| measure(plain)),
                Metric::Percentile(_, percentile) => {
                    all.sort_unstable();
                    let rank = (all.len() * (percentile * 10.0).round() as usize).div_ceil(1_000).max(1);
                    all.get(rank - 1).cloned().map(measure)
                }
                Metric::Distinct(_) => {
                    Some(Measure::Distinct(all.into_iter().collect::<BTreeSet<_>>().len() as u64))
                }
                _ => (!all.is_empty()).then(|| {
                    Measure::Sum(Sum::Integer(
                        all.iter()
                            .map(|value| match value {
                                Plain::Number(number) => i128::from(*number),
                                Plain::Bytes(_) => panic!("a sum of bytes"),
                            })
                            .sum(),
                    ))
                }),
            }
        });
        (tuple.collect(), docs.len() as u64, metrics.collect())
    });
    (found.collect(), missing)
}

/// Conditions, and equivalent predicates in Rust.
type Condition = (&'static str, fn(&Found) -> bool);

fn sum(found: &Found) -> Option<i128> {
    match found.2[0] {
        Some(Measure::Sum(Sum::Integer(sum))) => Some(sum),
        _ => None,
    }
}

fn number(found: &Found, metric: usize) -> Option<i64> {
    match &found.2[metric] {
        Some(Measure::Value(value)) => value.stored(),
        _ => None,
    }
}

const HAVING: [Condition; 8] = [
    ("true", |_| true),
    ("count > 1.5 and not count in (3, 4)", |found| found.1 > 1 && ![3, 4].contains(&found.1)),
    ("sum(sum) in -2000..3_000 or count = 1", |found| {
        sum(found).is_some_and(|sum| (-2_000..3_000).contains(&sum)) || found.1 == 1
    }),
    ("sum(sum) missing or `sum(sum)` > 1e300 or sum(sum) != 500", |found| sum(found) != Some(500)),
    ("SUM(sum) exists and count not in (2)", |found| sum(found).is_some() && found.1 != 2),
    ("P50 (sum) >= 500 and not p99.9(sum) in (500, 1_500)", |found| {
        number(found, 1).is_some_and(|median| median >= 500)
            && ![Some(500), Some(1_500)].contains(&number(found, 3))
    }),
    ("Last( number by `sum`) < 1 or `last(number by sum)` missing", |found| {
        number(found, 2).is_none_or(|last| last < 1)
    }),
    ("false", |_| false),
];

fn found(groups: &docvalues_search::group::Groups) -> Vec<Found> {
    let groups = groups.groups.iter();
    groups.map(|group| (group.values.clone(), group.count, group.metrics.clone())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(96, 192), ..ProptestConfig::default() })]

    #[test]
    fn several_columns_equal_the_naive_groups(
        docs in prop_oneof![0..4_u32, 4..300_u32, 4_094..4_099_u32],
        (seed, values, missing) in (any::<u64>(), prop::sample::select(vec![1, 3, 40_u64]), prop::sample::select(vec![0, 0, 20_u64])),
        by in prop::sample::subsequence(BY.to_vec(), 1..=4),
        (with_distinct, having, with_missing) in (any::<bool>(), 0..HAVING.len(), any::<bool>()),
        (order, top) in (0..4_u8, prop::sample::select(vec![1, 3, 100_000_usize])),
        budget in prop::sample::select(vec![200_000, 1 << 28_usize]),
        threads in prop::sample::select(vec![1, 3_usize]),
        cuts in (any::<u32>(), any::<u32>()),
    ) {
        let rows = any_rows(docs, seed, values, missing);
        let metrics = metrics(with_distinct);
        let (mut expected, missing) = naive(&rows, &by, &metrics, with_missing);
        let (text, passes) = HAVING[having];
        expected.retain(passes);
        let distinct = expected.len() as u64;
        let order = match order {
            0 => GroupOrder::Count,
            1 => GroupOrder::Value,
            // The last: distinct values of the doubles, or the sum.
            2 => GroupOrder::Metric(if with_distinct { metrics.len() - 1 } else { 0 }),
            // A percentile.
            _ => GroupOrder::Metric(1),
        };
        // Stable: ties are in the order of values.
        match order {
            GroupOrder::Count => expected.sort_by_key(|group| std::cmp::Reverse(group.1)),
            GroupOrder::Metric(metric) => expected.sort_by_key(|group| std::cmp::Reverse(match &group.2[metric] {
                Some(Measure::Distinct(count)) => Some(i128::from(*count)),
                Some(Measure::Value(value)) => value.stored().map(i128::from),
                _ => sum(group),
            })),
            _ => {}
        }
        expected.truncate(top);
        let by: Vec<String> = by.into_iter().map(Into::into).collect();
        let mut asked = Group::of("").order(order).top(top).having(Query::parse(text).unwrap());
        (asked.by, asked.metrics, asked.with_missing) = (by, metrics, with_missing);
        let source = rows.source();
        let answer = match Search::new(&source).threads(threads).memory(budget).group(Docs::All, &asked) {
            Err(Error::Memory { .. } | Error::Request(_)) if budget < 1 << 20 => return Ok(()),
            answer => answer.unwrap(),
        };
        prop_assert_eq!(&found(&answer), &expected);
        prop_assert_eq!((answer.missing, answer.distinct), (missing, Some(Distinct::Exact(distinct))));

        let mut starts = [0, cuts.0 % (docs + 1), cuts.1 % (docs + 1)];
        starts.sort_unstable();
        let parts = Parts::new(rows.cut(&starts).into_iter().map(|part| Part::new(part.source())));
        let answer = Search::over(&parts).threads(threads).group(Docs::All, &asked).unwrap();
        prop_assert_eq!(&found(&answer), &expected, "in parts from {:?}", starts);

        let shards = [parts.without(|part| part > 0), parts.without(|part| part == 0)];
        let [first, last] = shards.each_ref().map(|parts| Search::over(parts).partial_group(Docs::All, &asked));
        prop_assert_eq!(&first.unwrap().merge(last.unwrap()).unwrap().finish(), &answer, "merged");
    }
}

/// A shard without the column of a metric binds a condition on it, whatever the type of the literal.
#[test]
fn a_condition_on_a_column_that_a_shard_lacks() {
    let rows = any_rows(10, 1, 3, 0);
    let day = Field::new("day", Kind::Numeric, LogicalType::Date);
    let mut with_days = any_rows(10, 1, 3, 0);
    with_days.columns.push((day, ModelColumn::Numeric((0..10).map(|doc| Some(19_000 + doc)).collect())));
    let having = Query::parse("max(day) >= \"2022-01-17\" or max(day) missing and count > 100").unwrap();
    let group = Group::of("number").metric(Metric::Max("day".into())).having(having);
    let [lacking, there] = [rows, with_days].map(|rows| Parts::new([Part::new(rows.source())]));
    let partial = |parts: &Parts| {
        let search = Search::over(parts).missing_columns(docvalues_search::MissingColumns::NoValues);
        search.partial_group(Docs::All, &group).unwrap()
    };
    let found = partial(&lacking).merge(partial(&there)).unwrap().finish();
    let [only] = &found.groups[..] else { panic!("{found:?}") };
    assert_eq!(only.metrics[0], Some(Measure::Value(Value::of(LogicalType::Date, 19_009))));
}

#[test]
fn requests_that_cannot_be_answered_say_why() {
    let rows = any_rows(10, 1, 3, 0);
    let source = rows.source();
    let refused = |group: Group| match Search::new(&source).group(Docs::All, &group) {
        Err(error) => error.to_string(),
        Ok(found) => panic!("{found:?}"),
    };
    let having =
        |text: &str| Group::of("term").metric(Metric::Sum("sum".into())).having(Query::parse(text).unwrap());
    let first = |column: &str, key: &str| Metric::First(column.into(), key.into());
    let mut of_none = Group::of("");
    of_none.by.clear();
    for (group, message) in [
        (
            having("count > 1 and total > 5"),
            "character 15 of the query: expected `count`, `sum(sum)`, found `total`",
        ),
        (
            having("count = 'x'"),
            "character 9 of the query: column \"count\" is i64, and \"x\" is not a number",
        ),
        (having("count *= 'x'"), "character 10 of the query: expected a number for `count`"),
        (having("count = sum"), "character 9 of the query: expected a number for `count`"),
        (
            having("count > 1").order(GroupOrder::Best),
            "expected order count, value or metric with a condition on groups, found best",
        ),
        (
            Group::of("term").metric(Metric::Distinct("set".into())).order(GroupOrder::Best),
            "expected order count, value or metric with distinct values in groups, found best",
        ),
        (
            Group::of("term").metric(Metric::Percentile("sum".into(), 50.0)).order(GroupOrder::Best),
            "expected order count, value or metric with percentiles of groups, found best",
        ),
        (
            Group::of("term").metric(Metric::Percentile("sum".into(), f64::NAN)),
            "expected a percentile from 0 to 100, found NaN",
        ),
        (
            Group::of("term").metric(Metric::Percentile("term".into(), 50.0)),
            "column \"term\" is sorted, which has no numbers for a metric",
        ),
        (
            Group::of("term").metric(first("term", "bytes")),
            "column \"bytes\" is binary, which has no numbers for a metric",
        ),
        (
            Group::of("term").metric(first("set", "sum")),
            "column \"set\" is sorted-set, which has several values a document, of which none is the first",
        ),
        (
            Group::of("term")
                .metric(first("bytes", "sum"))
                .having(Query::parse("first(bytes by sum) exists").unwrap()),
            "character 1 of the query: expected a metric that is a number, found `first(bytes by sum)`",
        ),
        (of_none, "expected a column to group by, found none"),
        (
            Group::of("term").and("set"),
            "column \"set\" is sorted-set, which has several values a document, so that they have no group",
        ),
    ] {
        assert_eq!(refused(group), message);
    }
}
