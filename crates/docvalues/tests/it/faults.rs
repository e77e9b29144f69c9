//! Fault injection: every call of a build to the operating system fails once, in every way, and the process dies before
//! every call. Afterwards, the file's name has the old file or the complete new one. Temporary files are gone, at the
//! latest after the next build.
//!
//! ```text
//! work      the builds and merges, with and without a temporary file
//! calls     the calls that they make
//! failing   a call fails, and the process continues
//! dying     the process dies
//! limits    the system has no space
//! ```
//!
//! `cargo test` takes some calls of each step, `DOCVALUES_SWEEP=full` all; `--nocapture` shows how many.

mod calls;
mod dying;
mod failing;
mod limits;
mod work;

use std::path::Path;

/// The final name of the file.
const NAME: &str = "hits.dv";

/// The contents of the old file, if there is one.
const OLDER: &[u8] = b"older";

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
