//! `dv sort`: the documents that come first.

use std::time::Instant;

use crate::args::{RecordFormat, SortArgs};
use crate::console::Console;
use crate::failure::{Exit, Failure};
use crate::hits::{self, Hits, Then};
use crate::output::records;
use crate::store::DocId;
use crate::{read, sort};

pub(crate) fn run(args: &SortArgs, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let segment = read::open(&args.file)?;
    let keys = sort::keys_of("--by", &args.by, &segment)?;
    let hits = Hits::find(&segment, &args.hits)?;
    let search = hits::search(&segment, &args.hits);
    let start = Instant::now();
    let (docs, top) = match args.count {
        0 => (search.sorted(hits.docs(), &keys)?, None),
        count => {
            let (docs, ran) = search.top_explained(hits.docs(), &keys, count)?;
            (docs, Some(ran))
        }
    };
    let then = Then { what: "put in order", took: start.elapsed(), top: top.as_ref() };
    let default = if console.out_width.is_some() { RecordFormat::Table } else { RecordFormat::Ndjson };
    records::print(&segment, docs.into_iter().map(DocId::get), &args.records, default, console)?;
    hits.explain(&then, args.records.json, console);
    Ok(Exit::Ok)
}
