//! Errors in queries, with their position.

use std::fmt;
use std::sync::Arc;

/// The characters that [`QueryError::caret`] shows on each side of an error.
const SHOWN: usize = 60;

/// An error in a query: in its syntax, or between a literal and the column.
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
    /// An error at a byte of a text, or in a query without one. It is one line, whatever the names and literals in the
    /// message contain.
    pub(crate) fn new(what: impl Into<String>, place: Option<(Arc<str>, usize)>) -> QueryError {
        let what = what.into().chars().map(printable).collect();
        QueryError { what, place, no_such_column: None }
    }

    /// The error for a column that does not exist, with its position if the query has a text, and a `hint` at the end.
    pub(crate) fn no_column(place: Option<(Arc<str>, usize)>, name: &str, hint: &str) -> QueryError {
        let what = format!("there is no column \"{name}\"{hint}");
        QueryError { no_such_column: Some(name.to_owned()), ..QueryError::new(what, place) }
    }

    /// The message, without its position.
    pub fn message(&self) -> &str {
        &self.what
    }

    /// The name of the column that does not exist, if that is the error.
    pub fn no_such_column(&self) -> Option<&str> {
        self.no_such_column.as_deref()
    }

    /// The position in the text, in characters from 1, if there is a text.
    pub fn column(&self) -> Option<usize> {
        self.place.as_ref().map(|(text, at)| before(text, *at).chars().count() + 1)
    }

    /// The text with a caret below the error, followed by the message. A long text is shown in part.
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

/// The text before byte `at`.
fn before(text: &str, at: usize) -> &str {
    &text[..front_len(text, at)]
}

/// The start of the character that contains byte `at`.
fn front_len(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Replaces control characters, so that each character takes one column.
fn printable(c: char) -> char {
    if c.is_control() { ' ' } else { c }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(character) = self.column() {
            write!(f, "character {character} of the query: ")?;
        }
        f.write_str(&self.what)
    }
}

impl fmt::Debug for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueryError").field("what", &self.what).field("character", &self.column()).finish()
    }
}

impl std::error::Error for QueryError {}
