//! `dv put`: adds documents to a store.

use super::build::{prepare_with, requested, tell_notes};
use super::store::{commit_json, commit_line, open};
use crate::api::store::{Added, NewSegment, Store};
use crate::args::PutArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::input::import::Import;
use crate::output::json::Json;
use crate::output::text::thousands;
use crate::progress::Progress;
use crate::segment_input::SegmentInput;
use crate::store_schema;

pub(crate) fn run(args: &PutArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    // The store first: another writer would make the work in vain.
    let store = open(&args.folder, &args.commit, args.write.options(args.memory))?;
    let mut requests = requested(args.input.schema.as_deref(), &args.input.types)?;
    store_schema::require(store.snapshot().schema(), &mut requests)?;
    let mut import = prepare_with(requests, &args.input, args.memory)?;
    let mut progress = Progress::new(console.err_is_terminal && !args.write.quiet, import.input_size());
    let added = put(&store, &mut import, &mut progress, console);
    progress.clear(console.err);
    let (added, notes) = added?;
    if !args.write.quiet {
        report(args, &store, &import, (added, &notes), console)?;
    }
    Ok(Exit::Ok)
}

/// Writes a segment and commits it. Returns notes for the user.
fn put(
    store: &Store,
    import: &mut Import,
    progress: &mut Progress,
    console: &mut Console<'_>,
) -> Result<(Added, Vec<String>), CliError> {
    let mut segment = store.new_segment()?;
    let mut input = SegmentInput::of_store(segment.writer());
    input.add_all(import, progress, console)?;
    let notes = input.finish(import)?;
    require_ids(store, import)?;
    add_fields(store, import, &mut segment)?;
    let added = segment.finish()?;
    store.commit()?;
    Ok((added, notes))
}

/// Fails if a document has no id, because none could replace it.
fn require_ids(store: &Store, import: &Import) -> Result<(), CliError> {
    let snapshot = store.snapshot();
    let Some(id_field) = snapshot.schema().id_field() else { return Ok(()) };
    let ids = import.columns().iter().find(|column| column.name == id_field && !column.excluded);
    match import.documents() - ids.map_or(0, |column| column.values) {
        0 => Ok(()),
        lacking => {
            let (lacking, all) = (thousands(lacking), thousands(import.documents()));
            let message = format!("column {id_field:?}: {lacking} of {all} documents have no id");
            Err(CliError::failed(message)
                .hint("leave them out of the input, or put them into a store without ids"))
        }
    }
}

/// Adds new columns to the schema of the store, in the order of the input.
fn add_fields(store: &Store, import: &Import, segment: &mut NewSegment<'_>) -> Result<(), CliError> {
    for column in import.columns().iter().filter(|column| column.is_stored()) {
        let schema = segment.writer().schema();
        let spec = schema.field(&column.name).and_then(|field| schema.get(field));
        if let Some(field) = spec.map(store_schema::field)
            && store.snapshot().schema().field(&column.name).is_none()
        {
            store.add_field(field)?;
        }
    }
    Ok(())
}

fn report(
    args: &PutArgs,
    store: &Store,
    import: &Import,
    (added, notes): (Added, &[String]),
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    if args.write.json {
        let (skipped, first) = import.skipped();
        let more = [
            ("put", added.docs.into()),
            ("replaced", added.replaced.into()),
            ("skipped_rows", skipped.into()),
            ("first_skipped", first.iter().map(|row| row.to_string().into()).collect()),
            ("notes", notes.into()),
        ];
        return Ok(console.json(&Json::object(commit_json(&args.folder, store).into_iter().chain(more)))?);
    }
    let plural = if added.docs == 1 { "" } else { "s" };
    let (put, replaced) = (thousands(added.docs.into()), thousands(added.replaced));
    let folder = args.folder.display();
    writeln!(
        console.out,
        "{folder}: {put} document{plural} put, {replaced} replaced; {}",
        commit_line(store)
    )?;
    console.out.flush()?;
    tell_notes(import, notes, console);
    Ok(())
}
