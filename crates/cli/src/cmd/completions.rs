//! `dv completions`: what shells need to complete the command line, and the names of columns that bash asks for.

use std::path::PathBuf;

use clap_complete::Shell;

use crate::args;
use crate::args::shell::CompletionsArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::files::is_readable;
use crate::open::{Opener, Segments};

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
    if args.shell == Shell::Bash {
        script.extend_from_slice(include_bytes!("completions/columns.bash"));
    }
    console.out.write_all(&script)?;
    Ok(Exit::Ok)
}
