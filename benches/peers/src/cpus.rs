//! docvalues with less of this CPU: this program, with `DOCVALUES_CPU` in its environment.

use std::process::Command;

/// The peers that docvalues then is, and what the variable says.
const LIMITED: [(&str, &str); 2] = [("docvalues-avx2", "avx2"), ("docvalues-any", "any")];

/// The kernels that docvalues chooses on this CPU, best first.
const KERNELS: [&str; 3] = ["AVX-512", "AVX2", "portable"];

/// docvalues with less of the CPU.
pub struct Limited {
    pub peer: &'static str,
    cpu: &'static str,
}

impl Limited {
    /// A process of it, to which the arguments of a measurement are to be added.
    pub fn command(&self, measure: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap_or_default());
        command.env("DOCVALUES_CPU", self.cpu).args([measure, self.peer]);
        command
    }
}

/// Whether a peer is docvalues with less of the CPU.
pub fn is_limited(peer: &str) -> bool {
    LIMITED.iter().any(|limited| limited.0 == peer)
}

/// A place in [`KERNELS`].
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

/// The best kernels that docvalues has for this CPU.
pub fn kernels() -> &'static str {
    KERNELS[best()]
}

/// Those that are wanted, without those that would be the same on this CPU.
pub fn limited(wanted: impl Fn(&str) -> bool) -> Vec<Limited> {
    let mut found = Vec::new();
    for (place, (peer, cpu)) in LIMITED.into_iter().enumerate().filter(|(_, limited)| wanted(limited.0)) {
        if best() > place {
            eprintln!("{peer}: the same as docvalues, whose kernels are {} here: left out", kernels());
        } else {
            found.push(Limited { peer, cpu });
        }
    }
    found
}

/// The peer that docvalues is in this process.
pub fn this() -> &'static str {
    let cpu = std::env::var("DOCVALUES_CPU").unwrap_or_default();
    LIMITED.into_iter().find(|limited| limited.1 == cpu).map_or("docvalues", |limited| limited.0)
}

/// Checks that docvalues in this process is `peer`.
///
/// # Errors
///
/// If `DOCVALUES_CPU` makes it another.
pub fn check(peer: &str) -> Result<(), String> {
    let this = this();
    if peer == this { Ok(()) } else { Err(format!("DOCVALUES_CPU makes this {this}, not {peer}")) }
}
