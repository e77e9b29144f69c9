//! `dv histogram`: counts the values of a column by range.

use super::matching_docs::MatchingDocs;
use super::request::{histogram, histogram_metrics};
use crate::answer::histograms::{describe, histogram_json, print, print_table};
use crate::args::HistogramArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::opener::Opener;
use crate::open::segments::Segments;

pub(crate) fn run(
    args: &HistogramArgs,
    opener: &Opener,
    console: &mut Console<'_>,
) -> Result<Exit, CliError> {
    let segments = Segments::open(opener, &args.files, args.filter.skip_damaged, console)?;
    // An unknown column gets a hint with the closest name.
    segments.select(std::slice::from_ref(&args.spec.column))?;
    let matching = MatchingDocs::find(&segments, &args.filter)?;
    let asked = histogram(&segments, &args.spec)?;
    let (mut found, then) =
        matching.evaluate("values counted", |search, docs| search.histogram(docs, &asked))?;
    describe(&segments, &mut found)?;
    let metrics = histogram_metrics(&segments, &args.spec)?;
    if args.json {
        matching.print_json(histogram_json(&found, &metrics), console)?;
    } else if metrics.is_empty() && asked.facet.is_none() {
        print(&found, console)?;
    } else {
        print_table(&found, &metrics, console)?;
    }
    matching.explain(Some(&then), args.json, console);
    Ok(Exit::Ok)
}
