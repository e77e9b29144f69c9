//! Runs of documents that are equal by the keys so far, in groups whose values are read together.

use std::borrow::Cow;
use std::ops::Range;

use docvalues_column::{BatchDocs, DocId};

use super::items::Item;
use crate::engine::{Interrupt, SHORT_WINDOW, as_run_if_whole, len_u32};
use crate::error::Result;

/// The length from which a run is long, and a group of its own: a shorter one fits any window.
pub(super) const LONG_FROM: usize = SHORT_WINDOW;

/// A range of positions whose documents are equal by the keys so far. They ascend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Run {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Run {
    /// The `len` positions from `start` on.
    pub(super) fn new(start: u32, len: usize) -> Run {
        Run { start, end: start + len_u32(len) }
    }

    pub(super) fn len(self) -> usize {
        (self.end - self.start) as usize
    }
}

/// Runs of more than one document whose items have equal values, ascending.
#[derive(Default)]
pub(super) struct Ties {
    /// Those that may still differ by the key.
    pub(super) differ: Vec<Run>,
    /// Those that are equal by the key, if there is a next one.
    pub(super) equal: Vec<Run>,
}

impl Ties {
    /// Adds the runs of sorted items, of which the first is at position `start`.
    pub(super) fn add<P: Item>(
        &mut self,
        sorted: &[P],
        mut start: u32,
        may_differ: &impl Fn(&P) -> bool,
        has_next: bool,
        stop: &Interrupt,
    ) -> Result<()> {
        let mut pace = stop.pace();
        for same in sorted.chunk_by(P::is_equal_value) {
            pace.step()?;
            let run = Run::new(start, same.len());
            start = run.end;
            match same {
                [_] => {}
                [first, ..] if may_differ(first) => self.differ.push(run),
                _ if has_next => self.equal.push(run),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Runs that are read together: a long one, or several short ones.
pub(super) struct Group<'a> {
    /// The position of the first document.
    start: u32,
    /// The documents from the first run to the last one; some between them may belong to no run.
    pub(super) docs: &'a mut [DocId],
    pub(super) runs: &'a [Run],
    /// The number of documents in runs.
    pub(super) len: usize,
    pub(super) ties: Ties,
}

/// Groups ascending runs: a long one alone, short ones up to `most` documents.
pub(super) fn groups<'a>(
    mut docs: &'a mut [DocId],
    mut runs: &'a [Run],
    most: usize,
    stop: &Interrupt,
) -> Result<Vec<Group<'a>>> {
    let (mut groups, mut start) = (Vec::new(), 0);
    while let Some(first) = runs.first() {
        // A group has up to `most` runs.
        stop.check()?;
        let mut len = 0;
        let fits = |run: &&Run| {
            len += run.len();
            len <= most && run.len() < LONG_FROM
        };
        let (here, others) = runs.split_at(runs.iter().take_while(fits).count().max(1));
        let end = here.last().map_or(first.end, |last| last.end);
        let (_, rest) = docs.split_at_mut((first.start - start) as usize);
        let (here_docs, rest) = rest.split_at_mut((end - first.start) as usize);
        let len = here.iter().map(|run| run.len()).sum();
        groups.push(Group { start: first.start, docs: here_docs, runs: here, len, ties: Ties::default() });
        (docs, runs, start) = (rest, others, end);
    }
    Ok(groups)
}

impl Group<'_> {
    /// The places of a run's documents in the group.
    pub(super) fn indices(&self, run: Run) -> Range<usize> {
        (run.start - self.start) as usize..(run.end - self.start) as usize
    }

    /// The documents of all runs.
    pub(super) fn list(&self) -> Cow<'_, [DocId]> {
        match self.runs {
            [_] => Cow::Borrowed(&*self.docs),
            runs => {
                let docs = runs.iter().flat_map(|run| &self.docs[self.indices(*run)]);
                Cow::Owned(docs.copied().collect())
            }
        }
    }

    /// Some of [`list`](Self::list), to be read.
    pub(super) fn batch<'d>(&self, docs: &'d [DocId]) -> BatchDocs<'d> {
        // The documents of a single run ascend.
        if self.runs.len() == 1 { as_run_if_whole(docs) } else { BatchDocs::List(docs) }
    }
}
