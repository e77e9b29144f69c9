//! [`TermRun`]: the terms of an interner in the temporary file, sorted; [`TermReader`]: its terms by id.

use std::slice;

use super::scratch::Scratch;
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
}

impl TermRun {
    /// Reads the terms into memory.
    pub(crate) fn read(&self) -> Result<RunTerms, ErrorKind> {
        let mut bytes = vec![0; usize::try_from(self.terms.len()).unwrap_or(usize::MAX)];
        self.terms.read(0, &mut bytes)?;
        let (mut starts, mut start) = (vec![0; index(self.count)], 0);
        while let Some((id, term)) = string_runs::first(&bytes[start..]) {
            starts[index(id)] = start;
            start += string_runs::HEAD + term.len();
        }
        Ok(RunTerms { bytes, starts })
    }
}

/// The terms of a run in memory.
#[derive(Debug)]
pub(crate) struct RunTerms {
    /// The run as it is on disk.
    bytes: Vec<u8>,
    /// The start of each term in it, by id.
    starts: Vec<usize>,
}

impl RunTerms {
    pub(crate) fn get(&self, id: u32) -> &[u8] {
        let term = string_runs::first(&self.bytes[self.starts[index(id)]..]);
        term.map_or(&[][..], |(_, term)| term)
    }
}

/// Looks up the terms of all ids of documents, in order: in one run after the other, each with ids from 0 on, and then
/// in memory.
#[derive(Debug)]
pub(crate) struct TermReader<'a> {
    later: slice::Iter<'a, TermRun>,
    /// The terms of the current run; `None` after the last one.
    run: Option<RunTerms>,
    in_memory: &'a Strings,
    /// The number of ids so far, and the end of the current run's ids.
    seen: usize,
    end: usize,
}

impl<'a> TermReader<'a> {
    pub(crate) fn new(runs: &'a [TermRun], in_memory: &'a Strings) -> TermReader<'a> {
        TermReader { later: runs.iter(), run: None, in_memory, seen: 0, end: 0 }
    }

    /// Moves on by `ids` ids, which are all of one run.
    pub(crate) fn advance(&mut self, ids: usize) -> Result<(), ErrorKind> {
        if self.seen == self.end {
            self.run = None; // Frees its memory before the next one is read.
            let next = self.later.next();
            self.run = next.map(TermRun::read).transpose()?;
            self.end = next.map_or(usize::MAX, |run| run.ids);
        }
        self.seen += ids;
        Ok(())
    }

    /// The term of an id of the current run.
    pub(crate) fn get(&self, id: u32) -> &[u8] {
        match &self.run {
            Some(run) => run.get(id),
            None => self.in_memory.get(index(id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use docvalues_storage::Spill;

    use super::super::intern::Interner;
    use super::super::memory_budget::MemoryBudget;
    use super::*;

    #[test]
    fn ids_are_looked_up_in_their_run_and_then_in_memory() {
        let spill = Spill::in_folder(std::env::temp_dir());
        let (mut interner, mut memory) = (Interner::default(), MemoryBudget::new(usize::MAX));
        // The second run has other ids for the same terms, and the strings in memory have others again.
        let values = [vec!["bee", "", "ant", "bee"], vec!["ant", "bee"], vec!["cow", "ant", "cow"]];
        let mut ids = Vec::new();
        for (i, values) in values.iter().enumerate() {
            for value in values {
                ids.push(interner.intern(value.as_bytes(), &mut memory).unwrap());
            }
            if i < 2 {
                interner.spill(ids.len(), &spill, &mut memory).unwrap();
            }
        }
        assert_eq!(ids, [0, 1, 2, 0, 0, 1, 0, 1, 0]);
        let (runs, in_memory) = interner.into_parts();
        assert_eq!(runs.len(), 2);
        let mut terms = TermReader::new(&runs, &in_memory);
        for (id, value) in ids.into_iter().zip(values.concat()) {
            terms.advance(1).unwrap();
            assert_eq!(terms.get(id), value.as_bytes());
        }
    }
}
