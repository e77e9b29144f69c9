//! `dv diff`: compares two segments, as diff(1) compares texts.

mod compare;
mod report;

use self::compare::{Comparison, Detail};
use crate::args::DiffArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::read;

pub(crate) fn run(args: &DiffArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    // Exit code 1 is reserved for segments that differ.
    let trouble = |failure: CliError| match failure.exit {
        Exit::Failed => CliError { exit: Exit::Unreadable, ..failure },
        _ => failure,
    };
    compare(args, console).map_err(CliError::or_columns).map_err(trouble)
}

fn compare(args: &DiffArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let segments = [read::open(&args.a)?, read::open(&args.b)?];
    let fields = read::select(&segments, &args.columns)?;
    let mut comparison = Comparison::of_columns(&segments, &fields)?;
    if args.quiet {
        if !comparison.differs() {
            comparison.documents(Detail::Whether, &mut |_, _| Ok(()))?;
        }
    } else if args.json {
        report::json(&mut comparison, args.limit, console)?;
    } else {
        report::text(&mut comparison, args.limit, console)?;
    }
    Ok(if comparison.differs() { Exit::Failed } else { Exit::Ok })
}
