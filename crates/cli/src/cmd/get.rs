//! `dv get`: prints documents by number.

use crate::answer::records;
use crate::api::DocAddress;
use crate::args::GetArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::opener::Opener;
use crate::open::segments::Segments;
use crate::text::quoting::thousands;

pub(crate) fn run(args: &GetArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let segments = Segments::open_all(opener, [&args.file])?;
    let found = segments.at(args.docs.iter().map(|doc| u64::from(*doc)));
    let printed = found.iter().flatten().copied();
    records::print(&segments, printed, &args.records.options(), console)?;
    require(&segments, &args.docs, &found)?;
    Ok(Exit::Ok)
}

/// Fails if one of `docs` was not found.
pub(crate) fn require(
    segments: &Segments,
    docs: &[u32],
    found: &[Option<DocAddress>],
) -> Result<(), CliError> {
    let absent = docs.iter().zip(found).filter(|(_, found)| found.is_none());
    match absent.map(|(doc, _)| *doc).collect::<Vec<u32>>().as_slice() {
        [] => Ok(()),
        absent => Err(no_such_documents(segments, absent)),
    }
}

/// The error for document numbers out of range.
pub(crate) fn no_such_documents(segments: &Segments, absent: &[u32]) -> CliError {
    let listed: Vec<String> = absent.iter().take(5).map(u32::to_string).collect();
    let more = if absent.len() > 5 { format!(" and {} more", absent.len() - 5) } else { String::new() };
    let message = format!("{}: no document {}{more}", segments.named(), listed.join(", "));
    let failure = CliError::failed(message);
    match segments.docs().checked_sub(1) {
        None if segments.only().is_none() => failure.hint("there are no documents"),
        None => failure.hint("the segment has no documents"),
        Some(last) => {
            failure.hint(format!("there are {}, numbered from 0 to {last}", thousands(segments.docs())))
        }
    }
}
