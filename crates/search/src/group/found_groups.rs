//! The first groups: their values and documents, with the accumulators of their metrics.

use std::sync::Arc;

use docvalues_column::{DocAddress, Field, Value};

use super::{GroupColumn, GroupFound, Groups, tuple_column};
use crate::engine::{Request, Stored};
use crate::error::Result;
use crate::metrics::{Distinct, Kept, Layout};

/// The first groups, before their metrics are computed.
pub(crate) struct FoundGroups {
    pub(crate) groups: Vec<FoundGroup>,
    /// The states of metrics that the accumulators do not hold.
    pub(crate) kept: Kept,
    /// The number of all groups, if it is known.
    pub(crate) distinct: Option<u64>,
    pub(crate) docs: u64,
    pub(crate) missing: u64,
    pub(crate) layout: Arc<Layout>,
}

/// A group, with its accumulators.
pub(crate) struct FoundGroup {
    /// Until it is [resolved](resolve), an ord for a term, and the number of a tuple.
    pub(crate) value: Stored,
    pub(crate) row: Vec<u64>,
    /// Its best documents, if they were requested.
    pub(crate) docs: Vec<DocAddress>,
}

impl FoundGroups {
    pub(crate) fn finish(self, fields: Vec<Field>, with_missing: bool) -> Groups {
        let FoundGroups { groups, kept, distinct, docs, missing, layout } = self;
        let found = |FoundGroup { value, row, docs }| GroupFound {
            values: values(value, &fields, with_missing),
            count: row[0],
            docs,
            metrics: layout.measures(&row, &kept),
        };
        let groups = groups.into_iter().map(found).collect();
        Groups { fields, groups, distinct: distinct.map(Distinct::Exact), docs, missing }
    }
}

/// The values of a group: its only value, or those of a tuple.
pub(crate) fn values(value: Stored, fields: &[Field], with_missing: bool) -> Vec<Option<Value>> {
    match value {
        Stored::Bytes(tuple) if with_missing || fields.len() > 1 => {
            tuple_column::values(&tuple, fields, with_missing).unwrap_or_default()
        }
        value => fields.first().map(|only| Some(value.into_value(only.logical))).into_iter().collect(),
    }
}

/// Resolves groups: terms for ords, and for numbers the tuples that they stand for.
pub(super) fn resolve(
    request: &Request<'_>,
    by: &GroupColumn,
    groups: Vec<FoundGroup>,
) -> Result<Vec<FoundGroup>> {
    let groups = groups.into_iter().map(|FoundGroup { value, row, docs }| (value, (row, docs)));
    request.columns().get(by.slot).resolve(groups, request.stop(), |value, (row, docs)| {
        let value = match (&by.tuples, value.stored()) {
            (Some(tuples), Some(number)) => Stored::Bytes(tuples.tuple(number)?),
            _ => Stored::of(value),
        };
        Ok(FoundGroup { value, row, docs })
    })
}
