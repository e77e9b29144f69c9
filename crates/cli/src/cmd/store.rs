//! `dv store`: creates stores, and makes their columns wider. Also what all commands that change a store have in common.

use std::io;
use std::path::Path;
use std::time::SystemTime;

use jiff::{Timestamp, Unit};

use super::build::requested;
use crate::api::store::{CommitInfo, KeepCommits, Store, StoreOptions};
use crate::api::writer::WriterOptions;
use crate::args::{AlterArgs, CommitArgs, CreateArgs, StoreArgs, StoreCommand};
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::import::ids::IdInput;
use crate::import::{ids, store_schema};
use crate::open::opener::Opener;
use crate::text::json::Json;
use crate::text::quoting::thousands;

pub(crate) fn run(args: &StoreArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    match &args.command {
        StoreCommand::Create(args) => create(args, console),
        StoreCommand::Alter(args) => alter(args, opener, console),
    }
}

fn create(args: &CreateArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let requests = requested(args.schema.as_deref(), &args.types)?;
    let (id_field, version_field) = (args.id_field.as_deref(), args.version_field.as_deref());
    let schema = store_schema::of_requests(&requests, id_field, version_field, &args.sort_by)?;
    let keep_commits = Some(args.commit.keep_commits.unwrap_or(KeepCommits::Newest(2)));
    let options = StoreOptions { keep_commits, ..StoreOptions::default() };
    let store = Store::create(&args.folder, schema, options)?;
    let (snapshot, folder) = (store.snapshot(), args.folder.display());
    console.note(&format!("{folder}: commit {}, a store without documents", snapshot.commit()));
    Ok(Exit::Ok)
}

fn alter(args: &AlterArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let requests = requested(None, &args.types)?;
    let store = open(opener, &args.folder, &args.commit, WriterOptions::default())?;
    store.alter(store_schema::altered(store.snapshot().schema(), &requests)?)?;
    commit(&store, console)?;
    console.line(format_args!("{}: {}", args.folder.display(), commit_line(&store)))?;
    Ok(Exit::Ok)
}

/// Opens a store to change it.
pub(super) fn open(
    opener: &Opener,
    folder: &Path,
    commit: &CommitArgs,
    writer: WriterOptions,
) -> Result<Store, CliError> {
    Ok(Store::open(folder, options(opener, commit, writer))?)
}

/// Commits what a command changed.
pub(super) fn commit(store: &Store, console: &mut Console<'_>) -> Result<(), CliError> {
    store.commit()?;
    note_commit(store, console);
    Ok(())
}

/// Notes a commit that was made, to be said if the report on it cannot be written.
pub(super) fn note_commit(store: &Store, console: &mut Console<'_>) {
    let (folder, commit) = (store.directory().path().display(), store.snapshot().commit());
    console.done = Some(format!("{folder} has what was asked for, in commit {commit}"));
}

/// The options of a store to change.
pub(super) fn options(opener: &Opener, commit: &CommitArgs, writer: WriterOptions) -> StoreOptions {
    StoreOptions {
        keep_commits: commit.keep_commits,
        open: opener.options(),
        writer,
        ..StoreOptions::default()
    }
}

/// The ids of the command line, or of standard input for `-`, that documents have. The others are added to `not_found`.
/// A store without ids is an error with this hint.
pub(super) fn find_ids(
    store: &Store,
    ids: &[String],
    hint: &str,
    not_found: &mut Vec<String>,
) -> Result<Vec<Vec<u8>>, CliError> {
    let snapshot = store.snapshot();
    let schema = snapshot.schema();
    let logical = schema.id_field().and_then(|name| schema.field(name)).map(|field| field.logical);
    let Some(logical) = logical else {
        let message = format!("{}: the store has no column of ids", store.directory().path().display());
        return Err(CliError::failed(message).hint(hint));
    };
    let inputs = ids.iter().map(|id| match id.as_str() {
        "-" => IdInput::Lines,
        id => IdInput::Id(id.as_bytes().to_vec()),
    });
    let texts = inputs.flat_map(IdInput::all).collect::<io::Result<Vec<_>>>();
    let texts = texts.map_err(|error| CliError::file("<stdin>", &error))?;
    let mut found = Vec::with_capacity(texts.len());
    for text in &texts {
        match ids::parse(text, logical) {
            Ok(id) if snapshot.find(&id)?.is_some() => found.push(id),
            _ => not_found.push(String::from_utf8_lossy(text).into_owned()),
        }
    }
    Ok(found)
}

/// The number of the last commit, of documents and of segments, for messages.
pub(super) fn commit_line(store: &Store) -> String {
    let snapshot = store.snapshot();
    let (docs, segments) = (thousands(snapshot.docs()), thousands(snapshot.segments().len() as u64));
    let plural = if segments == "1" { "segment" } else { "segments" };
    format!("commit {} has {docs} documents in {segments} {plural}", snapshot.commit())
}

/// The same as entries of a JSON object.
pub(super) fn commit_json(folder: &Path, store: &Store) -> [(&'static str, Json); 4] {
    let snapshot = store.snapshot();
    [
        ("store", folder.to_string_lossy().into_owned().into()),
        ("commit", snapshot.commit().into()),
        ("documents", snapshot.docs().into()),
        ("segments", snapshot.segments().len().into()),
    ]
}

/// A commit as a JSON object.
pub(super) fn info_json(info: &CommitInfo) -> Json {
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
pub(super) fn made(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).and_then(|time| time.round(Unit::Second));
    time.map_or_else(|_| "unknown".to_owned(), |time| time.to_string())
}
