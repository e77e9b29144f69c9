//! `dv set`: changes some columns of documents of a store.

use std::collections::HashSet;

use crate::answer::commit_info::{commit_line, print_json};
use crate::api::search::Query;
use crate::api::store::{Outcome, Store};
use crate::api::writer::WriterOptions;
use crate::args::set::SetArgs;
use crate::console::Console;
use crate::error::{CliError, Exit, Result};
use crate::import::field_changes::FieldChanges;
use crate::import::ids::find_ids;
use crate::open::Opener;
use crate::open::store::{commit, with_times};
use crate::text::{Json, Printer, StoredRef, counted, printable};

/// The number of documents that were updated, and the ids of others.
#[derive(Default)]
struct Updated {
    updated: u64,
    not_found: Vec<String>,
    /// Ids, and the versions that their documents have.
    stale: Vec<(String, u64)>,
    /// Ids, and the columns that would have numbers out of range.
    overflows: Vec<(String, String)>,
}

pub(crate) fn run(args: &SetArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let query = args.query.as_deref().map(Query::parse).transpose()?;
    let how = (args.commit.keep_commits, args.wait.time);
    let store = opener.store_to_change(&args.folder, how, WriterOptions::default())?;
    let (id, changes) = match (&query, args.arguments.split_first()) {
        (Some(_), _) => (None, args.arguments.as_slice()),
        (None, Some((id, changes))) => (Some(id), changes),
        (None, None) => return Err(CliError::usage("expected an id or --where QUERY, found none")),
    };
    let zone = args.tz.as_ref();
    let changes = FieldChanges::parse(&args.folder, changes, &args.unset, store.snapshot().schema(), zone)?;
    let updated = match (query, id) {
        (Some(query), _) => update_where(&store, &with_times(&store, query, zone), &changes)?,
        (None, id) => update_ids(&store, id.map_or(&[], std::slice::from_ref), &changes)?,
    };
    commit(&store, console)?;
    if !args.quiet {
        report(args, &store, &updated, console)?;
    }
    let is_done = updated.not_found.is_empty() && updated.stale.is_empty() && updated.overflows.is_empty();
    Ok(if is_done { Exit::Ok } else { Exit::Failed })
}

fn update_where(store: &Store, query: &Query, changes: &FieldChanges) -> Result<Updated> {
    store.set_fields(changes.new_formats())?;
    let mut batch = store.batch()?;
    changes.add_to(&mut batch, None)?;
    Ok(Updated { updated: store.update_where(query, batch)?, ..Updated::default() })
}

/// Updates documents by their ids, in one batch.
fn update_ids(store: &Store, ids: &[String], changes: &FieldChanges) -> Result<Updated> {
    let mut updated = Updated::default();
    let mut found = find_ids(store, ids, "--where updates by a query", &mut updated.not_found)?;
    let mut known = HashSet::new();
    found.retain(|id| known.insert(id.clone()));
    if found.is_empty() {
        return Ok(updated);
    }
    store.set_fields(changes.new_formats())?;
    let mut batch = store.batch()?;
    let snapshot = store.snapshot();
    let id_field = snapshot.schema().id_field().and_then(|name| snapshot.schema().field(name));
    let Some(id_field) = id_field else { return Ok(updated) };
    for id in &found {
        changes.add_to(&mut batch, Some((&id_field.name, id)))?;
    }
    let printer = Printer::of(id_field);
    for (id, outcome) in found.iter().zip(store.apply(batch)?.outcomes) {
        let id = || printer.to_text(StoredRef::Bytes(id));
        match outcome {
            Outcome::NotFound => updated.not_found.push(id()),
            Outcome::Stale { current } => updated.stale.push((id(), current)),
            Outcome::Overflow { field } => {
                let name = snapshot.schema().fields().get(field).map(|field| field.name.clone());
                updated.overflows.push((id(), name.unwrap_or_default()));
            }
            _ => updated.updated += 1,
        }
    }
    Ok(updated)
}

fn report(
    args: &SetArgs,
    store: &Store,
    Updated { updated, not_found, stale: stale_documents, overflows }: &Updated,
    console: &mut Console<'_>,
) -> Result<()> {
    if args.json {
        let stale = |(id, version): &(String, u64)| {
            Json::object([("id", id.as_str().into()), ("version", (*version).into())])
        };
        let overflow = |(id, column): &(String, String)| {
            Json::object([("id", id.as_str().into()), ("column", column.as_str().into())])
        };
        let mut more: Vec<(&'static str, Json)> = vec![
            ("updated", (*updated).into()),
            ("not_found", not_found.iter().map(|id| id.as_str().into()).collect()),
            ("stale", stale_documents.iter().map(stale).collect()),
        ];
        if !overflows.is_empty() {
            more.push(("overflows", overflows.iter().map(overflow).collect()));
        }
        return print_json(&args.folder, store, more, console);
    }
    let (folder, updated) = (args.folder.display(), counted(*updated, "document", "documents"));
    console.line(format_args!("{folder}: {updated} updated; {}", commit_line(store)))?;
    console.out.flush()?;
    for id in not_found {
        console.note(&format!("dv: no document has the id \"{}\"", printable(id)));
    }
    for (id, version) in stale_documents {
        let id = printable(id);
        console.note(&format!("dv: the document with the id \"{id}\" has version {version} already"));
    }
    for (id, column) in overflows {
        let id = printable(id);
        console.note(&format!(
            "dv: the document with the id \"{id}\" stays as it is: the result in column {column:?} is out of range"
        ));
    }
    Ok(())
}
