//! Colours of messages, in clap's own styles, and the option --color.

use std::ffi::OsString;

use anstream::AutoStream;
use anstream::stream::RawStream;
use clap::ColorChoice;
use clap::ValueEnum as _;
use clap::builder::Styles;
use clap::builder::styling::Style;

type StyleOf = fn(&Styles) -> &Style;

/// The words with which messages begin, and their styles.
const LABELS: [(&str, StyleOf); 3] =
    [("dv:", Styles::get_error), ("hint:", Styles::get_valid), ("note:", Styles::get_literal)];

/// Whether a stream gets colours without --color: if it is a terminal that has them, or as NO_COLOR, CLICOLOR and
/// CLICOLOR_FORCE say.
pub(crate) fn by_default(stream: &impl RawStream) -> bool {
    AutoStream::choice(stream) != anstream::ColorChoice::Never
}

/// The value of --color on a command line. It is needed before the command line is parsed, for errors and help.
pub(crate) fn choice(args: &[OsString]) -> ColorChoice {
    let mut choice = ColorChoice::Auto;
    let mut args = args.iter().map(|arg| arg.to_string_lossy()).take_while(|arg| arg != "--");
    while let Some(arg) = args.next() {
        let Some(value) = arg.strip_prefix("--color") else { continue };
        let value = match value.strip_prefix('=') {
            Some(value) => Some(value.to_owned()),
            None if value.is_empty() => args.next().map(|value| value.into_owned()),
            None => None,
        };
        let value = value.and_then(|value| ColorChoice::from_str(&value, true).ok());
        choice = value.unwrap_or(choice);
    }
    choice
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
    fn the_option_is_found_before_parsing() {
        for (args, expected) in [
            (&["dv", "info"][..], ColorChoice::Auto),
            (&["dv", "--color=always", "info"], ColorChoice::Always),
            (&["dv", "info", "--color", "never"], ColorChoice::Never),
            (&["dv", "info", "--", "--color", "never"], ColorChoice::Auto),
            (&["dv", "info", "--columns", "--color"], ColorChoice::Auto),
            (&["dv", "--color=pink", "--colors=never"], ColorChoice::Auto),
        ] {
            let args: Vec<OsString> = args.iter().map(OsString::from).collect();
            assert_eq!(choice(&args), expected, "{args:?}");
        }
    }

    #[test]
    fn labels_have_styles() {
        let expected = "\u{1b}[1m\u{1b}[31mdv:\u{1b}[0m a: no column\n    \u{1b}[32mhint:\u{1b}[0m dv: help";
        assert_eq!(styled("dv: a: no column\n    hint: dv: help"), expected);
        assert_eq!(styled("3 rows"), "3 rows");
    }
}
