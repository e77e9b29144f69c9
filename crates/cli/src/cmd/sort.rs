//! `dv sort`: the documents that come first.

use crate::args::SortArgs;
use crate::console::Console;
use crate::failure::{Exit, Failure};
use crate::hits::Hits;
use crate::output::records;
use crate::read;

pub(crate) fn run(args: &SortArgs, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let segment = read::open(&args.file)?;
    let count = Some(args.count).filter(|count| *count > 0);
    let (hits, docs, then) = Hits::in_order(&segment, &args.hits, ("--by", &args.by), count)?;
    records::print(&segment, docs.into_iter(), &args.records, console)?;
    hits.explain(Some(&then), args.records.json, console);
    Ok(Exit::Ok)
}
