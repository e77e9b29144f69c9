//! Compares the output of each subcommand with `tests/snapshots/*.txt`.
//!
//! `UPDATE_SNAPSHOTS=1` rewrites the files; review the difference like code. A new command is a line `$ dv …` in them.

use std::path::Path;

use crate::sandbox::{Sandbox, packages, words};

const WEATHER: &str = "\
station,at,temp,gust,calm,note
EWR,2013-01-01T06:00:00Z,39.02,NA,false,
EWR,2013-01-01T07:00:00Z,39.02,23.0156,false,\"wind, \"\"gusty\"\"\"
JFK,2013-01-01T06:00:00Z,41,NA,true,
LGA,2013-01-01T06:00:00Z,NA,NA,true,clear
";

/// Runs the commands of a snapshot again, which are its lines after `$ dv`, and compares everything with it.
#[track_caller]
fn check(name: &str, sandbox: &Sandbox) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(format!("{name}.txt"));
    let expected = std::fs::read_to_string(&path).unwrap();
    let mut actual = String::new();
    for command in expected.lines().filter_map(|line| line.strip_prefix("$ dv ")) {
        let run = sandbox.dv(&words(command));
        actual += &format!("$ dv {command}\n{}", run.out);
        if !run.err.is_empty() {
            actual += &format!("--- standard error\n{}", run.err);
        }
        actual += &format!("--- exit {}\n\n", run.code);
    }
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        return std::fs::write(&path, &actual).unwrap();
    }
    assert!(
        expected == actual,
        "{} differs (UPDATE_SNAPSHOTS=1 writes it); now it is\n{actual}",
        path.display()
    );
}

/// A sandbox with the weather as a segment.
fn weather() -> Sandbox {
    let sandbox = Sandbox::with("weather.csv", WEATHER);
    sandbox.ok(&["build", "weather.csv", "-o", "weather.dv"]);
    sandbox
}

#[test]
fn build() {
    let sandbox = Sandbox::with("packages.ndjson.gz", packages());
    sandbox.write("weather.csv", WEATHER);
    sandbox.write("dirty.csv", "a,b\n1,2\n3\n4,5\n");
    check("build", &sandbox);
}

#[test]
fn info_get_and_head() {
    for name in ["info", "get", "head"] {
        check(name, &weather());
    }
}

#[test]
fn export() {
    let sandbox = weather();
    sandbox.write("docs.txt", "3 0,\n0\n");
    check("export", &sandbox);
}

#[test]
fn check_command() {
    let sandbox = weather();
    let mut damaged = sandbox.read("weather.dv");
    damaged[64] ^= 1;
    sandbox.write("damaged.dv", damaged);
    check("check", &sandbox);
}

#[test]
fn schema() {
    let sandbox = Sandbox::with("weather.csv", WEATHER);
    check("schema", &sandbox);
}

#[test]
fn merge() {
    let sandbox = weather();
    let other = WEATHER.replace("2013", "2014").replace("note", "remark");
    sandbox.write("other.csv", other);
    sandbox.ok(&["build", "other.csv", "-o", "other.dv"]);
    sandbox.ok(&["build", "other.csv", "-o", "text.dv", "--type", "temp=string"]);
    check("merge", &sandbox);
}

#[test]
fn stats() {
    let sandbox = weather();
    sandbox.write("long.csv", format!("a,b\n{},1\n", "x".repeat(30)));
    sandbox.write("none.csv", "a,b\n");
    sandbox.ok(&["build", "long.csv", "-o", "long.dv"]);
    sandbox.ok(&["build", "none.csv", "-o", "none.dv"]);
    check("stats", &sandbox);
}

#[test]
fn diff() {
    let sandbox = weather();
    let other = WEATHER
        .replace("39.02,NA", "38.5,NA")
        .replace(",\"wind", ",\"windy")
        .replace("gust", "hail")
        .replace("true", "yes")
        + "LGA,2013-01-01T08:00:00Z,NA,NA,true,clear\n";
    sandbox.write("other.csv", other);
    sandbox.ok(&["build", "other.csv", "-o", "other.dv"]);
    check("diff", &sandbox);
}

#[test]
fn help() {
    check("help", &Sandbox::new());
}
