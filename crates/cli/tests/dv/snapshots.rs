//! Compares the output of each subcommand with `tests/snapshots/*.txt`.
//!
//! `UPDATE_SNAPSHOTS=1` rewrites the files; review the difference like code.

use std::path::Path;

use crate::sandbox::{Sandbox, packages};

const WEATHER: &str = "\
station,at,temp,gust,calm,note
EWR,2013-01-01T06:00:00Z,39.02,NA,false,
EWR,2013-01-01T07:00:00Z,39.02,23.0156,false,\"wind, \"\"gusty\"\"\"
JFK,2013-01-01T06:00:00Z,41,NA,true,
LGA,2013-01-01T06:00:00Z,NA,NA,true,clear
";

/// Runs the commands one after the other and compares everything with the snapshot.
#[track_caller]
fn check(name: &str, sandbox: &Sandbox, commands: &[&[&str]]) {
    let mut actual = String::new();
    for command in commands {
        let run = sandbox.dv(command);
        let shown: Vec<String> = command.iter().map(|word| quote(word)).collect();
        actual += &format!("$ dv {}\n{}", shown.join(" "), run.out);
        if !run.err.is_empty() {
            actual += &format!("--- standard error\n{}", run.err);
        }
        actual += &format!("--- exit {}\n\n", run.code);
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == actual,
        "{} differs (UPDATE_SNAPSHOTS=1 writes it); now it is\n{actual}",
        path.display()
    );
}

fn quote(word: &str) -> String {
    if word.contains([' ', '[', '\'']) { format!("'{word}'") } else { word.to_owned() }
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
    check(
        "build",
        &sandbox,
        &[
            &["build", "packages.ndjson.gz", "-o", "packages.dv"],
            &["build", "weather.csv", "-o", "weather.dv", "--type", "temp=string", "--json"],
            &["build", "weather.csv", "-o", "weather.dv", "--quiet"],
            &["build", "dirty.csv", "-o", "dirty.dv", "--skip-bad"],
        ],
    );
}

#[test]
fn info() {
    let sandbox = weather();
    check(
        "info",
        &sandbox,
        &[
            &["info", "weather.dv"],
            &["info", "weather.dv", "--encodings", "--sections"],
            &["info", "weather.dv", "--json"],
        ],
    );
}

#[test]
fn get() {
    check(
        "get",
        &weather(),
        &[
            &["get", "weather.dv", "3", "1", "1"],
            &["get", "weather.dv", "1", "--columns", "note,temp", "--format", "table"],
            &["get", "weather.dv", "1", "--format", "csv", "--doc-ids"],
            &["get", "weather.dv", "0", "4", "--columns", "at", "--json"],
            &["get", "weather.dv", "0", "--columns", "tempo"],
        ],
    );
}

#[test]
fn head() {
    check(
        "head",
        &weather(),
        &[
            &["head", "weather.dv", "-n", "2"],
            &["head", "weather.dv", "--format", "table"],
            &["head", "weather.dv", "-n", "0"],
        ],
    );
}

#[test]
fn export() {
    let sandbox = weather();
    sandbox.write("docs.txt", "3 0,\n0\n");
    check(
        "export",
        &sandbox,
        &[
            &["export", "weather.dv"],
            &["export", "weather.dv", "--format", "csv"],
            &["export", "weather.dv", "--format", "tsv", "--columns", "note", "--columns", "at"],
            &["export", "weather.dv", "--docs", "1..3", "--columns", "station,temp"],
            &["export", "weather.dv", "--docs", "docs.txt", "--doc-ids", "--columns", "station"],
            &["export", "weather.dv", "--docs", "2..9"],
            &["export", "weather.dv", "--docs", "nodocs.txt"],
        ],
    );
}

#[test]
fn check_command() {
    let sandbox = weather();
    let mut damaged = sandbox.read("weather.dv");
    damaged[64] ^= 1;
    sandbox.write("damaged.dv", damaged);
    check(
        "check",
        &sandbox,
        &[
            &["check", "weather.dv"],
            &["check", "weather.dv", "damaged.dv"],
            &["check", "weather.dv", "damaged.dv", "--json"],
            &["check", "weather.dv", "--quiet"],
            &["check", "weather.csv", "nothing.dv"],
        ],
    );
}

#[test]
fn schema() {
    let sandbox = Sandbox::with("weather.csv", WEATHER);
    check(
        "schema",
        &sandbox,
        &[
            &["schema", "weather.csv", "--type", "station=string:sorted"],
            &["schema", "weather.csv", "--sample", "1", "--json"],
            &["schema", "weather.csv", "--type", "stations=string"],
        ],
    );
}

#[test]
fn merge() {
    let sandbox = weather();
    let other = WEATHER.replace("2013", "2014").replace("note", "remark");
    sandbox.write("other.csv", other);
    sandbox.ok(&["build", "other.csv", "-o", "other.dv"]);
    sandbox.ok(&["build", "other.csv", "-o", "text.dv", "--type", "temp=string"]);
    check(
        "merge",
        &sandbox,
        &[
            &["merge", "weather.dv", "other.dv", "-o", "both.dv"],
            &["export", "both.dv", "--format", "csv"],
            &["merge", "weather.dv", "text.dv", "-o", "none.dv"],
            &["merge", "weather.dv", "weather.csv", "-o", "none.dv"],
        ],
    );
}

#[test]
fn stats() {
    let sandbox = weather();
    sandbox.write("long.csv", format!("a,b\n{},1\n", "x".repeat(30)));
    sandbox.write("none.csv", "a,b\n");
    sandbox.ok(&["build", "long.csv", "-o", "long.dv"]);
    sandbox.ok(&["build", "none.csv", "-o", "none.dv"]);
    check(
        "stats",
        &sandbox,
        &[
            &["stats", "weather.dv"],
            &["stats", "weather.dv", "note", "temp"],
            &["stats", "weather.dv", "at", "gust", "--json"],
            &["stats", "long.dv"],
            &["stats", "none.dv"],
            &["stats", "weather.dv", "tempo"],
        ],
    );
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
    check(
        "diff",
        &sandbox,
        &[
            &["diff", "weather.dv", "weather.dv"],
            &["diff", "weather.dv", "other.dv"],
            &["diff", "weather.dv", "other.dv", "--columns", "station,note", "--limit", "1"],
            &["diff", "weather.dv", "other.dv", "--json", "--columns", "temp,calm"],
            &["diff", "weather.dv", "other.dv", "--quiet"],
            &["diff", "weather.dv", "nothing.dv"],
        ],
    );
}

#[test]
fn help() {
    check(
        "help",
        &Sandbox::new(),
        &[
            &["--help"],
            &["build", "--help"],
            &["schema", "--help"],
            &["info", "--help"],
            &["stats", "--help"],
            &["terms", "--help"],
            &["get", "--help"],
            &["lookup", "--help"],
            &["head", "--help"],
            &["sample", "--help"],
            &["cat", "--help"],
            &["export", "--help"],
            &["diff", "--help"],
            &["check", "--help"],
            &["set", "--help"],
            &["completions", "--help"],
            &["where"],
            &["man", "--help"],
            &["biuld"],
            &["build", "x.csv"],
            &["export", "x.dv", "--json", "--format", "csv"],
        ],
    );
}
