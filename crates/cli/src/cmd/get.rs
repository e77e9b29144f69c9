//! `dv get`: prints documents by number.

use crate::args::GetArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::output::records;
use crate::output::text::thousands;
use crate::read;

pub(crate) fn run(args: &GetArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let segment = read::open(&args.file)?;
    let (found, absent): (Vec<u32>, Vec<u32>) = args.docs.iter().partition(|doc| **doc < segment.docs());
    records::print(&segment, found.into_iter(), &args.records, console)?;
    match absent.as_slice() {
        [] => Ok(Exit::Ok),
        absent => Err(no_such_documents(&args.file.to_string_lossy(), segment.docs(), absent)),
    }
}

/// The error for document numbers out of range.
pub(crate) fn no_such_documents(file: &str, docs: u32, absent: &[u32]) -> CliError {
    let listed: Vec<String> = absent.iter().take(5).map(u32::to_string).collect();
    let more = if absent.len() > 5 { format!(" and {} more", absent.len() - 5) } else { String::new() };
    let failure = CliError::failed(format!("{file}: no document {}{more}", listed.join(", ")));
    match docs.checked_sub(1) {
        None => failure.hint("the segment has no documents"),
        Some(last) => {
            failure.hint(format!("there are {}, numbered from 0 to {last}", thousands(docs.into())))
        }
    }
}
