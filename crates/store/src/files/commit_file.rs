//! The file of a commit: the names of all files of a store at a moment.
//!
//! ```text
//! {
//!   "docvalues_store": 2,        version of this file and of the folder's layout
//!   "number": 42,                in the name of the file; commits of version 1 do not have it, nor the next entry
//!   "previous": { "number": 41, "crc32": "0a1b2c3d" },   the commit from which it was made; left out in the first
//!   "sequence": 107,             of the last batch of changes that it contains
//!   "id": "…16 hex digits",      of the store and its replicas: random
//!   "epoch": 1,                  of the history: recovery begins one of a greater epoch, and so does a new leader
//!   "history": "…16 hex digits", a number that follows from all batches so far
//!   "is_replica": true,          left out if it is not one
//!   "next_number": 184,          of the next segment, fold, delta or log
//!   "highest_version": 0,        external version of any document ever
//!   "first_log": null,           the first log after it, if there are logs
//!   "schema": { "fields": [ { "name": "size", "kind": "numeric", "type": "i64" } ], "id_field": "id" },
//!   "segments": [ { "number": 161, "docs": 1000, "live": 993, "bytes": 20480, "id": "…32 hex digits",
//!                   "fold": { "number": 170, "bytes": 1536, "id": "…" },
//!                   "side": [ { "name": "postings", "number": 162, "bytes": 900, "id": "…" } ] } ],   left out if there are none
//!   "deltas": [ { "number": 183, "bytes": 1408, "id": "…" } ],
//!   "user_data": "…"             bytes of the caller, two hex digits for each; left out if there are none
//! }
//! crc32 0a1b2c3d                 of all bytes before this line
//! ```
//!
//! A file is found by its number, and is the right one if it has this length and this content id.

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::sync::Arc;
use std::time::Duration;

use docvalues_column::MAX_DOCS;
use docvalues_format::error::Section;
use docvalues_storage::{Directory, Source};
use docvalues_terms::lookup::MAX_SEGMENTS;
use serde::{Deserialize, Serialize};

use super::entries::{FileEntry, SegmentEntry, SideEntry};
use super::hex;
use super::names::{FileName, MAX_NUMBER, commit_numbers};
use super::user_data::{self, check_user_data};
use crate::error::{Error, Result};
use crate::options::KeepCommits;
use crate::schema::{SchemaEntry, StoreSchema};

/// The version of the layout that this code writes.
const VERSION: u32 = 2;

/// The longest commit: more than 32,767 segments and 65,000 fields take.
pub(crate) const MAX_BYTES: u64 = 64 << 20;

/// The length of the last line.
const CRC_LINE: usize = "crc32 00000000\n".len();

/// The contents of a commit, as JSON has them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CommitFile {
    #[serde(rename = "docvalues_store")]
    pub(crate) version: u32,
    /// The number in the name of the file; `None` in version 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) number: Option<u64>,
    /// The commit from which it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) previous: Option<PreviousCommit>,
    /// The CRC-32 of the file, once it is written.
    #[serde(skip)]
    pub(crate) checksum: u32,
    pub(crate) sequence: u64,
    /// Of the store and its replicas.
    #[serde(with = "hex")]
    pub(crate) id: u64,
    pub(crate) epoch: u64,
    /// Follows from all batches so far.
    #[serde(with = "hex")]
    pub(crate) history: u64,
    /// Whether the store only takes what a leader sends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_replica: bool,
    pub(crate) next_number: u64,
    pub(crate) highest_version: u64,
    /// Whether a document was given a version by the store.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) assigns_versions: bool,
    pub(crate) first_log: Option<u64>,
    /// See [`keep`](Self::keep).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) keep_commits: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) keep_seconds: Option<u64>,
    /// The microseconds since 1970; `None` for a commit of an earlier release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) made: Option<u64>,
    #[serde(serialize_with = "SchemaEntry::write", deserialize_with = "SchemaEntry::read")]
    pub(crate) schema: StoreSchema,
    pub(crate) segments: Vec<SegmentEntry>,
    pub(crate) deltas: Vec<FileEntry>,
    /// The bytes of [`Store::commit_with`](crate::Store::commit_with).
    #[serde(default, skip_serializing_if = "<[u8]>::is_empty", with = "user_data")]
    pub(crate) user_data: Arc<[u8]>,
}

/// A commit from which another one was made: its number, and the CRC-32 of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PreviousCommit {
    pub(crate) number: u64,
    #[serde(with = "hex")]
    pub(crate) crc32: u32,
}

/// The version alone, whatever else is there.
#[derive(Deserialize)]
struct JustVersion {
    docvalues_store: u32,
}

impl CommitFile {
    /// The commit of an empty store.
    pub(crate) fn new(schema: StoreSchema, epoch: u64, id: u64) -> CommitFile {
        let keep_commits = Some(1);
        CommitFile { version: 1, id, epoch, history: id, keep_commits, schema, ..CommitFile::default() }
    }

    /// The commits that the store keeps.
    pub(crate) fn keep(&self) -> KeepCommits {
        match (self.keep_commits, self.keep_seconds) {
            (Some(count), _) => KeepCommits::Newest(count),
            (None, Some(seconds)) => KeepCommits::Within(Duration::from_secs(seconds)),
            // Earlier releases had it as an option.
            (None, None) => KeepCommits::Newest(2),
        }
    }

    /// Sets the commits that the store keeps.
    pub(crate) fn set_keep(&mut self, keep: KeepCommits) {
        (self.keep_commits, self.keep_seconds) = match keep {
            KeepCommits::Newest(count) => (Some(count), None),
            KeepCommits::Within(time) => (None, Some(time.as_secs())),
        };
    }

    /// The bytes of commit `number`, which was made from the one with this number, unless that is 0.
    pub(crate) fn seal(&mut self, number: u64, (before, crc32): (u64, u32)) -> Vec<u8> {
        (self.version, self.number) = (VERSION, Some(number));
        self.previous = (before > 0).then_some(PreviousCommit { number: before, crc32 });
        let bytes = self.encode();
        self.checksum = crc32fast::hash(&bytes[..bytes.len() - CRC_LINE]);
        bytes
    }

    /// The bytes of the file.
    pub(crate) fn encode(&self) -> Vec<u8> {
        // Only maps with keys other than strings cannot be written, and there are none.
        let mut bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        bytes.push(b'\n');
        let crc = crc32fast::hash(&bytes);
        bytes.extend_from_slice(format!("crc32 {crc:08x}\n").as_bytes());
        bytes
    }

    /// Reads commit `number`.
    ///
    /// # Errors
    ///
    /// If there is no such file, it is damaged or another commit, or its version is newer.
    pub(crate) fn read(directory: &dyn Directory, number: u64) -> Result<CommitFile> {
        let name = FileName::Commit(number).to_string();
        let source = directory.open(OsStr::new(&name))?;
        let file = source.name().to_string();
        let bytes = whole(&source).map_err(|what| Error::Damaged { file: file.clone(), what })?;
        let commit = CommitFile::decode(&bytes, &file)?;
        let damaged = |what: String| Err(Error::Damaged { file, what });
        match commit.number {
            Some(own) if own != number => damaged(format!("expected commit {number}, found commit {own}")),
            None => match numbered_before(directory, number)? {
                Some(older) => damaged(format!(
                    "expected a commit with its number, as commit {older} has, found one of an older release"
                )),
                None => Ok(commit),
            },
            Some(_) => Ok(commit),
        }
    }

    /// Decodes the bytes of `file`.
    pub(crate) fn decode(bytes: &[u8], file: &str) -> Result<CommitFile> {
        let damaged = |what: String| Error::Damaged { file: file.to_owned(), what };
        let (json, line) = bytes.split_at(bytes.len().saturating_sub(CRC_LINE));
        let checksum = crc32fast::hash(json);
        let expected = format!("crc32 {checksum:08x}\n");
        if line != expected.as_bytes() {
            let found = String::from_utf8_lossy(line);
            return Err(damaged(format!(
                "expected {:?} in the last line, found {:?}",
                expected.trim_end(),
                found.trim_end()
            )));
        }
        let of_json =
            |error: serde_json::Error| damaged(format!("expected a commit, found JSON with {error}"));
        let JustVersion { docvalues_store: version } = serde_json::from_slice(json).map_err(of_json)?;
        if version > VERSION {
            return Err(Error::Version { file: file.to_owned(), found: version, known: VERSION });
        }
        let commit: CommitFile = serde_json::from_slice(json).map_err(of_json)?;
        if commit.number.is_some() != (version > 1) {
            let [expected, found] = if version > 1 { ["a", "none"] } else { ["no", "one"] };
            return Err(damaged(format!(
                "expected {expected} number in a commit of version {version}, found {found}"
            )));
        }
        commit.check().map_err(damaged)?;
        Ok(CommitFile { checksum, ..commit })
    }

    /// Checks what the reader of a commit relies on.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.segments.len() > MAX_SEGMENTS {
            return Err(format!("expected at most {MAX_SEGMENTS} segments, found {}", self.segments.len()));
        }
        if let Some(segment) =
            self.segments.iter().find(|entry| entry.docs > MAX_DOCS || entry.live > entry.docs)
        {
            let SegmentEntry { number, docs, live, .. } = segment;
            return Err(format!("segment {number:06x} has {live} live of {docs} documents"));
        }
        for SegmentEntry { side, .. } in &self.segments {
            for (at, entry) in side.iter().enumerate() {
                SideEntry::check_next(&side[..at], &entry.name)?;
            }
        }
        check_user_data(&self.user_data)?;
        let number = self.number.unwrap_or_default();
        if let Some(previous) = self.previous.filter(|previous| previous.number >= number) {
            return Err(format!(
                "expected a commit before {number}, found {} as the previous one",
                previous.number
            ));
        }
        let counters = [self.sequence, self.epoch, self.next_number, number];
        if let Some(counter) = counters.into_iter().find(|counter| *counter > MAX_NUMBER) {
            return Err(format!("expected counters of at most {MAX_NUMBER}, found {counter}"));
        }
        let mut numbers = Vec::new();
        numbers.extend(self.files().filter_map(FileName::number));
        numbers.sort_unstable();
        if let Some(twice) = numbers.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("number {:06x} occurs twice", twice[0]));
        }
        match numbers.last() {
            Some(&last) if last >= self.next_number => {
                Err(format!("expected numbers below {:06x}, found {last:06x}", self.next_number))
            }
            _ => Ok(()),
        }
    }

    /// The names of all files of the commit but its own.
    pub(crate) fn files(&self) -> impl Iterator<Item = FileName> {
        self.named_files().map(|(name, _)| name)
    }

    /// All files of the commit but its own.
    pub(crate) fn named_files(&self) -> std::vec::IntoIter<(FileName, FileEntry)> {
        let mut files = Vec::with_capacity(2 * self.segments.len() + self.deltas.len());
        for entry in &self.segments {
            files.push((FileName::Segment(entry.number), entry.file()));
            if let Some(fold) = entry.fold {
                files.push((FileName::Fold { segment: entry.number, number: fold.number }, fold));
            }
            let side = |side: &SideEntry| {
                (FileName::Side { segment: entry.number, number: side.number }, side.file())
            };
            files.extend(entry.side.iter().map(side));
        }
        files.extend(self.deltas.iter().map(|delta| (FileName::Delta(delta.number), *delta)));
        files.into_iter()
    }
}

/// The last commit before commit `number` that can be read, if it has its number.
fn numbered_before(directory: &dyn Directory, number: u64) -> Result<Option<u64>> {
    let numbers = commit_numbers(directory)?;
    let has_number = |older: u64| {
        let source = directory.open(OsStr::new(&FileName::Commit(older).to_string())).ok()?;
        let commit = CommitFile::decode(&whole(&source).ok()?, "").ok()?;
        Some((older, commit.number.is_some()))
    };
    let mut older = numbers.into_iter().rev().filter(|older| *older < number);
    Ok(older.find_map(has_number).and_then(|(older, has_number)| has_number.then_some(older)))
}

/// All bytes of a commit.
fn whole(source: &Source) -> Result<Vec<u8>, String> {
    let len = usize::try_from(source.len()).ok().filter(|_| source.len() <= MAX_BYTES);
    let len = len.ok_or_else(|| format!("expected at most {MAX_BYTES} bytes, found {}", source.len()))?;
    let bytes = source.read_at(Section::Header, 0, len).map_err(|error| error.to_string())?;
    Ok(bytes.into_owned())
}
