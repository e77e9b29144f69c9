//! `dv build`: builds a segment from input files.

use std::path::Path;

use super::info::{info, stats};
use crate::answer::usage_tables::column_table;
use crate::api::writer::{self, SegmentWriter, Spill, Target};
use crate::api::{LogicalType, MAGIC, Segment, SortKey};
use crate::args::{BuildArgs, InputArgs};
use crate::console::Console;
use crate::console::destination::{followed, is_stdout, refuse_input, refuse_other_format, refuse_stdout};
use crate::console::progress::Progress;
use crate::error::{CliError, Exit};
use crate::import::column::MissingTokens;
use crate::import::csv_dialect::Extras;
use crate::import::error::BadRow;
use crate::import::header::Header;
use crate::import::ids::{self, IdIndexPlan};
use crate::import::notes::notes_of_joined_numbers;
use crate::import::schema::Schema;
use crate::import::segment_input::SegmentInput;
use crate::import::source::Source;
use crate::import::{Exclude, Import, ImportOptions};
use crate::process::unfinished_files;
use crate::text::json::Json;
use crate::text::quoting::{decimal, thousands};
use crate::text::sort_keys::keys_to_write;

/// The number of bad rows to report at the end.
const SHOWN: usize = 5;

/// The maximum size of a batch of rows, in bytes.
const MAX_BATCH_BYTES: usize = 8 << 20;

pub(crate) fn run(args: &BuildArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    refuse_input(&args.input.inputs, &args.output)?;
    if !args.force {
        refuse_no_segment(&args.output)?;
    }
    if is_stdout(&args.output) {
        refuse_stdout(args.write.json, console)?;
    }
    let ids = args.ids.plan()?;
    let widens = !args.strict && !args.input.skip_bad;
    let chunk_threads = Some(args.write.worker_threads());
    let options = ImportOptions { widens, chunk_threads, ..options(&args.input, args.memory)? };
    let mut import = Import::prepare(sources(&args.input), options)?;
    let (to_stdout, notes) = match write(args, ids.as_ref(), &mut import, console) {
        Err(_) if import.can_widen() => {
            import = import.with_all_rows()?;
            write(args, ids.as_ref(), &mut import, console)?
        }
        written => written?,
    };
    if let Some(bytes) = to_stdout {
        if !args.write.quiet {
            console.note(&format!("<stdout>: {}", against_input(bytes, &import)));
            tell_notes(&import, &notes, console);
        }
    } else {
        console.done = Some(format!("{} is complete", args.output.display()));
        if !args.write.quiet {
            report(args, &import, &notes, console)?;
        }
    }
    if args.write.quiet {
        tell_joined_numbers(&import, console);
    }
    Ok(Exit::Ok)
}

/// Fails if the output exists and is no segment.
pub(super) fn refuse_no_segment(output: &Path) -> Result<(), CliError> {
    refuse_other_format(output, "a segment", |head| head.starts_with(&MAGIC))
}

/// Writes the segment. Returns its size if it goes to standard output, and notes for the user.
fn write(
    args: &BuildArgs,
    ids: Option<&IdIndexPlan>,
    import: &mut Import,
    console: &mut Console<'_>,
) -> Result<(Option<u64>, Vec<String>), CliError> {
    if import.has_all_columns() {
        sort_keys(&args.sort_by, import)?;
    }
    if let Some(ids) = ids {
        ids.check(import, import.has_all_columns())?;
    }
    let options = args.write.options(args.memory);
    let mut progress = Progress::new(console.err_width.is_some() && !args.write.quiet, import.input_size());
    let mut build = Build { args, import, ids, progress: &mut progress };
    if is_stdout(&args.output) {
        // Nothing is written before all documents are there.
        let mut writer = SegmentWriter::to_writer(&mut *console.out, writer::Schema::new(), options);
        writer.spill_to(Spill::in_folder(std::env::temp_dir()));
        let ((_, summary), notes) = build.write(writer)?;
        return Ok((Some(summary.bytes), notes));
    }
    unfinished_files::remove_at_end()?;
    let writer = SegmentWriter::create(followed(&args.output)?, writer::Schema::new(), options)?;
    let (_, notes) = build.write(writer)?;
    Ok((None, notes))
}

/// The inputs of a segment.
struct Build<'b> {
    args: &'b BuildArgs,
    import: &'b mut Import,
    ids: Option<&'b IdIndexPlan>,
    progress: &'b mut Progress,
}

impl Build<'_> {
    /// Adds all documents, sorts and writes the segment; returns notes on the input, too.
    fn write<T: Target>(
        &mut self,
        mut writer: SegmentWriter<T>,
    ) -> Result<(T::Finished, Vec<String>), CliError> {
        let mut input = SegmentInput::new(&mut writer, self.ids);
        let notes = input.add_all(self.import, self.progress).and_then(|()| input.finish(self.import));
        let written = notes.and_then(|notes| {
            let finished = finish(writer, self.import, self.ids, &self.args.sort_by)?;
            Ok((finished, notes))
        });
        self.progress.clear();
        written
    }
}

/// Sorts and writes the segment.
fn finish<T: Target>(
    mut writer: SegmentWriter<T>,
    import: &Import,
    ids: Option<&IdIndexPlan>,
    sort_by: &[String],
) -> Result<T::Finished, CliError> {
    writer.sort_by(sort_keys(sort_by, import)?)?;
    let finished = |writer: SegmentWriter<T>| writer.finish().map_err(docvalues::WriteError::from);
    let Some(ids) = ids else { return Ok(finished(writer)?) };
    ids.check(import, true)?;
    let column = import.columns().iter().find(|column| column.name == ids.column);
    let logical = column.and_then(|column| column.ty).map_or(LogicalType::Utf8, |ty| ty.logical);
    let documents = |[a, b]: [u32; 2]| format!("documents {a} and {b} (from 0, in the order of the input)");
    let hint = "leave one of them out of the input, or build without --id-field";
    finished(writer).map_err(|error| ids::refused(error, logical, documents, hint))
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
        header: match &args.header {
            Some(header) => header.clone(),
            None if args.no_header => Header::Numbered,
            None => Header::FirstRow,
        },
        extras: Extras {
            skip_lines: args.skip_lines,
            comment: args.comment,
            escape: args.escape,
            trim: args.trim,
        },
        missing: MissingTokens::new(args.no_default_missing, &args.missing),
        schema: requested(args.schema.as_deref(), &args.types)?,
        exclude: Exclude::new(&args.exclude),
        sample: args.sample,
        skip_bad: args.skip_bad,
        widens: false,
        shown: SHOWN,
        chunk_threads: None,
        batch_bytes: MAX_BATCH_BYTES.min(memory / 16),
        batch_rows: usize::MAX,
        ids: None,
        shard: None,
        of_store: None,
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
    keys_to_write(arguments, &columns.collect::<Vec<_>>())
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
    column_table(&stats, segment.docs()).print(console)?;
    let output = args.output.display();
    writeln!(console.out)?;
    console.line(format_args!("{output}: {}", against_input(stats.bytes, import)))?;
    console.out.flush()?;
    tell_notes(import, notes, console);
    Ok(())
}

/// Prints the notes that `--quiet` keeps.
pub(super) fn tell_joined_numbers(import: &Import, console: &mut Console<'_>) {
    for note in notes_of_joined_numbers(import) {
        console.note(&format!("note: {note}"));
    }
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
