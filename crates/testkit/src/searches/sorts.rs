//! Top documents, and all documents in order.

use std::cmp::Ordering;
use std::rc::Rc;

use docvalues_column::{ColumnSource, DocAddress, DocId, SortKey};
use docvalues_search::{Bitset, Docs, Search, Value};

use super::Trial;
use super::rows::{RowColumn, Rows};
use crate::shapes::Dataset;

pub(super) fn check(trial: &Trial<'_>, rows: &Rows, hits: &[DocId], column: usize) {
    let Trial { search, docs, turn, .. } = *trial;
    let name = |at: usize| rows.columns[at % rows.columns.len()].field.name.as_str();
    let up = SortKey::of(name(column));
    let mut orders = vec![
        vec![up.clone()],
        vec![up.clone().descending()],
        vec![up.clone().missing_first()],
        vec![up.clone().descending().missing_first()],
    ];
    if rows.columns.len() > 1 {
        orders.push(vec![up.descending(), SortKey::of(name(column + 1)).missing_first()]);
    }
    let hits = Bitset::from_docs(hits.iter().copied(), rows.docs);
    for (number, keys) in orders.into_iter().enumerate() {
        let expected = trial.addresses(&in_order(rows, &keys, &hits));
        // Each order with short and with long lists, of some sets of documents each.
        for top in if (number + turn).is_multiple_of(2) { [0, 20] } else { [1, 5_000] } {
            let found = search.top(docs, &keys, top).unwrap();
            assert_eq!(found, expected[..top.min(expected.len())], "top {top} by {keys:?}");
        }
        assert_eq!(search.sorted(docs, &keys).unwrap(), expected, "by {keys:?}");
        for at in [0, expected.len() / 2, expected.len().saturating_sub(1)] {
            let Some(&last) = expected.get(at) else { continue };
            let cursor = search.sort_cursor(&keys, last).unwrap();
            let page: Vec<_> = expected[at + 1..].iter().copied().take(20).collect();
            assert_eq!(search.top_after(docs, &keys, &cursor, 20).unwrap(), page, "after {at} by {keys:?}");
        }
    }
}

/// Sorts `docs` by `keys` with 1, 2, 3 and 8 threads, and compares with a sort of the values of `dataset`.
///
/// # Panics
///
/// If an order differs from the expected one.
pub fn check_sorted(source: &(dyn ColumnSource + Sync), dataset: &Dataset, docs: Docs<'_>, keys: &[SortKey]) {
    let expected =
        in_order(&rows_of(dataset, keys), keys, &Bitset::from_docs(docs.iter(dataset.docs), dataset.docs));
    for threads in [1, 2, 3, 8] {
        let found = Search::new(source).threads(threads).sorted(docs, keys).unwrap();
        assert!(found == addresses(&expected), "{} by {keys:?}, {threads} threads", expected.len());
    }
}

/// Finds the top documents of each of `sets` by `keys`, for each length of `tops`, with 1 and 3 threads, and two pages
/// after a document, and compares them with a sort of the values of `dataset`.
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
    let rows = rows_of(dataset, keys);
    for (at, &docs) in sets.iter().enumerate() {
        let set = Bitset::from_docs(docs.iter(dataset.docs), dataset.docs);
        let all = in_order(&rows, keys, &set);
        let search = Search::new(source).threads(3);
        for last in [all.len() / 3, all.len().saturating_sub(30)] {
            let Some(doc) = all.get(last) else { continue };
            let cursor = search.sort_cursor(keys, addresses(&[*doc])[0]).unwrap();
            let page = addresses(&all[last + 1..all.len().min(last + 21)]);
            let found = search.top_after(docs, keys, &cursor, 20).unwrap();
            assert_eq!(found, page, "the page after {last} of set {at} by {keys:?}");
        }
        for &top in tops {
            let expected = &all[..top.min(all.len())];
            for threads in [1, 3] {
                let found = Search::new(source).threads(threads).top(docs, keys, top).unwrap();
                assert_eq!(
                    found,
                    addresses(expected),
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

/// The columns of the keys.
fn rows_of(dataset: &Dataset, keys: &[SortKey]) -> Rows {
    Rows::of_some(dataset, |field| keys.iter().any(|key| key.column == field.name))
}

/// The documents of `set`, in the order of `keys`.
fn in_order(rows: &Rows, keys: &[SortKey], set: &Bitset) -> Vec<DocId> {
    let all = rows
        .orders
        .borrow_mut()
        .entry(format!("{keys:?}"))
        .or_insert_with(|| all_in_order(rows, keys))
        .clone();
    all.iter().copied().filter(|doc| set.contains(*doc)).collect()
}

fn all_in_order(rows: &Rows, keys: &[SortKey]) -> Rc<[DocId]> {
    let all: Vec<DocId> = (0..rows.docs).map(DocId::new).collect();
    let picked = keys.iter().map(|key| {
        let column = rows.columns.iter().find(|column| column.field.name == key.column).unwrap();
        let picked: Vec<_> = all.iter().map(|doc| pick(column, key, *doc)).collect();
        (column, key, picked)
    });
    let picked: Vec<_> = picked.collect();
    let mut sorted = all.clone();
    // A stable sort: of equal documents, the first one comes first.
    sorted.sort_by(|a, b| {
        let orders = picked.iter().map(|(column, key, values)| {
            let [a, b] = [a, b].map(|doc| values[doc.get() as usize]);
            compare(column, key, a, b)
        });
        orders.fold(Ordering::Equal, Ordering::then)
    });
    sorted.into()
}

fn compare(column: &RowColumn, key: &SortKey, a: Option<&Value>, b: Option<&Value>) -> Ordering {
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
