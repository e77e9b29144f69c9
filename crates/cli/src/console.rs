//! The outputs of a command, and the properties of the terminal.

use std::io::{self, IsTerminal as _, Write};

use serde::Serialize;

/// The two outputs of a command.
pub struct Console<'a> {
    /// Data.
    pub out: &'a mut dyn Write,
    /// Everything else.
    pub err: &'a mut dyn Write,
    /// The width of the terminal; `None` if `out` is not one.
    pub out_width: Option<usize>,
    /// Whether `err` is a terminal.
    pub err_is_terminal: bool,
    /// Whether help on a terminal may have colours.
    pub colours: bool,
}

impl<'a> Console<'a> {
    /// A console that is not a terminal.
    pub fn plain(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Console<'a> {
        Console { out, err, out_width: None, err_is_terminal: false, colours: false }
    }

    /// A console over the standard output and error of this process.
    pub fn of_process(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Console<'a> {
        let width = || terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
        let out_width = io::stdout().is_terminal().then(width);
        let colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Console { out, err, out_width, err_is_terminal: io::stderr().is_terminal(), colours }
    }

    /// Prints indented JSON.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        writeln!(self.out, "{}", serde_json::to_string_pretty(value).unwrap_or_default())
    }

    /// Prints a line to `err`. Ignores errors of writing it.
    pub(crate) fn note(&mut self, text: &str) {
        let _ = writeln!(self.err, "{text}");
    }
}
