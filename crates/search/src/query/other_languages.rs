//! Errors for what other query languages write otherwise: they show the equivalent.

use winnow::stream::Location as _;

use super::tokens::{Input, Parsed, keyword, literal, refuse, symbol};
use super::{Literal, Pattern, PatternKind};

/// Fails with the equivalent if a test of SQL comes next: `is null`, `like`, `between`, `<>`.
pub(super) fn refuse_sql(input: &mut Input<'_>) -> Parsed<()> {
    let at = input.current_token_start();
    if symbol(input, "<>")? {
        return refuse(at, "expected `!=`, found `<>`");
    }
    if keyword(input, "is")? {
        let is_not = keyword(input, "not")?;
        let instead = if is_not { "exists" } else { "missing" };
        let found = if is_not { "is not null" } else { "is null" };
        return if keyword(input, "null")? {
            refuse(at, format!("expected `{instead}`, found `{found}`"))
        } else {
            refuse(at, "expected `=`, `exists` or `missing`, found `is`")
        };
    }
    if keyword(input, "between")? {
        return refuse(at, format!("expected {}, found `between`", between(input)));
    }
    if keyword(input, "like")? {
        return refuse(at, format!("expected {}, found `like`", like(input, false)));
    }
    if keyword(input, "ilike")? {
        return refuse(at, format!("expected {}, found `ilike`", like(input, true)));
    }
    Ok(())
}

/// The range after `between`.
fn between(input: &mut Input<'_>) -> String {
    let mut range = || {
        let low = literal(input, &mut Vec::new()).ok()?;
        let high = keyword(input, "and").ok()?.then(|| literal(input, &mut Vec::new()).ok())??;
        Some(format!("`in {low}..={high}`"))
    };
    range().unwrap_or_else(|| "a range such as `in 1..=5`".into())
}

/// The pattern after `like` or `ilike`.
fn like(input: &mut Input<'_>, ignores_case: bool) -> String {
    let Ok(Literal::Text(text)) = literal(input, &mut Vec::new()) else {
        return "`^=` (begins with), `$=` (ends with), `*=` (contains) or `~` (a regular expression)".into();
    };
    let pattern = of_like(&text);
    let pattern = if ignores_case { pattern.ignore_case() } else { pattern };
    format!("`{pattern}`")
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
            let mut expression = String::from("^");
            for c in text.chars() {
                match c {
                    '%' => expression.push_str(".*"),
                    '_' => expression.push('.'),
                    c => expression.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
                }
            }
            Pattern::regex(expression + "$")
        }
    }
}
