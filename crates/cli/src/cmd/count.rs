//! `dv count`: how many documents match.

use crate::args::CountArgs;
use crate::console::Console;
use crate::failure::{Exit, Failure};
use crate::hits::Hits;
use crate::read;

pub(crate) fn run(args: &CountArgs, console: &mut Console<'_>) -> Result<Exit, Failure> {
    let segment = read::open(&args.file)?;
    let hits = Hits::find(&segment, &args.hits)?;
    if args.json {
        hits.print_json([], console)?;
    } else {
        writeln!(console.out, "{}", hits.count())?;
    }
    hits.explain(None, args.json, console);
    Ok(Exit::Ok)
}
