//! The terms of runs in id order, for columns that may not need a dictionary.

use docvalues_format::binary::Values as _;
use docvalues_format::numeric::{self, Values as _};

use crate::buffer::{ByteStrings, ByteStringsBuilder, Scratch, SpillVec};
use crate::error::ErrorKind;
use crate::index::index;

/// The terms of all runs, in id order.
#[derive(Debug)]
pub(crate) struct UnsortedTerms {
    /// A scratch in the same file.
    pub(crate) scratch: Scratch,
    pub(crate) runs: Vec<UnsortedRun>,
}

#[derive(Debug)]
pub(crate) struct UnsortedRun {
    pub(crate) terms: ByteStrings,
    /// The end of the run's ids, among the ids of all documents.
    pub(crate) ids: usize,
    /// For each id, whether its term is in no earlier run.
    pub(crate) new: Vec<bool>,
}

impl UnsortedTerms {
    /// The distinct terms, in the order of their first occurrence.
    pub(crate) fn distinct(&self) -> Result<ByteStrings, ErrorKind> {
        let mut distinct = ByteStringsBuilder::new(self.scratch.sibling())?;
        for run in &self.runs {
            let mut new = run.new.iter();
            run.terms.for_each(|term| match new.next() {
                Some(true) => distinct.push(term),
                _ => Ok(()),
            })?;
        }
        distinct.finish()
    }

    /// The total length of the values of all documents, given by `ids`.
    pub(crate) fn total_len(&self, ids: &SpillVec<u32>) -> Result<u64, ErrorKind> {
        let mut len = 0;
        self.for_each_run(ids, |_, offsets, ids| {
            len += ids.iter().map(|&id| (offsets[index(id) + 1] - offsets[index(id)]) as u64).sum::<u64>();
            Ok(())
        })?;
        Ok(len)
    }

    /// The values of all documents, given by `ids`.
    pub(crate) fn values(&self, ids: &SpillVec<u32>) -> Result<ByteStrings, ErrorKind> {
        let (mut values, mut bytes, mut of) =
            (ByteStringsBuilder::new(self.scratch.sibling())?, Vec::new(), usize::MAX);
        self.for_each_run(ids, |run, offsets, ids| {
            if of != run {
                of = run;
                bytes.clear();
                let all = &self.runs[run].terms.bytes;
                bytes.reserve_exact(usize::try_from(all.len()).unwrap_or(usize::MAX));
                all.read(0..all.len(), &mut bytes)?;
            }
            ids.iter().try_for_each(|&id| values.push(&bytes[offsets[index(id)]..offsets[index(id) + 1]]))
        })?;
        values.finish()
    }

    /// Calls `f` with the index of a run, the offsets of its terms, and some of its ids, for all ids in order.
    fn for_each_run(
        &self,
        ids: &SpillVec<u32>,
        mut f: impl FnMut(usize, &[usize], &[u32]) -> Result<(), ErrorKind>,
    ) -> Result<(), ErrorKind> {
        let (mut start, mut buffer) = (0, Vec::new());
        for (number, run) in self.runs.iter().enumerate() {
            let mut offsets = Vec::with_capacity(run.terms.offsets.len());
            let at = |&offset: &i64| usize::try_from(offset).unwrap_or(usize::MAX);
            run.terms.offsets.for_each(&mut |some| offsets.extend(some.iter().map(at)))?;
            for range in numeric::chunks(run.ids - start) {
                f(number, &offsets, ids.read(start + range.start..start + range.end, &mut buffer)?)?;
            }
            start = run.ids;
        }
        Ok(())
    }
}
