//! Prints documents as CSV, NDJSON or tables.

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use clap::ValueEnum;
use serde_json::value::RawValue;

use super::table::{self, Align, WideRow};
use crate::api::{DocAddress, DocId, Field, LogicalType};
use crate::console::Console;
use crate::error::CliError;
use crate::open::records::{CHUNK, Record, Records};
use crate::open::segment::OpenSegment;
use crate::open::segments::Segments;
use crate::text::json::Json;
use crate::text::quoting;

/// The name of the column of document numbers that --doc-ids adds.
pub(crate) const DOC: &str = "_doc";

/// The name of the column of files that --doc-ids adds before it if documents are of several.
const FILE: &str = "_file";

/// The format of printed documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecordFormat {
    /// A table; long values are cut and end with …
    Table,
    /// Comma-separated values with a header
    Csv,
    /// Tab-separated values with a header
    Tsv,
    /// One JSON object a line
    #[value(alias = "jsonl", alias = "json")]
    Ndjson,
    /// Apache Parquet (`export` only)
    #[value(alias = "pq")]
    Parquet,
    /// Arrow IPC (`export` only): the file format in a file, the stream format elsewhere
    #[value(alias = "feather")]
    Arrow,
}

impl RecordFormat {
    /// The format by the extension of a file, if it has one. An unknown extension is returned as an error.
    pub(crate) fn of_file(path: &Path) -> Result<Option<RecordFormat>, Cow<'_, str>> {
        let Some(ending) = path.extension() else { return Ok(None) };
        match ending.to_str().and_then(|ending| RecordFormat::from_str(ending, true).ok()) {
            None | Some(RecordFormat::Table) => Err(ending.to_string_lossy()),
            format => Ok(format),
        }
    }

    /// The extensions of all formats.
    pub(crate) fn endings() -> impl Iterator<Item = String> {
        let formats = RecordFormat::value_variants().iter().filter(|format| **format != RecordFormat::Table);
        let values = formats.filter_map(RecordFormat::to_possible_value);
        values
            .flat_map(|value| value.get_name_and_aliases().map(|name| format!(".{name}")).collect::<Vec<_>>())
    }
}

/// The columns of documents to print, and their format.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordOptions {
    /// All, if it is empty.
    pub(crate) columns: Vec<String>,
    pub(crate) format: Option<RecordFormat>,
    pub(crate) doc_ids: bool,
}

/// The default format: a table on a terminal, NDJSON elsewhere.
pub(crate) fn usual_format(console: &Console<'_>) -> RecordFormat {
    if console.out_width.is_some() { RecordFormat::Table } else { RecordFormat::Ndjson }
}

/// Prints these documents.
pub(crate) fn print(
    segments: &Segments,
    docs: impl Iterator<Item = DocAddress>,
    options: &RecordOptions,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let fields = segments.select(&options.columns)?;
    print_found(segments, &fields, docs, options, usual_format(console), console)
}

/// Prints documents of segments that are searched together, in the format of `options` or `default`.
pub(crate) fn print_found(
    segments: &Segments,
    fields: &[Field],
    docs: impl Iterator<Item = DocAddress>,
    options: &RecordOptions,
    default: RecordFormat,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    print_documents(fields, &mut Found { segments, docs }, options, default, console)
}

/// Documents with their numbers as JSON objects, as `dv sort --json --doc-ids` prints them.
pub(crate) fn json(
    segments: &Segments,
    docs: &[DocAddress],
    columns: &[String],
) -> Result<Vec<Json>, CliError> {
    if docs.is_empty() {
        return Ok(Vec::new());
    }
    let (mut lines, mut notes) = (Vec::new(), Vec::new());
    let options = RecordOptions { doc_ids: true, ..RecordOptions::default() };
    let console = &mut Console::plain(&mut lines, &mut notes);
    let fields = segments.select(columns)?;
    check_doc_ids(&fields, &options, segments.only().is_none())?;
    let documents = &mut Found { segments, docs: docs.iter().copied() };
    let files = documents.files();
    ndjson(&fields, documents, &DocIds { files: files.as_deref(), are_printed: true }, console)?;
    let lines = String::from_utf8_lossy(&lines);
    let raw = |line: &str| RawValue::from_string(line.to_owned()).ok();
    Ok(lines.lines().filter_map(raw).map(Json::Raw).collect())
}

/// Prints the live documents of several segments, one segment after the other, in the format of `options` or `default`.
pub(crate) fn print_parts<'a>(
    fields: &[Field],
    parts: impl Iterator<Item = &'a OpenSegment>,
    options: &RecordOptions,
    default: RecordFormat,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    print_documents(fields, &mut Parts(parts), options, default, console)
}

/// Prints documents of any source.
pub(crate) fn print_documents(
    fields: &[Field],
    documents: &mut dyn Documents,
    options: &RecordOptions,
    default: RecordFormat,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let files = documents.files();
    check_doc_ids(fields, options, files.is_some())?;
    let ids = DocIds { files: files.as_deref(), are_printed: options.doc_ids };
    let printed = match options.format.unwrap_or(default) {
        RecordFormat::Table => table(fields, documents, &ids, console),
        RecordFormat::Ndjson => ndjson(fields, documents, &ids, console),
        RecordFormat::Csv => csv(fields, documents, &ids, ',', console),
        RecordFormat::Tsv => csv(fields, documents, &ids, '\t', console),
        RecordFormat::Parquet | RecordFormat::Arrow => {
            Err(CliError::usage("only `dv export` writes Parquet and Arrow"))
        }
    };
    printed.map_err(CliError::or_columns)
}

/// Checks that no column has the name of a column of --doc-ids.
pub(crate) fn check_doc_ids(
    fields: &[Field],
    options: &RecordOptions,
    has_files: bool,
) -> Result<(), CliError> {
    let is_taken = |name: &str| fields.iter().any(|field| field.name == name);
    let taken = [(DOC, true), (FILE, has_files)].into_iter().find(|(name, added)| *added && is_taken(name));
    match taken.filter(|_| options.doc_ids) {
        None => Ok(()),
        Some((name, _)) => Err(CliError::usage(format!("--doc-ids: a column has the name {name:?} already"))
            .hint("choose other columns with --columns")),
    }
}

/// The columns that --doc-ids adds.
struct DocIds<'a> {
    /// The files, if documents are of several.
    files: Option<&'a [String]>,
    are_printed: bool,
}

impl DocIds<'_> {
    fn file(&self, doc: DocAddress) -> Option<&str> {
        self.files.and_then(|files| files.get(doc.part as usize)).map(String::as_str)
    }

    /// The names of the columns.
    fn names<'n>(&self) -> impl Iterator<Item = &'n str> {
        self.files.map(|_| FILE).into_iter().chain([DOC]).filter(|_| self.are_printed)
    }

    /// Appends their cells to a line of CSV.
    fn csv(&self, doc: DocAddress, delimiter: char, line: &mut String) {
        if !self.are_printed {
            return;
        }
        if let Some(file) = self.file(doc) {
            let start = line.len();
            line.push_str(file);
            quoting::quote_csv(line, start, delimiter, |_| false);
            line.push(delimiter);
        }
        line.push_str(&doc.doc.to_string());
    }

    /// Appends them to a JSON object.
    fn json(&self, doc: DocAddress, line: &mut String) {
        if !self.are_printed {
            return;
        }
        if let Some(file) = self.file(doc) {
            line.push_str(&format!("{}{},", json_key(FILE), quoting::json_text(file)));
        }
        line.push_str(&format!("{}{}", json_key(DOC), doc.doc));
    }
}

/// A source of documents to print.
pub(crate) trait Documents {
    /// Reads these columns of the documents in chunks and calls `each` for every document in order. Messages go to
    /// `err`.
    fn each(
        &mut self,
        fields: &[Field],
        err: &mut dyn Write,
        each: &mut EachDocument<'_>,
    ) -> Result<(), CliError>;

    /// The file of each part, if documents are told apart by it.
    fn files(&self) -> Option<Vec<String>> {
        None
    }
}

/// A callback with the current chunk, a document, and its index in the chunk.
pub(crate) type EachDocument<'e> = dyn FnMut(&Records, DocAddress, usize) -> Result<(), CliError> + 'e;

/// The live documents of one segment after the other.
struct Parts<I>(I);

impl<'a, I: Iterator<Item = &'a OpenSegment>> Documents for Parts<I> {
    fn each(
        &mut self,
        fields: &[Field],
        _: &mut dyn Write,
        each: &mut EachDocument<'_>,
    ) -> Result<(), CliError> {
        let mut chunk: Vec<DocId> = Vec::with_capacity(CHUNK);
        for (part, segment) in (0..).zip(self.0.by_ref()) {
            let (mut docs, mut records) = (segment.live_docs(), Records::open(segment, fields)?);
            loop {
                chunk.clear();
                chunk.extend(docs.by_ref().take(CHUNK).map(DocId::new));
                if chunk.is_empty() {
                    break;
                }
                records.load(&chunk)?;
                for (at, doc) in chunk.iter().enumerate() {
                    each(&records, DocAddress { part, doc: *doc }, at)?;
                }
            }
        }
        Ok(())
    }
}

/// Documents of segments that are searched together, in any order.
struct Found<'a, I> {
    segments: &'a Segments,
    docs: I,
}

impl<I: Iterator<Item = DocAddress>> Documents for Found<'_, I> {
    fn each(
        &mut self,
        fields: &[Field],
        _: &mut dyn Write,
        each: &mut EachDocument<'_>,
    ) -> Result<(), CliError> {
        let mut records = Records::over(self.segments, fields.iter().map(Some))?;
        let mut chunk: Vec<DocAddress> = Vec::with_capacity(CHUNK);
        loop {
            chunk.clear();
            chunk.extend(self.docs.by_ref().take(CHUNK));
            if chunk.is_empty() {
                return Ok(());
            }
            records.load(&chunk)?;
            for (at, doc) in chunk.iter().enumerate() {
                each(&records, *doc, at)?;
            }
        }
    }

    fn files(&self) -> Option<Vec<String>> {
        Some(self.segments.files()?.map(str::to_owned).collect())
    }
}

fn csv(
    fields: &[Field],
    documents: &mut dyn Documents,
    ids: &DocIds<'_>,
    delimiter: char,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let Console { out, err, .. } = console;
    let mut line = String::new();
    let names = fields.iter().map(|field| field.name.as_str());
    for name in ids.names().chain(names) {
        if !line.is_empty() {
            line.push(delimiter);
        }
        let start = line.len();
        line.push_str(name);
        quoting::quote_csv(&mut line, start, delimiter, |_| false);
    }
    line.push('\n');
    out.write_all(line.as_bytes())?;
    documents.each(fields, *err, &mut |records, doc, at| {
        line.clear();
        ids.csv(doc, delimiter, &mut line);
        for (index, column) in records.columns().enumerate() {
            if ids.are_printed || index > 0 {
                line.push(delimiter);
            }
            column.values(at, |values| column.printer.csv(values, delimiter, &mut line));
        }
        line.push('\n');
        Ok(out.write_all(line.as_bytes())?)
    })
}

fn ndjson(
    fields: &[Field],
    documents: &mut dyn Documents,
    ids: &DocIds<'_>,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let Console { out, err, .. } = console;
    let keys: Vec<String> = fields.iter().map(|field| json_key(&field.name)).collect();
    let (mut line, mut has_nulls) = (String::new(), vec![false; fields.len()]);
    documents.each(fields, *err, &mut |records, doc, at| {
        line.clear();
        line.push('{');
        ids.json(doc, &mut line);
        for ((column, key), has_nulls) in records.columns().zip(&keys).zip(&mut has_nulls) {
            let start = line.len();
            if start > 1 {
                line.push(',');
            }
            line.push_str(key);
            let is_printed = column.values(at, |values| {
                *has_nulls |= column.printer.has_nulls(values);
                column.printer.json(values, &mut line)
            });
            if !is_printed {
                line.truncate(start);
            }
        }
        line.push_str("}\n");
        Ok(out.write_all(line.as_bytes())?)
    })?;
    let with_nulls = fields.iter().zip(&has_nulls).filter(|(_, has_nulls)| **has_nulls);
    let with_nulls: Vec<&str> = with_nulls.map(|(field, _)| field.name.as_str()).collect();
    if !with_nulls.is_empty() {
        let columns = quoting::named_columns(with_nulls.into_iter());
        console
            .note(&format!("note: {columns}: NaN and infinity are null in NDJSON (--format csv keeps them)"));
    }
    Ok(())
}

fn json_key(name: &str) -> String {
    quoting::json_text(name) + ":"
}

/// Prints a table for a terminal.
fn table(
    fields: &[Field],
    documents: &mut dyn Documents,
    ids: &DocIds<'_>,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let mut rows: Vec<(DocAddress, Vec<String>)> = Vec::new();
    documents.each(fields, console.err, &mut |records, doc, at| {
        let cell = |column: Record<'_>| {
            let mut cell = String::new();
            column.values(at, |values| column.printer.plain(values, &mut cell));
            quoting::printable(&cell)
        };
        rows.push((doc, records.columns().map(cell).collect()));
        Ok(())
    })?;
    let sides = fields.iter().map(|field| if is_number(field) { Align::Right } else { Align::Left });
    let ids_heading = ids.files.map(|_| (FILE.to_owned(), Align::Left)).into_iter();
    let ids_heading = ids_heading.chain([(DOC.to_owned(), Align::Right)]);
    let names = fields.iter().map(|field| quoting::printable(&field.name)).zip(sides);
    let row = |(doc, cells): (DocAddress, Vec<String>)| {
        let (file, doc) = (ids.file(doc).map(quoting::printable), doc.doc.to_string());
        let of = file.as_ref().map(|file| format!(" of {file}")).unwrap_or_default();
        let title = format!("document {doc}{of}");
        WideRow { title, ids: file.into_iter().chain([doc]).collect(), cells }
    };
    let rows: Vec<WideRow> = rows.into_iter().map(row).collect();
    table::print(&ids_heading.chain(names).collect::<Vec<_>>(), &rows, console)
}

/// Whether values are aligned to the right.
fn is_number(field: &Field) -> bool {
    let number = matches!(field.logical, LogicalType::I64 | LogicalType::U64 | LogicalType::F64);
    number && !field.kind.is_multi_valued()
}
