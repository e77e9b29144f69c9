//! [`LiveSet`]: the live documents of a source, with ranks that become their new numbers.

use std::ops::Range;

use docvalues_column::{BatchDocs, DocId, DocRange, LiveDocs, bits};

use crate::index::index;

/// The live documents of a source.
#[derive(Clone, Debug)]
pub(crate) struct LiveSet {
    /// The number of documents, live or not.
    docs: u32,
    /// `None` if all are live.
    mask: Option<Mask>,
}

/// A bitset of live documents, with a rank directory.
#[derive(Clone, Debug)]
struct Mask {
    words: Vec<u64>,
    /// The number of live documents before each word, and in total.
    before: Vec<u32>,
}

impl LiveSet {
    /// All of `docs` documents are live.
    pub(crate) fn all(docs: u32) -> LiveSet {
        LiveSet { docs, mask: None }
    }

    /// The documents whose bit is set in `words`, which are enough words.
    pub(crate) fn of(docs: u32, words: Vec<u64>) -> LiveSet {
        let (mut before, mut live) = (Vec::with_capacity(words.len() + 1), 0);
        for (start, word) in (0..docs).step_by(64).zip(&words) {
            before.push(live);
            live += (word & up_to(docs - start)).count_ones();
        }
        before.push(live);
        LiveSet { docs, mask: (live < docs).then_some(Mask { words, before }) }
    }

    /// The number of documents, live or not.
    pub(crate) fn docs(&self) -> u32 {
        self.docs
    }

    /// The live documents, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = DocId> {
        (0..self.docs).filter(|&doc| self.has(doc)).map(DocId::new)
    }

    /// Whether `doc`, which must be in bounds, is live.
    pub(crate) fn has(&self, doc: u32) -> bool {
        self.mask.as_ref().is_none_or(|mask| bits::get(&mask.words, index(doc)))
    }

    /// Whether all documents are live.
    pub(crate) fn is_all(&self) -> bool {
        self.mask.is_none()
    }

    /// The set without documents for which `dead` returns true. `dead` gets ranks among the live documents.
    pub(crate) fn without(&self, mut dead: impl FnMut(u32) -> bool) -> LiveSet {
        let mut words = vec![0; DocRange::new(0, self.docs).words()];
        let living = self.iter().zip(0..).filter(|(_, place)| !dead(*place));
        living.for_each(|(doc, _)| bits::set(&mut words, index(doc.get())));
        LiveSet::of(self.docs, words)
    }

    /// The number of live documents.
    pub(crate) fn count(&self) -> u32 {
        self.rank(self.docs)
    }

    /// Replaces `runs` by the ranges of indices of `docs` that are live.
    pub(crate) fn runs(&self, docs: &BatchDocs<'_>, runs: &mut Vec<Range<usize>>) {
        runs.clear();
        match (&self.mask, docs) {
            (None, _) => runs.push(0..docs.len()),
            (Some(mask), BatchDocs::Run(docs)) => {
                let start = index(docs.start);
                let live = bits::runs(&mask.words, start..index(docs.end));
                runs.extend(live.map(|run| run.start - start..run.end - start));
            }
            (Some(mask), BatchDocs::List(docs)) => {
                for (at, doc) in docs.iter().enumerate() {
                    match runs.last_mut() {
                        _ if !bits::get(&mask.words, index(doc.get())) => {}
                        Some(run) if run.end == at => run.end = at + 1,
                        _ => runs.push(at..at + 1),
                    }
                }
            }
        }
    }

    /// The number of live documents before `doc`, which may be one past the last: the new number of `doc`.
    pub(crate) fn rank(&self, doc: u32) -> u32 {
        let Some(Mask { words, before }) = &self.mask else { return doc };
        let at = index(doc / 64);
        let word = words.get(at).map_or(0, |word| word & up_to(doc % 64));
        before[at] + word.count_ones()
    }
}

impl From<&LiveDocs> for LiveSet {
    fn from(live: &LiveDocs) -> LiveSet {
        match live.are_all() {
            true => LiveSet::all(live.docs()),
            false => LiveSet::of(live.docs(), live.to_bitset().words().to_vec()),
        }
    }
}

/// The lowest bits, `count` of them, or all 64.
fn up_to(count: u32) -> u64 {
    1_u64.checked_shl(count).map_or(u64::MAX, |bit| bit - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_what_lives(
            words in proptest::collection::vec(prop_oneof![Just(0), Just(u64::MAX), any::<u64>()], 4),
            docs in 0..=256_u32,
        ) {
            let live = LiveSet::of(docs, words.clone());
            let expected: Vec<u32> = (0..docs).filter(|&doc| bits::get(&words, index(doc))).collect();
            let late = DocRange::new(docs / 3, docs);
            let list: Vec<DocId> = late.iter().collect();
            for batch in [BatchDocs::Run(late), BatchDocs::List(&list)] {
                let mut runs = Vec::new();
                live.runs(&batch, &mut runs);
                let found = runs.iter().flat_map(|run| &list[run.clone()]).map(|doc| doc.get());
                prop_assert!(found.eq(expected.iter().copied().filter(|&doc| doc >= late.start)));
                prop_assert!(runs.windows(2).all(|pair| pair[0].end < pair[1].start));
            }
            prop_assert!(live.iter().map(|doc| doc.get()).eq(expected.iter().copied()));
            prop_assert_eq!(index(live.count()), expected.len());
            for doc in 0..=docs {
                prop_assert_eq!(index(live.rank(doc)), expected.partition_point(|&other| other < doc));
            }
        }
    }
}
