//! Where real data lies.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The variable that names a folder of larger files of real data.
pub const DATA_VAR: &str = "DOCVALUES_DATA";

/// The file `name` among those that the repository ships, in `examples/data`.
///
/// # Panics
///
/// If it is not there: it is part of the repository.
pub fn example(name: &str) -> PathBuf {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data");
    let path = data.join(name);
    assert!(path.is_file(), "no file {}", path.display());
    path
}

/// The file `name` in the folder that the environment variable `DOCVALUES_DATA` names.
///
/// Without it, the caller has nothing to test: this says so on stderr, past the capture of the test
/// harness, so that nobody takes a skipped test for a passed one.
///
/// # Panics
///
/// If the variable names a folder in which there is no such file: a wrong path must not skip a test.
pub fn real(name: &str) -> Option<PathBuf> {
    let path = in_folder(std::env::var_os(DATA_VAR), name);
    if path.is_none() {
        say(&format!("SKIPPED: {}: {DATA_VAR} names no folder with `{name}`", current_test()));
    }
    path
}

fn in_folder(folder: Option<OsString>, name: &str) -> Option<PathBuf> {
    let folder = folder.filter(|folder| !folder.is_empty())?;
    // Tests run in their package's folder; a relative path was meant from the workspace's.
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = workspace.join(folder).join(name);
    assert!(path.is_file(), "{DATA_VAR}: no file {}", path.display());
    Some(path)
}

/// The test that runs: the harness names its threads so.
fn current_test() -> String {
    std::thread::current().name().unwrap_or("a test").to_string()
}

/// Writes a line to stderr itself. `eprintln!` would be captured by the harness of a test that passes.
fn say(line: &str) {
    // A test does not fail because nobody listens.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_searched_and_none_is_none() {
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
