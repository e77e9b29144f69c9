//! `dv sort`: prints the first documents in the order of some columns.

use super::matching_docs::MatchingDocs;
use crate::answer::records;
use crate::args::SortArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::opener::Opener;
use crate::open::segments::Segments;

pub(crate) fn run(args: &SortArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let segments = Segments::open(opener, &args.files, args.filter.skip_damaged, console)?;
    let count = Some(args.count).filter(|count| *count > 0);
    let (matching, docs, then) = MatchingDocs::sorted(&segments, &args.filter, ("--by", &args.by), count)?;
    let fields = segments.select(&args.records.columns)?;
    let format = records::usual_format(console);
    records::print_found(&segments, &fields, docs.into_iter(), &args.records.options(), format, console)?;
    matching.explain(Some(&then), args.records.json, console);
    Ok(Exit::Ok)
}
