//! What a section holds.

use std::convert::Infallible;
use std::ops::Range;

use docvalues_format::binary;
use docvalues_format::error::Section;

use super::region::{Region, TOGETHER};
use super::tape::{Tape, each_few};
use crate::error::ErrorKind;

/// Bytes end to end: the first in a file, if they had no room, then those in memory, in pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Payload {
    pub(crate) far: Option<Region>,
    pub(crate) near: Vec<Vec<u8>>,
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Payload {
        Payload { far: None, near: vec![bytes] }
    }
}

impl Payload {
    pub(crate) fn len(&self) -> u64 {
        let near = self.near.iter().map(|piece| piece.len() as u64).sum::<u64>();
        self.far.as_ref().map_or(0, Region::len) + near
    }

    /// Shows all bytes to `f`, front to back. Each piece is freed then: what keeps the file's pages in memory
    /// finds room where it was.
    pub(crate) fn for_each<E: From<docvalues_storage::Error>>(
        self,
        mut f: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.far.iter().try_for_each(|far| far.for_each(&mut f))?;
        self.near.into_iter().try_for_each(|piece| f(&piece))
    }

    /// The bytes of `range`, if they lie end to end in memory.
    fn lent(&self, range: &Range<u64>) -> Option<&[u8]> {
        let mut before = self.far.as_ref().map_or(0, Region::len);
        for piece in &self.near {
            if let Some(start) = range.start.checked_sub(before).filter(|&start| start < piece.len() as u64) {
                let (start, end) = (usize::try_from(start), usize::try_from(range.end - before));
                return piece.get(start.ok()?..end.ok()?);
            }
            before += piece.len() as u64;
        }
        None
    }

    /// Appends the bytes of `range` to `out`.
    pub(crate) fn read(&self, range: Range<u64>, out: &mut Vec<u8>) -> Result<(), ErrorKind> {
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let mut before = 0;
        if let Some(far) = &self.far {
            before = far.len();
            let here = range.start.min(before)..range.end.min(before);
            let there = out.len();
            out.resize(there + at(here.end - here.start), 0);
            far.read(here.start, &mut out[there..])?;
        }
        for piece in &self.near {
            let end = before + piece.len() as u64;
            let here = range.start.clamp(before, end)..range.end.clamp(before, end);
            out.extend_from_slice(&piece[at(here.start - before)..at(here.end - before)]);
            before = end;
        }
        Ok(())
    }
}

/// The sections of a structure: the first bytes of one may be in `far`, all others are in memory.
pub(crate) fn payloads(
    mut far: Option<(Section, Region)>,
) -> impl FnMut(Section, Vec<u8>) -> Result<Payload, Infallible> {
    move |section, bytes| {
        let far = far.take_if(|(of, _)| *of == section).map(|(_, region)| region);
        Ok(Payload { far, near: vec![bytes] })
    }
}

/// Byte strings, of which each lies between two of the offsets; these are empty until there is one.
#[derive(Debug, Default)]
pub(crate) struct ByteStrings {
    pub(crate) bytes: Payload,
    pub(crate) offsets: Tape<i64>,
}

impl ByteStrings {
    /// How many there are.
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
        // The first string that ends behind it.
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
        each_few(&self.offsets, self.len(), TOGETHER as u64, |range, offsets| {
            let range = range.start.cast_unsigned()..range.end.cast_unsigned();
            let mut rest = match self.bytes.lent(&range) {
                Some(lent) => lent,
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
