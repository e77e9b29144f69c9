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
    /// `None` for a block without deletes.
    blocks: Vec<Option<Arc<[u64; WORDS]>>>,
}

impl LiveDocs {
    /// All of `docs` documents are live.
    pub fn all(docs: u32) -> LiveDocs {
        LiveDocs { docs, count: docs, blocks: vec![None; docs.div_ceil(DOCS) as usize] }
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
        let is_live = |block: &Option<Arc<[u64; WORDS]>>| match block {
            Some(words) => bits::get(&words[..], at),
            None => true,
        };
        doc.get() < self.docs && self.blocks.get(block).is_some_and(is_live)
    }

    /// Deletes `doc`, and returns whether it was live. O(1); copies 2 KiB if its block is shared.
    pub fn delete(&mut self, doc: DocId) -> bool {
        if !self.contains(doc) {
            return false;
        }
        let (block, at) = split(doc);
        let words = self.blocks[block].get_or_insert_with(|| Arc::new([u64::MAX; WORDS]));
        Arc::make_mut(words)[at / 64] &= !(1 << (at % 64));
        self.count -= 1;
        true
    }

    /// Adds documents, all of them live, until there are `docs`. O(added blocks); copies 2 KiB if the last block is
    /// shared.
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
        if let Some(Some(words)) = self.blocks.last_mut().filter(|_| !before.is_multiple_of(DOCS)) {
            let words = Arc::make_mut(words);
            let end = DOCS.min(before % DOCS + (docs - before)) as usize;
            bits::set_range(words, (before % DOCS) as usize..end);
        }
        self.blocks.resize(docs.div_ceil(DOCS) as usize, None);
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
        let blocks = self.blocks.iter().zip(&before.blocks).zip((0..self.docs).step_by(DOCS as usize));
        for ((now, before), first) in blocks {
            let Some(now) = now else { continue };
            if before.as_ref().is_some_and(|before| Arc::ptr_eq(now, before)) {
                continue;
            }
            let was = |at: usize| before.as_ref().map_or(u64::MAX, |before| before[at]);
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
        let mut words = Vec::with_capacity(self.blocks.len() * WORDS);
        for block in &self.blocks {
            words.extend_from_slice(block.as_ref().map_or(&[u64::MAX; WORDS], |words| &**words));
        }
        words.truncate(DocRange::new(0, self.docs).words());
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
            for grown in [docs, docs + 1, docs + 70_000] {
                let (mut live, mut words) = (LiveDocs::from(&model), model.words().to_vec());
                live.grow(grown);
                words.resize(DocRange::new(0, grown).words(), 0);
                bits::set_range(&mut words, docs as usize..grown as usize);
                prop_assert_eq!(live.to_bitset(), Bitset::from_words(words, grown));
                prop_assert_eq!(live.count(), model.count() + grown - docs);
            }
        }
    }
}
