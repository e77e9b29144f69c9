//! Quoting and escaping.

use std::borrow::Cow;

use indicatif::HumanCount;

/// Quotes the text of `out` from `start` on if CSV requires it or `also` returns true.
pub(crate) fn quote_csv(out: &mut String, start: usize, delimiter: char, also: impl Fn(&str) -> bool) {
    let text = out.get(start..).unwrap_or_default();
    let special = |c: char| c == delimiter || matches!(c, '"' | '\n' | '\r');
    if text.contains(special) || also(text) {
        let quoted = format!("\"{}\"", text.replace('"', "\"\""));
        out.replace_range(start.., &quoted);
    }
}

/// As [`quote_csv`], for a value: quotes it also if it would be read as a missing one otherwise, which `token` may stand for.
pub(crate) fn quote_csv_value(out: &mut String, start: usize, delimiter: char, token: Option<&str>) {
    quote_csv(out, start, delimiter, |text| matches!(text, "" | "NA" | "null") || Some(text) == token);
}

/// Appends `text` as a JSON string.
pub(crate) fn json_string(text: &str, out: &mut String) {
    use std::fmt::Write as _;
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c < ' ' || matches!(c, '"' | '\\')) {
        let (plain, from) = rest.split_at(at);
        out.push_str(plain);
        match from.as_bytes()[0] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            control => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{control:04x}");
            }
        }
        rest = from.get(1..).unwrap_or_default();
    }
    out.push_str(rest);
    out.push('"');
}

/// `text` as a JSON string.
pub(crate) fn json_text(text: &str) -> String {
    let mut out = String::new();
    json_string(text, &mut out);
    out
}

/// Appends each item by `each`, with a separator between them.
pub(crate) fn joined<T>(
    items: impl IntoIterator<Item = T>,
    separator: &str,
    out: &mut String,
    mut each: impl FnMut(T, &mut String),
) {
    for (index, item) in items.into_iter().enumerate() {
        out.push_str(if index > 0 { separator } else { "" });
        each(item, out);
    }
}

/// Appends two hexadecimal digits.
pub(crate) fn hex(byte: u8, out: &mut String) {
    for digit in [byte >> 4, byte & 15] {
        out.push(char::from_digit(digit.into(), 16).unwrap_or('0'));
    }
}

/// A number with thousands separators.
pub(crate) fn thousands(number: u64) -> String {
    HumanCount(number).to_string()
}

/// A number of things, such as `1 document` and `2 documents`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(count), if count == 1 { one } else { many })
}

/// `part` / `whole`, rounded to `digits` decimals.
pub(crate) fn decimal(part: u64, whole: u64, digits: u32) -> String {
    let scale = 10u128.pow(digits);
    let whole = u128::from(whole.max(1));
    let rounded = (u128::from(part) * scale + whole / 2) / whole;
    let width = usize::try_from(digits).unwrap_or(0);
    let front = thousands(u64::try_from(rounded / scale).unwrap_or(u64::MAX));
    if width == 0 { front } else { format!("{front}.{:0width$}", rounded % scale) }
}

/// Whether a terminal acts on a character: a control character, or one that changes the direction of text.
fn is_control(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text for a line of a table or a message, with control characters escaped.
pub(crate) fn printable(text: &str) -> String {
    escape(text, is_control).into_owned()
}

/// Text for a terminal, with control characters escaped, except those that end lines and cells.
pub(crate) fn for_terminal(text: &str) -> Cow<'_, str> {
    escape(text, |c| is_control(c) && !matches!(c, '\n' | '\t'))
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_escaped(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// An argument, quoted if a shell would split or expand it.
pub(crate) fn shell_word(argument: &str) -> Cow<'_, str> {
    let safe = |c: char| c.is_ascii_alphanumeric() || "._-/:@%+,=".contains(c);
    if !argument.is_empty() && argument.chars().all(safe) {
        Cow::Borrowed(argument)
    } else {
        Cow::Owned(format!("'{}'", argument.replace('\'', r"'\''")))
    }
}

/// An option with a value, quoted for a shell.
pub(crate) fn option(name: &str, value: &str) -> String {
    // A value that begins with a dash is an option after a blank.
    let after = if value.starts_with('-') { "=" } else { " " };
    format!("{name}{after}{}", shell_word(value))
}

/// A name in quotes, in which a shell takes it as an argument.
pub(crate) fn quoted_name(name: &str) -> String {
    match name.contains(['$', '`', '\\', '!', '"']) {
        true => shell_word(name).into_owned(),
        false => format!("{name:?}"),
    }
}

/// The path of a column in a program of jq.
pub(crate) fn jq_path(name: &str) -> String {
    let is_word = |key: &str| {
        key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !key.starts_with(|c: char| c.is_ascii_digit())
    };
    let key = |key: &str| {
        if is_word(key) && !key.is_empty() { format!(".{key}") } else { format!(".{}", json_text(key)) }
    };
    name.split('.').map(key).collect()
}

/// The most columns or files that a message names.
pub(crate) const NAMED: usize = 3;

/// The first `shown` names, and the number of others.
pub(crate) fn first_few(names: impl ExactSizeIterator<Item = String>, shown: usize) -> String {
    let more = names.len().saturating_sub(shown);
    let named = names.take(shown).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{named} and {more} more") } else { named }
}

/// Names columns for a message: the first few, and the number of others.
pub(crate) fn named_columns<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let columns = if names.len() == 1 { "column" } else { "columns" };
    format!("{columns} {}", first_few(names.map(|name| format!("{name:?}")), NAMED))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn thousands_are_grouped() {
        let shown: Vec<_> = [0, 999, 1000, 63_440, 1_234_567].into_iter().map(thousands).collect();
        assert_eq!(shown, ["0", "999", "1,000", "63,440", "1,234,567"]);
    }

    #[test]
    fn characters_on_which_a_terminal_acts_are_escaped() {
        let active = "\x1b[2J\r\x07\x7f\u{9b}\u{202e}\u{2066}\u{200f}\u{61c}\u{2028}";
        let shown = r"\u{1b}[2J\r\u{7}\u{7f}\u{9b}\u{202e}\u{2066}\u{200f}\u{61c}\u{2028}";
        assert_eq!(for_terminal(&format!("a\tb\n{active}")), format!("a\tb\n{shown}"));
        assert_eq!(printable(&format!("a\tb\n{active}")), format!("a\\tb\\n{shown}"));
        assert!(matches!(for_terminal("日本 é…\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn names_are_quoted_for_the_shell_and_jq() {
        assert_eq!(option("--type", "a b=string"), "--type 'a b=string'");
        assert_eq!(option("--type", "-a=string"), "--type=-a=string");
        assert_eq!(option("--type", "it's=i64[]"), r"--type 'it'\''s=i64[]'");
        let names = ["a b", "a$b", "a`b", "size", "it's"].map(quoted_name);
        assert_eq!(names, ["\"a b\"", "'a$b'", "'a`b'", "\"size\"", "\"it's\""]);
        let paths = ["a.b_1", "my col", "a.2x", "x-y", "q\"", "a..b"].map(jq_path);
        assert_eq!(paths, [".a.b_1", ".\"my col\"", ".a.\"2x\"", ".\"x-y\"", r#"."q\"""#, ".a.\"\".b"]);
    }

    #[test]
    fn quotients_are_rounded() {
        let shown: Vec<_> = [(1, 3), (2, 3), (0, 5), (10, 1), (5, 0)].map(|(a, b)| decimal(a, b, 2)).into();
        assert_eq!(shown, ["0.33", "0.67", "0.00", "10.00", "5.00"]);
        assert_eq!(decimal(1_234_567, 10, 0), "123,457");
    }

    proptest! {
        #[test]
        fn json_strings_are_read_back(text in any::<String>()) {
            let mut out = String::new();
            json_string(&text, &mut out);
            prop_assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
        }

        #[test]
        fn csv_cells_are_read_back(text in "[a\",\r\n\té ]{0,8}", delimiter in prop::sample::select(vec![',', '\t'])) {
            let mut out = "x".to_owned();
            out.push(delimiter);
            let start = out.len();
            out.push_str(&text);
            quote_csv(&mut out, start, delimiter, |_| false);
            let mut reader = csv::ReaderBuilder::new()
                .has_headers(false)
                .delimiter(delimiter as u8)
                .from_reader(out.as_bytes());
            prop_assert_eq!(&reader.records().next().unwrap().unwrap()[1], text);
        }
    }
}
