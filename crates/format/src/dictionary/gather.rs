//! Batched look-ups of terms by ords in any order.
//!
//! A look-up takes four dependent loads: the offset of the block, the block's header, and the two parts of the term. A
//! batch takes each step for all of its terms before the next step, so that the CPU overlaps their cache misses.
//!
//! Nearly all blocks are full and of class 1, with a header of fixed size. In such a block, and in verified bytes, a
//! fast path without errors locates the term. The general code of a [single look-up](DictionaryReader::term) does the
//! rest.

use super::DictionaryReader;
use super::block::{BLOCK_TERMS, Parts};
use super::full_block::{FULL_HEADER_LEN, FullBlock};
use crate::error::Result;
use crate::granule::GRANULE;
use crate::id::TermOrd;
use crate::source::{PartlyVerified, SectionBytes};

/// The most terms in a batch. Their locations fit the first-level cache.
pub const BATCH: usize = 64;

/// Bytes of a copy of fixed size, for a part of a term: two instructions instead of a call of `memcpy`.
const WINDOW: usize = 32;

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

    /// The location of term `i` of the full block at `start`; `None` if the block is not of class 1, or its bytes up to
    /// the term's end are not verified. The caller then uses the general code.
    #[inline]
    fn verified_place(
        &self,
        section: &B,
        touched: PartlyVerified<'_>,
        start: i64,
        i: usize,
    ) -> Option<Parts> {
        let start = usize::try_from(start).ok()?;
        let header = FullBlock::peek(touched.bytes.get(start..)?)?;
        let head = start + FULL_HEADER_LEN;
        let own = head + header.own_before(i);
        let (shared, own_len) = (header.shared(i), header.own(i));
        let end = own + own_len;
        let fits = shared <= header.own(0) && shared + own_len <= self.max_len && end <= section.len();
        // The bytes lie in at most two granules: that of the first byte and that of the last.
        let [first, last] = [start, end - 1].map(|at| touched.is_good(at / GRANULE));
        let verified = end - start <= GRANULE && first & last;
        (fits && verified).then_some(Parts { head, shared, own, own_len })
    }

    /// Writes term `ord` to `out`, which must be empty; `None` in the same cases as
    /// [`verified_place`](Self::verified_place).
    #[inline]
    pub(super) fn copy_verified(&self, ord: TermOrd, out: &mut Vec<u8>) -> Option<()> {
        let section = self.blocks.as_ref()?;
        let touched =
            section.partly_verified().filter(|_| ord.get() < self.count / BLOCK_TERMS * BLOCK_TERMS)?;
        let start = match &self.index {
            // The general code returns the error.
            Some(index) => index.offsets.get((ord.get() / BLOCK_TERMS).into()).ok()?,
            None => 0,
        };
        let place = self.verified_place(section, touched, start, (ord.get() % BLOCK_TERMS) as usize)?;
        out.resize(place.len() + WINDOW, 0);
        let copied = copy_window(touched.bytes, place.head, out, place.shared)
            && copy_window(touched.bytes, place.own, &mut out[place.shared..], place.own_len);
        out.truncate(if copied { place.len() } else { 0 });
        copied.then_some(())
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
        let touched = section.partly_verified();
        let full = terms / BLOCK_TERMS * BLOCK_TERMS;
        for (place, (&ord, &start)) in places.iter_mut().zip(ords.iter().zip(&*starts)) {
            let i = (ord.get() % BLOCK_TERMS) as usize;
            let known = touched.filter(|_| ord.get() < full);
            *place = match known.and_then(|touched| dictionary.verified_place(section, touched, start, i)) {
                Some(place) => place,
                None => dictionary.place(section, ord)?,
            };
            section.prefetch(place.own);
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
        // A window may copy bytes after the term that are not verified; they are overwritten or cut off below.
        let bytes = section.partly_verified().map(|touched| touched.bytes);
        let mut at = out.len();
        let end = at + self.places().iter().map(Parts::len).sum::<usize>();
        out.resize(end + WINDOW, 0);
        for place in self.places() {
            for (from, len) in [(place.head, place.shared), (place.own, place.own_len)] {
                if !bytes.is_some_and(|bytes| copy_window(bytes, from, &mut out[at..], len)) {
                    out[at..at + len].copy_from_slice(section.slice(from..from + len)?);
                }
                at += len;
            }
        }
        out.truncate(end);
        Ok(())
    }
}

/// Copies `len` bytes, and some after them, by a copy of fixed size. `false` if `len` exceeds it, or the end is too
/// close.
#[inline]
fn copy_window(bytes: &[u8], from: usize, to: &mut [u8], len: usize) -> bool {
    let from = bytes.get(from..).and_then(<[u8]>::first_chunk::<WINDOW>);
    match (from, to.first_chunk_mut::<WINDOW>()) {
        (Some(from), Some(to)) if len <= WINDOW => {
            *to = *from;
            true
        }
        _ => false,
    }
}
