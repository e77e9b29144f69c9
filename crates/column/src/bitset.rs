//! [`Bitset`]: a set of documents that owns its bits and knows its count.

use std::fmt;

use docvalues_format::id::DocId;

use crate::{DocRange, bits};

/// A set of documents of one source: one bit for each document, and the number of set bits.
///
/// ```
/// use docvalues_column::{Bitset, DocId};
///
/// let mut hits = Bitset::from_docs([3, 5, 8].map(DocId::new), 10);
/// hits.remove(DocId::new(5));
/// hits.insert(DocId::new(9));
/// assert!(hits.iter().eq([3, 8, 9].map(DocId::new)));
///
/// hits.negate();
/// assert_eq!((hits.count(), hits.contains(DocId::new(3))), (7, false));
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Bitset {
    words: Vec<u64>,
    docs: u32,
    count: u32,
}

impl Bitset {
    /// An empty set for a source of `docs` documents.
    pub fn none(docs: u32) -> Bitset {
        Bitset { words: vec![0; DocRange::new(0, docs).words()], docs, count: 0 }
    }

    /// The set of all `docs` documents.
    pub fn all(docs: u32) -> Bitset {
        let mut all = Bitset::none(docs);
        all.negate();
        all
    }

    /// The set with these bits: bit `i % 64` of word `i / 64` is document `i`. Clears bits past the last document.
    /// O(words).
    ///
    /// # Panics
    ///
    /// If `words` is not `docs.div_ceil(64)` words long.
    pub fn from_words(words: Vec<u64>, docs: u32) -> Bitset {
        assert_eq!(words.len(), DocRange::new(0, docs).words(), "words for {docs} documents");
        let mut set = Bitset { words, docs, count: 0 };
        set.clip_and_count();
        set
    }

    /// The set of the documents of `list` that are below `docs`. The list may be in any order and have repeats.
    pub fn from_docs(list: impl IntoIterator<Item = DocId>, docs: u32) -> Bitset {
        let mut set = Bitset::none(docs);
        for doc in list.into_iter().filter(|doc| doc.get() < docs) {
            bits::set(&mut set.words, doc.get() as usize);
        }
        set.clip_and_count();
        set
    }

    /// The same set for a source of `docs` documents; documents from there on are dropped. O(words).
    #[must_use]
    pub fn resized(&self, docs: u32) -> Bitset {
        let mut words = self.words.clone();
        words.resize(DocRange::new(0, docs).words(), 0);
        Bitset::from_words(words, docs)
    }

    /// Clears the bits past the last document, and counts the others.
    fn clip_and_count(&mut self) {
        if let Some(last) = self.words.last_mut()
            && !self.docs.is_multiple_of(64)
        {
            *last &= (1 << (self.docs % 64)) - 1;
        }
        // The count is at most `docs`.
        self.count = u32::try_from(bits::count(&self.words)).unwrap_or(u32::MAX);
    }

    /// The number of documents in the set. O(1).
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The number of documents of the source, in the set or not.
    pub fn docs(&self) -> u32 {
        self.docs
    }

    /// Whether all documents are in the set.
    pub fn is_all(&self) -> bool {
        self.count == self.docs
    }

    /// Whether no document is in the set.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The words of the set, in the layout of [`from_words`](Self::from_words).
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Whether `doc` is in the set.
    pub fn contains(&self, doc: DocId) -> bool {
        bits::get(&self.words, doc.get() as usize)
    }

    /// Whether all documents of `other` are in the set. O(words).
    pub fn contains_all(&self, other: &Bitset) -> bool {
        let own = self.words.iter().copied().chain(std::iter::repeat(0));
        own.zip(&other.words).all(|(own, other)| other & !own == 0)
    }

    /// The documents in the set, ascending.
    pub fn iter(&self) -> impl Iterator<Item = DocId> + '_ {
        bits::ones(&self.words).map(|at| DocId::new(u32::try_from(at).unwrap_or(u32::MAX)))
    }

    /// Sets the bit of every document of `docs` that is in the set, as [`Rows::filter`](crate::Rows::filter) does.
    ///
    /// # Panics
    ///
    /// If `bits` has fewer than [`DocRange::words`] words.
    pub fn add_to(&self, docs: DocRange, bits: &mut [u64]) {
        bits::check(docs, bits);
        let docs = docs.clip(self.docs);
        let (first, shift) = (docs.start as usize / 64, docs.start % 64);
        let word = |at: usize| self.words.get(at).copied().unwrap_or(0);
        let (whole, rest) = (docs.len() / 64, docs.len() % 64);
        if shift == 0 {
            let from = self.words.get(first..).unwrap_or_default();
            bits[..whole].iter_mut().zip(from).for_each(|(to, from)| *to |= from);
        } else {
            for (at, to) in (first..).zip(&mut bits[..whole]) {
                *to |= word(at) >> shift | word(at + 1) << (64 - shift);
            }
        }
        if rest > 0 {
            let last = first + whole;
            bits[whole] |= (word(last) >> shift | (word(last + 1) << 1) << (63 - shift)) & ((1 << rest) - 1);
        }
    }

    /// Adds `doc`, and returns whether it is new.
    ///
    /// # Panics
    ///
    /// If `doc` is not below [`docs`](Self::docs).
    pub fn insert(&mut self, doc: DocId) -> bool {
        assert!(doc.get() < self.docs, "{doc:?} of {} documents", self.docs);
        let is_new = !self.contains(doc);
        self.words[doc.get() as usize / 64] |= 1 << (doc.get() % 64);
        self.count += u32::from(is_new);
        is_new
    }

    /// Removes `doc`, and returns whether it was in the set.
    pub fn remove(&mut self, doc: DocId) -> bool {
        let was_there = self.contains(doc);
        if was_there {
            self.words[doc.get() as usize / 64] &= !(1 << (doc.get() % 64));
            self.count -= 1;
        }
        was_there
    }

    /// Keeps only the documents that are also in `other`. O(words).
    pub fn intersect(&mut self, other: &Bitset) {
        self.zip(other, |a, b| a & b);
    }

    /// Adds the documents of `other` that are below [`docs`](Self::docs). O(words).
    pub fn unite(&mut self, other: &Bitset) {
        self.zip(other, |a, b| a | b);
    }

    /// Removes the documents of `other`. O(words).
    pub fn subtract(&mut self, other: &Bitset) {
        self.zip(other, |a, b| a & !b);
    }

    /// Replaces the set by its complement. O(words).
    pub fn negate(&mut self) {
        self.words.iter_mut().for_each(|word| *word = !*word);
        self.clip_and_count();
    }

    fn zip(&mut self, other: &Bitset, join: impl Fn(u64, u64) -> u64) {
        let others = other.words.iter().copied().chain(std::iter::repeat(0));
        self.words.iter_mut().zip(others).for_each(|(word, other)| *word = join(*word, other));
        self.clip_and_count();
    }
}

impl fmt::Debug for Bitset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} documents", self.count, self.docs)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn docs(set: &Bitset) -> BTreeSet<u32> {
        set.iter().map(DocId::get).collect()
    }

    fn check(set: &Bitset, model: &BTreeSet<u32>) {
        assert_eq!(&docs(set), model);
        assert_eq!(set.count() as usize, model.len());
        assert_eq!(set, &Bitset::from_words(set.words().to_vec(), set.docs()), "bits past the end are clear");
    }

    proptest! {
        #[test]
        fn sets_are_as_in_a_tree(
            size in prop_oneof![0..3_u32, 62..67_u32, 511..515_u32],
            other_size in prop_oneof![0..3_u32, 62..67_u32, 511..515_u32],
            list in prop::collection::vec(0..600_u32, 0..40),
            others in prop::collection::vec(0..600_u32, 0..40),
        ) {
            let set = Bitset::from_docs(list.iter().copied().map(DocId::new), size);
            let other = Bitset::from_docs(others.iter().copied().map(DocId::new), other_size);
            let model: BTreeSet<u32> = list.iter().copied().filter(|doc| *doc < size).collect();
            let other_model: BTreeSet<u32> = others.iter().copied().filter(|doc| *doc < other_size).collect();
            check(&set, &model);
            let changed = |change: &dyn Fn(&mut Bitset)| {
                let mut set = set.clone();
                change(&mut set);
                set
            };
            check(&changed(&|set| set.intersect(&other)), &(&model & &other_model));
            let united = (&model | &other_model).into_iter().filter(|doc| *doc < size).collect();
            check(&changed(&|set| set.unite(&other)), &united);
            check(&changed(&|set| set.subtract(&other)), &(&model - &other_model));
            prop_assert_eq!(set.contains_all(&other), other_model.is_subset(&model));
            prop_assert!(set.contains_all(&changed(&|set| set.intersect(&other))));
            check(&changed(&Bitset::negate), &(0..size).filter(|doc| !model.contains(doc)).collect());
            let resized = model.iter().copied().filter(|doc| *doc < other_size).collect();
            check(&set.resized(other_size), &resized);
            let docs = DocRange::new(list.first().copied().unwrap_or(0), others.first().copied().unwrap_or(600));
            let mut bits = vec![1 << 63; docs.words() + 1];
            set.add_to(docs, &mut bits);
            for at in 0..64 * bits.len() {
                let doc = docs.iter().nth(at).map(DocId::get);
                let is_there = doc.is_some_and(|doc| model.contains(&doc));
                prop_assert_eq!(bits::get(&bits, at), at % 64 == 63 || is_there, "{:?} of {:?}", doc, docs);
            }
            let (mut set, mut model) = (set, model);
            for (at, doc) in others.iter().copied().filter(|doc| *doc < size).enumerate() {
                if at % 2 == 0 {
                    prop_assert_eq!(set.insert(DocId::new(doc)), model.insert(doc));
                } else {
                    prop_assert_eq!(set.remove(DocId::new(doc)), model.remove(&doc));
                }
            }
            check(&set, &model);
            prop_assert_eq!(Bitset::all(size).count(), size);
        }
    }
}
