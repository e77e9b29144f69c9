//! Packed integers at any places, eight at a time, on CPUs that load eight places at once.
//!
//! A value of a column with several blocks is a jump entry, some arithmetic, and a load that depends on
//! both. Done for eight values in a few instructions each, there are so few instructions a value that
//! the processor has dozens of loads under way, and no prefetching helps any more. Measured over 10
//! million values of 24 bits in no order: 8.0 ns one after the other, 4.5 with prefetching, 3.5 so.
//!
//! The kernels stop before the first group of eight that holds anything unusual. The caller goes on from
//! there one by one, which gives the same numbers, and the errors.

use crate::numeric::Stride;

/// Blocks of packed integers, as [`Block`](crate::numeric::Block) draws their headers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks<'a> {
    /// Their headers, in bytes of `stride` each.
    pub(crate) table: &'a [u8],
    pub(crate) stride: Stride,
    /// The section that payload offsets count in, up to the last byte that a load may touch.
    pub(crate) section: &'a [u8],
    /// The logarithm of the integers in a block.
    pub(crate) shift: u8,
}

/// The numbers (base, line and residual added up) at `indices` of `blocks`, from the first one on, as far
/// as it goes: returns how many were written.
#[inline]
pub(crate) fn gather(blocks: Blocks<'_>, indices: &[u32], out: &mut [i64]) -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if super::wide::has_avx512() {
        // SAFETY: the line above: this CPU has every feature that the function is compiled for.
        #[allow(unsafe_code, reason = "the features were found")]
        return unsafe { x86::gather(blocks, indices, out) };
    }
    let _ = (blocks, indices, out);
    0
}

/// The same of integers of `width` bits that begin at the first bit of `bytes`, with `base` added.
#[inline]
pub(crate) fn gather_packed(bytes: &[u8], width: u8, base: u64, indices: &[u32], out: &mut [i64]) -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if super::wide::has_avx512() {
        // SAFETY: the line above: this CPU has every feature that the function is compiled for.
        #[allow(unsafe_code, reason = "the features were found")]
        return unsafe { x86::gather_packed(bytes, width, base, indices, out) };
    }
    let _ = (bytes, width, base, indices, out);
    0
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code, reason = "intrinsics; each use has its proof")]
mod x86 {
    use std::arch::x86_64::*;

    use super::Blocks;
    use crate::bits::{MAX_SPLIT_WIDTH, mask};
    use crate::numeric::Stride;

    /// Integers of a group.
    const GROUP: usize = 8;

    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) fn gather(blocks: Blocks<'_>, indices: &[u32], out: &mut [i64]) -> usize {
        let mut done = 0;
        let Some(lanes) = Lanes::new(blocks) else { return 0 };
        for (indices, out) in indices.as_chunks::<GROUP>().0.iter().zip(out.as_chunks_mut::<GROUP>().0) {
            let Some(numbers) = lanes.numbers(indices) else { break };
            // SAFETY: `out` is eight i64s, 64 bytes.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), numbers) };
            done += GROUP;
        }
        done
    }

    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) fn gather_packed(
        bytes: &[u8],
        width: u8,
        base: u64,
        indices: &[u32],
        out: &mut [i64],
    ) -> usize {
        let ones = |x: u64| _mm512_set1_epi64(x.cast_signed());
        let Some(last_word) = bytes.len().checked_sub(8).filter(|_| width <= MAX_SPLIT_WIDTH) else {
            return 0;
        };
        let (width, mask, base, last) =
            (ones(width.into()), ones(mask(width)), ones(base), ones(last_word as u64));
        let mut done = 0;
        for (indices, out) in indices.as_chunks::<GROUP>().0.iter().zip(out.as_chunks_mut::<GROUP>().0) {
            // SAFETY: eight u32s are 32 bytes.
            let indices = unsafe { _mm256_loadu_si256(indices.as_ptr().cast()) };
            let bit = _mm512_mul_epu32(_mm512_cvtepu32_epi64(indices), width);
            let byte = _mm512_srli_epi64::<3>(bit);
            if _mm512_cmpgt_epu64_mask(byte, last) != 0 {
                break;
            }
            // SAFETY: in each lane, `byte` and the 8 bytes from it on lie in `bytes`.
            let words = unsafe { _mm512_i64gather_epi64::<1>(byte, bytes.as_ptr().cast()) };
            let x = _mm512_and_si512(_mm512_srlv_epi64(words, _mm512_and_si512(bit, ones(7))), mask);
            let numbers = _mm512_add_epi64(x, base);
            // SAFETY: `out` is eight i64s, 64 bytes.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), numbers) };
            done += GROUP;
        }
        done
    }

    /// What is the same for all groups, once in each lane.
    struct Lanes<'a> {
        blocks: Blocks<'a>,
        long: bool,
        /// The last byte of the table with a whole header behind it.
        last_header: __m512i,
        /// The last byte of the section with eight bytes behind it.
        last_word: __m512i,
    }

    impl<'a> Lanes<'a> {
        #[target_feature(enable = "avx512f,avx512dq")]
        #[inline]
        fn new(blocks: Blocks<'a>) -> Option<Lanes<'a>> {
            let lane = |at: usize| Some(_mm512_set1_epi64(i64::try_from(at).ok()?));
            Some(Lanes {
                blocks,
                long: blocks.stride == Stride::Long,
                last_header: lane(blocks.table.len().checked_sub(blocks.stride.bytes())?)?,
                last_word: lane(blocks.section.len().checked_sub(8)?)?,
            })
        }

        /// Eight numbers; `None` if one of them is for whoever makes errors.
        #[target_feature(enable = "avx512f,avx512dq")]
        #[inline]
        fn numbers(&self, indices: &[u32; GROUP]) -> Option<__m512i> {
            let ones = |x: i64| _mm512_set1_epi64(x);
            // SAFETY: eight u32s are 32 bytes.
            let indices = unsafe { _mm256_loadu_si256(indices.as_ptr().cast()) };
            let indices = _mm512_cvtepu32_epi64(indices);
            let shift = _mm_cvtsi32_si128(self.blocks.shift.into());
            let i = _mm512_andnot_si512(_mm512_sll_epi64(ones(-1), shift), indices);
            let stride = if self.long { 5 } else { 4 };
            let at = _mm512_sll_epi64(_mm512_srl_epi64(indices, shift), _mm_cvtsi32_si128(stride));
            if _mm512_cmpgt_epu64_mask(at, self.last_header) != 0 {
                return None;
            }
            let table = self.blocks.table.as_ptr();
            // SAFETY: in each lane, `at` and the 16 bytes behind it lie in the table: it is not above
            // `last_header`, which leaves a header, and none is shorter.
            let base = unsafe { _mm512_i64gather_epi64::<1>(at, table.cast()) };
            // SAFETY: as above.
            let tags = unsafe { _mm512_i64gather_epi64::<1>(at, table.wrapping_add(8).cast()) };

            let (tag, low) = (_mm512_and_si512(tags, ones(0xFF)), ones(0xFF));
            let width = _mm512_and_si512(_mm512_srli_epi64::<8>(tags), low);
            let line = _mm512_cmpeq_epi64_mask(tag, ones(2));
            let none = _mm512_cmpeq_epi64_mask(width, _mm512_setzero_si512());
            let constant = _mm512_cmpeq_epi64_mask(tag, _mm512_setzero_si512());
            // A constant block has no width, a packed one has some; lines have both.
            let illegal = _mm512_cmpgt_epu64_mask(tag, ones(2))
                | _mm512_cmpgt_epu64_mask(width, ones(MAX_SPLIT_WIDTH.into()))
                | (none ^ constant) & !line
                | if self.long { 0 } else { line };
            // Places have at most 32 bits, and widths fewer.
            let bit = _mm512_mul_epu32(i, width);
            let payload = _mm512_slli_epi64::<3>(_mm512_srli_epi64::<16>(tags));
            let byte = _mm512_add_epi64(payload, _mm512_srli_epi64::<3>(bit));
            if illegal | _mm512_cmpgt_epu64_mask(byte, self.last_word) != 0 {
                return None;
            }
            // SAFETY: in each lane, `byte` and the 8 bytes from it on lie in the section.
            let words = unsafe { _mm512_i64gather_epi64::<1>(byte, self.blocks.section.as_ptr().cast()) };
            // A shift by 64 leaves nothing.
            let mask = _mm512_srlv_epi64(ones(-1), _mm512_sub_epi64(ones(64), width));
            let x = _mm512_srlv_epi64(words, _mm512_and_si512(bit, ones(7)));
            let number = _mm512_add_epi64(base, _mm512_and_si512(x, mask));
            if line == 0 {
                return Some(number);
            }
            let (zero, slopes) = (_mm512_setzero_si512(), table.wrapping_add(16).cast());
            // SAFETY: as with `base`, in the lanes of lines: headers are long, and so 32 bytes.
            let slope = unsafe { _mm512_mask_i64gather_epi64::<1>(zero, line, at, slopes) };
            // In two halves, as `line` has it: the product may pass 64 bits.
            let whole = _mm512_mullo_epi64(_mm512_srai_epi64::<16>(slope), i);
            let fraction = _mm512_mullo_epi64(_mm512_and_si512(slope, ones(0xFFFF)), i);
            let rise = _mm512_add_epi64(whole, _mm512_srli_epi64::<16>(fraction));
            Some(_mm512_add_epi64(number, rise))
        }
    }
}
