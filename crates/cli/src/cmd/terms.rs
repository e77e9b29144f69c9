//! `dv terms`: prints the dictionary of a column, or all ids.

mod several;

use std::io;
use std::ops::ControlFlow;

use crate::api::{DocId, Field, Kind, LogicalType, OrdRange, Values};
use crate::args::inspect::TermsArgs;
use crate::console::Console;
use crate::error::{CliError, Exit, Result};
use crate::open::{OpenSegment, Opener, Segments, columns, id_index};
use crate::text::fit::message;
use crate::text::quoting::append_hex;
use crate::text::{Printer, StoredRef, printable};

pub(crate) fn run(args: &TermsArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let segments = Segments::open_all(opener, [&args.file])?;
    match (segments.only(), &args.column) {
        (Some(segment), Some(name)) => print_terms(segment, name, args, console)?,
        (None, Some(name)) => several::print_terms(&segments, name, args, console)?,
        // Without a column, --id was given.
        (Some(segment), None) => print_ids(segment, args, console)?,
        (None, None) => several::print_ids(&segments, args, console)?,
    }
    Ok(Exit::Ok)
}

fn print_terms(segment: &OpenSegment, name: &str, args: &TermsArgs, console: &mut Console<'_>) -> Result<()> {
    let Some(column) = segment.column(name)? else {
        return Err(columns::unknown_column(std::slice::from_ref(segment), name)?);
    };
    let field = &column.info().field;
    let Values::Ords(_, terms) = column.values() else { return Err(no_dictionary(segment.file(), field)) };
    let mut ords = match &args.prefix {
        None => OrdRange::new(0, terms.term_count()),
        Some(prefix) => terms.prefix(&bytes_of(prefix, field.logical)?)?,
    };
    ords.end = ords.end.min(ords.start.saturating_add(args.limit.unwrap_or(u32::MAX)));
    let (printer, mut written) = (Printer::of(field), Ok(()));
    terms.each_term(ords, &mut |_, term| {
        written = print_line(args, &printer, (term, None), console);
        flow(&written)
    })?;
    Ok(written?)
}

/// Prints ids, and with `--json` their documents.
fn print_ids(segment: &OpenSegment, args: &TermsArgs, console: &mut Console<'_>) -> Result<()> {
    let (index, field) = id_index::open(segment)?;
    let prefix = args.prefix.as_ref().map(|prefix| bytes_of(prefix, field.logical)).transpose()?;
    let (mut left, printer, mut written) = (args.limit.unwrap_or(u32::MAX), Printer::of(&field), Ok(()));
    let each = |id: &[u8], doc: DocId| {
        if left == 0 {
            return ControlFlow::Break(());
        }
        left -= 1;
        written = print_line(args, &printer, (id, Some(doc.get())), console);
        flow(&written)
    };
    index
        .prefix(&prefix.unwrap_or_default(), each)
        .map_err(|error| id_index::damaged(&error, id_index::MEND))?;
    Ok(written?)
}

fn no_dictionary(file: &str, field: &Field) -> CliError {
    let (name, kind) = (&field.name, field.kind);
    let message = format!("column {name:?} has no dictionary: its kind is {}", kind.name());
    let failure = CliError::failed(format!("{file}: {message}"));
    match kind {
        Kind::Binary => {
            failure.hint("build with :sorted after the type to get one, such as --type NAME=string:sorted")
        }
        _ => failure.hint("`dv stats` shows the range of numbers"),
    }
}

/// The bytes of a prefix.
fn bytes_of(prefix: &str, logical: LogicalType) -> Result<Vec<u8>> {
    match logical {
        LogicalType::Utf8 => Ok(prefix.as_bytes().to_vec()),
        LogicalType::Bytes => {
            let mut bytes = Vec::new();
            append_hex(prefix.as_bytes(), &mut bytes).map(|()| bytes).ok_or_else(|| {
                CliError::usage(format!("--prefix: expected pairs of hexadecimal digits, found {prefix:?}"))
            })
        }
        _ => Err(CliError::usage(format!(
            "--prefix: expected a column of string or bytes, found {}",
            logical.name()
        ))),
    }
}

/// Prints a term, or an id, in JSON with its document. On a terminal, a long one is folded.
fn print_line(
    args: &TermsArgs,
    printer: &Printer,
    (term, doc): (&[u8], Option<u32>),
    console: &mut Console<'_>,
) -> io::Result<()> {
    if args.json {
        let key = if doc.is_some() { "id" } else { "term" };
        let mut line = format!("{{\"{key}\":");
        printer.json(&[StoredRef::Bytes(term)], &mut line);
        let doc = doc.map(|doc| format!(",\"doc\":{doc}")).unwrap_or_default();
        return writeln!(console.out, "{line}{doc}}}");
    }
    // Control characters are escaped, so a term is one line.
    let text = printable(&printer.to_text(StoredRef::Bytes(term)));
    writeln!(console.out, "{}", message(&text, console.out_width))
}

/// Stops at an error of writing.
fn flow(written: &io::Result<()>) -> ControlFlow<()> {
    if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}
