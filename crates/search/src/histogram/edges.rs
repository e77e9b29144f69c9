//! Bucket edges from literals: numbers, days and times as in queries.

use std::ops::Bound;

use docvalues_column::Field;

use super::{MAX_BUCKETS, Step};
use crate::error::{Error, Result};
use crate::query::{Literal, least_number};

impl Step {
    /// Buckets between `edges`, which compare with the values of `field` as in a query: for integers, 1.5 acts as 2;
    /// a day is its first moment. The last bucket has no end.
    ///
    /// ```
    /// use docvalues_column::{Field, Kind, LogicalType};
    /// use docvalues_search::histogram::Step;
    /// use docvalues_search::query::Literal;
    ///
    /// let day = Field::new("day", Kind::Numeric, LogicalType::Date);
    /// let step = Step::edges(&day, &["1970-01-01", "1970-02-01"].map(Literal::from))?;
    /// assert_eq!(step, Step::Edges(vec![0, 31]));
    ///
    /// let size = Field::new("size", Kind::Numeric, LogicalType::I64);
    /// let error = Step::edges(&size, &[0, 1_000, 100].map(Literal::from)).unwrap_err();
    /// assert_eq!(error.to_string(), "edge 3, 100, is not above the one before it, 1000");
    /// # Ok::<(), docvalues_search::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there are fewer than two or more than [`MAX_BUCKETS`] edges, one is not of the column's type, or they do
    /// not ascend.
    pub fn edges(field: &Field, edges: &[Literal]) -> Result<Step> {
        if !(2..=MAX_BUCKETS).contains(&edges.len()) {
            let count = edges.len();
            return Err(Error::Request(format!("expected 2 to {MAX_BUCKETS} edges, found {count}")));
        }
        let mut stored = Vec::with_capacity(edges.len());
        for (at, edge) in edges.iter().enumerate() {
            let refused = |what: String| Error::Request(format!("edge {}, {edge}, {what}", at + 1));
            let ty = field.logical.name();
            let number = least_number(field.logical, Bound::Included(edge))
                .map_err(|mismatch| refused(format!("is not {mismatch}: column \"{}\" is {ty}", field.name)))?
                .ok_or_else(|| refused(format!("is above every {ty}, or NaN")))?;
            if stored.last().is_some_and(|last| *last >= number) {
                return Err(refused(format!("is not above the one before it, {}", edges[at - 1])));
            }
            stored.push(number);
        }
        Ok(Step::Edges(stored))
    }
}
