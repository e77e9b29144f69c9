//! `dv terms`: prints the dictionary of a column, or all ids.

mod several;

use std::io;
use std::ops::ControlFlow;

use crate::api::{DocId, DocRange, Error, Field, Kind, LogicalType, OrdRange, Rows, TermOrd, Values, View};
use crate::args::inspect::TermsArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::{OpenSegment, Opener, Segments, columns, id_index};
use crate::text::fit::message;
use crate::text::quoting::append_hex;
use crate::text::{Printer, StoredRef, printable};

/// The columns between tab stops.
const TAB: usize = 8;

pub(crate) fn run(args: &TermsArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
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

fn print_terms(
    segment: &OpenSegment,
    name: &str,
    args: &TermsArgs,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let Some(column) = segment.column(name)? else {
        return Err(columns::unknown_column(std::slice::from_ref(segment), name)?);
    };
    let (info, field) = (column.info(), &column.info().field);
    let Values::Ords(rows, terms) = column.values() else { return Err(no_dictionary(segment.file(), field)) };
    let mut ords = match &args.prefix {
        None => OrdRange::new(0, terms.term_count()),
        Some(prefix) => terms.prefix(&bytes_of(prefix, field.logical)?)?,
    };
    ords.end = ords.end.min(ords.start.saturating_add(args.limit.unwrap_or(u32::MAX)));
    let counts = if args.counts { Some(count(rows, info.docs, ords)?) } else { None };

    let (first, printer, mut written) = (ords.start, Printer::of(field), Ok(()));
    terms.each_term(ords, &mut |ord, term| {
        let count = counts.as_ref().and_then(|counts| counts.get(index(ord, first)));
        written = print_line(args, &printer, (term, count.map(|count| u64::from(*count))), console);
        flow(&written)
    })?;
    Ok(written?)
}

/// Prints ids, and with `--json` their documents.
fn print_ids(segment: &OpenSegment, args: &TermsArgs, console: &mut Console<'_>) -> Result<(), CliError> {
    let (index, field) = id_index::open(segment)?;
    let prefix = args.prefix.as_ref().map(|prefix| bytes_of(prefix, field.logical)).transpose()?;
    let (mut left, printer, mut written) = (args.limit.unwrap_or(u32::MAX), Printer::of(&field), Ok(()));
    let each = |id: &[u8], doc: DocId| {
        if left == 0 {
            return ControlFlow::Break(());
        }
        left -= 1;
        written = print_line(args, &printer, (id, Some(doc.get().into())), console);
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
fn bytes_of(prefix: &str, logical: LogicalType) -> Result<Vec<u8>, CliError> {
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

/// The number of documents with each of these terms.
fn count(rows: &dyn Rows<TermOrd>, docs: u32, ords: OrdRange) -> Result<Vec<u32>, Error> {
    let mut counts = vec![0; ords.len()];
    rows.scan(DocRange::new(0, docs), &mut |batch| {
        let all = match batch.values {
            View::One(ords) => ords,
            View::Many(lists) => lists.items(),
        };
        for ord in all {
            if let Some(count) = counts.get_mut(index(*ord, ords.start)) {
                *count += 1;
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(counts)
}

/// The index of an ordinal relative to `first`; `usize::MAX` if it is less.
fn index(ord: TermOrd, first: u32) -> usize {
    ord.get().checked_sub(first).and_then(|index| usize::try_from(index).ok()).unwrap_or(usize::MAX)
}

/// Prints a term with its count, or an id with its document. On a terminal, a long one is folded.
fn print_line(
    args: &TermsArgs,
    printer: &Printer,
    (term, number): (&[u8], Option<u64>),
    console: &mut Console<'_>,
) -> io::Result<()> {
    let (name, counted) = if args.column.is_some() { ("term", "documents") } else { ("id", "doc") };
    let mut line = String::new();
    if args.json {
        line += &format!("{{\"{name}\":");
        printer.json(&[StoredRef::Bytes(term)], &mut line);
        line += &number.map(|number| format!(",\"{counted}\":{number}")).unwrap_or_default();
        line += "}\n";
    } else {
        let count = number.filter(|_| args.counts).map(|count| format!("{count}\t")).unwrap_or_default();
        // A tab takes up to eight columns.
        let limit =
            console.out_width.map(|limit| if args.counts { limit.saturating_sub(TAB) } else { limit });
        // Control characters are escaped, so a term is one line.
        line = message(&(count + &printable(&printer.to_text(StoredRef::Bytes(term)))), limit) + "\n";
    }
    console.out.write_all(line.as_bytes())
}

/// Stops at an error of writing.
fn flow(written: &io::Result<()>) -> ControlFlow<()> {
    if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}
