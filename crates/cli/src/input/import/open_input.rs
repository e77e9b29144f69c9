//! Opened inputs, with the rows of their sample if they can be read only once.

use std::sync::Arc;

use super::Import;
#[cfg(feature = "parquet")]
use crate::input::arrow::ArrowFile;
use crate::input::csv_cells::{CsvRows, Dialect};
#[cfg(not(feature = "parquet"))]
use crate::input::error::InputError;
use crate::input::error::{BadRow, Result};
use crate::input::header;
use crate::input::ndjson::NdjsonRows;
use crate::input::row::{Fields, Row};
use crate::input::sniff_delimiter::sniff_delimiter;
use crate::input::source::{InputFormat, Opened, Source};

/// An opened input.
pub(super) enum OpenInput {
    /// The rows of the sample, and the reader of the rows after them.
    Rows(Vec<Result<Row, Box<BadRow>>>, Rows),
    #[cfg(feature = "parquet")]
    Columns(ArrowFile),
}

/// The rows of a text file.
pub(super) enum Rows {
    Csv(CsvRows),
    Ndjson(NdjsonRows),
}

impl Rows {
    pub(super) fn next(&mut self, fields: &mut Fields, row: &mut Row) -> Result<bool> {
        match self {
            Rows::Csv(rows) => rows.next(row),
            Rows::Ndjson(rows) => rows.next(fields, row),
        }
    }
}

impl Import {
    /// Opens an input and adds the columns of its header.
    pub(super) fn open(&mut self, source: &Source) -> Result<OpenInput> {
        let opened = source.open(self.options.format, self.options.encoding, self.options.end.as_ref())?;
        let reports_pauses = opened.reports_pauses.clone();
        // A decompressor may not read on after an error.
        let may_pause = !opened.packed;
        let name: &Arc<str> = &source.name;
        match opened.format {
            InputFormat::Parquet | InputFormat::Arrow => return open_columns(source, opened),
            InputFormat::Ndjson => {
                let rows = NdjsonRows::open(name, opened.reader, &self.options.exclude);
                reports_pauses.set(may_pause);
                return Ok(OpenInput::Rows(Vec::new(), Rows::Ndjson(rows)));
            }
            InputFormat::Csv | InputFormat::Tsv => {}
        }
        let delimiter = match self.options.delimiter {
            Some(delimiter) => delimiter,
            None if opened.format == InputFormat::Tsv => b'\t',
            None => self.sniff_delimiter(name, &opened.head),
        };
        let dialect = Dialect { delimiter, quotes: self.options.quotes, header: self.options.header.clone() };
        let rows = CsvRows::open(name, opened.reader, dialect, &mut self.fields)?;
        reports_pauses.set(may_pause);
        let new_names = rows.new_names();
        if let Some(note) = header::note(name, new_names)
            && !self.header_notes.iter().any(|(known, _)| known == new_names)
        {
            self.header_notes.push((new_names.to_vec(), note));
        }
        self.add_columns();
        for field in rows.columns() {
            if let Some(column) = self.columns.get_mut(field.index()) {
                column.in_header = true;
            }
        }
        Ok(OpenInput::Rows(Vec::new(), Rows::Csv(rows)))
    }

    /// The delimiter of a CSV file, by its first bytes.
    fn sniff_delimiter(&mut self, name: &str, head: &[u8]) -> u8 {
        let delimiter = sniff_delimiter(head, self.options.quotes);
        if delimiter != b',' && !self.sniffed.iter().any(|(known, _)| *known == delimiter) {
            let shown = char::from(delimiter);
            let note = format!("{name}: {shown:?} separates its cells (--delimiter , reads commas)");
            self.sniffed.push((delimiter, note));
        }
        delimiter
    }
}

/// Opens a Parquet or Arrow file.
#[cfg(feature = "parquet")]
fn open_columns(source: &Source, opened: Opened) -> Result<OpenInput> {
    ArrowFile::open(source, opened).map(OpenInput::Columns)
}

/// Fails, because the feature `parquet` is off.
#[cfg(not(feature = "parquet"))]
fn open_columns(source: &Source, opened: Opened) -> Result<OpenInput> {
    let format = if opened.format == InputFormat::Parquet { "Parquet" } else { "Arrow" };
    Err(InputError::refused(
        format!("{}: this dv was built without support for {format}", source.name),
        "install it with: cargo install docvalues-cli --features parquet",
    ))
}
