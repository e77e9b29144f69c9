//! Pages of the manual, from the text of `--help`.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::{self, Stdio};

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::args;
use crate::args::shell::ManArgs;
use crate::console::Console;
use crate::console::destination::{is_stdout, refuse_other_format};
use crate::error::{CliError, Exit, Result};
use crate::text::words::meant;

/// The first bytes of a page.
const PAGE: &[u8] = b".ie \\n(.g";

/// `dv man`: pages of the manual.
pub(crate) fn man(args: &ManArgs, console: &mut Console<'_>) -> Result<Exit> {
    // `build` sets the full names of subcommands. A page on `help` would be empty.
    let mut dv = args::commands().disable_help_subcommand(true);
    dv.build();
    match (&args.output, &args.command) {
        (Some(output), _) if is_stdout(output) => {
            pages(&dv).try_for_each(|command| page(command, console.out))?;
        }
        (Some(folder), _) => write_all(&dv, folder)?,
        (None, names) => {
            let mut command = &dv;
            for name in names {
                let found = command.find_subcommand(name);
                command = found.ok_or_else(|| no_such_command(command, name))?;
            }
            if console.out_width.is_none() {
                page(command, console.out)?;
            } else if !is_shown(command) {
                writeln!(console.out, "{}", command.clone().render_long_help())?;
            }
        }
    }
    Ok(Exit::Ok)
}

/// Shows the page of a command on the terminal, if there is a `man` that takes it.
fn is_shown(command: &Command) -> bool {
    let mut text = Vec::new();
    let man = process::Command::new("man").args(["-l", "-"]).stdin(Stdio::piped()).spawn();
    let (Ok(mut man), Ok(())) = (man, page(command, &mut text)) else { return false };
    if let Some(mut stdin) = man.stdin.take() {
        // A reader may have seen enough.
        let _ = stdin.write_all(&text);
    }
    man.wait().is_ok_and(|status| status.success())
}

/// Prints the page of a command.
fn page(command: &Command, out: &mut dyn io::Write) -> io::Result<()> {
    let notes = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
    let command = command.clone().after_help(None::<&str>).after_long_help(None::<&str>);
    Man::new(command).source(concat!("dv ", env!("CARGO_PKG_VERSION"))).manual("docvalues").render(out)?;
    // Lines of examples and tables must not be filled.
    let Some(notes) = notes else { return Ok(()) };
    let mut roff = Roff::new();
    roff.control("SH", ["NOTES"]).control("nf", []);
    for line in notes.lines() {
        roff.text([roman(line)]);
    }
    roff.control("fi", []).to_writer(out)
}

/// The commands that have a page.
fn pages(dv: &Command) -> impl Iterator<Item = &Command> {
    let nested =
        dv.get_subcommands().flat_map(|command| std::iter::once(command).chain(command.get_subcommands()));
    std::iter::once(dv).chain(nested)
}

fn write_all(dv: &Command, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| CliError::file(folder.display(), &error))?;
    for command in pages(dv) {
        let mut text = Vec::new();
        page(command, &mut text)?;
        let name = command.get_display_name().unwrap_or(command.get_name());
        let path = folder.join(format!("{name}.1"));
        refuse_other_format(&path, "a page of the manual", |head| head.starts_with(PAGE))?;
        std::fs::write(&path, text).map_err(|error| CliError::file(path.display(), &error))?;
    }
    Ok(())
}

fn no_such_command(dv: &Command, name: &str) -> CliError {
    let failure = CliError::usage(format!("no command {name:?}"));
    let names = || dv.get_subcommands().map(Command::get_name);
    failure
        .hint(meant(name, names(), || format!("the commands are {}", names().collect::<Vec<_>>().join(", "))))
}
