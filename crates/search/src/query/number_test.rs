//! Tests of single numbers that are in no column: the counts and metrics of groups.

use std::ops::{Bound, RangeInclusive};

use docvalues_column::LogicalType;

use super::bind::refused_at;
use super::column_condition::{Wanted, wanted_of_type};
use super::convert_literal::wide_range;
use super::{Condition, Test};
use crate::Result;

/// A test of one number: an integer of any size, or a stored number, as the test was made for.
#[derive(Debug)]
pub(crate) enum NumberTest {
    Missing,
    /// A number in these ranges, or outside of them.
    Number {
        ranges: Vec<RangeInclusive<i128>>,
        is_in: bool,
    },
}

impl NumberTest {
    /// The test of a condition, for stored numbers of type `logical`, or for integers of any size.
    ///
    /// # Errors
    ///
    /// If it is no test of numbers.
    pub(crate) fn new(condition: &Condition, logical: Option<LogicalType>) -> Result<NumberTest> {
        let (name, test) = (condition.column(), condition.test());
        let is_in = !matches!(test, Test::NotIn(_));
        let refused = |refused| refused_at(refused, condition);
        match test {
            Test::Exists => return Ok(NumberTest::Number { ranges: Vec::new(), is_in: false }),
            Test::Missing => return Ok(NumberTest::Missing),
            Test::Matches(_) | Test::Column(..) => {
                let what = format!("expected a number for `{name}`");
                return Err(refused((0, what)));
            }
            Test::In(_) | Test::NotIn(_) | Test::Range(..) | Test::Prefix(_) => {}
        }
        // Checks the literals, also for integers of any size.
        let found = wanted_of_type(name, logical.unwrap_or(LogicalType::I64), test).map_err(refused)?;
        if let (Some(_), Wanted::Numbers(set)) = (logical, found) {
            let wide = |range: RangeInclusive<i64>| i128::from(*range.start())..=i128::from(*range.end());
            return Ok(NumberTest::Number { ranges: set.ranges().map(wide).collect(), is_in });
        }
        let wide = |low, high| wide_range(low, high).map_err(|what| refused((0, what.to_owned())));
        let ranges = match test {
            Test::In(list) | Test::NotIn(list) => list
                .iter()
                .map(|one| wide(Bound::Included(one), Bound::Included(one)))
                .collect::<Result<Vec<_>>>()?,
            Test::Range(low, high) => vec![wide(low.as_ref(), high.as_ref())?],
            _ => Vec::new(),
        };
        Ok(NumberTest::Number { ranges: ranges.into_iter().flatten().collect(), is_in })
    }

    /// The test of a condition on a number that is always missing.
    pub(crate) fn of_missing(condition: &Condition) -> NumberTest {
        match condition.test() {
            Test::Missing => NumberTest::Missing,
            _ => NumberTest::Number { ranges: Vec::new(), is_in: true },
        }
    }

    /// Whether a number passes; `None` is a missing one.
    pub(crate) fn passes(&self, number: Option<i128>) -> bool {
        match (self, number) {
            (NumberTest::Missing, number) => number.is_none(),
            (NumberTest::Number { ranges, is_in }, Some(number)) => {
                ranges.iter().any(|range| range.contains(&number)) == *is_in
            }
            (NumberTest::Number { .. }, None) => false,
        }
    }
}
