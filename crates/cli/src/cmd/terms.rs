//! `dv terms`: prints the dictionary of a column, or all ids.

mod several;

use std::ops::ControlFlow;

use crate::answer::terms::TermPrinter;
use crate::api::{DocId, Field, Kind, LogicalType, OrdRange, Values, append_hex};
use crate::args::inspect::TermsArgs;
use crate::console::Console;
use crate::error::{CliError, Exit, Result};
use crate::open::{OpenSegment, Opener, Segments, columns, id_index};

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
    let (mut printer, mut printed) = (TermPrinter::begin(field, &["term"], args.format, console)?, Ok(()));
    terms.each_term(ords, &mut |_, term| {
        printed = printer.print(term, &[], console);
        flow(&printed)
    })?;
    printed?;
    printer.finish(console)
}

/// Prints ids, in rows with their documents.
fn print_ids(segment: &OpenSegment, args: &TermsArgs, console: &mut Console<'_>) -> Result<()> {
    let (index, field) = id_index::open(segment)?;
    let prefix = args.prefix.as_ref().map(|prefix| bytes_of(prefix, field.logical)).transpose()?;
    let mut printer = TermPrinter::begin(&field, &["id", "doc"], args.format, console)?;
    let (mut left, mut printed) = (args.limit.unwrap_or(u32::MAX), Ok(()));
    let each = |id: &[u8], doc: DocId| {
        if left == 0 {
            return ControlFlow::Break(());
        }
        left -= 1;
        printed = printer.print(id, &[doc.get().into()], console);
        flow(&printed)
    };
    index
        .prefix(&prefix.unwrap_or_default(), each)
        .map_err(|error| id_index::damaged(&error, id_index::MEND))?;
    printed?;
    printer.finish(console)
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

/// Stops at an error of printing.
fn flow(printed: &Result<()>) -> ControlFlow<()> {
    if printed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}
