//! Packed integers at any places, by the kernel of the CPU.
//!
//! A value of a column with several blocks is a jump entry, some arithmetic, and a load that depends on
//! both. What counts is how many of these loads are under way at once: so kernels have few instructions a value.
//!
//! | kernel | integers at a time | one block | several blocks |
//! | --- | ---: | --- | --- |
//! | `avx512` | 16, narrow ones alone | arithmetic in lanes, loads one by one | as in one block, where 16 lie in one |
//! | `avx2` | 4 | as `scalar` | headers and places of 64, in lanes; then their loads |
//! | `scalar` | 1 | a loop without branches | headers and places of 64; then their loads |
//!
//! Whatever a kernel is not for, it leaves to that of the line below.
//!
//! Kernels compute in vectors, but load each word by itself. A gather instruction takes longer than eight loads and the
//! shuffles that combine them, and such a load brings a whole header.
//!
//! The kernels stop before the first integer, or the first group, that is anything unusual, such as one with a byte that was
//! never compared with its checksum. The caller goes on from there one by one, which gives the same
//! numbers, and the errors.

use super::Stride;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use crate::bits::{has_avx2, has_avx512};
use crate::id::TermOrd;
use crate::source::PartlyVerified;

/// Fewer integers in one block are left to `scalar`, which has less to set up: 58 ns and not 72 for twenty, all in the cache.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const AVX512_MIN: usize = 64;

/// What is the same for all indices of a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    /// How many there are: an index past them is unusual.
    pub(super) count: u64,
    /// What is added to each.
    pub(super) add: i64,
}

/// Blocks of packed integers, as [`Block`](super::Block) draws their headers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks<'a> {
    /// Their headers, in bytes of `stride` each.
    pub(super) table: PartlyVerified<'a>,
    pub(super) stride: Stride,
    /// The section that payload offsets count in, up to the last byte that a load may touch.
    pub(super) section: PartlyVerified<'a>,
    /// The logarithm of the integers in a block.
    pub(super) shift: u8,
}

/// Integers of one width, packed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed<'a> {
    /// Where they lie, up to the last byte that a load may touch.
    pub(super) section: PartlyVerified<'a>,
    /// The byte with the first integer's first bit.
    pub(super) payload: usize,
    pub(super) width: u8,
    /// Of the line that they are residuals from; 0 if there is none.
    pub(super) slope: i64,
}

/// The numbers (base, line and residual added up) at `indices` of `blocks`, from the first one on, as far
/// as it goes: returns how many were written.
#[inline]
pub(super) fn gather(blocks: Blocks<'_>, numbers: Numbers, indices: &[u32], out: &mut [i64]) -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if has_avx512() {
        #[allow(unsafe_code, reason = "the features were found")]
        // SAFETY: the condition: this CPU has every feature that the function is compiled for.
        return unsafe { avx512::gather(blocks, numbers, indices, out) };
    }
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if has_avx2() {
        #[allow(unsafe_code, reason = "the features were found")]
        // SAFETY: as above.
        return unsafe { avx2::gather(blocks, numbers, indices, out) };
    }
    scalar::gather(blocks, numbers, indices, out)
}

/// The same of integers that need no header.
#[inline]
pub(super) fn gather_packed(packed: Packed<'_>, numbers: Numbers, indices: &[u32], out: &mut [i64]) -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[allow(unsafe_code, reason = "the features were found")]
    let done = if indices.len() >= AVX512_MIN && has_avx512() && packed.slope == 0 {
        // SAFETY: the condition: this CPU has every feature that the function is compiled for.
        unsafe { avx512::gather_packed(packed, numbers, indices, out) }
    } else {
        0
    };
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let done = 0;
    done + scalar::gather_packed(packed, numbers, &indices[done..], &mut out[done..])
}

/// The same of narrow integers as ords, of which `count` are there, with `add` added to each: no sum may pass a `u32`.
#[inline]
pub(super) fn gather_ords(
    packed: Packed<'_>,
    count: u64,
    add: u32,
    indices: &[u32],
    out: &mut [TermOrd],
) -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[allow(unsafe_code, reason = "the features were found")]
    let done = if indices.len() >= AVX512_MIN && has_avx512() {
        // SAFETY: the condition: this CPU has every feature that the function is compiled for.
        unsafe { avx512::gather_ords(packed, count, add, indices, out) }
    } else {
        0
    };
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let done = 0;
    done + scalar::gather_ords(packed, count, add, &indices[done..], &mut out[done..])
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod avx2;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod avx512;
mod scalar;
