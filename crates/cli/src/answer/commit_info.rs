//! The description of a commit, for messages and as JSON.

use std::path::Path;
use std::time::SystemTime;

use jiff::{Timestamp, Unit};

use crate::api::store::{CommitInfo, Store};
use crate::console::Console;
use crate::error::Result;
use crate::text::{Json, counted};

/// The number of the last commit, of documents and of segments, for messages.
pub(crate) fn commit_line(store: &Store) -> String {
    let snapshot = store.snapshot();
    let segments = counted(snapshot.segments().len() as u64, "segment", "segments");
    let docs = counted(snapshot.docs(), "document", "documents");
    format!("commit {} has {docs} in {segments}", snapshot.commit())
}

/// Prints the same as a JSON object, with `more` entries.
pub(crate) fn print_json(
    folder: &Path,
    store: &Store,
    more: impl IntoIterator<Item = (&'static str, Json)>,
    console: &mut Console<'_>,
) -> Result<()> {
    let snapshot = store.snapshot();
    let entries = [
        ("store", folder.to_string_lossy().into_owned().into()),
        ("commit", snapshot.commit().into()),
        ("documents", snapshot.docs().into()),
        ("segments", snapshot.segments().len().into()),
    ];
    Ok(console.json(Json::object(entries.into_iter().chain(more)))?)
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
        ("user_data_bytes", info.user_data.len().into()),
        ("made", info.made.map(made).into()),
    ])
}

/// When a commit was made, in UTC.
pub(crate) fn made(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).and_then(|time| time.round(Unit::Second));
    time.map_or_else(|_| "unknown".to_owned(), |time| time.to_string())
}
