//! What `-h` and `--help` show: one screen with an example, or all options, in the same layout.
//!
//! The texts are those of the arguments. Pages of the manual have them, too, without this.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};

/// The heading of the examples in the notes of a command.
const EXAMPLES: &str = "Examples:\n";

/// The commands, with the help that these arguments ask for.
pub(super) fn with_help(dv: Command, args: &[OsString]) -> Command {
    let words = args.iter().map(|arg| arg.to_string_lossy()).take_while(|word| word != "--");
    let words: Vec<String> = words.map(|word| word.into_owned()).collect();
    let help = Arg::new("help").short('h').long("help").action(ArgAction::HelpShort).global(true);
    let help = help
        .help("Print help: -h one screen, --help all options; dv --help has exit codes")
        .display_order(1000);
    let dv = dv.disable_help_flag(true).arg(help);
    if words.iter().any(|word| word == "--help") {
        return in_full(dv, &words);
    }
    let is_short = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains('h');
    if words.len() <= 1 || words.iter().any(is_short) { in_short(dv) } else { dv }
}

/// One screen: without options that are rare or of all commands, and with the first example.
fn in_short(command: Command) -> Command {
    let notes = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
    let example = notes.as_deref().and_then(|notes| notes.split_once(EXAMPLES)?.1.lines().next());
    let example = example.map(|line| format!("Example:\n{line}\n\nMore options and examples: --help"));
    let command = match example {
        Some(example) => command.after_help(example),
        None => command,
    };
    let command = command.mut_args(|arg| {
        let is_rare = arg.is_hide_short_help_set() || arg.is_global_set() && arg.get_id() != "help";
        arg.hide_short_help(is_rare)
    });
    command.mut_subcommands(in_short)
}

/// Everything about the commands that are named by `words`. The layout is that of short help, whose lines are a third.
fn in_full(command: Command, words: &[String]) -> Command {
    // All commands have both.
    let about = command.get_long_about().or(command.get_about()).cloned().unwrap_or_default();
    let notes = command.get_after_long_help().or(command.get_after_help()).cloned().unwrap_or_default();
    let command = command.about(about).after_help(notes);
    let is_named = |command: &Command| words.iter().any(|word| word == command.get_name());
    command.mut_args(described).mut_subcommands(|sub| if is_named(&sub) { in_full(sub, words) } else { sub })
}

/// An option with all that there is to say of it and of its values.
fn described(arg: Arg) -> Arg {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    // The first paragraph has no full stop.
    let mut help = help.replacen("\n\n", ". ", 1).replace("\n\n", " ");
    // Values of rare options are only named.
    let values = if arg.is_hide_short_help_set() { Vec::new() } else { arg.get_possible_values() };
    let values = values.iter().filter(|value| !value.is_hide_set());
    let described = values.filter_map(|value| Some(format!("{}: {}", value.get_name(), value.get_help()?)));
    let described: Vec<String> = described.collect();
    if !described.is_empty() {
        help += if help.ends_with('.') { " " } else { ". " };
        help += &described.join("; ");
    }
    let hides_values = arg.is_hide_possible_values_set() || !described.is_empty();
    arg.help(help).hide_short_help(false).hide_possible_values(hides_values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(words: &[&str]) -> String {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let commands = with_help(super::super::commands().term_width(100), &words);
        commands.try_get_matches_from(&words).unwrap_err().render().to_string()
    }

    #[test]
    fn a_screen_or_everything() {
        for command in super::super::commands().get_subcommands() {
            let name = command.get_name();
            let (short, full) = (shown(&["dv", name, "-h"]), shown(&["dv", name, "--help"]));
            assert!(short.lines().count() <= 40, "{name}: {} lines\n{short}", short.lines().count());
            assert!(full.lines().count() < 120, "{name}: {} lines\n{full}", full.lines().count());
            assert!(short.lines().count() <= full.lines().count(), "{name}\n{short}");
            let example = short.split_once("\nExample:\n").unwrap_or_else(|| panic!("{name}\n{short}")).1;
            assert!(name == "where" || example.contains(&format!("dv {name}")), "{name}\n{short}");
            assert!(!short.contains("--no-mmap"), "{name}\n{short}");
        }
        assert!(shown(&["dv", "-h"]).contains("Example:\n  dv build "));
        let folded = |words: &[&str]| shown(words).split_whitespace().collect::<Vec<_>>().join(" ");
        let build = folded(&["dv", "build", "--help"]);
        assert!(build.contains("Types of columns, instead of inferred ones. NAME=TYPE"), "{build}");
        assert!(build.contains("[possible values: utf-8, latin-1, windows-1252, utf-16]"), "{build}");
        let facet = folded(&["dv", "facet", "--help"]);
        assert!(facet.contains("count: By number of documents, most first; value: By value"), "{facet}");
    }

    #[test]
    fn refused_options_are_not_shown() {
        for (name, has_commit, has_segments) in [
            ("count", true, true),
            ("put", false, true),
            ("build", false, false),
            ("replicate", false, false),
            ("completions", false, false),
        ] {
            let full = shown(&["dv", name, "--help"]);
            assert_eq!(full.contains("--commit <COMMIT>"), has_commit, "{full}");
            assert_eq!(full.contains("--no-mmap"), has_segments, "{full}");
            assert!(full.contains("--color <WHEN>"), "{full}");
        }
        #[cfg(feature = "lucene")]
        for (name, has_types) in [("import", true), ("count", false), ("put", false)] {
            assert_eq!(shown(&["dv", name, "--help"]).contains("--lucene-type"), has_types, "{name}");
        }
        assert!(shown(&["dv", "export", "--help"]).contains("--format"));
        assert!(!shown(&["dv", "sort", "--help"]).contains("arrow"));
    }
}
