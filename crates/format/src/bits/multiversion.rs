//! Plain loops, compiled for the widest registers of the CPU they run on.

/// Declares functions that are compiled for AVX-512, for AVX2 and for any CPU, where the architecture has
/// these; which one runs is decided when it is called.
///
/// For loops over slices, which the compiler then makes vectors of; what they call must be
/// `inline(always)`, or is compiled for any CPU.
macro_rules! multiversion {
    ($(
        $(#[$about:meta])*
        $visibility:vis fn $name:ident $(<$number:ident: $bound:ident>)? (
            $($argument:ident: $type:ty),* $(,)?
        ) $(-> $result:ty)? $body:block
    )*) => { $(
        $(#[$about])*
        #[inline]
        $visibility fn $name $(<$number: $bound>)? ($($argument: $type),*) $(-> $result)? {
            #[inline(always)]
            fn portable $(<$number: $bound>)? ($($argument: $type),*) $(-> $result)? $body

            #[cfg(all(target_arch = "x86_64", not(miri)))]
            #[allow(unsafe_code, reason = "the compiler cannot see that the CPU was asked")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
                fn avx512 $(<$number: $bound>)? ($($argument: $type),*) $(-> $result)? {
                    portable($($argument),*)
                }

                #[target_feature(enable = "avx2,bmi2,popcnt")]
                fn avx2 $(<$number: $bound>)? ($($argument: $type),*) $(-> $result)? {
                    portable($($argument),*)
                }

                if $crate::bits::has_avx512() {
                    // SAFETY: the line above: this CPU has every feature that the function is compiled for.
                    return unsafe { avx512($($argument),*) };
                }
                if $crate::bits::has_avx2() {
                    // SAFETY: as above.
                    return unsafe { avx2($($argument),*) };
                }
            }
            portable($($argument),*)
        }
    )* };
}

pub(crate) use multiversion;
