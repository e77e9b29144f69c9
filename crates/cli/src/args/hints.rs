//! Hints for options and commands that other tools have under another name, and for options that only other commands have.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};

use super::{commands, is_of};

/// Commands that take -n, those that read text, and those that take ids or numbers of documents.
const COUNTING: &str = "facet group histogram head sample sort export terms diff";
const READING: &str = "build schema put";
const FINDING: &str = "get lookup rm set";

/// The options of other tools, and those of `dv` that mean the same: in commands that write text, and in those that read it.
const OPTIONS: [(&str, &str); 10] = [
    ("--top --docs --lines --rows --count", "-n 10, or --limit 10"),
    ("--group-by -g", "the names of the columns alone: dv group hits.dv host,status"),
    ("-a --agg --aggregate --avg", "--sum size, --mean size, --metric 'p99(size)'"),
    (
        "--p50 --p90 --p95 --p99 --median --quantile --quantiles",
        "dv group --metric 'p99(size)', dv stats --percentiles 50,99",
    ),
    ("--bins --buckets --interval --width", "--step 100, --step day, --step auto, or --edges 0,10,100"),
    ("-n --limit --head", "dv head -n 10, dv sample -n 10, dv export -n 10; in SQL: limit 10"),
    (
        "-d -F --delimiter --sep --separator --fs --csv --tsv --to",
        "--format csv, or --format tsv for tabs between cells",
    ),
    ("-c -f --fields --select --column", "--columns NAME,NAME"),
    ("-k -r --reverse --desc --order-by", "a minus before the name: --by=-size, --sort=-size"),
    ("-w --filter --grep --query", "--where 'size > 10'; dv where explains it"),
];
const INPUT_OPTIONS: [(&str, &str); 6] = [
    ("-t --types --dtype --dtypes", "--type zip=string,size=u64"),
    ("-n --limit --head --lines --rows", "dv head shows the first rows, and their types"),
    ("--id --key --primary-key", "--id-field NAME of dv build and dv store create"),
    ("-d -F --sep --separator --fs", "--delimiter ';'"),
    ("-H --no-header --no-headers", "--header no, or --header NAME,NAME"),
    (
        "--tz --timezone",
        "times without an offset are read in UTC: write it into the input, such as 2026-07-01T12:00:00+02:00",
    ),
];

/// The commands of other tools, and those of `dv` that do the same.
const COMMANDS: [(&str, &str); 16] = [
    ("freq frequency uniq unique distinct value-counts count-distinct", "dv facet hits.dv host"),
    ("describe summarize summary profile", "dv stats, dv info, dv report"),
    ("quantile quantiles percentile percentiles", "dv stats hits.dv size --percentiles 50,99"),
    ("headers columns fields ls", "dv info; dv schema for files that are no segments"),
    ("show print view open", "dv head, dv cat, dv report"),
    ("wc rowcount nrows", "dv count"),
    ("select cut slice filter search", "dv export --columns NAME,NAME --where 'size > 10' --format csv"),
    ("tail", "dv export hits.dv --docs 1000..; dv count has the number of documents"),
    ("top", "dv sort --by=-size -n 10, or dv facet for the most frequent values"),
    ("join", "dv sql"),
    ("convert load create init", "dv build makes a segment, dv store create a store"),
    ("delete update upsert insert append add", "dv rm, dv set, dv put"),
    ("dedup deduplicate", "dv store create STORE --id-field NAME; dv put keeps the last document of each id"),
    ("verify validate", "dv check"),
    ("backup restore", "dv replicate STORE --to FOLDER --once; dv replica NEW --follow FOLDER --once"),
    ("compact vacuum optimize", "dv merge STORE"),
];

/// The name of an option or a command here that another tool calls differently.
pub(crate) fn of_other_tools(args: &[OsString], error: &Error) -> Option<String> {
    let kind = match error.kind() {
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
        _ => return None,
    };
    let Some(ContextValue::String(unknown)) = error.get(kind) else { return None };
    let mut words = args.iter().map(|arg| arg.to_string_lossy());
    let command = words.nth(1)?;
    if kind == ContextKind::InvalidSubcommand {
        return ours(&COMMANDS, unknown).filter(|_| *command == **unknown);
    }
    let mut numbers = words.filter_map(|word| word.strip_prefix('-')?.parse::<u32>().ok());
    let digits = unknown.trim_start_matches('-').parse::<u32>().ok();
    let number = digits.map(|digits| numbers.next().unwrap_or(digits));
    let (known, name) = match number {
        Some(number) if is_of(&command, COUNTING) => return Some(format!("-n {number}")),
        // clap says how to pass it as an id.
        Some(_) if is_of(&command, FINDING) => return None,
        Some(_) => (&OPTIONS[..], "-n"),
        None if is_of(&command, READING) => (&INPUT_OPTIONS[..], unknown.as_str()),
        None => (&OPTIONS[..], unknown.as_str()),
    };
    ours(known, name).or_else(|| of_other_commands(name))
}

/// The name that `dv` has for one of other tools.
fn ours(known: &[(&str, &str)], name: &str) -> Option<String> {
    known.iter().find(|(names, _)| is_of(name, names)).map(|(_, ours)| (*ours).to_owned())
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
