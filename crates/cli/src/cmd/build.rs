//! `dv build`: builds a segment from input files.

use crate::answer::segment_info;
use crate::api::writer::{self, SegmentWriter, Spill};
use crate::args::build::BuildArgs;
use crate::console::Console;
use crate::console::destination::{followed, is_stdout, refuse_no_segment};
use crate::console::progress::Progress;
use crate::error::{Exit, Result};
use crate::import::notes::{tell_joined_numbers, tell_notes};
use crate::import::{Import, ImportOptions, segment_input};
use crate::process::unfinished_files;
use crate::text::quoting::decimal;
use crate::text::thousands;

pub(crate) fn run(args: &BuildArgs, console: &mut Console<'_>) -> Result<Exit> {
    refuse_no_segment(&args.output, args.write.json, console)?;
    let widens = !args.input.skip_bad;
    let chunk_threads = Some(args.write.worker_threads());
    let options = ImportOptions { widens, chunk_threads, ..args.input.options(args.memory)? };
    let mut import = Import::prepare(args.input.sources(), options)?;
    let (to_stdout, notes) = match write(args, &mut import, console) {
        Err(_) if import.can_widen() => {
            import = import.with_all_rows()?;
            write(args, &mut import, console)?
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

/// Writes the segment. Returns its size if it goes to standard output, and notes for the user.
fn write(
    args: &BuildArgs,
    import: &mut Import,
    console: &mut Console<'_>,
) -> Result<(Option<u64>, Vec<String>)> {
    let ids = args.id_field.as_deref();
    segment_input::check(import, ids, &args.sort_by)?;
    let options = args.write.options(args.memory);
    let mut progress = Progress::new(console.err_width.is_some() && !args.write.quiet, import.input_size());
    if is_stdout(&args.output) {
        // Nothing is written before all documents are there.
        let mut writer = SegmentWriter::to_writer(&mut *console.out, writer::Schema::new(), options);
        writer.spill_to(Spill::in_folder(std::env::temp_dir()));
        let ((_, summary), notes) = segment_input::write(writer, import, ids, &args.sort_by, &mut progress)?;
        return Ok((Some(summary.bytes), notes));
    }
    unfinished_files::remove_at_end()?;
    let writer = SegmentWriter::create(followed(&args.output)?, writer::Schema::new(), options)?;
    let (_, notes) = segment_input::write(writer, import, ids, &args.sort_by, &mut progress)?;
    Ok((None, notes))
}

fn report(args: &BuildArgs, import: &Import, notes: &[String], console: &mut Console<'_>) -> Result<()> {
    let (skipped, first) = import.skipped();
    let input = [
        // Before and after decompression.
        ("input_bytes", import.bytes_read().into()),
        ("input_text_bytes", import.text_read().into()),
        ("skipped_rows", skipped.into()),
        ("first_skipped", first.iter().map(|row| row.to_string().into()).collect()),
        ("notes", notes.into()),
    ];
    let line = |bytes| against_input(bytes, import);
    segment_info::report(&args.output, input, line, args.write.json, console)?;
    if !args.write.json {
        tell_notes(import, notes, console);
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
