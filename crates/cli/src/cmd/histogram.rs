//! `dv histogram`: counts the values of a column by range.

use super::request::{answer, histogram, open};
use crate::answer::explain::Step;
use crate::answer::histograms::{histogram_json, print};
use crate::api::search::SearchRequest;
use crate::args::aggregate::HistogramArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::Opener;

pub(crate) fn run(
    args: &HistogramArgs,
    opener: &Opener,
    console: &mut Console<'_>,
) -> Result<Exit, CliError> {
    let segments = open(&args.files, &args.filter, opener, console)?;
    // An unknown column gets a hint with the closest name.
    segments.select(std::slice::from_ref(&args.spec.column))?;
    let histograms = vec![histogram(&segments, &args.spec, (&args.filter, None))?];
    let request = SearchRequest::new().histograms(histograms);
    let answer = answer(&segments, (&args.filter, None), request)?;
    if args.json {
        answer.print_json(histogram_json(&answer, 0)?, console)?;
    } else {
        print(&answer, console)?;
    }
    answer.explain(false, &Step::only("values counted", answer.found.times.pass), args.json, console);
    Ok(Exit::Ok)
}
