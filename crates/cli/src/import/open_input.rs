//! Opened inputs, with the rows of their sample if they can be read only once.

use std::io::BufRead;
use std::sync::Arc;

#[cfg(feature = "parquet")]
use super::arrow::ArrowFile;
use super::csv::delimiter::sniff_delimiter;
use super::csv::dialect::Dialect;
use super::csv::header;
use super::csv::rows::CsvRows;
#[cfg(not(feature = "parquet"))]
use super::error::InputError;
use super::error::{BadRow, Result};
use super::ndjson::NdjsonRows;
use super::row::{Fields, Row};
use super::source::{InputFormat, Opened, Source};
use super::{Exclude, Import};

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

    /// Other rows of the same file, which `reader` reads. The first is on `line`.
    pub(super) fn again(&self, reader: Box<dyn BufRead>, line: u64) -> Rows {
        match self {
            Rows::Csv(CsvRows { file, dialect, columns, .. }) => {
                Rows::Csv(CsvRows::new(file.clone(), reader, dialect.clone(), columns.clone(), line))
            }
            Rows::Ndjson(NdjsonRows { file, exclude, .. }) => {
                Rows::Ndjson(NdjsonRows::of_lines(file, reader, exclude, line))
            }
        }
    }

    /// The name of the file, and the reader of the rest of it.
    pub(super) fn reader(&mut self) -> (&Arc<str>, &mut Box<dyn BufRead>) {
        match self {
            Rows::Csv(CsvRows { file, reader, .. }) => (&*file, reader),
            Rows::Ndjson(NdjsonRows { file, reader, .. }) => (&*file, reader),
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
            InputFormat::Parquet | InputFormat::Arrow => {
                return open_columns(source, opened, &self.options.exclude);
            }
            InputFormat::Ndjson => {
                let rows = NdjsonRows::open(name, opened.reader, &self.options.exclude);
                reports_pauses.set(may_pause);
                return Ok(OpenInput::Rows(Vec::new(), Rows::Ndjson(rows)));
            }
            InputFormat::Csv | InputFormat::Tsv => {}
        }
        let mut extras = self.options.extras;
        let named = declared_delimiter(&opened.head).filter(|_| extras.skip_lines == 0);
        extras.skip_lines += u64::from(named.is_some());
        let delimiter = match (self.options.delimiter, named) {
            (Some(delimiter), _) => delimiter,
            (None, Some(delimiter)) => {
                self.note_delimiter(
                    delimiter,
                    format!(
                        "{name}: its first line says that {:?} separates its cells",
                        char::from(delimiter)
                    ),
                );
                delimiter
            }
            (None, None) if opened.format == InputFormat::Tsv => b'\t',
            (None, None) => self.sniff_delimiter(name, after_lines(&opened.head, extras.skip_lines)),
        };
        let (quotes, header) = (self.options.quotes, self.options.header.clone());
        let dialect = Dialect { delimiter, quotes, header, extras };
        let rows = CsvRows::open(name, opened.reader, dialect, &mut self.fields)?;
        reports_pauses.set(may_pause);
        let new_names = &rows.new_names;
        let notes: Vec<String> =
            header::note(name, new_names).into_iter().chain(rows.doubts.iter().cloned()).collect();
        if !notes.is_empty() && !self.header_notes.iter().any(|(known, _)| known == new_names) {
            self.header_notes.push((new_names.to_vec(), notes));
        }
        self.add_columns();
        for field in &rows.columns {
            if let Some(column) = self.columns.get_mut(field.index()) {
                column.in_header = true;
            }
        }
        Ok(OpenInput::Rows(Vec::new(), Rows::Csv(rows)))
    }

    /// The delimiter of a CSV file, by its first bytes.
    fn sniff_delimiter(&mut self, name: &str, head: &[u8]) -> u8 {
        let delimiter = sniff_delimiter(head, self.options.quotes);
        if delimiter != b',' {
            let shown = char::from(delimiter);
            self.note_delimiter(
                delimiter,
                format!("{name}: {shown:?} separates its cells (--delimiter , reads commas)"),
            );
        }
        delimiter
    }

    /// Keeps the note on the first file with a delimiter.
    fn note_delimiter(&mut self, delimiter: u8, note: String) {
        if !self.sniffed.iter().any(|(known, _)| *known == delimiter) {
            self.sniffed.push((delimiter, note));
        }
    }
}

/// The delimiter that a first line such as `sep=;` names, which Excel writes and reads.
fn declared_delimiter(head: &[u8]) -> Option<u8> {
    match head.strip_prefix(b"sep=")? {
        [delimiter, b'\n', ..] | [delimiter, b'\r', b'\n', ..] if delimiter.is_ascii() => Some(*delimiter),
        _ => None,
    }
}

/// The text after some lines.
fn after_lines(head: &[u8], lines: u64) -> &[u8] {
    (0..lines).fold(head, |head, _| {
        let end = head.iter().position(|byte| *byte == b'\n').map_or(head.len(), |end| end + 1);
        head.get(end..).unwrap_or_default()
    })
}

/// Opens a Parquet or Arrow file.
#[cfg(feature = "parquet")]
fn open_columns(source: &Source, opened: Opened, exclude: &Exclude) -> Result<OpenInput> {
    ArrowFile::open(source, opened, exclude).map(OpenInput::Columns)
}

/// Fails, because the feature `parquet` is off.
#[cfg(not(feature = "parquet"))]
fn open_columns(source: &Source, opened: Opened, _: &Exclude) -> Result<OpenInput> {
    let format = if opened.format == InputFormat::Parquet { "Parquet" } else { "Arrow" };
    Err(InputError::refused(
        format!("{}: this dv was built without support for {format}", source.name),
        "install it from a checkout: cargo install --path crates/cli --features parquet",
    ))
}
