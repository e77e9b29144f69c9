//! `dv count`: how many documents match.

use serde::Serialize;

use crate::args::CountArgs;
use crate::console::Console;
use crate::failure::{Exit, Failure};
use crate::hits::Hits;
use crate::read;

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    file: &'a str,
    documents: u32,
    matching: u32,
}

pub(crate) fn run(args: &CountArgs, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let segment = read::open(&args.file)?;
    let hits = Hits::find(&segment, &args.hits)?;
    if args.json {
        let report = Report { file: segment.file(), documents: segment.docs(), matching: hits.count() };
        writeln!(console.out, "{}", serde_json::to_string_pretty(&report).unwrap_or_default())?;
    } else {
        writeln!(console.out, "{}", hits.count())?;
    }
    hits.explain_alone(args.json, console);
    Ok(Exit::Ok)
}
