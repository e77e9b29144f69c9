//! Counts by value.

use std::collections::BTreeMap;

use docvalues_column::DocId;
use docvalues_search::Value;
use docvalues_search::facet::{Facet, FacetOrder};

use super::Trial;
use super::rows::Rows;

pub(super) fn check(trial: &Trial<'_>, rows: &Rows, hits: &[DocId], column: usize) {
    let column = &rows.columns[column];
    let name = &column.field.name;
    let mut counts: BTreeMap<Value, u64> = BTreeMap::new();
    let mut missing = 0;
    for doc in hits {
        let values = column.counted(*doc);
        missing += u64::from(values.is_empty());
        values.into_iter().for_each(|value| *counts.entry(value).or_default() += 1);
    }
    let some = counts.keys().nth(counts.len() / 2);
    let prefix = some.and_then(|value| match value {
        Value::Bytes(bytes) => Some(bytes[..bytes.len().min(2)].to_vec()),
        _ => None,
    });
    let mut asked = vec![
        Facet::of(name),
        Facet::of(name).top(1),
        Facet::of(name).top(usize::MAX).min_count(2),
        Facet::of(name).top(7).order(FacetOrder::Value),
    ];
    asked.extend(prefix.map(|prefix| Facet::of(name).top(5).prefix(prefix)));
    let Trial { search, docs, .. } = *trial;
    // One facet at a time, so that no other search reads the column.
    let alone = asked.iter().map(|facet| search.facet(docs, facet).unwrap()).collect();
    let found = [search.facets(docs, &asked).unwrap(), alone];
    for (at, facet) in asked.iter().enumerate() {
        let lets_through = |value: &Value, count: u64| {
            let begins = |prefix: &Vec<u8>| matches!(value, Value::Bytes(bytes) if bytes.starts_with(prefix));
            count >= facet.min_count && facet.prefix.as_ref().is_none_or(begins)
        };
        let all = counts.iter().filter(|(value, count)| lets_through(value, **count));
        let mut expected: Vec<(Value, u64)> = all.map(|(value, count)| (value.clone(), *count)).collect();
        let distinct = expected.len() as u64;
        if facet.order == FacetOrder::Count {
            // A stable sort: values with equal counts stay in order.
            expected.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        }
        expected.truncate(facet.top);
        for found in found.iter().map(|found| &found[at]) {
            assert_eq!(found.values, expected, "{facet:?}");
            let others = (&found.field, found.distinct, found.docs, found.missing);
            assert_eq!(others, (&column.field, distinct, hits.len() as u64, missing), "{facet:?}");
        }
    }
}
