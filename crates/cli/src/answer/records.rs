//! Documents as rows.

use std::cell::Cell;
use std::io::Write;

use serde_json::value::RawValue;

use super::rows::{RecordFormat, RowCell, RowPrinter, usual_format};
use super::table::Align;
use crate::api::{DocAddress, DocId, Field, LogicalType};
use crate::console::Console;
use crate::error::{CliError, Result};
use crate::open::records::{CHUNK, Record, Records};
use crate::open::{OpenSegment, Segments};
use crate::text::{Json, quoting};

/// The name of the column of document numbers that --doc-ids adds.
pub(crate) const DOC: &str = "_doc";

/// The name of the column of files that --doc-ids adds before it if documents are of several.
const FILE: &str = "_file";

/// The columns of documents to print, and their format.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordOptions {
    /// All, if it is empty.
    pub(crate) columns: Vec<String>,
    pub(crate) format: Option<RecordFormat>,
    pub(crate) doc_ids: bool,
}

/// Prints these documents.
pub(crate) fn print(
    segments: &Segments,
    docs: impl Iterator<Item = DocAddress>,
    options: &RecordOptions,
    console: &mut Console<'_>,
) -> Result<()> {
    let fields = segments.select(&options.columns)?;
    print_documents(&fields, &mut Found { segments, docs }, options, usual_format(console), console)
}

/// Documents with their numbers as JSON objects, as `dv sort --json --doc-ids` prints them; NaN and infinity are strings if
/// `nulls_as_text`.
pub(crate) fn json(
    segments: &Segments,
    docs: &[DocAddress],
    columns: &[String],
    nulls_as_text: bool,
) -> Result<Vec<Json>> {
    if docs.is_empty() {
        return Ok(Vec::new());
    }
    let (mut lines, mut notes) = (Vec::new(), Vec::new());
    let console = &mut Console::plain(&mut lines, &mut notes);
    let documents = &mut Found { segments, docs: docs.iter().copied() };
    let fields = segments.select(columns)?;
    print_rows(&fields, documents, (RecordFormat::Ndjson, true, nulls_as_text), console)?;
    let lines = String::from_utf8_lossy(&lines);
    let raw = |line: &str| RawValue::from_string(line.to_owned()).ok();
    Ok(lines.lines().filter_map(raw).map(Json::Raw).collect())
}

/// Prints documents of any source in the format of `options` or `default`.
pub(crate) fn print_documents(
    fields: &[Field],
    documents: &mut dyn Documents,
    options: &RecordOptions,
    default: RecordFormat,
    console: &mut Console<'_>,
) -> Result<()> {
    let format = options.format.unwrap_or(default);
    print_rows(fields, documents, (format, options.doc_ids, false), console).map_err(CliError::or_columns)
}

/// Prints documents in this format, with the columns of --doc-ids if `doc_ids`; tables always have them.
fn print_rows(
    fields: &[Field],
    documents: &mut dyn Documents,
    (format, doc_ids, nulls_as_text): (RecordFormat, bool, bool),
    console: &mut Console<'_>,
) -> Result<()> {
    let files = documents.files();
    check_doc_ids(fields, doc_ids, files.is_some())?;
    let has_ids = doc_ids || format == RecordFormat::Table;
    let ids = files.iter().map(|_| (FILE, Align::Left)).chain([(DOC, Align::Right)]).filter(|_| has_ids);
    let mut columns: Vec<(String, Align)> = ids.map(|(name, align)| (name.to_owned(), align)).collect();
    let ids = columns.len();
    let align = |field| if is_number(field) { Align::Right } else { Align::Left };
    columns.extend(fields.iter().map(|field| (field.name.clone(), align(field))));
    let Console { out, err, .. } = console;
    let mut rows = RowPrinter::begin(&columns, ids, format, *out)?;
    let has_nulls = vec![Cell::new(false); fields.len()];
    documents.each(fields, *err, &mut |records, doc, at| {
        let file = files.as_ref().and_then(|files| files.get(doc.part as usize));
        let title = || {
            let of = file.map(|file| format!(" of {}", quoting::printable(file))).unwrap_or_default();
            format!("document {}{of}", doc.doc)
        };
        let ids = file.map(|file| RecordCell::File(file)).into_iter().chain([RecordCell::Doc(doc.doc)]);
        let values = records.columns().zip(&has_nulls);
        let values = values.map(|(column, cell)| {
            let has_nulls = (!nulls_as_text).then_some(cell);
            RecordCell::Values { column, at, has_nulls }
        });
        rows.row(title, ids.filter(|_| has_ids).chain(values), *out)
    })?;
    rows.finish(console)?;
    let with_nulls = fields.iter().zip(&has_nulls).filter(|(_, has_nulls)| has_nulls.get());
    let with_nulls: Vec<&str> = with_nulls.map(|(field, _)| field.name.as_str()).collect();
    if !with_nulls.is_empty() {
        let columns = quoting::named_columns(with_nulls.into_iter());
        console
            .note(&format!("note: {columns}: NaN and infinity are null in NDJSON (--format csv keeps them)"));
    }
    Ok(())
}

/// Checks that no column has the name of a column of --doc-ids.
pub(crate) fn check_doc_ids(fields: &[Field], doc_ids: bool, has_files: bool) -> Result<()> {
    let is_taken = |name: &str| fields.iter().any(|field| field.name == name);
    let taken = [(DOC, true), (FILE, has_files)].into_iter().find(|(name, added)| *added && is_taken(name));
    match taken.filter(|_| doc_ids) {
        None => Ok(()),
        Some((name, _)) => Err(CliError::usage(format!("--doc-ids: a column has the name {name:?} already"))
            .hint("choose other columns with --columns")),
    }
}

/// A source of documents to print.
pub(crate) trait Documents {
    /// Reads these columns of the documents in chunks and calls `each` for every document in order. Messages go to
    /// `err`.
    fn each(&mut self, fields: &[Field], err: &mut dyn Write, each: &mut EachDocument<'_>) -> Result<()>;

    /// The file of each part, if documents are told apart by it.
    fn files(&self) -> Option<Vec<String>> {
        None
    }
}

/// A callback with the current chunk, a document, and its index in the chunk.
pub(crate) type EachDocument<'e> = dyn FnMut(&Records, DocAddress, usize) -> Result<()> + 'e;

/// The live documents of one segment after the other.
pub(crate) struct Parts<I>(pub(crate) I);

impl<'a, I: Iterator<Item = &'a OpenSegment>> Documents for Parts<I> {
    fn each(&mut self, fields: &[Field], _: &mut dyn Write, each: &mut EachDocument<'_>) -> Result<()> {
        for (part, segment) in (0..).zip(self.0.by_ref()) {
            let (docs, records) = (segment.live_docs().map(DocId::new), Records::open(segment, fields)?);
            each_in_chunks(docs, records, |records, doc, at| each(records, DocAddress { part, doc }, at))?;
        }
        Ok(())
    }
}

/// Documents of segments that are searched together, in any order.
pub(crate) struct Found<'a, I> {
    pub(crate) segments: &'a Segments,
    pub(crate) docs: I,
}

impl<I: Iterator<Item = DocAddress>> Documents for Found<'_, I> {
    fn each(&mut self, fields: &[Field], _: &mut dyn Write, each: &mut EachDocument<'_>) -> Result<()> {
        each_in_chunks(&mut self.docs, Records::over(self.segments, fields.iter().map(Some))?, each)
    }

    fn files(&self) -> Option<Vec<String>> {
        Some(self.segments.files()?.map(str::to_owned).collect())
    }
}

/// Reads documents in chunks, and calls `each` with the chunk, the document and its index there.
fn each_in_chunks<D: Copy + Into<DocAddress>>(
    mut docs: impl Iterator<Item = D>,
    mut records: Records,
    mut each: impl FnMut(&Records, D, usize) -> Result<()>,
) -> Result<()> {
    let mut chunk: Vec<D> = Vec::with_capacity(CHUNK);
    loop {
        chunk.clear();
        chunk.extend(docs.by_ref().take(CHUNK));
        if chunk.is_empty() {
            return Ok(());
        }
        records.load(&chunk)?;
        for (at, doc) in chunk.iter().enumerate() {
            each(&records, *doc, at)?;
        }
    }
}

/// A cell of a document.
enum RecordCell<'a> {
    File(&'a str),
    Doc(DocId),
    /// The values of a column. Its flag is set if some are `null` in JSON; without one, they are text.
    Values {
        column: Record<'a>,
        at: usize,
        has_nulls: Option<&'a Cell<bool>>,
    },
}

impl RowCell for RecordCell<'_> {
    fn csv(&self, delimiter: char, line: &mut String) {
        match self {
            RecordCell::File(file) => {
                let start = line.len();
                line.push_str(file);
                quoting::quote_csv(line, start, delimiter, |_| false);
            }
            RecordCell::Doc(doc) => line.push_str(&doc.to_string()),
            RecordCell::Values { column, at, .. } => {
                column.values(*at, |values| column.printer.csv(values, delimiter, line));
            }
        }
    }

    fn json(&self, line: &mut String) -> bool {
        match self {
            RecordCell::File(file) => quoting::json_string(file, line),
            RecordCell::Doc(doc) => line.push_str(&doc.to_string()),
            RecordCell::Values { column, at, has_nulls } => {
                return column.values(*at, |values| {
                    if let Some(has_nulls) = has_nulls {
                        has_nulls.set(has_nulls.get() || column.printer.has_nulls(values));
                    }
                    column.printer.json_or_text(values, has_nulls.is_none(), line)
                });
            }
        }
        true
    }

    fn plain(&self, cell: &mut String) {
        match self {
            RecordCell::File(file) => cell.push_str(file),
            RecordCell::Doc(doc) => cell.push_str(&doc.to_string()),
            RecordCell::Values { column, at, .. } => {
                column.values(*at, |values| column.printer.plain(values, cell));
            }
        }
    }
}

/// Whether values are aligned to the right.
fn is_number(field: &Field) -> bool {
    let number = matches!(field.logical, LogicalType::I64 | LogicalType::U64 | LogicalType::F64);
    number && !field.kind.is_multi_valued()
}
