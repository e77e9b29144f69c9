//! Commands about `dv` itself: `dv completions`, `man` and `where`.

#[cfg(feature = "man")]
mod pages;

use std::path::PathBuf;

use clap_complete::Shell;

use crate::args;
use crate::args::shell::CompletionsArgs;
#[cfg(not(feature = "man"))]
use crate::args::shell::ManArgs;
use crate::console::Console;
use crate::error::{Exit, Result};
use crate::open::files::is_readable;
use crate::open::{Opener, Segments};
use crate::text::printable;
#[cfg(feature = "man")]
pub(crate) use pages::man;

/// The beginning of the last lines of a script for zsh.
const ZSH_END: &str = "\nif [ \"$funcstack[1]\"";

/// `dv completions`: what shells need to complete the command line, and the names of columns that they ask for.
pub(crate) fn completions(
    args: &CompletionsArgs,
    opener: &Opener,
    console: &mut Console<'_>,
) -> Result<Exit> {
    if !args.words.is_empty() {
        let files = args.words.iter().map(PathBuf::from).filter(|path| is_readable(path));
        let files: Vec<PathBuf> = files.collect();
        for name in Segments::open_all(opener, &files)?.names()? {
            // A name with a line break would be two, and a shell shows names as they are.
            if printable(&name) == name {
                writeln!(console.out, "{name}")?;
            }
        }
        return Ok(Exit::Ok);
    }
    // The generator panics where writing fails: who reads may go away.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::commands(), "dv", &mut script);
    let script = String::from_utf8_lossy(&script);
    let (script, columns) = match args.shell {
        Shell::Bash => (&*script, include_str!("shell/columns.bash")),
        Shell::Fish => (&*script, include_str!("shell/columns.fish")),
        // The last lines of the script register its function; those of the file register the one around it.
        Shell::Zsh => (
            script.rsplit_once(ZSH_END).map_or(&*script, |(start, _)| start),
            include_str!("shell/columns.zsh"),
        ),
        _ => (&*script, ""),
    };
    write!(console.out, "{script}{columns}")?;
    Ok(Exit::Ok)
}

/// `dv man`: pages of the manual.
#[cfg(not(feature = "man"))]
pub(crate) fn man(_: &ManArgs, _: &mut Console<'_>) -> Result<Exit> {
    Err(crate::error::CliError::failed(
        "this dv was built without pages of the manual; --help has the same text",
    )
    .hint("install it from a checkout: cargo install --path crates/cli --features man"))
}

/// `dv where`: the guide to `--where`, as `dv help where` prints it.
pub(crate) fn where_guide(console: &mut Console<'_>) -> Result<Exit> {
    let mut dv = args::commands();
    // `build` sets the full names of subcommands.
    dv.build();
    if let Some(guide) = dv.find_subcommand_mut("where") {
        writeln!(console.out, "{}", guide.render_long_help())?;
    }
    Ok(Exit::Ok)
}
