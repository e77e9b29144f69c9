//! Which documents of a source are taken.

use docvalues_column::bits;

use crate::error::{ErrorKind, Result};
use crate::intern::index;

/// The live documents of a source.
#[derive(Debug)]
pub(super) struct Live<'a> {
    /// All there are.
    docs: u32,
    /// `None` if they all live.
    mask: Option<Mask<'a>>,
}

/// A bit for each document, of those that live.
#[derive(Debug)]
struct Mask<'a> {
    words: &'a [u64],
    /// How many live before each word, and together.
    before: Vec<u32>,
}

impl<'a> Live<'a> {
    /// All of `docs` documents.
    pub(super) fn all(docs: u32) -> Live<'a> {
        Live { docs, mask: None }
    }

    /// Those whose bit is set.
    pub(super) fn some(docs: u32, words: &'a [u64]) -> Result<Live<'a>> {
        let expected = bits::words(0..docs);
        let Some(words) = words.get(..expected) else {
            return Err(
                ErrorKind::Slice { what: "words of live documents", found: words.len(), expected }.into()
            );
        };
        let (mut before, mut live) = (Vec::with_capacity(expected + 1), 0);
        for (start, word) in (0..docs).step_by(64).zip(words) {
            before.push(live);
            live += (word & up_to(docs - start)).count_ones();
        }
        before.push(live);
        Ok(Live { docs, mask: (live < docs).then_some(Mask { words, before }) })
    }

    /// Documents of the source, live or not.
    pub(super) fn docs(&self) -> u32 {
        self.docs
    }

    /// How many live.
    pub(super) fn count(&self) -> u32 {
        self.before(self.docs)
    }

    /// Whether all do.
    pub(super) fn are_all(&self) -> bool {
        self.mask.is_none()
    }

    /// Whether `doc` lives.
    pub(super) fn has(&self, doc: u32) -> bool {
        self.mask.as_ref().is_none_or(|mask| bits::get(mask.words, index(doc)))
    }

    /// How many live before `doc`, which is one of the documents, or behind the last one: what its number
    /// becomes.
    pub(super) fn before(&self, doc: u32) -> u32 {
        let Some(Mask { words, before }) = &self.mask else { return doc };
        let at = index(doc / 64);
        let word = words.get(at).map_or(0, |word| word & up_to(doc % 64));
        before[at] + word.count_ones()
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
            let live = Live::some(docs, &words).unwrap();
            let expected: Vec<u32> = (0..docs).filter(|&doc| bits::get(&words, index(doc))).collect();
            prop_assert!((0..docs).filter(|&doc| live.has(doc)).eq(expected.iter().copied()));
            prop_assert_eq!(live.are_all(), expected.len() == index(docs));
            prop_assert_eq!(index(live.count()), expected.len());
            for doc in 0..=docs {
                prop_assert_eq!(index(live.before(doc)), expected.partition_point(|&other| other < doc));
            }
        }
    }

    #[test]
    fn too_few_bits_are_refused() {
        assert!(Live::some(64, &[0]).is_ok());
        assert!(Live::some(65, &[0]).is_err());
    }
}
