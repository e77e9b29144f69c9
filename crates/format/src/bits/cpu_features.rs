//! Detection of CPU features, limited by the build and the environment.
//!
//! | CPU | features |
//! | --- | --- |
//! | `avx512` | those of `avx2`; AVX-512 F, BW, DQ, VL, VBMI, VPOPCNTDQ: Intel since Ice Lake, AMD since Zen 4 |
//! | `avx2` | AVX2, BMI2, POPCNT: Intel since Haswell, AMD since Zen |
//! | `any` | none |
//!
//! `--cfg docvalues_cpu="avx2"` or the environment variable `DOCVALUES_CPU=avx2` disables the AVX-512 kernels; `any`
//! disables the AVX2 kernels as well. The variable is read when the first kernel is chosen. This allows testing and
//! measuring the code of other CPUs on one machine.

use std::sync::atomic::{AtomicU8, Ordering};

/// Feature levels that kernels are written for. Each includes the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Cpu {
    Any = 1,
    Avx2,
    Avx512,
}

/// The highest level that the build allows.
const ALLOWED: Cpu = if cfg!(docvalues_cpu = "any") {
    Cpu::Any
} else if cfg!(docvalues_cpu = "avx2") {
    Cpu::Avx2
} else {
    Cpu::Avx512
};

/// Returns whether this CPU has AVX2, BMI2 and POPCNT, and the build and the environment allow them.
#[inline]
pub fn has_avx2() -> bool {
    has(Cpu::Avx2)
}

/// Returns whether this CPU has the features of [`has_avx2`] and AVX-512 F, BW, DQ, VL, VBMI and VPOPCNTDQ, and the
/// build and the environment allow them.
#[inline]
pub fn has_avx512() -> bool {
    has(Cpu::Avx512)
}

#[inline(always)]
fn has(cpu: Cpu) -> bool {
    /// The level of this CPU, 0 until it is detected.
    static FOUND: AtomicU8 = AtomicU8::new(0);
    if cpu as u8 > ALLOWED as u8 {
        return false;
    }
    let mut found = FOUND.load(Ordering::Relaxed);
    if found == 0 {
        found = find() as u8;
        FOUND.store(found, Ordering::Relaxed);
    }
    found >= cpu as u8
}

#[cold]
fn find() -> Cpu {
    let avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vpopcntdq");
    match std::env::var("DOCVALUES_CPU").as_deref() {
        Ok("any") => Cpu::Any,
        _ if !avx2 => Cpu::Any,
        Ok("avx2") => Cpu::Avx2,
        _ if !avx512 => Cpu::Avx2,
        _ => Cpu::Avx512,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_and_the_environment_disable_features() {
        let asked = std::env::var("DOCVALUES_CPU").unwrap_or_default();
        assert!(
            ["", "any", "avx2"].contains(&asked.as_str()),
            "DOCVALUES_CPU is {asked:?}, neither `any` nor `avx2`"
        );
        let avx2 = asked != "any" && ALLOWED != Cpu::Any && is_x86_feature_detected!("avx2");
        assert_eq!(
            has_avx2(),
            avx2 && is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("popcnt")
        );
        if asked == "avx2" || ALLOWED != Cpu::Avx512 || !is_x86_feature_detected!("avx512vpopcntdq") {
            assert!(!has_avx512());
        }
        assert!(has_avx2() || !has_avx512());
    }
}
