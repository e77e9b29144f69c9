//! Colours of messages, in clap's own styles.

use anstream::AutoStream;
use anstream::stream::RawStream;
use clap::builder::Styles;
use clap::builder::styling::Style;

type StyleOf = fn(&Styles) -> &Style;

/// The words with which messages begin, and their styles.
const LABELS: [(&str, StyleOf); 3] =
    [("dv:", Styles::get_error), ("hint:", Styles::get_valid), ("note:", Styles::get_literal)];

/// Whether a stream gets colours: if it is a terminal that has them, or as NO_COLOR, CLICOLOR and CLICOLOR_FORCE say.
pub(crate) fn by_default(stream: &impl RawStream) -> bool {
    AutoStream::choice(stream) != anstream::ColorChoice::Never
}

/// A message whose labels have the styles of clap.
pub(crate) fn styled(text: &str) -> String {
    let styles = Styles::styled();
    let line = |line: &str| {
        let words = line.trim_start();
        let label = LABELS.iter().find(|(label, _)| words.starts_with(label));
        let Some((label, style)) = label else { return line.to_owned() };
        let style = style(&styles);
        line.replacen(label, &format!("{style}{label}{style:#}"), 1)
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_styles() {
        let expected = "\u{1b}[1m\u{1b}[31mdv:\u{1b}[0m a: no column\n    \u{1b}[32mhint:\u{1b}[0m dv: help";
        assert_eq!(styled("dv: a: no column\n    hint: dv: help"), expected);
        assert_eq!(styled("3 rows"), "3 rows");
    }
}
