//! Gather kernels: packed integers at arbitrary places.
//!
//! A value of a column with several blocks takes a jump entry, some arithmetic, and a load that depends on both.
//! Throughput depends on how many of these loads overlap, so kernels have few instructions for each value.
//!
//! | kernel | integers at a time | one block | several blocks |
//! | --- | ---: | --- | --- |
//! | `avx512` | 16, narrow ones alone | arithmetic in lanes, loads one by one | as in one block, where 16 lie in one |
//! | `avx2` | 4 | as `scalar` | headers and places of 64, in lanes; then their loads |
//! | `scalar` | 1 | a loop without branches | headers and places of 64; then their loads |
//!
//! A kernel leaves the cases that it does not handle to the one in the next line.
//!
//! Kernels compute in vectors but load each word separately. A gather instruction is slower than eight loads and the
//! shuffles that combine them, and a separate load can fetch a whole header.
//!
//! Kernels stop before the first integer or group that they cannot handle, such as one with an unverified byte. The
//! caller continues one by one, which gives the same numbers, and errors.

use super::Stride;
use crate::bits::by_cpu;
#[cfg(all(target_arch = "x86_64", not(miri)))]
use crate::bits::has_avx512;
use crate::id::TermOrd;
use crate::source::PartlyVerified;

/// Fewer indices in one block are left to `scalar`, which has less setup: twenty cached values take 58 ns instead of
/// 72 ns.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const AVX512_MIN: usize = 64;

/// The parameters of a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    /// The number of integers: kernels stop at an index that is not below it.
    pub(super) count: u64,
    /// Added to each number.
    pub(super) add: i64,
}

/// Blocks of packed integers, with headers as in [`Block`](super::Block).
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks<'a> {
    /// The headers, `stride` bytes each.
    pub(super) table: PartlyVerified<'a>,
    pub(super) stride: Stride,
    /// The section that payload offsets refer to, up to the last byte that a load may touch.
    pub(super) section: PartlyVerified<'a>,
    /// The binary logarithm of the number of integers in a block.
    pub(super) shift: u8,
}

/// Packed integers of one width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed<'a> {
    /// The section, up to the last byte that a load may touch.
    pub(super) section: PartlyVerified<'a>,
    /// The byte where the first integer begins.
    pub(super) payload: usize,
    pub(super) width: u8,
    /// The slope of the line that they are residuals from; 0 if there is none.
    pub(super) slope: i64,
}

/// Gathers the numbers (base, line and residual added up) at `indices` of `blocks`. Returns how many of the leading
/// ones were written.
#[inline]
pub(super) fn gather(blocks: Blocks<'_>, numbers: Numbers, indices: &[u32], out: &mut [i64]) -> usize {
    by_cpu!(avx512::gather(blocks, numbers, indices, out), avx2::gather(blocks, numbers, indices, out));
    scalar::gather(blocks, numbers, indices, out)
}

/// As [`gather`], for integers of one block.
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

/// As [`gather_packed`], for the `count` narrow integers of a block as ords, with `add` added to each. No sum may
/// exceed `u32::MAX`.
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
