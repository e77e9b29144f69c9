//! Machine, commit and date of a run.

use std::fs;
use std::process::Command;

/// The name and the value of each fact.
pub(crate) fn facts() -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("commit", commit()),
        ("date", said("date", &["-u", "+%Y-%m-%d"])),
        ("CPU", field("/proc/cpuinfo", "model name")),
        ("cores", std::thread::available_parallelism().map_or(0, Into::into).to_string()),
        ("memory", format!("{} MiB", kib() >> 10)),
        ("kernel", fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned()),
    ];
    facts.extend(limit().map(|bytes| {
        ("memory that the process may use, page cache included", format!("{} MiB", bytes >> 20))
    }));
    facts
}

fn commit() -> String {
    let changed = said("git", &["status", "--porcelain", "--untracked-files=no"]);
    let commit = said("git", &["rev-parse", "--short=12", "HEAD"]);
    if changed.is_empty() { commit } else { format!("{commit}, with changes") }
}

/// The output of a program, trimmed; empty if it cannot run.
fn said(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    output.map_or(String::new(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The value of the first line that begins with `key`.
fn field(file: &str, key: &str) -> String {
    let text = fs::read_to_string(file).unwrap_or_default();
    let value = text.lines().find(|line| line.starts_with(key)).and_then(|line| line.split_once(':'));
    value.map_or_else(|| "unknown".to_owned(), |(_, value)| value.trim().to_owned())
}

fn kib() -> u64 {
    field("/proc/meminfo", "MemTotal").trim_end_matches(" kB").parse().unwrap_or(0)
}

/// The limit of this process's control group, if it is below what the machine has.
fn limit() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let files = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        match (parts.next()?, parts.next()?) {
            ("", path) => Some(format!("/sys/fs/cgroup{path}/memory.max")),
            ("memory", path) => Some(format!("/sys/fs/cgroup/memory{path}/memory.limit_in_bytes")),
            _ => None,
        }
    });
    let limits = files.filter_map(|file| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok());
    limits.min().filter(|&bytes| bytes < kib() << 10)
}
