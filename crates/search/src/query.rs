//! Which documents are like this: conditions on columns, joined by and, or and not.
//!
//! ```text
//! text ── parse ──► Query ── bind(source) ──► Bound ── collect, matching, count ──► documents
//!                     ▲
//! constructors ───────┘
//! ```
//!
//! A [`Query`] knows no columns: it is made by functions, or read from text, and can be kept and used for many sources.
//! [`Query::bind`] looks up its columns and terms in one of these, and finds out what can match at all. The [`Bound`]
//! query then answers for any part of the documents, on any number of threads.
//!
//! # What matches
//!
//! - A document with several values matches a condition if at least one of them does, as in Lucene.
//! - A document without a value matches no condition on the column but `missing`. So `a != 1` is "has a value, and none
//!   that is 1" (SQL's `<>`), while `not a = 1` is every document that `a = 1` is not, those without a value among them.
//! - A literal becomes a stored value by the type of the column it is compared with. Nothing is rounded: of integers,
//!   `size > 1.5` is `size >= 2`, and `size = 1.5` matches nothing.
//! - Of doubles, -0.0 is 0.0; NaN lies in no range and equals nothing, itself included. It is a value, so it `exists`, and
//!   it is `!= 1`.
//! - A day, compared with a timestamp, is its first moment (midnight, UTC); it is *equal* to each of its moments, in `=`,
//!   `!=` and `in (…)`.
//! - A network (`"10.0.0.0/8"`) is equal to each of its addresses; there is no other comparison with it. An IPv4 address is
//!   stored as `::ffff:a.b.c.d`.
//!
//! | type of the column | literals |
//! | --- | --- |
//! | `i64`, `u64`, `f64` | numbers |
//! | `bool` | `true`, `false` |
//! | `date`, `timestamp[…]` | ISO 8601 as text: a day, or a day and a time, UTC without an offset; or the stored number |
//! | `ip` | an address or a network as text; 16 or 4 bytes |
//! | `uuid` | 32 hexadecimal digits as text, with or without the four dashes; 16 bytes |
//! | `string`, `bytes` | text, bytes |
//!
//! # The language
//!
//! Keywords are read in any case, blanks are free between tokens. In EBNF:
//!
//! ```text
//! query     = and { "or" and } ;
//! and       = not { "and" not } ;
//! not       = "not" not | "(" query ")" | "true" | "false" | condition ;
//! condition = column test ;
//! test      = ( "=" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "^=" ) literal
//!           | [ "not" ] "in" "(" [ literal { "," literal } ] ")"
//!           | "in" literal [ "<" ] ".." [ "=" ] literal
//!           | "exists" | "missing" ;
//! column    = word | "`" { character | "``" } "`" ;
//! word      = ( letter | "_" | "@" ) { letter | digit | "_" | "." | "-" } ;
//! literal   = number | text | bytes | "true" | "false" ;
//! number    = [ sign ] ( digits [ "." digits ] [ exponent | unit ] | "inf" ) | "nan" ;
//! digits    = digit { digit | "_" } ;
//! exponent  = "e" [ sign ] digits ;
//! unit      = "kB" | "MB" | "GB" | "TB" | "KiB" | "MiB" | "GiB" | "TiB" ;
//! text      = '"' { character | escape } '"' | "'" { character | escape } "'" ;
//! escape    = "\\" | "\"" | "\'" | "\n" | "\r" | "\t" | "\0" | "\u{" hexdigits "}" ;
//! bytes     = "x" "'" { hexdigit hexdigit } "'" ;
//! ```
//!
//! `^=` is "begins with". A range is written as in Rust: `in 1..5` without the 5, `in 1..=5` with it; `in 1<..5` is without
//! the 1, too. A column whose name is no word, or is `and`, `or`, `not`, `true` or `false`, stands in backticks. A number
//! with a point or an exponent is a double, and compares with integers exactly all the same.
//!
//! At most [`MAX_DEPTH`] parentheses and `not`s stand within each other, and a text has at most [`MAX_TEXT`] bytes.
//!
//! ```
//! use docvalues_search::Query;
//!
//! let query = Query::parse(r#"status = 404 and (size >= 10MiB or host ^= "www.") and not agent missing"#)?;
//! let built = Query::eq("status", 404)
//!     .and(Query::range("size", 10 << 20..).or(Query::prefix("host", "www.")))
//!     .and(!Query::missing("agent"));
//! assert_eq!(query, built);
//! assert_eq!(Query::parse(&query.to_string())?, query);
//!
//! let error = Query::parse("status == 404 and size > large").unwrap_err();
//! assert_eq!(error.to_string(), "column 26 of the query: expected a number, text in quotes, `true` or `false`");
//! # Ok::<(), docvalues_search::Error>(())
//! ```

mod bind;
mod bound_query;
mod column_condition;
mod condition_filter;
mod convert_literal;
mod error;
mod evaluate;
mod explain;
mod grammar;
mod iso8601;
mod literal;
mod print;
mod range_set;
mod tokens;

use std::ops::{self, RangeBounds};
use std::str::FromStr;
use std::sync::Arc;

use docvalues_column::Bitset;

pub use bound_query::BoundQuery;
pub(crate) use condition_filter::grouped;
pub(crate) use convert_literal::least_number;
pub use error::QueryError;
pub(crate) use explain::describe_pruning;
pub use explain::{Explain, Profile};
pub use literal::Literal;

use crate::{Error, Result};

/// How many parentheses and `not`s of a text may stand within each other.
pub const MAX_DEPTH: usize = 64;

/// The longest text that is read as a query, in bytes.
pub const MAX_TEXT: usize = 1 << 20;

/// A condition on documents. See the [module](self) for what matches.
///
/// Functions put queries together flat: `a.and(b).and(c)` is one [`And`](Query::And) of three. A query that they made is
/// the one that its text is parsed to; the text of any other means the same.
///
/// ```
/// use docvalues_search::Query;
///
/// let large = Query::range("size", 1_000_000..);
/// let query = large.and(!Query::is_in("host", ["a.example", "b.example"]));
/// assert_eq!(query.to_string(), r#"size >= 1000000 and not host in ("a.example", "b.example")"#);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Query {
    /// All documents.
    All,
    /// None of them.
    None,
    /// The documents of a set. It has no text that could be parsed.
    Docs(Arc<Bitset>),
    /// Those with a value that passes a test.
    Condition(Condition),
    /// Those that match all of these.
    And(Vec<Query>),
    /// Those that match at least one of these.
    Or(Vec<Query>),
    /// Those that do not match this.
    Not(Box<Query>),
}

/// What the values of one column must be.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    column: String,
    test: Test,
    place: Position,
}

impl Condition {
    /// The name of the column.
    pub fn column(&self) -> &str {
        &self.column
    }

    /// What its values must be.
    pub fn test(&self) -> &Test {
        &self.test
    }
}

/// What a value must be; of several, one of them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Test {
    /// Equal to one of these.
    In(Vec<Literal>),
    /// There is a value, and none is equal to one of these.
    NotIn(Vec<Literal>),
    /// Between these, at least one of which is there.
    Range(ops::Bound<Literal>, ops::Bound<Literal>),
    /// A byte string that begins with this.
    Prefix(Literal),
    /// Any.
    Exists,
    /// There is no value.
    Missing,
}

/// Where a condition stands in the text it was read from, to point at it. Where something was written makes no
/// difference: all places are equal.
#[derive(Clone, Debug, Default)]
struct Position {
    text: Option<Arc<str>>,
    /// Bytes of the text before the column.
    column: usize,
    /// The same for each literal.
    literals: Vec<usize>,
}

impl PartialEq for Position {
    fn eq(&self, _: &Position) -> bool {
        true
    }
}

impl Query {
    fn condition(column: impl Into<String>, test: Test) -> Query {
        Query::Condition(Condition { column: column.into(), test, place: Position::default() })
    }

    /// The documents of `set`: what an inverted index found, or those that are live.
    pub fn docs(set: impl Into<Arc<Bitset>>) -> Query {
        Query::Docs(set.into())
    }

    /// Documents with a value that is `value`.
    pub fn eq(column: impl Into<String>, value: impl Into<Literal>) -> Query {
        Query::is_in(column, [value])
    }

    /// Documents that have a value, and none that is `value`.
    pub fn ne(column: impl Into<String>, value: impl Into<Literal>) -> Query {
        Query::not_in(column, [value])
    }

    /// Documents with a value that is one of `values`.
    pub fn is_in(column: impl Into<String>, values: impl IntoIterator<Item = impl Into<Literal>>) -> Query {
        Query::condition(column, Test::In(values.into_iter().map(Into::into).collect()))
    }

    /// Documents that have a value, and none that is one of `values`.
    pub fn not_in(column: impl Into<String>, values: impl IntoIterator<Item = impl Into<Literal>>) -> Query {
        Query::condition(column, Test::NotIn(values.into_iter().map(Into::into).collect()))
    }

    /// Documents with a value in `range`. A range without ends is [`exists`](Self::exists).
    pub fn range<T: Clone + Into<Literal>>(column: impl Into<String>, range: impl RangeBounds<T>) -> Query {
        let [low, high] =
            [range.start_bound(), range.end_bound()].map(|end| end.map(|value| value.clone().into()));
        match (&low, &high) {
            (ops::Bound::Unbounded, ops::Bound::Unbounded) => Query::exists(column),
            _ => Query::condition(column, Test::Range(low, high)),
        }
    }

    /// Documents with a byte string that begins with `prefix`.
    pub fn prefix(column: impl Into<String>, prefix: impl Into<Literal>) -> Query {
        Query::condition(column, Test::Prefix(prefix.into()))
    }

    /// Documents that have a value.
    pub fn exists(column: impl Into<String>) -> Query {
        Query::condition(column, Test::Exists)
    }

    /// Documents that have no value.
    pub fn missing(column: impl Into<String>) -> Query {
        Query::condition(column, Test::Missing)
    }

    /// Documents that match both.
    #[must_use]
    pub fn and(self, other: Query) -> Query {
        Query::all_of([self, other])
    }

    /// Documents that match one or both.
    #[must_use]
    pub fn or(self, other: Query) -> Query {
        Query::any_of([self, other])
    }

    /// Documents that match all of `queries`; of none, all documents.
    pub fn all_of(queries: impl IntoIterator<Item = Query>) -> Query {
        let mut all = Vec::new();
        for query in queries {
            match query {
                Query::And(more) => all.extend(more),
                one => all.push(one),
            }
        }
        only(&mut all).unwrap_or(if all.is_empty() { Query::All } else { Query::And(all) })
    }

    /// Documents that match at least one of `queries`; of none, no document.
    pub fn any_of(queries: impl IntoIterator<Item = Query>) -> Query {
        let mut any = Vec::new();
        for query in queries {
            match query {
                Query::Or(more) => any.extend(more),
                one => any.push(one),
            }
        }
        only(&mut any).unwrap_or(if any.is_empty() { Query::None } else { Query::Or(any) })
    }

    /// Reads a query from text, as the [module](self) describes it.
    ///
    /// # Errors
    ///
    /// [`Error::Query`] that says where in the text what was expected.
    pub fn parse(text: &str) -> Result<Query> {
        Ok(grammar::parse(text)?)
    }

    /// The names of the columns that the query asks for, in order, each once.
    pub fn columns(&self) -> Vec<&str> {
        fn add<'q>(query: &'q Query, names: &mut Vec<&'q str>) {
            match query {
                Query::All | Query::None | Query::Docs(_) => {}
                Query::Condition(condition) => names.push(&condition.column),
                Query::And(parts) | Query::Or(parts) => parts.iter().for_each(|part| add(part, names)),
                Query::Not(part) => add(part, names),
            }
        }
        let mut names = Vec::new();
        add(self, &mut names);
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// The only item of a list that has one.
fn only(list: &mut Vec<Query>) -> Option<Query> {
    if list.len() == 1 { list.pop() } else { None }
}

impl ops::Not for Query {
    type Output = Query;

    fn not(self) -> Query {
        match self {
            Query::Not(query) => *query,
            query => Query::Not(Box::new(query)),
        }
    }
}

impl FromStr for Query {
    type Err = Error;

    fn from_str(text: &str) -> Result<Query> {
        Query::parse(text)
    }
}
