//! [`Interner`]: the distinct byte strings of a field, each with an id.

use std::hash::BuildHasher;

use docvalues_storage::Spill;
use hashbrown::{DefaultHashBuilder, HashTable};

use super::memory_budget::MemoryBudget;
use super::string_runs;
use super::strings::{Strings, sorted};
use super::term_run::TermRun;
use crate::error::ErrorKind;
use crate::index::index;

/// The number of values that are looked up together.
pub(crate) const INTERN_BATCH: usize = 8;

/// The distinct byte strings of a field, with ids in the order of their first occurrence.
///
/// A hash table of ids, hashed by their strings. The hash is seeded at random, so that a hostile input cannot make
/// strings collide. The order of the table never reaches the file.
///
/// A distinct string takes its length, eight bytes for its end, and five to ten bytes in the table.
#[derive(Debug)]
pub(crate) struct Interner {
    strings: Strings,
    table: HashTable<u32>,
    hash: DefaultHashBuilder,
    /// The maximum number of strings. Tests lower it.
    pub(crate) limit: u32,
    /// Spilled strings. Ids start at 0 in each run.
    runs: Vec<TermRun>,
}

impl Default for Interner {
    fn default() -> Interner {
        let (strings, table, hash) = Default::default();
        // Ids below this limit fit a `u32`, and so does their count.
        Interner { strings, table, hash, limit: u32::MAX, runs: Vec::new() }
    }
}

impl Interner {
    pub(crate) fn len(&self) -> u32 {
        // `intern` checks the limit.
        u32::try_from(self.strings.len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn get(&self, id: u32) -> &[u8] {
        self.strings.get(index(id))
    }

    /// Returns the id of `value`, which is added if it is new. After an error, nothing has changed.
    pub(crate) fn intern(&mut self, value: &[u8], memory: &mut MemoryBudget) -> Result<u32, ErrorKind> {
        self.intern_hashed(self.hash.hash_one(value), value, memory)
    }

    /// The numbers of [`INTERN_BATCH`] values, as [`intern`](Self::intern) would give them one after the other;
    /// after an error, with the place of the value that is refused, those before it are there.
    ///
    /// The table, the end of a string and its bytes are three dependent cache misses. With several values at a time,
    /// the misses of different values overlap.
    pub(crate) fn intern_batch(
        &mut self,
        values: &[&[u8]; INTERN_BATCH],
        memory: &mut MemoryBudget,
    ) -> Result<[u32; INTERN_BATCH], (usize, ErrorKind)> {
        let hashes = values.map(|value| self.hash.hash_one(value));
        // The first candidate by hash is nearly always the right one; it is verified below.
        let mut ids = hashes.map(|hash| self.table.find(hash, |_| true).copied());
        for (i, (id, value)) in ids.iter_mut().zip(values).enumerate() {
            if id.is_none_or(|id| self.strings.get(index(id)) != *value) {
                let found = self.intern_hashed(hashes[i], value, memory);
                *id = Some(found.map_err(|kind| (i, kind))?);
            }
        }
        Ok(ids.map(Option::unwrap_or_default))
    }

    fn intern_hashed(
        &mut self,
        hash: u64,
        value: &[u8],
        memory: &mut MemoryBudget,
    ) -> Result<u32, ErrorKind> {
        if let Some(&id) = self.table.find(hash, |&id| self.strings.get(index(id)) == value) {
            return Ok(id);
        }
        let id = self.len();
        if id >= self.limit {
            return Err(ErrorKind::TooManyTerms { max: self.limit });
        }
        self.strings.reserve(1, value.len(), memory)?;
        self.reserve_slot(memory)?;
        self.strings.push(value);
        let (hasher, strings) = (&self.hash, &self.strings);
        self.table.insert_unique(hash, id, |&id| hasher.hash_one(strings.get(index(id))));
        Ok(id)
    }

    /// Reserves a slot of the table.
    fn reserve_slot(&mut self, memory: &mut MemoryBudget) -> Result<(), ErrorKind> {
        if self.table.len() < self.table.capacity() {
            return Ok(());
        }
        // A table doubles when it grows; the smallest one is smaller than this.
        const SMALLEST: usize = 64;
        let before = self.table.allocation_size();
        let more = before.max(SMALLEST);
        memory.charge(more)?;
        let (hasher, strings) = (&self.hash, &self.strings);
        self.table.reserve(1, |&id| hasher.hash_one(strings.get(index(id))));
        memory.release(more.saturating_sub(self.table.allocation_size().saturating_sub(before)));
        Ok(())
    }

    /// Keeps the first `len` strings.
    pub(crate) fn truncate(&mut self, len: u32) {
        for id in len..self.len() {
            let hash = self.hash.hash_one(self.get(id));
            if let Ok(entry) = self.table.find_entry(hash, |&found| found == id) {
                entry.remove();
            }
        }
        self.strings.truncate(index(len));
    }

    /// The size in memory, in bytes.
    pub(crate) fn heap(&self) -> usize {
        self.strings.heap() + self.table.allocation_size()
    }

    /// Moves all strings to `spill`, as a run that ends after `ids` ids. New ids start at 0. After an error, nothing
    /// has changed.
    pub(crate) fn spill(
        &mut self,
        ids: usize,
        spill: &Spill,
        memory: &mut MemoryBudget,
    ) -> Result<(), ErrorKind> {
        if self.strings.len() > 0 {
            let terms = sorted(&self.strings).into_iter().map(|id| (id, self.get(id)));
            let terms = string_runs::write(spill, terms)?;
            self.runs.push(TermRun { count: self.len(), ids, terms });
            memory.release(self.heap());
            (self.strings, self.table) = Default::default();
        }
        Ok(())
    }

    /// Spills the last strings, too, if there are any runs.
    pub(crate) fn end_runs(&mut self, ids: usize) -> Result<(), ErrorKind> {
        match self.runs.last().map(|run| run.terms.spill().clone()) {
            Some(spill) => self.spill(ids, &spill, &mut MemoryBudget::new(usize::MAX)),
            None => Ok(()),
        }
    }

    /// The runs, and the strings in memory.
    pub(crate) fn into_parts(self) -> (Vec<TermRun>, Strings) {
        (self.runs, self.strings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_string_has_one_number(
            words in proptest::collection::vec(proptest::collection::vec(0..3_u8, 0..12), 0..200),
            keep in 0..40_u32,
        ) {
            let mut memory = MemoryBudget::new(usize::MAX);
            let mut interner = Interner::default();
            let mut model: Vec<Vec<u8>> = Vec::new();
            for round in 0..3 {
                if round == 1 {
                    // Some are there, some are not, and some are twice among eight.
                    for words in words.as_chunks::<INTERN_BATCH>().0 {
                        let ids = interner.intern_batch(&words.each_ref().map(|word| &word[..]), &mut memory);
                        for (id, word) in ids.unwrap().into_iter().zip(words) {
                            let expected = model.iter().position(|w| w == word).unwrap_or(model.len());
                            if expected == model.len() {
                                model.push(word.clone());
                            }
                            prop_assert_eq!(index(id), expected);
                        }
                    }
                    continue;
                }
                for word in &words {
                    let id = interner.intern(word, &mut memory).unwrap();
                    let expected = model.iter().position(|w| w == word).unwrap_or(model.len());
                    if expected == model.len() {
                        model.push(word.clone());
                    }
                    prop_assert_eq!(index(id), expected);
                    prop_assert_eq!(interner.get(id), &word[..]);
                }
                if round == 0 {
                    interner.truncate(keep.min(interner.len()));
                    model.truncate(index(keep));
                }
            }
            let (_, strings) = interner.into_parts();
            let order = sorted(&strings);
            let in_order: Vec<&[u8]> = order.iter().map(|&id| strings.get(index(id))).collect();
            let mut expected: Vec<&[u8]> = model.iter().map(|w| &w[..]).collect();
            expected.sort_unstable();
            prop_assert_eq!(in_order, expected);
        }
    }

    proptest! {
        /// Long ones, most of which begin alike, and end in zeros that are theirs.
        #[test]
        fn strings_that_begin_alike_are_sorted(
            words in proptest::collection::btree_set((0..40_usize, 0..3_u8, 0..9_usize), 0..300),
        ) {
            let mut memory = MemoryBudget::new(usize::MAX);
            let mut interner = Interner::default();
            let mut expected = std::collections::BTreeSet::new();
            for (common, byte, zeros) in words.into_iter().rev() {
                let word = [vec![b'w'; common], vec![byte], vec![0; zeros]].concat();
                interner.intern(&word, &mut memory).unwrap();
                expected.insert(word);
            }
            let (_, strings) = interner.into_parts();
            let order = sorted(&strings);
            prop_assert!(order.iter().map(|&id| strings.get(index(id))).eq(&expected));
        }
    }

    #[test]
    fn refuses_one_more_than_the_limit_and_still_finds_the_others() {
        let mut memory = MemoryBudget::new(usize::MAX);
        let mut interner = Interner { limit: 2, ..Interner::default() };
        for word in ["a", "b"] {
            interner.intern(word.as_bytes(), &mut memory).unwrap();
        }
        let refused = interner.intern(b"c", &mut memory);
        assert!(matches!(refused, Err(ErrorKind::TooManyTerms { max: 2 })));
        assert_eq!(interner.intern(b"b", &mut memory).unwrap(), 1);
        assert_eq!(interner.len(), 2);
    }

    #[test]
    fn is_charged_what_it_holds() {
        let mut memory = MemoryBudget::new(usize::MAX);
        let mut interner = Interner::default();
        for i in 0..10_000_u32 {
            interner.intern(i.to_string().as_bytes(), &mut memory).unwrap();
        }
        assert_eq!(memory.used(), interner.heap());
    }
}
