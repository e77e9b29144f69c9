//! Parquet and Arrow IPC: files that have columns and know their types.
//!
//! ```text
//! parquet | ipc ── RecordBatch ──> batches ── plain arrays of some rows ──> convert ── ConvertedColumn ──> import
//!                                                                         (writer::arrow)
//! ```
//!
//! The libraries that read these files promise nothing for hostile ones. So what they do is done under
//! [`guarded`], and lengths that they would believe are compared with the bytes there are, where one can get at
//! them.

mod batches;
mod convert;
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
use super::source::{InputFormat, Opened, Source};
use crate::api::{Leaf, leaves};

/// A file whose columns are known, and of which nothing else was read.
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
    /// Reads what a file says of its columns.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or only from its end and it is a pipe or compressed.
    pub(crate) fn open(source: &Source, opened: Opened) -> Result<ArrowFile> {
        let name = source.name.clone();
        let seekable = || source.seekable(opened.packed);
        if opened.format == InputFormat::Parquet {
            let (file, source) = (seekable()?, source.clone());
            let parquet = guarded(&name, || parquet::Parquet::open(file, source))?;
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

    /// Its columns.
    pub(crate) fn leaves(&self) -> Vec<Leaf> {
        leaves(&self.schema)
    }
}

/// What `f` gives; as an error of the file `name` where it fails, or panics.
pub(crate) fn guarded<T>(name: &Arc<str>, f: impl FnOnce() -> Result<T, ArrowError>) -> Result<T> {
    static HOOK: Once = Once::new();
    thread_local! { static GUARDED: Cell<bool> = const { Cell::new(false) } }
    // What is printed of a panic is no line for a user.
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
        Ok(Err(error)) => Err(damaged(name, &error)),
        Err(panic) => {
            let message = panic.downcast_ref::<String>().map(String::as_str);
            let message = message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
            Err(damaged(name, &message))
        }
    }
}

fn damaged(name: &str, what: &dyn std::fmt::Display) -> InputError {
    // Some messages have several lines.
    let what = what.to_string();
    let first = what.lines().next().unwrap_or_default();
    InputError::refused(format!("{name}: {first}"), "the file is damaged, or is not what it was read as")
}
