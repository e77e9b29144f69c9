//! Variants of docvalues without AVX-512 or without CPU-specific kernels: this program, run with `DOCVALUES_CPU` set.

use std::process::Command;

/// The names of the variants, and the value of the variable.
const VARIANTS: [(&str, &str); 2] = [("docvalues-avx2", "avx2"), ("docvalues-any", "any")];

/// The kernels of docvalues, fastest first.
const KERNELS: [&str; 3] = ["AVX-512", "AVX2", "portable"];

/// A variant of docvalues.
pub struct Variant {
    pub peer: &'static str,
    cpu: &'static str,
}

impl Variant {
    /// A command for it, without the arguments of a measurement.
    pub fn command(&self, measure: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap_or_default());
        command.env("DOCVALUES_CPU", self.cpu).args([measure, self.peer]);
        command
    }
}

/// Whether a peer is a variant of docvalues.
pub fn is_variant(peer: &str) -> bool {
    VARIANTS.iter().any(|variant| variant.0 == peer)
}

/// The index in [`KERNELS`] of the fastest kernels for this CPU.
fn best() -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512vbmi") && is_x86_feature_detected!("avx512vpopcntdq") {
            return 0;
        }
        if is_x86_feature_detected!("avx2") {
            return 1;
        }
    }
    2
}

/// The fastest kernels of docvalues for this CPU.
pub fn kernels() -> &'static str {
    KERNELS[best()]
}

/// The wanted variants, without those that would equal docvalues on this CPU.
pub fn variants(wanted: impl Fn(&str) -> bool) -> Vec<Variant> {
    let mut found = Vec::new();
    for (place, (peer, cpu)) in VARIANTS.into_iter().enumerate().filter(|(_, variant)| wanted(variant.0)) {
        if best() > place {
            eprintln!("{peer}: left out, it equals docvalues, whose kernels are {} here", kernels());
        } else {
            found.push(Variant { peer, cpu });
        }
    }
    found
}

/// The variant of this process.
pub fn this() -> &'static str {
    let cpu = std::env::var("DOCVALUES_CPU").unwrap_or_default();
    VARIANTS.into_iter().find(|variant| variant.1 == cpu).map_or("docvalues", |variant| variant.0)
}

/// Checks that this process is the variant `peer`.
///
/// # Errors
///
/// If `DOCVALUES_CPU` selects another variant.
pub fn check(peer: &str) -> Result<(), String> {
    let this = this();
    if peer == this {
        Ok(())
    } else {
        Err(format!("expected the variant {peer}, found {this}: change DOCVALUES_CPU"))
    }
}
