//! A process that is killed at any moment, by a signal that it cannot catch.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Runs the test `kill::child` of the running tests in a process of its own, with a folder in an environment variable, and kills
/// it.
///
/// That test prints `durable` and a number again and again. It is killed a while `after` the first `waits` of these lines. Returns
/// the last number that it printed.
pub fn killed_child(variable: &str, folder: &Path, waits: usize, after: Duration) -> Option<u64> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["kill::child", "--exact", "--nocapture"])
        .env(variable, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let is_durable = |line: &String| line.contains("durable");
    let mut printed: Vec<String> = lines.by_ref().filter(is_durable).take(waits).collect();
    std::thread::sleep(after);
    child.kill().unwrap();
    printed.extend(lines);
    // The status of tests that failed, and of those that passed or were not found.
    let has_ended = matches!(child.wait().unwrap().code(), Some(0 | 101));
    assert!(!has_ended, "it ended before it was killed: {printed:?}");
    printed.iter().rev().find_map(|line| line.split("durable ").nth(1)?.parse().ok())
}
