//! Errors for SQL operators, with the equivalent in this language.

use winnow::stream::Location as _;

use super::pattern::escape;
use super::print::Name;
use super::tokens::{Input, Parsed, keyword, literal, refuse, symbol};
use super::{Literal, Pattern, PatternKind};

/// Fails with the equivalent if an operator of SQL comes next: `is null`, `like`, `between`, `<>`.
///
/// After a `not`, `negated` has its position and the column before it: the equivalent begins with `not`.
pub(super) fn refuse_sql(input: &mut Input<'_>, negated: Option<(usize, &str)>) -> Parsed<()> {
    let at = negated.map_or(input.current_token_start(), |(at, _)| at);
    let expected = |equivalent: String, found: &str| match negated {
        Some((_, column)) => {
            refuse(at, format!("expected `not {} {equivalent}`, found `not {found}`", Name(column)))
        }
        None => refuse(at, format!("expected `{equivalent}`, found `{found}`")),
    };
    if symbol(input, "<>")? {
        return refuse(at, "expected `!=`, found `<>`");
    }
    if keyword(input, "is")? {
        let is_not = keyword(input, "not")?;
        return match (keyword(input, "null")?, is_not) {
            (true, false) => expected("missing".into(), "is null"),
            (true, true) => expected("exists".into(), "is not null"),
            (false, _) => refuse(at, "expected `=`, `exists` or `missing`, found `is`"),
        };
    }
    if keyword(input, "between")? {
        return expected(between(input), "between");
    }
    for (word, ignores_case) in [("like", false), ("ilike", true)] {
        if keyword(input, word)? {
            return match like(input, ignores_case) {
                Some(equivalent) => expected(equivalent, word),
                None => refuse(at, format!("expected `^=`, `$=`, `*=` or `~`, found `{word}`")),
            };
        }
    }
    Ok(())
}

/// The range after `between`, or an example.
fn between(input: &mut Input<'_>) -> String {
    let mut range = || {
        let low = literal(input, &mut Vec::new()).ok()?;
        let high = keyword(input, "and").ok()?.then(|| literal(input, &mut Vec::new()).ok())??;
        Some(format!("in {low}..={high}"))
    };
    range().unwrap_or_else(|| "in 1..=5".into())
}

/// The pattern after `like` or `ilike`.
fn like(input: &mut Input<'_>, ignores_case: bool) -> Option<String> {
    let Ok(Literal::Text(text)) = literal(input, &mut Vec::new()) else { return None };
    let pattern = of_like(&text);
    Some(if ignores_case { pattern.ignore_case() } else { pattern }.to_string())
}

/// The equivalent of a pattern of SQL.
fn of_like(text: &str) -> Pattern {
    let is_plain = |text: &str| !text.contains(['%', '_']);
    let (start, end) = (text.strip_prefix('%'), text.strip_suffix('%'));
    match (text.strip_prefix('%').and_then(|text| text.strip_suffix('%')), start, end) {
        (Some(middle), ..) if is_plain(middle) => Pattern::contains(middle),
        (_, Some(end), _) if is_plain(end) => Pattern::ends_with(end),
        (.., Some(start)) if is_plain(start) => Pattern::new(PatternKind::StartsWith, start),
        _ if is_plain(text) => Pattern::equals(text),
        _ => {
            // A wildcard of SQL also stands for a line break.
            let mut expression = String::from("(?s)^");
            for c in text.chars() {
                match c {
                    '%' => expression.push_str(".*"),
                    '_' => expression.push('.'),
                    c => expression.push_str(&escape(c.encode_utf8(&mut [0; 4]))),
                }
            }
            Pattern::regex(expression + "$")
        }
    }
}
