//! Compares answers about real data with those of a Python script that reads every row.

use std::path::Path;
use std::process::Command;

use crate::round_trip::data;
use crate::sandbox::{Sandbox, packages};

fn check(sandbox: &Sandbox, source: &Path) {
    if Command::new("python3").arg("--version").output().is_err() {
        return eprintln!("SKIPPED: no python3 to look at each row with");
    }
    let source = source.to_str().unwrap();
    sandbox.ok(&["build", source, "-o", "packages.dv", "-q"]);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/answers.py");
    let segment = sandbox.path("packages.dv");
    let run =
        Command::new("python3").arg(script).arg(env!("CARGO_BIN_EXE_dv")).arg(segment).arg(source).output();
    let run = run.unwrap();
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
    if let Some(sandbox) = data(name) {
        check(&sandbox, &sandbox.path(name));
    }
}
