//! `dv build`: builds a segment from input files.

use std::path::Path;

use super::info::{info, stats};
use crate::api::writer::{self, SegmentWriter};
use crate::api::{LogicalType, Segment, SortKey};
use crate::args::{BuildArgs, InputArgs};
use crate::console::Console;
use crate::destination::{followed, refuse_input};
use crate::error::{CliError, Exit};
use crate::id_index::{self, IdIndexPlan};
use crate::input::column::MissingTokens;
use crate::input::error::BadRow;
use crate::input::header::Header;
use crate::input::import::{Exclude, Import, ImportOptions};
use crate::input::schema::Schema;
use crate::input::source::Source;
use crate::output::json::Json;
use crate::output::text::{decimal, thousands};
use crate::output::usage_tables::columns;
use crate::progress::Progress;
use crate::segment_input::SegmentInput;
use crate::{sort, unfinished_files};

/// The number of bad rows to report at the end.
const SHOWN: usize = 5;

/// The maximum size of a batch of rows, in bytes.
const MAX_BATCH_BYTES: usize = 8 << 20;

pub(crate) fn run(args: &BuildArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    refuse_input(&args.input.inputs, &args.output)?;
    let output = followed(&args.output)?;
    let ids = IdIndexPlan::of_build(&args.ids)?;
    let widens = !args.strict && !args.input.skip_bad;
    let import_options = ImportOptions { widens, ..options(&args.input, args.memory)? };
    let mut import = Import::prepare(sources(&args.input), import_options)?;
    let notes = match write(args, &output, ids.as_ref(), &mut import, console) {
        Err(_) if import.can_widen() => {
            import = import.with_all_rows()?;
            write(args, &output, ids.as_ref(), &mut import, console)?
        }
        notes => notes?,
    };
    if !args.write.quiet {
        report(args, &import, &notes, console)?;
    }
    Ok(Exit::Ok)
}

/// Writes the segment. Returns notes for the user.
fn write(
    args: &BuildArgs,
    output: &Path,
    ids: Option<&IdIndexPlan>,
    import: &mut Import,
    console: &mut Console<'_>,
) -> Result<Vec<String>, CliError> {
    if import.has_all_columns() {
        sort_keys(&args.sort_by, import)?;
    }
    if let Some(ids) = ids {
        ids.check(import, import.has_all_columns())?;
    }
    unfinished_files::remove_at_end()?;
    let options = args.write.options(args.memory);
    let mut writer = SegmentWriter::create(output, writer::Schema::new(), options)?;
    let mut progress = Progress::new(console.err_is_terminal && !args.write.quiet, import.input_size());
    let mut input = SegmentInput::new(&mut writer, ids);
    let notes = input.add_all(import, &mut progress, console).and_then(|()| input.finish(import));
    let notes = notes.and_then(|notes| {
        finish(writer, import, ids, &args.sort_by)?;
        Ok(notes)
    });
    progress.clear(console.err);
    notes
}

/// Sorts and writes the segment.
fn finish(
    mut writer: SegmentWriter,
    import: &Import,
    ids: Option<&IdIndexPlan>,
    sort_by: &[String],
) -> Result<(), CliError> {
    writer.sort_by(sort_keys(sort_by, import)?)?;
    let finished = |writer: SegmentWriter| writer.finish().map_err(docvalues::WriteError::from);
    let Some(ids) = ids else {
        finished(writer)?;
        return Ok(());
    };
    ids.check(import, true)?;
    let column = import.columns().iter().find(|column| column.name == ids.column);
    let logical = column.and_then(|column| column.ty).map_or(LogicalType::Utf8, |ty| ty.logical);
    let documents = |[a, b]: [u32; 2]| format!("documents {a} and {b} (from 0, in the order of the input)");
    let hint = "leave one of them out of the input, or build without --id-field";
    finished(writer).map_err(|error| id_index::refused(error, logical, documents, hint))?;
    Ok(())
}

/// Opens the inputs and chooses the types of their columns; `memory` is the budget for values.
pub(super) fn prepare(args: &InputArgs, memory: usize) -> Result<Import, CliError> {
    Ok(Import::prepare(sources(args), options(args, memory)?)?)
}

/// The inputs.
pub(super) fn sources(args: &InputArgs) -> Vec<Source> {
    args.inputs.iter().map(|path| Source::new(path)).collect()
}

/// The options of the inputs; `memory` is the budget for values.
pub(super) fn options(args: &InputArgs, memory: usize) -> Result<ImportOptions, CliError> {
    Ok(ImportOptions {
        format: args.input_format,
        encoding: args.encoding,
        delimiter: args.delimiter,
        quotes: !args.no_quotes,
        header: args.header.clone().unwrap_or(Header::FirstRow),
        missing: MissingTokens::new(args.no_default_missing, &args.missing),
        schema: requested(args.schema.as_deref(), &args.types)?,
        exclude: Exclude::new(&args.exclude),
        sample: args.sample,
        skip_bad: args.skip_bad,
        widens: false,
        shown: SHOWN,
        batch_bytes: MAX_BATCH_BYTES.min(memory / 16),
        batch_rows: usize::MAX,
        ids: None,
        shard: None,
        end: None,
    })
}

/// The types of `--schema` and `--type`.
pub(super) fn requested(file: Option<&Path>, types: &[String]) -> Result<Schema, CliError> {
    let mut schema = match file {
        None => Schema::default(),
        Some(path) => {
            let name = path.display();
            let text = std::fs::read_to_string(path).map_err(|error| CliError::file(&name, &error))?;
            Schema::from_toml(&text).map_err(|message| CliError::usage(format!("{name}: {message}")))?
        }
    };
    for types in types {
        schema.add_types(types).map_err(|message| CliError::usage(format!("--type {message}")))?;
    }
    Ok(schema)
}

/// The keys of the index sort, which may name the columns found so far.
fn sort_keys(arguments: &[String], import: &Import) -> Result<Vec<SortKey>, CliError> {
    let columns = import.columns().iter().filter(|column| column.is_stored());
    let columns = columns.map(|column| (column.name.as_str(), column.ty.is_some_and(|ty| ty.multi)));
    sort::keys_to_write(arguments, &columns.collect::<Vec<_>>())
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
    tell_notes(import, notes, console);
    Ok(())
}

/// Prints how many rows were skipped, and what is unexpected about the input.
pub(super) fn tell_notes(import: &Import, notes: &[String], console: &mut Console<'_>) {
    let (skipped, first) = import.skipped();
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

/// Prints how many rows were skipped, and the first of them.
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
