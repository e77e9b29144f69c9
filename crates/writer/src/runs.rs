//! Terms that had no room in memory: sorted runs of them, merged into one dictionary.
//!
//! ```text
//! interner full   its terms, sorted, with their numbers   -> a run; numbers begin at 0 again
//! merge           all runs -> terms, each once             -> the dictionary
//!                 number and ord of each term of a run     -> beside the run
//! streaming pass  the numbers of documents, run by run     -> ords
//! ```

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::convert::Infallible;

use docvalues_format::dictionary::{Dictionary, DictionaryBuilder, Refused};
use docvalues_format::error::Section;
use docvalues_storage::Spill;

use crate::buffer::{Fixed as _, Payload, Region, TOGETHER};
use crate::error::ErrorKind;
use crate::intern::{Strings, index};
use crate::unsorted::{Lain, Laying, Unsorted, UnsortedRun};

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
    unsorted: Option<Lain>,
}

/// Bytes before a term.
const HEAD: usize = 8;

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
        let mut terms = Collected::new(Region::new(spill.clone()));
        for &id in order {
            let term = strings.get(index(id));
            terms.push(|bytes| {
                id.put(bytes);
                // The longest value has 2^31 bytes.
                u32::try_from(term.len()).unwrap_or(u32::MAX).put(bytes);
                bytes.extend_from_slice(term);
            })?;
        }
        let count = u32::try_from(order.len()).unwrap_or(u32::MAX);
        let unsorted = match unsorted {
            true => {
                let mut lain = Laying::new(Region::new(spill.clone()))?;
                (0..strings.len()).try_for_each(|id| lain.push(strings.get(id)))?;
                Some(lain.finish()?)
            }
            false => None,
        };
        Ok(Run { count, ids, terms: terms.finish()?, unsorted })
    }

    pub(crate) fn spill(&self) -> &Spill {
        self.terms.spill()
    }
}

/// A region, and bytes that are not worth writing yet.
pub(crate) struct Collected {
    region: Region,
    bytes: Vec<u8>,
}

impl Collected {
    pub(crate) fn new(region: Region) -> Collected {
        Collected { region, bytes: Vec::new() }
    }

    pub(crate) fn push(&mut self, push: impl FnOnce(&mut Vec<u8>)) -> Result<(), ErrorKind> {
        push(&mut self.bytes);
        if self.bytes.len() >= TOGETHER {
            self.region.append(&self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Region, ErrorKind> {
        if !self.bytes.is_empty() {
            self.region.append(&self.bytes)?;
        }
        Ok(self.region)
    }
}

/// The next term of a run, and the run behind it. The greatest is the one to take first.
struct Cursor {
    term: Vec<u8>,
    id: u32,
    run: usize,
    terms: Region,
    /// The bytes that were read, and how many of them were taken.
    bytes: Vec<u8>,
    taken: usize,
    /// How many were read of all.
    read: u64,
}

impl Cursor {
    fn new(run: usize, terms: Region) -> Cursor {
        Cursor { term: Vec::new(), id: 0, run, terms, bytes: Vec::new(), taken: 0, read: 0 }
    }

    /// Goes to the next term; whether there is one.
    fn advance(&mut self) -> Result<bool, ErrorKind> {
        if self.taken == self.bytes.len() && self.read == self.terms.len() {
            return Ok(false);
        }
        self.fill(HEAD)?;
        let mut head = Vec::with_capacity(2);
        u32::take(&self.bytes[self.taken..][..HEAD], &mut head);
        let len = index(head[1]);
        self.fill(HEAD + len)?;
        self.id = head[0];
        self.term.clear();
        self.term.extend_from_slice(&self.bytes[self.taken + HEAD..][..len]);
        self.taken += HEAD + len;
        Ok(true)
    }

    /// Has at least `len` bytes that were not taken.
    fn fill(&mut self, len: usize) -> Result<(), ErrorKind> {
        let there = self.bytes.len() - self.taken;
        if there < len {
            self.bytes.drain(..self.taken);
            self.taken = 0;
            let left = usize::try_from(self.terms.len() - self.read).unwrap_or(usize::MAX);
            let more = left.min(TOGETHER.max(len - there));
            self.bytes.resize(there + more, 0);
            self.terms.read(self.read, &mut self.bytes[there..])?;
            self.read += more as u64;
        }
        Ok(())
    }
}

impl Ord for Cursor {
    fn cmp(&self, other: &Cursor) -> Ordering {
        (&other.term, other.run).cmp(&(&self.term, self.run))
    }
}

impl PartialOrd for Cursor {
    fn partial_cmp(&self, other: &Cursor) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Cursor {
    fn eq(&self, other: &Cursor) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Cursor {}

/// Merges `runs`: the dictionary, what makes ords of the numbers of documents, and what was kept unsorted.
pub(crate) fn merge(
    runs: Vec<Run>,
    jump_tables: bool,
) -> Result<(Dictionary<Payload>, Ords, Option<Unsorted>), ErrorKind> {
    let (mut cursors, mut ords, mut blocks) = (BinaryHeap::new(), Vec::new(), None);
    let mut unsorted = Vec::new();
    for (i, run) in runs.into_iter().enumerate() {
        if let Some(lain) = run.unsorted {
            unsorted.push(UnsortedRun { lain, ids: run.ids, new: vec![false; index(run.count)] });
        }
        let other = run.terms.another();
        blocks.get_or_insert_with(|| other.another());
        ords.push((Collected::new(other), run.count, run.ids));
        let mut cursor = Cursor::new(i, run.terms);
        if cursor.advance()? {
            cursors.push(cursor);
        }
    }
    let mut builder = DictionaryBuilder::new();
    while let Some(mut next) = cursors.peek_mut() {
        if builder.last() != Some(&next.term) {
            // Of equal terms, that of the earliest run comes first.
            if let Some(run) = unsorted.get_mut(next.run) {
                run.new[index(next.id)] = true;
            }
            builder.push(&next.term).map_err(|refused| match refused {
                Refused::TooMany => ErrorKind::TooManyTerms { max: u32::MAX },
                other => other.into(),
            })?;
        }
        let (id, ord) = (next.id, builder.len() - 1);
        ords[next.run].0.push(|bytes| {
            id.put(bytes);
            ord.put(bytes);
        })?;
        if !next.advance()? {
            PeekMut::pop(next);
        }
        if let Some(blocks) = &mut blocks
            && builder.blocks_len() >= TOGETHER
        {
            blocks.append(&builder.take_blocks())?;
        }
    }
    let region = blocks.as_ref().map(Region::another);
    let Ok(terms) = builder.finish(jump_tables).try_map(&mut |section, bytes| {
        let far = if section == Section::Terms { blocks.take() } else { None };
        Ok::<_, Infallible>(Payload { far, near: vec![bytes] })
    });
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
