//! Terms of a dictionary and ids, as lines or as rows.

use super::rows::{RecordFormat, RowCell, RowPrinter, TABLE_ROWS};
use super::table::Align;
use crate::api::Field;
use crate::console::Console;
use crate::error::Result;
use crate::text::fit::message;
use crate::text::{Printer, StoredRef, printable};

/// Prints terms, or ids with their documents, one by one.
pub(crate) struct TermPrinter {
    printer: Printer,
    /// `None` prints lines.
    rows: Option<RowPrinter>,
}

impl TermPrinter {
    /// A printer for ids if `is_id`, else for terms; without a format, for lines.
    pub(crate) fn begin(
        field: &Field,
        is_id: bool,
        format: Option<RecordFormat>,
        console: &mut Console<'_>,
    ) -> Result<TermPrinter> {
        let mut columns = vec![((if is_id { "id" } else { "term" }).to_owned(), Align::Left)];
        columns.extend(is_id.then(|| ("doc".to_owned(), Align::Right)));
        let rows = format.map(|format| RowPrinter::begin(&columns, 0, format, console.out)).transpose()?;
        Ok(TermPrinter { printer: Printer::of(field), rows })
    }

    /// Prints a term, or an id and its document. A line has no document; on a terminal, a long one is folded.
    pub(crate) fn print(&mut self, term: &[u8], doc: Option<u32>, console: &mut Console<'_>) -> Result<()> {
        let term = StoredRef::Bytes(term);
        let Some(rows) = &mut self.rows else {
            // Control characters are escaped, so a term is one line.
            let text = printable(&self.printer.to_text(term));
            return Ok(writeln!(console.out, "{}", message(&text, console.out_width))?);
        };
        let cells = std::iter::once(TermCell::Term(&self.printer, term)).chain(doc.map(TermCell::Doc));
        rows.row(String::new, cells, console.out)?;
        rows.print_table(TABLE_ROWS, console)
    }

    /// Prints the rest of the table, if the terms are one.
    pub(crate) fn finish(self, console: &mut Console<'_>) -> Result<()> {
        self.rows.map_or(Ok(()), |rows| rows.finish(console))
    }
}

enum TermCell<'a> {
    Term(&'a Printer, StoredRef<'a>),
    Doc(u32),
}

impl RowCell for TermCell<'_> {
    fn csv(&self, delimiter: char, line: &mut String) {
        match self {
            TermCell::Term(printer, term) => printer.csv(&[*term], delimiter, line),
            TermCell::Doc(doc) => line.push_str(&doc.to_string()),
        }
    }

    fn json(&self, line: &mut String) -> bool {
        match self {
            TermCell::Term(printer, term) => return printer.json(&[*term], line),
            TermCell::Doc(doc) => line.push_str(&doc.to_string()),
        }
        true
    }

    fn plain(&self, cell: &mut String) {
        match self {
            TermCell::Term(printer, term) => printer.plain(&[*term], cell),
            TermCell::Doc(doc) => cell.push_str(&doc.to_string()),
        }
    }
}
