//! `dv head`: the first documents of a segment or a store, or the first rows of another file.

use std::path::Path;

use crate::answer::records;
use crate::args::records::HeadArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::import::notes::tell_notes;
use crate::import::source::Source;
use crate::import::{Import, ImportOptions, segment_input};
use crate::open::files::is_readable;
use crate::open::{Opener, Segments};
use crate::text::{counted, printable};

/// Rows of other files to infer types from, so that a large file takes no longer than a small one.
const SAMPLE: u64 = 2_000;

pub(crate) fn run(args: &HeadArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    if opener.commit.is_none() && is_other_file(&args.file) {
        return rows(args, opener, console);
    }
    let segments = Segments::open_all(opener, [&args.file])?;
    print(&segments, args, console)?;
    Ok(Exit::Ok)
}

fn print(segments: &Segments, args: &HeadArgs, console: &mut Console<'_>) -> Result<(), CliError> {
    let docs = segments.addresses().take(args.count as usize);
    records::print(segments, docs, &args.records.options(), console)
}

/// Whether a path is an input of `dv build`, not a segment, nor one that is damaged.
fn is_other_file(path: &Path) -> bool {
    let is_named_so = path.extension().is_some_and(|extension| extension == "dv");
    path.as_os_str() == "-" || path.exists() && !is_named_so && !path.is_dir() && !is_readable(path)
}

/// Prints the first rows as `dv build` would store them, and the types that it would infer. Reads no more of the file than
/// these take.
fn rows(args: &HeadArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let options = ImportOptions {
        format: args.input_format,
        sample: SAMPLE.max(args.count.into()),
        skip_bad: true,
        batch_bytes: 64 << 10,
        batch_rows: args.count as usize,
        ..ImportOptions::usual()
    };
    let mut import = Import::prepare(vec![Source::new(&args.file)], options)?;
    let bytes = segment_input::first(&mut import, args.count)?;
    print(&Segments::in_memory(opener, &args.file, bytes)?, args, console)?;
    console.out.flush()?;
    tell_notes(&import, &import.file_notes().collect::<Vec<_>>(), console);
    let types = import.columns.iter().map(|column| {
        let ty = column.ty.map_or_else(|| "unknown".to_owned(), |ty| ty.to_string());
        format!("{} {ty}", printable(&column.name))
    });
    let rows = counted(import.sampled, "row", "rows");
    let by = if import.is_text() { format!(" by {rows}") } else { String::new() };
    console.note(&format!("note: types{by}: {}", types.collect::<Vec<_>>().join(", ")));
    Ok(Exit::Ok)
}
