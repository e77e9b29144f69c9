//! `dv count`, `dv facet`, `dv group` and `dv histogram`: the documents that match a query, counted.

use super::request::{self, answer, open};
use crate::answer::{facets, groups, histograms};
use crate::api::search::SearchRequest;
use crate::args::aggregate::{FacetArgs, GroupArgs, HistogramArgs};
use crate::args::search::CountArgs;
use crate::console::Console;
use crate::error::{CliError, Exit, Result};
use crate::open::{Opener, files};

/// Counts the documents.
pub(crate) fn count(args: &CountArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let segments = open(&args.files, &args.filter, opener, console)?;
    let answer = answer(&segments, (&args.filter, None), SearchRequest::default())?;
    if args.json {
        answer.print_json([], console)?;
    } else {
        writeln!(console.out, "{}", answer.found.hits)?;
    }
    answer.explain(false, &[], console);
    Ok(Exit::Ok)
}

/// Counts the documents with each value of columns.
pub(crate) fn facet(args: &FacetArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let (files, columns) = files::split(&args.arguments);
    if columns.is_empty() {
        return Err(CliError::usage("no column to count").hint("name columns after the files"));
    }
    let segments = open(&files, &args.filter, opener, console)?;
    // An unknown column gets a hint with the closest name.
    let fields = segments.select(&columns)?;
    let (by, prefix) = (args.by, args.prefix.as_deref());
    let facets = fields.iter().map(|field| request::facet(&field.name, args.top, by, args.min_count, prefix));
    let request = SearchRequest::new().facets(facets);
    let answer = answer(&segments, (&args.filter, None), request)?;
    if args.json {
        let facets = answer.found.facets.iter().map(facets::facet_json);
        answer.print_json([("facets", facets.collect())], console)?;
    } else {
        facets::print(&answer.found.facets, console)?;
    }
    answer.explain(false, &[("values counted", answer.found.times.pass)], console);
    Ok(Exit::Ok)
}

/// Groups the documents by the values of columns.
pub(crate) fn group(args: &GroupArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    if !args.json && !args.spec.columns.is_empty() {
        let message =
            "--columns: a table has the numbers of documents, expected --json, --format or --output";
        return Err(CliError::usage(message).hint("--format csv has a row for each document"));
    }
    let segments = open(&args.files, &args.filter, opener, console)?;
    let request = SearchRequest::new().groups([request::group(&segments, &args.spec)?]);
    let answer = answer(&segments, (&args.filter, None), request)?;
    if args.json {
        let groups = groups::groups_json(&answer, 0, &args.spec.columns, console.answers.is_some())?;
        answer.print_json(groups, console)?;
    } else {
        groups::print(&answer, console)?;
    }
    answer.explain(false, &[("groups found", answer.found.times.groups)], console);
    Ok(Exit::Ok)
}

/// Counts the values of a column by range.
pub(crate) fn histogram(args: &HistogramArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let segments = open(&args.files, &args.filter, opener, console)?;
    // An unknown column gets a hint with the closest name.
    segments.select(std::slice::from_ref(&args.spec.column))?;
    let histogram = request::histogram(&segments, &args.spec, (&args.filter, None))?;
    let request = SearchRequest::new().histograms([histogram]);
    let answer = answer(&segments, (&args.filter, None), request)?;
    if args.json {
        answer.print_json(histograms::histogram_json(&answer, 0)?, console)?;
    } else {
        histograms::print(&answer, console)?;
    }
    answer.explain(false, &[("values counted", answer.found.times.pass)], console);
    Ok(Exit::Ok)
}
