//! Terms that had no room in memory: sorted runs of them, merged into one dictionary.
//!
//! ```text
//! interner full   its terms, sorted, with their numbers   -> a run; numbers begin at 0 again
//! merge           all runs -> terms, each once             -> the dictionary
//!                 number and ord of each term of a run     -> beside the run
//! streaming pass  the numbers of documents, run by run     -> ords
//! ```

use docvalues_format::dictionary::{Dictionary, DictionaryBuilder, Refused};
use docvalues_format::error::Section;
use docvalues_storage::Spill;

use crate::buffer::{ByteStrings, Collected, Fixed as _, Payload, Region, TOGETHER, payloads};
use crate::error::ErrorKind;
use crate::intern::{Strings, index};
use crate::numbered;
use crate::unsorted::{Laying, Unsorted, UnsortedRun};

/// Different terms, in a file, and which numbers of documents are of them.
#[derive(Debug)]
pub(crate) struct Run {
    /// How many terms.
    count: u32,
    /// Number `i` of all documents is of this run, or of an earlier one, if `i` is below.
    ids: usize,
    /// The terms in byte order, each behind its number and its length, u32s.
    terms: Region,
    /// The terms by their numbers, if somebody asks for them.
    unsorted: Option<ByteStrings>,
}

impl Run {
    /// Writes `strings`, of which `order` has the numbers in byte order; also in the order of their numbers,
    /// if they are to be `unsorted`, too.
    pub(crate) fn write(
        strings: &Strings,
        order: &[u32],
        ids: usize,
        unsorted: bool,
        spill: &Spill,
    ) -> Result<Run, ErrorKind> {
        let mut terms = numbered::Run::new(spill);
        order.iter().try_for_each(|&id| terms.push(id, strings.get(index(id))))?;
        let count = u32::try_from(order.len()).unwrap_or(u32::MAX);
        let unsorted = match unsorted {
            true => {
                let mut terms = Laying::new(Region::new(spill.clone()))?;
                (0..strings.len()).try_for_each(|id| terms.push(strings.get(id)))?;
                Some(terms.finish()?)
            }
            false => None,
        };
        Ok(Run { count, ids, terms: terms.finish()?, unsorted })
    }

    pub(crate) fn spill(&self) -> &Spill {
        self.terms.spill()
    }
}

/// Merges `runs`: the dictionary, what makes ords of the numbers of documents, and what was kept unsorted.
pub(crate) fn merge(
    runs: Vec<Run>,
    jump_tables: bool,
) -> Result<(Dictionary<Payload>, Ords, Option<Unsorted>), ErrorKind> {
    let (mut terms, mut ords, mut blocks) = (numbered::Merge::default(), Vec::new(), None);
    let mut unsorted = Vec::new();
    for (i, run) in runs.into_iter().enumerate() {
        if let Some(terms) = run.unsorted {
            unsorted.push(UnsortedRun { terms, ids: run.ids, new: vec![false; index(run.count)] });
        }
        let other = run.terms.another();
        blocks.get_or_insert_with(|| other.another());
        ords.push((Collected::new(other), run.count, run.ids));
        terms.add(i, run.terms)?;
    }
    let mut builder = DictionaryBuilder::new();
    while let Some(next) = terms.next()? {
        if builder.last() != Some(&next.string) {
            // Of equal terms, that of the earliest run comes first.
            if let Some(run) = unsorted.get_mut(next.run) {
                run.new[index(next.number)] = true;
            }
            builder.push(&next.string).map_err(|refused| match refused {
                Refused::TooMany => ErrorKind::TooManyTerms { max: u32::MAX },
                other => other.into(),
            })?;
        }
        let (id, ord) = (next.number, builder.len() - 1);
        ords[next.run].0.push(|bytes| {
            id.put(bytes);
            ord.put(bytes);
        })?;
        if let Some(blocks) = &mut blocks
            && builder.blocks_len() >= TOGETHER
        {
            blocks.append(&builder.take_blocks())?;
        }
    }
    let region = blocks.as_ref().map(Region::another);
    let far = blocks.map(|blocks| (Section::Terms, blocks));
    let Ok(terms) = builder.finish(jump_tables).try_map(&mut payloads(far));
    let ords = ords.into_iter().map(|(pairs, count, ids)| Ok(RunOrds { pairs: pairs.finish()?, count, ids }));
    let mut ords: Vec<RunOrds> = ords.collect::<Result<_, ErrorKind>>()?;
    ords.reverse();
    let unsorted = region.map(|region| Unsorted { region, runs: unsorted });
    let unsorted = unsorted.filter(|unsorted| !unsorted.runs.is_empty());
    Ok((terms, Ords { runs: ords, ord_of: Vec::new(), done: 0, end: 0 }, unsorted))
}

/// The ord of each number of a run.
#[derive(Debug)]
struct RunOrds {
    /// Numbers and ords, u32s.
    pairs: Region,
    count: u32,
    /// As in [`Run`].
    ids: usize,
}

impl RunOrds {
    fn ord_of(&self) -> Result<Vec<u32>, ErrorKind> {
        let (mut ord_of, mut pairs) = (vec![0; index(self.count)], Vec::new());
        self.pairs.for_each(|bytes| {
            pairs.clear();
            u32::take(bytes, &mut pairs);
            pairs.as_chunks().0.iter().for_each(|&[id, ord]| ord_of[index(id)] = ord);
            Ok::<_, ErrorKind>(())
        })?;
        Ok(ord_of)
    }
}

/// Makes ords of the numbers of documents, which it is shown in their order.
#[derive(Debug)]
pub(crate) struct Ords {
    /// Those to come, the next one last.
    runs: Vec<RunOrds>,
    /// The ord of each number of this run.
    ord_of: Vec<u32>,
    /// How many numbers were replaced.
    done: usize,
    /// Where the run's end.
    end: usize,
}

impl Ords {
    /// Of a single run, in memory.
    pub(crate) fn new(ord_of: Vec<u32>) -> Ords {
        Ords { runs: Vec::new(), ord_of, done: 0, end: usize::MAX }
    }

    /// Replaces the next numbers.
    pub(crate) fn replace(&mut self, mut ids: &mut [u32]) -> Result<(), ErrorKind> {
        while !ids.is_empty() {
            if self.done == self.end {
                // All numbers are of a run: where there is none, what is looked up below is not there.
                let next = self.runs.pop();
                self.end = next.as_ref().map_or(usize::MAX, |run| run.ids);
                self.ord_of = Vec::new();
                self.ord_of = next.map_or_else(|| Ok(Vec::new()), |run| run.ord_of())?;
                continue;
            }
            let now = ids.len().min(self.end - self.done);
            let (these, later) = ids.split_at_mut(now);
            these.iter_mut().for_each(|id| *id = self.ord_of[index(*id)]);
            self.done += now;
            ids = later;
        }
        Ok(())
    }
}
