//! [`TermRun`]: the terms of an interner in the temporary file, sorted.

use docvalues_storage::Spill;

use super::byte_strings::{ByteStrings, ByteStringsBuilder};
use super::scratch::{Scratch, ScratchWriter};
use super::string_runs;
use super::strings::Strings;
use crate::error::ErrorKind;
use crate::index::index;

/// A run: the terms of the interner when it was spilled, sorted.
#[derive(Debug)]
pub(crate) struct TermRun {
    /// The number of terms.
    pub(crate) count: u32,
    /// The end of the run's ids: the number of ids of documents when it was spilled.
    pub(crate) ids: usize,
    /// The terms with their ids, in byte order, in the format of `string_runs`.
    pub(crate) terms: Scratch,
    /// The terms in id order, if requested.
    pub(crate) unsorted: Option<ByteStrings>,
}

impl TermRun {
    /// Writes `strings` in byte order, given by `order`; if `unsorted`, also in id order.
    pub(crate) fn write(
        strings: &Strings,
        order: &[u32],
        ids: usize,
        unsorted: bool,
        spill: &Spill,
    ) -> Result<TermRun, ErrorKind> {
        let mut run = ScratchWriter::new(Scratch::new(spill.clone()));
        order.iter().try_for_each(|&id| string_runs::push(&mut run, id, strings.get(index(id))))?;
        let count = u32::try_from(order.len()).unwrap_or(u32::MAX);
        let in_their_order = || {
            let mut terms = ByteStringsBuilder::new(Scratch::new(spill.clone()))?;
            (0..strings.len()).try_for_each(|id| terms.push(strings.get(id)))?;
            terms.finish()
        };
        let unsorted = unsorted.then(in_their_order).transpose()?;
        Ok(TermRun { count, ids, terms: run.finish()?, unsorted })
    }

    pub(crate) fn spill(&self) -> &Spill {
        self.terms.spill()
    }
}
