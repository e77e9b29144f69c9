//! Formatting of queries as text that parses to the same query.

use std::fmt::{self, Display as _};
use std::ops::Bound;

use super::grammar::{LITERAL_WORDS, RESERVED};
use super::tokens::is_word;
use super::{Comparison, Condition, Literal, Pattern, PatternKind, Query, Test};

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Query::All => f.write_str("true"),
            Query::None => f.write_str("false"),
            Query::Docs(set) => write!(f, "({set:?})"),
            Query::Hits(set) => write!(f, "({} documents of {} parts)", set.count(), set.parts()),
            Query::Condition(condition) => condition.fmt(f),
            Query::And(parts) if parts.is_empty() => f.write_str("true"),
            Query::Or(parts) if parts.is_empty() => f.write_str("false"),
            Query::And(parts) => {
                joined(f, parts, " and ", |part| matches!(part, Query::Or(_) | Query::And(_)))
            }
            Query::Or(parts) => joined(f, parts, " or ", |part| matches!(part, Query::Or(_))),
            Query::Not(part) => {
                f.write_str("not ")?;
                within(f, part, matches!(**part, Query::And(_) | Query::Or(_)))
            }
        }
    }
}

fn joined(
    f: &mut fmt::Formatter<'_>,
    parts: &[Query],
    word: &str,
    apart: impl Fn(&Query) -> bool,
) -> fmt::Result {
    for (i, part) in parts.iter().enumerate() {
        if i > 0 {
            f.write_str(word)?;
        }
        within(f, part, apart(part))?;
    }
    Ok(())
}

/// Writes a child query, in parentheses if precedence requires them.
fn within(f: &mut fmt::Formatter<'_>, part: &Query, apart: bool) -> fmt::Result {
    if apart { write!(f, "({part})") } else { part.fmt(f) }
}

/// The name of a column, quoted if necessary.
pub(super) struct Name<'a>(pub(super) &'a str);

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reserved = RESERVED.iter().any(|word| word.eq_ignore_ascii_case(self.0));
        if is_word(self.0) && !reserved {
            f.write_str(self.0)
        } else {
            write!(f, "`{}`", self.0.replace('`', "``"))
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", Name(&self.column))?;
        match &self.test {
            Test::In(values) if values.len() == 1 => write!(f, "= {}", values[0]),
            Test::NotIn(values) if values.len() == 1 => write!(f, "!= {}", values[0]),
            Test::In(values) => list(f, "in", values),
            Test::NotIn(values) => list(f, "not in", values),
            Test::Range(low, high) => range(f, low.as_ref(), high.as_ref()),
            Test::Prefix(prefix) => write!(f, "^= {prefix}"),
            Test::Matches(pattern) => pattern.fmt(f),
            Test::Column(comparison, other) => write!(f, "{} {}", comparison.symbol(), Operand(other)),
            Test::Exists => f.write_str("exists"),
            Test::Missing => f.write_str("missing"),
        }
    }
}

/// The name of a column after a comparison, where some words are literals.
struct Operand<'a>(&'a str);

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_literal = LITERAL_WORDS.iter().chain(&["null"]).any(|word| word.eq_ignore_ascii_case(self.0));
        if is_literal { write!(f, "`{}`", self.0) } else { Name(self.0).fmt(f) }
    }
}

impl Comparison {
    fn symbol(self) -> &'static str {
        match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let symbol = match self.kind() {
            PatternKind::Equals => "=",
            PatternKind::StartsWith => "^=",
            PatternKind::EndsWith => "$=",
            PatternKind::Contains => "*=",
            PatternKind::Regex => "~",
        };
        write!(f, "{symbol} {}{}", self.literal(), if self.ignores_case() { " i" } else { "" })
    }
}

fn list(f: &mut fmt::Formatter<'_>, word: &str, values: &[Literal]) -> fmt::Result {
    write!(f, "{word} (")?;
    for (i, value) in values.iter().enumerate() {
        write!(f, "{}{value}", if i > 0 { ", " } else { "" })?;
    }
    f.write_str(")")
}

fn range(f: &mut fmt::Formatter<'_>, low: Bound<&Literal>, high: Bound<&Literal>) -> fmt::Result {
    match (low, high) {
        (Bound::Unbounded, Bound::Unbounded) => f.write_str("exists"),
        (Bound::Included(low), Bound::Unbounded) => write!(f, ">= {low}"),
        (Bound::Excluded(low), Bound::Unbounded) => write!(f, "> {low}"),
        (Bound::Unbounded, Bound::Included(high)) => write!(f, "<= {high}"),
        (Bound::Unbounded, Bound::Excluded(high)) => write!(f, "< {high}"),
        (Bound::Included(low), Bound::Included(high)) => write!(f, "in {low}..={high}"),
        (Bound::Included(low), Bound::Excluded(high)) => write!(f, "in {low}..{high}"),
        (Bound::Excluded(low), Bound::Included(high)) => write!(f, "in {low}<..={high}"),
        (Bound::Excluded(low), Bound::Excluded(high)) => write!(f, "in {low}<..{high}"),
    }
}
