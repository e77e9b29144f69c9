//! The description of a commit, for messages and as JSON.

use std::path::Path;
use std::time::SystemTime;

use jiff::{Timestamp, Unit};

use crate::api::store::{CommitInfo, Store};
use crate::text::json::Json;
use crate::text::quoting::thousands;

/// The number of the last commit, of documents and of segments, for messages.
pub(crate) fn commit_line(store: &Store) -> String {
    let snapshot = store.snapshot();
    let (docs, segments) = (thousands(snapshot.docs()), thousands(snapshot.segments().len() as u64));
    let plural = if segments == "1" { "segment" } else { "segments" };
    format!("commit {} has {docs} documents in {segments} {plural}", snapshot.commit())
}

/// The same as entries of a JSON object.
pub(crate) fn commit_json(folder: &Path, store: &Store) -> [(&'static str, Json); 4] {
    let snapshot = store.snapshot();
    [
        ("store", folder.to_string_lossy().into_owned().into()),
        ("commit", snapshot.commit().into()),
        ("documents", snapshot.docs().into()),
        ("segments", snapshot.segments().len().into()),
    ]
}

/// A commit as a JSON object.
pub(crate) fn info_json(info: &CommitInfo) -> Json {
    Json::object([
        ("commit", info.number.into()),
        ("epoch", info.epoch.into()),
        ("sequence", info.sequence.into()),
        ("documents", info.docs.into()),
        ("segments", info.segments.into()),
        ("bytes", info.bytes.into()),
        ("made", info.made.map(made).into()),
    ])
}

/// When a commit was made, in UTC.
pub(crate) fn made(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).and_then(|time| time.round(Unit::Second));
    time.map_or_else(|_| "unknown".to_owned(), |time| time.to_string())
}
