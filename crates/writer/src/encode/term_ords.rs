//! External sort of a field's terms: sorted runs ([`TermRun`]), merged into one dictionary.
//!
//! ```text
//! interner full   its terms, sorted, with their ids        -> a run; ids start at 0 again
//! merge           the distinct terms of all runs           -> the dictionary
//!                 (id, ord) of each term of a run          -> a list beside the run
//! streaming pass  the ids of documents, run by run         -> ords
//! ```

use std::collections::VecDeque;

use docvalues_format::dictionary::Dictionary;
use docvalues_storage::Spill;

use super::dictionary_writer::DictionaryWriter;
use crate::buffer::string_runs::KWayMerge;
use crate::buffer::{CHUNK_LEN, FixedWidth as _, Payload, Scratch, ScratchWriter, TermRun};
use crate::error::ErrorKind;
use crate::index::index;

/// Merges `runs` into a dictionary, and maps their ids to ords. Calls `new` with the run and the id of each term that is
/// in no earlier run.
pub(crate) fn merge(
    runs: &[TermRun],
    spill: &Spill,
    jump_tables: bool,
    mut new: impl FnMut(usize, u32),
) -> Result<(Dictionary<Payload>, Ords), ErrorKind> {
    let (mut terms, mut ords) = (KWayMerge::default(), Vec::new());
    for run in runs {
        ords.push((ScratchWriter::new(run.terms.sibling()), run.count, run.ids));
        terms.add(run.terms.clone())?;
    }
    let mut dictionary = DictionaryWriter::new(Some(Scratch::new(spill.clone())), CHUNK_LEN);
    while let Some(next) = terms.next()? {
        if dictionary.builder.last() != Some(&next.string) {
            // Of equal terms, the merge returns that of the earliest run first.
            new(next.run, next.number);
            dictionary.push(&next.string)?;
        }
        let (id, ord) = (next.number, dictionary.builder.len() - 1);
        ords[next.run].0.push(|bytes| {
            id.put(bytes);
            ord.put(bytes);
        })?;
    }
    let terms = dictionary.finish(jump_tables);
    let mut end = 0;
    let ords = ords.into_iter().map(|(pairs, count, ids)| {
        let before = std::mem::replace(&mut end, ids);
        Ok((ids - before, OrdOf::OnDisk(pairs.finish()?, count)))
    });
    Ok((terms, Ords::of(ords.collect::<Result<Vec<_>, ErrorKind>>()?.into_iter())))
}

/// The ord of each id of a run.
#[derive(Debug)]
enum OrdOf {
    InMemory(Vec<u32>),
    /// Pairs of id and ord, as `u32`, and their number.
    OnDisk(Scratch, u32),
}

impl OrdOf {
    fn into_memory(self) -> Result<Vec<u32>, ErrorKind> {
        let (scratch, count) = match self {
            OrdOf::InMemory(ord_of) => return Ok(ord_of),
            OrdOf::OnDisk(scratch, count) => (scratch, count),
        };
        let (mut ord_of, mut pairs) = (vec![0; index(count)], Vec::new());
        scratch.for_each(|bytes| {
            pairs.clear();
            u32::take(bytes, &mut pairs);
            pairs.as_chunks().0.iter().for_each(|&[id, ord]| ord_of[index(id)] = ord);
            Ok::<_, ErrorKind>(())
        })?;
        Ok(ord_of)
    }
}

/// Maps the ids of documents to ords, sequentially.
#[derive(Debug)]
pub(crate) struct Ords {
    /// The number of ids of each remaining run, and its ords.
    later: VecDeque<(usize, OrdOf)>,
    /// The ord of each id of the current run.
    ord_of: Vec<u32>,
    /// The number of ids left of the current run.
    left: usize,
}

impl Ords {
    fn of(runs: impl Iterator<Item = (usize, OrdOf)>) -> Ords {
        Ords { later: runs.collect(), ord_of: Vec::new(), left: 0 }
    }

    /// A map of runs in memory: for each the number of its ids, and the ord of each id.
    pub(crate) fn in_memory(runs: impl IntoIterator<Item = (usize, Vec<u32>)>) -> Ords {
        Ords::of(runs.into_iter().map(|(count, ord_of)| (count, OrdOf::InMemory(ord_of))))
    }

    /// Replaces the next ids by their ords.
    pub(crate) fn replace(&mut self, mut ids: &mut [u32]) -> Result<(), ErrorKind> {
        while !ids.is_empty() {
            if self.left == 0 {
                // Every id belongs to a run, so this does not happen.
                let Some((count, next)) = self.later.pop_front() else { return Ok(()) };
                self.ord_of = Vec::new();
                (self.ord_of, self.left) = (next.into_memory()?, count);
                continue;
            }
            let (these, later) = ids.split_at_mut(ids.len().min(self.left));
            these.iter_mut().for_each(|id| *id = self.ord_of[index(*id)]);
            self.left -= these.len();
            ids = later;
        }
        Ok(())
    }
}
