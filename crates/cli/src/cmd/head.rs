//! `dv head`: the first documents.

use crate::answer::records;
use crate::args::records::HeadArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::opener::Opener;
use crate::open::segments::Segments;

pub(crate) fn run(args: &HeadArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let segments = Segments::open_all(opener, [&args.file])?;
    let docs = segments.addresses().take(args.count as usize);
    records::print(&segments, docs, &args.records.options(), console)?;
    Ok(Exit::Ok)
}
