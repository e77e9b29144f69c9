//! The query parser: recursive descent, with one function for each rule of the grammar in the [module
//! documentation](super).
//!
//! The first token of a rule decides, so only words at which a rule may end are read twice, and the time is linear in
//! the text.

use std::sync::Arc;

use winnow::Parser as _;
use winnow::combinator::{alt, opt, peek};
use winnow::stream::{LocatingSlice, Location as _};
use winnow::token::{one_of, take_till};

use super::sql_hints::refuse_sql;
use super::tokens::{Input, Parsed, Refusal, blanks, keyword, literal, refuse, symbol, word};
use super::{Comparison, Condition, Literal, MAX_DEPTH, MAX_TEXT, Pattern, PatternKind};
use super::{Position, Query, QueryError, Test};
use crate::metrics::Metric;

/// Words that must be quoted as column names.
pub(super) const RESERVED: [&str; 5] = ["and", "or", "not", "true", "false"];

const A_KEYWORD: &str =
    "`and`, `or`, `not`, `true` and `false` are keywords: write a column of that name in backticks";
const A_TEST: &str = "expected `=`, `!=`, `<`, `<=`, `>`, `>=`, `^=`, `$=`, `*=`, `~`, `!~`, `in`, `not in`, `exists` or `missing`";

/// Words that are literals after a comparison.
pub(super) const LITERAL_WORDS: [&str; 4] = ["true", "false", "inf", "nan"];

pub(super) fn parse(text: &str) -> Result<Query, QueryError> {
    if text.len() > MAX_TEXT {
        let what = format!("expected a query of at most {MAX_TEXT} bytes, found {}", text.len());
        return Err(QueryError::new(what, None));
    }
    let text: Arc<str> = text.into();
    let mut input = Input { input: LocatingSlice::new(&*text), state: Some(&text) };
    let refused = |refusal: Refusal| QueryError::new(refusal.what, Some((text.clone(), refusal.at)));
    let unknown = || QueryError::new("the query is not complete", None);
    whole(&mut input).map_err(|error| error.into_inner().map_or_else(|_| unknown(), refused))
}

fn whole(input: &mut Input<'_>) -> Parsed<Query> {
    blanks(input)?;
    let query = or(input, 0)?;
    if input.is_empty() {
        Ok(query)
    } else {
        refuse(input.current_token_start(), "expected `and`, `or` or the end")
    }
}

fn or(input: &mut Input<'_>, depth: usize) -> Parsed<Query> {
    let mut parts = vec![and(input, depth)?];
    while keyword(input, "or")? {
        parts.push(and(input, depth)?);
    }
    Ok(Query::any_of(parts))
}

fn and(input: &mut Input<'_>, depth: usize) -> Parsed<Query> {
    let mut parts = vec![not(input, depth)?];
    while keyword(input, "and")? {
        parts.push(not(input, depth)?);
    }
    Ok(Query::all_of(parts))
}

fn not(input: &mut Input<'_>, depth: usize) -> Parsed<Query> {
    let at = input.current_token_start();
    let deeper = || match depth {
        MAX_DEPTH.. => refuse(at, "expected at most 64 nested parentheses and `not`s"),
        depth => Ok(depth + 1),
    };
    if keyword(input, "not")? {
        refuse_test(input, at)?;
        return Ok(!not(input, deeper()?)?);
    }
    if symbol(input, "(")? {
        let query = or(input, deeper()?)?;
        if symbol(input, ")")? {
            return Ok(query);
        }
        return refuse(input.current_token_start(), "expected `and`, `or` or `)`");
    }
    for (word, query) in [("true", Query::All), ("false", Query::None)] {
        if keyword(input, word)? {
            refuse_test(input, at)?;
            return Ok(query);
        }
    }
    condition(input)
}

/// Rejects a keyword at `at` that is followed by a comparison, as only a column can be.
fn refuse_test(input: &mut Input<'_>, at: usize) -> Parsed<()> {
    match opt(peek(one_of(['=', '!', '<', '>', '^', '$', '*', '~']))).parse_next(input)? {
        Some(_) => refuse(at, A_KEYWORD),
        None => Ok(()),
    }
}

fn condition(input: &mut Input<'_>) -> Parsed<Query> {
    let (text, at) = (input.state.cloned(), input.current_token_start());
    let mut place = Position { text, column: at, literals: Vec::new() };
    let column = column(input)?;
    let (test, is_negated) = test(input, &column, &mut place.literals)?;
    let matching = Query::Condition(Condition { column: column.clone(), test, place: place.clone() });
    if !is_negated {
        return Ok(matching);
    }
    let exists = Query::Condition(Condition { column, test: Test::Exists, place });
    Ok(exists.and(!matching))
}

fn column(input: &mut Input<'_>) -> Parsed<String> {
    let at = input.current_token_start();
    let function = opt((word.verify(Metric::is_function), blanks, '(')).parse_next(input)?;
    let Some((function, ..)) = function else { return name(input, at) };
    blanks(input)?;
    // No metric of a metric: the nesting would have no limit.
    let at = input.current_token_start();
    let of = name(input, at)?;
    let function = function.to_ascii_lowercase();
    let mut by = String::new();
    if matches!(function.as_str(), "first" | "last") {
        if !keyword(input, "by")? {
            return refuse(input.current_token_start(), "expected `by` and the column of the key");
        }
        let at = input.current_token_start();
        by = format!(" by {}", name(input, at)?);
    }
    if !symbol(input, ")")? {
        return refuse(input.current_token_start(), "expected `)`");
    }
    Ok(format!("{function}({of}{by})"))
}

/// A column's own name, at `at`.
fn name(input: &mut Input<'_>, at: usize) -> Parsed<String> {
    if opt('`').parse_next(input)?.is_some() {
        return quoted_name(input, at);
    }
    match opt(word).parse_next(input)? {
        Some(word) if !RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(word)) => {
            blanks(input)?;
            Ok(word.to_owned())
        }
        Some(_) => refuse(at, A_KEYWORD),
        None => refuse(at, "expected a column, `not` or `(`"),
    }
}

/// A quoted name after its opening backtick at `at`.
fn quoted_name(input: &mut Input<'_>, at: usize) -> Parsed<String> {
    let mut name = String::new();
    loop {
        name.push_str(take_till(0.., '`').parse_next(input)?);
        if opt('`').parse_next(input)?.is_none() {
            return refuse(at, "expected a closing backtick");
        }
        if opt('`').parse_next(input)?.is_none() {
            blanks(input)?;
            return Ok(name);
        }
        name.push('`');
    }
}

/// A test, and whether a document matches if it has a value and none passes. Appends the positions of its literals to
/// `places`.
fn test(input: &mut Input<'_>, column: &str, places: &mut Vec<usize>) -> Parsed<(Test, bool)> {
    refuse_sql(input, None)?;
    if let Some(operator) = opt(alt(("^=", "$=", "*=", "~", "!~"))).parse_next(input)? {
        blanks(input)?;
        let value = literal(input, places)?;
        let ignores_case = keyword(input, "i")?;
        let kind = match operator {
            "^=" if !ignores_case => return Ok((Test::Prefix(value), false)),
            "^=" => PatternKind::StartsWith,
            "$=" => PatternKind::EndsWith,
            "*=" => PatternKind::Contains,
            _ => PatternKind::Regex,
        };
        return Ok((matches(kind, value, ignores_case), operator == "!~"));
    }
    if let Some(operator) = opt(alt(("==", "=", "!=", "<=", "<", ">=", ">"))).parse_next(input)? {
        blanks(input)?;
        return comparison(input, operator, places);
    }
    listed(input, column, places).map(|test| (test, false))
}

fn matches(kind: PatternKind, value: Literal, ignores_case: bool) -> Test {
    let pattern = Pattern::new(kind, value);
    Test::Matches(if ignores_case { pattern.ignore_case() } else { pattern })
}

/// A comparison with a literal or a column, after its operator.
fn comparison(input: &mut Input<'_>, operator: &str, places: &mut Vec<usize>) -> Parsed<(Test, bool)> {
    use std::ops::Bound::{Excluded, Included, Unbounded};
    if let Some(other) = other_column(input, places)? {
        let comparison = match operator {
            "!=" => Comparison::NotEqual,
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterOrEqual,
            _ => Comparison::Equal,
        };
        return Ok((Test::Column(comparison, other), false));
    }
    let value = literal(input, places)?;
    let is_equality = matches!(operator, "=" | "==" | "!=");
    if is_equality && matches!(value, Literal::Text(_)) && keyword(input, "i")? {
        return Ok((matches(PatternKind::Equals, value, true), operator == "!="));
    }
    let test = match operator {
        "!=" => Test::NotIn(vec![value]),
        "<" => Test::Range(Unbounded, Excluded(value)),
        "<=" => Test::Range(Unbounded, Included(value)),
        ">" => Test::Range(Excluded(value), Unbounded),
        ">=" => Test::Range(Included(value), Unbounded),
        _ => Test::In(vec![value]),
    };
    Ok((test, false))
}

/// The column that comes next, if no literal does. Appends its position to `places`.
fn other_column(input: &mut Input<'_>, places: &mut Vec<usize>) -> Parsed<Option<String>> {
    let at = input.current_token_start();
    let is_bytes = opt(peek(alt(("x'", "X'")))).parse_next(input)?.is_some();
    let next = peek(opt(alt((word, "`")))).parse_next(input)?;
    let is_column = |next: &str| !LITERAL_WORDS.iter().any(|word| word.eq_ignore_ascii_case(next));
    if is_bytes || !next.is_some_and(is_column) {
        return Ok(None);
    }
    if next.is_some_and(|next| next.eq_ignore_ascii_case("null")) {
        return refuse(at, "expected `exists` or `missing` instead of a comparison, found `null`");
    }
    places.push(at);
    column(input).map(Some)
}

/// A test by a keyword.
fn listed(input: &mut Input<'_>, column: &str, places: &mut Vec<usize>) -> Parsed<Test> {
    let at = input.current_token_start();
    if keyword(input, "exists")? {
        return Ok(Test::Exists);
    }
    if keyword(input, "missing")? {
        return Ok(Test::Missing);
    }
    if keyword(input, "not")? {
        refuse_sql(input, Some((at, column)))?;
        if !keyword(input, "in")? || !symbol(input, "(")? {
            return refuse(input.current_token_start(), "expected `in (…)`");
        }
        return list(input, places).map(Test::NotIn);
    }
    if !keyword(input, "in")? {
        return refuse(at, A_TEST);
    }
    if symbol(input, "(")? {
        return list(input, places).map(Test::In);
    }
    range(input, places)
}

/// Literals after an opening parenthesis.
fn list(input: &mut Input<'_>, places: &mut Vec<usize>) -> Parsed<Vec<Literal>> {
    let mut values = Vec::new();
    if symbol(input, ")")? {
        return Ok(values);
    }
    loop {
        values.push(literal(input, places)?);
        if symbol(input, ")")? {
            return Ok(values);
        }
        if !symbol(input, ",")? {
            return refuse(input.current_token_start(), "expected `,` or `)`");
        }
    }
}

fn range(input: &mut Input<'_>, places: &mut Vec<usize>) -> Parsed<Test> {
    use std::ops::Bound::{Excluded, Included};
    let low = literal(input, places)?;
    let without = symbol(input, "<")?;
    if !symbol(input, "..")? {
        return refuse(input.current_token_start(), "expected `..`");
    }
    let with = symbol(input, "=")?;
    let high = literal(input, places)?;
    let low = if without { Excluded(low) } else { Included(low) };
    Ok(Test::Range(low, if with { Included(high) } else { Excluded(high) }))
}
