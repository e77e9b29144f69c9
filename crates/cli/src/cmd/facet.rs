//! `dv facet`: counts the documents with each value of a column.

use super::matching_docs::MatchingDocs;
use crate::answer::facets::{facet_json, print};
use crate::api::search::facet::Facet;
use crate::args::FacetArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::files;
use crate::open::opener::Opener;
use crate::open::segments::Segments;

pub(crate) fn run(args: &FacetArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let (files, columns) = files::split(&args.arguments);
    if columns.is_empty() {
        return Err(CliError::usage("no column to count").hint("name columns after the files"));
    }
    let segments = Segments::open(opener, &files, args.filter.skip_damaged, console)?;
    // An unknown column gets a hint with the closest name.
    let fields = segments.select(&columns)?;
    let matching = MatchingDocs::find(&segments, &args.filter)?;
    let facets: Vec<Facet> = fields.iter().map(|field| facet(&field.name, args)).collect();
    let (mut found, then) =
        matching.evaluate("values counted", |search, docs| search.facets(docs, &facets))?;
    found.iter_mut().try_for_each(|facet| segments.describe(&mut facet.field))?;
    if args.json {
        matching.print_json([("facets", found.iter().map(facet_json).collect())], console)?;
    } else {
        for (at, facet) in found.iter().enumerate() {
            if at > 0 {
                writeln!(console.out)?;
            }
            print(facet, console)?;
        }
    }
    matching.explain(Some(&then), args.json, console);
    Ok(Exit::Ok)
}

fn facet(column: &str, args: &FacetArgs) -> Facet {
    let top = if args.top == 0 { usize::MAX } else { args.top };
    let facet = Facet::on(column).top(top).order(args.by.order()).min_count(args.min_count);
    match &args.prefix {
        Some(prefix) => facet.prefix(prefix.as_bytes()),
        None => facet,
    }
}
