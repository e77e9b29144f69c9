//! The mapping from values to rows, such as rows of accumulators.
//!
//! A pass covers a part of all values: a range if values are dense, else those whose hashes are in a range.

use std::ops::Range;

use docvalues_format::bits;

use super::cells::Cells;
use super::columns::{ColumnView, Elements, Slot};
use super::docs::len_u32;
use super::hash_tables::{ByteStringTable, HASH_PARTS, NumberTable, ValuePart, low};
use super::interrupt::Interrupt;
use super::memory_budget::MemoryBudget;
use super::threads::POLL_EVERY;
use super::value::{NO_ORD, Stored};
use super::window::Window;
use crate::error::Result;

/// The most rows per document in an array. Clearing and scanning a row takes a nanosecond, a hash table ten or more
/// for each document.
const MAX_ROWS_PER_DOC: u64 = 8;

/// All possible values, numbered by places from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueSpace {
    /// Ords, or numbers close together: place 0 is `first`.
    Dense { first: i64, len: u32 },
    /// Places are hashes.
    Sparse,
}

/// The rows of the values in a pass.
#[derive(Debug)]
pub(crate) enum RowTable {
    /// Row `i` is value `first + i`. The last row, `len`, is for all other documents.
    Dense { first: i64, len: u32 },
    /// Numbers or ords. Row 0 is for all other documents.
    Numbers(NumberTable),
    /// Byte strings. Row 0 is for all other documents.
    Bytes(ByteStringTable),
}

impl ValueSpace {
    pub(crate) fn of(column: ColumnView<'_>, hits: u64) -> ValueSpace {
        let most = hits.saturating_mul(MAX_ROWS_PER_DOC).max(1 << 10);
        let Some(bounds) = column.bounds() else { return ValueSpace::Sparse };
        let (first, last) = if bounds.is_empty() { (0, -1) } else { bounds.into_inner() };
        let len = last.checked_sub(first).and_then(|last| last.checked_add(1));
        match len.and_then(|len| u32::try_from(len).ok()) {
            Some(len) if u64::from(len) <= most => ValueSpace::Dense { first, len },
            _ => ValueSpace::Sparse,
        }
    }

    /// The number of places.
    pub(crate) fn len(self) -> u32 {
        match self {
            ValueSpace::Dense { len, .. } => len,
            ValueSpace::Sparse => HASH_PARTS,
        }
    }

    /// The values at a range of places.
    pub(crate) fn keys(self, part: &ValuePart, column: ColumnView<'_>) -> RowTable {
        match self {
            ValueSpace::Dense { first, .. } => {
                let Range { start, end } = part.range();
                RowTable::Dense { first: first + i64::from(start), len: end - start }
            }
            ValueSpace::Sparse => match column.elements() {
                Elements::Bytes => RowTable::Bytes(ByteStringTable::new(part.clone())),
                _ => RowTable::Numbers(NumberTable::new(part.clone())),
            },
        }
    }
}

impl RowTable {
    /// An empty mapping of the same values.
    pub(crate) fn fork(&self) -> RowTable {
        match self {
            RowTable::Dense { first, len } => RowTable::Dense { first: *first, len: *len },
            RowTable::Numbers(numbers) => RowTable::Numbers(numbers.fork()),
            RowTable::Bytes(bytes) => RowTable::Bytes(bytes.fork()),
        }
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        match self {
            RowTable::Dense { len, .. } => *len as usize + 1,
            RowTable::Numbers(numbers) => numbers.len() + 1,
            RowTable::Bytes(bytes) => bytes.len() + 1,
        }
    }

    /// The row of the documents in none of the groups.
    pub(crate) fn other(&self) -> u32 {
        match self {
            RowTable::Dense { len, .. } => *len,
            RowTable::Numbers(_) | RowTable::Bytes(_) => 0,
        }
    }

    /// Finds the rows of a window's documents. Returns false if the memory budget is exhausted.
    pub(crate) fn places(
        &mut self,
        window: &Window<'_>,
        by: Slot,
        places: &mut Vec<u32>,
        budget: &MemoryBudget,
    ) -> bool {
        if !matches!(self, RowTable::Dense { .. }) {
            places.clear();
        }
        match (self, window.cells(by)) {
            (RowTable::Dense { first, len }, Cells::Ords(ords)) => {
                let (first, len) = (u32::try_from(*first).unwrap_or(u32::MAX), *len);
                places.resize(ords.len(), len);
                bits::ord_offsets(ords, first, len, places);
            }
            (RowTable::Dense { first, len }, Cells::Numbers(numbers)) => {
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
            // A loop for each form: a shared one calls a function for each document.
            (RowTable::Numbers(table), Cells::Ords(ords)) => {
                for &ord in ords {
                    let row = if ord == NO_ORD { Some(0) } else { table.row(ord.get().into(), budget) };
                    let Some(row) = row else { return false };
                    places.push(row);
                }
            }
            (RowTable::Numbers(table), Cells::Numbers(numbers)) => {
                for at in 0..window.len() {
                    let row = numbers.get(at).map_or(Some(0), |number| table.row(number, budget));
                    let Some(row) = row else { return false };
                    places.push(row);
                }
            }
            (RowTable::Bytes(table), Cells::Bytes(strings)) => {
                for value in strings.iter() {
                    let row = value.map_or(Some(0), |bytes| table.row(bytes, budget));
                    let Some(row) = row else { return false };
                    places.push(row);
                }
            }
            // Columns with several values a document were rejected.
            _ => places.resize(window.len(), 0),
        }
        true
    }

    /// The bytes of the hash table.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            RowTable::Dense { .. } => 0,
            RowTable::Numbers(numbers) => numbers.bytes(),
            RowTable::Bytes(bytes) => bytes.bytes(),
        }
    }

    /// Calls `each` with every row of `words` words and its key for [`value`](Self::value).
    ///
    /// # Errors
    ///
    /// If the search is interrupted.
    pub(crate) fn each(
        &self,
        rows: &[u64],
        words: usize,
        stop: &Interrupt,
        mut each: impl FnMut(&[u64], i64),
    ) -> Result<()> {
        let row = |row: usize| &rows[row * words..(row + 1) * words];
        let mut pace = stop.pace();
        match self {
            RowTable::Dense { first, len } => {
                let rows = &rows[..*len as usize * words];
                for (start, rows) in (0..).step_by(POLL_EVERY).zip(rows.chunks(POLL_EVERY * words)) {
                    stop.check()?;
                    // The last value may be the greatest number there is.
                    for (at, row) in (start..).zip(rows.chunks_exact(words)) {
                        each(row, first.wrapping_add_unsigned(at));
                    }
                }
            }
            RowTable::Numbers(numbers) => {
                for (number, at) in numbers.iter() {
                    pace.step()?;
                    each(row(low(at) as usize), number);
                }
            }
            RowTable::Bytes(bytes) => {
                for (at, key) in (1..=bytes.len()).zip(1..) {
                    pace.step()?;
                    each(row(at), key);
                }
            }
        }
        Ok(())
    }

    /// The value of a key.
    pub(crate) fn value(&self, key: i64) -> Stored {
        match self {
            RowTable::Dense { .. } | RowTable::Numbers(_) => Stored::Number(key),
            RowTable::Bytes(bytes) => Stored::Bytes(bytes.get(usize::try_from(key).unwrap_or(0)).to_vec()),
        }
    }

    /// Calls `each` with every row of `other` and the row of the same value here, which is added if it is new. Stops
    /// when the memory budget is exhausted.
    ///
    /// # Errors
    ///
    /// If the search is interrupted.
    pub(crate) fn rows_of(
        &mut self,
        other: &RowTable,
        budget: &MemoryBudget,
        stop: &Interrupt,
        mut each: impl FnMut(usize, u32) -> bool,
    ) -> Result<()> {
        let (mut places, mut has_room, mut pace) = (0..other.rows(), true, stop.pace());
        match (self, other) {
            (RowTable::Dense { .. }, _) => {
                for start in places.step_by(POLL_EVERY) {
                    stop.check()?;
                    let end = other.rows().min(start + POLL_EVERY);
                    if !(start..end).all(|row| each(row, len_u32(row))) {
                        break;
                    }
                }
            }
            (RowTable::Numbers(to), RowTable::Numbers(from)) => {
                for (number, row) in from.iter() {
                    pace.step()?;
                    if !to.row(number, budget).is_some_and(|to| each(low(row) as usize, to)) {
                        break;
                    }
                }
            }
            (RowTable::Bytes(to), RowTable::Bytes(from)) => {
                while let Some(row) = places.next().filter(|_| has_room) {
                    pace.step()?;
                    has_room = row == 0 || to.row(from.get(row), budget).is_some_and(|to| each(row, to));
                }
            }
            // A fork has the same kind of rows.
            _ => {}
        }
        Ok(())
    }
}
