//! The file of a commit: the names of all files of a store at a moment.
//!
//! ```text
//! {
//!   "docvalues_store": 2,        version of this file and of the folder's layout
//!   "number": 42,                in the name of the file; commits of version 1 do not have it, nor the next entry
//!   "previous": { "number": 41, "crc32": "0a1b2c3d" },   the commit from which it was made; left out in the first
//!   "sequence": 107,             of the last batch of changes that it contains
//!   "id": "…16 hex digits",      of the store and its replicas: random
//!   "epoch": 1,                  counts the histories of the store: recovery begins a new one, and so does a new leader
//!   "history": "…16 hex digits", a number that follows from all batches so far
//!   "is_replica": true,          left out if it is not one
//!   "next_number": 184,          of the next segment, fold, delta or log
//!   "highest_version": 0,        external version of any document ever
//!   "first_log": null,           the first log after it, if there are logs
//!   "schema": { "fields": [ { "name": "size", "kind": "numeric", "type": "i64" } ], "id_field": "id" },
//!   "segments": [ { "number": 161, "docs": 1000, "live": 993, "bytes": 20480, "id": "…32 hex digits",
//!                   "fold": { "number": 170, "bytes": 1536, "id": "…" } } ],
//!   "deltas": [ { "number": 183, "bytes": 1408, "id": "…" } ]
//! }
//! crc32 0a1b2c3d                 of all bytes before this line
//! ```
//!
//! A file is found by its number, and is the right one if it has this length and this content id.

use docvalues_storage::{Directory, Source};
use docvalues_writer::Summary;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::time::Duration;

use docvalues_column::MAX_DOCS;
use docvalues_format::error::Section;
use docvalues_terms::lookup::MAX_SEGMENTS;

use super::names::{FileName, MAX_NUMBER, commit_numbers};
use crate::error::{Error, Result};
use crate::options::KeepCommits;
use crate::schema::{SchemaEntry, StoreSchema};

/// The version of the layout that this code writes.
const VERSION: u32 = 2;

/// The longest commit: more than 32,767 segments and 65,000 fields take.
pub(crate) const MAX_BYTES: u64 = 64 << 20;

/// The length of the last line.
const CRC_LINE: usize = "crc32 00000000\n".len();

/// The contents of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommitFile {
    /// The number in the name of the file; `None` in version 1.
    pub(crate) number: Option<u64>,
    /// The commit from which it was made.
    pub(crate) previous: Option<PreviousCommit>,
    /// The CRC-32 of the file, once it is written.
    pub(crate) checksum: u32,
    pub(crate) sequence: u64,
    /// Of the store and its replicas.
    pub(crate) id: u64,
    pub(crate) epoch: u64,
    /// Follows from all batches so far.
    pub(crate) history: u64,
    /// Whether the store only takes what a leader sends.
    pub(crate) is_replica: bool,
    pub(crate) next_number: u64,
    pub(crate) highest_version: u64,
    /// Whether a document was given a version by the store.
    pub(crate) assigns_versions: bool,
    pub(crate) first_log: Option<u64>,
    pub(crate) keep: KeepCommits,
    /// The microseconds since 1970; `None` for a commit of an earlier release.
    pub(crate) made: Option<u64>,
    pub(crate) schema: StoreSchema,
    pub(crate) segments: Vec<SegmentEntry>,
    pub(crate) deltas: Vec<FileEntry>,
}

/// A commit from which another one was made: its number, and the CRC-32 of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PreviousCommit {
    pub(crate) number: u64,
    #[serde(with = "hex")]
    pub(crate) crc32: u32,
}

/// A file: its number, length and content id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileEntry {
    pub(crate) number: u64,
    pub(crate) bytes: u64,
    #[serde(with = "hex")]
    pub(crate) id: u128,
}

/// A segment, with the file of its folded deltas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// The file as JSON has it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Json {
    docvalues_store: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    previous: Option<PreviousCommit>,
    sequence: u64,
    #[serde(with = "hex")]
    id: u64,
    epoch: u64,
    #[serde(with = "hex")]
    history: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_replica: bool,
    next_number: u64,
    highest_version: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    assigns_versions: bool,
    first_log: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    keep_commits: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    keep_seconds: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    made: Option<u64>,
    schema: SchemaEntry,
    segments: Vec<SegmentEntry>,
    deltas: Vec<FileEntry>,
}

/// The version alone, whatever else is there.
#[derive(Deserialize)]
struct JustVersion {
    docvalues_store: u32,
}

impl CommitFile {
    /// The commit of an empty store.
    pub(crate) fn new(schema: StoreSchema, epoch: u64, id: u64) -> CommitFile {
        CommitFile {
            number: None,
            previous: None,
            checksum: 0,
            sequence: 0,
            id,
            epoch,
            history: id,
            is_replica: false,
            next_number: 0,
            highest_version: 0,
            assigns_versions: false,
            first_log: None,
            keep: KeepCommits::Newest(1),
            made: None,
            schema,
            segments: Vec::new(),
            deltas: Vec::new(),
        }
    }

    /// The bytes of commit `number`, which was made from the one with this number, unless that is 0.
    pub(crate) fn seal(&mut self, number: u64, (before, crc32): (u64, u32)) -> Vec<u8> {
        self.number = Some(number);
        self.previous = (before > 0).then_some(PreviousCommit { number: before, crc32 });
        let bytes = self.encode();
        self.checksum = crc32fast::hash(&bytes[..bytes.len() - CRC_LINE]);
        bytes
    }

    /// The bytes of the file.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let (keep_commits, keep_seconds) = match self.keep {
            KeepCommits::Newest(count) => (Some(count), None),
            KeepCommits::Within(time) => (None, Some(time.as_secs())),
        };
        let json = Json {
            docvalues_store: if self.number.is_some() { VERSION } else { 1 },
            number: self.number,
            previous: self.previous,
            sequence: self.sequence,
            id: self.id,
            epoch: self.epoch,
            history: self.history,
            is_replica: self.is_replica,
            next_number: self.next_number,
            highest_version: self.highest_version,
            assigns_versions: self.assigns_versions,
            first_log: self.first_log,
            keep_commits,
            keep_seconds,
            made: self.made,
            schema: (&self.schema).into(),
            segments: self.segments.clone(),
            deltas: self.deltas.clone(),
        };
        // Only maps with keys other than strings cannot be written, and there are none.
        let mut bytes = serde_json::to_vec_pretty(&json).unwrap_or_default();
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
        let json: Json = serde_json::from_slice(json).map_err(of_json)?;
        if json.number.is_some() != (version > 1) {
            let [expected, found] = if version > 1 { ["a", "none"] } else { ["no", "one"] };
            return Err(damaged(format!(
                "expected {expected} number in a commit of version {version}, found {found}"
            )));
        }
        let commit = CommitFile {
            number: json.number,
            previous: json.previous,
            checksum,
            sequence: json.sequence,
            id: json.id,
            epoch: json.epoch,
            history: json.history,
            is_replica: json.is_replica,
            next_number: json.next_number,
            highest_version: json.highest_version,
            assigns_versions: json.assigns_versions,
            first_log: json.first_log,
            keep: match (json.keep_commits, json.keep_seconds) {
                (Some(count), _) => KeepCommits::Newest(count),
                (None, Some(seconds)) => KeepCommits::Within(Duration::from_secs(seconds)),
                // Earlier releases had it as an option.
                (None, None) => KeepCommits::Newest(2),
            },
            made: json.made,
            schema: json.schema.try_into().map_err(damaged)?,
            segments: json.segments,
            deltas: json.deltas,
        };
        commit.check().map_err(damaged)?;
        Ok(commit)
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

/// Numbers as hexadecimal digits, two for each byte.
mod hex {
    use std::fmt::LowerHex;

    use serde::de::{Deserialize, Deserializer, Error as _};
    use serde::ser::Serializer;

    pub(super) fn serialize<N: LowerHex, S: Serializer>(
        number: &N,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let digits = 2 * size_of::<N>();
        serializer.collect_str(&format_args!("{number:0digits$x}"))
    }

    pub(super) fn deserialize<'de, N, D>(deserializer: D) -> Result<N, D::Error>
    where
        N: LowerHex + TryFrom<u128>,
        D: Deserializer<'de>,
    {
        let (text, digits) = (String::deserialize(deserializer)?, 2 * size_of::<N>());
        let number = u128::from_str_radix(&text, 16).ok().and_then(|number| N::try_from(number).ok());
        number
            .filter(|number| format!("{number:0digits$x}") == text)
            .ok_or_else(|| D::Error::custom(format!("expected {digits} hexadecimal digits")))
    }
}

#[cfg(test)]
mod tests {
    use docvalues_column::{Field, Kind, LogicalType, SortKey};

    use super::*;

    fn commit() -> CommitFile {
        let file = |number| FileEntry { number, bytes: 7 * number, id: u128::from(number) << 90 };
        let segment =
            |number: u64, fold| SegmentEntry { number, docs: 1_000, live: 993, bytes: 20_480, id: 7, fold };
        let schema = StoreSchema::new()
            .with_field(Field::new("id", Kind::Binary, LogicalType::Utf8))
            .and_then(|schema| schema.with_field(Field::new("size", Kind::Numeric, LogicalType::I64)))
            .and_then(|schema| schema.with_id_field("id"))
            .and_then(|schema| schema.with_sort([SortKey::of("size").descending()]))
            .unwrap();
        CommitFile {
            number: Some(42),
            previous: Some(PreviousCommit { number: 41, crc32: 0x0a1b_2c3d }),
            checksum: 0,
            sequence: 107,
            id: 7,
            epoch: 1,
            history: 0xfeed,
            is_replica: false,
            next_number: 184,
            highest_version: 0,
            assigns_versions: true,
            first_log: None,
            keep: KeepCommits::Within(Duration::from_secs(3_600)),
            made: Some(1_790_000_000_000_000),
            schema,
            segments: vec![segment(161, Some(file(170))), segment(3, None)],
            deltas: vec![file(183)],
        }
    }

    #[test]
    fn commits_are_read_as_they_are_written() {
        let mut commit = commit();
        let bytes = commit.seal(42, (41, 0x0a1b_2c3d));
        assert_eq!(CommitFile::decode(&bytes, "c").unwrap(), commit);
        assert_eq!(
            String::from_utf8(bytes).unwrap().lines().last(),
            Some(&*format!("crc32 {:08x}", commit.checksum))
        );
        // As in version 1.
        let older = CommitFile { number: None, previous: None, ..commit.clone() };
        let bytes = older.encode();
        assert!(bytes.starts_with(b"{\n  \"docvalues_store\": 1,\n  \"sequence\": 107,"));
        assert_eq!(CommitFile::decode(&bytes, "c").unwrap().encode(), bytes);
        let names: Vec<String> = commit.files().map(|name| name.to_string()).collect();
        assert_eq!(names, ["seg-0000a1.dv", "seg-0000a1.g0000aa.dv", "seg-000003.dv", "delta-0000b7.dv"]);
    }

    /// The bytes of a commit, with its checksum made right again.
    fn sealed(json: &str) -> Vec<u8> {
        let crc = crc32fast::hash(json.as_bytes());
        format!("{json}crc32 {crc:08x}\n").into_bytes()
    }

    #[test]
    fn every_flipped_bit_is_damage() {
        let bytes = commit().encode();
        for at in 0..bytes.len() * 8 {
            let mut bytes = bytes.clone();
            bytes[at / 8] ^= 1 << (at % 8);
            let error = CommitFile::decode(&bytes, "c").unwrap_err();
            assert!(matches!(error, Error::Damaged { .. }), "{error}");
        }
        for len in 0..bytes.len() {
            CommitFile::decode(&bytes[..len], "c").unwrap_err();
        }
    }

    #[test]
    fn hostile_commits_are_refused() {
        let text = String::from_utf8(commit().encode()).unwrap();
        let json = text.rsplit_once("crc32").unwrap().0;
        CommitFile::decode(&sealed(json), "c").unwrap();
        let edits = [
            (
                "\"docvalues_store\": 2",
                "\"docvalues_store\": 3",
                "expected a store of version 2 at most, found version 3",
            ),
            (
                "\"docvalues_store\": 2",
                "\"docvalues_store\": 1",
                "expected no number in a commit of version 1",
            ),
            ("\"number\": 42,\n", "", "expected a number in a commit of version 2"),
            ("\"number\": 41", "\"number\": 42", "expected a commit before 42, found 42 as the previous one"),
            ("0a1b2c3d", "0A1B2C3D", "expected 8 hexadecimal digits"),
            ("\"number\": 42", "\"number\": 18446744073709551615", "counters of at most"),
            ("\"number\": 161", "\"number\": 3", "number 000003 occurs twice"),
            ("\"number\": 161", "\"number\": -1", "expected a commit, found JSON"),
            ("\"next_number\": 184", "\"next_number\": 183", "expected numbers below 0000b7, found 0000b7"),
            ("\"next_number\": 184", "\"next_number\": 18446744073709551615", "counters of at most"),
            ("\"live\": 993", "\"live\": 1001", "segment 0000a1 has 1001 live of 1000 documents"),
            ("\"docs\": 1000", "\"docs\": 4294967295", "live of 4294967295 documents"),
            ("\"kind\": \"numeric\"", "\"kind\": \"tensor\"", "field \"size\": expected a kind and a type"),
            ("\"name\": \"size\"", "\"name\": \"id\"", "field \"id\" occurs twice"),
            ("\"id_field\": \"id\"", "\"id_field\": \"size\"", "expected a binary field of ids"),
            ("\"epoch\": 1", "\"epoch\": 1, \"more\": 1", "unknown field"),
            (
                "0000000000000007\",\n      \"fold\"",
                "000000000000000G\",\n      \"fold\"",
                "32 hexadecimal digits",
            ),
        ];
        // More fields than a segment has, and more keys than one is sorted by: neither takes long.
        let many = |entry: &str, count: usize| {
            let entries: Vec<String> = (0..count).map(|at| entry.replace('#', &at.to_string())).collect();
            entries.join(",") + ","
        };
        let fields = many(r#"{"name":"f#","kind":"numeric","type":"i64"}"#, 200_000);
        let keys = many(r#"{"field":"size"}"#, 200_000);
        for (list, entries, expected) in [
            ("\"fields\": [", &fields, "expected at most 64984 fields"),
            ("\"sort\": [", &keys, "expected at most 16 sort keys, found 200001"),
        ] {
            let edited = json.replacen(list, &format!("{list}{entries}"), 1);
            assert_ne!(edited, json);
            let error = CommitFile::decode(&sealed(&edited), "c").unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        for (from, to, expected) in edits {
            let edited = json.replacen(from, to, 1);
            assert_ne!(edited, json);
            let error = CommitFile::decode(&sealed(&edited), "c").unwrap_err().to_string();
            assert!(error.starts_with("c: ") && error.contains(expected), "{error}");
        }
    }
}
