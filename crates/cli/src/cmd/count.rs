//! `dv count`: counts the documents that match a query.

use super::matching_docs::MatchingDocs;
use crate::args::CountArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::opener::Opener;
use crate::open::segments::Segments;

pub(crate) fn run(args: &CountArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let segments = Segments::open(opener, &args.files, args.filter.skip_damaged, console)?;
    let matching = MatchingDocs::find(&segments, &args.filter)?;
    if args.json {
        matching.print_json([], console)?;
    } else {
        writeln!(console.out, "{}", matching.count())?;
    }
    matching.explain(None, args.json, console);
    Ok(Exit::Ok)
}
