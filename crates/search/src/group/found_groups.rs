//! The first groups: their values and documents, with the accumulators of their metrics.

use std::sync::Arc;

use docvalues_column::{DocAddress, Field, Lists, TermOrd, Value};

use super::{GroupColumn, GroupFound, Groups, TopGroup, tuple_column};
use crate::engine::{Request, Stored, TERM_BATCH};
use crate::error::Result;
use crate::metrics::{Distinct, Layout};
use crate::sort::TopDocs;

/// The first groups, before their metrics are computed.
pub(crate) struct FoundGroups {
    pub(crate) fields: Vec<Field>,
    pub(crate) groups: Vec<FoundGroup>,
    /// The number of all groups, if it is known.
    pub(crate) distinct: Option<u64>,
    pub(crate) docs: u64,
    pub(crate) missing: u64,
    pub(crate) layout: Arc<Layout>,
}

/// A group, with its accumulators.
pub(crate) struct FoundGroup {
    pub(crate) value: Value,
    pub(crate) row: Vec<u64>,
    pub(crate) docs: Vec<DocAddress>,
}

impl FoundGroups {
    pub(super) fn finish(self, with_missing: bool) -> Groups {
        let FoundGroups { fields, groups, distinct, docs, missing, layout } = self;
        let found = |FoundGroup { value, row, docs }| GroupFound {
            values: values(value, &fields, with_missing),
            count: row[0],
            docs,
            metrics: layout.measures(&row),
        };
        let groups = groups.into_iter().map(found).collect();
        Groups { fields, groups, distinct: distinct.map(Distinct::Exact), docs, missing }
    }
}

/// The values of a group: its only value, or those of a tuple.
pub(crate) fn values(value: Value, fields: &[Field], with_missing: bool) -> Vec<Option<Value>> {
    match value {
        Value::Bytes(tuple) if with_missing || fields.len() > 1 => {
            tuple_column::values(&tuple, fields, with_missing).unwrap_or_default()
        }
        value => vec![Some(value)],
    }
}

/// Resolves groups: terms for ords, documents for queues.
pub(super) fn resolve(
    request: &Request<'_>,
    by: &GroupColumn,
    winners: Vec<TopGroup>,
    best: Option<Vec<TopDocs>>,
) -> Result<Vec<FoundGroup>> {
    let (column, mut docs) = (request.columns().get(by.slot), best.into_iter().flatten());
    let (mut groups, mut terms) = (Vec::with_capacity(winners.len()), Lists::new());
    let mut winners = winners.into_iter();
    while winners.len() > 0 {
        request.stop().check()?;
        let some: Vec<TopGroup> = winners.by_ref().take(TERM_BATCH).collect();
        if let Some(dictionary) = column.terms() {
            let ords: Vec<TermOrd> = some.iter().map(|winner| winner.value.ord()).collect();
            dictionary.gather(&ords, &mut terms)?;
        }
        let mut terms = terms.slices().iter();
        for TopGroup { value, row } in some {
            let value = match (terms.next(), value) {
                (Some(term), _) => Value::Bytes(term.to_vec()),
                (None, Stored::Number(number)) => match &by.tuples {
                    Some(tuples) => Value::Bytes(tuples.tuple(number)?),
                    None => Value::of(column.info().field.logical, number),
                },
                (None, Stored::Bytes(bytes) | Stored::Term(bytes, _)) => Value::Bytes(bytes),
            };
            let docs = docs.next().map_or_else(|| Ok(Vec::new()), |docs| docs.finish(request))?;
            groups.push(FoundGroup { value, row, docs });
        }
    }
    Ok(groups)
}
