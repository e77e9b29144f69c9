//! [`Condition`]: a test of the values of one column.

use std::ops;
use std::sync::Arc;

use super::literal::Literal;
use super::pattern::Pattern;
use crate::error::QueryError;

/// A test of the values of one column.
///
/// ```
/// use docvalues_search::Query;
/// use docvalues_search::query::{Literal, Test};
///
/// let Query::Condition(condition) = Query::parse("size in (1, 2)")? else { panic!("one condition") };
/// assert_eq!(condition.column(), "size");
/// assert_eq!(condition.test(), &Test::In(vec![Literal::Int(1), Literal::Int(2)]));
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    pub(super) column: String,
    pub(super) test: Test,
    pub(super) place: Position,
}

impl Condition {
    /// The name of the column.
    pub fn column(&self) -> &str {
        &self.column
    }

    /// The test.
    pub fn test(&self) -> &Test {
        &self.test
    }

    /// The error for the condition, at the position of its column.
    pub(crate) fn refuse(&self, what: impl Into<String>) -> QueryError {
        QueryError::new(what, self.place.of(None))
    }
}

/// A test of a value: [`Condition::test`]. At least one of several values must pass.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Test {
    /// The value equals one of these.
    In(Vec<Literal>),
    /// There is a value, and no value equals one of these.
    NotIn(Vec<Literal>),
    /// The value lies between these bounds, at least one of which is present.
    Range(ops::Bound<Literal>, ops::Bound<Literal>),
    /// The value begins with these bytes.
    Prefix(Literal),
    /// The value matches a pattern.
    Matches(Pattern),
    /// The comparison holds for the value and some value of this column. For [`NotEqual`](Comparison::NotEqual): both
    /// columns have values, and none are equal.
    Column(Comparison, String),
    /// There is a value.
    Exists,
    /// There is no value.
    Missing,
}

/// A comparison of the values of two columns: [`Test::Column`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// The position of a condition in its text, for error messages. All positions compare as equal, so that equal
/// conditions do.
#[derive(Clone, Debug, Default)]
pub(super) struct Position {
    pub(super) text: Option<Arc<str>>,
    /// The byte offset of the column.
    pub(super) column: usize,
    /// The byte offset of each literal, or of the second column.
    pub(super) literals: Vec<usize>,
}

impl Position {
    /// The text, and the place of a literal in it or, without one, of the column.
    pub(super) fn of(&self, literal: Option<usize>) -> Option<(Arc<str>, usize)> {
        let at = literal.and_then(|literal| self.literals.get(literal).copied()).unwrap_or(self.column);
        self.text.clone().map(|text| (text, at))
    }
}

impl PartialEq for Position {
    fn eq(&self, _: &Position) -> bool {
        true
    }
}
