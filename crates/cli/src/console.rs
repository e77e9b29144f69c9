//! The outputs of a command, and the properties of the terminal.
//!
//! A console does not know what is printed.

pub(crate) mod colours;
pub(crate) mod destination;
pub(crate) mod progress;

use std::fmt;
use std::io::{self, IsTerminal, Write};
#[cfg(unix)]
use std::os::fd::AsFd;

use crate::text::Json;
use crate::text::fit::message;
use crate::text::quoting::for_terminal;

/// The two outputs of a command.
pub struct Console<'a> {
    /// Data.
    pub out: &'a mut dyn Write,
    /// Everything else.
    pub err: &'a mut dyn Write,
    /// The width of the terminal; `None` if `out` is not one.
    pub out_width: Option<usize>,
    /// The width of the terminal; `None` if `err` is not one.
    pub err_width: Option<usize>,
    /// Whether help in `out` has colours.
    pub out_colours: bool,
    /// Whether messages in `err` have colours.
    pub err_colours: bool,
    /// The answers in JSON that are kept for another format; `None` prints them.
    pub(crate) answers: Option<Vec<Json>>,
    /// Whether cells of tables were cut.
    is_cut: bool,
    /// The change that the command made already, such as "commit 7 of st was made". Printed if its report cannot be written.
    pub(crate) done: Option<String>,
}

impl<'a> Console<'a> {
    /// A console that is not a terminal.
    pub fn plain(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Console<'a> {
        let (out_width, err_width, answers) = (None, None, None);
        let (out_colours, err_colours, is_cut, done) = (false, false, false, None);
        Console { out, err, out_width, err_width, out_colours, err_colours, answers, is_cut, done }
    }

    /// A console over the standard output and error of this process.
    pub fn of_process(out: &'a mut dyn Write, err: &'a mut dyn Write) -> Console<'a> {
        let (out_width, err_width) = (width(io::stdout()), width(io::stderr()));
        let out_colours = colours::by_default(&io::stdout());
        let err_colours = colours::by_default(&io::stderr());
        Console { out_width, err_width, out_colours, err_colours, ..Console::plain(out, err) }
    }

    /// Prints indented JSON, or keeps it for another format.
    pub(crate) fn json(&mut self, answer: Json) -> io::Result<()> {
        match &mut self.answers {
            Some(answers) => answers.push(answer),
            None => writeln!(self.out, "{}", serde_json::to_string_pretty(&answer).unwrap_or_default())?,
        }
        Ok(())
    }

    /// Prints JSON as a line, or keeps it for another format.
    pub(crate) fn json_line(&mut self, answer: Json) -> io::Result<()> {
        match &mut self.answers {
            Some(answers) => answers.push(answer),
            None => writeln!(self.out, "{}", serde_json::to_string(&answer).unwrap_or_default())?,
        }
        Ok(())
    }

    /// Prints a message to `out`, folded on a terminal.
    pub(crate) fn line(&mut self, text: impl fmt::Display) -> io::Result<()> {
        writeln!(self.out, "{}", message(&text.to_string(), self.out_width))
    }

    /// Prints a message to `err`; on a terminal, it is folded, and control characters are escaped. Ignores errors of
    /// writing it.
    pub(crate) fn note(&mut self, text: &str) {
        let text = if self.err_width.is_some() { for_terminal(text) } else { text.into() };
        let text = message(&text, self.err_width);
        let text = if self.err_colours { colours::styled(&text) } else { text };
        let _ = writeln!(self.err, "{text}");
    }

    /// Calls `write` with a console whose output is `out`, which is no terminal.
    pub(crate) fn redirected<T>(
        &mut self,
        out: &mut dyn Write,
        write: impl FnOnce(&mut Console<'_>) -> T,
    ) -> T {
        let mut console =
            Console { out, err: &mut *self.err, out_width: None, done: None, answers: None, ..*self };
        let written = write(&mut console);
        self.is_cut = console.is_cut;
        written
    }

    /// Calls `write` with this console, whose output escapes control characters if it is a terminal.
    pub(crate) fn escaped<T>(&mut self, write: impl FnOnce(&mut Console<'_>) -> T) -> T {
        if self.out_width.is_none() {
            return write(self);
        }
        let mut out = Escaped(&mut *self.out);
        let mut console = Console { out: &mut out, err: &mut *self.err, done: None, answers: None, ..*self };
        let written = write(&mut console);
        (self.is_cut, self.done) = (console.is_cut, console.done);
        written
    }

    /// Notes that cells of a table are cut.
    pub(crate) fn note_cut(&mut self) {
        self.is_cut = true;
    }

    /// Prints the notes that come after all output.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.out.flush()?;
        if std::mem::take(&mut self.is_cut) {
            self.note("note: values that end with … are cut; --json prints them whole");
        }
        Ok(())
    }
}

/// A terminal that gets control characters of texts escaped. Each write is of whole characters.
struct Escaped<'a>(&'a mut dyn Write);

impl Write for Escaped<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_all(for_terminal(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The width of the terminal; `None` if `stream` is not one.
#[cfg(unix)]
fn width(stream: impl IsTerminal + AsFd) -> Option<usize> {
    let size = || terminal_size::terminal_size_of(&stream);
    stream.is_terminal().then(|| size().map_or(80, |(width, _)| usize::from(width.0)))
}

/// The width of the terminal; `None` if `stream` is not one.
#[cfg(not(unix))]
fn width(stream: impl IsTerminal) -> Option<usize> {
    let size = terminal_size::terminal_size;
    stream.is_terminal().then(|| size().map_or(80, |(width, _)| usize::from(width.0)))
}
