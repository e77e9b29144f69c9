//! Patterns that text and bytes are compared with: parts of a value, regular expressions, and both without regard to
//! case.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Mutex;

use memchr::memmem::Finder;
#[cfg(feature = "regex")]
use regex_automata::{meta, util::syntax};

use super::Literal;
use super::convert_literal::Mismatch;
use super::range_set::RangeSet;
use crate::engine::threads::lock;

/// The most memory for a compiled pattern, in bytes.
#[cfg(feature = "regex")]
const MAX_COMPILED: usize = 4 << 20;

/// The most memory for all compiled patterns of a query, in bytes.
const MAX_ALL: usize = 64 << 20;

/// The most memory for the states that a thread caches for one pattern, in bytes.
#[cfg(feature = "regex")]
const MAX_DFA: usize = 1 << 20;

/// The most levels of groups and repetitions in an expression. Compiling one takes stack for each level.
#[cfg(feature = "regex")]
const MAX_NESTED: u32 = 64;

/// The part of a value that a [`Pattern`] is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatternKind {
    /// The value is the text.
    Equals,
    /// The value begins with the text.
    StartsWith,
    /// The value ends with the text.
    EndsWith,
    /// The value contains the text.
    Contains,
    /// The value contains a match of the regular expression.
    Regex,
}

/// A test of text or bytes.
///
/// Regular expressions, and patterns that ignore case, need the feature `regex`: without it, binding them to a column
/// fails. They run in time linear in the value, by [`regex-automata`](https://docs.rs/regex-automata). Case is ignored by
/// Unicode's simple case folding: `"ß"` and `"SS"` differ.
///
/// ```
/// use docvalues_search::Query;
/// use docvalues_search::query::Pattern;
///
/// let built = Query::matches("path", Pattern::regex(r"/v[0-9]+/"));
/// assert_eq!(Query::parse("path ~ '/v[0-9]+/'")?, built);
/// # Ok::<(), docvalues_search::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    kind: PatternKind,
    literal: Literal,
    ignores_case: bool,
}

impl Pattern {
    /// A pattern of this kind. Only text and bytes can be bound to a column, and only text as a regular expression.
    pub fn new(kind: PatternKind, literal: impl Into<Literal>) -> Pattern {
        Pattern { kind, literal: literal.into(), ignores_case: false }
    }

    /// Values equal to `literal`; the same as a comparison by `=`, unless case is ignored.
    pub fn equals(literal: impl Into<Literal>) -> Pattern {
        Pattern::new(PatternKind::Equals, literal)
    }

    /// Values that end with `literal`.
    pub fn ends_with(literal: impl Into<Literal>) -> Pattern {
        Pattern::new(PatternKind::EndsWith, literal)
    }

    /// Values that contain `literal`.
    pub fn contains(literal: impl Into<Literal>) -> Pattern {
        Pattern::new(PatternKind::Contains, literal)
    }

    /// Values with a match of a regular expression, which is checked when the query is bound.
    pub fn regex(expression: impl Into<String>) -> Pattern {
        Pattern::new(PatternKind::Regex, expression.into())
    }

    /// Ignores case.
    #[must_use]
    pub fn ignore_case(self) -> Pattern {
        Pattern { ignores_case: true, ..self }
    }

    /// The part of a value that is compared.
    pub fn kind(&self) -> PatternKind {
        self.kind
    }

    /// The text, the bytes or the regular expression.
    pub fn literal(&self) -> &Literal {
        &self.literal
    }

    /// Whether case is ignored.
    pub fn ignores_case(&self) -> bool {
        self.ignores_case
    }

    /// The pattern as a regular expression.
    fn expression(&self) -> Result<String, Mismatch> {
        let text = match (&self.literal, self.kind) {
            (Literal::Text(text), PatternKind::Regex) => text.clone(),
            (Literal::Text(text), _) => escape(text),
            (_, PatternKind::Regex) => return Err("a regular expression, in quotes"),
            (Literal::Bytes(bytes), _) => escape_bytes(bytes),
            _ => return Err("text in quotes, or bytes"),
        };
        Ok(match self.kind {
            PatternKind::Equals => format!(r"\A(?:{text})\z"),
            PatternKind::StartsWith => format!(r"\A(?:{text})"),
            PatternKind::EndsWith => format!(r"(?:{text})\z"),
            PatternKind::Contains | PatternKind::Regex => text,
        })
    }

    /// The bytes to look for, if that is all there is to do.
    fn bytes(&self) -> Option<&[u8]> {
        match (&self.literal, self.kind) {
            _ if self.ignores_case => None,
            (_, PatternKind::Regex) => None,
            (Literal::Text(text), _) => Some(text.as_bytes()),
            (Literal::Bytes(bytes), _) => Some(bytes),
            _ => None,
        }
    }
}

/// A test of byte strings: ranges, or a compiled pattern.
#[derive(Clone, Debug)]
pub(super) enum Matcher {
    Ranges(RangeSet<Vec<u8>>),
    Bytes(PatternKind, Box<Finder<'static>>),
    #[cfg(feature = "regex")]
    Regex(meta::Regex),
}

impl Matcher {
    /// Whether a value matches.
    pub(super) fn is_match(&self, value: &[u8]) -> bool {
        match self {
            Matcher::Ranges(ranges) => ranges.contains(value),
            Matcher::Bytes(PatternKind::Equals, finder) => value == finder.needle(),
            Matcher::Bytes(PatternKind::StartsWith, finder) => value.starts_with(finder.needle()),
            Matcher::Bytes(PatternKind::EndsWith, finder) => value.ends_with(finder.needle()),
            Matcher::Bytes(PatternKind::Contains | PatternKind::Regex, finder) => {
                finder.find(value).is_some()
            }
            #[cfg(feature = "regex")]
            Matcher::Regex(regex) => regex.is_match(value),
        }
    }
}

/// The compiled patterns of a query, shared by the parts of a search.
#[derive(Debug, Default)]
pub(super) struct CompiledPatterns(Mutex<Compiled>);

#[derive(Debug, Default)]
struct Compiled {
    /// By expression, and whether case is ignored.
    known: HashMap<(String, bool), Matcher>,
    /// An upper bound of their memory.
    bytes: usize,
}

impl CompiledPatterns {
    /// The compiled form of a pattern, which is made once. The inner error is the message of a wrong expression, or says
    /// that patterns take too much memory.
    pub(super) fn get(&self, pattern: &Pattern) -> Result<Result<Matcher, String>, Mismatch> {
        let key = (pattern.expression()?, pattern.ignores_case);
        let mut compiled = lock(&self.0);
        if let Some(known) = compiled.known.get(&key) {
            return Ok(Ok(known.clone()));
        }
        let of_bytes = |bytes| Matcher::Bytes(pattern.kind, Box::new(Finder::new(bytes).into_owned()));
        let built = match pattern.bytes() {
            Some(bytes) => Ok((of_bytes(bytes), bytes.len())),
            None => compile(&key.0, key.1),
        };
        let (matcher, bytes) = match built {
            Ok(built) => built,
            Err(what) => return Ok(Err(what)),
        };
        compiled.bytes += bytes + key.0.len();
        if compiled.bytes > MAX_ALL {
            let what = format!("the patterns of the query take more than {} MiB", MAX_ALL >> 20);
            return Ok(Err(what));
        }
        compiled.known.insert(key, matcher.clone());
        Ok(Ok(matcher))
    }
}

/// Says that this build has no regular expressions.
#[cfg(not(feature = "regex"))]
fn compile(_expression: &str, _ignores_case: bool) -> Result<(Matcher, usize), String> {
    Err("regular expressions and text without regard to case need the feature `regex` of docvalues".into())
}

/// Compiles an expression. Returns an upper bound of its memory, too.
#[cfg(feature = "regex")]
fn compile(expression: &str, ignores_case: bool) -> Result<(Matcher, usize), String> {
    // Values need not be UTF-8.
    let syntax = syntax::Config::new().utf8(false).case_insensitive(ignores_case).nest_limit(MAX_NESTED);
    for limit in [MAX_COMPILED >> 8, MAX_COMPILED >> 4, MAX_COMPILED] {
        let config =
            meta::Config::new().utf8_empty(false).nfa_size_limit(Some(limit)).hybrid_cache_capacity(MAX_DFA);
        match meta::Regex::builder().syntax(syntax).configure(config).build(expression) {
            Ok(regex) => return Ok((Matcher::Regex(regex), limit)),
            Err(error) if error.size_limit().is_some() => {}
            Err(error) => return Err(wrong(&error)),
        }
    }
    Err(format!("the pattern takes more than {} MiB", MAX_COMPILED >> 20))
}

/// The message of a wrong expression: the last line of the crate's, without the drawing of the place above it.
#[cfg(feature = "regex")]
fn wrong(error: &meta::BuildError) -> String {
    let text = error.syntax_error().map_or_else(|| error.to_string(), ToString::to_string);
    let last = text.lines().last().unwrap_or_default();
    format!("wrong regular expression: {}", last.trim_start_matches("error: "))
}

/// An expression that matches this text only.
pub(super) fn escape(text: &str) -> String {
    let mut expression = String::with_capacity(text.len());
    for c in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(c) {
            expression.push('\\');
        }
        expression.push(c);
    }
    expression
}

/// An expression that matches these bytes only.
fn escape_bytes(bytes: &[u8]) -> String {
    let mut text = String::from("(?-u:");
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "\\x{byte:02x}");
    }
    text.push(')');
    text
}
