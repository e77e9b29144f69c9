//! `dv count`: counts the documents that match a query.

use super::request::answer;
use crate::api::search::SearchRequest;
use crate::args::search::CountArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::opener::Opener;
use crate::open::segments::Segments;

pub(crate) fn run(args: &CountArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let segments =
        Segments::open(opener, &args.files, args.filter.skip_damaged, console)?.in_zone(&args.filter.tz);
    let answer = answer(&segments, (&args.filter, None), SearchRequest::default())?;
    if args.json {
        answer.print_json([], console)?;
    } else {
        writeln!(console.out, "{}", answer.found.hits)?;
    }
    answer.explain(false, &[], args.json, console);
    Ok(Exit::Ok)
}
