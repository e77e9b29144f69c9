//! What this CPU has, and builds of this program in which docvalues uses less of it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The builds, by the peers that they are, with what `docvalues_cpu` is in them.
pub const BUILDS: [(&str, &str); 2] = [("docvalues-avx2", "avx2"), ("docvalues-any", "any")];

/// The peer that docvalues is in this program.
pub const THIS: &str = if cfg!(docvalues_cpu = "avx2") {
    BUILDS[0].0
} else if cfg!(docvalues_cpu = "any") {
    BUILDS[1].0
} else {
    "docvalues"
};

/// The kernels that docvalues chooses on this CPU, best first.
const KERNELS: [&str; 3] = ["AVX-512", "AVX2", "portable"];

/// An executable in which docvalues uses less of the CPU.
pub struct Build {
    pub peer: &'static str,
    pub program: PathBuf,
}

impl Build {
    /// A process of it, to which the arguments of a measurement are to be added.
    pub fn command(&self, measure: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args([measure, self.peer]);
        command
    }
}

/// Whether a peer is docvalues with less of the CPU.
pub fn is_build(peer: &str) -> bool {
    BUILDS.iter().any(|build| build.0 == peer)
}

/// A place in [`KERNELS`].
fn best() -> usize {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vbmi") {
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

/// Compiles the builds that are wanted, and leaves out those that would be the same on this CPU.
pub fn builds(package: &Path, target: &Path, wanted: impl Fn(&str) -> bool) -> Vec<Build> {
    let mut found = Vec::new();
    for (place, (peer, cpu)) in BUILDS.into_iter().enumerate().filter(|(_, build)| wanted(build.0)) {
        if best() > place {
            eprintln!("{peer}: the same as docvalues, whose kernels are {} here: left out", kernels());
            continue;
        }
        eprintln!("{peer}: compiling");
        match build(package, &target.join(cpu), cpu) {
            Ok(program) => found.push(Build { peer, program }),
            Err(message) => eprintln!("{peer}: {message}: left out"),
        }
    }
    found
}

fn build(package: &Path, output: &Path, cpu: &str) -> Result<PathBuf, String> {
    let given = std::env::var("RUSTFLAGS").unwrap_or_default();
    let mut cargo = Command::new("cargo");
    cargo
        .current_dir(package)
        .env("RUSTFLAGS", format!("{given} --cfg docvalues_cpu=\"{cpu}\"").trim_start());
    cargo.args(["build", "--release", "--quiet", "--target-dir"]).arg(output);
    let done = cargo.status().map_err(|e| format!("`cargo` cannot be started ({e})"))?;
    if !done.success() {
        return Err("`cargo build` failed".to_owned());
    }
    Ok(output.join("release/docvalues-peers"))
}

/// Checks that docvalues in this program is `peer`.
///
/// # Errors
///
/// If this program is another build.
pub fn check(peer: &str) -> Result<(), String> {
    if peer == THIS { Ok(()) } else { Err(format!("this program measures {THIS}, not {peer}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_one_peer() {
        assert!(check(THIS).is_ok());
        let others = BUILDS.into_iter().filter(|build| build.0 != THIS);
        assert!(others.into_iter().all(|(peer, _)| check(peer).unwrap_err().contains(THIS)));
    }
}
