//! Cases in processes of their own, whose memory and open files are theirs only.

use std::process::Command;

use super::memory::HAS_BACKGROUND;
use super::ours::Ours;
use super::{Args, Figures, Work, parse, print_json};

/// The figures of a case that runs in a new process of this program.
pub(super) fn child(ours: &Ours<'_>, work: Work, case: usize) -> Vec<Figures> {
    let Args { docs, operations, stores, segment_docs, .. } = ours.args;
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args([
        "--only",
        work.name(),
        "--case",
        &case.to_string(),
        "--segments",
        &ours.segments.to_string(),
    ]);
    command.args(["--docs", &docs.to_string(), "--operations", &operations.to_string()]);
    command.args(["--segment-docs", &segment_docs.to_string()]);
    command.args(["--stores", &stores.to_string(), "--folder"]).arg(ours.folder);
    let output = command.output().expect("a process");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().filter_map(parse).collect()
}

/// Runs a case, and prints its figures for [`child`].
pub(super) fn run(ours: &Ours<'_>, work: Work, case: usize) {
    let cases = match work {
        Work::Many => ours.many(),
        _ => vec![ours.memory(HAS_BACKGROUND[case])],
    };
    print_json(&cases);
}
