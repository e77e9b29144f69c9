//! `dv get`: prints documents by number.

use crate::answer::records;
use crate::args::records::GetArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::{Opener, Segments};

pub(crate) fn run(args: &GetArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let segments = Segments::open_all(opener, [&args.file])?;
    let found = segments.at(args.docs.iter().map(|doc| u64::from(*doc)));
    let printed = found.iter().flatten().copied();
    records::print(&segments, printed, &args.records.options(), console)?;
    segments.require(&args.docs, &found)?;
    Ok(Exit::Ok)
}
