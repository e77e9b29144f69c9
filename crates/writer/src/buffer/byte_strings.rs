//! [`ByteStrings`]: byte strings with offsets, as in Arrow's binary arrays, in memory or on disk.

use std::ops::Range;

use docvalues_format::binary;

use super::payload::Payload;
use super::scratch::{CHUNK_LEN, Scratch, ScratchWriter};
use super::spill_vec::{SpillVec, for_each_group};
use crate::error::ErrorKind;

/// Byte strings in one buffer: string *i* lies from `offsets[i]` to `offsets[i + 1]`. There are no offsets without
/// strings.
#[derive(Debug, Default)]
pub(crate) struct ByteStrings {
    pub(crate) bytes: Payload,
    pub(crate) offsets: SpillVec<i64>,
}

impl ByteStrings {
    /// The number of byte strings.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn offset(&self, i: usize) -> Result<u64, ErrorKind> {
        self.offsets.get(i).map(i64::cast_unsigned)
    }
}

impl binary::Values for ByteStrings {
    type Error = ErrorKind;

    fn total_len(&self) -> u64 {
        self.bytes.len()
    }

    fn around(&self, at: u64) -> Result<Range<u64>, ErrorKind> {
        // Binary search for the first string that ends after `at`.
        let (mut low, mut high) = (1, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            (low, high) = if self.offset(middle)? <= at { (middle + 1, high) } else { (low, middle) };
        }
        Ok(self.offset(low - 1)?..self.offset(low)?)
    }

    fn read(&self, range: Range<u64>) -> Result<Vec<u8>, ErrorKind> {
        let mut bytes = Vec::new();
        self.bytes.read(range, &mut bytes)?;
        Ok(bytes)
    }

    fn for_each(&self, mut f: impl FnMut(&[u8]) -> Result<(), ErrorKind>) -> Result<(), ErrorKind> {
        let mut bytes = Vec::new();
        for_each_group(&self.offsets, self.len(), CHUNK_LEN as u64, |range, offsets| {
            let range = range.start.cast_unsigned()..range.end.cast_unsigned();
            let mut rest = match self.bytes.borrow(&range) {
                Some(borrowed) => borrowed,
                None => {
                    bytes.clear();
                    self.bytes.read(range, &mut bytes)?;
                    &bytes[..]
                }
            };
            let lens = offsets.windows(2).map(|of| usize::try_from(of[1] - of[0]).unwrap_or(usize::MAX));
            lens.into_iter().try_for_each(|len| f(rest.split_off(..len).unwrap_or_default()))
        })
    }
}

/// Builds [`ByteStrings`] on disk, one string at a time.
pub(crate) struct ByteStringsBuilder {
    bytes: ScratchWriter,
    offsets: SpillVec<i64>,
    scratch: Scratch,
    end: u64,
}

impl ByteStringsBuilder {
    /// Begins in the temporary file of `scratch`.
    pub(crate) fn new(scratch: Scratch) -> Result<ByteStringsBuilder, ErrorKind> {
        let mut offsets = SpillVec::default();
        offsets.push(0, Some(scratch.spill()))?;
        Ok(ByteStringsBuilder { bytes: ScratchWriter::new(scratch.sibling()), offsets, scratch, end: 0 })
    }

    pub(crate) fn push(&mut self, value: &[u8]) -> Result<(), ErrorKind> {
        self.bytes.push(|bytes| bytes.extend_from_slice(value))?;
        self.end += value.len() as u64;
        self.offsets.push(self.end.cast_signed(), Some(self.scratch.spill()))
    }

    pub(crate) fn finish(mut self) -> Result<ByteStrings, ErrorKind> {
        self.offsets.flush(Some(self.scratch.spill()))?;
        let bytes = Payload { on_disk: Some(self.bytes.finish()?), in_memory: Vec::new() };
        Ok(ByteStrings { bytes, offsets: self.offsets })
    }
}
