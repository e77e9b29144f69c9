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

/// Up to 256 values, of which numbers are indexes. Those of a column ascend.
///
/// ```
/// use docvalues_format::numeric::Table;
///
/// let table = Table::of([200, 404, 1_000_003].into_iter());
/// let mut numbers = [0, 2, 1];
/// assert_eq!((table.replace(&mut numbers), numbers), (Ok(()), [200, 1_000_003, 404]));
/// assert_eq!(table.replace(&mut [0, 3]), Err(3));
/// ```
#[derive(Debug)]
pub struct Table {
    /// Padded with zeros to a length that [`bits::look_up`] wants.
    entries: Box<[i64]>,
    len: usize,
}

impl Table {
    /// The table of a column without one, which takes no memory. Nothing is looked up in it.
    pub(super) fn none() -> Table {
        Table { entries: Box::default(), len: 0 }
    }

    /// A table of these values; those after the first 256 are left out.
    pub fn of(values: impl ExactSizeIterator<Item = i64>) -> Table {
        let len = values.len().min(MAX_TABLE);
        let padded = match len {
            0..=8 => 8,
            9..=16 => 16,
            _ => MAX_TABLE,
        };
        Table { entries: values.chain(std::iter::repeat(0)).take(padded).collect(), len }
    }

    /// Copies the values of a section, whose length must have been checked.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub(super) fn open(section: &impl SectionBytes) -> Result<Table> {
        let mut bytes = [0; MAX_TABLE * 8];
        let bytes = &mut bytes[..section.len().min(MAX_TABLE * 8)];
        section.copy_to(0, bytes)?;
        Ok(Table::of(bytes.as_chunks().0.iter().map(|value| i64::from_le_bytes(*value))))
    }

    /// The values, without padding.
    #[inline]
    pub fn values(&self) -> &[i64] {
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

    /// Value `number`; `None` if there is none.
    #[inline(always)]
    pub fn get(&self, number: u64) -> Option<i64> {
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

    /// Replaces numbers by their values.
    ///
    /// # Errors
    ///
    /// The largest number, if it has no value. The numbers are then unspecified.
    #[inline]
    pub fn replace(&self, numbers: &mut [i64]) -> Result<(), u64> {
        let largest = bits::look_up(&self.entries, numbers);
        if largest < self.len as u64 { Ok(()) } else { Err(largest) }
    }
}

const _: () = assert!(MAX_TABLE == bits::ENTRIES);
