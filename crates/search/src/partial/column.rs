//! The columns of partial results.

use docvalues_column::Field;

use crate::calendar::CalendarStep;
use crate::engine::Search;
use crate::error::{Error, Result};

/// A column that a partial result was computed from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct PartialColumn {
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::field"))]
    pub(super) field: Field,
    described: Described,
}

/// The source of a column's description; lesser ones take precedence. The same order holds for the parts of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Described {
    /// A column with values.
    ByValues,
    /// A column without values, with a format.
    ByFormat,
    /// Any other column.
    ByType,
    /// No part has the column.
    Absent,
}

impl PartialColumn {
    /// The column `name` of all parts of a search.
    pub(super) fn open(search: &Search<'_>, name: &str) -> Result<PartialColumn> {
        let set = search.column_set(name)?;
        let info = set.info();
        let described = if set.is_absent() {
            Described::Absent
        } else if info.with_value.most() > 0 {
            Described::ByValues
        } else if info.field.format.is_some() {
            Described::ByFormat
        } else {
            Described::ByType
        };
        Ok(PartialColumn { field: info.field.clone(), described })
    }

    /// The column of the calendar steps of this one, if there are any.
    pub(super) fn of_step(self, step: Option<&CalendarStep>) -> PartialColumn {
        match step.filter(|_| !self.is_absent()) {
            Some(step) => PartialColumn { field: step.field(&self.field), ..self },
            None => self,
        }
    }

    /// Whether no part has the column, so that nothing is known of its type.
    pub(super) fn is_absent(&self) -> bool {
        self.described == Described::Absent
    }

    /// The column of both.
    ///
    /// # Errors
    ///
    /// If they differ in kind or type.
    pub(super) fn merge(self, other: PartialColumn) -> Result<PartialColumn> {
        let (a, b) = (&self.field, &other.field);
        let differ = (a.kind, a.logical) != (b.kind, b.logical);
        if differ && !self.is_absent() && !other.is_absent() {
            let [one, other] = [a, b].map(|field| format!("{} {}", field.kind.name(), field.logical.name()));
            return Err(Error::Request(format!(
                "column \"{}\" is {one} in one partial result and {other} in another",
                a.name
            )));
        }
        Ok(if other.described < self.described { other } else { self })
    }

    /// As [`merge`](Self::merge), column by column.
    pub(super) fn merge_all(a: Vec<PartialColumn>, b: Vec<PartialColumn>) -> Result<Vec<PartialColumn>> {
        a.into_iter().zip(b).map(|(a, b)| a.merge(b)).collect()
    }
}
