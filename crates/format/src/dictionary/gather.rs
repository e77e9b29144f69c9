//! Terms that lie apart: where each of a batch is, and then what stands there.
//!
//! A term is found in four steps, of which each waits for the memory of the one before: the offset of
//! its block, the block's lengths, and the two parts of the term. So a batch takes each step for all its
//! terms before the next one, and the processor has many of them under way at once.
//!
//! A full block of class 1, as nearly all are, has its lengths at fixed places. What lies in one that is
//! known to be good is looked up without an error on the way; all else as a [single](DictionaryReader::term)
//! term is.

use super::DictionaryReader;
use super::block::BLOCK_TERMS;
use super::full_block::{FULL_HEADER_LEN, FullBlock};
use crate::error::Result;
use crate::granule::GRANULE;
use crate::id::TermOrd;
use crate::source::{SectionBytes, Touched};

/// Terms that are located together, at most: their places stay in the first-level cache.
pub const BATCH: usize = 64;

/// Bytes that a part of a term is copied by, if there is room: of a fixed number, two instructions.
const WINDOW: usize = 32;

/// Where the two parts of a term lie in the section, both inside.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Where the block's head begins, which the term begins as.
    head: usize,
    /// Bytes it shares with it.
    shared: usize,
    /// Where its own bytes begin.
    own: usize,
    /// How many those are.
    own_len: usize,
}

impl Place {
    fn len(&self) -> usize {
        self.shared + self.own_len
    }
}

/// Looks up terms by ords in any order, a batch at a time: [`locate`](Self::locate), then
/// [`append_to`](Self::append_to).
#[derive(Debug)]
pub struct Gather<'a, B: SectionBytes> {
    dictionary: &'a DictionaryReader<B>,
    places: [Place; BATCH],
    /// How many of the places are of terms.
    count: usize,
}

impl<B: SectionBytes> DictionaryReader<B> {
    /// A way to look up many terms that lie apart.
    pub fn gather(&self) -> Gather<'_, B> {
        Gather { dictionary: self, places: [Place::default(); BATCH], count: 0 }
    }

    /// Where the blocks of `ords` begin.
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

    /// Term `i` of the full block at `start`, if that is of class 1, and the bytes up to the term's end are
    /// known to be good; `None` tells nothing.
    #[inline]
    fn verified_place(&self, section: &B, touched: Touched<'_>, start: i64, i: usize) -> Option<Place> {
        let start = usize::try_from(start).ok()?;
        let header = FullBlock::peek(touched.bytes.get(start..)?)?;
        let head = start + FULL_HEADER_LEN;
        let own = head + header.own_before(i);
        let (shared, own_len) = (header.shared(i), header.own(i));
        let end = own + own_len;
        let fits = shared <= header.own(0) && shared + own_len <= self.max_len && end <= section.len();
        // Of two neighbouring granules, these are the first and the last.
        let [first, last] = [start, end - 1].map(|at| touched.is_good(at / GRANULE));
        let good = end - start <= GRANULE && first & last;
        (fits && good).then_some(Place { head, shared, own, own_len })
    }

    /// Puts term `ord` into `out`, which is empty, under the same condition.
    #[inline]
    pub(super) fn copy_verified(&self, ord: TermOrd, out: &mut Vec<u8>) -> Option<()> {
        let section = self.blocks.as_ref()?;
        let touched = section.touched().filter(|_| ord.get() < self.count / BLOCK_TERMS * BLOCK_TERMS)?;
        let start = match &self.index {
            Some(index) => index.offsets.known((ord.get() / BLOCK_TERMS).into())?,
            None => 0,
        };
        let place = self.verified_place(section, touched, start, (ord.get() % BLOCK_TERMS) as usize)?;
        out.resize(place.len() + WINDOW, 0);
        let copied = copy_window(touched.bytes, place.head, out, place.shared)
            && copy_window(touched.bytes, place.own, &mut out[place.shared..], place.own_len);
        out.truncate(if copied { place.len() } else { 0 });
        copied.then_some(())
    }

    /// The place of a term of any block, read for the first time or not.
    #[cold]
    fn place(&self, section: &B, ord: TermOrd) -> Result<Place> {
        let (_, header) = self.header(ord.get() / BLOCK_TERMS)?;
        let i = (ord.get() % BLOCK_TERMS) as usize;
        // Touches both parts, so that they are good when they are copied.
        self.parts(section, &header, i)?;
        let parts = header.parts(i)?;
        Ok(Place {
            head: parts.shared.start,
            shared: parts.shared.len(),
            own: parts.own.start,
            own_len: parts.own.len(),
        })
    }
}

impl<B: SectionBytes> Gather<'_, B> {
    /// Finds the terms of `ords`, at most [`BATCH`], in any order and with repeats, in place of those found
    /// before.
    ///
    /// # Errors
    ///
    /// As [`DictionaryReader::term`]; there are then no terms.
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
        let touched = section.touched();
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

    /// How many terms there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How long each term is.
    pub fn lens(&self) -> impl Iterator<Item = u64> {
        self.places().iter().map(|place| place.len() as u64)
    }

    fn places(&self) -> &[Place] {
        &self.places[..self.count]
    }

    /// Appends the terms to `out`, end to end.
    ///
    /// # Errors
    ///
    /// When the bytes cannot be read; what `out` then holds behind what it held is unspecified.
    pub fn append_to(&self, out: &mut Vec<u8>) -> Result<()> {
        let Some(section) = &self.dictionary.blocks else { return Ok(()) };
        // Bytes beside those that were located may not be good; they are copied only to be overwritten.
        let bytes = section.touched().map(|touched| touched.bytes);
        let mut at = out.len();
        let end = at + self.places().iter().map(Place::len).sum::<usize>();
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

/// Copies `len` bytes, and some behind them; `false` if they are too many or too close to the end.
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
