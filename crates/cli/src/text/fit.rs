//! Text on a terminal: its width, and how it is cut and folded.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The indent of the lines that continue a message.
const HANG: usize = 4;

/// The width of `text` on a terminal: characters of wide scripts take two columns, combining marks none.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// `text` cut to `limit` columns, with an ellipsis if it was longer. A number at the cut is left out whole.
pub(crate) fn fit(text: &str, limit: usize) -> String {
    if width(text) <= limit {
        return text.to_owned();
    }
    let end = end_of_line(text, limit.saturating_sub(1)).unwrap_or(text.len());
    let (kept, _) = text.split_at(before_number(text, end));
    format!("{kept}…")
}

/// The start of the character that contains byte `at`, or the end of a text that has fewer bytes.
pub(crate) fn char_start(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Whether `text` is a number, which looks like another one if it is cut.
pub(crate) fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok()
}

/// The start of the number within which `end` is, or `end`.
fn before_number(text: &str, end: usize) -> usize {
    let is_other = |c: char| !(c.is_alphanumeric() || matches!(c, '.' | ',' | '+' | '-' | '_'));
    let (front, back) = text.split_at(end);
    let start =
        front.rfind(is_other).map_or(0, |at| at + front[at..].chars().next().map_or(0, char::len_utf8));
    let rest = back.find(is_other).unwrap_or(back.len());
    let word = [&front[start..], &back[..rest]].concat().replace(',', "");
    if rest > 0 && is_number(&word) { start } else { end }
}

/// The lines of `text`, the first of at most `first` columns and others of `rest`. Lines end at blanks, which are left
/// out, or within words that are longer than a line.
pub(crate) fn fold(text: &str, first: usize, rest: usize) -> Vec<&str> {
    let (mut lines, mut left, mut limit) = (Vec::new(), text, first);
    // Each scan ends with the line, so a long text takes linear time.
    while let Some(end) = end_of_line(left, limit) {
        // A character wider than the line stands alone.
        let cut = end.max(left.chars().next().map_or(0, char::len_utf8));
        if cut == left.len() {
            break;
        }
        let (line, next) = left.split_at(cut);
        let blank = if next.starts_with(' ') { Some(cut) } else { line.rfind(' ') };
        let (line, next) = match blank.filter(|blank| !line[..*blank].trim().is_empty()) {
            Some(blank) => (left[..blank].trim_end(), left[blank..].trim_start()),
            None => (line, next),
        };
        lines.push(line);
        (left, limit) = (next, rest);
    }
    lines.push(left);
    lines
}

/// A message whose lines are folded to `width`; lines that continue another one are indented. A line above a caret is
/// cut instead, so that the caret stays below its character.
pub(crate) fn message(text: &str, width: Option<usize>) -> String {
    let Some(limit) = width else { return text.to_owned() };
    let fold_line = |line: &str| {
        let words = line.trim_start();
        let indent = line.len() - words.len();
        let hang = (indent + HANG).min(limit / 2);
        let lines = fold(words, limit.saturating_sub(indent), limit - hang);
        format!("{}{}", &line[..indent], lines.join(&format!("\n{}", " ".repeat(hang))))
    };
    let (mut lines, mut rest) = (Vec::new(), text.lines().peekable());
    while let Some(line) = rest.next() {
        lines.push(match rest.next_if(|next| next.trim_start() == "^") {
            Some(caret) => around_caret(line, caret.len() - 1, limit),
            None => fold_line(line),
        });
    }
    lines.join("\n")
}

/// `line` cut to `limit` columns at both ends, and a caret below its character `at`.
fn around_caret(line: &str, at: usize, limit: usize) -> String {
    let (front, back) = line.split_at(line.char_indices().nth(at).map_or(line.len(), |(start, _)| start));
    // The caret needs a column after the end of the line, too.
    let room = limit - width(back).max(1).min(limit - limit / 2);
    let front = if width(front) <= room {
        front.to_owned()
    } else {
        let mut left = width(front) + 1;
        let fits = |(_, c): &(usize, char)| {
            left = left.saturating_sub(c.width().unwrap_or(0));
            left <= room
        };
        let start = front.char_indices().find(fits).map_or(front.len(), |(at, c)| at + c.len_utf8());
        format!("…{}", &front[start..])
    };
    let indent = width(&front);
    format!("{front}{}\n{}^", fit(back, limit.saturating_sub(indent)), " ".repeat(indent))
}

/// The start of the first character that does not fit into `limit` columns.
fn end_of_line(text: &str, limit: usize) -> Option<usize> {
    let mut taken = 0;
    let ends = |(_, c): &(usize, char)| {
        taken += c.width().unwrap_or(0);
        taken > limit
    };
    text.char_indices().find(ends).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_character_is_not_cut() {
        let starts = [0, 1, 1, 3, 3, 3, 6, 6].into_iter().enumerate();
        starts.for_each(|(at, start)| assert_eq!(char_start("aß€", at), start, "{at}"));
        assert_eq!(char_start("", 3), 0);
    }

    #[test]
    fn long_text_is_cut_visibly() {
        assert_eq!(fit("abcdef", 6), "abcdef");
        assert_eq!(fit("abcdefg", 6), "abcde…");
        assert_eq!(fit("日本日本", 6), "日本…");
    }

    #[test]
    fn numbers_are_not_cut() {
        for (text, limit, expected) in [
            ("12, 345, 6789", 8, "12, …"),
            ("12, 345, 6789", 9, "12, 345,…"),
            ("-12.5e3 km", 5, "…"),
            ("size 1,234,567 bytes", 10, "size …"),
            ("size 1,234,567 bytes", 15, "size 1,234,567…"),
            ("price of 3120.90", 13, "price of …"),
            ("日本 3120.90", 8, "日本 …"),
            // A part of these is no number.
            ("5de1086c79cbf431", 8, "5de1086…"),
            ("2013-01-01T06:00:00Z", 8, "2013-01…"),
            ("v1.20.3-beta", 6, "v1.20…"),
        ] {
            assert_eq!(fit(text, limit), expected, "{text}");
        }
    }

    #[test]
    fn lines_end_at_blanks_or_within_long_words() {
        assert_eq!(fold("one two three", 7, 5), ["one two", "three"]);
        assert_eq!(fold("one  two", 3, 3), ["one", "two"]);
        assert_eq!(fold("abcdefgh ij", 4, 6), ["abcd", "efgh", "ij"]);
        assert_eq!(fold("日本語", 4, 4), ["日本", "語"]);
        assert_eq!(fold("日本", 1, 1), ["日", "本"]);
        assert_eq!(fold("", 4, 4), [""]);
    }

    #[test]
    fn long_texts_are_folded_in_linear_time() {
        // A quadratic scan would take minutes.
        assert_eq!(fold(&"x".repeat(2_000_000), 2, 2).len(), 1_000_000);
        assert_eq!(fold(&"x ".repeat(1_000_000), 2, 2).len(), 1_000_000);
    }

    #[test]
    fn messages_hang() {
        assert_eq!(message("note: some words", Some(10)), "note: some\n    words");
        assert_eq!(message("  a b c\nd", Some(4)), "  a\n  b\n  c\nd");
        assert_eq!(message("note: some words", None), "note: some words");
    }

    #[test]
    fn a_line_above_a_caret_is_cut() {
        let shown = |line: &str, at: usize, limit| {
            message(&format!("dv: no\n{line}\n{:at$}^\n    hint", ""), Some(limit))
        };
        let in_message = |lines: &str| format!("dv: no\n{lines}\n    hint");
        for (line, at, lines) in [
            ("abc", 1, "abc\n ^"),
            ("abcdefghij", 9, "abcdefghij\n         ^"),
            ("abcdefghij", 10, "…cdefghij\n         ^"),
            ("abcdefghijk", 0, "abcdefghi…\n^"),
            ("abcdefghijklmn", 7, "…defghijk…\n     ^"),
            ("日本語 = x", 2, "日本語 = x\n    ^"),
            ("日本語日本語x", 5, "…語日本語x\n       ^"),
            ("日本語日本語", 6, "…語日本語\n         ^"),
        ] {
            assert_eq!(shown(line, at, 10), in_message(lines));
        }
    }

    proptest! {
        #[test]
        fn a_caret_stays_below_its_character(line in "[a日]{0,40}[x ]", limit in 6usize..40) {
            let at = line.chars().count() / 2;
            let text = message(&format!("{line}\n{:at$}^", ""), Some(limit));
            let (cut, caret) = text.split_once('\n').unwrap();
            prop_assert!(width(cut) <= limit && width(caret) <= limit, "{text}");
            let above = cut.char_indices().find(|(start, _)| width(&cut[..*start]) == width(caret) - 1);
            prop_assert_eq!(above.map(|(_, c)| c), line.chars().nth(at), "{}", text);
        }

        #[test]
        fn folding_keeps_all_but_blanks(text in "[a-c日 é\u{301}]{0,40}", first in 0usize..9, rest in 0usize..9) {
            let lines = fold(&text, first, rest);
            let dark = |text: &str| text.replace(' ', "");
            prop_assert_eq!(dark(&lines.concat()), dark(&text));
            for (index, line) in lines.iter().enumerate() {
                let limit = if index == 0 { first } else { rest };
                prop_assert!(width(line) <= limit.max(2), "{line:?}");
            }
        }
    }
}
