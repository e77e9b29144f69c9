//! `dv build`: builds a segment from input files.

use std::path::Path;

use super::info::{info, stats};
use crate::api::writer::{self, BytesKind, FieldId, FieldSpec, SegmentWriter};
use crate::api::{Compression, LogicalType, Segment, SortKey};
use crate::args::{BuildArgs, InputArgs};
use crate::console::Console;
use crate::destination::{followed, refuse_input};
use crate::error::{CliError, Exit};
use crate::id_index::{self, IdIndexPlan};
use crate::input::column::{Column, MissingTokens};
use crate::input::column_type::{ColumnType, Layout};
use crate::input::error::BadRow;
#[cfg(feature = "parquet")]
use crate::input::import::DocBatch;
use crate::input::import::{Document, Exclude, Import, ImportOptions, Imported, StoredRef, type_flag};
use crate::input::schema::Schema;
use crate::input::source::Source;
use crate::output::json::Json;
use crate::output::text::{decimal, thousands};
use crate::output::usage_tables::columns;
use crate::progress::Progress;
use crate::sort;
use crate::text_format::TextFormat;

/// The number of bad rows to report at the end.
const SHOWN: usize = 5;

/// The maximum size of a batch of rows, in bytes.
const MAX_BATCH_BYTES: usize = 8 << 20;

pub(crate) fn run(args: &BuildArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    refuse_input(&args.input.inputs, &args.output)?;
    let output = followed(&args.output)?;
    let ids = IdIndexPlan::of_build(&args.ids)?;
    let mut import = prepare(&args.input, args.memory)?;
    if import.has_all_columns() {
        sort_keys(&args.sort_by, &import)?;
    }
    if let Some(ids) = &ids {
        ids.check(&import, import.has_all_columns())?;
    }

    let options = args.write.options(args.memory);
    let writer = SegmentWriter::create(output, writer::Schema::new(), options)?;
    let mut target = Target { writer, fields: Vec::new(), ids };
    let mut progress = Progress::new(console.err_is_terminal && !args.write.quiet, import.input_size());
    let added = import.run(|import, added| {
        progress.show(import.documents(), import.bytes_read(), console.err);
        match added {
            Imported::Document(document) => target.add(import, document),
            #[cfg(feature = "parquet")]
            Imported::DocBatch(table) => target.add_batch(import, table),
        }
    });
    progress.show_step("writing", console.err);
    let notes = added.and_then(|()| refuse_nothing(&import));
    let notes = notes.and_then(|()| target.finish(&import, &args.sort_by));
    progress.clear(console.err);
    let notes = notes?;

    if !args.write.quiet {
        report(args, &import, &notes, console)?;
    }
    Ok(Exit::Ok)
}

/// Fails if every row was skipped, because the format or the delimiter is probably wrong.
fn refuse_nothing(import: &Import) -> Result<(), CliError> {
    match import.skipped() {
        (skipped, [first, ..]) if import.documents() == 0 => {
            Err(CliError::failed(format!("all {} rows are bad; the first: {first}", thousands(skipped)))
                .hint("check --input-format and --delimiter"))
        }
        _ => Ok(()),
    }
}

/// Opens the inputs and chooses the types of their columns; `memory` is the budget for values.
pub(super) fn prepare(args: &InputArgs, memory: usize) -> Result<Import, CliError> {
    let sources = args.inputs.iter().map(|path| Source::new(path)).collect();
    Ok(Import::prepare(sources, options(args, memory)?)?)
}

fn options(args: &InputArgs, memory: usize) -> Result<ImportOptions, CliError> {
    let mut schema = match &args.schema {
        None => Schema::default(),
        Some(path) => read_schema(path)?,
    };
    for types in &args.types {
        schema.add_types(types).map_err(|message| CliError::usage(format!("--type {message}")))?;
    }
    Ok(ImportOptions {
        format: args.input_format,
        delimiter: args.delimiter,
        quotes: !args.no_quotes,
        header: !args.no_header,
        missing: MissingTokens::new(args.no_default_missing, &args.missing),
        schema,
        exclude: Exclude::new(&args.exclude),
        sample: args.sample,
        skip_bad: args.skip_bad,
        shown: SHOWN,
        batch_bytes: MAX_BATCH_BYTES.min(memory / 16),
    })
}

fn read_schema(path: &Path) -> Result<Schema, CliError> {
    let name = path.display();
    let text = std::fs::read_to_string(path).map_err(|error| CliError::file(&name, &error))?;
    Schema::from_toml(&text).map_err(|message| CliError::usage(format!("{name}: {message}")))
}

/// The segment to write, its field for each column of the import, and the plan of the id index.
struct Target {
    writer: SegmentWriter,
    fields: Vec<Option<FieldId>>,
    ids: Option<IdIndexPlan>,
}

impl Target {
    fn add(&mut self, import: &Import, document: &Document) -> Result<(), CliError> {
        // A column is added with its first value, when its type is known.
        for (column, _) in document.values() {
            self.field(import, column)?;
        }
        let fields = &self.fields;
        let mut target = self.writer.document();
        for (column, value) in document.values() {
            let Some(Some(field)) = fields.get(column) else { continue };
            match value {
                StoredRef::Number(number) => target.stored(*field, number)?,
                StoredRef::Bytes(bytes) => target.stored_bytes(*field, bytes)?,
            };
        }
        target.finish()?;
        Ok(())
    }

    /// Adds several documents.
    #[cfg(feature = "parquet")]
    fn add_batch(&mut self, import: &Import, table: &DocBatch) -> Result<(), CliError> {
        let fields = table.columns.iter().map(|(column, _)| self.field(import, *column));
        let fields: Vec<FieldId> = fields.collect::<Result<_, _>>()?;
        let mut batch = self.writer.batch(table.docs)?;
        for (field, (_, filled)) in fields.into_iter().zip(&table.columns) {
            let (lists, validity) = (filled.lists.as_deref(), filled.validity.as_deref());
            filled.stored.add_to(&mut batch, field, lists, validity)?;
        }
        batch.finish();
        Ok(())
    }

    /// The field of a column; adds it if necessary.
    fn field(&mut self, import: &Import, index: usize) -> Result<FieldId, CliError> {
        if let Some(Some(field)) = self.fields.get(index) {
            return Ok(*field);
        }
        if self.fields.len() <= index {
            self.fields.resize(index + 1, None);
        }
        let column = &import.columns()[index];
        let field = self.writer.add_field(spec(column))?;
        if let Some(ids) = self.ids.as_ref().filter(|ids| ids.column == column.name) {
            ids.check(import, true)?;
            self.writer.id_field(field, ids.options)?;
        }
        self.fields[index] = Some(field);
        Ok(field)
    }

    /// Sorts and writes the segment; returns notes for the user.
    fn finish(mut self, import: &Import, sort_by: &[String]) -> Result<Vec<String>, CliError> {
        let mut notes = Vec::new();
        for (index, column) in import.columns().iter().enumerate() {
            // A column that a header names exists even without values.
            if column.excluded || (column.values == 0 && !column.in_header) {
                continue;
            }
            let field = self.field(import, index)?;
            let (text_format, lost) = column.text_format(import.documents(), import.missing_tokens());
            let text_format = TextFormat { order: u32::try_from(index).ok(), ..text_format };
            if let Some(format) = text_format.to_format() {
                self.writer.set_format(field, format)?;
            }
            notes.extend(note(column, lost));
        }
        self.writer.sort_by(sort_keys(sort_by, import)?)?;
        let Some(ids) = &self.ids else {
            self.writer.finish().map_err(docvalues::WriteError::from)?;
            return Ok(notes);
        };
        ids.check(import, true)?;
        let column = import.columns().iter().find(|column| column.name == ids.column);
        let logical = column.and_then(|column| column.ty).map_or(LogicalType::Utf8, |ty| ty.logical);
        let documents =
            |[a, b]: [u32; 2]| format!("documents {a} and {b} (from 0, in the order of the input)");
        let hint = "leave one of them out of the input, or build without --id-field";
        let finished = self.writer.finish().map_err(docvalues::WriteError::from);
        finished.map_err(|error| id_index::refused(error, logical, documents, hint))?;
        Ok(notes)
    }
}

/// The keys of the index sort, which may name the columns found so far.
fn sort_keys(arguments: &[String], import: &Import) -> Result<Vec<SortKey>, CliError> {
    let columns =
        import.columns().iter().filter(|column| !column.excluded && (column.in_header || column.values > 0));
    let columns = columns.map(|column| (column.name.as_str(), column.ty.is_some_and(|ty| ty.multi)));
    sort::keys_to_write(arguments, &columns.collect::<Vec<_>>())
}

fn spec(column: &Column) -> FieldSpec {
    let ty = column.ty.unwrap_or(ColumnType::single(LogicalType::Utf8));
    let (kind, compression) = match ty.layout {
        Some(Layout::Sorted) => (BytesKind::Sorted, Compression::Auto),
        Some(Layout::Binary(compression)) => (BytesKind::Binary, compression),
        None => (BytesKind::Auto, Compression::Auto),
    };
    let spec = FieldSpec::new(&column.name, ty.logical).kind(kind).compression(compression);
    if ty.multi { spec.multi_valued() } else { spec }
}

/// A note on something unexpected about a column.
fn note(column: &Column, lost: bool) -> Option<String> {
    let name = &column.name;
    if lost {
        return Some(format!(
            "column {name:?}: its values are written in different ways, so export prints them in canonical form \
             ({} keeps every character)",
            type_flag(name, "string")
        ));
    }
    (column.unsampled && column.values > 0).then(|| {
        format!(
            "column {name:?}: no value in the sample, so its type is string (set --type, or use --sample all)"
        )
    })
}

fn report(
    args: &BuildArgs,
    import: &Import,
    notes: &[String],
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let segment = Segment::open(&args.output)?;
    let stats = stats(&segment)?;
    let (skipped, first) = import.skipped();
    if args.write.json {
        let input = [
            // Before and after decompression.
            ("input_bytes", import.bytes_read().into()),
            ("input_text_bytes", import.text_read().into()),
            ("skipped_rows", skipped.into()),
            ("first_skipped", first.iter().map(|row| row.to_string().into()).collect()),
            ("notes", notes.into()),
        ];
        return Ok(console.json(&Json::object(info(&segment, &stats)?.chain(input)))?);
    }
    write!(console.out, "{}", columns(&stats, segment.docs(), console.out_width))?;
    let output = args.output.display();
    writeln!(console.out, "\n{output}: {}", against_input(stats.bytes, import))?;
    console.out.flush()?;
    tell_skipped(skipped, first, console);
    for note in notes {
        console.note(&format!("note: {note}"));
    }
    if let [column] = import.columns()
        && let Some(delimiter) = [';', '\t', '|', ','].into_iter().find(|c| column.name.contains(*c))
    {
        console.note(&format!(
            "note: the input has a single column, {:?}; if {delimiter:?} separates its cells, set --delimiter",
            column.name
        ));
    }
    for name in import.unknown_names() {
        console.note(&format!("note: --type: no input has a column {name:?}"));
    }
    Ok(())
}

/// Compares the size of the segment with the text of the input, and with its compressed size.
fn against_input(bytes: u64, import: &Import) -> String {
    let (disk, text) = (import.bytes_read(), import.text_read());
    if text == 0 {
        return format!("{} bytes, from an empty input", thousands(bytes));
    }
    let percent = |of: u64| decimal(bytes * 100, of, 1);
    let mut line = format!(
        "{} bytes, {} % of the input's {} bytes{}",
        thousands(bytes),
        percent(text),
        thousands(text),
        if import.is_text() { " of text" } else { "" }
    );
    if disk < text {
        line += &format!(", {} % of its {} bytes compressed", percent(disk), thousands(disk));
    }
    line
}

fn tell_skipped(skipped: u64, first: &[BadRow], console: &mut Console<'_>) {
    if skipped == 0 {
        return;
    }
    let rows = if skipped == 1 { "row" } else { "rows" };
    let which = if skipped > first.len() as u64 { "; the first of them" } else { "" };
    console.note(&format!("skipped {} bad {rows}{which}:", thousands(skipped)));
    for row in first {
        console.note(&format!("  {row}"));
    }
}
