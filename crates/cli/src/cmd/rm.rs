//! `dv rm`: deletes documents of a store.

use std::io;

use super::store::{commit_json, commit_line, open};
use crate::api::search::Query;
use crate::api::store::Store;
use crate::api::writer::WriterOptions;
use crate::args::RmArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::id_index;
use crate::id_input::IdInput;
use crate::output::json::Json;
use crate::output::text::{printable, thousands};

pub(crate) fn run(args: &RmArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let query = args.query.as_deref().map(Query::parse).transpose()?;
    let store = open(&args.folder, &args.commit, WriterOptions::default())?;
    let mut not_found = Vec::new();
    let deleted = match &query {
        Some(query) => store.delete_where(query)?,
        None => delete_ids(&store, &args.ids, &mut not_found)?,
    };
    store.commit()?;
    if args.json {
        let more = [
            ("deleted", deleted.into()),
            ("not_found", not_found.iter().map(|id| id.as_str().into()).collect()),
        ];
        console.json(&Json::object(commit_json(&args.folder, &store).into_iter().chain(more)))?;
    } else if !args.quiet {
        let (folder, plural) = (args.folder.display(), if deleted == 1 { "" } else { "s" });
        let deleted = thousands(deleted);
        writeln!(console.out, "{folder}: {deleted} document{plural} deleted; {}", commit_line(&store))?;
        console.out.flush()?;
        for id in &not_found {
            console.note(&format!("dv: no document has the id \"{}\"", printable(id)));
        }
    }
    Ok(if not_found.is_empty() { Exit::Ok } else { Exit::Failed })
}

/// Deletes documents by their ids, all or none. Returns how many there were; the ids of no document are added to
/// `not_found`.
fn delete_ids(store: &Store, ids: &[String], not_found: &mut Vec<String>) -> Result<u64, CliError> {
    let snapshot = store.snapshot();
    let schema = snapshot.schema();
    let logical = schema.id_field().and_then(|name| schema.field(name)).map(|field| field.logical);
    let Some(logical) = logical else {
        let message = format!("{}: the store has no column of ids", store.directory().path().display());
        return Err(CliError::failed(message).hint("--where deletes by a query"));
    };
    let inputs = ids.iter().map(|id| match id.as_str() {
        "-" => IdInput::Lines,
        id => IdInput::Id(id.as_bytes().to_vec()),
    });
    let texts = inputs.flat_map(IdInput::all).collect::<io::Result<Vec<_>>>();
    let texts = texts.map_err(|error| CliError::file("<stdin>", &error))?;
    let mut found = Vec::with_capacity(texts.len());
    for text in &texts {
        match id_index::parse(text, logical) {
            Ok(id) if snapshot.find(&id)?.is_some() => found.push(id),
            _ => not_found.push(String::from_utf8_lossy(text).into_owned()),
        }
    }
    Ok(store.delete_ids(&found)?)
}
