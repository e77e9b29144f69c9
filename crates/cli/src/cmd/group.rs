//! `dv group`: groups documents by the values of columns.

use super::matching_docs::MatchingDocs;
use super::request::{group, group_metrics};
use crate::answer::groups::{groups_json, print};
use crate::args::GroupArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::opener::Opener;
use crate::open::segments::Segments;

pub(crate) fn run(args: &GroupArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let segments = Segments::open(opener, &args.files, args.filter.skip_damaged, console)?;
    let matching = MatchingDocs::find(&segments, &args.filter)?;
    let group = group(&segments, &args.spec)?;
    let (mut found, then) = matching.evaluate("groups found", |search, docs| search.group(docs, &group))?;
    found.fields.iter_mut().try_for_each(|field| segments.describe(field))?;
    let metrics = group_metrics(&segments, &args.spec)?;
    if args.json {
        matching.print_json(groups_json(&segments, &found, &metrics, &args.spec.columns)?, console)?;
    } else {
        print(&segments, &found, (&metrics, args.spec.missing), console)?;
    }
    matching.explain(Some(&then), args.json, console);
    Ok(Exit::Ok)
}
