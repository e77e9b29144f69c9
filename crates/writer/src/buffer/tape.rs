//! Numbers in document order, of which the first may have left the memory.

use std::ops::Range;

use docvalues_format::numeric::{self, Number};
use docvalues_storage::Spill;

use super::memory::Memory;
use super::region::{Region, TOGETHER};
use crate::error::ErrorKind;

/// A number as bytes of a temporary file, which only the process that wrote it reads.
pub(crate) trait Fixed: Number {
    /// How many bytes.
    const LEN: usize;

    /// Appends them.
    fn put(self, out: &mut Vec<u8>);

    /// Appends the numbers that `bytes` are.
    fn take(bytes: &[u8], out: &mut Vec<Self>);
}

macro_rules! fixed {
    ($($number:ty)*) => { $(
        impl Fixed for $number {
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

/// Numbers: the last ones in memory, those before them in a file, if there are any.
///
/// Only numbers of committed documents leave the memory, so that taking back those of others cannot fail.
#[derive(Clone, Debug)]
pub(crate) struct Tape<T> {
    far: Option<Far<T>>,
    /// What is in memory.
    pub(crate) near: Vec<T>,
}

#[derive(Clone, Debug)]
struct Far<T> {
    region: Region,
    len: usize,
    last: Option<T>,
}

impl<T> Default for Tape<T> {
    fn default() -> Tape<T> {
        Tape { far: None, near: Vec::new() }
    }
}

impl<T: Fixed> Tape<T> {
    /// Numbers in memory.
    pub(crate) fn of(near: Vec<T>) -> Tape<T> {
        Tape { far: None, near }
    }

    /// How many are not in memory.
    pub(crate) fn far(&self) -> usize {
        self.far.as_ref().map_or(0, |far| far.len)
    }

    pub(crate) fn len(&self) -> usize {
        self.far() + self.near.len()
    }

    pub(crate) fn last(&self) -> Option<T> {
        self.near.last().copied().or_else(|| self.far.as_ref()?.last)
    }

    /// Forgets all but the first `len`, which are not fewer than those in the file.
    pub(crate) fn truncate(&mut self, len: usize) {
        debug_assert!(len >= self.far(), "{len} of {}", self.far());
        self.near.truncate(len.saturating_sub(self.far()));
    }

    /// Bytes of memory.
    pub(crate) fn heap(&self) -> usize {
        self.near.capacity() * size_of::<T>()
    }

    /// Where encoded numbers go: to a file if these come from one.
    pub(crate) fn beside(&self) -> Option<Region> {
        self.far.as_ref().map(|far| far.region.another())
    }

    /// Moves all that is in memory to `spill`. After an error it still is there.
    pub(crate) fn spill(&mut self, spill: &Spill, memory: &mut Memory) -> Result<(), ErrorKind> {
        let before = self.heap();
        self.settle(Some(spill))?;
        memory.release(before);
        Ok(())
    }

    fn push_far(&mut self, spill: &Spill) -> Result<(), ErrorKind> {
        let Some(&last) = self.near.last() else { return Ok(()) };
        let far =
            self.far.get_or_insert_with(|| Far { region: Region::new(spill.clone()), len: 0, last: None });
        let mut region = far.region.clone();
        let mut bytes = Vec::with_capacity(TOGETHER);
        for numbers in self.near.chunks(TOGETHER / T::LEN) {
            bytes.clear();
            numbers.iter().for_each(|number| number.put(&mut bytes));
            region.append(&bytes)?;
        }
        *far = Far { region, len: far.len + self.near.len(), last: Some(last) };
        Ok(())
    }

    /// Number `i`.
    pub(crate) fn get(&self, i: usize) -> Result<T, ErrorKind> {
        use numeric::Values as _;
        match self.far {
            None => Ok(self.near[i]),
            Some(_) => Ok(self.read(i..i + 1, &mut Vec::new())?[0]),
        }
    }

    /// Moves what is in memory to the file, if there is one.
    pub(crate) fn settle(&mut self, spill: Option<&Spill>) -> Result<(), ErrorKind> {
        if let Some(spill) = spill {
            self.push_far(spill)?;
            self.near = Vec::new();
        }
        Ok(())
    }

    /// Appends a number; with a `spill`, no more than a few stay in memory.
    pub(crate) fn push(&mut self, number: T, spill: Option<&Spill>) -> Result<(), ErrorKind> {
        self.near.push(number);
        self.ease(spill)
    }

    /// Appends the numbers that `bytes` are; with a `spill`, no more than a few stay in memory.
    pub(crate) fn extend(&mut self, bytes: &[u8], spill: Option<&Spill>) -> Result<(), ErrorKind> {
        for bytes in bytes.chunks(TOGETHER) {
            T::take(bytes, &mut self.near);
            self.ease(spill)?;
        }
        Ok(())
    }

    #[inline]
    fn ease(&mut self, spill: Option<&Spill>) -> Result<(), ErrorKind> {
        if let Some(spill) = spill
            && self.near.len() * T::LEN >= TOGETHER
        {
            self.push_far(spill)?;
            self.near.clear();
        }
        Ok(())
    }

    /// All of them, one after the other.
    pub(crate) fn stream(&self) -> Stream<'_, T> {
        Stream { tape: self, at: 0, piece: Vec::new(), end: 0 }
    }

    /// Shows all of them to `f`, piece by piece.
    pub(crate) fn for_each(&self, mut f: impl FnMut(&[T])) -> Result<(), ErrorKind> {
        use numeric::Values as _;
        let mut room = Vec::new();
        for range in numeric::chunks(self.len()) {
            f(self.read(range, &mut room)?);
        }
        Ok(())
    }

    /// Changes each of them, some at a time.
    pub(crate) fn change_each(
        &mut self,
        mut f: impl FnMut(&mut [T]) -> Result<(), ErrorKind>,
    ) -> Result<(), ErrorKind> {
        let (mut changed, far) = (Tape::default(), self.far());
        for range in numeric::chunks(far).chain(std::iter::once(far..self.len())) {
            self.change(range, &mut changed, &mut f)?;
        }
        self.far = changed.far;
        Ok(())
    }

    /// Changes those of `range`, all of which are in memory or none. Those that are not come to lie behind
    /// those of `changed`.
    pub(super) fn change(
        &mut self,
        range: Range<usize>,
        changed: &mut Tape<T>,
        f: impl FnOnce(&mut [T]) -> Result<(), ErrorKind>,
    ) -> Result<(), ErrorKind> {
        let far = self.far();
        if range.start >= far {
            f(&mut self.near[range.start - far..range.end - far])?;
        } else if let Some(Far { region, .. }) = &self.far {
            let mut numbers = std::mem::take(&mut changed.near);
            self.copy(range, &mut numbers)?;
            f(&mut numbers)?;
            changed.near = numbers;
            changed.push_far(region.spill())?;
        }
        Ok(())
    }

    /// Has those of `changed` that are in a file, instead of its own.
    pub(super) fn take_far(&mut self, changed: Tape<T>) {
        self.far = changed.far;
    }

    /// Fills `room` with those of `range`.
    fn copy(&self, range: Range<usize>, room: &mut Vec<T>) -> Result<(), ErrorKind> {
        room.clear();
        room.reserve(range.len());
        let far = self.far();
        if let Some(Far { region, .. }) = &self.far {
            let mut bytes = [0; 1 << 14];
            let step = bytes.len() / T::LEN;
            let end = range.end.min(far);
            for start in (range.start..end).step_by(step) {
                let bytes = &mut bytes[..step.min(end - start) * T::LEN];
                region.read((start * T::LEN) as u64, bytes)?;
                T::take(bytes, room);
            }
        }
        let near = range.start.max(far) - far..range.end.max(far) - far;
        room.extend_from_slice(&self.near[near]);
        Ok(())
    }
}

/// Numbers of a tape, from the first one on.
#[derive(Debug)]
pub(crate) struct Stream<'a, T> {
    tape: &'a Tape<T>,
    at: usize,
    /// Those that were read from the file.
    piece: Vec<T>,
    /// Where they end.
    end: usize,
}

impl<T: Fixed> Stream<'_, T> {
    /// The next number, which there must be.
    pub(crate) fn next(&mut self) -> Result<T, ErrorKind> {
        let far = self.tape.far();
        let at = self.at;
        self.at += 1;
        if at >= far {
            return Ok(self.tape.near[at - far]);
        }
        if at >= self.end {
            self.end = far.min(at + TOGETHER / T::LEN);
            self.tape.copy(at..self.end, &mut self.piece)?;
        }
        Ok(self.piece[self.piece.len() - (self.end - at)])
    }
}

impl<T: Fixed> numeric::Values for Tape<T> {
    type Number = T;
    type Error = ErrorKind;

    fn len(&self) -> usize {
        self.len()
    }

    fn read<'a>(&'a self, range: Range<usize>, room: &'a mut Vec<T>) -> Result<&'a [T], ErrorKind> {
        let far = self.far();
        if range.start >= far {
            return Ok(&self.near[range.start - far..range.end - far]);
        }
        self.copy(range, room)?;
        Ok(room)
    }
}

/// Shows `f` the ascending `offsets` of the first `count` values, some values at a time, and what these span: at most
/// `most`, but for a single one that is longer.
pub(super) fn each_few(
    offsets: &Tape<i64>,
    count: usize,
    most: u64,
    mut f: impl FnMut(Range<i64>, &[i64]) -> Result<(), ErrorKind>,
) -> Result<(), ErrorKind> {
    use numeric::Values as _;
    let mut room = Vec::new();
    for range in numeric::chunks(count) {
        let mut offsets = offsets.read(range.start..range.end + 1, &mut room)?;
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
