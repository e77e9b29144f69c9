//! Prefetch hints for the processor.
#![allow(unsafe_code, reason = "a hint for the processor; each use has its proof")]

/// Prefetches the cache line of `byte`.
///
/// A batch prefetches all its values before it loads the first one. Then as many loads are in flight as the memory
/// allows, and not only as many as fit the processor's reorder buffer. The hint never faults, so `byte` may be any
/// address. It does nothing on processors other than x86-64 and AArch64.
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
