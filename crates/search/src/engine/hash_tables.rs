//! Hash tables from values to rows or counts, within a memory budget. Each covers a part of all values.

use std::hash::{BuildHasher, Hash};
use std::ops::Range;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::docs::len_u32;
use super::interrupt::Interrupt;
use super::memory_budget::MemoryBudget;
use crate::error::Result;

/// The number of parts into which hashes divide the values.
pub(crate) const HASH_PARTS: u32 = 1 << 12;

/// The part of the values that a pass covers: those whose hashes, or whose own places, lie in a range.
#[derive(Clone, Debug)]
pub(crate) struct ValuePart {
    /// Shared by all passes.
    hasher: DefaultHashBuilder,
    range: Range<u32>,
    is_whole: bool,
}

/// Numbers or ords, each with its row (from 1) or its count.
#[derive(Debug)]
pub(crate) struct NumberTable {
    part: ValuePart,
    known: HashTable<(i64, u64)>,
}

/// Byte strings and their rows (from 1): hashes and rows in a table, the bytes in one buffer. Equal hashes are
/// compared.
#[derive(Debug)]
pub(crate) struct ByteStringTable {
    part: ValuePart,
    rows: HashTable<(u64, u32)>,
    /// Row `i` is `bytes[ends[i - 1]..ends[i]]`.
    bytes: Vec<u8>,
    /// Empty until there is a row: nothing is allocated that was not taken from a budget.
    ends: Vec<usize>,
}

impl ValuePart {
    /// All values.
    pub(crate) fn whole() -> ValuePart {
        ValuePart { hasher: DefaultHashBuilder::default(), range: 0..HASH_PARTS, is_whole: true }
    }

    /// Another part of the same values.
    pub(crate) fn other(&self, range: Range<u32>) -> ValuePart {
        ValuePart { hasher: self.hasher.clone(), is_whole: range == (0..HASH_PARTS), range }
    }

    /// The range of parts or places.
    pub(crate) fn range(&self) -> Range<u32> {
        self.range.clone()
    }

    /// The hash of a value, if the value belongs to this part.
    #[inline]
    fn hash(&self, value: impl Hash) -> Option<u64> {
        let hash = self.hasher.hash_one(value);
        // Bits that the hash table hardly uses: it takes the lowest and the highest ones.
        let part = (hash >> 32) as u32 & (HASH_PARTS - 1);
        (self.is_whole || self.range.contains(&part)).then_some(hash)
    }
}

impl NumberTable {
    pub(crate) fn new(part: ValuePart) -> NumberTable {
        NumberTable { part, known: HashTable::new() }
    }

    /// A table of the same part with nothing in it.
    pub(crate) fn fork(&self) -> NumberTable {
        NumberTable::new(self.part.clone())
    }

    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.known.allocation_size()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (i64, u64)> + '_ {
        self.known.iter().copied()
    }

    /// The row of a number, 0 if it is not in this part; `None` if the budget is exhausted.
    #[inline]
    pub(crate) fn row(&mut self, number: i64, budget: &MemoryBudget) -> Option<u32> {
        let Some(hash) = self.part.hash(number) else { return Some(0) };
        if let Some((_, row)) = self.known.find(hash, |(known, _)| *known == number) {
            return Some(low(*row));
        }
        let row = len_u32(self.known.len() + 1);
        self.insert(hash, number, row.into(), budget).then_some(row)
    }

    /// Adds `times` to the count of a number, if it is in this part and the budget allows it.
    #[inline]
    pub(crate) fn count(&mut self, number: i64, times: u64, budget: &MemoryBudget) {
        let Some(hash) = self.part.hash(number) else { return };
        if let Some((_, count)) = self.known.find_mut(hash, |(known, _)| *known == number) {
            *count += times;
        } else {
            self.insert(hash, number, times, budget);
        }
    }

    /// Adds the counts of another table, whose memory the budget gets back.
    pub(crate) fn add_counts(
        &mut self,
        other: &NumberTable,
        budget: &MemoryBudget,
        stop: &Interrupt,
    ) -> Result<()> {
        let mut pace = stop.pace();
        for (number, count) in other.iter() {
            pace.step()?;
            self.count(number, count, budget);
        }
        budget.give(other.bytes());
        Ok(())
    }

    fn insert(&mut self, hash: u64, number: i64, what: u64, budget: &MemoryBudget) -> bool {
        let NumberTable { part, known } = self;
        let hash_of = |(number, _): &(i64, u64)| part.hasher.hash_one(number);
        let has_room = budget.grow_table(known, hash_of);
        if has_room {
            known.insert_unique(hash, (number, what), hash_of);
        }
        has_room
    }
}

/// A row, of which there are at most as many as a `u32` counts.
#[expect(clippy::cast_possible_truncation, reason = "it was a `u32`")]
pub(crate) fn low(row: u64) -> u32 {
    row as u32
}

impl ByteStringTable {
    pub(crate) fn new(part: ValuePart) -> ByteStringTable {
        ByteStringTable { part, rows: HashTable::new(), bytes: Vec::new(), ends: Vec::new() }
    }

    /// A table of the same part with nothing in it.
    pub(crate) fn fork(&self) -> ByteStringTable {
        ByteStringTable::new(self.part.clone())
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len().saturating_sub(1)
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.allocation_size() + self.bytes.capacity() + self.ends.capacity() * size_of::<usize>()
    }

    /// The byte string of a row.
    pub(crate) fn get(&self, row: usize) -> &[u8] {
        &self.bytes[self.ends[row - 1]..self.ends[row]]
    }

    /// The row of a byte string, 0 if it is not in this part; `None` if the budget is exhausted.
    #[inline]
    pub(crate) fn row(&mut self, value: &[u8], budget: &MemoryBudget) -> Option<u32> {
        let Some(hash) = self.part.hash(value) else { return Some(0) };
        let same = |(known, row): &(u64, u32)| *known == hash && self.get(*row as usize) == value;
        if let Some((_, row)) = self.rows.find(hash, same) {
            return Some(*row);
        }
        let hash_of = |(hash, _): &(u64, u32)| *hash;
        let has_room = budget.grow(&mut self.bytes, value.len())
            && budget.grow(&mut self.ends, 2)
            && budget.grow_table(&mut self.rows, hash_of);
        if !has_room {
            return None;
        }
        if self.ends.is_empty() {
            self.ends.push(0);
        }
        let row = len_u32(self.ends.len());
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len());
        self.rows.insert_unique(hash, (hash, row), hash_of);
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::engine::Interrupt;

    #[test]
    fn strings_take_from_the_budget_what_they_allocate() {
        let budget = MemoryBudget::new(1 << 20, &Interrupt::default());
        let mut table = ByteStringTable::new(ValuePart::whole());
        let mut model: HashMap<Vec<u8>, u32> = HashMap::new();
        for at in 0..3_000_u32 {
            assert_eq!((budget.used(), model.len()), (table.bytes(), table.len()), "after {at} strings");
            let value = (at * at % 4_001).to_string().into_bytes();
            let next = len_u32(model.len() + 1);
            let row = *model.entry(value.clone()).or_insert(next);
            assert_eq!(table.row(&value, &budget), Some(row));
            assert_eq!(table.get(row as usize), value);
        }
    }

    #[test]
    fn numbers_take_from_the_budget_what_they_allocate() {
        let budget = MemoryBudget::new(1 << 20, &Interrupt::default());
        let mut table = NumberTable::new(ValuePart::whole());
        for number in 0..3_000 {
            assert_eq!(budget.used(), table.bytes(), "after {number} numbers");
            assert!(table.row(number, &budget).is_some());
        }
    }
}
