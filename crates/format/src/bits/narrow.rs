//! Numbers that become half as wide.

/// Makes each number a `T`, by way of a `u32`; one that is none becomes `u32::MAX`.
///
/// # Panics
///
/// If `out` is not as long as `numbers`.
#[inline]
pub fn to_u32<T>(numbers: &[i64], out: &mut [T], make: impl Fn(u32) -> T) {
    assert_eq!(numbers.len(), out.len(), "one place for every number");
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if crate::bits::cpu_has!("avx512f") {
        // SAFETY: this CPU has AVX-512 F.
        #[allow(unsafe_code, reason = "the loop below, compiled for wider registers")]
        return unsafe { to_u32_avx512(numbers, out, make) };
    }
    to_u32_plain(numbers, out, make);
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[target_feature(enable = "avx512f")]
fn to_u32_avx512<T>(numbers: &[i64], out: &mut [T], make: impl Fn(u32) -> T) {
    to_u32_plain(numbers, out, make);
}

#[inline(always)]
fn to_u32_plain<T>(numbers: &[i64], out: &mut [T], make: impl Fn(u32) -> T) {
    /// Numbers that stay in the first-level cache from one pass to the next.
    const STRETCH: usize = 1024;
    for (numbers, out) in numbers.chunks(STRETCH).zip(out.chunks_mut(STRETCH)) {
        // Halves of all are taken where none is too large, as all CPUs can with several at once.
        let high = numbers.iter().fold(0, |high, number| high | number >> 32);
        for (number, out) in numbers.iter().zip(out) {
            // Negative numbers are the largest ones.
            let number =
                if high == 0 { number.cast_unsigned() } else { number.cast_unsigned().min(u32::MAX.into()) };
            #[expect(clippy::cast_possible_truncation, reason = "at most u32::MAX")]
            {
                *out = make(number as u32);
            }
        }
    }
}
