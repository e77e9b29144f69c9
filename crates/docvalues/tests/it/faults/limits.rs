//! The system has no space: the size of files is limited, or the disk is full.
//!
//! The test runs its own binary again, from a shell that sets the limit.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use docvalues::Segment;
use docvalues::writer::ErrorKind as WriteErrorKind;
use docvalues_storage::AtomicFile;
use docvalues_testkit::damage::Sweep;

use super::calls::Tally;
use super::work::{Work, Works};
use super::{NAME, OLDER, names};

const FOLDER: &str = "DOCVALUES_TEST_LIMITS_FOLDER";

/// In the process with the limit, does every kind of work, and prints the outcomes.
fn build_if_told() -> bool {
    let Some(folder) = std::env::var_os(FOLDER) else { return false };
    let (folder, works) = (Path::new(&folder), Works::new());
    let path = folder.join(NAME);
    for work in Work::ALL {
        fs::write(&path, OLDER).unwrap();
        let file = AtomicFile::create(&path).unwrap();
        match works.run(work, file) {
            Ok(_) => {
                Segment::open(&path).unwrap().verify().unwrap();
                println!("outcome: whole");
            }
            Err(error) => {
                let WriteErrorKind::Storage(storage) = error.kind() else { panic!("{error}") };
                let name = storage.path().file_name().unwrap().to_str().unwrap();
                println!("outcome: {:?} {name}: {}", storage.step(), storage.io_error());
                assert_eq!(fs::read(&path).unwrap(), OLDER);
            }
        }
        assert_eq!(names(folder), [NAME], "{work:?}");
    }
    true
}

/// Runs `script` in a shell, in which `"$@"` runs this test in the process with the limit.
fn run(script: &str, test: &str, folder: &Path) -> Output {
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "sh"]).arg(std::env::current_exe().unwrap());
    shell.args(["--exact", &format!("faults::limits::{test}"), "--nocapture"]);
    shell.env(FOLDER, folder).output().unwrap()
}

/// Counts the outcomes that the builds printed.
fn tally(output: &Output, outcomes: &mut Tally) {
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<_> = said.lines().filter_map(|line| line.split_once("outcome: ")).collect();
    assert_eq!(lines.len(), Work::ALL.len(), "{said}");
    lines.into_iter().for_each(|(_, outcome)| outcomes.add(outcome));
}

fn sizes() -> impl Iterator<Item = u64> {
    let step = match Sweep::from_env(0) {
        Sweep::Full => 8,
        Sweep::Sample(_) => 48,
    };
    (0..512).step_by(step)
}

#[test]
fn a_limited_file_size() {
    if build_if_told() {
        return;
    }
    let mut outcomes = Tally::default();
    for kib in sizes() {
        let folder = tempfile::tempdir().unwrap();
        // The limit is in blocks of 512 bytes. The process ignores the signal that comes with it.
        let script = format!(r#"trap "" XFSZ; ulimit -f {}; exec "$@""#, 2 * kib.max(1));
        tally(&run(&script, "a_limited_file_size", folder.path()), &mut outcomes);
    }
    println!("{} builds of files that may not grow: {outcomes}", outcomes.total());
    let (spill, file) = (
        "Write .hits.dv.spill: File too large (os error 27)",
        "Write .hits.dv.tmp: File too large (os error 27)",
    );
    assert_eq!(outcomes.keys(), [spill, file, "whole"]);
}

/// A file system of a few KiB, in its own namespace if users may have one.
#[test]
fn a_full_disk() {
    if build_if_told() {
        return;
    }
    let alone = "unshare --map-root-user --mount";
    if !Command::new("sh")
        .args(["-c", &format!("{alone} mount -t tmpfs none /mnt")])
        .output()
        .unwrap()
        .status
        .success()
    {
        println!("SKIPPED: no name spaces for users here");
        return;
    }
    let mut outcomes = Tally::default();
    for kib in sizes() {
        let folder = tempfile::tempdir().unwrap();
        let mount = format!(r#"mount -t tmpfs -o size={}k none "${FOLDER}" && exec "$@""#, 4 + kib);
        let script = format!(r#"exec {alone} sh -c '{mount}' sh "$@""#);
        tally(&run(&script, "a_full_disk", folder.path()), &mut outcomes);
    }
    println!("{} builds on disks that are full: {outcomes}", outcomes.total());
    let (spill, file) = (
        "Write .hits.dv.spill: No space left on device (os error 28)",
        "Write .hits.dv.tmp: No space left on device (os error 28)",
    );
    assert_eq!(outcomes.keys(), [spill, file, "whole"]);
}
