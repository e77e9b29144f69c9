//! Batches of look-ups, compiled for each CPU: scalar, AVX2 and AVX-512.
//!
//! A batch detects the CPU once. Its whole loop is compiled for that CPU, with the loops of [`kernel`](super::kernel)
//! inlined. With AVX2 or AVX-512, most look-ups in dense blocks are made eight at a time: see module `dense_simd`.
//!
//! Measured in the cache, with 10 million documents of which 60 % have a value. Reading rank and value of 0.01 % of
//! them takes, in ascending order, 4.8 ns each with AVX-512, 6.6 with AVX2 and 13 with neither; in random order 9, 11
//! and 21.

use super::PresenceReader;
use super::kernel::AnyCpu;
use crate::error::Result;
use crate::id::DocId;
use crate::source::SectionBytes;

/// Documents as plain numbers, without a copy.
#[allow(unsafe_code, reason = "the standard library has no safe function for this")]
pub(super) fn numbers(docs: &[DocId]) -> &[u32] {
    let (len, start) = (docs.len(), docs.as_ptr().cast());
    // SAFETY: `DocId` is a transparent wrapper of `u32`, and the result borrows the slice.
    unsafe { std::slice::from_raw_parts(start, len) }
}

/// [`PresenceReader::ranks`] with the fastest loops of this CPU.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
pub(super) fn ranks<B: SectionBytes>(
    reader: &PresenceReader<B>,
    docs: &[DocId],
    out: &mut [u32],
) -> Result<()> {
    reader.ranks(docs, out, AnyCpu)
}
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(super) use x86::ranks;

/// Every version of [`ranks`] that this CPU can run, by name.
#[cfg(test)]
pub(super) fn every_ranks<B: SectionBytes>() -> Vec<(&'static str, Ranks<B>)> {
    let scalar: Ranks<B> = |reader, docs, out| reader.ranks(docs, out, AnyCpu);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    return x86::every_ranks().chain([("scalar", scalar)]).collect();
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    return vec![("scalar", scalar)];
}

/// The type of each version of [`ranks`].
#[cfg(test)]
pub(super) type Ranks<B> = fn(&PresenceReader<B>, &[DocId], &mut [u32]) -> Result<()>;

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code, reason = "intrinsics; each use has its proof")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::dense_simd::DenseBatch;
    use super::super::kernel::{BUCKET_HEAD, Kernel};
    use super::super::rank_verified::{BatchKernel, VerifiedBlocks};
    use super::*;
    use crate::bits::by_cpu;
    #[cfg(test)]
    use crate::bits::{has_avx2, has_avx512};

    #[inline]
    pub(in super::super) fn ranks<B: SectionBytes>(
        reader: &PresenceReader<B>,
        docs: &[DocId],
        out: &mut [u32],
    ) -> Result<()> {
        by_cpu!(ranks_avx512(reader, docs, out), ranks_avx2(reader, docs, out));
        reader.ranks(docs, out, AnyCpu)
    }

    #[target_feature(enable = "avx2,bmi2,popcnt")]
    fn ranks_avx2<B: SectionBytes>(
        reader: &PresenceReader<B>,
        docs: &[DocId],
        out: &mut [u32],
    ) -> Result<()> {
        reader.ranks(docs, out, Simd::<false>)
    }

    #[target_feature(enable = "avx2,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
    fn ranks_avx512<B: SectionBytes>(
        reader: &PresenceReader<B>,
        docs: &[DocId],
        out: &mut [u32],
    ) -> Result<()> {
        reader.ranks(docs, out, Simd::<true>)
    }

    #[cfg(test)]
    pub(super) fn every_ranks<B: SectionBytes>() -> impl Iterator<Item = (&'static str, Ranks<B>)> {
        let avx512: Ranks<B> = |reader, docs, out| {
            assert!(has_avx512());
            // SAFETY: the line above: this CPU has every feature that the function is compiled for.
            unsafe { ranks_avx512(reader, docs, out) }
        };
        let avx2: Ranks<B> = |reader, docs, out| {
            assert!(has_avx2());
            // SAFETY: the line above: this CPU has every feature that the function is compiled for.
            unsafe { ranks_avx2(reader, docs, out) }
        };
        let all = [("avx512", has_avx512(), avx512), ("avx2", has_avx2(), avx2)];
        all.into_iter().filter(|(_, has, _)| *has).map(|(name, _, ranks)| (name, ranks))
    }

    /// The vector kernels. Created only in functions that are compiled for AVX2, or, with `AVX512`, for AVX-512.
    #[derive(Clone, Copy)]
    struct Simd<const AVX512: bool>;

    impl<const AVX512: bool> Kernel for Simd<AVX512> {
        #[inline(always)]
        fn search(self, bytes: &[u8; BUCKET_HEAD], len: usize, byte: u8) -> (u32, bool) {
            match AVX512 {
                // SAFETY: `self` is created only on a CPU with every required feature.
                true => unsafe { search_avx512(bytes, len, byte) },
                // SAFETY: as above.
                false => unsafe { search_avx2(bytes, len, byte) },
            }
        }
    }

    impl<const AVX512: bool> BatchKernel for Simd<AVX512> {
        type DenseBatch<'a> = DenseBatch<'a>;

        #[inline(always)]
        fn dense_batch<'a>(self, blocks: VerifiedBlocks<'a>) -> Option<Self::DenseBatch<'a>> {
            DenseBatch::new(blocks)
        }

        #[inline(always)]
        fn ranks(self, batch: &mut DenseBatch<'_>, docs: &[DocId], out: &mut [u32]) -> usize {
            // SAFETY: `self` is created only on a CPU with every required feature.
            unsafe { batch.ranks::<AVX512>(docs, out) }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi2,popcnt")]
    fn search_avx2(bytes: &[u8; BUCKET_HEAD], len: usize, byte: u8) -> (u32, bool) {
        let wanted = _mm256_set1_epi8(byte.cast_signed());
        // Masks of the bytes at most `wanted`, and of those equal to it.
        let compare = |bytes: &[u8; 32]| {
            // SAFETY: 32 bytes.
            let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
            let at_most = _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, wanted), bytes);
            let bits = |x| u64::from(_mm256_movemask_epi8(x).cast_unsigned());
            (bits(at_most), bits(_mm256_cmpeq_epi8(bytes, wanted)))
        };
        let halves = bytes.as_chunks::<32>().0;
        let ((at_most, equal), (at_most_high, equal_high)) = (compare(&halves[0]), compare(&halves[1]));
        let (at_most, equal) = (at_most | at_most_high << 32, equal | equal_high << 32);
        #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
        let lanes = _bzhi_u64(u64::MAX, len as u32);
        ((at_most & !equal & lanes).count_ones(), equal & lanes != 0)
    }

    #[inline]
    #[target_feature(enable = "popcnt,bmi2,avx512f,avx512bw,avx512vl")]
    fn search_avx512(bytes: &[u8; BUCKET_HEAD], len: usize, byte: u8) -> (u32, bool) {
        // SAFETY: 64 bytes.
        let bytes = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
        let wanted = _mm512_set1_epi8(byte.cast_signed());
        #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
        let lanes = _bzhi_u64(u64::MAX, len as u32);
        let below = _mm512_cmplt_epu8_mask(bytes, wanted) & lanes;
        let found = _mm512_cmpeq_epu8_mask(bytes, wanted) & lanes;
        (below.count_ones(), found != 0)
    }
}
