//! From text to a query: one function for each rule of the grammar in the [module](super).
//!
//! The first token of a rule decides, so nothing is read twice but the words at which a rule may end, and the time is
//! linear in the text.

use std::sync::Arc;

use winnow::Parser as _;
use winnow::combinator::{alt, opt, peek, preceded};
use winnow::error::{ErrMode, ModalResult, ParserError};
use winnow::stream::{LocatingSlice, Location as _};
use winnow::token::{any, one_of, take_till, take_while};

use super::{Condition, Literal, MAX_DEPTH, MAX_TEXT, Place, Query, QueryError, Test};

/// Words that are no bare column.
pub(super) const RESERVED: [&str; 5] = ["and", "or", "not", "true", "false"];

const A_LITERAL: &str = "expected a number, text in quotes, `true` or `false`";
const A_NUMBER: &str = "expected a number; a day, a time or an address is text, in quotes";
const A_KEYWORD: &str =
    "`and`, `or`, `not`, `true` and `false` are keywords: a column of that name stands in backticks";
const A_TEST: &str = "expected `=`, `!=`, `<`, `<=`, `>`, `>=`, `^=`, `in`, `not in`, `exists` or `missing`";

/// What stands behind a number for how many.
const UNITS: [(&str, i128); 8] = [
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

type Input<'t> = LocatingSlice<&'t str>;
type Parsed<T> = ModalResult<T, Refusal>;

/// What was expected at a byte of the text.
#[derive(Debug)]
struct Refusal {
    at: usize,
    what: &'static str,
}

impl ParserError<Input<'_>> for Refusal {
    type Inner = Refusal;

    fn from_input(input: &Input<'_>) -> Refusal {
        Refusal { at: input.current_token_start(), what: "expected something else" }
    }

    fn into_inner(self) -> Result<Refusal, Refusal> {
        Ok(self)
    }
}

/// Ends the parse: no other rule can go on from here.
fn refuse<T>(at: usize, what: &'static str) -> Parsed<T> {
    Err(ErrMode::Cut(Refusal { at, what }))
}

pub(super) fn parse(text: &str) -> Result<Query, QueryError> {
    if text.len() > MAX_TEXT {
        let what = format!("the query is {} bytes long, and may be {MAX_TEXT}", text.len());
        return Err(QueryError::nowhere(what));
    }
    let text: Arc<str> = text.into();
    let mut input = LocatingSlice::new(&*text);
    let refused = |refusal: Refusal| QueryError::at(text.clone(), refusal.at, refusal.what);
    let unknown = || QueryError::nowhere("the query is not complete");
    let query = whole(&mut input).map_err(|error| error.into_inner().map_or_else(|_| unknown(), refused))?;
    Ok(at_home(query, &text))
}

/// Tells the conditions which text they are from.
fn at_home(query: Query, text: &Arc<str>) -> Query {
    let all = |parts: Vec<Query>| parts.into_iter().map(|part| at_home(part, text)).collect();
    match query {
        Query::Condition(mut condition) => {
            condition.place.text = Some(text.clone());
            Query::Condition(condition)
        }
        Query::And(parts) => Query::And(all(parts)),
        Query::Or(parts) => Query::Or(all(parts)),
        Query::Not(part) => Query::Not(Box::new(at_home(*part, text))),
        Query::All | Query::None | Query::Docs(_) => query,
    }
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
    let deeper = |what| if depth < MAX_DEPTH { Ok(depth + 1) } else { refuse(at, what) };
    if keyword(input, "not")? {
        refuse_test(input, at)?;
        let depth = deeper("no more than 64 parentheses and `not`s stand within each other")?;
        return Ok(!not(input, depth)?);
    }
    if symbol(input, "(")? {
        let depth = deeper("no more than 64 parentheses and `not`s stand within each other")?;
        let query = or(input, depth)?;
        if symbol(input, ")")? {
            return Ok(query);
        }
        return refuse(input.current_token_start(), "expected `and`, `or` or `)`");
    }
    if keyword(input, "true")? {
        refuse_test(input, at)?;
        return Ok(Query::All);
    }
    if keyword(input, "false")? {
        refuse_test(input, at)?;
        return Ok(Query::None);
    }
    condition(input).map(Query::Condition)
}

/// Refuses a keyword which stood `at` and is compared, as only a column can be.
fn refuse_test(input: &mut Input<'_>, at: usize) -> Parsed<()> {
    match opt(peek(one_of(['=', '!', '<', '>', '^']))).parse_next(input)? {
        Some(_) => refuse(at, A_KEYWORD),
        None => Ok(()),
    }
}

fn condition(input: &mut Input<'_>) -> Parsed<Condition> {
    let mut place = Place { column: input.current_token_start(), ..Place::default() };
    let column = column(input)?;
    let test = test(input, &mut place.literals)?;
    Ok(Condition { column, test, place })
}

fn column(input: &mut Input<'_>) -> Parsed<String> {
    let at = input.current_token_start();
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

/// A name behind its first backtick, which stood `at`.
fn quoted_name(input: &mut Input<'_>, at: usize) -> Parsed<String> {
    let mut name = String::new();
    loop {
        name.push_str(take_till(0.., '`').parse_next(input)?);
        if opt('`').parse_next(input)?.is_none() {
            return refuse(at, "this name has no end: expected another backtick");
        }
        if opt('`').parse_next(input)?.is_none() {
            blanks(input)?;
            return Ok(name);
        }
        name.push('`');
    }
}

/// What a value must be; notes where its literals stand.
fn test(input: &mut Input<'_>, places: &mut Vec<usize>) -> Parsed<Test> {
    use std::ops::Bound::{Excluded, Included, Unbounded};
    let at = input.current_token_start();
    let operators = ("==", "=", "!=", "<=", "<", ">=", ">", "^=");
    if let Some(operator) = opt(alt(operators)).parse_next(input)? {
        blanks(input)?;
        let value = literal(input, places)?;
        return Ok(match operator {
            "!=" => Test::NotIn(vec![value]),
            "<" => Test::Range(Unbounded, Excluded(value)),
            "<=" => Test::Range(Unbounded, Included(value)),
            ">" => Test::Range(Excluded(value), Unbounded),
            ">=" => Test::Range(Included(value), Unbounded),
            "^=" => Test::Prefix(value),
            _ => Test::In(vec![value]),
        });
    }
    if keyword(input, "exists")? {
        return Ok(Test::Exists);
    }
    if keyword(input, "missing")? {
        return Ok(Test::Missing);
    }
    if keyword(input, "not")? {
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

/// Literals behind an opening parenthesis.
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

fn literal(input: &mut Input<'_>, places: &mut Vec<usize>) -> Parsed<Literal> {
    let at = input.current_token_start();
    places.push(at);
    let value = match peek(opt(any)).parse_next(input)? {
        Some(quote @ ('"' | '\'')) => text(input, quote).map(Literal::Text),
        Some('0'..='9' | '+' | '-') => number(input),
        Some(_) if opt(alt(("x'", "X'"))).parse_next(input)?.is_some() => bytes(input).map(Literal::Bytes),
        _ => {
            let word = take_while(0.., char::is_alphanumeric).parse_next(input)?;
            match word.to_ascii_lowercase().as_str() {
                "true" => Ok(Literal::Bool(true)),
                "false" => Ok(Literal::Bool(false)),
                "inf" => Ok(Literal::Float(f64::INFINITY)),
                "nan" => Ok(Literal::Float(f64::NAN)),
                _ => refuse(at, A_LITERAL),
            }
        }
    }?;
    blanks(input)?;
    Ok(value)
}

/// A text that is a number, with or without a unit.
pub(super) fn as_number(text: &str) -> Option<Literal> {
    let mut input = LocatingSlice::new(text);
    number(&mut input).ok().filter(|_| input.is_empty())
}

fn number(input: &mut Input<'_>) -> Parsed<Literal> {
    let at = input.current_token_start();
    let sign = opt(one_of(['+', '-'])).parse_next(input)?;
    let minus = if sign == Some('-') { "-" } else { "" };
    let mut infinite =
        opt(take_while(1.., char::is_alphanumeric).verify(|word: &str| word.eq_ignore_ascii_case("inf")));
    if sign.is_some() && infinite.parse_next(input)?.is_some() {
        return Ok(Literal::Float(if minus.is_empty() { f64::INFINITY } else { f64::NEG_INFINITY }));
    }
    let Some(whole) = opt(digits).parse_next(input)? else { return refuse(at, A_NUMBER) };
    let fraction = opt(preceded('.', digits)).parse_next(input)?;
    let exponent = (one_of(['e', 'E']), opt(one_of(['+', '-'])), digits);
    let exponent = opt(exponent.take()).parse_next(input)?;
    let unit = take_while(0.., char::is_alphabetic).parse_next(input)?;
    // `2024-01-01` and `10.0.0.1` begin with numbers, too.
    let next = peek(opt(alt(("..", take_while(1, is_name_like))))).parse_next(input)?;
    if next.is_some_and(|next| next != "..") {
        return refuse(at, A_NUMBER);
    }
    let plain = |digits: &str| digits.replace('_', "");
    let whole = format!("{minus}{}", plain(whole));
    if !unit.is_empty() {
        let unit = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit) && exponent.is_none());
        let Some(&(_, unit)) = unit else { return refuse(at, A_NUMBER) };
        let value = times(&whole, &fraction.map(plain).unwrap_or_default(), unit);
        return value.map_or_else(|| refuse(at, "the number is too large"), Ok);
    }
    if fraction.is_none() && exponent.is_none() {
        return whole.parse().map(Literal::Int).or_else(|_| refuse(at, "the number is too large"));
    }
    let fraction = fraction.map(|fraction| format!(".{fraction}")).unwrap_or_default();
    let value: Option<f64> =
        plain(&format!("{whole}{fraction}{}", exponent.unwrap_or_default())).parse().ok();
    match value.filter(|value| value.is_finite()) {
        Some(value) => Ok(Literal::Float(value)),
        None => refuse(at, "the number is too large for a double"),
    }
}

/// So many units: a whole number if it is one.
fn times(whole: &str, fraction: &str, unit: i128) -> Option<Literal> {
    let fraction = fraction.trim_end_matches('0');
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let scale = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let product = digits.checked_mul(unit)?;
    if product % scale == 0 {
        return Some(Literal::Int(product / scale));
    }
    let factor: f64 = format!("{whole}.{fraction}e0").parse().ok()?;
    // Units are far below 2^53.
    let unit: f64 = unit.to_string().parse().ok()?;
    Some(Literal::Float(factor * unit))
}

fn digits<'t>(input: &mut Input<'t>) -> Parsed<&'t str> {
    (one_of('0'..='9'), take_while(0.., ('0'..='9', '_'))).take().parse_next(input)
}

/// What may not stand right behind a number.
fn is_name_like(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.' | ':' | '/')
}

/// Hexadecimal digits behind `x'`.
fn bytes(input: &mut Input<'_>) -> Parsed<Vec<u8>> {
    let at = input.current_token_start();
    let digits = take_while(0.., |c: char| c.is_ascii_hexdigit()).parse_next(input)?;
    if opt('\'').parse_next(input)?.is_none() {
        return refuse(input.current_token_start(), "expected a hexadecimal digit or a quote");
    }
    match from_hex(digits) {
        Some(bytes) => Ok(bytes),
        None => refuse(at, "expected two hexadecimal digits for each byte"),
    }
}

/// The bytes that hexadecimal digits stand for, two each.
pub(super) fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return None };
    let byte = |pair: &[u8; 2]| {
        let [high, low] = (*pair).map(|digit| char::from(digit).to_digit(16));
        u8::try_from(high? * 16 + low?).ok()
    };
    pairs.iter().map(byte).collect()
}

fn text(input: &mut Input<'_>, quote: char) -> Parsed<String> {
    let start = input.current_token_start();
    any.parse_next(input)?;
    let mut text = String::new();
    loop {
        text.push_str(take_till(0.., [quote, '\\']).parse_next(input)?);
        let at = input.current_token_start();
        match opt(any).parse_next(input)? {
            Some('\\') => match escape(input)? {
                Some(c) => text.push(c),
                None => return refuse(at, r#"expected an escape: \\, \", \', \n, \r, \t, \0 or \u{…}"#),
            },
            Some(_) => return Ok(text),
            None => return refuse(start, "this text has no end: expected another quote"),
        }
    }
}

/// What stands behind a backslash.
fn escape(input: &mut Input<'_>) -> Parsed<Option<char>> {
    Ok(match opt(any).parse_next(input)? {
        Some(c @ ('\\' | '"' | '\'')) => Some(c),
        Some('n') => Some('\n'),
        Some('r') => Some('\r'),
        Some('t') => Some('\t'),
        Some('0') => Some('\0'),
        Some('u') => {
            let digits = take_while(1..=6, |c: char| c.is_ascii_hexdigit());
            let digits = opt(('{', digits, '}')).parse_next(input)?;
            digits.and_then(|(_, digits, _)| char::from_u32(u32::from_str_radix(digits, 16).ok()?))
        }
        _ => None,
    })
}

/// Whether `wanted` comes next; if so, goes behind it and the blanks after it.
fn keyword(input: &mut Input<'_>, wanted: &str) -> Parsed<bool> {
    let found = opt(word.verify(|word: &str| word.eq_ignore_ascii_case(wanted))).parse_next(input)?.is_some();
    if found {
        blanks(input)?;
    }
    Ok(found)
}

/// The same for a symbol.
fn symbol(input: &mut Input<'_>, wanted: &'static str) -> Parsed<bool> {
    let found = opt(wanted).parse_next(input)?.is_some();
    if found {
        blanks(input)?;
    }
    Ok(found)
}

fn word<'t>(input: &mut Input<'t>) -> Parsed<&'t str> {
    (one_of(starts_word), take_while(0.., goes_on)).take().parse_next(input)
}

fn starts_word(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '@'
}

fn goes_on(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '-')
}

/// Whether `name` is a word of the language.
pub(super) fn is_word(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(starts_word) && chars.all(goes_on)
}

fn blanks(input: &mut Input<'_>) -> Parsed<()> {
    take_while(0.., char::is_whitespace).void().parse_next(input)
}
