//! Compares answers about real data with those of a Python script that reads every row.

use std::path::Path;
use std::process::Command;

use crate::round_trip::data_of_full_sweep;
use crate::sandbox::{Sandbox, packages};

fn check(sandbox: &Sandbox, source: &Path) {
    sandbox.ok(&["build", source.to_str().unwrap(), "-o", "packages.dv", "-q"]);
    compare(&sandbox.path("packages.dv"), source);
}

/// Compares the answers of a segment, or of a store with one segment, with those about the rows of `source`.
pub(crate) fn compare(segment: &Path, source: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers.py");
    let mut python = Command::new("python3");
    python.arg(script).arg(env!("CARGO_BIN_EXE_dv")).arg(segment).arg(source);
    let Ok(run) = python.output() else { return eprintln!("SKIPPED: no python3 to look at each row with") };
    let [out, err] = [run.stdout, run.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(run.status.success(), "{err}");
    assert!(out.lines().filter(|line| line.starts_with("same:")).count() > 20, "{out}");
}

#[test]
fn packages_that_the_repository_ships() {
    let sandbox = Sandbox::with("p.ndjson.gz", packages());
    check(&sandbox, &sandbox.path("p.ndjson.gz"));
}

#[test]
fn all_packages() {
    let name = "debian-packages.ndjson.gz";
    if let Some(sandbox) = data_of_full_sweep(name) {
        check(&sandbox, &sandbox.path(name));
    }
}
