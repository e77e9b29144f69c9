//! `dv facet`: counts the documents with each value of a column.

use super::request::{answer, facet, open};
use crate::answer::explain::Step;
use crate::answer::facets::{facet_json, print};
use crate::api::search::SearchRequest;
use crate::args::aggregate::FacetArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::{Opener, files};

pub(crate) fn run(args: &FacetArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let (files, columns) = files::split(&args.arguments);
    if columns.is_empty() {
        return Err(CliError::usage("no column to count").hint("name columns after the files"));
    }
    let segments = open(&files, &args.filter, opener, console)?;
    // An unknown column gets a hint with the closest name.
    let fields = segments.select(&columns)?;
    let (by, prefix) = (args.by, args.prefix.as_deref());
    let facets = fields.iter().map(|field| facet(&field.name, args.top, by, args.min_count, prefix));
    let request = SearchRequest::new().facets(facets);
    let answer = answer(&segments, (&args.filter, None), request)?;
    if args.json {
        answer.print_json([("facets", answer.found.facets.iter().map(facet_json).collect())], console)?;
    } else {
        print(&answer.found.facets, console)?;
    }
    answer.explain(false, &Step::only("values counted", answer.found.times.pass), args.json, console);
    Ok(Exit::Ok)
}
