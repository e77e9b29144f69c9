//! Batched reads of scattered values: first the offsets of a batch, then the bytes.

use super::fsst::SymbolTable;
use super::onpair::{self, Codes, TokenTable};
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
    /// Reads the offsets of a batch together, so that their cache misses overlap. The bytes of the next batch arrive
    /// while the values of this one are decoded.
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
        let verified = self.verified();
        let (mut a, mut b) = ([Place::default(); BATCH], [Place::default(); BATCH]);
        let (mut places, mut next_places) = (&mut a, &mut b);
        let mut batches = indices.chunks(BATCH);
        let mut batch = batches.next().unwrap_or_default();
        self.places(batch, &mut places[..batch.len()])?;
        places[..batch.len()].iter().for_each(|&place| self.prefetch(place));
        while !batch.is_empty() {
            let next = batches.next().unwrap_or_default();
            self.places(next, &mut next_places[..next.len()])?;
            let (places_of_batch, mut ahead) = (&places[..batch.len()], next_places[..next.len()].iter());
            let mut prefetch = || ahead.next().into_iter().for_each(|&place| self.prefetch(place));
            match &self.coding {
                OpenCoding::Raw => {
                    for (&index, &(start, end)) in batch.iter().zip(places_of_batch) {
                        prefetch();
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
                    self.gather_codes(symbols, batch, places_of_batch, scratch, &mut prefetch, &mut each)?;
                }
                OpenCoding::OnPair { tokens, .. } => {
                    self.gather_tokens(tokens, batch, places_of_batch, scratch, &mut prefetch, &mut each)?;
                }
            }
            std::mem::swap(&mut places, &mut next_places);
            batch = next;
        }
        Ok(())
    }

    /// The bytes without their tail, if all of them are verified.
    fn verified(&self) -> Option<&[u8]> {
        let bytes = self.bytes.as_ref()?;
        bytes.verified()?.get(..bytes.len())
    }

    /// Prefetches the first and the last byte of a value.
    #[inline]
    fn prefetch(&self, (start, end): Place) {
        let (first, last) = match self.coding {
            OpenCoding::OnPair { .. } => onpair::place_of(start, end),
            OpenCoding::Raw | OpenCoding::Fsst { .. } => (start, end),
        };
        if let Some(bytes) = &self.bytes {
            for at in [first, last.saturating_sub(1)] {
                bytes.prefetch(usize::try_from(at).unwrap_or(usize::MAX));
            }
        }
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
        prefetch: &mut impl FnMut(),
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
                prefetch();
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

    /// Reads values of OnPair codes. Decodes several values end to end before it passes on the first one, so that the
    /// copy of a value need not wait for the stores of its tokens.
    fn gather_tokens(
        &self,
        tokens: &TokenTable,
        mut indices: &[u32],
        mut places: &[Place],
        scratch: &mut Scratch,
        prefetch: &mut impl FnMut(),
        each: &mut impl FnMut(Option<&[u8]>),
    ) -> Result<()> {
        let verified = self.verified();
        let Scratch { offsets, bytes, .. } = scratch;
        while !indices.is_empty() {
            offsets.clear();
            offsets.push(0);
            let mut len = 0;
            for (&index, &(start, end)) in indices.iter().zip(places) {
                if len as u64 >= DECODE_BYTES {
                    break;
                }
                prefetch();
                if index != SKIP {
                    let codes = match verified.and_then(|bytes| Codes::within(bytes, start, end)) {
                        Some(codes) => codes,
                        None => self.codes(start, end)?,
                    };
                    len = tokens.decode(codes, bytes, len);
                }
                offsets.push(len as u64);
            }
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
