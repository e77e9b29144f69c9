//! What is wrong with a query, and where.

use std::fmt;
use std::sync::Arc;

/// The characters that [`QueryError::caret`] shows on each side.
const SHOWN: usize = 60;

/// What is wrong with a query: with its text, or with one of its literals for the column there is.
///
/// ```
/// use docvalues_search::{Error, Query};
///
/// let Err(Error::Query(error)) = Query::parse("size >= 7 and status in 1, 2") else { panic!() };
/// assert_eq!(error.column(), Some(26));
/// assert_eq!(error.caret().unwrap(), "\
/// size >= 7 and status in 1, 2
///                          ^ expected `..`");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct QueryError {
    what: String,
    place: Option<(Arc<str>, usize)>,
    no_such_column: Option<String>,
}

impl QueryError {
    /// An error at byte `at` of `text`.
    pub(super) fn at(text: Arc<str>, at: usize, what: impl Into<String>) -> QueryError {
        QueryError { what: what.into(), place: Some((text, at)), no_such_column: None }
    }

    /// The column `name`, which there is none of, at a byte of a text.
    pub(super) fn no_column(place: Option<(Arc<str>, usize)>, name: &str) -> QueryError {
        let what = format!("there is no column `{name}`");
        QueryError { what, place, no_such_column: Some(name.to_owned()) }
    }

    /// An error of a query that was not read from text.
    pub(super) fn nowhere(what: impl Into<String>) -> QueryError {
        QueryError { what: what.into(), place: None, no_such_column: None }
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.what
    }

    /// The column that there is none of, if that is what is wrong.
    pub fn no_such_column(&self) -> Option<&str> {
        self.no_such_column.as_deref()
    }

    /// Where in the text, in characters from 1, if there is a text.
    pub fn column(&self) -> Option<usize> {
        self.place.as_ref().map(|(text, at)| before(text, *at).chars().count() + 1)
    }

    /// The text, and under it a mark where the error is and what it is; of a long text, what is around it.
    pub fn caret(&self) -> Option<String> {
        let (text, at) = self.place.as_ref()?;
        let front = before(text, *at);
        let skipped = front.chars().count().saturating_sub(SHOWN);
        let front: String = front.chars().skip(skipped).map(printable).collect();
        let rest = text.get(front_len(text, *at)..).unwrap_or_default();
        let back: String = rest.chars().take(SHOWN).map(printable).collect();
        let dots = if skipped > 0 { "…" } else { "" };
        let more = if rest.chars().nth(SHOWN).is_some() { "…" } else { "" };
        let indent = front.chars().count() + dots.chars().count();
        let line = format!("{dots}{front}{back}{more}");
        Some(format!("{}\n{:indent$}^ {}", line.trim_end(), "", self.what))
    }
}

/// What stands in front of byte `at`.
fn before(text: &str, at: usize) -> &str {
    &text[..front_len(text, at)]
}

/// `at`, or where the character begins that it is in.
fn front_len(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}

/// A character that takes one place in a line.
fn printable(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(column) = self.column() {
            write!(f, "column {column} of the query: ")?;
        }
        f.write_str(&self.what)
    }
}

impl fmt::Debug for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueryError").field("what", &self.what).field("column", &self.column()).finish()
    }
}

impl std::error::Error for QueryError {}
