//! Paths of real data.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The environment variable for a folder with larger files of real data.
pub const DATA_VAR: &str = "DOCVALUES_DATA";

/// The path of the file `name` in the repository's `examples/data`.
///
/// # Panics
///
/// If there is no such file.
pub fn example(name: &str) -> PathBuf {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data");
    let path = data.join(name);
    assert!(path.is_file(), "no file {}", path.display());
    path
}

/// The path of the file `name` in the folder of the environment variable `DOCVALUES_DATA`.
///
/// Without the variable, returns `None`, and prints `SKIPPED` to stderr. The test harness does not capture the line, so
/// a skipped test is not mistaken for a passed one.
///
/// # Panics
///
/// If the folder has no such file: a wrong path must not skip a test.
pub fn real(name: &str) -> Option<PathBuf> {
    let path = in_folder(std::env::var_os(DATA_VAR), name);
    if path.is_none() {
        say(&format!("SKIPPED: {}: {DATA_VAR} names no folder with \"{name}\"", current_test()));
    }
    path
}

fn in_folder(folder: Option<OsString>, name: &str) -> Option<PathBuf> {
    let folder = folder.filter(|folder| !folder.is_empty())?;
    // Tests run in the folder of their package, but a relative path is relative to the workspace.
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = workspace.join(folder).join(name);
    assert!(path.is_file(), "{DATA_VAR}: no file {}", path.display());
    Some(path)
}

/// The name of the running test: the harness names threads after tests.
fn current_test() -> String {
    std::thread::current().name().unwrap_or("a test").to_string()
}

/// Writes a line to stderr itself. `eprintln!` would be captured by the harness of a test that passes.
fn say(line: &str) {
    // A closed stderr must not fail a test.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_in_the_folder() {
        let folder = env!("CARGO_MANIFEST_DIR");
        assert_eq!(in_folder(Some(folder.into()), "Cargo.toml"), Some(Path::new(folder).join("Cargo.toml")));
        assert!(in_folder(Some("crates/testkit".into()), "src/real.rs").unwrap().is_file());
        assert_eq!(in_folder(None, "anything"), None);
        assert_eq!(in_folder(Some("".into()), "anything"), None);
    }

    #[test]
    #[should_panic(expected = "no file")]
    fn a_wrong_folder_does_not_skip() {
        in_folder(Some("no/such/folder".into()), "anything");
    }

    #[test]
    fn examples_are_in_the_repository() {
        assert!(example("README.md").is_file());
    }
}
