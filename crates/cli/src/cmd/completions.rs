//! `dv completions`: what shells need to complete the command line, and the names of columns that they ask for.

use std::path::PathBuf;

use clap_complete::Shell;

use crate::args;
use crate::args::shell::CompletionsArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::files::is_readable;
use crate::open::opener::Opener;
use crate::open::segments::Segments;

/// Options of columns, besides `--by` of some commands.
const OF_COLUMNS: [&str; 9] =
    ["columns", "exclude", "sort", "sum", "min", "max", "mean", "distinct", "unset"];

pub(crate) fn run(
    args: &CompletionsArgs,
    opener: &Opener,
    console: &mut Console<'_>,
) -> Result<Exit, CliError> {
    if !args.words.is_empty() {
        let files = args.words.iter().map(PathBuf::from).filter(|path| is_readable(path));
        let files: Vec<PathBuf> = files.collect();
        for name in Segments::open_all(opener, &files)?.names()? {
            // A name with a line break would be two.
            if !name.contains(char::is_control) {
                writeln!(console.out, "{name}")?;
            }
        }
        return Ok(Exit::Ok);
    }
    // The generator panics where writing fails: who reads may go away.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::commands(), "dv", &mut script);
    let script = with_columns(args.shell, String::from_utf8_lossy(&script).into_owned());
    console.out.write_all(script.as_bytes())?;
    Ok(Exit::Ok)
}

/// The script, which asks `dv` for names of columns in bash, zsh and fish.
fn with_columns(shell: Shell, script: String) -> String {
    match shell {
        Shell::Bash => script + include_str!("completions/columns.bash"),
        Shell::Zsh => {
            let line = |line: &str| match line.contains(", then columns") || line.contains(":column -- ") {
                true => line.replace(":_default'", ":_dv_columns_or_files'"),
                false => line.replace("NAME,…:_default'", "NAME,…:_dv_columns'"),
            };
            let lines: Vec<String> = script.lines().map(line).collect();
            let functions = concat!("\n", include_str!("completions/columns.zsh"), "_dv() {\n");
            (lines.join("\n") + "\n").replacen("\n_dv() {\n", functions, 1)
        }
        Shell::Fish => {
            let is_asked = |line: &str, option: &str| line.contains(&format!(" -l {option} "));
            let line = |line: &str| match line.ends_with(" -r")
                && (OF_COLUMNS.iter().any(|option| is_asked(line, option)) || is_asked(line, "by"))
            {
                true => format!("{line} -f -a \"(__fish_dv_columns)\""),
                false => line.to_owned(),
            };
            let lines: Vec<String> = script.lines().map(line).collect();
            lines.join("\n") + "\n" + include_str!("completions/columns.fish")
        }
        _ => script,
    }
}
