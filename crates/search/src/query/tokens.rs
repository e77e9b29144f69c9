//! Tokens of the query language: keywords, symbols, names and literals.
//!
//! The rules that combine them are in [`grammar`](super::grammar).

use std::borrow::Cow;
use std::sync::Arc;

use docvalues_format::strings::append_hex;
use winnow::Parser as _;
use winnow::combinator::{alt, opt, peek, preceded};
use winnow::error::{ErrMode, ModalResult, ParserError};
use winnow::stream::{LocatingSlice, Location as _, Stateful};
use winnow::token::{any, one_of, take_till, take_while};

use super::Literal;

const A_LITERAL: &str = "expected a number, text in quotes, `true` or `false`";
const A_NUMBER: &str = "expected a number; days, times and addresses are written in quotes";

/// Units after a number.
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

/// The rest of a text; of a query, with its whole text, which conditions keep.
pub(super) type Input<'t> = Stateful<LocatingSlice<&'t str>, Option<&'t Arc<str>>>;
pub(super) type Parsed<T> = ModalResult<T, Refusal>;

/// An error at a byte of the text.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) at: usize,
    pub(super) what: Cow<'static, str>,
}

impl ParserError<Input<'_>> for Refusal {
    type Inner = Refusal;

    fn from_input(input: &Input<'_>) -> Refusal {
        Refusal { at: input.current_token_start(), what: "expected something else".into() }
    }

    fn into_inner(self) -> Result<Refusal, Refusal> {
        Ok(self)
    }
}

/// Fails without trying other rules.
pub(super) fn refuse<T>(at: usize, what: impl Into<Cow<'static, str>>) -> Parsed<T> {
    Err(ErrMode::Cut(Refusal { at, what: what.into() }))
}

pub(super) fn literal(input: &mut Input<'_>, places: &mut Vec<usize>) -> Parsed<Literal> {
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

/// Parses a text that is a number as a whole, with or without a unit.
pub(super) fn as_number(text: &str) -> Option<Literal> {
    let mut input = Input { input: LocatingSlice::new(text), state: None };
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
    // `2024-01-01` and `10.0.0.1` also begin with a number.
    let next = peek(opt(alt(("..", take_while(1, is_name_like))))).parse_next(input)?;
    if next.is_some_and(|next| next != "..") {
        return refuse(at, A_NUMBER);
    }
    let plain = |digits: &str| digits.replace('_', "");
    let whole = format!("{minus}{}", plain(whole));
    if !unit.is_empty() {
        let unit = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit) && exponent.is_none());
        let Some(&(_, unit)) = unit else { return refuse(at, A_NUMBER) };
        let value = scaled(&whole, &fraction.map(plain).unwrap_or_default(), unit);
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

/// Multiplies a decimal number by a unit; the result is an integer if it is one.
fn scaled(whole: &str, fraction: &str, unit: i128) -> Option<Literal> {
    let fraction = fraction.trim_end_matches('0');
    let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
    let scale = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let product = digits.checked_mul(unit)?;
    if product % scale == 0 {
        return Some(Literal::Int(product / scale));
    }
    let factor: f64 = format!("{whole}.{fraction}e0").parse().ok()?;
    // Exact, since units are far below 2^53.
    let unit: f64 = unit.to_string().parse().ok()?;
    Some(Literal::Float(factor * unit))
}

fn digits<'t>(input: &mut Input<'t>) -> Parsed<&'t str> {
    (one_of('0'..='9'), take_while(0.., ('0'..='9', '_'))).take().parse_next(input)
}

/// A character that must not follow a number.
fn is_name_like(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.' | ':' | '/')
}

/// Hexadecimal digits after `x'`.
fn bytes(input: &mut Input<'_>) -> Parsed<Vec<u8>> {
    let at = input.current_token_start();
    let digits = take_while(0.., |c: char| c.is_ascii_hexdigit()).parse_next(input)?;
    if opt('\'').parse_next(input)?.is_none() {
        return refuse(input.current_token_start(), "expected a hexadecimal digit or a quote");
    }
    let mut bytes = Vec::new();
    match append_hex(digits.as_bytes(), &mut bytes) {
        Some(()) => Ok(bytes),
        None => refuse(at, "expected two hexadecimal digits for each byte"),
    }
}

/// Text in quotes. A backslash stands for itself; a quote in the text is doubled.
fn text(input: &mut Input<'_>, quote: char) -> Parsed<String> {
    let start = input.current_token_start();
    any.parse_next(input)?;
    let mut text = String::new();
    loop {
        text.push_str(take_till(0.., quote).parse_next(input)?);
        if opt(quote).parse_next(input)?.is_none() {
            return refuse(start, "expected a closing quote");
        }
        let end = input.current_token_start();
        match peek(opt(any)).parse_next(input)? {
            Some(next) if next == quote => text.push(quote),
            // An escape of other languages.
            Some(next) if next.is_alphanumeric() && text.ends_with('\\') => {
                let what = format!("expected `{quote}{quote}` for a quote in text, found `\\{quote}`");
                return refuse(end - 2, what);
            }
            _ => return Ok(text),
        }
        any.parse_next(input)?;
    }
}

/// Consumes the keyword `wanted` and the blanks after it, if it comes next.
pub(super) fn keyword(input: &mut Input<'_>, wanted: &str) -> Parsed<bool> {
    let found = opt(word.verify(|word: &str| word.eq_ignore_ascii_case(wanted))).parse_next(input)?.is_some();
    if found {
        blanks(input)?;
    }
    Ok(found)
}

/// Consumes a symbol and the blanks after it, if it comes next.
pub(super) fn symbol(input: &mut Input<'_>, wanted: &'static str) -> Parsed<bool> {
    let found = opt(wanted).parse_next(input)?.is_some();
    if found {
        blanks(input)?;
    }
    Ok(found)
}

pub(super) fn word<'t>(input: &mut Input<'t>) -> Parsed<&'t str> {
    (one_of(starts_word), take_while(0.., goes_on)).take().parse_next(input)
}

fn starts_word(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '@'
}

fn goes_on(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '-')
}

/// Whether `name` is a word of the grammar.
pub(super) fn is_word(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(starts_word) && chars.all(goes_on)
}

pub(super) fn blanks(input: &mut Input<'_>) -> Parsed<()> {
    take_while(0.., char::is_whitespace).void().parse_next(input)
}
