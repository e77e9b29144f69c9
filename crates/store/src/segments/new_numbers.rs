//! [`NewNumbers`]: the numbers that documents get in the segment to which they are written.
//!
//! ```text
//! runs   first document -> its new number, or none; those after it ascend with it   8 bytes a run
//! each   document -> its new number, or none                                        4 bytes a document, if runs are short
//! ```
//!
//! A merge without an index sort has a run for each source, and two more for each deleted document.

use docvalues_column::{DocId, DocRange};

/// The number of a document that is not in the segment.
pub(super) const GONE: u32 = u32::MAX;

/// The new numbers of the documents of a segment, or of all blocks of a buffer.
#[derive(Debug)]
pub(crate) struct NewNumbers {
    docs: u32,
    numbers: Numbers,
    /// The document and the number that continue the last run. No document from this one on has a number.
    next: (u32, u32),
}

#[derive(Debug)]
enum Numbers {
    Runs(Vec<(u32, u32)>),
    Each(Vec<u32>),
}

impl NewNumbers {
    /// The numbers of this many documents, none of which has one yet.
    pub(crate) fn none(docs: u32) -> NewNumbers {
        NewNumbers { docs, numbers: Numbers::Runs(Vec::new()), next: (0, GONE) }
    }

    /// Notes the number of a document. Documents ascend.
    #[inline]
    pub(crate) fn push(&mut self, doc: DocId, new: DocId) {
        let (doc, new) = (doc.get(), new.get());
        if let Numbers::Each(each) = &mut self.numbers {
            each[doc as usize] = new;
        } else if (doc, new) != self.next {
            self.begin_run(doc, new);
        }
        self.next = (doc + 1, new + 1);
    }

    fn begin_run(&mut self, doc: u32, new: u32) {
        let Numbers::Runs(runs) = &mut self.numbers else { return };
        if runs.len() > self.docs as usize / 8 + 2 {
            let mut each = self.each();
            each[doc as usize] = new;
            self.numbers = Numbers::Each(each);
            return;
        }
        if doc > self.next.0 {
            runs.push((self.next.0, GONE));
        }
        runs.push((doc, new));
    }

    /// The number of each document.
    fn each(&self) -> Vec<u32> {
        let mut each = vec![GONE; self.docs as usize];
        let (mut doc, mut hint) = (0, 0);
        while doc < self.next.0 {
            let (end, first) = self.run(doc, self.next.0, &mut hint);
            if let Some(first) = first {
                each[doc as usize..end as usize].iter_mut().zip(first..).for_each(|(each, new)| *each = new);
            }
            doc = end;
        }
        each
    }

    /// The number of a document.
    pub(crate) fn get(&self, doc: DocId) -> Option<DocId> {
        let (_, new) = self.run(doc.get(), doc.get() + 1, &mut 0);
        new.map(DocId::new)
    }

    /// The run that begins with a document: its end, at most `end`, and the number of its first document. `hint` is the place of
    /// the last run that was asked for.
    #[inline]
    pub(super) fn run(&self, doc: u32, end: u32, hint: &mut usize) -> (u32, Option<u32>) {
        if doc >= self.next.0 {
            return (end, None);
        }
        match &self.numbers {
            Numbers::Runs(runs) => {
                let follows = runs.get(*hint + 1).is_some_and(|(first, _)| *first == doc);
                *hint = match follows {
                    true => *hint + 1,
                    // The first run begins with document 0.
                    false => runs.partition_point(|(first, _)| *first <= doc).saturating_sub(1),
                };
                let (first, new) = runs[*hint];
                let run_end = runs.get(*hint + 1).map_or(self.next.0, |(next, _)| *next);
                (run_end.min(end), (new != GONE).then(|| new + (doc - first)))
            }
            Numbers::Each(each) => {
                let each = &each[doc as usize..each.len().min(end as usize)];
                let follows = each.windows(2).take_while(|pair| pair[1] == after(pair[0])).count();
                let new = each.first().copied().filter(|new| *new != GONE);
                (doc + 1 + u32::try_from(follows).unwrap_or(u32::MAX), new)
            }
        }
    }

    /// The first runs of some documents, at most `most`: the count of documents up to the end of each, and the number of its
    /// first one or [`GONE`]. `None` if [`run`](Self::run) finds each in O(1), or there are no such documents.
    pub(super) fn short_runs(&self, docs: DocRange, most: usize) -> Option<Vec<(u32, u32)>> {
        let Numbers::Each(each) = &self.numbers else { return None };
        let (&first, rest) = each.get(docs.start as usize..docs.end as usize)?.split_first()?;
        // Filled by index: the length of a vector that grows would be read from memory for each run.
        let (mut runs, mut found) = (vec![(0, 0); most.min(docs.len())], 0);
        let (mut end, mut new, mut next) = (1, first, after(first));
        for &number in rest {
            if number != next {
                runs[found] = (end, new);
                found += 1;
                if found == runs.len() {
                    return Some(runs);
                }
                new = number;
            }
            (end, next) = (end + 1, after(number));
        }
        runs[found] = (end, new);
        runs.truncate(found + 1);
        Some(runs)
    }
}

/// The number after `number` in a run.
#[inline]
fn after(number: u32) -> u32 {
    number + u32::from(number != GONE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What `NewNumbers` say of documents, and the ends of their runs.
    fn compare(model: &[Option<u32>]) -> bool {
        let docs = u32::try_from(model.len()).unwrap();
        let mut numbers = NewNumbers::none(docs);
        for (doc, new) in (0..).zip(model) {
            new.iter().for_each(|new| numbers.push(DocId::new(doc), DocId::new(*new)));
        }
        for (doc, new) in (0..).zip(model) {
            assert_eq!(numbers.get(DocId::new(doc)), new.map(DocId::new));
        }
        let (mut found, mut hint) = (Vec::new(), 0);
        while found.len() < model.len() {
            let doc = u32::try_from(found.len()).unwrap();
            let (end, new) = numbers.run(doc, docs, &mut hint);
            assert!(end > doc && end <= docs);
            found.extend((0..end - doc).map(|at| new.map(|new| new + at)));
        }
        assert_eq!(found, model);
        matches!(numbers.numbers, Numbers::Each(_))
    }

    #[test]
    fn short_runs_take_four_bytes_a_document() {
        assert!(!compare(&[]));
        assert!(!compare(&[None; 100]));
        assert!(!compare(&(0..1_000).map(|doc| Some(doc + 7)).collect::<Vec<_>>()));
        assert!(compare(&(0..1_000).map(|doc| Some(2 * doc)).collect::<Vec<_>>()));
        // The runs are short only at the end.
        let late = |doc: u32| (doc < 900 || doc.is_multiple_of(2)).then_some(doc);
        assert!(!compare(&(0..1_000).map(late).collect::<Vec<_>>()));
        assert!(compare(&(0..1_500).map(late).collect::<Vec<_>>()));
    }

    proptest! {
        #[test]
        fn runs_and_numbers_are_those_of_a_vector(
            pieces in prop::collection::vec((0..40_usize, prop::option::weighted(0.7, 0..1_000_u32)), 0..30),
        ) {
            let of = |(len, first): (usize, Option<u32>)| {
                (0..len).map(move |at| first.map(|first| first + u32::try_from(at).unwrap()))
            };
            compare(&pieces.into_iter().flat_map(of).collect::<Vec<_>>());
        }
    }
}
