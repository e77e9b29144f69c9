//! What is done with the values that a peer hands over, by the same code for all of them.
//!
//! The JVM compiles its loops for the CPU it runs on. A sum compiled for any x86 takes half of the time
//! of a scan, and would hide what the scan takes: so these are compiled for the wide registers, too.

/// Declares sums that are compiled for AVX-512, for AVX2 and for any CPU.
macro_rules! sums {
    ($($(#[$about:meta])* pub fn $name:ident($values:ident: $slice:ty) -> i64 $body:block)*) => { $(
        $(#[$about])*
        pub fn $name($values: $slice) -> i64 {
            #[inline(always)]
            fn plain($values: $slice) -> i64 $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq")]
                fn avx512(values: $slice) -> i64 {
                    plain(values)
                }

                #[target_feature(enable = "avx2")]
                fn avx2(values: $slice) -> i64 {
                    plain(values)
                }

                if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
                    // SAFETY: the line above: this CPU has what the function is compiled for.
                    return unsafe { avx512($values) };
                }
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: as above.
                    return unsafe { avx2($values) };
                }
            }
            plain($values)
        }
    )* };
}

sums! {
    /// Of numbers.
    pub fn of(values: &[i64]) -> i64 {
        values.iter().fold(0, |sum, &value| sum.wrapping_add(value))
    }

    /// Of numbers without signs.
    pub fn of_unsigned(values: &[u64]) -> i64 {
        values.iter().fold(0_u64, |sum, &value| sum.wrapping_add(value)).cast_signed()
    }

    /// Of documents.
    pub fn of_docs(docs: &[docvalues::prelude::DocId]) -> i64 {
        docs.iter().map(|doc| i64::from(doc.get())).sum()
    }

    /// Of ords.
    pub fn of_ords(ords: &[docvalues::prelude::TermOrd]) -> i64 {
        ords.iter().map(|ord| i64::from(ord.get())).sum()
    }
}
