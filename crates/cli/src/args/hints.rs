//! What other tools call an option or a command.

use std::ffi::OsString;

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Commands that take -n.
const COUNTING: [&str; 9] =
    ["facet", "group", "histogram", "head", "sample", "sort", "export", "terms", "diff"];

/// Commands that read text.
const READING: [&str; 3] = ["build", "schema", "put"];

/// Names of commands of other tools, and what does the same here.
const COMMANDS: [(&[&str], &str); 13] = [
    (&["frequency", "freq", "uniq", "top", "value-counts"], "dv facet FILE.dv COLUMN"),
    (&["select", "cut", "convert", "dump"], "dv export FILE.dv --columns NAME,NAME"),
    (&["filter", "grep", "search"], "dv export FILE.dv --where QUERY"),
    (&["headers", "columns", "describe", "ls"], "dv info FILE.dv"),
    (&["summary", "summarize", "summarise"], "dv stats FILE.dv"),
    (&["agg", "aggregate"], "dv group FILE.dv COLUMN"),
    (&["import", "load", "index"], "dv build FILE.csv -o FILE.dv"),
    (&["insert", "append", "upsert", "add"], "dv put STORE FILE.csv"),
    (&["update"], "dv set STORE ID FIELD=VALUE"),
    (&["delete", "remove"], "dv rm STORE ID"),
    (&["vacuum", "compact", "optimize"], "dv merge STORE"),
    (&["validate", "verify", "fsck"], "dv check FILE.dv"),
    (&["join"], "dv sql QUERY FILE.dv FILE.dv"),
];

/// What an option or command that dv does not have is called here.
pub(crate) fn of_other_tools(args: &[OsString], error: &Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let words: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
            let digits =
                |word: &str| word.strip_prefix('-').filter(|n| n.parse::<u32>().is_ok()).map(str::to_owned);
            let number = words.iter().find_map(|word| digits(&**word));
            option(words.get(1)?, text(ContextKind::InvalidArg)?, number)
        }
        ErrorKind::InvalidSubcommand => {
            let name = text(ContextKind::InvalidSubcommand)?;
            let found = COMMANDS.iter().find(|(names, _)| names.contains(&name));
            found.map(|(_, command)| format!("{command} does this"))
        }
        _ => None,
    }
}

/// The option for that of another tool; `number` is the first argument such as -5.
fn option(command: &str, unknown: &str, number: Option<String>) -> Option<String> {
    let is_number = unknown.strip_prefix('-').is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit()));
    let number = number.filter(|_| is_number);
    let hint = match unknown {
        "-n" | "--limit" | "--head" if command == "sql" => "write it in the query: limit 10",
        _ if is_number && COUNTING.contains(&command) => return Some(format!("-n {}", number?)),
        "-n" | "--limit" | "--head" => {
            "dv head -n 10, dv sample -n 10 and dv export -n 10 print some documents"
        }
        _ if is_number => "dv head -n 10, dv sample -n 10 and dv export -n 10 print some documents",
        "-d" | "-F" | "--sep" | "--separator" | "--fs" | "--ifs" if READING.contains(&command) => {
            "--delimiter ';' reads cells between semicolons"
        }
        "-d" | "-F" | "--delimiter" | "--sep" | "--separator" | "--fs" | "--ofs" => {
            "--format csv and --format tsv print cells between commas and tabs"
        }
        "--no-header" | "--no-headers" | "--noheader" | "-H" if READING.contains(&command) => {
            "--header no names columns c1, c2, …; --header id,name names them so"
        }
        "-c" | "-f" | "--fields" | "--select" | "--cols" | "--column" => {
            "--columns NAME,NAME chooses columns"
        }
        "-r" | "--reverse" | "--desc" | "--descending" => {
            "- before a name is descending order: --by=-size, --sort=-size"
        }
        "-k" | "--key" | "--order-by" => "--by NAME of dv sort, and --sort NAME of others, give the order",
        "-w" | "--filter" | "--grep" | "--query" => "--where 'size > 10' filters; see dv where",
        "-g" | "--group-by" | "--groupby" => "dv group FILE.dv COLUMN groups documents",
        "--csv" | "--tsv" | "--ndjson" | "--jsonl" | "--markdown" => {
            return Some(format!("--format {}", unknown.trim_start_matches('-')));
        }
        _ => return None,
    };
    Some(hint.to_owned())
}
