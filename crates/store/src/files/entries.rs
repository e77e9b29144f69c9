//! The entries of files in a commit.

use docvalues_writer::Summary;
use serde::{Deserialize, Serialize};

use super::hex;

/// A file: its number, length and content id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileEntry {
    pub(crate) number: u64,
    pub(crate) bytes: u64,
    #[serde(with = "hex")]
    pub(crate) id: u128,
}

/// A segment, with the file of its folded deltas, and its side files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SegmentEntry {
    pub(crate) number: u64,
    pub(crate) docs: u32,
    pub(crate) live: u32,
    pub(crate) bytes: u64,
    #[serde(with = "hex")]
    pub(crate) id: u128,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fold: Option<FileEntry>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) side: Vec<SideEntry>,
}

/// The most side files of a segment, so that a commit of all segments is not too long.
const MAX_SIDE_FILES: usize = 4;

/// The longest name of a side file.
const MAX_SIDE_NAME: usize = 64;

/// A side file: the name that the observer gave it, its number, length and content id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SideEntry {
    pub(crate) name: String,
    pub(crate) number: u64,
    pub(crate) bytes: u64,
    #[serde(with = "hex")]
    pub(crate) id: u128,
}

impl SideEntry {
    /// The entry without the name.
    pub(crate) fn file(&self) -> FileEntry {
        FileEntry { number: self.number, bytes: self.bytes, id: self.id }
    }

    /// Fails unless a segment may have a side file `name` after those that it has.
    pub(crate) fn check_next(before: &[SideEntry], name: &str) -> Result<(), String> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if !(1..=MAX_SIDE_NAME).contains(&name.len()) || name.starts_with('.') || !name.bytes().all(is_plain)
        {
            return Err(format!(
                "expected a side file's name of 1 to {MAX_SIDE_NAME} letters, digits, \"-\", \"_\" and \".\" that begins with no \".\", found {name:?}"
            ));
        }
        if before.iter().any(|entry| entry.name == name) {
            return Err(format!("expected another name than that of a side file before, found {name:?}"));
        }
        if before.len() == MAX_SIDE_FILES {
            return Err(format!("expected at most {MAX_SIDE_FILES} side files of a segment, found {name:?}"));
        }
        Ok(())
    }
}

impl FileEntry {
    pub(crate) fn of(number: u64, summary: &Summary) -> FileEntry {
        FileEntry { number, bytes: summary.bytes, id: summary.id }
    }
}

impl SegmentEntry {
    /// The entry without live documents and folds.
    pub(crate) fn file(&self) -> FileEntry {
        FileEntry { number: self.number, bytes: self.bytes, id: self.id }
    }
}
