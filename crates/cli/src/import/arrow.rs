//! Parquet and Arrow IPC: files with typed columns.
//!
//! ```text
//! parquet | ipc ── RecordBatch ──> batches ── plain arrays of some rows ──> convert ── ConvertedColumn ──> import
//!                                                                         (writer::arrow)
//! ```
//!
//! The libraries that read these files give no guarantees for hostile files. Calls to them run in [`guarded`], which
//! turns panics into errors. If possible, lengths are checked against the size of the file before the libraries
//! allocate memory for them.

mod batches;
mod convert;
mod int96;
mod ipc;
mod pages;
mod parquet;
mod text;

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Once};

use arrow_schema::{ArrowError, SchemaRef};

pub(crate) use self::convert::{ConvertedColumn, Styles, ValueError, convert};
use super::error::{InputError, Result};
use super::exclude::Exclude;
use super::source::{InputFormat, Opened, Source};
use crate::api::store::error::panic_text;
use crate::api::{Leaf, leaves};

/// A file whose schema was read.
pub(crate) struct ArrowFile {
    name: Arc<str>,
    schema: SchemaRef,
    kind: Kind,
}

enum Kind {
    Parquet(parquet::Parquet),
    Ipc(ipc::Ipc),
}

impl ArrowFile {
    /// Opens a file and reads its schema, and the values of INT96 columns that `exclude` does not have.
    ///
    /// # Errors
    ///
    /// If the file cannot be read. Also if it is a pipe or compressed, and its format requires seeking.
    pub(crate) fn open(source: &Source, opened: Opened, exclude: &Exclude) -> Result<ArrowFile> {
        let name = source.name.clone();
        let seekable = || source.seekable(opened.packed);
        if opened.format == InputFormat::Parquet {
            let (file, source) = (seekable()?, source.clone());
            let parquet = guarded(&name, || parquet::Parquet::open(file, source, exclude))??;
            return Ok(ArrowFile { name, schema: parquet.schema(), kind: Kind::Parquet(parquet) });
        }
        let ipc = if opened.head.starts_with(ipc::MAGIC) {
            let (file, source) = (seekable()?, source.clone());
            guarded(&name, || ipc::Ipc::file(file, source))?
        } else {
            guarded(&name, || ipc::Ipc::stream(opened.reader))?
        };
        Ok(ArrowFile { name, schema: ipc.schema(), kind: Kind::Ipc(ipc) })
    }

    /// The columns of the file.
    pub(crate) fn leaves(&self) -> Vec<Leaf> {
        leaves(&self.schema)
    }
}

/// Calls `f`, and turns an error or a panic into an error that names the file.
pub(crate) fn guarded<T>(name: &Arc<str>, f: impl FnOnce() -> Result<T, ArrowError>) -> Result<T> {
    static HOOK: Once = Once::new();
    thread_local! { static GUARDED: Cell<bool> = const { Cell::new(false) } }
    // The message of a panic is not meant for users.
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                usual(panic)
            }
        }));
    });
    GUARDED.set(true);
    let done = panic::catch_unwind(AssertUnwindSafe(f));
    GUARDED.set(false);
    match done {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(ArrowError::NotYetImplemented(what))) => Err(InputError::refused(
            format!("{name}: {what}"),
            "the file is not damaged: write it in another way, such as compressed with zstd, or leave out columns with --exclude",
        )),
        Ok(Err(error)) => Err(damaged(name, &error)),
        Err(panic) => Err(damaged(name, &panic_text(panic))),
    }
}

fn damaged(name: &str, what: &dyn std::fmt::Display) -> InputError {
    // Some messages have several lines.
    let what = what.to_string();
    let first = what.lines().next().unwrap_or_default();
    InputError::refused(format!("{name}: {first}"), "the file is damaged, or --input-format is wrong")
}
