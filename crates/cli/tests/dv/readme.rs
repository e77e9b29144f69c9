//! The commands of the README and of the page of searches, run: what they show is what is printed. And the
//! examples of the help.
//!
//! With `UPDATE_SNAPSHOTS=1` its blocks are written anew.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::sandbox::{Sandbox, packages};

/// Runs a line as a shell would, with `dv` in its path; returns all it prints, and whether it ended well.
fn run(sandbox: &Sandbox, line: &str) -> (String, bool) {
    let program = Path::new(env!("CARGO_BIN_EXE_dv")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let line = format!("exec 2>&1; {line}");
    let output =
        Command::new("sh").args(["-c", &line]).env("PATH", path).current_dir(sandbox.path(".")).output();
    let output = output.unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.success())
}

fn shell(sandbox: &Sandbox, line: &str) -> String {
    run(sandbox, line).0
}

/// A block of commands with what each prints now.
fn console(sandbox: &Sandbox, block: &str) -> String {
    let mut actual = String::new();
    for line in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let _ = write!(actual, "$ {line}\n{}", shell(sandbox, line));
    }
    actual
}

/// Whether a block is some lines of an output, but for the widths of columns; its last line stands for the
/// rest.
fn is_part_of(block: &str, output: &str) -> bool {
    let narrow = |line: &str| line.replace('─', "").split_whitespace().collect::<Vec<_>>().join(" ");
    let mut output = output.lines().map(narrow);
    let mut lines = block.lines();
    lines.next_back() == Some("...") && lines.all(|line| output.any(|other| other == narrow(line)))
}

#[test]
fn what_the_readme_shows_is_what_is_printed() {
    check("README.md");
}

#[test]
fn what_the_page_of_searches_shows_is_what_is_printed() {
    check("docs/search.md");
}

fn check(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    let readme = std::fs::read_to_string(&path).unwrap();
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path("examples/data")).unwrap();
    sandbox.write("examples/data/packages.ndjson.gz", packages());
    let built = shell(&sandbox, "dv build examples/data/packages.ndjson.gz -o packages.dv");

    let (mut actual, mut blocks) = (String::new(), 0);
    let mut rest = readme.as_str();
    while let Some((text, block)) = rest.split_once("```") {
        let (head, block) = block.split_once('\n').unwrap();
        let (block, behind) = block.split_once("```").unwrap();
        let now = match head {
            "console" => console(&sandbox, block),
            "text" => {
                assert!(is_part_of(block, &built), "{block}\nis not part of\n{built}");
                block.to_owned()
            }
            _ => block.to_owned(),
        };
        blocks += usize::from(matches!(head, "console" | "text"));
        let _ = write!(actual, "{text}```{head}\n{now}```");
        rest = behind;
    }
    actual += rest;
    assert!(blocks >= 2, "{blocks} blocks were found");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &actual).unwrap();
    } else {
        assert!(readme == actual, "{name} differs (UPDATE_SNAPSHOTS=1 writes it); now it is\n{actual}");
    }
}

/// Commands whose examples are all about the packages: others show what takes several files, or other ones.
const OF_PACKAGES: [&str; 13] = [
    "info",
    "stats",
    "terms",
    "count",
    "facet",
    "histogram",
    "group",
    "sort",
    "query",
    "get",
    "head",
    "sample",
    "export",
];

/// Behind the examples may stand some that say which data they are about.
#[test]
fn examples_of_the_help_run() {
    let sandbox = Sandbox::with("packages.ndjson.gz", packages());
    sandbox.ok(&["build", "packages.ndjson.gz", "-o", "packages.dv", "-q", "--id-field", "id"]);
    sandbox.write("request.toml", "facets = ['section']\n");
    let mut ran = 0;
    for command in OF_PACKAGES.into_iter().chain(["build", "lookup", "check"]) {
        let help = sandbox.ok(&[command, "--help"]);
        let (_, examples) = help.split_once("Examples:\n").unwrap();
        for example in examples.lines().take_while(|line| line.starts_with("  ")).map(str::trim) {
            let is_run = example.starts_with(&format!("dv {command} packages."));
            // What a pipe leads to, or from, is not ours.
            if is_run {
                let (printed, well) = run(&sandbox, example.split(" | ").next().unwrap());
                assert!(well, "{example}\n{printed}");
            }
            assert!(is_run || example.contains("| dv ") || !OF_PACKAGES.contains(&command), "{example}");
            ran += usize::from(is_run);
        }
    }
    assert!(ran >= 35, "{ran} examples");
}
