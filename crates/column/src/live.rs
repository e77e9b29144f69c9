//! Live documents: those that were not deleted.

use std::sync::Arc;

use docvalues_format::id::DocId;

use crate::{Bitset, DocRange, bits};

/// Documents of a block. A smaller one makes a delete after a clone cheaper, and the clone more expensive.
const DOCS: u32 = 1 << 14;

/// Words of a block.
const WORDS: usize = DOCS as usize / 64;

/// The documents of a source that were not deleted.
///
/// Segments never change, so deletes are kept beside them: a [`Part`](crate::Part) is a source with its live documents.
///
/// The set is copy-on-write, in blocks of 16,384 documents: a clone shares all blocks, and a delete copies a shared
/// block (2 KiB). A block without deletes takes no memory.
///
/// ```
/// use docvalues_column::{DocId, LiveDocs};
///
/// let mut live = LiveDocs::all(100_000);
/// let before = live.clone();
/// assert!(live.delete(DocId::new(70_000)));
/// assert!(!live.delete(DocId::new(70_000)), "it was deleted before");
/// assert_eq!((live.count(), before.count()), (99_999, 100_000));
/// ```
#[derive(Clone, Debug)]
pub struct LiveDocs {
    docs: u32,
    count: u32,
    /// `None` for a block without deletes. Blocks after the last with deletes may be left out, so that a clone of a set without
    /// any allocates nothing.
    blocks: Vec<Option<Arc<[u64; WORDS]>>>,
}

impl LiveDocs {
    /// All of `docs` documents are live.
    pub fn all(docs: u32) -> LiveDocs {
        LiveDocs { docs, count: docs, blocks: Vec::new() }
    }

    /// The number of documents of the source, live or not.
    pub fn docs(&self) -> u32 {
        self.docs
    }

    /// The number of live documents. O(1).
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether no document was deleted.
    pub fn are_all(&self) -> bool {
        self.count == self.docs
    }

    /// Whether `doc` is live. Documents past the last one are not. O(1).
    pub fn contains(&self, doc: DocId) -> bool {
        let (block, at) = split(doc);
        doc.get() < self.docs
            && match self.blocks.get(block) {
                Some(Some(words)) => bits::get(&words[..], at),
                _ => true,
            }
    }

    /// Deletes `doc`, and returns whether it was live. O(1); copies 2 KiB if its block is shared.
    pub fn delete(&mut self, doc: DocId) -> bool {
        if !self.contains(doc) {
            return false;
        }
        let (block, at) = split(doc);
        if self.blocks.len() <= block {
            self.blocks.resize(block + 1, None);
        }
        let words = self.blocks[block].get_or_insert_with(|| Arc::new([u64::MAX; WORDS]));
        Arc::make_mut(words)[at / 64] &= !(1 << (at % 64));
        self.count -= 1;
        true
    }

    /// Adds documents, all of them live, until there are `docs`. O(1); copies 2 KiB if the last block is shared.
    ///
    /// ```
    /// use docvalues_column::{DocId, LiveDocs};
    ///
    /// let mut live = LiveDocs::all(1);
    /// live.delete(DocId::new(0));
    /// live.grow(3);
    /// assert_eq!((live.docs(), live.count()), (3, 2));
    /// ```
    pub fn grow(&mut self, docs: u32) {
        let (before, docs) = (self.docs, docs.max(self.docs));
        // There is none if the last block is full.
        if let Some(Some(words)) = self.blocks.get_mut((before / DOCS) as usize) {
            let words = Arc::make_mut(words);
            let end = DOCS.min(before % DOCS + (docs - before)) as usize;
            bits::set_range(words, (before % DOCS) as usize..end);
        }
        (self.count, self.docs) = (self.count + (docs - before), docs);
    }

    /// The documents that are live in `before` and not in this set, ascending. Blocks that both share are skipped.
    ///
    /// # Examples
    ///
    /// ```
    /// use docvalues_column::{DocId, LiveDocs};
    ///
    /// let mut live = LiveDocs::all(100);
    /// live.delete(DocId::new(7));
    /// let before = live.clone();
    /// live.delete(DocId::new(9));
    /// assert!(live.deleted_since(&before).eq([DocId::new(9)]));
    /// ```
    pub fn deleted_since<'a>(&'a self, before: &'a LiveDocs) -> impl Iterator<Item = DocId> + 'a {
        let mut deleted = Vec::new();
        let blocks = self.blocks.iter().zip((0..self.docs).step_by(DOCS as usize));
        for (block, (now, first)) in blocks.enumerate() {
            let Some(now) = now else { continue };
            let before = before.blocks.get(block).and_then(Option::as_ref);
            if before.is_some_and(|before| Arc::ptr_eq(now, before)) {
                continue;
            }
            let was = |at: usize| before.map_or(u64::MAX, |before| before[at]);
            let gone: Vec<u64> = now.iter().enumerate().map(|(at, word)| was(at) & !word).collect();
            deleted.extend(
                bits::ones(&gone).map(|at| DocId::new(first + u32::try_from(at).unwrap_or(u32::MAX))),
            );
        }
        // The last word may have bits of no document.
        deleted.retain(|doc| doc.get() < self.docs.min(before.docs));
        deleted.into_iter()
    }

    /// The live documents as a bitset. O(documents / 64).
    pub fn to_bitset(&self) -> Bitset {
        let len = DocRange::new(0, self.docs).words();
        let mut words = Vec::with_capacity(len.next_multiple_of(WORDS));
        for block in &self.blocks {
            words.extend_from_slice(block.as_ref().map_or(&[u64::MAX; WORDS], |words| &**words));
        }
        words.resize(len, u64::MAX);
        Bitset::from_words(words, self.docs)
    }
}

/// The block of a document, and the place in it.
fn split(doc: DocId) -> (usize, usize) {
    let doc = doc.get() as usize;
    (doc / DOCS as usize, doc % DOCS as usize)
}

impl From<&Bitset> for LiveDocs {
    fn from(set: &Bitset) -> LiveDocs {
        let blocks = set.words().chunks(WORDS).zip((0..set.docs()).step_by(DOCS as usize));
        let block = |(words, first): (&[u64], u32)| {
            let docs = (set.docs() - first).min(DOCS) as usize;
            if bits::count(words) == docs {
                return None;
            }
            let mut block = [u64::MAX; WORDS];
            block[..words.len()].copy_from_slice(words);
            Some(Arc::new(block))
        };
        LiveDocs { docs: set.docs(), count: set.count(), blocks: blocks.map(block).collect() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn deletes_are_as_in_a_bitset(
            docs in prop_oneof![0..3_u32, 16_382..16_387_u32, 131_000..131_200_u32],
            deleted in prop::collection::vec(any::<u32>(), 0..30),
            also_then in prop::collection::vec(any::<u32>(), 0..5),
        ) {
            let (mut live, mut model) = (LiveDocs::all(docs), Bitset::all(docs));
            let some = |list: Vec<u32>| list.into_iter().map(|doc| DocId::new(doc % (docs + 2)));
            for doc in some(deleted) {
                prop_assert_eq!(live.delete(doc), model.remove(doc));
            }
            let (before, before_model) = (live.clone(), model.clone());
            for doc in some(also_then) {
                prop_assert_eq!(live.delete(doc), model.remove(doc));
            }
            for (live, model) in [(&before, &before_model), (&live, &model)] {
                prop_assert_eq!(&live.to_bitset(), model);
                prop_assert_eq!((live.count(), live.docs(), live.are_all()), (model.count(), docs, model.is_all()));
                prop_assert!((0..docs + 2).map(DocId::new).all(|doc| live.contains(doc) == model.contains(doc)));
                prop_assert_eq!(LiveDocs::from(model).to_bitset(), model.clone());
            }
            let mut gone = before_model.clone();
            gone.subtract(&model);
            prop_assert!(live.deleted_since(&before).eq(gone.iter()));
            prop_assert!(LiveDocs::from(&model).deleted_since(&before).eq(gone.iter()));
            prop_assert_eq!(before.deleted_since(&live).count(), 0);
            // Documents that are added are live.
            let from = [LiveDocs::from(&model), live];
            for (mut live, grown) in
                from.iter().flat_map(|live| [docs, docs + 1, docs + 70_000].map(|grown| (live.clone(), grown)))
            {
                let mut words = model.words().to_vec();
                live.grow(grown);
                words.resize(DocRange::new(0, grown).words(), 0);
                bits::set_range(&mut words, docs as usize..grown as usize);
                prop_assert_eq!(live.to_bitset(), Bitset::from_words(words, grown));
                prop_assert_eq!(live.count(), model.count() + grown - docs);
            }
        }
    }
}
