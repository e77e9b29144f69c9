//! The index of ids of an open segment, and its errors.

use super::columns;
use super::segment::OpenSegment;
use crate::api::{Error, Field, IdIndex};
use crate::error::{CliError, Exit, Result};

/// The hint for a damaged index of ids.
pub(crate) const MEND: &str = "`dv check` lists all damage; `dv merge --id-field` rebuilds the index";

/// An error of a damaged index of ids. Everything else of the segment can still be read.
pub(crate) fn damaged(error: &Error, hint: &str) -> CliError {
    let failure = CliError::from(error);
    match failure.exit {
        Exit::Failed => failure.hint(hint),
        _ => failure,
    }
}

/// The index of a segment and the field of its ids. An error has a hint on how to build one.
pub(crate) fn open(segment: &OpenSegment) -> Result<(IdIndex, Field)> {
    let file = segment.file();
    let Some(index) = segment.ids().map_err(|error| damaged(&error, MEND))? else {
        return Err(CliError::failed(format!("{file}: the segment has no index of ids")).hint(
            "`dv build --id-field NAME` makes one, and \
             `dv merge OLD.dv -o NEW.dv --id-field NAME` adds one to an existing segment",
        ));
    };
    match segment.field(index.field())? {
        Some(field) => Ok((index, field)),
        None => Err(columns::unknown_column(std::slice::from_ref(segment), index.field())?),
    }
}
