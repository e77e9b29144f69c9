//! Packed integers at any places, eight at a time, on CPUs that load eight places at once.
//!
//! A value of a column with several blocks is a jump entry, some arithmetic, and a load that depends on
//! both. Done for eight values in a few instructions each, there are so few instructions a value that
//! the processor has dozens of loads under way, and no prefetching helps any more. Measured over 10
//! million values of 24 bits in no order: 8.0 ns one after the other, 4.5 with prefetching, 3.5 so.
//!
//! The kernels stop before the first group of eight that holds anything unusual, such as a byte that was
//! never compared with its checksum. The caller goes on from there one by one, which gives the same
//! numbers, and the errors.

use crate::numeric::Stride;
use crate::source::Touched;

/// Blocks of packed integers, as [`Block`](crate::numeric::Block) draws their headers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks<'a> {
    /// Their headers, in bytes of `stride` each.
    pub(crate) table: Touched<'a>,
    pub(crate) stride: Stride,
    /// The section that payload offsets count in, up to the last byte that a load may touch.
    pub(crate) section: Touched<'a>,
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

/// Integers of one width, packed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packed<'a> {
    /// Where they lie, up to the last byte that a load may touch.
    pub(crate) section: Touched<'a>,
    /// The byte with the first integer's first bit.
    pub(crate) payload: usize,
    pub(crate) width: u8,
    /// What is added to each.
    pub(crate) base: u64,
}

/// The same of integers that need no header.
#[inline]
pub(crate) fn gather_packed(packed: Packed<'_>, indices: &[u32], out: &mut [i64]) -> usize {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if super::wide::has_avx512() {
        // SAFETY: the line above: this CPU has every feature that the function is compiled for.
        #[allow(unsafe_code, reason = "the features were found")]
        return unsafe { x86::gather_packed(packed, indices, out) };
    }
    let _ = (packed, indices, out);
    0
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code, reason = "intrinsics; each use has its proof")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Blocks, Packed};
    use crate::bits::{MAX_SPLIT_WIDTH, mask};
    use crate::granule::GRANULE;
    use crate::numeric::Stride;
    use crate::source::Touched;

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
    pub(super) fn gather_packed(packed: Packed<'_>, indices: &[u32], out: &mut [i64]) -> usize {
        let Packed { section, payload, width, base } = packed;
        let ones = |x: u64| _mm512_set1_epi64(x.cast_signed());
        let last_word = section.bytes.len().checked_sub(8).filter(|_| width <= MAX_SPLIT_WIDTH);
        let Some(last) = last_word.map(|at| ones(at as u64)) else { return 0 };
        let (payload, width, mask, base) =
            (ones(payload as u64), ones(width.into()), ones(mask(width)), ones(base));
        let mut done = 0;
        for (indices, out) in indices.as_chunks::<GROUP>().0.iter().zip(out.as_chunks_mut::<GROUP>().0) {
            // SAFETY: eight u32s are 32 bytes.
            let indices = unsafe { _mm256_loadu_si256(indices.as_ptr().cast()) };
            let bit = _mm512_mul_epu32(_mm512_cvtepu32_epi64(indices), width);
            let byte = _mm512_add_epi64(_mm512_srli_epi64::<3>(bit), payload);
            if _mm512_cmpgt_epu64_mask(byte, last) != 0 || !good(&section, byte) {
                break;
            }
            // SAFETY: in each lane, `byte` and the 8 bytes from it on lie in the section.
            let words = unsafe { _mm512_i64gather_epi64::<1>(byte, section.bytes.as_ptr().cast()) };
            let x = _mm512_and_si512(_mm512_srlv_epi64(words, _mm512_and_si512(bit, ones(7))), mask);
            let numbers = _mm512_add_epi64(x, base);
            // SAFETY: `out` is eight i64s, 64 bytes.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), numbers) };
            done += GROUP;
        }
        done
    }

    /// Whether the words of eight bytes at all of `places` are known to be good.
    #[target_feature(enable = "avx512f,avx512dq")]
    #[inline]
    fn good(section: &Touched<'_>, places: __m512i) -> bool {
        if section.granules.is_none() {
            return true;
        }
        // Whoever asks for bytes of two granules is unusual.
        let within = _mm512_and_si512(places, _mm512_set1_epi64(GRANULE as i64 - 1));
        let mut lanes = [0; GROUP];
        // SAFETY: `lanes` is eight u64s, 64 bytes.
        unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), places) };
        _mm512_cmpgt_epu64_mask(within, _mm512_set1_epi64(GRANULE as i64 - 8)) == 0 && section.good(&lanes)
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
                last_header: lane(blocks.table.bytes.len().checked_sub(blocks.stride.bytes())?)?,
                last_word: lane(blocks.section.bytes.len().checked_sub(8)?)?,
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
            // A header lies in one granule: granules begin where headers do.
            if _mm512_cmpgt_epu64_mask(at, self.last_header) != 0 || !good(&self.blocks.table, at) {
                return None;
            }
            let table = self.blocks.table.bytes.as_ptr();
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
            let outside = _mm512_cmpgt_epu64_mask(byte, self.last_word);
            if illegal | outside != 0 || !good(&self.blocks.section, byte) {
                return None;
            }
            // SAFETY: in each lane, `byte` and the 8 bytes from it on lie in the section.
            let words =
                unsafe { _mm512_i64gather_epi64::<1>(byte, self.blocks.section.bytes.as_ptr().cast()) };
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
            let whole = _mm512_srai_epi64::<16>(slope);
            let half = _mm512_srai_epi64::<32>(_mm512_slli_epi64::<32>(whole));
            let whole = match _mm512_cmpneq_epi64_mask(whole, half) {
                // The usual one takes a third of the time.
                0 => _mm512_mul_epi32(whole, i),
                _ => _mm512_mullo_epi64(whole, i),
            };
            let fraction = _mm512_mul_epu32(_mm512_and_si512(slope, ones(0xFFFF)), i);
            let rise = _mm512_add_epi64(whole, _mm512_srli_epi64::<16>(fraction));
            Some(_mm512_add_epi64(number, rise))
        }
    }
}
