//! Batched look-ups of terms by ords in any order.
//!
//! A look-up takes four dependent loads: the offset of the block, the block's header, and the two parts of the term. A
//! batch takes each step for all of its terms before the next step, so that the CPU overlaps their cache misses.
//!
//! Nearly all blocks are full and of class 1, with a header of fixed size. In such a block, and in verified bytes, a
//! [fast path](FullBlocks::locate) without errors locates the term. The general code of a
//! [single look-up](DictionaryReader::term) does the rest.

use super::DictionaryReader;
use super::block::{BLOCK_TERMS, Parts, sum_before};
use super::full_block::{FULL_HEADER_LEN, FullBlocks};
use crate::bits::multiversion;
use crate::error::Result;
use crate::id::TermOrd;
use crate::source::SectionBytes;

/// The most terms in a batch. Their locations fit the first-level cache.
pub const BATCH: usize = 64;

/// Bytes of a copy of fixed size, for a part of a term: two instructions instead of a call of `memcpy`.
const WINDOW: usize = 32;

/// Bytes of two windows, one for each part of a term.
const WINDOWS: usize = 2 * WINDOW;

/// Looks up batches of terms by ords in any order: call [`locate`](Self::locate), then [`append_to`](Self::append_to).
#[derive(Debug)]
pub struct Gather<'a, B: SectionBytes> {
    dictionary: &'a DictionaryReader<B>,
    places: [Parts; BATCH],
    /// Number of valid `places`.
    count: usize,
}

impl<B: SectionBytes> DictionaryReader<B> {
    /// Returns a reader of batches of terms in any order.
    pub fn gather(&self) -> Gather<'_, B> {
        Gather { dictionary: self, places: [Parts::default(); BATCH], count: 0 }
    }

    /// Writes the starts of the blocks of `ords` to `starts`.
    fn starts(&self, section: &B, ords: &[TermOrd], starts: &mut [i64]) -> Result<()> {
        let Some(index) = &self.index else { return Ok(()) };
        let mut blocks = [0; BATCH];
        let blocks = &mut blocks[..ords.len()];
        blocks.iter_mut().zip(ords).for_each(|(block, ord)| *block = ord.get() / BLOCK_TERMS);
        index.offsets.gather(blocks, starts)?;
        for &start in &*starts {
            let start = usize::try_from(start).unwrap_or(usize::MAX);
            section.prefetch(start);
            section.prefetch(start.saturating_add(FULL_HEADER_LEN));
        }
        Ok(())
    }

    /// The full blocks of `section`, the terms; `None` if it is not in memory.
    #[inline]
    fn full_blocks<'a>(&self, section: &'a B) -> Option<FullBlocks<'a>> {
        let (terms, max_len) = (self.count / BLOCK_TERMS * BLOCK_TERMS, self.max_len);
        Some(FullBlocks { section: section.partly_verified()?, len: section.len(), terms, max_len })
    }

    /// Writes term `ord` to `out`, which must be empty. `None` if a part is longer than a window, and in the same cases
    /// as [`FullBlocks::place`].
    #[inline]
    pub(super) fn copy_verified(&self, ord: TermOrd, out: &mut Vec<u8>) -> Option<()> {
        let section = self.blocks.as_ref()?;
        let blocks = self.full_blocks(section)?;
        let start = match &self.index {
            // The general code returns the error.
            Some(index) => index.offsets.get((ord.get() / BLOCK_TERMS).into()).ok()?,
            None => 0,
        };
        let place = blocks.place(ord, start, sum_before)?;
        out.extend_from_slice(&[0; WINDOWS]);
        let windows = out.first_chunk_mut::<WINDOWS>();
        let copied = windows.and_then(|to| copy_windows(blocks.section.bytes, &place, to));
        out.truncate(if copied.is_some() { place.len() } else { 0 });
        copied
    }

    /// The location of a term in any block, in verified bytes or not.
    #[cold]
    fn place(&self, section: &B, ord: TermOrd) -> Result<Parts> {
        let (_, header) = self.header(ord.get() / BLOCK_TERMS)?;
        let i = (ord.get() % BLOCK_TERMS) as usize;
        // Reads both parts, so that their checksums are compared before they are copied.
        self.parts(section, &header, i)?;
        header.parts(i)
    }
}

impl<B: SectionBytes> Gather<'_, B> {
    /// Locates the terms of `ords`, at most [`BATCH`], in any order and with repeats. Replaces the batch before.
    ///
    /// # Errors
    ///
    /// As [`DictionaryReader::term`]. The batch is then empty.
    ///
    /// # Panics
    ///
    /// If there are more ords than [`BATCH`].
    pub fn locate(&mut self, ords: &[TermOrd]) -> Result<()> {
        assert!(ords.len() <= BATCH, "{} ords in a batch", ords.len());
        let Gather { dictionary, places, count } = self;
        *count = 0;
        let terms = dictionary.len();
        let outside = ords.iter().fold(false, |outside, ord| outside | (ord.get() >= terms));
        if let Some(ord) = ords.iter().find(|ord| outside && ord.get() >= terms) {
            return Err(dictionary.no_such_ord("ord", ord.get(), terms.saturating_sub(1)));
        }
        let Some(section) = &dictionary.blocks else { return Ok(()) };
        let mut starts = [0; BATCH];
        let starts = &mut starts[..ords.len()];
        dictionary.starts(section, ords, starts)?;
        let blocks = dictionary.full_blocks(section);
        let mut at = 0;
        loop {
            if let Some(blocks) = blocks {
                at += blocks.locate(&ords[at..], &starts[at..], &mut places[at..]);
            }
            let Some(&ord) = ords.get(at) else { break };
            places[at] = dictionary.place(section, ord)?;
            section.prefetch(places[at].own);
            at += 1;
        }
        *count = ords.len();
        Ok(())
    }

    /// The length of each term.
    pub fn lens(&self) -> impl Iterator<Item = u64> {
        self.places().iter().map(|place| place.len() as u64)
    }

    fn places(&self) -> &[Parts] {
        &self.places[..self.count]
    }

    /// Appends the terms to `out`, end to end.
    ///
    /// # Errors
    ///
    /// When the bytes cannot be read. The bytes appended to `out` are then unspecified.
    pub fn append_to(&self, out: &mut Vec<u8>) -> Result<()> {
        let Some(section) = &self.dictionary.blocks else { return Ok(()) };
        // Windows may hold bytes after the term that are not verified; they are overwritten or cut off below.
        let bytes = section.partly_verified().map_or(&[][..], |section| section.bytes);
        let before = out.len();
        let end = before + self.places().iter().map(Parts::len).sum::<usize>();
        out.resize(end + WINDOWS, 0);
        let (places, to) = (self.places(), &mut out[before..]);
        let (mut copied, mut at) = (0, 0);
        loop {
            let (terms, len) = copy_short(bytes, &places[copied..], &mut to[at..]);
            (copied, at) = (copied + terms, at + len);
            let Some(place) = places.get(copied) else { break };
            for (from, len) in [(place.head, place.shared), (place.own, place.own_len)] {
                to[at..at + len].copy_from_slice(section.slice(from..from + len)?);
                at += len;
            }
            copied += 1;
        }
        out.truncate(end);
        Ok(())
    }
}

multiversion! {
    /// Copies terms to `to`, end to end, up to the first that [`copy_windows`] does not copy. Returns the number of terms,
    /// and the sum of their lengths.
    fn copy_short(bytes: &[u8], places: &[Parts], to: &mut [u8]) -> (usize, usize) {
        let (mut terms, mut at) = (0, 0);
        for place in places {
            let windows = to[at..].first_chunk_mut::<WINDOWS>();
            if windows.and_then(|to| copy_windows(bytes, place, to)).is_none() {
                break;
            }
            terms += 1;
            at += place.len();
        }
        (terms, at)
    }
}

/// Copies a term, and some bytes after it, by two copies of fixed size. `None` if a part exceeds a window, or is too
/// close to the end of `bytes`.
#[inline(always)]
fn copy_windows(bytes: &[u8], place: &Parts, to: &mut [u8; WINDOWS]) -> Option<()> {
    let window = |from: usize| bytes.get(from..)?.first_chunk::<WINDOW>();
    let (head, own) = (window(place.head)?, window(place.own)?);
    if place.shared > WINDOW || place.own_len > WINDOW {
        return None;
    }
    to[..WINDOW].copy_from_slice(head);
    to[place.shared..place.shared + WINDOW].copy_from_slice(own);
    Some(())
}
