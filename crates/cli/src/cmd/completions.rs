//! `dv completions`: what shells need to complete the command line.

use crate::args;
use crate::args::shell::CompletionsArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};

pub(crate) fn run(args: &CompletionsArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    // The generator panics where writing fails: who reads may go away.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::commands(), "dv", &mut script);
    console.out.write_all(&script)?;
    Ok(Exit::Ok)
}
