//! Exclusion of parts by the bounds of their columns, before a query is bound to them.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::column_condition::{Wanted, wanted};
use super::{Condition, Query, Test};
use crate::Result;
use crate::engine::{ColumnSet, Search};

/// The numbers that a query needs in some columns, if it can match at all.
pub(super) struct PartBounds {
    needed: Vec<(Arc<ColumnSet>, RangeInclusive<i64>)>,
}

impl PartBounds {
    /// The bounds that all documents that match `query` fulfil. Empty in a search over one part, where binding the
    /// query finds as much.
    ///
    /// # Errors
    ///
    /// If a column is damaged.
    pub(super) fn of(query: &Query, search: &Search<'_>) -> Result<PartBounds> {
        let mut bounds = PartBounds { needed: Vec::new() };
        if search.parts.len() > 1 {
            bounds.add(query, search)?;
        }
        Ok(bounds)
    }

    fn add(&mut self, query: &Query, search: &Search<'_>) -> Result<()> {
        match query {
            Query::And(parts) => parts.iter().try_for_each(|part| self.add(part, search)),
            Query::Condition(condition @ Condition { test: Test::In(_) | Test::Range(..), .. }) => {
                // An unknown column is an error when the query is bound.
                let Ok(columns) = search.column_set(&condition.column) else { return Ok(()) };
                let there = columns.parts.iter().find(|column| !column.is_absent());
                let wanted = there.map(|column| wanted(&**column, &condition.test)).transpose()?;
                if let (Some(Ok(Wanted::Numbers(numbers))), false) =
                    (wanted, columns.info().kind().is_bytes())
                {
                    let (first, last) = (numbers.ranges().next(), numbers.ranges().last());
                    let hull = first.zip(last).map(|(first, last)| *first.start()..=*last.end());
                    // An empty set of numbers excludes all parts.
                    self.needed.push((columns, hull.unwrap_or(RangeInclusive::new(i64::MAX, i64::MIN))));
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Whether no document of a part can match.
    #[inline]
    pub(super) fn exclude(&self, part: usize) -> bool {
        self.needed.iter().any(|(columns, numbers)| {
            let (low, high) = columns.bounds_of(part);
            low.max(*numbers.start()) > high.min(*numbers.end())
        })
    }
}
