//! Which memory will be asked for soon?
#![allow(unsafe_code, reason = "a hint for the processor; each use has its proof")]

/// Brings the cache line of `byte` nearer, if the processor cares to.
///
/// What a batch does for all its values before it loads the first of them: as many lines are then on their way as the
/// memory can bring at once, and not as many as the processor looks ahead. Neither reads nor faults, whatever the
/// address, so that it may be anywhere; does nothing on processors other than x86-64 and AArch64.
#[inline(always)]
pub fn prefetch(byte: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which neither reads nor faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(byte.cast()) };
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    {
        // SAFETY: a hint, which neither reads nor faults, whatever the address.
        unsafe {
            std::arch::asm!("prfm pldl1keep, [{byte}]", byte = in(reg) byte, options(nostack, preserves_flags, readonly));
        }
    }
    let _ = byte;
}
