//! Batched reads of scattered values: first the offsets of a batch, then the bytes.

use super::fsst::SymbolTable;
use super::onpair;
use super::read::{BATCH, BinaryReader, DECODE_BYTES, OpenCoding, Scratch};
use crate::error::Result;
use crate::source::SectionBytes;

/// The index of no value.
const SKIP: u32 = u32::MAX;

/// The start and end of a value.
type Place = (u64, u64);

impl<B: SectionBytes> BinaryReader<B> {
    /// Calls `each` with the values of `indices`, which may be in any order and repeat; with `None` for an index of
    /// `u32::MAX`.
    ///
    /// Reads all offsets of a batch, and then all bytes, so that their cache misses overlap.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    pub fn gather(
        &self,
        indices: &[u32],
        scratch: &mut Scratch,
        mut each: impl FnMut(Option<&[u8]>),
    ) -> Result<()> {
        // Asked once for all values, so that each needs only a bounds check.
        let verified = self.bytes.as_ref().and_then(|bytes| bytes.verified()?.get(..bytes.len()));
        for indices in indices.chunks(BATCH) {
            let mut places = [Place::default(); BATCH];
            let places = &mut places[..indices.len()];
            self.places(indices, places)?;
            match &self.coding {
                OpenCoding::Raw => {
                    touch(verified, places.iter().copied());
                    for (&index, &(start, end)) in indices.iter().zip(&*places) {
                        each(match index {
                            SKIP => None,
                            _ => Some(match verified.and_then(|bytes| part(bytes, start, end)) {
                                Some(value) => value,
                                None => self.slice(start, end)?,
                            }),
                        });
                    }
                }
                OpenCoding::Fsst { symbols, .. } => {
                    touch(verified, places.iter().copied());
                    self.gather_codes(symbols, indices, places, scratch, &mut each)?;
                }
                OpenCoding::OnPair { tokens, .. } => {
                    let bytes_of = |&(start, end): &Place| onpair::place_of(start, end);
                    touch(verified, places.iter().map(bytes_of));
                    for (&index, &(start, end)) in indices.iter().zip(&*places) {
                        each(match index {
                            SKIP => None,
                            _ => {
                                let len = tokens.decode(self.codes(start, end)?, &mut scratch.bytes);
                                Some(&scratch.bytes[..len])
                            }
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes the start and end of the values of at most [`BATCH`] `indices` to `places`; unspecified for [`SKIP`].
    fn places(&self, indices: &[u32], places: &mut [Place]) -> Result<()> {
        let wanted = || indices.iter().copied().filter(|&index| index != SKIP);
        if let Some(index) = wanted().map(u64::from).find(|&index| index >= self.count) {
            return Err(self.outside("value index", index, self.count.saturating_sub(1)));
        }
        if wanted().next().is_none() {
            return Ok(());
        }
        match &self.offsets {
            None => {
                for (place, &index) in places.iter_mut().zip(indices).filter(|(_, index)| **index != SKIP) {
                    *place = self.fixed_place(index.into());
                }
            }
            Some(offsets) => {
                let (mut numbers, mut starts, mut ends) = ([0; BATCH], [0; BATCH], [0; BATCH]);
                let len = indices.len();
                let (numbers, starts, ends) = (&mut numbers[..len], &mut starts[..len], &mut ends[..len]);
                for (number, &index) in numbers.iter_mut().zip(indices) {
                    // A value is wanted, so value 0 exists.
                    *number = if index == SKIP { 0 } else { index };
                }
                offsets.gather(numbers, starts)?;
                numbers.iter_mut().for_each(|number| *number += 1);
                offsets.gather(numbers, ends)?;
                for (place, (start, end)) in places.iter_mut().zip(starts.iter().zip(ends)) {
                    *place = (start.cast_unsigned(), end.cast_unsigned());
                }
            }
        }
        Ok(())
    }

    /// Reads values of FSST codes. Copies the codes of several values end to end and decodes them together, which is
    /// faster than one by one: an escape takes a branch, which each end of a value makes unpredictable.
    fn gather_codes(
        &self,
        symbols: &SymbolTable,
        mut indices: &[u32],
        mut places: &[Place],
        scratch: &mut Scratch,
        each: &mut impl FnMut(Option<&[u8]>),
    ) -> Result<()> {
        let Scratch { codes, offsets, bytes } = scratch;
        while !indices.is_empty() {
            codes.clear();
            offsets.clear();
            offsets.push(0);
            for (&index, &(start, end)) in indices.iter().zip(places) {
                if codes.len() as u64 >= DECODE_BYTES {
                    break;
                }
                if index != SKIP {
                    codes.extend_from_slice(self.slice(start, end)?);
                }
                offsets.push(codes.len() as u64);
            }
            symbols.decode_many(codes, bytes, offsets).ok_or_else(|| self.cut_escape())?;
            let taken = offsets.len() - 1;
            pass_on(&indices[..taken], offsets, bytes, each);
            (indices, places) = (&indices[taken..], &places[taken..]);
        }
        Ok(())
    }
}

/// Passes decoded values to `each`: `offsets` are where they begin and end in `bytes`.
fn pass_on(indices: &[u32], offsets: &[u64], bytes: &[u8], each: &mut impl FnMut(Option<&[u8]>)) {
    let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
    for (pair, &index) in offsets.windows(2).zip(indices) {
        each((index != SKIP).then(|| &bytes[at(pair[0])..at(pair[1])]));
    }
}

/// The bytes from `start` to `end`, if they exist.
#[inline]
fn part(bytes: &[u8], start: u64, end: u64) -> Option<&[u8]> {
    bytes.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

/// Reads the first and the last byte of each value. These loads are independent, so their cache misses overlap, and the
/// values are in the cache when they are copied.
fn touch(verified: Option<&[u8]>, places: impl Iterator<Item = Place>) {
    let bytes = verified.unwrap_or_default();
    let byte = |at: u64| usize::try_from(at).ok().and_then(|at| bytes.get(at)).copied().unwrap_or(0);
    let all = places.fold(0, |all, (start, end)| all ^ byte(start) ^ byte(end.saturating_sub(1)));
    std::hint::black_box(all);
}
