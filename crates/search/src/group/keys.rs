//! Which row of accumulators belongs to a value.
//!
//! A pass is about a part of all values: of those that lie side by side a range, of others those whose hashes are in a range.

use std::hash::BuildHasher;
use std::ops::Range;

use docvalues_column::{TermOrd, Values};
use docvalues_format::bits;
use hashbrown::{DefaultHashBuilder, HashTable};

use super::budget::Budget;
use crate::columns::{Columns, Slot, bounds};
use crate::docs::len_u32;
use crate::value::Stored;
use crate::window::{Cells, NO_ORD, Window};

/// Parts that hashes can tell apart.
pub(super) const HASH_PARTS: u32 = 1 << 12;

/// An array may have so many rows for each document. To clear a row and to look at it takes a nanosecond, a hash table ten
/// and more for each document.
const SPARSE: u64 = 8;

/// All values there may be, as places from 0 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Space {
    /// Ords, or numbers that lie close: place 0 is `first`.
    Near { first: i64, len: u32 },
    /// Places are hashes.
    Hashed,
}

/// The rows of values, and the values of rows.
pub(super) enum Keys {
    /// Row `i` is `first + i`, and the last row, number `len`, of all other documents.
    Near { first: i64, len: u32 },
    /// Row 0 is of documents that belong to none of these.
    Numbers(Numbers),
    /// As for numbers.
    Bytes(Bytes),
}

/// Numbers or ords in a hash table, with their rows.
pub(super) struct Numbers {
    part: Part,
    rows: HashTable<(i64, u32)>,
}

/// Byte strings in a hash table: their hashes and rows. What hashes alike is compared.
pub(super) struct Bytes {
    part: Part,
    rows: HashTable<(u64, u32)>,
    /// Row `i` is `bytes[ends[i - 1]..ends[i]]`.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// The hashes of a pass.
#[derive(Clone)]
struct Part {
    hasher: DefaultHashBuilder,
    range: Range<u32>,
}

impl Part {
    /// The hash, if it is one of these.
    #[inline]
    fn hash(&self, value: impl std::hash::Hash) -> Option<u64> {
        let hash = self.hasher.hash_one(value);
        // Bits that a hash table has little use for: it takes the lowest ones and the highest ones.
        self.range.contains(&place(hash)).then_some(hash)
    }
}

fn place(hash: u64) -> u32 {
    (hash >> 32) as u32 & (HASH_PARTS - 1)
}

impl Space {
    pub(super) fn of(columns: &Columns, by: Slot, hits: u32) -> Space {
        let most = u64::from(hits).saturating_mul(SPARSE).max(1 << 10);
        let Some(bounds) = bounds(columns.get(by)) else { return Space::Hashed };
        let (first, last) = if bounds.is_empty() { (0, -1) } else { bounds.into_inner() };
        let len = last.checked_sub(first).and_then(|last| last.checked_add(1));
        match len.and_then(|len| u32::try_from(len).ok()) {
            Some(len) if u64::from(len) <= most => Space::Near { first, len },
            _ => Space::Hashed,
        }
    }

    /// How many places there are.
    pub(super) fn len(self) -> u32 {
        match self {
            Space::Near { len, .. } => len,
            Space::Hashed => HASH_PARTS,
        }
    }

    /// The values at some places. `hasher` is the same for all parts.
    pub(super) fn keys(
        self,
        part: Range<u32>,
        columns: &Columns,
        by: Slot,
        hasher: DefaultHashBuilder,
    ) -> Keys {
        match self {
            Space::Near { first, .. } => {
                Keys::Near { first: first + i64::from(part.start), len: part.end - part.start }
            }
            Space::Hashed => {
                let part = Part { hasher, range: part };
                match columns.get(by).values() {
                    Values::Bytes(_) => Keys::Bytes(Bytes::new(part)),
                    _ => Keys::Numbers(Numbers { part, rows: HashTable::new() }),
                }
            }
        }
    }
}

impl Keys {
    /// The same values; none of them was seen, where that is known.
    pub(super) fn fork(&self) -> Keys {
        match self {
            Keys::Near { first, len } => Keys::Near { first: *first, len: *len },
            Keys::Numbers(numbers) => {
                Keys::Numbers(Numbers { part: numbers.part.clone(), rows: HashTable::new() })
            }
            Keys::Bytes(bytes) => Keys::Bytes(Bytes::new(bytes.part.clone())),
        }
    }

    /// Rows that there are.
    pub(super) fn rows(&self) -> usize {
        match self {
            Keys::Near { len, .. } => *len as usize + 1,
            Keys::Numbers(numbers) => numbers.rows.len() + 1,
            Keys::Bytes(bytes) => bytes.ends.len(),
        }
    }

    /// The rows of a window's documents; false if there is no room for all.
    pub(super) fn places(
        &mut self,
        window: &Window<'_>,
        by: Slot,
        places: &mut Vec<u32>,
        budget: &Budget,
    ) -> bool {
        if !matches!(self, Keys::Near { .. }) {
            places.clear();
        }
        match (self, window.cells(by)) {
            (Keys::Near { first, len }, Cells::Ords(ords)) => {
                let (first, len) = (u32::try_from(*first).unwrap_or(u32::MAX), *len);
                places.resize(ords.len(), len);
                bits::places(ords, first, len, places);
            }
            (Keys::Near { first, len }, Cells::Numbers(numbers)) => {
                let (first, len) = (*first, *len);
                let place = |number: i64| {
                    let place = number.wrapping_sub(first).cast_unsigned().min(len.into());
                    #[expect(clippy::cast_possible_truncation, reason = "it is `len` at most")]
                    let place = place as u32;
                    place
                };
                places.resize(window.len(), len);
                if numbers.present.is_none() {
                    numbers.values.iter().zip(places).for_each(|(&number, to)| *to = place(number));
                } else {
                    places.fill(len);
                    numbers.each(|at, number| places[at] = place(number));
                }
            }
            (Keys::Numbers(table), Cells::Ords(ords)) => {
                for &ord in ords {
                    let Some(row) = table.of_ord(ord, budget) else { return false };
                    places.push(row);
                }
            }
            (Keys::Numbers(table), Cells::Numbers(numbers)) => {
                for at in 0..window.len() {
                    let row = numbers.get(at).map_or(Some(0), |number| table.row(number, budget));
                    let Some(row) = row else { return false };
                    places.push(row);
                }
            }
            (Keys::Bytes(table), Cells::Bytes(strings)) => {
                for value in strings.iter() {
                    let row = value.map_or(Some(0), |bytes| table.row(bytes, budget));
                    let Some(row) = row else { return false };
                    places.push(row);
                }
            }
            // Documents are not grouped by columns with several values.
            _ => places.resize(window.len(), 0),
        }
        true
    }

    /// Bytes of hash tables and what belongs to them.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Keys::Near { .. } => 0,
            Keys::Numbers(numbers) => numbers.rows.allocation_size(),
            Keys::Bytes(bytes) => {
                bytes.rows.allocation_size()
                    + bytes.bytes.capacity()
                    + bytes.ends.capacity() * size_of::<usize>()
            }
        }
    }

    /// Shows `each` all rows of values, `words` long, and by what [`value`](Self::value) knows each.
    pub(super) fn each(&self, rows: &[u64], words: usize, mut each: impl FnMut(&[u64], i64)) {
        let row = |row: usize| &rows[row * words..(row + 1) * words];
        match self {
            Keys::Near { first, len } => {
                // The last one may be the greatest number there is, with none behind it.
                for (at, row) in rows.chunks_exact(words).enumerate().take(*len as usize) {
                    each(row, first.wrapping_add_unsigned(at as u64));
                }
            }
            Keys::Numbers(numbers) => {
                for &(number, at) in &numbers.rows {
                    each(row(at as usize), number);
                }
            }
            Keys::Bytes(bytes) => {
                for (at, key) in (1..bytes.ends.len()).zip(1..) {
                    each(row(at), key);
                }
            }
        }
    }

    /// The value of a row.
    pub(super) fn value(&self, key: i64) -> Stored {
        match self {
            Keys::Near { .. } | Keys::Numbers(_) => Stored::Number(key),
            Keys::Bytes(bytes) => Stored::Bytes(bytes.get(usize::try_from(key).unwrap_or(0)).to_vec()),
        }
    }

    /// The rows here of the rows of `other`, which may be new; `None` if there is no room for all.
    pub(super) fn rows_of(
        &mut self,
        other: &Keys,
        budget: &Budget,
        mut each: impl FnMut(usize, u32) -> bool,
    ) -> bool {
        match (self, other) {
            (Keys::Near { .. }, _) => (0..other.rows()).all(|row| each(row, len_u32(row))),
            (Keys::Numbers(to), Keys::Numbers(from)) => from
                .rows
                .iter()
                .all(|&(number, row)| to.row(number, budget).is_some_and(|to| each(row as usize, to))),
            (Keys::Bytes(to), Keys::Bytes(from)) => {
                (1..from.ends.len()).all(|row| to.row(from.get(row), budget).is_some_and(|to| each(row, to)))
            }
            // A fork has keys as its origin.
            _ => true,
        }
    }
}

impl Numbers {
    fn of_ord(&mut self, ord: TermOrd, budget: &Budget) -> Option<u32> {
        if ord == NO_ORD { Some(0) } else { self.row(ord.get().into(), budget) }
    }

    #[inline]
    fn row(&mut self, number: i64, budget: &Budget) -> Option<u32> {
        let Numbers { part, rows } = self;
        let Some(hash) = part.hash(number) else { return Some(0) };
        if let Some((_, row)) = rows.find(hash, |(known, _)| *known == number) {
            return Some(*row);
        }
        let hash_of = |(number, _): &(i64, u32)| part.hasher.hash_one(number);
        if rows.len() == rows.capacity()
            && !budget.grow_table(rows, HashTable::allocation_size, |rows| rows.reserve(1, hash_of))
        {
            return None;
        }
        let row = len_u32(rows.len() + 1);
        rows.insert_unique(hash, (number, row), hash_of);
        Some(row)
    }
}

impl Bytes {
    fn new(part: Part) -> Bytes {
        Bytes { part, rows: HashTable::new(), bytes: Vec::new(), ends: vec![0] }
    }

    fn get(&self, row: usize) -> &[u8] {
        &self.bytes[self.ends[row - 1]..self.ends[row]]
    }

    #[inline]
    fn row(&mut self, value: &[u8], budget: &Budget) -> Option<u32> {
        let Some(hash) = self.part.hash(value) else { return Some(0) };
        let same = |(known, row): &(u64, u32)| *known == hash && self.get(*row as usize) == value;
        if let Some((_, row)) = self.rows.find(hash, same) {
            return Some(*row);
        }
        let hash_of = |(hash, _): &(u64, u32)| *hash;
        let is_full = self.rows.len() == self.rows.capacity();
        let has_room = budget.grow(&mut self.bytes, value.len())
            && budget.grow(&mut self.ends, 1)
            && (!is_full
                || budget
                    .grow_table(&mut self.rows, HashTable::allocation_size, |rows| rows.reserve(1, hash_of)));
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
