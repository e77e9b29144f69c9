//! Sums over the values that a peer returns: the same code for all peers.
//!
//! The JVM compiles its loops for the CPU that it runs on. A sum compiled for any x86-64 takes half of the time of a
//! scan and would hide the scan, so the sums are compiled for AVX-512 and AVX2, too.

/// Declares sums that are compiled for AVX-512, AVX2 and any CPU.
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
                    // SAFETY: the line above checks that this CPU has the features of the function.
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

    /// Of unsigned numbers.
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
