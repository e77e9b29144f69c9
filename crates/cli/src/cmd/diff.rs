//! `dv diff`: compares two segments or stores, as diff(1) compares texts.

mod compare;
mod pairs;
mod report;

use self::compare::Comparison;
use self::pairs::Pairs;
use crate::args::verify::DiffArgs;
use crate::console::Console;
use crate::error::{CliError, Exit, Result};
use crate::open::{Opener, Segments};

pub(crate) fn run(args: &DiffArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    // Exit code 1 is reserved for segments that differ.
    let trouble = |failure: CliError| match failure.exit {
        Exit::Failed => CliError { exit: Exit::Unreadable, ..failure },
        _ => failure,
    };
    compare(args, opener, console).map_err(CliError::or_columns).map_err(trouble)
}

fn compare(args: &DiffArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let sides = [Segments::open_all(opener, [&args.a])?, Segments::open_all(opener, [&args.b])?];
    let pairs = match &args.by {
        None => Pairs::by_number(&sides),
        Some(column) => Pairs::by_value(&sides, column)?,
    };
    let limit = if args.limit == 0 { u32::MAX } else { args.limit };
    let mut comparison = Comparison::of_columns(&sides, &pairs, &args.columns)?;
    if args.quiet {
        if !comparison.differs() {
            comparison.documents(None, &mut |_, _| Ok(()))?;
        }
    } else if args.json {
        report::rows(&mut comparison, limit, console)?;
    } else {
        report::text(&mut comparison, limit, console)?;
    }
    Ok(if comparison.differs() { Exit::Failed } else { Exit::Ok })
}
