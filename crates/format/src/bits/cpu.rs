//! What the CPU has, as far as the build lets it be used.

/// Whether this CPU has all of some features, and the build lets them be used.
///
/// With `--cfg docvalues_cpu="avx2"` no code for AVX-512 is chosen, with `"any"` none for any kind of CPU:
/// what other machines run can be tested and measured on this one.
macro_rules! cpu_has {
    ($($feature:tt),+) => {
        $( $crate::bits::cpu::may_use($feature) && is_x86_feature_detected!($feature) )&&+
    };
}

pub(crate) use cpu_has;

/// Whether the build lets code for `feature` be chosen.
#[inline(always)]
pub(crate) const fn may_use(feature: &str) -> bool {
    let is_avx512 = matches!(feature.as_bytes(), [b'a', b'v', b'x', b'5', b'1', b'2', ..]);
    let left_out = cfg!(docvalues_cpu = "any") || cfg!(docvalues_cpu = "avx2") && is_avx512;
    !left_out
}

#[cfg(test)]
mod tests {
    use super::may_use;

    #[test]
    fn a_build_leaves_out_what_it_is_told_to() {
        let allowed = ["avx2", "avx512f", "avx512vpopcntdq"].map(may_use);
        let expected = match (cfg!(docvalues_cpu = "any"), cfg!(docvalues_cpu = "avx2")) {
            (true, _) => [false; 3],
            (_, true) => [true, false, false],
            _ => [true; 3],
        };
        assert_eq!(allowed, expected);
    }
}
