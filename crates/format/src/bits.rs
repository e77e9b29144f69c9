//! Bit packing: small integers of `width` bits each, end to end, lowest bit first.
//!
//! # Layout
//!
//! The bytes are one little-endian number, and integer `i` is its bits `width * i ..`. It lies in the eight bytes
//! from byte `width * i / 8` on:
//!
//! ```text
//! width 3    byte 0     byte 1     byte 2
//!            22111000   54443332   77766655     each digit is a bit of the integer it names
//! ```
//!
//! A run of packed integers is padded with zero bits to a multiple of 8 bytes. Readers load up to [`OVERREAD`] bytes
//! past its end, so the layout must put something there.
//!
//! # Widths
//!
//! [`is_width`]: 0 to 56, and 64. An integer of at most 56 bits lies in a single eight-byte load, whichever bit of a
//! byte it begins at. Widths of 57 to 63 would need a second load to save less than 11 % of 64 bits.

use byteorder::{ByteOrder, LittleEndian};

/// Bytes after the last integer that a load may touch.
pub const OVERREAD: usize = 8;

/// The widest integer that a single eight-byte load holds, whichever bit of a byte it begins at.
pub const MAX_SPLIT_WIDTH: u8 = 56;

/// Whether integers of `width` bits can be packed.
#[inline]
pub const fn is_width(width: u8) -> bool {
    width <= MAX_SPLIT_WIDTH || width == 64
}

/// The narrowest legal width that holds every integer up to `max`.
#[inline]
pub const fn width_of(max: u64) -> u8 {
    match 64 - max.leading_zeros() {
        bits @ 0..=56 => {
            #[expect(clippy::cast_possible_truncation, reason = "at most 56")]
            {
                bits as u8
            }
        }
        _ => 64,
    }
}

/// The largest integer of `width` bits; a width above 64 counts as 64.
#[inline]
pub const fn mask(width: u8) -> u64 {
    !u64::MAX.unbounded_shl(width as u32)
}

/// [`mask`] of each width, because computing one without BMI2 takes six instructions.
pub(crate) static MASKS: [u64; 256] = {
    let (mut masks, mut width) = ([0; 256], 0);
    while width < masks.len() {
        #[expect(clippy::cast_possible_truncation, reason = "at most 255")]
        let bits = width as u8;
        masks[width] = mask(bits);
        width += 1;
    }
    masks
};

/// The positions of the set bits of every byte, ascending, then zeros.
pub(crate) static SET_BITS: [[u8; 8]; 256] = {
    let (mut table, mut byte) = ([[0; 8]; 256], 0);
    while byte < table.len() {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][count] = bit;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// Bytes that `count` integers of `width` bits occupy, padding included.
#[inline]
pub const fn packed_len(count: u64, width: u8) -> u64 {
    count.saturating_mul(width as u64).div_ceil(64).saturating_mul(8)
}

/// The first byte of the load for integer `index`, and how many of its bits belong to earlier integers.
///
/// `index` is a place in a block, below 2^40. A byte offset that does not fit a `usize` becomes `usize::MAX`, which
/// no slice has.
#[inline(always)]
pub(crate) fn place(width: u8, index: usize) -> (usize, u32) {
    let bit = (index as u64).wrapping_mul(width.into());
    (usize::try_from(bit / 8).unwrap_or(usize::MAX), (bit % 8) as u32)
}

/// Returns integer `index` of those that begin at the first bit of `bytes`.
///
/// Returns `None` if its eight bytes do not lie in `bytes`, or if `width` is illegal. An integer of width 0 has no
/// bytes and is always 0. O(1): one load.
#[inline]
pub fn get(bytes: &[u8], width: u8, index: usize) -> Option<u64> {
    let bit = index.checked_mul(width.into())?;
    match width {
        0 => Some(0),
        1..=MAX_SPLIT_WIDTH => Some(load(bytes, bit / 8)? >> (bit % 8) & mask(width)),
        64 => load(bytes, bit / 8),
        _ => None,
    }
}

/// Unpacks integers `start ..` into `out`, until it is full. Integer 0 begins at the first bit of `bytes`.
///
/// Returns `None` under the conditions of [`get`]; `out` is then partly filled.
#[inline]
pub fn unpack(bytes: &[u8], width: u8, start: usize, out: &mut [u64]) -> Option<()> {
    unpack_add(bytes, width, start, 0, out)
}

/// As [`unpack`], with `base` added to each integer, modulo 2^64. The addition is free inside the loop.
///
/// Unpacks eight at a time with the fastest kernel of the CPU. All kernels give the same integers.
pub fn unpack_add(bytes: &[u8], width: u8, start: usize, base: u64, out: &mut [u64]) -> Option<()> {
    start.checked_add(out.len())?.checked_mul(width.into())?;
    match (width, out.len().checked_sub(1)) {
        (1..=MAX_SPLIT_WIDTH, Some(last)) => {
            // The last load lies in `bytes`, so all loads do, and nothing below fails.
            load(bytes, (start + last) * usize::from(width) / 8)?;
            with_kernel(unpack_kernels::best(), bytes, width, start, base, out)
        }
        _ => unpack_scalar(bytes, width, start, base, out),
    }
}

/// Unpacks one integer after the other. This is the reference implementation for the kernels.
fn unpack_scalar(bytes: &[u8], width: u8, start: usize, base: u64, out: &mut [u64]) -> Option<()> {
    match width {
        0 => out.fill(base),
        1..=MAX_SPLIT_WIDTH => {
            let (width, mask) = (usize::from(width), mask(width));
            let mut bit = start * width;
            for value in out {
                *value = base.wrapping_add(load(bytes, bit / 8)? >> (bit % 8) & mask);
                bit += width;
            }
        }
        64 => {
            let words = bytes.get(start * 8..(start + out.len()) * 8)?;
            LittleEndian::read_u64_into(words, out);
            out.iter_mut().for_each(|value| *value = base.wrapping_add(*value));
        }
        _ => return None,
    }
    Some(())
}

/// Unpacks whole groups of eight by `kernel`. The integers before the first group and after the last one are unpacked
/// one by one, as are groups with less than a window of bytes.
fn with_kernel(
    kernel: unpack_kernels::Unpack,
    bytes: &[u8],
    width: u8,
    start: usize,
    base: u64,
    out: &mut [u64],
) -> Option<()> {
    let before = (start.next_multiple_of(unpack_kernels::GROUP) - start).min(out.len());
    let (head, rest) = out.split_at_mut(before);
    unpack_scalar(bytes, width, start, base, head)?;
    let first = start + before;
    if rest.is_empty() {
        return Some(());
    }
    let bytes = bytes.get(first / unpack_kernels::GROUP * usize::from(width)..)?;
    let done = kernel(bytes, width, base, rest);
    let (bytes, rest) = (bytes.get(done / unpack_kernels::GROUP * usize::from(width)..)?, &mut rest[done..]);
    if rest.len() < unpack_kernels::GROUP {
        return unpack_scalar(bytes, width, 0, base, rest);
    }
    // The last groups have less than a window of bytes, so they are copied and padded with zeros.
    let mut window = [0; 2 * unpack_kernels::WINDOW];
    let left = bytes.len().min(unpack_kernels::WINDOW);
    window[..left].copy_from_slice(&bytes[..left]);
    let done = kernel(&window, width, base, rest);
    unpack_scalar(&window, width, done, base, &mut rest[done..])
}

#[inline]
fn load(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk::<8>().map(|word| LittleEndian::read_u64(word))
}

mod bitset;
mod compare;
mod compare_packed;
mod compress;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod cpu_features;
mod multiversion;
mod narrow;
mod pack;
pub mod retain;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod shuffles;
mod table_lookup;
#[cfg(test)]
mod tests;
mod unpack_kernels;

pub use bitset::{PUSH_DOCS_SPARE, assign_all, count_ones, ones_of, or_at, push_docs, set_range};
pub(crate) use compare::{all_at_most, min_max};
pub use compare::{all_below, not_equal, ord_offsets, skip_below, skip_outside};
pub use compare_packed::in_range_packed;
pub use compress::{Lane, compress, compress_bits, compress_by_bits, deposit, expand};
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub use cpu_features::{has_avx2, has_avx512};
pub use multiversion::{Work, multiversioned};
pub(crate) use multiversion::{by_cpu, multiversion};
pub use narrow::{to_ords, unpack_ords};
pub use pack::pack;
pub(crate) use table_lookup::{ENTRIES, look_up, look_up_packed};
pub(crate) use unpack_kernels::in_range;
pub use unpack_kernels::{multiples, unsigned, within};
