//! The commands of pages that add or install a crate work in a checkout, although nothing is published.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sandbox::Sandbox;

/// The commands in blocks of a page that add or install a crate.
fn commands(page: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap();
    // Text and blocks take turns.
    let blocks = text.split("```").skip(1).step_by(2);
    let lines = blocks.flat_map(|block| block.lines().map(|line| line.split(" #").next().unwrap().trim()));
    let is_command = |line: &&str| line.starts_with("cargo add ") || line.starts_with("cargo install ");
    lines.filter(is_command).map(str::to_owned).collect()
}

/// The pages of the repository.
fn pages(root: &Path) -> Vec<PathBuf> {
    let patterns = ["*.md", "docs/*.md", "crates/*/README.md", "benches/*/README.md", "fuzz/*.md"];
    let files = patterns
        .iter()
        .flat_map(|pattern| glob::glob(root.join(pattern).to_str().unwrap()).unwrap().map(Result::unwrap));
    files.collect()
}

/// `cargo add` finds the crate and its features as `cargo install` does.
#[cfg(unix)]
#[test]
fn commands_that_add_or_install_a_crate_work_in_a_checkout() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let sandbox = Sandbox::new();
    // A project beside the checkout.
    std::os::unix::fs::symlink(&root, sandbox.path("docvalues")).unwrap();
    std::fs::create_dir_all(sandbox.path("hits/src")).unwrap();
    sandbox.write("hits/src/main.rs", "fn main() {}");
    let manifest = "[package]\nname = \"hits\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    let mut added = 0;
    let hints = ["man", "parquet", "sql"]
        .map(|feature| format!("cargo install --path crates/cli --features {feature}"));
    let all: BTreeSet<String> = pages(&root).iter().flat_map(|page| commands(page)).chain(hints).collect();
    for command in all {
        let (_, arguments) = command.split_once(" --path ").unwrap_or_else(|| {
            assert!(!command.contains("docvalues"), "not published: {command}");
            ("", "")
        });
        if arguments.is_empty() {
            continue;
        }
        let arguments = match command.starts_with("cargo install ") {
            true => format!("../docvalues/{arguments}"),
            false => arguments.to_owned(),
        };
        sandbox.write("hits/Cargo.toml", manifest);
        let add = |offline: &[&str]| {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.arg("add").args(offline).arg("--path").args(arguments.split_whitespace());
            cargo.current_dir(sandbox.path("hits")).output().unwrap()
        };
        // A machine on which nothing was built of a crate lacks the registry's entries of its dependencies.
        let mut output = add(&["--offline"]);
        if !output.status.success() {
            output = add(&[]);
        }
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        added += 1;
    }
    assert!(added >= 8, "{added} commands were found");
}
