//! `dv sort`: prints the first documents in the order of some columns.

use crate::args::SortArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::matching_docs::MatchingDocs;
use crate::output::records;
use crate::read;

pub(crate) fn run(args: &SortArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let segment = read::open(&args.file)?;
    let count = Some(args.count).filter(|count| *count > 0);
    let (matching, docs, then) = MatchingDocs::sorted(&segment, &args.filter, ("--by", &args.by), count)?;
    records::print(&segment, docs.into_iter(), &args.records, console)?;
    matching.explain(Some(&then), args.records.json, console);
    Ok(Exit::Ok)
}
