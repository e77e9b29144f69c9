//! Batch look-ups in a table of up to 256 numbers.
//!
//! Tables of 8 or 16 entries fit vector registers, so a look-up is a permutation without a load, and packed indices
//! need not be unpacked to memory first. The scalar loop is the reference.

#[cfg(all(target_arch = "x86_64", not(miri)))]
use super::{by_cpu, unpack_kernels};

/// The most entries of a table: as many as a byte can index.
pub(crate) const ENTRIES: usize = 256;

/// Replaces each number, an index into `table`, by the entry there. Returns the largest index.
///
/// An index past the end gives an arbitrary entry, so the caller must check the largest index.
///
/// # Panics
///
/// If the table has not 8, 16 or [`ENTRIES`] entries.
#[inline]
pub(crate) fn look_up(table: &[i64], numbers: &mut [i64]) -> u64 {
    assert!([8, 16, ENTRIES].contains(&table.len()), "a table of {} entries", table.len());
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if let Some(registers) = x86::registers(table) {
        by_cpu!(x86::look_up(table, registers, numbers), x86::look_up_avx2(table, registers, numbers));
    }
    look_up_scalar(table, numbers)
}

/// As [`look_up`] for packed integers `start ..` of `width` bits, with `base` added to each. Handles as many from the
/// start as a kernel of this CPU can. Returns their number, and the largest index.
#[inline]
pub(crate) fn look_up_packed(
    table: &[i64],
    bytes: &[u8],
    width: u8,
    start: usize,
    base: u64,
    out: &mut [i64],
) -> (usize, u64) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if start.is_multiple_of(unpack_kernels::GROUP)
        && (1..=super::MAX_SPLIT_WIDTH).contains(&width)
        && let Some(registers) = x86::registers(table)
        && let Some(at) = (start / unpack_kernels::GROUP).checked_mul(width.into())
    {
        let bytes = bytes.get(at..).unwrap_or_default();
        by_cpu!(
            x86::look_up_packed(registers, bytes, width, base, out),
            x86::look_up_packed_avx2(table.len(), registers, bytes, width, base, out),
        );
    }
    let _ = (table, bytes, width, start, base, out);
    (0, 0)
}

#[inline]
fn look_up_scalar(table: &[i64], numbers: &mut [i64]) -> u64 {
    let mut largest = 0;
    for number in numbers {
        let place = number.cast_unsigned();
        largest = largest.max(place);
        // The length is a power of two up to 256, so the masked index is below it.
        *number = table[usize::from(place.to_le_bytes()[0]) & (table.len() - 1)];
    }
    largest
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code, reason = "intrinsics; each use has its proof")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::shuffles::{EIGHTS, Eights};
    use super::super::{mask, unpack_kernels};

    /// The first and the last eight entries of a table of 16; the same eight twice for a table of 8.
    pub(super) fn registers(table: &[i64]) -> Option<[&[i64; 8]; 2]> {
        let table = Some(table).filter(|table| table.len() <= 16)?;
        Some([table.first_chunk()?, table.last_chunk()?])
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn look_up(table: &[i64], [low, high]: [&[i64; 8]; 2], numbers: &mut [i64]) -> u64 {
        // SAFETY: eight i64s are 64 bytes.
        let low = unsafe { _mm512_loadu_si512(low.as_ptr().cast()) };
        // SAFETY: as above.
        let high = unsafe { _mm512_loadu_si512(high.as_ptr().cast()) };
        let mut largest = _mm512_setzero_si512();
        let (groups, rest) = numbers.as_chunks_mut::<8>();
        for group in groups {
            // SAFETY: as above.
            let places = unsafe { _mm512_loadu_si512(group.as_ptr().cast()) };
            largest = _mm512_max_epu64(largest, places);
            let entries = _mm512_permutex2var_epi64(low, places, high);
            // SAFETY: as above.
            unsafe { _mm512_storeu_si512(group.as_mut_ptr().cast(), entries) };
        }
        _mm512_reduce_max_epu64(largest).max(super::look_up_scalar(table, rest))
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn look_up_avx2(table: &[i64], registers: [&[i64; 8]; 2], numbers: &mut [i64]) -> u64 {
        let quarters = Quarters::new(table.len(), registers);
        // With the top bit flipped, signed comparison orders unsigned numbers.
        let sign = _mm256_set1_epi64x(i64::MIN);
        let mut largest = sign;
        let (groups, rest) = numbers.as_chunks_mut::<4>();
        for group in groups {
            // SAFETY: four i64s are 32 bytes.
            let places = unsafe { _mm256_loadu_si256(group.as_ptr().cast()) };
            let flipped = _mm256_xor_si256(places, sign);
            largest = _mm256_blendv_epi8(largest, flipped, _mm256_cmpgt_epi64(flipped, largest));
            let entries = quarters.look_up(places);
            // SAFETY: as above.
            unsafe { _mm256_storeu_si256(group.as_mut_ptr().cast(), entries) };
        }
        let largest = lanes(_mm256_xor_si256(largest, sign)).into_iter().fold(0, u64::max);
        largest.max(super::look_up_scalar(table, rest))
    }

    /// As [`look_up_packed`], four at a time, if no index has more than 31 bits.
    #[target_feature(enable = "avx2")]
    pub(super) fn look_up_packed_avx2(
        entries: usize,
        registers: [&[i64; 8]; 2],
        bytes: &[u8],
        width: u8,
        base: u64,
        out: &mut [i64],
    ) -> (usize, u64) {
        let (quarters, most) = (Quarters::new(entries, registers), base.saturating_add(mask(width)));
        if most > i32::MAX.unsigned_abs().into() {
            return (0, 0);
        }
        let mut largest = _mm256_setzero_si256();
        let (base, out) = (_mm256_set1_epi64x(base.cast_signed()), unpack_kernels::unsigned(out));
        let mut places = |residuals| {
            let places = _mm256_add_epi64(residuals, base);
            largest = _mm256_max_epi32(largest, places);
            places
        };
        let done = if most < 4 {
            // One permutation finds them all.
            let look_up =
                |residuals| _mm256_permutevar8x32_epi32(quarters.table[0], lanes_of(places(residuals)));
            unpack_kernels::x86::avx2_each(bytes, width, out, look_up)
        } else {
            unpack_kernels::x86::avx2_each(bytes, width, out, |residuals| quarters.look_up(places(residuals)))
        };
        (done, lanes(largest).into_iter().fold(0, u64::max))
    }

    /// A table of 8 or 16 entries, four in a register.
    struct Quarters {
        table: [__m256i; 4],
        /// Whether there are 8.
        is_half: bool,
    }

    impl Quarters {
        #[target_feature(enable = "avx2")]
        #[inline]
        fn new(entries: usize, [low, high]: [&[i64; 8]; 2]) -> Quarters {
            let quarter = |half: &[i64; 8], at: usize| {
                let four = &half[at..at + 4];
                // SAFETY: four i64s are 32 bytes.
                unsafe { _mm256_loadu_si256(four.as_ptr().cast()) }
            };
            let table = [quarter(low, 0), quarter(low, 4), quarter(high, 0), quarter(high, 4)];
            Quarters { table, is_half: entries == 8 }
        }

        /// The entries at four places.
        #[target_feature(enable = "avx2")]
        #[inline]
        fn look_up(&self, places: __m256i) -> __m256i {
            let lanes = lanes_of(places);
            let found = self.table.map(|quarter| _mm256_permutevar8x32_epi32(quarter, lanes));
            // Bit 2 of a place chooses one of two quarters, bit 3 one of these pairs: by what is the sign then.
            let (bit2, bit3) = (_mm256_slli_epi64::<61>(places), _mm256_slli_epi64::<60>(places));
            let low = choose(found[0], found[1], bit2);
            if self.is_half { low } else { choose(low, choose(found[2], found[3], bit2), bit3) }
        }
    }

    /// An entry is two lanes of 32 bits; of the four of a quarter, the lowest bits of a place choose one.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn lanes_of(places: __m256i) -> __m256i {
        let place = _mm256_shuffle_epi32::<0b10_10_00_00>(places);
        _mm256_add_epi32(_mm256_add_epi32(place, place), _mm256_set1_epi64x(0x1_0000_0000))
    }

    /// In each lane what is in `b` if `by` is negative, else what is in `a`.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn choose(a: __m256i, b: __m256i, by: __m256i) -> __m256i {
        let [a, b, by] = [a, b, by].map(|x| _mm256_castsi256_pd(x));
        _mm256_castpd_si256(_mm256_blendv_pd(a, b, by))
    }

    /// The four lanes as an array.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn lanes(x: __m256i) -> [u64; 4] {
        let mut lanes = [0; 4];
        // SAFETY: four u64s are 32 bytes.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), x) };
        lanes
    }

    /// The first integer begins with the first byte; its width is 1 to 56.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    pub(super) fn look_up_packed(
        [low, high]: [&[i64; 8]; 2],
        bytes: &[u8],
        width: u8,
        base: u64,
        out: &mut [i64],
    ) -> (usize, u64) {
        let step = usize::from(width);
        let Eights { bytes: pattern, shifts, .. } = &EIGHTS[step];
        // SAFETY: eight i64s are 64 bytes.
        let low = unsafe { _mm512_loadu_si512(low.as_ptr().cast()) };
        // SAFETY: as above.
        let high = unsafe { _mm512_loadu_si512(high.as_ptr().cast()) };
        // SAFETY: `pattern` and `shifts` are 64 bytes each.
        let pattern = unsafe { _mm512_loadu_si512(pattern.as_ptr().cast()) };
        // SAFETY: as above.
        let shifts = unsafe { _mm512_loadu_si512(shifts.as_ptr().cast()) };
        let mask = _mm512_set1_epi64(mask(width).cast_signed());
        let base = _mm512_set1_epi64(base.cast_signed());
        let mut largest = _mm512_setzero_si512();
        let (groups, _) = out.as_chunks_mut::<{ unpack_kernels::GROUP }>();
        let count = unpack_kernels::groups(bytes, step).min(groups.len());
        for (group, out) in groups.iter_mut().take(count).enumerate() {
            let from = bytes.as_ptr().wrapping_add(group * step);
            // SAFETY: `group < groups(…)`, which counts those with 64 bytes of `bytes` from `from` on.
            let window = unsafe { _mm512_loadu_si512(from.cast()) };
            let lanes = _mm512_srlv_epi64(_mm512_permutexvar_epi8(pattern, window), shifts);
            let places = _mm512_add_epi64(_mm512_and_si512(lanes, mask), base);
            largest = _mm512_max_epu64(largest, places);
            let entries = _mm512_permutex2var_epi64(low, places, high);
            // SAFETY: `out` is eight i64s, 64 bytes.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), entries) };
        }
        (count * unpack_kernels::GROUP, _mm512_reduce_max_epu64(largest))
    }
}
