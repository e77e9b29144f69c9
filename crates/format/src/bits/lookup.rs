//! Many look-ups in one small table.
//!
//! Eight entries are a register of AVX-512, and sixteen are two: there a look-up is a permutation, and
//! takes no load. The plain loop defines the right answer.

/// Entries of a table, at most: what a byte tells apart.
pub(crate) const ENTRIES: usize = 256;

/// Replaces each number, which is a place in `table`, by the entry there; returns the largest place.
///
/// A place beyond the table gives some entry: whoever cares looks at the largest.
///
/// # Panics
///
/// If the table has not 8, 16 or [`ENTRIES`] entries.
#[inline]
pub(crate) fn look_up(table: &[i64], numbers: &mut [i64]) -> u64 {
    assert!([8, 16, ENTRIES].contains(&table.len()), "a table of {} entries", table.len());
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    return x86::look_up(table, numbers);
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    look_up_plain(table, numbers)
}

#[inline]
fn look_up_plain(table: &[i64], numbers: &mut [i64]) -> u64 {
    let mut largest = 0;
    for number in numbers {
        let place = number.cast_unsigned();
        largest = largest.max(place);
        // Lengths are powers of two, and at most that of what a byte tells apart.
        *number = table[usize::from(place.to_le_bytes()[0]) & (table.len() - 1)];
    }
    largest
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[allow(unsafe_code, reason = "intrinsics; each use has its proof")]
mod x86 {
    use std::arch::x86_64::*;

    pub(super) fn look_up(table: &[i64], numbers: &mut [i64]) -> u64 {
        let few = table.len() <= 16 && crate::bits::cpu_has!("avx512f");
        match (few, table.first_chunk(), table.last_chunk()) {
            // SAFETY: `few`: this CPU has AVX-512 F.
            (true, Some(low), Some(high)) => unsafe { in_registers(table, low, high, numbers) },
            _ => super::look_up_plain(table, numbers),
        }
    }

    /// `low` and `high` are the first and the last eight entries of `table`, which may be the same ones.
    #[target_feature(enable = "avx512f")]
    fn in_registers(table: &[i64], low: &[i64; 8], high: &[i64; 8], numbers: &mut [i64]) -> u64 {
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
        _mm512_reduce_max_epu64(largest).max(super::look_up_plain(table, rest))
    }
}
