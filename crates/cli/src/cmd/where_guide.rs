//! `dv where`: the guide to `--where`, as `dv help where` prints it.

use crate::args;
use crate::console::Console;
use crate::error::{CliError, Exit};

pub(crate) fn run(console: &mut Console<'_>) -> Result<Exit, CliError> {
    let mut dv = args::commands();
    // `build` sets the full names of subcommands.
    dv.build();
    if let Some(guide) = dv.find_subcommand_mut("where") {
        writeln!(console.out, "{}", guide.render_long_help())?;
    }
    Ok(Exit::Ok)
}
