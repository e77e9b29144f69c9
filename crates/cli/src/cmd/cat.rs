//! `dv cat`: prints all documents of several segments.

use crate::args::{CatArgs, RecordFormat};
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::output::records;
use crate::read;

pub(crate) fn run(args: &CatArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let segments = args.files.iter().map(|file| read::open(file)).collect::<Result<Vec<_>, _>>()?;
    let fields = read::select(&segments, &args.records.columns)?;
    let parts = segments.iter().map(|segment| (segment, 0..segment.docs()));
    records::print_parts(&fields, parts, &args.records, RecordFormat::Ndjson, console)?;
    Ok(Exit::Ok)
}
