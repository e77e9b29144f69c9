//! `dv count`: counts the documents that match a query.

use super::request::{answer, open};
use crate::api::search::SearchRequest;
use crate::args::search::CountArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::Opener;

pub(crate) fn run(args: &CountArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let segments = open(&args.files, &args.filter, opener, console)?;
    let answer = answer(&segments, (&args.filter, None), SearchRequest::default())?;
    if args.json {
        answer.print_json([], console)?;
    } else {
        writeln!(console.out, "{}", answer.found.hits)?;
    }
    answer.explain(false, &[], args.json, console);
    Ok(Exit::Ok)
}
