//! [`SpillVec`]: a vector of numbers, with a prefix on disk if it spilled.

use std::ops::Range;

use docvalues_format::numeric::{self, Number};
use docvalues_storage::Spill;

use super::memory_budget::MemoryBudget;
use super::scratch::{CHUNK_LEN, Scratch};
use crate::error::ErrorKind;

/// Numbers of a fixed width in the temporary file, little-endian.
pub(crate) trait FixedWidth: Number {
    /// The width, in bytes.
    const LEN: usize;

    /// Appends the bytes of the number.
    fn put(self, out: &mut Vec<u8>);

    /// Appends the numbers in `bytes`.
    fn take(bytes: &[u8], out: &mut Vec<Self>);
}

macro_rules! fixed {
    ($($number:ty)*) => { $(
        impl FixedWidth for $number {
            const LEN: usize = size_of::<$number>();

            fn put(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }

            fn take(bytes: &[u8], out: &mut Vec<Self>) {
                out.extend(bytes.as_chunks().0.iter().map(|bytes| <$number>::from_le_bytes(*bytes)));
            }
        }
    )* };
}

fixed!(i64 u32);

/// A vector of numbers: a prefix on disk, if it was spilled, and the rest in memory.
///
/// ```text
/// | 0 ..  on disk (a Scratch)  | in memory (a Vec) .. len |
/// ```
///
/// Only numbers of committed documents are spilled, so that a rollback is a truncation in memory and cannot fail.
#[derive(Clone, Debug)]
pub(crate) struct SpillVec<T> {
    on_disk: Option<OnDisk<T>>,
    /// The numbers after those on disk.
    pub(crate) in_memory: Vec<T>,
}

#[derive(Clone, Debug)]
struct OnDisk<T> {
    scratch: Scratch,
    len: usize,
    last: T,
}

impl<T> Default for SpillVec<T> {
    fn default() -> SpillVec<T> {
        SpillVec { on_disk: None, in_memory: Vec::new() }
    }
}

impl<T: FixedWidth> SpillVec<T> {
    /// A vector in memory.
    pub(crate) fn of(in_memory: Vec<T>) -> SpillVec<T> {
        SpillVec { on_disk: None, in_memory }
    }

    /// The number of numbers on disk.
    pub(crate) fn on_disk_len(&self) -> usize {
        self.on_disk.as_ref().map_or(0, |on_disk| on_disk.len)
    }

    pub(crate) fn len(&self) -> usize {
        self.on_disk_len() + self.in_memory.len()
    }

    pub(crate) fn last(&self) -> Option<T> {
        self.in_memory.last().copied().or_else(|| self.on_disk.as_ref().map(|on_disk| on_disk.last))
    }

    /// Keeps the first `len` numbers, which include all on disk.
    pub(crate) fn truncate(&mut self, len: usize) {
        debug_assert!(len >= self.on_disk_len(), "{len} of {}", self.on_disk_len());
        self.in_memory.truncate(len.saturating_sub(self.on_disk_len()));
    }

    /// The size in memory, in bytes.
    pub(crate) fn heap(&self) -> usize {
        self.in_memory.capacity() * size_of::<T>()
    }

    /// A new scratch for what is encoded from these numbers, if they are on disk.
    pub(crate) fn sibling_scratch(&self) -> Option<Scratch> {
        self.on_disk.as_ref().map(|on_disk| on_disk.scratch.sibling())
    }

    /// Moves all numbers in memory to `spill`. After an error, they are still in memory.
    pub(crate) fn spill(&mut self, spill: &Spill, memory: &mut MemoryBudget) -> Result<(), ErrorKind> {
        let before = self.heap();
        self.flush(Some(spill))?;
        memory.release(before);
        Ok(())
    }

    fn append_to_disk(&mut self, spill: &Spill) -> Result<(), ErrorKind> {
        let Some(&last) = self.in_memory.last() else { return Ok(()) };
        let scratch = self.on_disk.as_ref().map(|on_disk| on_disk.scratch.clone());
        let mut scratch = scratch.unwrap_or_else(|| Scratch::new(spill.clone()));
        let mut bytes = Vec::with_capacity(CHUNK_LEN);
        for numbers in self.in_memory.chunks(CHUNK_LEN / T::LEN) {
            bytes.clear();
            numbers.iter().for_each(|number| number.put(&mut bytes));
            scratch.append(&bytes)?;
        }
        self.on_disk = Some(OnDisk { scratch, len: self.len(), last });
        Ok(())
    }

    /// Moves all numbers in memory to `spill`, if given.
    pub(crate) fn flush(&mut self, spill: Option<&Spill>) -> Result<(), ErrorKind> {
        if let Some(spill) = spill {
            self.append_to_disk(spill)?;
            self.in_memory = Vec::new();
        }
        Ok(())
    }

    /// Appends a number. With a `spill`, at most 64 KiB stay in memory.
    pub(crate) fn push(&mut self, number: T, spill: Option<&Spill>) -> Result<(), ErrorKind> {
        self.in_memory.push(number);
        self.flush_if_large(spill)
    }

    /// Appends the numbers in `bytes`. With a `spill`, at most 64 KiB stay in memory.
    pub(crate) fn extend(&mut self, bytes: &[u8], spill: Option<&Spill>) -> Result<(), ErrorKind> {
        for bytes in bytes.chunks(CHUNK_LEN) {
            T::take(bytes, &mut self.in_memory);
            self.flush_if_large(spill)?;
        }
        Ok(())
    }

    #[inline]
    fn flush_if_large(&mut self, spill: Option<&Spill>) -> Result<(), ErrorKind> {
        if let Some(spill) = spill
            && self.in_memory.len() * T::LEN >= CHUNK_LEN
        {
            self.append_to_disk(spill)?;
            self.in_memory.clear();
        }
        Ok(())
    }

    /// A sequential reader of all numbers.
    pub(crate) fn stream(&self) -> SpillVecReader<'_, T> {
        SpillVecReader { values: self, at: 0, piece: Vec::new(), end: 0 }
    }

    /// Calls `f` with each number, until it fails.
    pub(crate) fn try_each(&self, mut f: impl FnMut(T) -> Result<(), ErrorKind>) -> Result<(), ErrorKind> {
        let mut numbers = self.stream();
        (0..self.len()).try_for_each(|_| f(numbers.next()?))
    }

    /// Calls `f` with all numbers, in pieces.
    pub(crate) fn for_each(&self, f: &mut dyn FnMut(&[T])) -> Result<(), ErrorKind> {
        use numeric::Values as _;
        let mut buffer = Vec::new();
        for range in numeric::chunks(self.len()) {
            f(self.read(range, &mut buffer)?);
        }
        Ok(())
    }

    /// Lets `f` change all numbers, in pieces.
    pub(crate) fn change_each(
        &mut self,
        mut f: impl FnMut(&mut [T]) -> Result<(), ErrorKind>,
    ) -> Result<(), ErrorKind> {
        let (mut changed, on_disk) = (SpillVec::default(), self.on_disk_len());
        for range in numeric::chunks(on_disk).chain(std::iter::once(on_disk..self.len())) {
            self.change(range, &mut changed, &mut f)?;
        }
        self.on_disk = changed.on_disk;
        Ok(())
    }

    /// Lets `f` change the numbers of `range`, which are all in memory or all on disk. In the latter case, appends the
    /// changed numbers to `changed`.
    pub(super) fn change(
        &mut self,
        range: Range<usize>,
        changed: &mut SpillVec<T>,
        f: impl FnOnce(&mut [T]) -> Result<(), ErrorKind>,
    ) -> Result<(), ErrorKind> {
        let on_disk = self.on_disk_len();
        if range.start >= on_disk {
            f(&mut self.in_memory[range.start - on_disk..range.end - on_disk])?;
        } else if let Some(OnDisk { scratch, .. }) = &self.on_disk {
            let mut numbers = std::mem::take(&mut changed.in_memory);
            self.copy(range, &mut numbers)?;
            f(&mut numbers)?;
            changed.in_memory = numbers;
            changed.append_to_disk(scratch.spill())?;
        }
        Ok(())
    }

    /// Replaces the numbers on disk by those of `changed`.
    pub(super) fn replace_on_disk(&mut self, changed: SpillVec<T>) {
        self.on_disk = changed.on_disk;
    }

    /// Replaces `buffer` by the numbers of `range`.
    fn copy(&self, range: Range<usize>, buffer: &mut Vec<T>) -> Result<(), ErrorKind> {
        buffer.clear();
        buffer.reserve(range.len());
        let on_disk = self.on_disk_len();
        if let Some(OnDisk { scratch, .. }) = &self.on_disk {
            let mut bytes = [0; 1 << 14];
            let step = bytes.len() / T::LEN;
            let end = range.end.min(on_disk);
            for start in (range.start..end).step_by(step) {
                let bytes = &mut bytes[..step.min(end - start) * T::LEN];
                scratch.read((start * T::LEN) as u64, bytes)?;
                T::take(bytes, buffer);
            }
        }
        let in_memory = range.start.max(on_disk) - on_disk..range.end.max(on_disk) - on_disk;
        buffer.extend_from_slice(&self.in_memory[in_memory]);
        Ok(())
    }
}

/// A sequential reader of a [`SpillVec`].
#[derive(Debug)]
pub(crate) struct SpillVecReader<'a, T> {
    values: &'a SpillVec<T>,
    at: usize,
    /// Numbers read from disk.
    piece: Vec<T>,
    /// The end of `piece`, as an index.
    end: usize,
}

impl<T: FixedWidth> SpillVecReader<'_, T> {
    /// Returns the next number, which must exist.
    pub(crate) fn next(&mut self) -> Result<T, ErrorKind> {
        let on_disk = self.values.on_disk_len();
        let at = self.at;
        self.at += 1;
        if at >= on_disk {
            return Ok(self.values.in_memory[at - on_disk]);
        }
        if at >= self.end {
            self.end = on_disk.min(at + CHUNK_LEN / T::LEN);
            self.values.copy(at..self.end, &mut self.piece)?;
        }
        Ok(self.piece[self.piece.len() - (self.end - at)])
    }
}

impl<T: FixedWidth> numeric::Values for SpillVec<T> {
    type Number = T;
    type Error = ErrorKind;

    fn len(&self) -> usize {
        self.len()
    }

    fn read<'a>(&'a self, range: Range<usize>, buffer: &'a mut Vec<T>) -> Result<&'a [T], ErrorKind> {
        let on_disk = self.on_disk_len();
        if range.start >= on_disk {
            return Ok(&self.in_memory[range.start - on_disk..range.end - on_disk]);
        }
        self.copy(range, buffer)?;
        Ok(buffer)
    }
}

/// Takes the range that a group of values spans, and their offsets.
pub(super) type EachGroup<'g> = &'g mut dyn FnMut(Range<i64>, &[i64]) -> Result<(), ErrorKind>;

/// Calls `f` for groups of the first `count` values of ascending `offsets`, with the range that a group spans and its
/// offsets. A group spans at most `most`, unless it is a single longer value.
pub(super) fn for_each_group(
    offsets: &SpillVec<i64>,
    count: usize,
    most: u64,
    f: EachGroup<'_>,
) -> Result<(), ErrorKind> {
    use numeric::Values as _;
    let mut buffer = Vec::new();
    for range in numeric::chunks(count) {
        let mut offsets = offsets.read(range.start..range.end + 1, &mut buffer)?;
        while let [first, ends @ ..] = offsets
            && !ends.is_empty()
        {
            let few = ends.partition_point(|end| end.abs_diff(*first) <= most).max(1);
            f(*first..offsets[few], &offsets[..=few])?;
            offsets = &offsets[few..];
        }
    }
    Ok(())
}
