//! Function multiversioning: scalar loops that are compiled for several CPUs and chosen at run time.

/// Declares functions that are compiled three times: for AVX-512, for AVX2 and for any CPU. Each call picks the best
/// version that this CPU can run. On other architectures than x86-64 there is one version.
///
/// Use it for loops over slices that the compiler vectorizes. Functions called in the body must be `inline(always)`,
/// or they are compiled for the baseline CPU.
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
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
                fn avx512 $(<$number: $bound>)? ($($argument: $type),*) $(-> $result)? {
                    portable($($argument),*)
                }

                #[target_feature(enable = "avx2,bmi2,popcnt")]
                fn avx2 $(<$number: $bound>)? ($($argument: $type),*) $(-> $result)? {
                    portable($($argument),*)
                }

                $crate::bits::by_cpu!(avx512($($argument),*), avx2($($argument),*));
            }
            portable($($argument),*)
        }
    )* };
}

/// Returns the result of the call that this CPU can run: with AVX-512 that of the first one, with AVX2 that of the second.
/// Goes on with any other CPU. The functions may be compiled for the features that [`has_avx512`](super::has_avx512) and
/// [`has_avx2`](super::has_avx2) check, and for no others. They are safe but for these: the macro hides `unsafe`, and proves
/// nothing else.
macro_rules! by_cpu {
    ($avx512:expr, $avx2:expr $(,)?) => {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        #[allow(unsafe_code, clippy::macro_metavars_in_unsafe, reason = "the features were found")]
        {
            if $crate::bits::has_avx512() {
                // SAFETY: the line above: this CPU has every feature that the function is compiled for.
                return unsafe { $avx512 };
            }
            if $crate::bits::has_avx2() {
                // SAFETY: as above.
                return unsafe { $avx2 };
            }
        }
    };
}

/// Work to be compiled for several CPUs: a loop that a function of other crates calls, or that is generic.
pub trait Work {
    /// The result.
    type Output;

    /// Does the work. Must be `inline(always)`, as must what it calls, or it is compiled for the baseline CPU.
    fn run(self) -> Self::Output;
}

/// Does some work in the version for this CPU: with `popcnt`, BMI2 and AVX2, or without. Calls with little work lose more
/// than they gain, as nothing is inlined across this function.
///
/// ```
/// use docvalues_format::bits::{Work, multiversioned};
///
/// struct Count<'w>(&'w [u64]);
///
/// impl Work for Count<'_> {
///     type Output = u32;
///
///     #[inline(always)]
///     fn run(self) -> u32 {
///         self.0.iter().map(|word| word.count_ones()).sum()
///     }
/// }
///
/// assert_eq!(multiversioned(Count(&[0b1010, 1])), 3);
/// ```
#[inline]
pub fn multiversioned<W: Work>(work: W) -> W::Output {
    // Not inlined, as the other version is not: a caller has no copy of the work.
    #[inline(never)]
    fn portable<W: Work>(work: W) -> W::Output {
        work.run()
    }

    #[cfg(all(target_arch = "x86_64", not(miri)))]
    #[allow(unsafe_code, reason = "the compiler cannot see that the CPU's features were detected")]
    {
        #[target_feature(enable = "avx2,bmi2,popcnt")]
        fn avx2<W: Work>(work: W) -> W::Output {
            work.run()
        }

        if super::has_avx2() {
            // SAFETY: the line above: this CPU has every feature that the function is compiled for.
            return unsafe { avx2(work) };
        }
    }
    portable(work)
}

pub(crate) use {by_cpu, multiversion};
