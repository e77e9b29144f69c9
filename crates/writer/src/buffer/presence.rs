//! [`PresenceBuffer`]: the documents of a field that have a value, while documents are added.
//!
//! The memory depends on the density: nothing while every document has a value, then four bytes a value, and from one
//! value in 32 documents on, one bit a document. Adding a document without a value does no work for the field, which
//! matters with 65,000 fields.

use std::ops::Range;

use docvalues_column::bits;
use docvalues_format::bits::{ones_of, or_at};
use docvalues_format::presence::{self, Presence};

use super::batch_rows::BatchRows;
use super::memory_budget::MemoryBudget;
use crate::error::ErrorKind;
use crate::index::index;

/// The documents that have a value.
#[derive(Debug, Default)]
pub(crate) struct PresenceBuffer {
    /// One past the last document with a value.
    seen: u32,
    /// The number of documents with a value.
    count: u32,
    form: Form,
}

#[derive(Debug, Default)]
enum Form {
    /// All documents below `seen`.
    #[default]
    All,
    /// A sorted list of documents.
    List(Vec<u32>),
    /// A bitset.
    Bits(Vec<u64>),
}

impl PresenceBuffer {
    /// A buffer with the documents, of `docs`, whose bit is set.
    pub(crate) fn of_bits(words: Vec<u64>, docs: u32) -> PresenceBuffer {
        let count = words.iter().map(|word| word.count_ones()).sum();
        PresenceBuffer { seen: docs, count, form: Form::Bits(words) }
    }

    /// The bits of the 64 documents from `doc` on, a multiple of 64.
    fn word(&self, doc: u32) -> u64 {
        match &self.form {
            Form::All => !u64::MAX.checked_shl(self.seen.saturating_sub(doc)).unwrap_or(0),
            Form::Bits(bits) => bits.get(index(doc / 64)).copied().unwrap_or(0),
            Form::List(list) => {
                let start = list.partition_point(|&listed| listed < doc);
                let these = list[start..].iter().take_while(|&&listed| listed - doc < 64);
                these.fold(0, |word, listed| word | 1 << (listed - doc))
            }
        }
    }

    /// The documents of `docs` that have a value. `docs` begins at a multiple of 64.
    pub(crate) fn docs(&self, docs: Range<u32>) -> impl Iterator<Item = u32> + '_ {
        let end = docs.end.min(self.seen);
        let starts = (docs.start..end).step_by(64);
        let words = starts.flat_map(|start| ones_of(self.word(start)).map(move |bit| start + bit));
        words.take_while(move |&doc| doc < end)
    }

    /// The number of documents with a value.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Whether `doc`, the newest document, has a value.
    pub(crate) fn has(&self, doc: u32) -> bool {
        self.seen > doc
    }

    /// Reserves memory for `values` of the documents `docs`, so that inserting them cannot fail.
    pub(crate) fn reserve(
        &mut self,
        docs: Range<u32>,
        values: u32,
        memory: &mut MemoryBudget,
    ) -> Result<(), ErrorKind> {
        // The bitset is smaller than the list once one document in 32 has a value.
        let bits = index(docs.end.div_ceil(64));
        let listed = index(self.count).saturating_add(index(values));
        let dense = listed > bits.saturating_mul(2);
        match &mut self.form {
            _ if values == 0 => Ok(()),
            Form::All if docs.start == self.seen && docs.end - docs.start == values => Ok(()),
            Form::All | Form::List(_) if dense => self.switch_to_bits(bits, memory),
            Form::All => {
                let mut list = Vec::new();
                memory.reserve(&mut list, listed)?;
                list.extend(0..self.count);
                self.form = Form::List(list);
                Ok(())
            }
            Form::List(list) => memory.reserve(list, index(values)),
            Form::Bits(words) => memory.reserve(words, bits.saturating_sub(words.len())),
        }
    }

    fn switch_to_bits(&mut self, len: usize, memory: &mut MemoryBudget) -> Result<(), ErrorKind> {
        let mut bits = Vec::new();
        memory.reserve(&mut bits, len)?;
        match std::mem::take(&mut self.form) {
            Form::All => (0..self.count).for_each(|doc| set(&mut bits, doc)),
            Form::List(list) => {
                memory.release(list.capacity() * size_of::<u32>());
                list.iter().for_each(|&doc| set(&mut bits, doc));
            }
            Form::Bits(old) => bits = old,
        }
        self.form = Form::Bits(bits);
        Ok(())
    }

    /// Adds `doc`, which is above all so far. Memory must be reserved.
    pub(crate) fn insert(&mut self, doc: u32) {
        debug_assert!(doc >= self.seen, "{doc} after {}", self.seen);
        match &mut self.form {
            Form::All => debug_assert_eq!(doc, self.seen, "a gap without `reserve`"),
            Form::List(list) => list.push(doc),
            Form::Bits(bits) => set(bits, doc),
        }
        self.seen = doc + 1;
        self.count += 1;
    }

    /// Adds the valid documents of `rows`, numbered from `first`, which is above all so far. Memory must be reserved.
    pub(crate) fn extend(&mut self, first: u32, rows: &BatchRows<'_>) {
        let Some(words) = rows.words() else { return self.extend_run(first..first + rows.docs) };
        // `words` is zipped first: the next start after the last word may overflow.
        for (word, start) in words.zip((first..).step_by(64)) {
            match &mut self.form {
                _ if word == u64::MAX => self.extend_run(start..start + 64),
                Form::Bits(bits) if word != 0 => {
                    or(bits, start, word);
                    self.seen = start + (64 - word.leading_zeros());
                    self.count += word.count_ones();
                }
                _ => ones_of(word).for_each(|bit| self.insert(start + bit)),
            }
        }
    }

    /// Adds all of `docs`, which are above all so far. Memory must be reserved.
    pub(crate) fn extend_run(&mut self, docs: Range<u32>) {
        match &mut self.form {
            Form::All => debug_assert!(docs.is_empty() || docs.start == self.seen),
            Form::List(list) => list.extend(docs.clone()),
            Form::Bits(bits) => {
                for start in docs.clone().step_by(64) {
                    or(bits, start, u64::MAX >> (64 - (docs.end - start).min(64)));
                }
            }
        }
        if !docs.is_empty() {
            self.seen = docs.end;
            self.count += docs.end - docs.start;
        }
    }

    /// Removes `doc` and all documents after it.
    pub(crate) fn truncate(&mut self, doc: u32) {
        if self.seen <= doc {
            return;
        }
        self.seen = doc;
        self.count = match &mut self.form {
            Form::All => doc,
            Form::List(list) => {
                let left = list.partition_point(|&listed| listed < doc);
                list.truncate(left);
                count(left)
            }
            Form::Bits(bits) => {
                let before = self.count;
                let gone: u32 = clear_from(bits, doc);
                before - gone
            }
        };
    }

    /// Encodes the presence of `docs` documents.
    pub(crate) fn encode(self, docs: u32, jump_tables: bool) -> Presence<Vec<u8>> {
        match self.form {
            // In O(1), even for billions of documents.
            _ if self.count == 0 => Presence::None,
            _ if docs == self.count => Presence::All,
            Form::All => presence::encode_docs(docs, 0..self.count, jump_tables),
            Form::List(list) => presence::encode_docs(docs, list, jump_tables),
            Form::Bits(bits) => presence::encode(docs, &bits, jump_tables),
        }
    }
}

/// Converts a number of documents, which always fits.
fn count(documents: usize) -> u32 {
    u32::try_from(documents).unwrap_or(u32::MAX)
}

/// Sets the bit of `doc`, and grows `words` if needed.
fn set(words: &mut Vec<u64>, doc: u32) {
    grow(words, index(doc / 64) + 1);
    bits::set(words, index(doc));
}

/// Sets the bit of document `doc + i` for every set bit *i* of `word`, and grows `words` if needed. `word` is not 0.
fn or(words: &mut Vec<u64>, doc: u32, word: u64) {
    grow(words, index(doc / 64) + if word.leading_zeros() < doc % 64 { 2 } else { 1 });
    or_at(words, index(doc), word);
}

/// Grows `words` to at least `len`.
fn grow(words: &mut Vec<u64>, len: usize) {
    if words.len() < len {
        words.resize(len, 0);
    }
}

/// Clears the bits from `doc` on, and returns how many were set.
fn clear_from(words: &mut Vec<u64>, doc: u32) -> u32 {
    let Some(cleared) = words.get_mut(index(doc / 64)..) else { return 0 };
    let before = bits::count(cleared);
    let Some(first) = cleared.first_mut() else { return 0 };
    *first &= !(u64::MAX << (doc % 64));
    let kept = first.count_ones();
    words.truncate(index(doc / 64) + 1);
    count(before) - kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// The encoder of bitsets is the reference.
    fn check(buffer: PresenceBuffer, docs: u32, model: &BTreeSet<u32>) {
        assert_eq!(index(buffer.count()), model.len());
        let mut bits = Vec::new();
        model.iter().for_each(|&doc| set(&mut bits, doc));
        assert!(buffer.encode(docs, true) == presence::encode(docs, &bits, true));
    }

    proptest! {
        /// Gaps of all sizes, so that all forms and conversions occur, and some rollbacks.
        #[test]
        fn holds_what_was_inserted(
            steps in proptest::collection::vec((prop_oneof![4 => Just(0_u32), 2 => 0..70_u32, 1 => 0..3_000_u32],
                1..200_u32, prop_oneof![3 => Just(0_u32), 1 => 1..300_u32], any::<[u64; 4]>(), 0..4_u8), 0..60),
            rest in 0..100_u32,
        ) {
            let mut memory = MemoryBudget::new(usize::MAX);
            let (mut buffer, mut model, mut next) = (PresenceBuffer::default(), BTreeSet::new(), 0);
            for (gap, run, back, words, how) in steps {
                next += gap;
                let validity = match how {
                    0 | 1 => None,
                    2 => Some(words),
                    _ => Some([u64::MAX; 4]),
                };
                let words = validity.as_ref().map(<[u64; 4]>::as_slice);
                let rows = BatchRows { docs: run, lists: None, validity: words, values: 0 };
                let there = |doc: u32| {
                    validity.is_none_or(|words| words[index(doc / 64)] >> (doc % 64) & 1 == 1)
                };
                let docs: Vec<u32> = (0..run).filter(|&doc| there(doc)).map(|doc| next + doc).collect();
                buffer.reserve(next..next + run, count(docs.len()), &mut memory).unwrap();
                if how > 0 {
                    buffer.extend(next, &rows);
                }
                for doc in docs {
                    if how == 0 {
                        buffer.insert(doc);
                        prop_assert!(!buffer.has(doc + 1));
                    }
                    prop_assert!(buffer.has(doc));
                    model.insert(doc);
                }
                next = (next + run).saturating_sub(back);
                buffer.truncate(next);
                model.split_off(&next);
            }
            check(buffer, next + rest, &model);
        }
    }

    #[test]
    fn is_charged_what_it_holds_in_every_form() {
        let mut memory = MemoryBudget::new(usize::MAX);
        let mut buffer = PresenceBuffer::default();
        let mut seen = [false; 3];
        // Every 100th document, then every second one.
        for doc in (0..10_000).step_by(100).chain((10_000..20_000).step_by(2)) {
            buffer.reserve(doc..doc + 1, 1, &mut memory).unwrap();
            buffer.insert(doc);
            let (form, held) = match &buffer.form {
                Form::All => (0, 0),
                Form::List(list) => (1, list.capacity() * 4),
                Form::Bits(bits) => (2, bits.capacity() * 8),
            };
            seen[form] = true;
            assert_eq!(memory.used(), held, "document {doc}");
        }
        assert_eq!(seen, [true; 3]);
    }

    #[test]
    fn one_value_in_millions_of_documents_takes_a_few_bytes() {
        let mut memory = MemoryBudget::new(64);
        let mut buffer = PresenceBuffer::default();
        buffer.reserve(4_000_000_000..4_000_000_001, 1, &mut memory).unwrap();
        buffer.insert(4_000_000_000);
        assert!(memory.used() <= 64);
    }

    #[test]
    fn a_field_that_every_document_has_takes_nothing() {
        let mut memory = MemoryBudget::new(0);
        let mut buffer = PresenceBuffer::default();
        for doc in 0..10_000 {
            buffer.reserve(doc..doc + 1, 1, &mut memory).unwrap();
            buffer.insert(doc);
        }
        assert_eq!(buffer.encode(10_000, true), Presence::All);
    }
}
