//! Prints documents as CSV, NDJSON or tables.

use std::io::Write;

use serde_json::value::RawValue;

use super::json::Json;
use super::table::{Align, Table, cut_note, fit, width};
use super::text;
use crate::api::{DocId, Field, LogicalType, Segment};
use crate::args::{RecordArgs, RecordFormat};
use crate::console::Console;
use crate::error::CliError;
use crate::read::{CHUNK, Record, Records, select};

/// The name of the column that --doc-ids adds.
pub(crate) const DOC: &str = "_doc";

/// The maximum width of a cell of a table.
const CELL: usize = 40;

/// The default format: a table on a terminal, NDJSON elsewhere.
pub(crate) fn usual_format(console: &Console<'_>) -> RecordFormat {
    if console.out_width.is_some() { RecordFormat::Table } else { RecordFormat::Ndjson }
}

/// Prints documents of a segment.
pub(crate) fn print(
    segment: &Segment,
    docs: impl Iterator<Item = u32>,
    args: &RecordArgs,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let fields = select(std::slice::from_ref(segment), &args.columns)?;
    print_parts(&fields, std::iter::once((segment, docs)), args, usual_format(console), console)
}

/// Documents with their numbers as JSON objects, as `dv get --json --doc-ids` prints them.
pub(crate) fn json(segment: &Segment, docs: &[DocId], columns: &[String]) -> Result<Vec<Json>, CliError> {
    if docs.is_empty() {
        return Ok(Vec::new());
    }
    let (mut lines, mut notes) = (Vec::new(), Vec::new());
    let args = RecordArgs { columns: columns.to_vec(), format: None, json: true, doc_ids: true };
    let docs = docs.iter().map(|doc| doc.get());
    let console = &mut Console::plain(&mut lines, &mut notes);
    let fields = select(std::slice::from_ref(segment), columns)?;
    check_doc_ids(&fields, &args)?;
    ndjson(&fields, &mut Parts(std::iter::once((segment, docs))), args.doc_ids, console)?;
    let lines = String::from_utf8_lossy(&lines);
    let raw = |line: &str| RawValue::from_string(line.to_owned()).ok();
    Ok(lines.lines().filter_map(raw).map(Json::Raw).collect())
}

/// Prints documents of several segments, one segment after the other, in the format of `args` or `default`.
pub(crate) fn print_parts<'a, D: Iterator<Item = u32>>(
    fields: &[Field],
    parts: impl Iterator<Item = (&'a Segment, D)>,
    args: &RecordArgs,
    default: RecordFormat,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    print_documents(fields, &mut Parts(parts), args, default, console)
}

/// Prints documents of any source.
pub(crate) fn print_documents(
    fields: &[Field],
    documents: &mut dyn Documents,
    args: &RecordArgs,
    default: RecordFormat,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    check_doc_ids(fields, args)?;
    let printed = match named_format(args).unwrap_or(default) {
        RecordFormat::Table => table(fields, documents, console),
        RecordFormat::Ndjson => ndjson(fields, documents, args.doc_ids, console),
        RecordFormat::Csv => csv(fields, documents, args.doc_ids, ',', console),
        RecordFormat::Tsv => csv(fields, documents, args.doc_ids, '\t', console),
        RecordFormat::Parquet | RecordFormat::Arrow => {
            Err(CliError::usage("only `dv export` writes Parquet and Arrow"))
        }
    };
    printed.map_err(CliError::or_columns)
}

/// The format that the user chose.
pub(crate) fn named_format(args: &RecordArgs) -> Option<RecordFormat> {
    if args.json { Some(RecordFormat::Ndjson) } else { args.format }
}

/// Checks that no column has the name of the column of --doc-ids.
pub(crate) fn check_doc_ids(fields: &[Field], args: &RecordArgs) -> Result<(), CliError> {
    if args.doc_ids && fields.iter().any(|field| field.name == DOC) {
        return Err(CliError::usage("--doc-ids: a column has the name \"_doc\" already")
            .hint("choose other columns with --columns"));
    }
    Ok(())
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
}

/// A callback with the current chunk, a document number, and its index in the chunk.
pub(crate) type EachDocument<'e> = dyn FnMut(&Records, u32, usize) -> Result<(), CliError> + 'e;

/// Documents of one segment after the other.
struct Parts<I>(I);

impl<'a, D: Iterator<Item = u32>, I: Iterator<Item = (&'a Segment, D)>> Documents for Parts<I> {
    fn each(
        &mut self,
        fields: &[Field],
        _: &mut dyn Write,
        each: &mut EachDocument<'_>,
    ) -> Result<(), CliError> {
        let mut chunk: Vec<DocId> = Vec::with_capacity(CHUNK);
        for (segment, mut docs) in self.0.by_ref() {
            let mut records = Records::open(segment, fields)?;
            loop {
                chunk.clear();
                chunk.extend(docs.by_ref().take(CHUNK).map(DocId::new));
                if chunk.is_empty() {
                    break;
                }
                records.load(&chunk)?;
                for (at, doc) in chunk.iter().enumerate() {
                    each(&records, doc.get(), at)?;
                }
            }
        }
        Ok(())
    }
}

fn csv(
    fields: &[Field],
    documents: &mut dyn Documents,
    doc_ids: bool,
    delimiter: char,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let Console { out, err, .. } = console;
    let mut line = String::new();
    let names = fields.iter().map(|field| field.name.as_str());
    for name in doc_ids.then_some(DOC).into_iter().chain(names) {
        if !line.is_empty() {
            line.push(delimiter);
        }
        let start = line.len();
        line.push_str(name);
        text::quote_csv(&mut line, start, delimiter, |_| false);
    }
    line.push('\n');
    out.write_all(line.as_bytes())?;
    documents.each(fields, *err, &mut |records, doc, at| {
        line.clear();
        if doc_ids {
            line.push_str(&doc.to_string());
        }
        for (index, column) in records.columns().enumerate() {
            if doc_ids || index > 0 {
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
    doc_ids: bool,
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let Console { out, err, .. } = console;
    let keys: Vec<String> = fields.iter().map(|field| json_key(&field.name)).collect();
    let mut line = String::new();
    documents.each(fields, *err, &mut |records, doc, at| {
        line.clear();
        line.push('{');
        if doc_ids {
            line.push_str(&format!("{}{doc}", json_key(DOC)));
        }
        for (column, key) in records.columns().zip(&keys) {
            let start = line.len();
            if start > 1 {
                line.push(',');
            }
            line.push_str(key);
            if !column.values(at, |values| column.printer.json(values, &mut line)) {
                line.truncate(start);
            }
        }
        line.push_str("}\n");
        Ok(out.write_all(line.as_bytes())?)
    })
}

fn json_key(name: &str) -> String {
    text::json_text(name) + ":"
}

/// Prints a table if it fits the terminal, otherwise a block of lines for each document.
fn table(fields: &[Field], documents: &mut dyn Documents, console: &mut Console<'_>) -> Result<(), CliError> {
    let mut rows: Vec<(u32, Vec<String>)> = Vec::new();
    documents.each(fields, console.err, &mut |records, doc, at| {
        let cell = |column: Record<'_>| {
            let mut cell = String::new();
            column.values(at, |values| column.printer.plain(values, &mut cell));
            text::printable(&cell)
        };
        rows.push((doc, records.columns().map(cell).collect()));
        Ok(())
    })?;
    let names: Vec<String> = fields.iter().map(|field| text::printable(&field.name)).collect();
    let mut heading = vec![(DOC, Align::Right)];
    let sides = fields.iter().map(|field| if is_number(field) { Align::Right } else { Align::Left });
    heading.extend(names.iter().map(String::as_str).zip(sides));
    let mut table = Table::new(&heading);
    let mut cut = false;
    for (doc, cells) in &rows {
        let short = |cell: &String| {
            cut |= width(cell) > CELL;
            fit(cell, CELL)
        };
        let cells = cells.iter().map(short).collect::<Vec<_>>();
        table.row([vec![doc.to_string()], cells].concat());
    }
    if console.out_width.is_some_and(|width| table.width() > width) {
        return blocks(&rows, &names, console);
    }
    write!(console.out, "{table}")?;
    if cut {
        console.out.flush()?;
        console.note(&cut_note(CELL));
    }
    Ok(())
}

/// Whether values are aligned to the right.
fn is_number(field: &Field) -> bool {
    let number = matches!(field.logical, LogicalType::I64 | LogicalType::U64 | LogicalType::F64);
    number && !field.kind.is_multi_valued()
}

/// Prints a line for each value, uncut.
fn blocks(rows: &[(u32, Vec<String>)], names: &[String], console: &mut Console<'_>) -> Result<(), CliError> {
    let widest = names.iter().map(|name| width(name)).max().unwrap_or(0);
    for (doc, cells) in rows {
        writeln!(console.out, "── document {doc}")?;
        for (name, cell) in names.iter().zip(cells).filter(|(_, cell)| !cell.is_empty()) {
            writeln!(console.out, "  {}  {cell}", Align::Left.pad(name, widest))?;
        }
    }
    Ok(())
}
