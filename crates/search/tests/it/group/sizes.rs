//! More documents than a chunk has, independence of the number of threads, and errors.

use docvalues_column::{ColumnSource, DocAddress, DocId, Field, Kind, LogicalType, SortKey};
use docvalues_format::file::kind::from_u64;
use docvalues_search::group::{Group, GroupOrder, Measure, Metric};
use docvalues_search::stats::{Distinct, Sum};
use docvalues_search::{Docs, Search, Value};
use docvalues_testkit::model::{MemSource, ModelColumn};

/// A chunk has 524,288.
const DOCS: u32 = 600_000;

/// Documents with a pattern: the group is `doc * 7 % groups`, and every eleventh document has none.
fn patterned(groups: i64, apart: i64) -> MemSource {
    let docs = 0..i64::from(DOCS);
    let by = docs.clone().map(|doc| (doc % 11 != 0).then_some(doc * 7 % groups * apart));
    let numbers = docs.map(|doc| Some(doc % 1_000));
    let numeric = |name| Field::new(name, Kind::Numeric, LogicalType::I64);
    let columns = [
        (numeric("by"), ModelColumn::Numeric(by.collect())),
        (numeric("number"), ModelColumn::Numeric(numbers.collect())),
    ];
    MemSource::new(DOCS, columns)
}

/// The count and sum of each group.
fn expected(groups: i64) -> Vec<(u64, i128)> {
    let mut expected = vec![(0, 0); usize::try_from(groups).unwrap()];
    for doc in (0..i64::from(DOCS)).filter(|doc| doc % 11 != 0) {
        let group = &mut expected[usize::try_from(doc * 7 % groups).unwrap()];
        *group = (group.0 + 1, group.1 + i128::from(doc % 1_000));
    }
    expected
}

#[test]
fn several_chunks_with_any_number_of_threads() {
    for apart in [1, 1 << 40] {
        let source = patterned(4_001, apart);
        let asked = Group::of("by").metric(Metric::Sum("number".into())).top(usize::MAX);
        for (threads, budget) in [(1, 0), (2, 1 << 28), (8, 1 << 20)] {
            let found =
                Search::new(&source).threads(threads).memory(budget).group(Docs::All, &asked).unwrap();
            assert_eq!(found.distinct, Some(Distinct::Exact(4_001)));
            assert_eq!((found.docs, found.missing), (DOCS.into(), u64::from(DOCS.div_ceil(11))));
            let mut groups: Vec<_> = found
                .groups
                .iter()
                .map(|group| match (&group.values[0], &group.metrics[0]) {
                    (Some(Value::I64(value)), Some(Measure::Sum(Sum::Integer(sum)))) => {
                        (*value / apart, (group.count, *sum))
                    }
                    other => panic!("{other:?}"),
                })
                .collect();
            assert!(groups.is_sorted_by_key(|(value, (count, _))| (std::cmp::Reverse(*count), *value)));
            groups.sort_unstable();
            let groups: Vec<_> = groups.into_iter().map(|(_, group)| group).collect();
            assert_eq!(groups, expected(4_001), "{apart} apart, {threads} threads, {budget} bytes");
        }
    }
}

/// Percentiles in one pass and in several, on threads whose rows are the same and whose rows differ.
#[test]
fn percentiles_of_several_chunks() {
    const GROUPS: i64 = 1_003;
    let mut numbers = vec![Vec::new(); usize::try_from(GROUPS).unwrap()];
    for doc in (0..i64::from(DOCS)).filter(|doc| doc % 11 != 0) {
        numbers[usize::try_from(doc * 7 % GROUPS).unwrap()].push(doc % 1_000);
    }
    numbers.iter_mut().for_each(|numbers| numbers.sort_unstable());
    let of_hundred =
        |numbers: &[i64], percent: usize| numbers[(numbers.len() * percent).div_ceil(100).max(1) - 1];
    for apart in [1, 1 << 40] {
        let source = patterned(GROUPS, apart);
        let asked = Group::of("by").top(usize::MAX).order(GroupOrder::Value);
        let percentiles = [99, 0, 50].map(|percent| (percent, f64::from(u32::try_from(percent).unwrap())));
        let asked = percentiles.iter().fold(asked, |asked, (_, percentile)| {
            asked.metric(Metric::Percentile("number".into(), *percentile))
        });
        for (threads, budget) in [(1, 1 << 28), (2, 1 << 28), (2, 4 << 20), (8, 1 << 20)] {
            let found =
                Search::new(&source).threads(threads).memory(budget).group(Docs::All, &asked).unwrap();
            assert_eq!(found.groups.len(), numbers.len());
            for (group, numbers) in found.groups.iter().zip(&numbers) {
                let expected = percentiles
                    .map(|(percent, _)| Some(Measure::Value(Value::I64(of_hundred(numbers, percent)))));
                assert_eq!(group.metrics, expected, "{apart} apart, {threads} threads, {budget} bytes");
            }
        }
    }
    // The numbers of one group take 7 MB.
    let source = patterned(1, 1);
    let asked = Group::of("by").metric(Metric::Percentile("number".into(), 50.0));
    let refused = Search::new(&source).memory(4 << 20).group(Docs::All, &asked).unwrap_err().to_string();
    assert!(refused.contains("raise `Search::memory`"), "{refused}");
    let found = Search::new(&source).memory(64 << 20).group(Docs::All, &asked).unwrap();
    assert_eq!(found.groups[0].metrics, [Some(Measure::Value(Value::I64(500)))]);
}

#[test]
fn best_documents_of_several_chunks() {
    let source = patterned(1_009, 1);
    let asked = Group::of("by").order(GroupOrder::Best).sort([SortKey::of("number").descending()]).docs(3);
    let asked = asked.metric(Metric::Mean("number".into())).top(20);
    let answers =
        [1, 2, 8].map(|threads| Search::new(&source).threads(threads).group(Docs::All, &asked).unwrap());
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    // The first document of all whose number is greatest.
    let best = (0..DOCS).find(|doc| doc % 1_000 == 999 && doc % 11 != 0).unwrap();
    let first = &answers[0].groups[0];
    assert_eq!(first.docs[0], DocAddress { part: 0, doc: DocId::new(best) });
    assert_eq!(first.values[0], Some(Value::I64(i64::from(best) * 7 % 1_009)));
    let count = (0..DOCS).filter(|doc| doc % 11 != 0 && doc * 7 % 1_009 == best * 7 % 1_009).count();
    assert_eq!(first.count, count as u64);
}

/// Huge doubles, small ones, and the huge ones subtracted again: the rounding that remains depends on the order in which
/// three chunks are added.
#[test]
fn doubles_do_not_depend_on_threads() {
    const PART: u32 = 1 << 19;
    let docs = 2 * PART + 20_000;
    let double = |doc: u32| {
        let some = f64::from(doc % PART * 7 % 977) / 3.0;
        match doc / PART {
            _ if doc % PART >= 20_000 => 0.0,
            0 => some * 1e60,
            1 => some * 1e30,
            _ => -some * 1e60,
        }
    };
    let by = (0..docs).map(|doc| Some(i64::from(doc % PART % 3)));
    let doubles = (0..docs).map(|doc| Some(docvalues_format::file::kind::from_f64(double(doc))));
    let columns = [
        (Field::new("by", Kind::Numeric, LogicalType::I64), ModelColumn::Numeric(by.collect())),
        (Field::new("double", Kind::Numeric, LogicalType::F64), ModelColumn::Numeric(doubles.collect())),
    ];
    let source = MemSource::new(docs, columns);
    for order in [GroupOrder::Count, GroupOrder::Best] {
        let asked = Group::of("by").metric(Metric::Sum("double".into())).order(order);
        let answers =
            [1, 8].map(|threads| Search::new(&source).threads(threads).group(Docs::All, &asked).unwrap());
        assert!(answers.iter().all(|answer| *answer == answers[0]));
    }
}

#[test]
fn invalid_groupings_are_errors() {
    let field = |name, kind, logical| Field::new(name, kind, logical);
    let columns = [
        (field("tags", Kind::SortedSet, LogicalType::Utf8), ModelColumn::SortedSet(Vec::new())),
        (field("name", Kind::Sorted, LogicalType::Utf8), ModelColumn::Sorted(Vec::new())),
    ];
    let source = MemSource::new(3, columns);
    let search = Search::new(&source);
    let error = |group: Group| search.group(Docs::All, &group).unwrap_err().to_string();
    assert_eq!(
        error(Group::of("tags")),
        "column \"tags\" is sorted-set, which has several values a document, so that they have no group"
    );
    assert_eq!(
        error(Group::of("name").metric(Metric::Sum("name".into()))),
        "column \"name\" is sorted, which has no numbers for a metric"
    );
    assert_eq!(
        error(Group::of("name").order(GroupOrder::Metric(1))),
        "expected one of 0 metrics as order of groups, found metric 1"
    );
    assert!(error(Group::of("none")).contains("no column \"none\""));
    let none = search.group(Docs::All, &Group::of("name")).unwrap();
    assert_eq!((none.groups.len(), none.missing, source.docs()), (0, 3, 3));
}

#[test]
fn groups_of_the_greatest_number() {
    let by = vec![Some(i64::MAX - 1), None, Some(i64::MAX), Some(i64::MAX)];
    let field = Field::new("by", Kind::Numeric, LogicalType::I64);
    let source = MemSource::new(4, [(field, ModelColumn::Numeric(by))]);
    let groups = Search::new(&source).group(Docs::All, &Group::of("by")).unwrap();
    let groups: Vec<_> = groups.groups.iter().map(|group| (group.values[0].clone(), group.count)).collect();
    assert_eq!(groups, [(Some(Value::I64(i64::MAX)), 2), (Some(Value::I64(i64::MAX - 1)), 1)]);
    // A tuple of as many numbers is not one number.
    let asked = Group::of("by").order(GroupOrder::Value).with_missing();
    let groups = Search::new(&source).group(Docs::All, &asked).unwrap().groups;
    let groups: Vec<_> = groups.iter().map(|group| (group.values[0].clone(), group.count)).collect();
    let number = |below: i64| Some(Value::I64(i64::MAX - below));
    assert_eq!(groups, [(number(1), 1), (number(0), 2), (None, 1)]);
}

/// Of unsigned numbers, what is stored says nothing of a sum without how many there are.
#[test]
fn groups_by_sums_of_unsigned_numbers() {
    let number = |above: u64| Some(from_u64((1 << 63) + above));
    let field = |name: &str, logical| Field::new(name, Kind::Numeric, logical);
    let columns = [
        (field("by", LogicalType::I64), ModelColumn::Numeric(vec![Some(0), Some(1), Some(1)])),
        (field("number", LogicalType::U64), ModelColumn::Numeric(vec![number(100), number(0), number(1)])),
    ];
    let source = MemSource::new(3, columns);
    let asked = Group::of("by").metric(Metric::Sum("number".into())).order(GroupOrder::Metric(0)).top(1);
    let groups = Search::new(&source).group(Docs::All, &asked).unwrap().groups;
    assert_eq!(groups.len(), 1);
    assert_eq!(groups[0].values[0], Some(Value::I64(1)));
    assert_eq!(groups[0].metrics, [Some(Measure::Sum(Sum::Integer((1 << 64) + 1)))]);
}
