//! Verification of the id index.

use std::ops::{ControlFlow, Range};

use docvalues_column::{Error, Result};
use docvalues_format::error::{self, ErrorKind, Place};

use super::Checks;
use crate::column::corrupt;
use crate::segment::Segment;

impl Segment {
    /// Reads every byte of the id index, and proves that it is well-formed and has the ids of the documents, if all is checked.
    ///
    /// Calls `part` with the range of each section. Returns the problems found.
    pub(super) fn check_ids(&self, checks: Checks, mut part: impl FnMut(Range<u64>)) -> Vec<Error> {
        let entry = match self.ids_entry() {
            Ok(Some(entry)) => entry,
            Ok(None) => return Vec::new(),
            Err(problem) => return vec![problem],
        };
        let named = |e| corrupt(self.file(), Some(&entry.field), e);
        let mut damaged = Vec::new();
        for (role, at) in entry.sections() {
            part(at.offset..at.end().unwrap_or(u64::MAX));
            damaged.extend(self.section(at, role).and_then(|section| section.verify_all()).err());
        }
        // Only if the checksums are right: otherwise the decoders would report the same bytes again.
        let checked = match damaged.is_empty() && checks == Checks::All {
            true => self.check_id_values(entry.place),
            false => Ok(()),
        };
        damaged.into_iter().map(named).chain(checked.err()).collect()
    }

    /// Checks that the index is well-formed and has exactly the values of the id field.
    ///
    /// It has as many ids as documents have values, and finds the document of each value.
    fn check_id_values(&self, place: Place) -> Result<()> {
        let Some(ids) = self.ids()? else { return Ok(()) };
        let wrong = |what| {
            corrupt(self.file(), Some(ids.field()), error::Error::at(place, 0, ErrorKind::Broken(what)))
        };
        let column = self.binary(ids.field()).map_err(|error| match error.kind() {
            docvalues_column::ErrorKind::NoSuchColumn { .. }
            | docvalues_column::ErrorKind::WrongKind { .. } => {
                wrong("the field of the id index is not a binary column of the segment")
            }
            _ => error,
        })?;
        // Checked first, so that a hostile index cannot make the loop below visit more ids than there are values.
        if column.info().with_value.most() != u64::from(ids.len()) {
            return Err(wrong("the id index has more or fewer ids than the id field has values"));
        }
        ids.with_context(ids.reader().verify())?;
        let mut checked = Ok(());
        column.scan(0..self.docs(), |docs, values| {
            checked = docs.iter().zip(values.iter()).try_for_each(|(doc, id)| match ids.find(id)? {
                Some(found) if found == doc => Ok(()),
                _ => Err(wrong("the id index lacks the id of a document, or maps it to another document")),
            });
            if checked.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        checked
    }
}
