//! Queries: conditions on columns, joined by `and`, `or` and `not`.
//!
//! ```text
//! text ── parse ──► Query ── Search::bind ──► BoundQuery ── collect, matching, count ──► documents
//!                     ▲
//! constructors ───────┘
//! ```
//!
//! A [`Query`] is independent of any source. It is built by functions or parsed from text, and can be reused.
//! [`Search::bind`](crate::Search::bind) resolves its columns and terms in each part of a search, and decides what can
//! match at all. The resulting [`BoundQuery`] finds the matching documents in any range, on any number of threads.
//!
//! # Semantics
//!
//! - A document with several values matches a condition if at least one of them does, as in Lucene.
//! - A document without a value matches no condition on the column except `missing`. So `a != 1` matches documents
//!   with a value, none of which is 1 (as SQL's `<>`). `not a = 1` matches every document that `a = 1` does not,
//!   including documents without a value.
//! - `a < b` compares two columns: a document matches if the comparison holds for some pair of its values. Integers and
//!   doubles are compared exactly, days and timestamps as with literals. `a != b` requires values in both columns, none
//!   of which are equal.
//! - A pattern (`^=`, `$=`, `*=`, `~`) tests text or bytes. In a column with a dictionary, binding tests each term once,
//!   and the query then runs like `in (…)`. In other columns, every value is tested.
//! - `_doc` is the id of a document in its segment, unless a column has that name. A merge changes it.
//! - A literal is converted to the type of its column. Nothing is rounded: for integers, `size > 1.5` is `size >= 2`,
//!   and `size = 1.5` matches nothing.
//! - For doubles, -0.0 equals 0.0. NaN is in no range and equals nothing, not even itself. It is a value, so NaN
//!   `exists`, and is `!= 1`.
//! - A day, compared with a timestamp, is its first moment (midnight, UTC). In `=`, `!=` and `in (…)` it is equal to
//!   every moment of the day. A zone may follow the day or the time in brackets: `at = "2024-03-31[Europe/Berlin]"` matches
//!   23 hours. A time that clocks show twice is the first, and one that they skip is as much later.
//! - A network (`"10.0.0.0/8"`) is equal to each of its addresses, and has no other comparison. An IPv4 address is
//!   stored as `::ffff:a.b.c.d`.
//!
//! | column type | literals |
//! | --- | --- |
//! | `i64`, `u64`, `f64` | numbers |
//! | `bool` | `true`, `false` |
//! | `date`, `timestamp[…]` | ISO 8601 as text: a day, or a day and a time, in UTC unless there is an offset or, for timestamps, a zone; or the stored number |
//! | `ip` | an address or a network as text; 16 or 4 bytes |
//! | `uuid` | 32 hexadecimal digits as text, with or without the four dashes; 16 bytes |
//! | `string`, `bytes` | text, bytes |
//!
//! # Grammar
//!
//! Keywords are case-insensitive, and blanks are allowed between tokens. In EBNF:
//!
//! ```text
//! query     = and { "or" and } ;
//! and       = not { "and" not } ;
//! not       = "not" not | "(" query ")" | "true" | "false" | condition ;
//! condition = column test ;
//! test      = ( "=" | "==" | "!=" | "<" | "<=" | ">" | ">=" ) ( literal | column )
//!           | ( "^=" | "$=" | "*=" | "~" | "!~" ) literal [ "i" ]
//!           | ( "=" | "==" | "!=" ) text "i"
//!           | [ "not" ] "in" "(" [ literal { "," literal } ] ")"
//!           | "in" literal [ "<" ] ".." [ "=" ] literal
//!           | "exists" | "missing" ;
//! column    = metric | name ;
//! name      = word | "`" { character | "``" } "`" ;
//! metric    = ( "sum" | "min" | "max" | "mean" | "distinct" | percentile ) "(" name ")"
//!           | ( "first" | "last" ) "(" name "by" name ")" ;
//! percentile = "p" digit { digit } [ "." { digit } ] ;
//! word      = ( letter | "_" | "@" ) { letter | digit | "_" | "." | "-" } ;
//! literal   = number | text | bytes | "true" | "false" ;
//! number    = [ sign ] ( digits [ "." digits ] [ exponent | unit ] | "inf" ) | "nan" ;
//! digits    = digit { digit | "_" } ;
//! exponent  = "e" [ sign ] digits ;
//! unit      = "kB" | "MB" | "GB" | "TB" | "KiB" | "MiB" | "GiB" | "TiB" ;
//! text      = '"' { character | '""' } '"' | "'" { character | "''" } "'" ;
//! bytes     = "x" "'" { hexdigit hexdigit } "'" ;
//! ```
//!
//! In text, a quote is doubled. Every other character stands for itself, also a backslash.
//!
//! `^=` means "begins with", `$=` "ends with", `*=` "contains", and `~` "has a match of this regular expression", in the
//! [syntax](https://docs.rs/regex/1/regex/#syntax) of the crate `regex`; `!~` matches documents with
//! values, none of which has a match. An `i` after the text ignores case. `~` and `i` need the feature `regex`. Ranges are written as in Rust: `in 1..5` excludes the 5, `in 1..=5` includes it; `in
//! 1<..5` excludes the 1 as well. A column name that is not a word, or is `and`, `or`, `not`, `true` or `false`, is
//! quoted in backticks; so is `inf`, `nan` or `null` after a comparison. A number with a point or an exponent is a double; its comparison with integers is exact.
//!
//! A metric, such as `sum(size)` or `p99(size)`, is valid only in [`Group::having`](crate::group::Group::having).
//!
//! Parentheses and `not`s are nested at most [`MAX_DEPTH`] deep, and a text has at most [`MAX_TEXT`] bytes.
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
//! let error = Query::parse("status == 404 and size > (1)").unwrap_err();
//! assert_eq!(error.to_string(), "character 26 of the query: expected a number, text in quotes, `true` or `false`");
//! # Ok::<(), docvalues_search::Error>(())
//! ```

mod bind;
mod bound_part;
mod bound_query;
mod column_comparison;
mod column_condition;
mod condition;
mod condition_filter;
mod convert_literal;
mod doc_ids;
mod evaluate;
mod explain;
mod grammar;
mod iso8601;
mod literal;
mod node;
mod number_test;
mod part_bounds;
mod pattern;
mod print;
mod range_set;
#[cfg(feature = "serde")]
pub(crate) mod serial;
mod sql_hints;
mod tokens;

use std::ops::{self, RangeBounds};
use std::str::FromStr;
use std::sync::Arc;

use docvalues_column::Bitset;

pub use bound_query::BoundQuery;
use condition::Position;
pub use condition::{Comparison, Condition, Test};
pub(crate) use convert_literal::least_number;
pub use explain::{Explain, Profile};
pub use literal::Literal;
pub(crate) use number_test::NumberTest;
pub use pattern::{Pattern, PatternKind};

use crate::engine::DocSet;
pub use crate::error::QueryError;
use crate::{Error, Result};

/// The deepest nesting of parentheses and `not`s.
pub const MAX_DEPTH: usize = 64;

/// The longest query text, in bytes.
pub const MAX_TEXT: usize = 1 << 20;

/// A query: a condition on documents. See the [module](self) for its semantics.
///
/// The functions keep queries flat: `a.and(b).and(c)` is one [`And`](Query::And) of three. A query built by them
/// equals the one that its text parses to; the text of any other query is equivalent.
///
/// ```
/// use docvalues_search::Query;
///
/// let large = Query::range("size", 1_000_000..);
/// let query = large.and(!Query::is_in("host", ["a.example", "b.example"]));
/// assert_eq!(query.to_string(), r#"size >= 1000000 and not host in ("a.example", "b.example")"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Query {
    /// All documents.
    #[default]
    All,
    /// No document.
    None,
    /// The documents of a set. It has no text form that can be parsed.
    Docs(Arc<Bitset>),
    /// The documents of a set of several parts. It has no text form that can be parsed.
    Hits(Arc<DocSet>),
    /// Documents with a value that passes a test.
    Condition(Condition),
    /// Documents that match all of these.
    And(Vec<Query>),
    /// Documents that match at least one of these.
    Or(Vec<Query>),
    /// Documents that do not match this.
    Not(Box<Query>),
}

impl Query {
    fn condition(column: impl Into<String>, test: Test) -> Query {
        Query::Condition(Condition { column: column.into(), test, place: Position::default() })
    }

    /// The documents of `set`, for example the result of an inverted index.
    pub fn docs(set: impl Into<Arc<Bitset>>) -> Query {
        Query::Docs(set.into())
    }

    /// The documents of a set of all parts, for example the hits of an inverted index. [`Search::doc_set`] makes one. Deleted
    /// documents may be in it, and do not match.
    ///
    /// ```
    /// # use docvalues_column::{DocId, Field, Kind, LogicalType, Part};
    /// # use docvalues_testkit::model::{MemSource, ModelColumn};
    /// use docvalues_search::{Docs, Parts, Query, Search, SearchRequest};
    ///
    /// # let of = |sizes: [i64; 2]| {
    /// #     let field = Field::new("size", Kind::Numeric, LogicalType::I64);
    /// #     Part::new(MemSource::new(2, [(field, ModelColumn::Numeric(sizes.map(Some).to_vec()))]))
    /// # };
    /// let parts = Parts::new([of([512, 9]), of([70, 3])]);
    /// let search = Search::over(&parts);
    /// let [first, second] = [[0, 1].map(DocId::new), [0, 1].map(DocId::new)];
    /// let hits = search.doc_set(&[Docs::list(&first)?, Docs::list(&second[..1])?])?;
    /// let request = SearchRequest::new().query(Query::hits(hits).and(Query::range("size", 50..)));
    /// assert_eq!(search.request(&request)?.hits, 2);
    /// # Ok::<(), docvalues_search::Error>(())
    /// ```
    ///
    /// [`Search::doc_set`]: crate::Search::doc_set
    pub fn hits(set: impl Into<Arc<DocSet>>) -> Query {
        Query::Hits(set.into())
    }

    /// Documents with a value equal to `value`.
    pub fn eq(column: impl Into<String>, value: impl Into<Literal>) -> Query {
        Query::is_in(column, [value])
    }

    /// Documents with a value, none of which equals `value`.
    pub fn ne(column: impl Into<String>, value: impl Into<Literal>) -> Query {
        Query::not_in(column, [value])
    }

    /// Documents with a value equal to one of `values`.
    pub fn is_in(column: impl Into<String>, values: impl IntoIterator<Item = impl Into<Literal>>) -> Query {
        Query::condition(column, Test::In(values.into_iter().map(Into::into).collect()))
    }

    /// Documents with a value, none of which equals one of `values`.
    pub fn not_in(column: impl Into<String>, values: impl IntoIterator<Item = impl Into<Literal>>) -> Query {
        Query::condition(column, Test::NotIn(values.into_iter().map(Into::into).collect()))
    }

    /// Documents with a value in `range`. An unbounded range is [`exists`](Self::exists).
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

    /// Documents with text or bytes that match a pattern.
    ///
    /// ```
    /// use docvalues_search::Query;
    /// use docvalues_search::query::Pattern;
    ///
    /// let query = Query::matches("host", Pattern::contains("shop").ignore_case());
    /// assert_eq!(query.to_string(), r#"host *= "shop" i"#);
    /// ```
    pub fn matches(column: impl Into<String>, pattern: Pattern) -> Query {
        Query::condition(column, Test::Matches(pattern))
    }

    /// Documents for which the comparison holds for some pair of values of the two columns.
    ///
    /// ```
    /// use docvalues_search::Query;
    /// use docvalues_search::query::Comparison;
    ///
    /// let query = Query::compare("sent", Comparison::Greater, "received");
    /// assert_eq!(query, Query::parse("sent > received")?);
    /// # Ok::<(), docvalues_search::Error>(())
    /// ```
    pub fn compare(column: impl Into<String>, comparison: Comparison, other: impl Into<String>) -> Query {
        Query::condition(column, Test::Column(comparison, other.into()))
    }

    /// Documents with a value.
    pub fn exists(column: impl Into<String>) -> Query {
        Query::condition(column, Test::Exists)
    }

    /// Documents without a value.
    pub fn missing(column: impl Into<String>) -> Query {
        Query::condition(column, Test::Missing)
    }

    /// Documents that match both queries.
    #[must_use]
    pub fn and(self, other: Query) -> Query {
        Query::all_of([self, other])
    }

    /// Documents that match at least one of both queries.
    #[must_use]
    pub fn or(self, other: Query) -> Query {
        Query::any_of([self, other])
    }

    /// Documents that match all of `queries`; all documents if there are none.
    pub fn all_of(queries: impl IntoIterator<Item = Query>) -> Query {
        let parts = |query: Query| if let Query::And(parts) = query { parts } else { vec![query] };
        joined(queries.into_iter().flat_map(parts), Query::All, Query::And)
    }

    /// Documents that match at least one of `queries`; no document if there are none.
    pub fn any_of(queries: impl IntoIterator<Item = Query>) -> Query {
        let parts = |query: Query| if let Query::Or(parts) = query { parts } else { vec![query] };
        joined(queries.into_iter().flat_map(parts), Query::None, Query::Or)
    }

    /// Parses a query. The [module documentation](self#grammar) has the grammar.
    ///
    /// # Errors
    ///
    /// [`Error::Query`], with the position in the text and what was expected there.
    pub fn parse(text: &str) -> Result<Query> {
        Ok(grammar::parse(text)?)
    }

    /// Calls `map` with each literal that values equal or are less or greater than, and its column.
    ///
    /// ```
    /// use docvalues_search::Query;
    /// use docvalues_search::query::Literal;
    ///
    /// let mut query = Query::parse("at >= '2024-03-31' and host = '2024'")?;
    /// query.map_literals(&mut |column, literal| {
    ///     if let (Literal::Text(text), "at") = (literal, column) {
    ///         text.push_str("[Europe/Berlin]");
    ///     }
    /// });
    /// assert_eq!(query.to_string(), r#"at >= "2024-03-31[Europe/Berlin]" and host = "2024""#);
    /// # Ok::<(), docvalues_search::Error>(())
    /// ```
    pub fn map_literals(&mut self, map: &mut dyn FnMut(&str, &mut Literal)) {
        match self {
            Query::And(parts) | Query::Or(parts) => parts.iter_mut().for_each(|part| part.map_literals(map)),
            Query::Not(part) => part.map_literals(map),
            Query::Condition(Condition { column, test: Test::In(values) | Test::NotIn(values), .. }) => {
                values.iter_mut().for_each(|value| map(column, value));
            }
            Query::Condition(Condition { column, test: Test::Range(low, high), .. }) => {
                for end in [low, high] {
                    if let ops::Bound::Included(value) | ops::Bound::Excluded(value) = end {
                        map(column, value);
                    }
                }
            }
            Query::All | Query::None | Query::Docs(_) | Query::Hits(_) | Query::Condition(_) => {}
        }
    }

    /// The names of the query's columns, sorted, each once.
    pub fn columns(&self) -> Vec<&str> {
        let mut names: Vec<&str> = match self {
            Query::All | Query::None | Query::Docs(_) | Query::Hits(_) => Vec::new(),
            Query::Condition(Condition { column, test: Test::Column(_, other), .. }) => {
                vec![column.as_str(), other.as_str()]
            }
            Query::Condition(condition) => vec![condition.column.as_str()],
            Query::And(parts) | Query::Or(parts) => parts.iter().flat_map(Query::columns).collect(),
            Query::Not(part) => part.columns(),
        };
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// The query of several parts; the only one, or `none` if there are none.
fn joined(parts: impl Iterator<Item = Query>, none: Query, several: fn(Vec<Query>) -> Query) -> Query {
    let mut parts: Vec<Query> = parts.collect();
    match parts.len() {
        0 => none,
        1 => parts.remove(0),
        _ => several(parts),
    }
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
