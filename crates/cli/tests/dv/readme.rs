//! Runs the commands that the README, its picture and pages of docs show, and the examples of `--help`, and compares their
//! output with what is shown.
//!
//! `UPDATE_SNAPSHOTS=1` rewrites the blocks of the pages.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use crate::sandbox::{Sandbox, packages};

/// Runs a line in a shell that finds `dv`; returns all output, and whether the line succeeded.
pub(crate) fn run(sandbox: &Sandbox, line: &str) -> (String, bool) {
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

/// The commands of a block, each with its output now.
fn console(sandbox: &Sandbox, block: &str) -> String {
    let mut actual = String::new();
    for line in block.lines().filter_map(|line| line.strip_prefix("$ ")) {
        let _ = write!(actual, "$ {line}\n{}", shell(sandbox, line));
    }
    actual
}

/// Whether the lines of a block are lines of `output`, whatever the widths of columns. The block ends with `...`.
fn is_part_of(block: &str, output: &str) -> bool {
    let narrow = |line: &str| line.replace('─', "").split_whitespace().collect::<Vec<_>>().join(" ");
    let mut output = output.lines().map(narrow);
    let mut lines = block.lines();
    lines.next_back() == Some("...") && lines.all(|line| output.any(|other| other == narrow(line)))
}

/// The commands that the README and docs/dv.md show together, at least.
const MIN_TOUR_COMMANDS: usize = 30;

#[test]
fn commands_of_the_readme_and_the_tour_print_what_is_shown() {
    let shown = ["README.md", "docs/dv.md"].map(check);
    let [blocks, commands] =
        shown.into_iter().fold([0, 0], |[blocks, commands], shown| [blocks + shown.0, commands + shown.1]);
    assert!(blocks >= 3, "{blocks} blocks were found");
    assert!(commands >= MIN_TOUR_COMMANDS, "{commands} commands were found");
}

#[test]
fn commands_of_the_page_on_searches_print_what_is_shown() {
    let (blocks, _) = check("docs/search.md");
    assert!(blocks >= 2, "{blocks} blocks were found");
}

#[test]
fn commands_of_the_page_on_updates_print_what_is_shown() {
    let (blocks, _) = check("docs/update-a-price.md");
    assert!(blocks >= 2, "{blocks} blocks were found");
}

#[test]
fn commands_of_the_page_on_backups_print_what_is_shown() {
    let (blocks, _) = check("docs/back-up.md");
    assert!(blocks >= 2, "{blocks} blocks were found");
}

#[test]
fn the_picture_of_a_terminal_shows_what_is_printed() {
    let picture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/terminal.svg");
    let picture = std::fs::read_to_string(picture).unwrap();
    let rows = picture.lines().filter_map(|line| {
        let (_, row) = line.strip_prefix("<text ")?.split_once('>')?;
        row.strip_suffix("</text>")
    });
    let shown: String =
        rows.map(|row| row.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") + "\n").collect();
    assert!(shown.starts_with("$ dv "), "{shown}");
    let (sandbox, _) = built();
    assert_eq!(console(&sandbox, &shown), shown, "docs/terminal.svg");
}

#[cfg(feature = "sql")]
#[test]
fn commands_of_the_page_on_sql_print_what_is_shown() {
    let (blocks, _) = check("docs/sql.md");
    assert!(blocks >= 2, "{blocks} blocks were found");
}

/// A folder with the data of the examples and `packages.dv`, the segment of it, and what the build of that printed.
fn built() -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    std::fs::create_dir_all(sandbox.path("examples/data")).unwrap();
    sandbox.write("examples/data/packages.ndjson.gz", packages());
    let printed = shell(&sandbox, "dv build examples/data/packages.ndjson.gz -o packages.dv");
    (sandbox, printed)
}

/// Compares the blocks of a page with what their commands print now; returns the numbers of blocks and of commands.
fn check(name: &str) -> (usize, usize) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    let page = std::fs::read_to_string(&path).unwrap();
    let (sandbox, built) = built();

    let (mut actual, mut blocks, mut commands) = (String::new(), 0, 0);
    let mut rest = page.as_str();
    while let Some((text, block)) = rest.split_once("```") {
        let (head, block) = block.split_once('\n').unwrap();
        let (block, after) = block.split_once("```").unwrap();
        let now = match head {
            "console" => console(&sandbox, block),
            "text" => {
                assert!(is_part_of(block, &built), "{block}\nis not part of\n{built}");
                block.to_owned()
            }
            _ => block.to_owned(),
        };
        blocks += usize::from(matches!(head, "console" | "text"));
        commands +=
            if head == "console" { now.lines().filter(|line| line.starts_with("$ ")).count() } else { 0 };
        let _ = write!(actual, "{text}```{head}\n{now}```");
        rest = after;
    }
    actual += rest;
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &actual).unwrap();
    } else {
        assert!(page == actual, "{name} differs (UPDATE_SNAPSHOTS=1 writes it); now it is\n{actual}");
    }
    (blocks, commands)
}

/// Commands whose examples all read packages.dv. Examples of other commands read several files, or other ones.
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

/// Examples that name other data come after those that run here.
#[test]
fn examples_of_the_help_run() {
    let sandbox = Sandbox::with("packages.ndjson.gz", packages());
    sandbox.ok(&["build", "packages.ndjson.gz", "-o", "packages.dv", "-q", "--id-field", "id"]);
    sandbox.write("request.toml", "facets = ['section']\n");
    let mut ran = 0;
    for command in OF_PACKAGES.into_iter().chain(["build", "lookup", "check", "report"]) {
        let help = sandbox.ok(&[command, "--help"]);
        let (_, examples) = help.split_once("Examples:\n").unwrap();
        for example in examples.lines().take_while(|line| line.starts_with("  ")).map(str::trim) {
            let is_run = example.starts_with(&format!("dv {command} packages."));
            // Other programs of a pipe may be missing.
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
