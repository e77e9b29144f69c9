//! The terms of runs by id, for columns that may not need a dictionary.

use bitvec::vec::BitVec;
use docvalues_storage::Spill;

use crate::buffer::{ByteStrings, SpillVec, StringBuffer, Strings, TermReader, TermRun};
use crate::error::ErrorKind;

/// The terms of all runs, and the values of documents.
#[derive(Debug)]
pub(crate) struct UnsortedTerms {
    pub(crate) spill: Spill,
    pub(crate) runs: Vec<TermRun>,
    /// For each run, and each id of it, whether the term is in no earlier run.
    pub(crate) new: Vec<BitVec>,
    /// The ids of the documents.
    pub(crate) ids: SpillVec<u32>,
}

impl UnsortedTerms {
    /// The distinct terms, in the order of their first occurrence.
    pub(crate) fn distinct(&self) -> Result<ByteStrings, ErrorKind> {
        let mut distinct = StringBuffer::default();
        for (run, new) in self.runs.iter().zip(&self.new) {
            let terms = run.read()?;
            let mut ids = (0..run.count).zip(new).filter(|(_, new)| **new);
            ids.try_for_each(|(id, _)| distinct.push_to(&self.spill, terms.get(id)))?;
        }
        distinct.into_disk(&self.spill)
    }

    /// The total length of the values of all documents.
    pub(crate) fn total_len(&self) -> Result<u64, ErrorKind> {
        let mut len = 0;
        self.for_each(|value| {
            len += value.len() as u64;
            Ok(())
        })?;
        Ok(len)
    }

    /// The values of all documents.
    pub(crate) fn values(&self) -> Result<ByteStrings, ErrorKind> {
        let mut values = StringBuffer::default();
        self.for_each(|value| values.push_to(&self.spill, value))?;
        values.into_disk(&self.spill)
    }

    /// Calls `f` with the value of each document.
    fn for_each(&self, mut f: impl FnMut(&[u8]) -> Result<(), ErrorKind>) -> Result<(), ErrorKind> {
        let none = Strings::default();
        let mut terms = TermReader::new(&self.runs, &none);
        self.ids.try_each(|id| {
            terms.advance(1)?;
            f(terms.get(id))
        })
    }
}
