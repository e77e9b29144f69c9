//! Terms of a dictionary and ids, as lines or as rows.

use super::answer_rows::RowsOrLines;
use super::rows::RecordFormat;
use crate::api::Field;
use crate::console::Console;
use crate::error::Result;
use crate::text::fit::message;
use crate::text::{Json, Printer, StoredRef, printable};

/// Prints terms, or ids with their documents, one by one.
pub(crate) struct TermPrinter {
    printer: Printer,
    rows: RowsOrLines,
}

impl TermPrinter {
    /// A printer for rows with columns of these names; without a format, for lines.
    pub(crate) fn begin(
        field: &Field,
        names: &[&str],
        format: Option<RecordFormat>,
        console: &mut Console<'_>,
    ) -> Result<TermPrinter> {
        Ok(TermPrinter { printer: Printer::of(field), rows: RowsOrLines::begin(names, format, console)? })
    }

    /// Prints a term, and in a row `more` cells. A line on a terminal is folded.
    pub(crate) fn print(&mut self, term: &[u8], more: &[Json], console: &mut Console<'_>) -> Result<()> {
        let (TermPrinter { printer, rows }, term) = (self, StoredRef::Bytes(term));
        let width = console.out_width;
        // Control characters are escaped, so a term is one line.
        let line = || message(&printable(&printer.to_text(term)), width);
        rows.print(|| [&[printer.json_value(term)], more].concat(), line, console)
    }

    /// Prints the rest of the table, if the terms are one.
    pub(crate) fn finish(self, console: &mut Console<'_>) -> Result<()> {
        self.rows.finish(console)
    }
}
