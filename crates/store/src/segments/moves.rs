//! [`Moves`]: where documents went, in runs.
//!
//! ```text
//! part of a merge    documents -> new numbers                           one step
//! part of old        documents -> new numbers -> … -> new numbers       a step for each flush and merge since
//!                    copied documents -> their places now
//! ```

use std::sync::Arc;
use std::vec::IntoIter;

use docvalues_column::{DocId, DocRange};

use super::new_numbers::{GONE, NewNumbers};
use super::part_id::PartId;

/// Consecutive documents of a part that went elsewhere, an item of [`Moves`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Move {
    /// The part in which they were.
    pub from: PartId,
    /// Their numbers there.
    pub docs: DocRange,
    /// The place of the first one now. Those after it have the numbers after its own. `None` if they were deleted before their
    /// part was written to a segment.
    pub to: Option<(PartId, DocId)>,
}

/// The documents that are at other places than before, as runs: parts in the order in which they were, and their documents
/// ascending. [`Snapshot::moves_since`](crate::Snapshot::moves_since) returns them, and has an example.
#[derive(Clone, Debug)]
pub struct Moves {
    parts: IntoIter<PartMoves>,
    /// The next ones, of the first part, if many were found at once.
    short: Option<ShortRuns>,
}

impl Moves {
    /// Those of parts.
    pub(crate) fn of(parts: Vec<PartMoves>) -> Moves {
        Moves { parts: parts.into_iter(), short: None }
    }

    fn next_of_parts(&mut self) -> Option<Move> {
        loop {
            let part = self.parts.as_mut_slice().first_mut()?;
            self.short = part.short_runs();
            if let Some(found) = self.short.as_mut().and_then(ShortRuns::next).or_else(|| part.next()) {
                return Some(found);
            }
            drop(self.parts.next());
        }
    }
}

impl Iterator for Moves {
    type Item = Move;

    // With an index sort, nearly each document is a run.
    #[inline]
    fn next(&mut self) -> Option<Move> {
        self.short.as_mut().and_then(ShortRuns::next).or_else(|| self.next_of_parts())
    }
}

/// Runs that are found at once: 4 KiB.
const RUNS_AT_ONCE: usize = 512;

/// Runs of a part that follow each other.
#[derive(Clone, Debug)]
struct ShortRuns {
    from: PartId,
    to: PartId,
    /// The first document.
    first: u32,
    /// The end of each, and the new number of its first document or [`GONE`].
    runs: IntoIter<(u32, u32)>,
}

impl ShortRuns {
    #[inline]
    fn next(&mut self) -> Option<Move> {
        let (end, new) = self.runs.next()?;
        let docs = DocRange::new(std::mem::replace(&mut self.first, end), end);
        Some(Move { from: self.from, docs, to: (new != GONE).then_some((self.to, DocId::new(new))) })
    }
}

/// The moves of the documents of a part.
#[derive(Clone, Debug)]
pub(crate) struct PartMoves {
    from: PartId,
    /// Those that are left.
    docs: DocRange,
    /// The places of documents that updates copied, ascending.
    copies: IntoIter<(DocId, Option<(PartId, DocId)>)>,
    /// From the numbers of the part to those of `to`.
    steps: Vec<Step>,
    /// The part in which they are now.
    to: Option<PartId>,
}

impl PartMoves {
    /// Of a part with so many documents, that are in `to` after all steps, or nowhere; but for copied ones.
    pub(crate) fn new(
        (from, docs): (PartId, u32),
        steps: Vec<Step>,
        to: Option<PartId>,
        copies: Vec<(DocId, Option<(PartId, DocId)>)>,
    ) -> PartMoves {
        PartMoves { from, docs: DocRange::new(0, docs), copies: copies.into_iter(), steps, to }
    }

    /// The next runs, many at once, if they are short and those of a single step.
    fn short_runs(&mut self) -> Option<ShortRuns> {
        let ([step], Some(to), []) = (&*self.steps, self.to, self.copies.as_slice()) else { return None };
        let (first, end) = (self.docs.start, self.docs.end);
        let docs = DocRange::new(step.first + first, step.first + end);
        let mut runs = step.numbers.short_runs(docs, RUNS_AT_ONCE)?;
        runs.iter_mut().for_each(|(end, _)| *end += first);
        self.docs.start = runs.last().map_or(end, |(end, _)| *end);
        Some(ShortRuns { from: self.from, to, first, runs: runs.into_iter() })
    }

    fn next(&mut self) -> Option<Move> {
        while !self.docs.is_empty() {
            let first = DocId::new(self.docs.start);
            let (end, to) = match self.copies.as_slice().first() {
                Some(&(doc, to)) if doc == first => {
                    self.copies.next();
                    (first.get() + 1, to)
                }
                Some(&(doc, _)) => self.run(first.get(), doc.get()),
                None => self.run(first.get(), self.docs.end),
            };
            self.docs.start = end;
            if to != Some((self.from, first)) {
                return Some(Move { from: self.from, docs: DocRange::new(first.get(), end), to });
            }
        }
        None
    }

    /// The run that begins with a document, and ends at `end` at the latest.
    fn run(&mut self, first: u32, mut end: u32) -> (u32, Option<(PartId, DocId)>) {
        let Some(to) = self.to else { return (end, None) };
        let mut doc = first;
        for step in &mut self.steps {
            let (step_end, new) = step.run(doc, doc + (end - first));
            end = first + (step_end - doc);
            let Some(new) = new else { return (end, None) };
            doc = new;
        }
        (end, Some((to, DocId::new(doc))))
    }
}

/// New numbers of documents, and the last run of them.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    numbers: Arc<NewNumbers>,
    /// The place of the part's first document in `numbers`.
    first: u32,
    docs: DocRange,
    new: Option<u32>,
    hint: usize,
}

impl Step {
    pub(crate) fn new(numbers: Arc<NewNumbers>, first: u32) -> Step {
        Step { numbers, first, docs: DocRange::default(), new: None, hint: 0 }
    }

    /// The end of the run that begins with a document, at most `end`, and the new number of the first.
    fn run(&mut self, doc: u32, end: u32) -> (u32, Option<u32>) {
        let (doc, end) = (self.first + doc, self.first + end);
        // Runs of the step before may be shorter.
        if !self.docs.contains(DocId::new(doc)) {
            let (run_end, new) = self.numbers.run(doc, end, &mut self.hint);
            (self.docs, self.new) = (DocRange::new(doc, run_end), new);
        }
        let new = self.new.map(|new| new + (doc - self.docs.start));
        (self.docs.end.min(end) - self.first, new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(new: &[Option<u32>]) -> Arc<NewNumbers> {
        let mut numbers = NewNumbers::none(u32::try_from(new.len()).unwrap());
        for (doc, new) in (0..).zip(new) {
            new.iter().for_each(|new| numbers.push(DocId::new(doc), DocId::new(*new)));
        }
        Arc::new(numbers)
    }

    #[test]
    fn runs_follow_all_steps() {
        let [from, to] = [7, 9].map(PartId::of_segment);
        // The first step is of a block after another one with two documents.
        let first = numbers(&[Some(0), None, Some(1), Some(2), None, Some(3), Some(4)]);
        let second = numbers(&[None, Some(10), Some(11), Some(20), Some(21)]);
        let steps = vec![Step::new(first, 2), Step::new(second, 0)];
        let copies = vec![(DocId::new(4), Some((from, DocId::new(30)))), (DocId::new(5), None)];
        let part = PartMoves::new((from, 6), steps, Some(to), copies);
        let unmoved =
            PartMoves::new((to, 3), Vec::new(), Some(to), vec![(DocId::new(1), Some((to, DocId::new(2))))]);
        let gone = PartMoves::new((from, 3), Vec::new(), None, Vec::new());
        let found: Vec<_> =
            Moves::of(vec![part, unmoved, gone]).map(|at| (at.from, at.docs, at.to)).collect();
        let run = |from, docs: std::ops::Range<u32>, to: Option<(PartId, u32)>| {
            (from, DocRange::from(docs), to.map(|(part, doc)| (part, DocId::new(doc))))
        };
        let expected = [
            run(from, 0..2, Some((to, 10))),
            run(from, 2..3, None),
            run(from, 3..4, Some((to, 20))),
            run(from, 4..5, Some((from, 30))),
            run(from, 5..6, None),
            run(to, 1..2, Some((to, 2))),
            run(from, 0..3, None),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn short_runs_are_found_many_at_once() {
        let [from, to] = [7, 9].map(PartId::of_segment);
        // Runs of one to three documents.
        let new: Vec<Option<u32>> =
            (0..6_000_u32).map(|doc| (!doc.is_multiple_of(7)).then_some(doc + doc / 3 * 5)).collect();
        let numbers = numbers(&new);
        let part = |first, docs| {
            PartMoves::new((from, docs), vec![Step::new(numbers.clone(), first)], Some(to), Vec::new())
        };
        // Two blocks.
        let runs: Vec<Move> = Moves::of(vec![part(0, 2_000), part(2_000, 4_000)]).collect();
        let found = runs.iter().flat_map(|run| {
            run.docs.iter().zip(0..).map(move |(_, after)| run.to.map(|(_, first)| first.get() + after))
        });
        assert!(found.eq(new.iter().copied()));
        let begins = |doc: &usize| *doc == 2_000 || new[*doc] != new[doc - 1].map(|new| new + 1);
        assert_eq!(runs.len(), 1 + (1..new.len()).filter(begins).count());
        assert!(runs.len() > 4 * RUNS_AT_ONCE, "found several times");
        let docs = runs.iter().flat_map(|run| run.docs.iter()).map(DocId::get);
        assert!(docs.eq((0..2_000).chain(0..4_000)));
    }
}
