//! Top documents, and all documents in order.

use std::cmp::Ordering;

use docvalues_column::{ColumnSource, DocAddress, DocId, SortKey};
use docvalues_search::{Bitset, Docs, Search, Value};

use super::Trial;
use super::rows::{RowColumn, Rows};
use crate::shapes::Dataset;

pub(super) fn check(trial: &Trial<'_>, rows: &Rows, hits: &[DocId], column: usize) {
    let Trial { search, docs, .. } = *trial;
    let name = |at: usize| rows.columns[at % rows.columns.len()].field.name.as_str();
    let up = SortKey::new(name(column));
    let mut orders = vec![
        vec![up.clone()],
        vec![up.clone().descending()],
        vec![up.clone().missing_first()],
        vec![up.clone().descending().missing_first()],
    ];
    if rows.columns.len() > 1 {
        orders.push(vec![up.descending(), SortKey::new(name(column + 1)).missing_first()]);
    }
    for keys in orders {
        let mut expected = hits.to_vec();
        expected.sort_by(|a, b| compare(rows, &keys, *a, *b));
        let expected = trial.addresses(&expected);
        // Long lists only for small sets: the search keeps an entry for each document.
        for top in [0, 1, 20, 5_000] {
            let found = search.top(docs, &keys, top).unwrap();
            assert_eq!(found, expected[..top.min(hits.len())], "top {top} by {keys:?}");
        }
        assert_eq!(search.sorted(docs, &keys).unwrap(), expected, "by {keys:?}");
    }
}

/// Sorts `docs` by `keys` with 1, 2, 3 and 8 threads, and compares with a sort of the values of `dataset`.
///
/// # Panics
///
/// If an order differs from the expected one.
pub fn check_sorted(source: &(dyn ColumnSource + Sync), dataset: &Dataset, docs: Docs<'_>, keys: &[SortKey]) {
    let rows = Rows::of(dataset);
    let mut expected = docs.to_vec(dataset.docs);
    expected.sort_by(|a, b| compare(&rows, keys, *a, *b));
    for threads in [1, 2, 3, 8] {
        let found = Search::new(source).threads(threads).sorted(docs, keys).unwrap();
        assert!(found == addresses(&expected), "{} by {keys:?}, {threads} threads", expected.len());
    }
}

/// Finds the top documents of each of `sets` by `keys`, for each length of `tops`, with 1 and 3 threads, and compares
/// them with a sort of the values of `dataset`.
///
/// # Panics
///
/// If a result differs from the expected one.
pub fn check_top(
    source: &(dyn ColumnSource + Sync),
    dataset: &Dataset,
    sets: &[Docs<'_>],
    keys: &[SortKey],
    tops: &[usize],
) {
    let rows = Rows::of(dataset);
    let mut all = Docs::All.to_vec(dataset.docs);
    all.sort_by(|a, b| compare(&rows, keys, *a, *b));
    for (at, &docs) in sets.iter().enumerate() {
        let set = Bitset::from_docs(docs.iter(dataset.docs), dataset.docs);
        for &top in tops {
            let expected: Vec<DocId> =
                all.iter().copied().filter(|doc| set.contains(*doc)).take(top).collect();
            for threads in [1, 3] {
                let found = Search::new(source).threads(threads).top(docs, keys, top).unwrap();
                assert_eq!(
                    found,
                    addresses(&expected),
                    "top {top} of set {at} by {keys:?}, {threads} threads"
                );
            }
        }
    }
}

/// The addresses of documents in the only part.
pub(super) fn addresses(docs: &[DocId]) -> Vec<DocAddress> {
    docs.iter().map(|&doc| DocAddress { part: 0, doc }).collect()
}

fn compare(rows: &Rows, keys: &[SortKey], a: DocId, b: DocId) -> Ordering {
    let orders = keys.iter().map(|key| {
        let column = rows.columns.iter().find(|column| column.field.name == key.column).unwrap();
        compare_by(column, key, a, b)
    });
    orders.fold(Ordering::Equal, Ordering::then).then(a.cmp(&b))
}

fn compare_by(column: &RowColumn, key: &SortKey, a: DocId, b: DocId) -> Ordering {
    let [a, b] = [a, b].map(|doc| pick(column, key, doc));
    let last = |missing: Ordering| if key.missing_first { missing.reverse() } else { missing };
    match (a, b) {
        (None, None) => Ordering::Equal,
        (None, Some(_)) => last(Ordering::Greater),
        (Some(_), None) => last(Ordering::Less),
        (Some(a), Some(b)) => match (column.is_nan(a), column.is_nan(b)) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) if key.descending => compare_values(b, a),
            (false, false) => compare_values(a, b),
        },
    }
}

/// The value that a multi-valued document is sorted by: the least, or the greatest. NaN only if there is no other.
fn pick<'r>(column: &'r RowColumn, key: &SortKey, doc: DocId) -> Option<&'r Value> {
    let values = column.of(doc);
    let mut numbers = values.iter().filter(|value| !column.is_nan(value));
    let picked = if key.descending { numbers.next_back() } else { numbers.next() };
    picked.or(values.first())
}

fn compare_values(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::F64(a), Value::F64(b)) => a.partial_cmp(b).unwrap(),
        _ => a.cmp(b),
    }
}
