//! `dv cat`: prints all documents of several segments.

use crate::answer::records::{Parts, print_documents};
use crate::answer::rows::RecordFormat;
use crate::args::records::CatArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::{Opener, Segments, columns};

pub(crate) fn run(args: &CatArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let segments = Segments::open_all(opener, &args.files)?;
    let fields =
        segments.in_order(columns::select(segments.all(), &args.records.columns)?, &args.records.columns);
    let documents = &mut Parts(segments.all().iter());
    print_documents(&fields, documents, &args.records.options(), RecordFormat::Ndjson, console)?;
    Ok(Exit::Ok)
}
