//! The table of a column's distinct values, on the heap.
//!
//! # Section
//!
//! The distinct values of a column, ascending, each 8 bytes. Columns of few values that are far apart, such as HTTP
//! statuses, prices or flags, store the index in the table instead of a wide number:
//!
//! ```text
//! section   200  404  1000003                 three i64s
//! numbers     0    1        2    0    1 ...   2 bits each; without the table, 20 bits
//! ```
//!
//! The table ascends, so a range of values is a range of indexes, and filters compare indexes without looking values
//! up. Lucene's `NUMERIC` entries have the same table, for at most 256 values as well.

use super::MAX_TABLE;
use super::locate::Residuals;
use crate::bits;
use crate::error::Result;
use crate::source::SectionBytes;

/// Values in ascending order, padded with zeros to a length that [`bits::look_up`] wants.
#[derive(Debug, Default)]
pub(super) struct Table {
    entries: Box<[i64]>,
    len: usize,
}

impl Table {
    /// Copies the values of a section, whose length must have been checked.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub(super) fn open(section: &impl SectionBytes) -> Result<Table> {
        let mut bytes = [0; MAX_TABLE * 8];
        let bytes = &mut bytes[..section.len().min(MAX_TABLE * 8)];
        section.copy_to(0, bytes)?;
        let values = bytes.as_chunks().0;
        let padded = match values.len() {
            0..=8 => 8,
            9..=16 => 16,
            _ => MAX_TABLE,
        };
        let zeros = std::iter::repeat(0);
        let entries = values.iter().map(|value| i64::from_le_bytes(*value)).chain(zeros).take(padded);
        Ok(Table { entries: entries.collect(), len: values.len() })
    }

    /// The values, without padding.
    #[inline]
    pub(super) fn values(&self) -> &[i64] {
        &self.entries[..self.len]
    }

    /// The number of values.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.entries)
    }

    /// Value `number`.
    #[inline(always)]
    pub(super) fn get(&self, number: u64) -> Option<i64> {
        let number = usize::try_from(number).ok()?;
        self.values().get(number).copied()
    }

    /// Looks up residuals `first ..`, with `base` added to each, with a kernel. Returns how many it handled; the
    /// error is the largest number without a value.
    #[inline]
    pub(super) fn look_up(
        &self,
        residuals: &Residuals<'_>,
        first: usize,
        base: u64,
        out: &mut [i64],
    ) -> Result<usize, u64> {
        let (done, largest) = residuals.look_up(first, base, &self.entries, out);
        if done == 0 || largest < self.len as u64 { Ok(done) } else { Err(largest) }
    }

    /// Replaces numbers by their values. The error is the largest number without a value.
    #[inline]
    pub(super) fn replace(&self, numbers: &mut [i64]) -> Result<(), u64> {
        let largest = bits::look_up(&self.entries, numbers);
        if largest < self.len as u64 { Ok(()) } else { Err(largest) }
    }
}

const _: () = assert!(MAX_TABLE == bits::ENTRIES);
