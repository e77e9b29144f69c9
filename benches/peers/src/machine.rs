//! The machine and the time of a measurement.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::cpus;

/// The circumstances of a run: the first line of a results file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// The command that measured.
    #[serde(default)]
    pub command: String,
    pub commit: String,
    pub date: String,
    /// The name of the CPU, and the kernels that docvalues uses on it.
    pub cpu: String,
    pub cores: usize,
    pub memory: String,
    pub kernel: String,
    pub rust: String,
    /// The JVM of each version of Lucene.
    pub jvms: Vec<(String, String)>,
    pub docs: u32,
    pub rounds: u32,
    /// The load averages of the last minute before and after.
    pub load: (String, String),
}

impl Machine {
    pub fn detect(root: &Path, docs: u32, rounds: u32, jvms: Vec<(String, String)>) -> Machine {
        let of = |file: &str, key: &str| {
            let text = fs::read_to_string(file).unwrap_or_default();
            let line = text.lines().find(|line| line.starts_with(key)).unwrap_or_default().to_owned();
            line.split_once(':').map_or("unknown".to_owned(), |(_, value)| value.trim().to_owned())
        };
        let kib: f64 = of("/proc/meminfo", "MemTotal").trim_end_matches(" kB").parse().unwrap_or(0.0);
        let changed = stdout_of(root, "git", &["status", "--porcelain", "--untracked-files=no"]);
        let commit = stdout_of(root, "git", &["rev-parse", "--short=12", "HEAD"]);
        let args: Vec<String> = std::env::args().skip(1).collect();
        Machine {
            command: format!("benches/peers/run {}", args.join(" ")).trim_end().to_owned(),
            commit: if changed.is_empty() { commit } else { format!("{commit}, with changes") },
            date: stdout_of(root, "date", &["-u", "+%Y-%m-%d"]),
            cpu: format!("{}, {}", of("/proc/cpuinfo", "model name"), cpus::kernels()),
            cores: std::thread::available_parallelism().map_or(0, Into::into),
            memory: format!("{:.0} GiB", kib / 1024.0 / 1024.0),
            kernel: fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned(),
            rust: stdout_of(root, "rustc", &["--version"]),
            jvms,
            docs,
            rounds,
            load: (load(), String::new()),
        }
    }
}

/// The load average of the last minute.
pub fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}

fn stdout_of(folder: &Path, program: &str, args: &[&str]) -> String {
    let output = Command::new(program).current_dir(folder).args(args).output();
    output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
