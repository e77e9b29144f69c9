//! [`Opener`]: opens segments, stores and indexes of Lucene as the global options say.

use std::ffi::OsStr;
use std::path::Path;

use super::files::is_readable;
#[cfg(feature = "lucene")]
use crate::api::lucene::FieldType;
use crate::api::store::{Snapshot, StoreReader};
use crate::api::{Access, ErrorKind, OpenOptions, Segment};
use crate::error::{CliError, Exit, Result};
use crate::text::quoting::shell_word;

/// Opens segments and stores as the global options say: --any-docs, --no-mmap, --commit, --lucene-type.
#[derive(Clone, Debug, Default)]
pub(crate) struct Opener {
    pub(crate) any_docs: bool,
    pub(crate) no_mmap: bool,
    /// The commit of stores; `None` for the newest.
    pub(crate) commit: Option<u64>,
    /// The types of fields of Lucene.
    #[cfg(feature = "lucene")]
    pub(crate) lucene_types: Vec<(String, FieldType)>,
}

impl Opener {
    /// The options of segments, which may come from anyone.
    pub(crate) fn options(&self) -> OpenOptions {
        let access = if self.no_mmap { Access::Read } else { Access::Map };
        let options = OpenOptions::new().access(access);
        if self.any_docs { options } else { options.untrusted() }
    }

    /// Opens a store at the newest commit, or at that of `--commit`.
    pub(crate) fn store(&self, path: &Path) -> Result<Snapshot> {
        let reader = match self.commit {
            None => StoreReader::open(path, self.options()),
            Some(commit) => StoreReader::open_commit(path, commit, self.options()),
        };
        Ok(reader?.snapshot())
    }

    /// Opens a segment. Fails for `-`, which cannot be mapped.
    pub(crate) fn segment(&self, path: &Path) -> Result<Segment> {
        if self.commit.is_some() {
            let message = format!("--commit: expected the folder of a store, found \"{}\"", path.display());
            return Err(CliError::usage(message));
        }
        if path.as_os_str() == "-" {
            return Err(CliError::usage("a segment cannot be read from standard input")
                .hint("give the name of a file"));
        }
        Segment::open_with(path, self.options()).map_err(|error| {
            let failure = CliError::from(&error);
            let is_other_file = matches!(error.kind(), ErrorKind::Corrupt { .. }) && !is_readable(path);
            if is_other_file && let Some(command) = build_command(path) {
                return CliError::new(Exit::Unreadable, format!("{}: not a segment", path.display()))
                    .hint(format!("`{command}` makes a segment of CSV, JSON, Parquet or Arrow"));
            }
            if self.any_docs {
                return failure;
            }
            let mut trusted = self.options();
            trusted.untrusted = false;
            match Segment::open_with(path, trusted) {
                Ok(_) => {
                    failure.hint("a small file with so many documents may be made to use up memory; --any-docs opens it anyway")
                }
                Err(_) => failure,
            }
        })
    }
}

/// The command that makes a segment beside a file, unless that is called like a segment.
fn build_command(file: &Path) -> Option<String> {
    let is_packed =
        |extension: &OsStr| ["gz", "zst", "zstd"].iter().any(|name| extension.eq_ignore_ascii_case(name));
    let plain = file.file_stem().filter(|_| file.extension().is_some_and(is_packed));
    let output =
        plain.map_or_else(|| file.to_owned(), |plain| file.with_file_name(plain)).with_extension("dv");
    let word = |path: &Path| shell_word(&path.to_string_lossy()).into_owned();
    (file != output).then(|| format!("dv build {} -o {}", word(file), word(&output)))
}
