//! `dv head`: the first documents.

use crate::args::HeadArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::output::records;
use crate::read;

pub(crate) fn run(args: &HeadArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let segment = read::open(&args.file)?;
    let docs = 0..args.count.min(segment.docs());
    records::print(&segment, docs, &args.records, console)?;
    Ok(Exit::Ok)
}
