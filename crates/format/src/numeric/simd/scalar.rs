//! The gather kernel for any CPU: one integer after the other.
//!
//! Bounds are checked before a loop, so the loop itself has no bounds checks and no errors. It is hardly more than
//! the arithmetic, and the processor overlaps the loads of many integers.
//!
//! Integers of several blocks are read in two passes over 64 of them. The first pass reads the headers and prefetches
//! the words; the second pass loads the words:
//!
//! ```text
//! headers    base, tags   ->  byte   shift   mask   add       of 64 integers, side by side
//! section    word[byte] >> shift & mask + add                 when the words are on their way
//! ```
#![allow(unsafe_code, reason = "loads whose ends were compared before; each use has its proof")]
#![expect(clippy::cast_possible_truncation, reason = "places below the end of a slice; of others, a hint")]

use super::super::Stride;
use super::super::block::{Block, line};
use super::{Blocks, Numbers, Packed};
use crate::bits::{self, all_at_most, min_max, multiversion};
use crate::granule::GRANULE;
use crate::id::TermOrd;
use crate::prefetch::prefetch;
use crate::source::PartlyVerified;

/// Bytes in a word.
const WORD: usize = 8;

/// Integers whose places are computed and prefetched before their words are loaded.
pub(super) const INDICES_PER_PASS: usize = 64;

multiversion! {
    /// As [`gather_packed`](super::gather_packed); stops before the first integer that needs the checked path.
    pub(super) fn gather_packed(packed: Packed<'_>, numbers: Numbers, indices: &[u32], out: &mut [i64]) -> usize {
        let add = numbers.add.cast_unsigned();
        each_packed(packed, numbers.count, indices, out, |number| number.wrapping_add(add).cast_signed())
    }

    /// As [`gather_ords`](super::gather_ords); stops before the first integer that needs the checked path.
    pub(super) fn gather_ords(
        packed: Packed<'_>, count: u64, add: u32, indices: &[u32], out: &mut [TermOrd],
    ) -> usize {
        // No sum passes a u32.
        each_packed(packed, count, indices, out, |number| TermOrd::new((number as u32).wrapping_add(add)))
    }
}

/// As [`gather`](super::gather); stops before the first integer that needs the checked path.
pub(super) fn gather(blocks: Blocks<'_>, numbers: Numbers, indices: &[u32], out: &mut [i64]) -> usize {
    // SAFETY: `each_part` passes only indices whose headers lie in the table.
    let find = |indices: &[u32], places: &mut Places| unsafe { places.find_from(0, blocks, indices) };
    // SAFETY: `find` stops before a place with fewer than eight bytes after it.
    unsafe { each_part(blocks, numbers, indices, out, find) }
}

#[inline(always)]
fn each_packed<T>(
    packed: Packed<'_>,
    count: u64,
    indices: &[u32],
    out: &mut [T],
    value: impl Fn(u64) -> T,
) -> usize {
    let Packed { section, payload, width, slope } = packed;
    let Some(bytes) = section.bytes.get(payload..) else { return 0 };
    let Some(last) = bytes.len().checked_sub(WORD) else { return 0 };
    let (width, mask) = (u64::from(width), bits::mask(width));
    // Integers before `end` exist, and begin at byte `last` at the latest.
    let end = (last as u64 * 8 + 7).checked_div(width).map_or(count, |most| count.min(most + 1));
    let Some(most) = end.checked_sub(1) else { return 0 };
    let all = all_at_most(indices, u32::try_from(most).unwrap_or(u32::MAX));
    let indices = &indices[..count_leading(indices, end, all)];
    // SAFETY: `index` is one of `indices`, which begin at byte `last` at the latest.
    let residual = |index: u32| unsafe { word(bytes, u64::from(index) * width / 8) } >> (u64::from(index) * width % 8) & mask;
    let place = |index: u32| payload as u64 + u64::from(index) * width / 8;
    if slope == 0 {
        return each_verified(&section, indices, out, place, |index| value(residual(index)));
    }
    each_verified(&section, indices, out, place, |index| {
        value(residual(index).wrapping_add(line(slope, index as usize)))
    })
}

/// Writes the values of `indices`, up to the first whose eight bytes are not verified.
#[inline(always)]
fn each_verified<T>(
    section: &PartlyVerified<'_>,
    indices: &[u32],
    out: &mut [T],
    place: impl Fn(u32) -> u64,
    value: impl Fn(u32) -> T,
) -> usize {
    if section.granules.is_none() {
        indices.iter().zip(out).for_each(|(&index, out)| *out = value(index));
        return indices.len();
    }
    let mut done = 0;
    for (indices, out) in indices.chunks(INDICES_PER_PASS).zip(out.chunks_mut(INDICES_PER_PASS)) {
        let mut good = VerifiedCheck::new(section);
        for (&index, out) in indices.iter().zip(out) {
            good.ask(place(index));
            *out = value(index);
        }
        let found = good.first(indices.iter().map(|&index| place(index)));
        done += found;
        if found < indices.len() {
            break;
        }
    }
    done
}

/// The number of leading `indices` below `end`; `all` says whether all are.
#[inline(always)]
fn count_leading(indices: &[u32], end: u64, all: bool) -> usize {
    if all { indices.len() } else { indices.iter().take_while(|&&index| u64::from(index) < end).count() }
}

/// The little-endian word at `at`.
///
/// # Safety
///
/// They lie in `bytes`.
#[inline(always)]
unsafe fn word(bytes: &[u8], at: u64) -> u64 {
    // SAFETY: as the caller promises. The read may be unaligned, and every bit pattern is a `u64`.
    u64::from_le(unsafe { bytes.as_ptr().wrapping_add(at as usize).cast::<u64>().read_unaligned() })
}

/// Checks without a branch whether the eight bytes at each of some places are verified.
struct VerifiedCheck<'a> {
    section: &'a PartlyVerified<'a>,
    /// The lowest bit is set if the first byte of each place is verified.
    all: u64,
    /// Whether some words cross into another granule.
    cross: bool,
}

impl<'a> VerifiedCheck<'a> {
    #[inline(always)]
    fn new(section: &'a PartlyVerified<'a>) -> VerifiedCheck<'a> {
        VerifiedCheck { section, all: 1, cross: false }
    }

    #[inline(always)]
    fn ask(&mut self, at: u64) {
        if let Some(granules) = self.section.granules {
            let granule = at as usize / GRANULE;
            self.all &= granules.get(granule / 64).map_or(0, PartlyVerified::load) >> (granule % 64);
            self.cross |= at as usize % GRANULE > GRANULE - WORD;
        }
    }

    /// The number of leading `places` that are verified, usually all. `places` must be those that were asked.
    #[inline(always)]
    fn first(self, mut places: impl ExactSizeIterator<Item = u64>) -> usize {
        let len = places.len();
        if self.all & 1 == 1 && !self.cross {
            return len;
        }
        let is_good = |granule| self.section.is_good(granule);
        places
            .position(|at| !(is_good(at as usize / GRANULE) && is_good((at as usize + WORD - 1) / GRANULE)))
            .unwrap_or(len)
    }
}

/// The places of some integers, as a structure of arrays.
#[repr(align(64))]
pub(super) struct Places {
    pub(super) byte: [u64; INDICES_PER_PASS],
    pub(super) shift: [u64; INDICES_PER_PASS],
    pub(super) mask: [u64; INDICES_PER_PASS],
    pub(super) add: [u64; INDICES_PER_PASS],
}

/// Gathers integers in parts of [`INDICES_PER_PASS`]: `find` computes their places, then their words are loaded.
/// `find` is called only for indices that exist and whose headers lie in the table.
///
/// # Safety
///
/// `find` returns the number of leading places that it wrote, and from each of these eight bytes lie in the section.
#[inline(always)]
pub(super) unsafe fn each_part(
    blocks: Blocks<'_>,
    numbers: Numbers,
    indices: &[u32],
    out: &mut [i64],
    find: impl Fn(&[u32], &mut Places) -> usize,
) -> usize {
    let headers = match blocks.stride {
        Stride::Short => blocks.table.bytes.len() / Stride::Short as usize,
        Stride::Long => blocks.table.bytes.len() / Stride::Long as usize,
    };
    let end = numbers.count.min((headers as u64) << blocks.shift);
    let indices = &indices[..count_leading(indices, end, u64::from(min_max(indices).1) < end)];
    let mut places = Places {
        byte: [0; INDICES_PER_PASS],
        shift: [0; INDICES_PER_PASS],
        mask: [0; INDICES_PER_PASS],
        add: [0; INDICES_PER_PASS],
    };
    let mut done = 0;
    for (indices, out) in indices.chunks(INDICES_PER_PASS).zip(out.chunks_mut(INDICES_PER_PASS)) {
        let found = find(indices, &mut places);
        // SAFETY: as the caller promises of the first `found` places.
        let loaded = unsafe { places.load(&blocks.section, numbers.add, &mut out[..found]) };
        done += loaded;
        if loaded < indices.len() {
            break;
        }
    }
    done
}

impl Places {
    /// Computes the places of `indices` from `start` on, up to the first that needs the checked path. Returns the
    /// number of places, including those before `start`.
    ///
    /// # Safety
    ///
    /// The header of each of `indices` lies in the table.
    #[inline(always)]
    pub(super) unsafe fn find_from(&mut self, start: usize, blocks: Blocks<'_>, indices: &[u32]) -> usize {
        match blocks.stride {
            // SAFETY: as the caller promises.
            Stride::Short => unsafe { self.find_by::<{ Stride::Short as usize }>(start, blocks, indices) },
            // SAFETY: as above.
            Stride::Long => unsafe { self.find_by::<{ Stride::Long as usize }>(start, blocks, indices) },
        }
    }

    /// # Safety
    ///
    /// As above; headers have `HEADER` bytes.
    #[inline(always)]
    unsafe fn find_by<const HEADER: usize>(
        &mut self,
        start: usize,
        blocks: Blocks<'_>,
        indices: &[u32],
    ) -> usize {
        let Blocks { table, section, stride, shift } = blocks;
        let Some(last) = section.bytes.len().checked_sub(WORD) else { return 0 };
        let indices = &indices[..indices.len().min(INDICES_PER_PASS)];
        #[expect(clippy::needless_range_loop, reason = "an iterator with `skip` keeps its state in memory")]
        for at in start..indices.len() {
            let index = indices[at];
            let header = (index >> shift) as usize * HEADER;
            if !table.is_good(header / GRANULE) {
                return at;
            }
            // SAFETY: as the caller promises. A granule has a whole number of headers.
            let header = unsafe { &*table.bytes.as_ptr().wrapping_add(header).cast::<[u8; HEADER]>() };
            let Some(block) = Block::of(header, stride) else { return at };
            let i = index & ((1 << shift) - 1);
            let bit = u64::from(i) * u64::from(block.width);
            let byte = block.payload + bit / 8;
            if byte > last as u64 {
                return at;
            }
            prefetch(section.bytes.as_ptr().wrapping_add(byte as usize));
            self.byte[at] = byte;
            self.shift[at] = bit % 8;
            self.mask[at] = bits::MASKS[usize::from(block.width)];
            self.add[at] = block.base.wrapping_add(line(block.slope, i as usize));
        }
        indices.len()
    }

    /// Loads the numbers at the first places into `out`, with `add` added to each, up to one whose bytes are not
    /// verified. Returns how many.
    ///
    /// # Safety
    ///
    /// From each of these places on, eight bytes lie in the section.
    #[inline(always)]
    unsafe fn load(&self, section: &PartlyVerified<'_>, add: i64, out: &mut [i64]) -> usize {
        // SAFETY: as the caller promises.
        let residual =
            |at: usize| unsafe { word(section.bytes, self.byte[at]) } >> self.shift[at] & self.mask[at];
        let number = |at: usize| residual(at).wrapping_add(self.add[at]).cast_signed().wrapping_add(add);
        let len = out.len().min(INDICES_PER_PASS);
        let mut good = VerifiedCheck::new(section);
        self.byte[..len].iter().for_each(|&at| good.ask(at));
        let len = good.first(self.byte[..len].iter().copied());
        out[..len].iter_mut().enumerate().for_each(|(at, out)| *out = number(at));
        len
    }
}
