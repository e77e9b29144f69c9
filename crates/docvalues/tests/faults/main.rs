//! Every call of a build to the operating system fails once, in every way; and the process dies before every
//! one. Under the name then stands what stood there, or the new file, whole; and nothing else stays, or not
//! longer than until the next build.
//!
//! ```text
//! work      what is written: a build or a merge, with or without what has no room in memory
//! calls     the calls that it makes, and what goes wrong with one of them
//! failing   a call fails, and the process goes on
//! dying     the process does not
//! limits    the system itself has no room
//! ```
//!
//! `cargo test` takes some calls of each step, `DOCVALUES_SWEEP=full` all; `--nocapture` shows how many.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a failing helper is a failing test")]

mod calls;
mod dying;
mod failing;
mod limits;
mod work;

use std::path::Path;

/// What has the final name.
const NAME: &str = "hits.dv";

/// What stands under it before the build, if anything.
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
