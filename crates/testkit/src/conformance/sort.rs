//! The index sort: documents are in the order that the source claims.

use std::cmp::Ordering;

use docvalues_column::{ColumnSource as _, Rows, SortKey, Values};

use super::expected::{Expected, Probe};
use crate::model::MemSource;

pub(super) fn check(keys: &[SortKey], model: &MemSource) {
    let mut orders = vec![Ordering::Equal; (model.docs() as usize).saturating_sub(1)];
    for (at, key) in keys.iter().enumerate() {
        let name = &key.column;
        assert!(keys[..at].iter().all(|other| other.column != *name), "sort: two keys of column \"{name}\"");
        let column = model.column(name).unwrap_or_else(|error| panic!("sort: {error}"));
        assert!(!column.info().is_multi_valued(), "sort: column \"{name}\": several values a document");
        let docs = column.info().docs;
        let by_key = match column.values() {
            Values::Numbers(rows) => by_key(key, docs, rows),
            Values::Ords(rows, _) => by_key(key, docs, rows),
            Values::Bytes(rows) => by_key(key, docs, rows),
        };
        orders.iter_mut().zip(by_key).for_each(|(order, next)| *order = order.then(next));
    }
    if let Some(doc) = orders.iter().position(|order| order.is_gt()) {
        let keys: Vec<String> = keys.iter().map(SortKey::to_string).collect();
        panic!("sort: document {} belongs before document {doc} by {}", doc + 1, keys.join(", "));
    }
}

/// Compares each document with the next one.
fn by_key<T: Probe>(key: &SortKey, docs: u32, rows: &dyn Rows<T>) -> Vec<Ordering> {
    let rows = Expected::of(&key.column, docs, T::EMPTY_IS_VALUE, rows).rows;
    let order = |pair: &[Option<Vec<T>>]| match (&pair[0], &pair[1]) {
        (Some(a), Some(b)) if key.descending => b.cmp(a),
        (Some(a), Some(b)) => a.cmp(b),
        (a, b) if key.missing_first => a.is_some().cmp(&b.is_some()),
        (a, b) => a.is_none().cmp(&b.is_none()),
    };
    rows.windows(2).map(order).collect()
}
