//! Naive groups: a list of all documents for each value.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use docvalues_column::{DocAddress, DocId, LogicalType, SortKey};
use docvalues_format::file::kind::{from_f64, to_f64, to_u64};
use docvalues_search::Value;
use docvalues_search::group::{Group, GroupFound, GroupOrder, Measure, Metric};
use docvalues_search::stats::Sum;

use super::documents::{By, COLUMNS, Row};

/// A group as the model has it.
#[derive(Debug)]
pub(crate) struct Found {
    values: Vec<Option<Value>>,
    count: u64,
    docs: Vec<DocAddress>,
    metrics: Vec<Option<Measure>>,
}

impl PartialEq<Found> for GroupFound {
    fn eq(&self, other: &Found) -> bool {
        let Found { values, count, docs, metrics } = other;
        (&self.values, &self.count, &self.docs, &self.metrics) == (values, count, docs, metrics)
    }
}

/// The groups, their number, and the number of documents in no group.
pub(crate) fn group(rows: &[Row], by: By, docs: &[u32], asked: &Group) -> (Vec<Found>, u64, u64) {
    let mut lists: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
    let mut missing = 0;
    for &doc in docs {
        match rows[doc as usize].by {
            Some(value) => lists.entry(by.group(value)).or_default().push(doc),
            None => missing += 1,
        }
    }
    let distinct = lists.len() as u64;
    let compare =
        |a: &u32, b: &u32| compare(&rows[*a as usize], &rows[*b as usize], &asked.sort).then(a.cmp(b));
    lists.values_mut().for_each(|docs| docs.sort_by(compare));
    let mut found: Vec<(i64, Vec<u32>, Vec<Option<Measure>>)> = lists
        .into_iter()
        .map(|(value, docs)| {
            let metrics = asked.metrics.iter().map(|metric| measure(rows, &docs, metric)).collect();
            (value, docs, metrics)
        })
        .collect();
    // Stable: ties are ordered by ascending value.
    found.sort_by(|a, b| match asked.order {
        GroupOrder::Count => b.1.len().cmp(&a.1.len()),
        GroupOrder::Value => Ordering::Equal,
        GroupOrder::Best => compare(&a.1[0], &b.1[0]),
        GroupOrder::Metric(metric) => height(&b.2[metric]).partial_cmp(&height(&a.2[metric])).unwrap(),
        other => panic!("nothing is expected of {other:?}"),
    });
    found.truncate(asked.top);
    let groups = found.into_iter().map(|(value, docs, metrics)| Found {
        values: vec![Some(match by {
            By::Near | By::Far | By::Doubles => Value::of(by.logical(), by.number(value)),
            By::Sorted | By::Binary => Value::Bytes(By::bytes(value)),
        })],
        count: docs.len() as u64,
        docs: docs.iter().take(asked.docs).map(|&doc| DocAddress { part: 0, doc: DocId::new(doc) }).collect(),
        metrics,
    });
    (groups.collect(), distinct, missing)
}

fn column(name: &str) -> (usize, LogicalType) {
    let at = COLUMNS.iter().position(|(known, _)| *known == name).unwrap();
    (at, COLUMNS[at].1)
}

fn compare(a: &Row, b: &Row, keys: &[SortKey]) -> Ordering {
    let compare = |key: &SortKey| {
        let (at, logical) = column(&key.column);
        // Missing values first or last, NaN after all numbers in either direction.
        let class = |value: Option<i64>| match value {
            None if key.missing_first => 0,
            Some(value) if logical == LogicalType::F64 && to_f64(value).is_nan() => 2,
            Some(_) => 1,
            None => 3,
        };
        let (a, b) = (a.numbers[at], b.numbers[at]);
        let values = match (a, b) {
            (Some(a), Some(b)) if logical == LogicalType::F64 => {
                to_f64(a).partial_cmp(&to_f64(b)).unwrap_or(Ordering::Equal)
            }
            (a, b) => a.cmp(&b),
        };
        let values = if class(a) != 1 || class(b) != 1 { Ordering::Equal } else { values };
        class(a).cmp(&class(b)).then(if key.descending { values.reverse() } else { values })
    };
    keys.iter().map(compare).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// The value of the first or last document by the number of another column.
fn by_key(rows: &[Row], docs: &[u32], metric: &Metric, key: &str) -> Option<Measure> {
    let ((at, logical), (key, of_key)) = (column(metric.column()), column(key));
    let keyed = docs.iter().filter_map(|&doc| {
        let numbers = rows[doc as usize].numbers;
        let (value, key) = (numbers[at]?, numbers[key]?);
        let is_double = of_key == LogicalType::F64;
        // −0.0 is 0.0.
        let key = if is_double && to_f64(key) == 0.0 { from_f64(0.0) } else { key };
        (!is_double || !to_f64(key).is_nan()).then_some((key, doc, value))
    });
    let found = if let Metric::First(..) = metric { keyed.min() } else { keyed.max() };
    found.map(|(_, _, value)| Measure::Value(Value::of(logical, value)))
}

fn measure(rows: &[Row], docs: &[u32], metric: &Metric) -> Option<Measure> {
    if let Some(key) = metric.key() {
        return by_key(rows, docs, metric, key);
    }
    let (at, logical) = column(metric.column());
    let is_nan = |value: &i64| logical == LogicalType::F64 && to_f64(*value).is_nan();
    let values: Vec<i64> = docs
        .iter()
        .filter_map(|doc| rows[*doc as usize].numbers[at])
        .filter(|value| !is_nan(value))
        .collect();
    let count = values.len() as f64;
    let sum = match logical {
        LogicalType::F64 => Sum::Double(values.iter().map(|value| to_f64(*value)).sum()),
        LogicalType::U64 => Sum::Integer(values.iter().map(|value| i128::from(to_u64(*value))).sum()),
        _ => Sum::Integer(values.iter().copied().map(i128::from).sum()),
    };
    let number = |value: Option<&i64>| Measure::Value(Value::of(logical, *value.unwrap()));
    (!values.is_empty()).then(|| match metric {
        Metric::Sum(_) => Measure::Sum(sum),
        Metric::Min(_) => number(values.iter().min()),
        Metric::Max(_) => number(values.iter().max()),
        Metric::Mean(_) => Measure::Mean(sum.to_f64() / count),
        Metric::Percentile(_, percentile) => {
            let mut values = values.clone();
            values.sort_unstable();
            let rank = (values.len() * (percentile * 10.0).round() as usize).div_ceil(1_000).max(1);
            number(values.get(rank - 1))
        }
        other => panic!("nothing is expected of {other:?}"),
    })
}

/// The value by which groups are ordered; groups without one come last.
fn height(measure: &Option<Measure>) -> (bool, i128, f64) {
    match measure {
        None => (false, 0, 0.0),
        Some(Measure::Value(value)) => (true, value.stored().unwrap().into(), 0.0),
        Some(Measure::Sum(Sum::Integer(sum))) => (true, *sum, 0.0),
        Some(Measure::Sum(Sum::Double(number)) | Measure::Mean(number)) => (true, 0, *number),
        Some(other) => panic!("nothing is ordered by {other:?}"),
    }
}
