//! `dv group`: groups documents by the values of columns.

use super::request::{answer, group, open};
use crate::answer::explain::Step;
use crate::answer::groups::{groups_json, print};
use crate::api::search::SearchRequest;
use crate::args::aggregate::GroupArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::Opener;

pub(crate) fn run(args: &GroupArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    if !args.json && !args.spec.columns.is_empty() {
        let message =
            "--columns: a table has the numbers of documents, expected --json, --format or --output";
        return Err(CliError::usage(message).hint("--format csv has a row for each document"));
    }
    let segments = open(&args.files, &args.filter, opener, console)?;
    let groups = vec![group(&segments, &args.spec)?];
    let request = SearchRequest::new().groups(groups);
    let answer = answer(&segments, (&args.filter, None), request)?;
    if args.json {
        let groups = groups_json(&answer, 0, &args.spec.columns, console.answers.is_some())?;
        answer.print_json(groups, console)?;
    } else {
        print(&answer, console)?;
    }
    answer.explain(false, &Step::only("groups found", answer.found.times.groups), args.json, console);
    Ok(Exit::Ok)
}
