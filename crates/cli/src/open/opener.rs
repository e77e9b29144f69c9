//! Opens segments and stores as the global options say.

use std::cell;
use std::path::Path;

use crate::api::store::{Snapshot, StoreReader};
use crate::api::{Access, OpenOptions, Segment};
use crate::error::CliError;

thread_local! {
    /// Whether `--any-docs` was given.
    pub(crate) static ANY_DOCS: cell::Cell<bool> = const { cell::Cell::new(false) };
    /// Whether `--no-mmap` was given.
    pub(crate) static NO_MMAP: cell::Cell<bool> = const { cell::Cell::new(false) };
    /// The commit of stores, if `--commit` was given.
    pub(crate) static COMMIT: cell::Cell<Option<u64>> = const { cell::Cell::new(None) };
}

/// The options of segments, which may come from anyone.
pub(crate) fn open_options() -> OpenOptions {
    let access = if NO_MMAP.get() { Access::Read } else { Access::Map };
    let options = OpenOptions::new().access(access);
    if ANY_DOCS.get() { options } else { options.untrusted() }
}

/// Opens a store at the newest commit, or at that of `--commit`.
pub(crate) fn open_store(path: &Path) -> Result<Snapshot, CliError> {
    let reader = match COMMIT.get() {
        None => StoreReader::open(path, open_options()),
        Some(commit) => StoreReader::open_commit(path, commit, open_options()),
    };
    Ok(reader?.snapshot())
}

/// Opens a segment. Fails for `-`, which cannot be mapped.
pub(crate) fn open(path: &Path) -> Result<Segment, CliError> {
    if COMMIT.get().is_some() {
        let message = format!("--commit: expected the folder of a store, found \"{}\"", path.display());
        return Err(CliError::usage(message));
    }
    if path.as_os_str() == "-" {
        return Err(
            CliError::usage("a segment cannot be read from standard input").hint("give the name of a file")
        );
    }
    Segment::open_with(path, open_options()).map_err(|error| {
        let failure = CliError::from(error);
        if ANY_DOCS.get() {
            return failure;
        }
        match Segment::open_with(path, OpenOptions { untrusted: false, ..open_options() }) {
            Ok(_) => {
                failure.hint("a small file with so many documents may be made to use up memory; --any-docs opens it anyway")
            }
            Err(_) => failure,
        }
    })
}
