//! Hints for options that other tools have under another name, or that only other commands have.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};

use super::{commands, is_of};

/// Commands that take -n, those that read text, and those that take ids or numbers of documents.
const COUNTING: &str = "facet group histogram head sample sort export terms diff";
const READING: &str = "build schema put";
const FINDING: &str = "get lookup rm set";

/// The options of other tools, and those of `dv` that mean the same: in commands that write text, and in those that read it.
const OPTIONS: [(&str, &str); 7] = [
    ("--top --docs", "-n 10, or --limit 10"),
    (
        "--p50 --p90 --p95 --p99 --median --quantile",
        "dv group --metric 'p99(size)', dv stats --percentiles 50,99",
    ),
    ("-n --limit --head", "dv head -n 10, dv sample -n 10, dv export -n 10; in SQL: limit 10"),
    ("-d -F --delimiter --sep --separator --fs", "--format csv, or --format tsv for tabs between cells"),
    ("-c -f --fields --select --column", "--columns NAME,NAME"),
    ("-r --reverse --desc", "a minus before the name: --by=-size, --sort=-size"),
    ("--filter --grep --query", "--where 'size > 10'; dv where explains it"),
];
const INPUT_OPTIONS: [(&str, &str); 3] = [
    ("-d -F --sep --separator --fs", "--delimiter ';'"),
    ("-H --no-header --no-headers", "--header no, or --header NAME,NAME"),
    (
        "--tz --timezone",
        "times without an offset are read in UTC: write it into the input, such as 2026-07-01T12:00:00+02:00",
    ),
];

/// The name of an option here that another tool calls differently.
pub(crate) fn of_other_tools(args: &[OsString], error: &Error) -> Option<String> {
    let unknown = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(unknown)) if error.kind() == ErrorKind::UnknownArgument => unknown,
        _ => return None,
    };
    let mut words = args.iter().map(|arg| arg.to_string_lossy());
    let command = words.nth(1)?;
    let mut numbers = words.filter_map(|word| word.strip_prefix('-')?.parse::<u32>().ok());
    let number = numbers.next().filter(|_| unknown.trim_start_matches('-').parse::<u32>().is_ok());
    let (known, name) = match number {
        Some(number) if is_of(&command, COUNTING) => return Some(format!("-n {number}")),
        // clap says how to pass it as an id.
        Some(_) if is_of(&command, FINDING) => return None,
        Some(_) => (&OPTIONS[..], "-n"),
        None if is_of(&command, READING) => (&INPUT_OPTIONS[..], unknown.as_str()),
        None => (&OPTIONS[..], unknown.as_str()),
    };
    let known = known.iter().find(|(names, _)| is_of(name, names)).map(|(_, ours)| (*ours).to_owned());
    known.or_else(|| of_other_commands(name))
}

/// A command that has an option which this one lacks: `export`, which has most of them, or another one.
fn of_other_commands(option: &str) -> Option<String> {
    let has_name = |arg: &Arg| {
        let is_long = arg.get_long().is_some_and(|long| option.strip_prefix("--") == Some(long));
        is_long || arg.get_short().is_some_and(|short| option == format!("-{short}"))
    };
    let commands = commands();
    let having = commands.get_subcommands().filter(|command| command.get_arguments().any(has_name));
    let name = having.map(Command::get_name).min_by_key(|name| *name != "export")?;
    Some(format!("`dv {name}` has {option}"))
}
