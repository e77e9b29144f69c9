//! Words of messages: texts in error, lists of names, and names that were meant.

use strsim::levenshtein;

use super::quoting::{printable, quoted_name};

/// The length to which messages cut text in error, in characters.
const SHOWN: usize = 60;

/// A problem with the text in error: "expected X" continues with ", found".
pub(crate) fn with_text(problem: &str, text: &str) -> String {
    let last = problem.rsplit(": ").next().unwrap_or_default();
    let is_syntax = problem.starts_with("invalid JSON");
    let expects = last.starts_with("expected ") && !last.contains(", found ") && !is_syntax;
    format!("{problem}{}{text}", if expects { ", found " } else { ": " })
}

/// `text` in quotes, control characters escaped, cut after some 60 characters with its length.
pub(crate) fn excerpt(text: &[u8]) -> String {
    // Enough bytes for the characters shown, whatever their length.
    let head = String::from_utf8_lossy(&text[..text.len().min(SHOWN * 4)]);
    let shown = printable(&head.chars().take(SHOWN).collect::<String>());
    let cut = head.chars().count() > SHOWN || text.len() > SHOWN * 4;
    if cut { format!("\"{shown}…\" ({} bytes)", text.len()) } else { format!("\"{shown}\"") }
}

/// The candidate closest to `name`, for "did you mean".
pub(crate) fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = name.chars().count() / 3 + 1;
    let lower = name.to_lowercase();
    candidates
        .map(|candidate| (levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Advice for an unknown `name`: the closest of `names`, if one is close, or else the text of `others`.
pub(crate) fn meant<'a>(
    name: &str,
    names: impl Iterator<Item = &'a str>,
    others: impl FnOnce() -> String,
) -> String {
    closest(name, names).map_or_else(others, |close| format!("did you mean {}?", quoted_name(close)))
}

/// Names in quotes, separated by commas.
pub(crate) fn quoted_list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_hostile_texts_are_cut_and_escaped() {
        assert_eq!(excerpt(&[b'a'; 100]), format!("\"{}…\" (100 bytes)", "a".repeat(60)));
        assert_eq!(excerpt("é".repeat(60).as_bytes()), format!("\"{}\"", "é".repeat(60)));
        assert_eq!(excerpt(b"\x1b[2J"), r#""\u{1b}[2J""#);
        assert_eq!(excerpt(b"\xff"), "\"\u{fffd}\"");
    }

    #[test]
    fn close_names_are_found() {
        let names = ["size", "installed_size", "Speed IAS in knots"];
        assert_eq!(closest("sise", names.into_iter()), Some("size"));
        assert_eq!(closest("SIZE", names.into_iter()), Some("size"));
        assert_eq!(closest("speed ias in knot", names.into_iter()), Some("Speed IAS in knots"));
        assert_eq!(closest("colour", names.into_iter()), None);
    }
}
