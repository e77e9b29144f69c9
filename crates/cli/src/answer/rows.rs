//! Rows as CSV, TSV, NDJSON or tables.
//!
//! The printer knows the cells of a row, not whether it is a document or a row of a batch.

use std::io::Write;
use std::path::Path;

use clap::ValueEnum;

use super::table::{Align, Row, Table};
use crate::console::Console;
use crate::console::destination::{is_packed, is_stream, unpacked};
use crate::error::{CliError, Result};
use crate::text::printable;
use crate::text::quoting::{json_text, quote_csv};

/// The rows of a table, whose columns are as wide as these need. The next ones have a heading of their own, so that a
/// large result takes little memory.
pub(super) const TABLE_ROWS: usize = 1_000;

/// The format of printed documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecordFormat {
    /// A table; on a terminal, long values are cut and end with …
    Table,
    /// Comma-separated values with a header
    Csv,
    /// Tab-separated values with a header
    Tsv,
    /// A table in Markdown
    #[value(alias = "md")]
    Markdown,
    /// One JSON object a line
    #[value(alias = "jsonl", alias = "json")]
    Ndjson,
    /// Apache Parquet. Only `export` writes it, so other commands do not show it.
    #[value(alias = "pq", hide = true)]
    Parquet,
    /// Arrow IPC, as Parquet: the file format in a file, the stream format elsewhere
    #[value(alias = "feather", hide = true)]
    Arrow,
}

impl RecordFormat {
    /// The format that --json or --format names, or else the extension of the output. `None` without one, and for `own`: the
    /// extension of what the command prints without a format.
    pub(crate) fn chosen(
        json: bool,
        format: Option<RecordFormat>,
        output: Option<&Path>,
        own: &str,
    ) -> Result<Option<RecordFormat>> {
        match (format, output) {
            _ if json => Ok(Some(RecordFormat::Ndjson)),
            (None, Some(output)) => RecordFormat::of_output(output, own),
            _ => Ok(format),
        }
    }

    /// The format by the extension of the output, if it has one. Fails if no format has this extension, unless the output is a
    /// device or a pipe.
    fn of_output(output: &Path, own: &str) -> Result<Option<RecordFormat>> {
        let Some(extension) = unpacked(output).extension() else { return Ok(None) };
        let is_own = !own.is_empty() && extension.eq_ignore_ascii_case(own);
        let format = extension.to_str().and_then(|name| RecordFormat::from_str(name, true).ok());
        let extension = match format {
            _ if is_own => return Ok(None),
            None | Some(RecordFormat::Table) if is_stream(output) => return Ok(None),
            None | Some(RecordFormat::Table) => extension.to_string_lossy(),
            // These are packed inside.
            Some(RecordFormat::Parquet | RecordFormat::Arrow) if is_packed(output) => "gz".into(),
            format => return Ok(format),
        };
        let failure = CliError::usage(format!("{}: unknown extension \".{extension}\"", output.display()));
        let (text, columnar) = (RecordFormat::extensions(false), RecordFormat::extensions(true));
        Err(failure.hint(format!(
            "set --format, or use one of these extensions: {text}, each also with .gz; or {columnar} with `dv export`"
        )))
    }

    /// The extensions of formats of text, or of those that only `dv export` writes.
    fn extensions(is_columnar: bool) -> String {
        let formats = RecordFormat::value_variants().iter().filter(|format| **format != RecordFormat::Table);
        let values = formats.filter_map(RecordFormat::to_possible_value);
        let values: Vec<_> = values.filter(|value| value.is_hide_set() == is_columnar).collect();
        let names = values.iter().flat_map(|value| value.get_name_and_aliases());
        names.map(|name| format!(".{name}")).collect::<Vec<_>>().join(" ")
    }
}

/// The default format: a table on a terminal, NDJSON elsewhere.
pub(crate) fn usual_format(console: &Console<'_>) -> RecordFormat {
    if console.out_width.is_some() { RecordFormat::Table } else { RecordFormat::Ndjson }
}

/// A value of a row.
pub(super) trait RowCell {
    /// Appends a cell of CSV.
    fn csv(&self, delimiter: char, line: &mut String);

    /// Appends JSON. Returns `false` and appends nothing if the key is left out.
    fn json(&self, line: &mut String) -> bool;

    /// Appends a cell of a table.
    fn plain(&self, cell: &mut String);
}

/// Prints rows in one format.
pub(super) struct RowPrinter {
    format: RecordFormat,
    /// The keys of JSON.
    keys: Vec<String>,
    /// The rows of a table that are not printed yet.
    table: Table,
    has_table: bool,
    line: String,
}

impl RowPrinter {
    /// Prints the heading of CSV. The first `ids` columns of a table name its rows.
    pub(super) fn begin(
        columns: &[(String, Align)],
        ids: usize,
        format: RecordFormat,
        out: &mut dyn Write,
    ) -> Result<RowPrinter> {
        let keys = columns.iter().map(|(name, _)| json_text(name) + ":").collect();
        let heading: Vec<_> = columns.iter().map(|(name, align)| (printable(name), *align)).collect();
        let table = Table::of_rows(&heading, ids);
        if let Some(delimiter) = delimiter(format) {
            let mut line = String::new();
            for (at, (name, _)) in columns.iter().enumerate() {
                line.extend((at > 0).then_some(delimiter));
                let start = line.len();
                line.push_str(name);
                // At the beginning of a file, these say how it is read.
                let is_mark = |name: &str| name.starts_with("sep=") || name.starts_with('\u{feff}');
                quote_csv(&mut line, start, delimiter, |name| at == 0 && is_mark(name));
            }
            writeln!(out, "{line}")?;
        }
        if format == RecordFormat::Markdown {
            writeln!(out, "{}", markdown(columns.iter().map(|(name, _)| markdown_cell(name))))?;
            writeln!(out, "{}", markdown(columns.iter().map(|_| "---".to_owned())))?;
        }
        Ok(RowPrinter { format, keys, table, has_table: false, line: String::new() })
    }

    /// Prints a row, or keeps it for a table; `title` is the heading of its block if the table does not fit.
    pub(super) fn row<C: RowCell>(
        &mut self,
        title: impl FnOnce() -> String,
        cells: impl Iterator<Item = C>,
        out: &mut dyn Write,
    ) -> Result<()> {
        let RowPrinter { format, keys, table, line, .. } = self;
        line.clear();
        if let Some(delimiter) = delimiter(*format) {
            for (at, cell) in cells.enumerate() {
                line.extend((at > 0).then_some(delimiter));
                cell.csv(delimiter, line);
            }
        } else if *format == RecordFormat::Ndjson {
            line.push('{');
            for (key, cell) in keys.iter().zip(cells) {
                let start = line.len();
                line.push_str(if start > 1 { "," } else { "" });
                line.push_str(key);
                if !cell.json(line) {
                    line.truncate(start);
                }
            }
            line.push('}');
        } else {
            let escaped = if *format == RecordFormat::Markdown { markdown_cell } else { printable };
            let cells = cells.map(|cell| {
                line.clear();
                cell.plain(line);
                escaped(line)
            });
            if *format == RecordFormat::Markdown {
                return Ok(writeln!(out, "{}", markdown(cells))?);
            }
            table.rows.push(Row { cells: cells.collect(), title: Some(title()) });
            return Ok(());
        }
        line.push('\n');
        Ok(out.write_all(line.as_bytes())?)
    }

    /// Prints the rows that are kept if there are so many.
    pub(super) fn print_table(&mut self, least: usize, console: &mut Console<'_>) -> Result<()> {
        if self.format == RecordFormat::Table && self.table.rows.len() >= least {
            self.table.print(console)?;
            self.table.rows.clear();
            self.has_table = true;
        }
        Ok(())
    }

    /// Prints the rows that are kept; without any row, the heading of the table.
    pub(super) fn finish(mut self, console: &mut Console<'_>) -> Result<()> {
        self.print_table(self.has_table.into(), console)
    }
}

fn delimiter(format: RecordFormat) -> Option<char> {
    match format {
        RecordFormat::Csv => Some(','),
        RecordFormat::Tsv => Some('\t'),
        _ => None,
    }
}

/// A line of a table in Markdown.
fn markdown(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
}

/// Text for a cell in Markdown, in which nothing is markup or HTML. A line ends with `<br>`.
fn markdown_cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => cell.push_str("<br>"),
            '\\' | '|' | '<' | '&' | '*' | '_' | '~' | '`' | '[' | '$' => cell.extend(['\\', c]),
            c => cell.push(c),
        }
    }
    printable(&cell)
}
