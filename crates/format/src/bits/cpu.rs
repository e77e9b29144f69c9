//! What the CPU has, as far as the build lets it be used.

use std::sync::OnceLock;

/// Whether this CPU has all of some features, and the build lets them be used.
///
/// With `--cfg docvalues_cpu="avx2"` no code for AVX-512 is chosen, with `"any"` none for any kind of CPU: what other machines
/// run can be measured on this one. A build with debug assertions, such as that of tests, asks the environment variable
/// `DOCVALUES_CPU` for the same.
macro_rules! cpu_has {
    ($($feature:tt),+) => {
        $( $crate::bits::cpu::may_use($feature) && is_x86_feature_detected!($feature) )&&+
    };
}

pub(crate) use cpu_has;

/// Whether the build and the environment let code for `feature` be chosen.
#[inline(always)]
pub(crate) fn may_use(feature: &str) -> bool {
    let is_avx512 = matches!(feature.as_bytes(), [b'a', b'v', b'x', b'5', b'1', b'2', ..]);
    let is_any = cfg!(docvalues_cpu = "any") || cfg!(debug_assertions) && asked("any");
    let is_avx2 = cfg!(docvalues_cpu = "avx2") || cfg!(debug_assertions) && asked("avx2");
    !(is_any || is_avx2 && is_avx512)
}

/// Whether `DOCVALUES_CPU` is this.
fn asked(cpu: &str) -> bool {
    static CPU: OnceLock<Option<String>> = OnceLock::new();
    CPU.get_or_init(|| std::env::var("DOCVALUES_CPU").ok()).as_deref() == Some(cpu)
}

#[cfg(test)]
mod tests {
    use super::may_use;

    #[test]
    fn a_build_leaves_out_what_it_is_told_to() {
        let allowed = ["avx2", "avx512f", "avx512vpopcntdq"].map(may_use);
        // Tests have debug assertions, or the environment would not be asked.
        let cpu = std::env::var("DOCVALUES_CPU").unwrap_or_default();
        assert!(
            ["", "any", "avx2"].contains(&cpu.as_str()),
            "DOCVALUES_CPU is {cpu:?}, neither `any` nor `avx2`"
        );
        let expected = match (
            cfg!(docvalues_cpu = "any") || cfg!(debug_assertions) && cpu == "any",
            cfg!(docvalues_cpu = "avx2") || cfg!(debug_assertions) && cpu == "avx2",
        ) {
            (true, _) => [false; 3],
            (_, true) => [true, false, false],
            _ => [true; 3],
        };
        assert_eq!(allowed, expected);
    }
}
