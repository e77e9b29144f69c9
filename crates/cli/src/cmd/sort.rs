//! `dv sort`: prints the first documents in the order of some columns.

use super::request::{all_if_zero, answer};
use crate::answer::explain::Step;
use crate::answer::records;
use crate::api::search::SearchRequest;
use crate::args::search::SortArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::opener::Opener;
use crate::open::segments::Segments;

pub(crate) fn run(args: &SortArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let segments = Segments::open(opener, &args.files, args.filter.skip_damaged, console)?;
    let (sort, top) = (segments.sort_keys("--by", &args.by)?, all_if_zero(args.count));
    let request = SearchRequest::new().sort(sort).top(top);
    let answer = answer(&segments, (&args.filter, None), request)?;
    let docs = answer.found.top.iter().copied();
    records::print(&segments, docs, &args.records.options(), console)?;
    let step = Step::only("put in order", answer.found.times.top);
    answer.explain(args.count > 0, &step, args.records.json, console);
    Ok(Exit::Ok)
}
