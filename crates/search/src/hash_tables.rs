//! Hash tables of values within a budget, each of the values whose hashes lie in a part of all.

use std::hash::{BuildHasher, Hash};
use std::ops::Range;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::docs::len_u32;
use crate::memory_budget::MemoryBudget;

/// Parts that hashes can tell apart.
pub(crate) const HASH_PARTS: u32 = 1 << 12;

/// The values that a pass over the documents is about: those whose hashes lie in a range of parts, or those at a range of
/// places, of values that have places.
#[derive(Clone, Debug)]
pub(crate) struct ValuePart {
    /// The same for all passes.
    hasher: DefaultHashBuilder,
    range: Range<u32>,
    is_whole: bool,
}

/// Numbers or ords and what is known of each: its row, from 1 on, or how often it was counted.
#[derive(Debug)]
pub(crate) struct NumberTable {
    part: ValuePart,
    known: HashTable<(i64, u32)>,
}

/// Byte strings and their rows, from 1 on: hashes and rows in a table, the bytes side by side. What hashes alike is
/// compared.
#[derive(Debug)]
pub(crate) struct ByteStringTable {
    part: ValuePart,
    rows: HashTable<(u64, u32)>,
    /// Row `i` is `bytes[ends[i - 1]..ends[i]]`.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl ValuePart {
    /// All values.
    pub(crate) fn whole() -> ValuePart {
        ValuePart { hasher: DefaultHashBuilder::default(), range: 0..HASH_PARTS, is_whole: true }
    }

    /// Another part of the same.
    pub(crate) fn other(&self, range: Range<u32>) -> ValuePart {
        ValuePart { hasher: self.hasher.clone(), is_whole: range == (0..HASH_PARTS), range }
    }

    /// The range of parts or places.
    pub(crate) fn range(&self) -> Range<u32> {
        self.range.clone()
    }

    /// The hash, if it is one of these.
    #[inline]
    fn hash(&self, value: impl Hash) -> Option<u64> {
        let hash = self.hasher.hash_one(value);
        // Bits that a hash table has little use for: it takes the lowest ones and the highest ones.
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

    pub(crate) fn iter(&self) -> impl Iterator<Item = (i64, u32)> + '_ {
        self.known.iter().copied()
    }

    /// The row of a number, 0 for one of another part; `None` if there is no room.
    #[inline]
    pub(crate) fn row(&mut self, number: i64, budget: &MemoryBudget) -> Option<u32> {
        let Some(hash) = self.part.hash(number) else { return Some(0) };
        if let Some((_, row)) = self.known.find(hash, |(known, _)| *known == number) {
            return Some(*row);
        }
        let row = len_u32(self.known.len() + 1);
        self.insert(hash, number, row, budget).then_some(row)
    }

    /// Counts a number so many times more, if it is of this part. Does nothing if there is no room.
    #[inline]
    pub(crate) fn count(&mut self, number: i64, times: u32, budget: &MemoryBudget) {
        let Some(hash) = self.part.hash(number) else { return };
        if let Some((_, count)) = self.known.find_mut(hash, |(known, _)| *known == number) {
            *count += times;
        } else {
            self.insert(hash, number, times, budget);
        }
    }

    fn insert(&mut self, hash: u64, number: i64, what: u32, budget: &MemoryBudget) -> bool {
        let NumberTable { part, known } = self;
        let hash_of = |(number, _): &(i64, u32)| part.hasher.hash_one(number);
        let has_room = budget.grow_table(known, hash_of);
        if has_room {
            known.insert_unique(hash, (number, what), hash_of);
        }
        has_room
    }
}

impl ByteStringTable {
    pub(crate) fn new(part: ValuePart) -> ByteStringTable {
        ByteStringTable { part, rows: HashTable::new(), bytes: Vec::new(), ends: vec![0] }
    }

    /// A table of the same part with nothing in it.
    pub(crate) fn fork(&self) -> ByteStringTable {
        ByteStringTable::new(self.part.clone())
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len() - 1
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.rows.allocation_size() + self.bytes.capacity() + self.ends.capacity() * size_of::<usize>()
    }

    /// The byte string of a row.
    pub(crate) fn get(&self, row: usize) -> &[u8] {
        &self.bytes[self.ends[row - 1]..self.ends[row]]
    }

    /// The row of a byte string, 0 for one of another part; `None` if there is no room.
    #[inline]
    pub(crate) fn row(&mut self, value: &[u8], budget: &MemoryBudget) -> Option<u32> {
        let Some(hash) = self.part.hash(value) else { return Some(0) };
        let same = |(known, row): &(u64, u32)| *known == hash && self.get(*row as usize) == value;
        if let Some((_, row)) = self.rows.find(hash, same) {
            return Some(*row);
        }
        let hash_of = |(hash, _): &(u64, u32)| *hash;
        let has_room = budget.grow(&mut self.bytes, value.len())
            && budget.grow(&mut self.ends, 1)
            && budget.grow_table(&mut self.rows, hash_of);
        if !has_room {
            return None;
        }
        let row = len_u32(self.ends.len());
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len());
        self.rows.insert_unique(hash, (hash, row), hash_of);
        Some(row)
    }
}
