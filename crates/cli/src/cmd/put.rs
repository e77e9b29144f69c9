//! `dv put`: adds documents to a store, batch by batch.

use std::sync::Arc;
use std::time::Duration;

use crate::answer::commit_info::{commit_line, print_json};
use crate::api::store::{Background, BackgroundOptions, Durability, Store};
use crate::args::put::{ProgressFormat, PutArgs};
use crate::console::Console;
use crate::console::progress::Progress;
use crate::error::{CliError, Exit, Result};
use crate::import::ids::quoted;
use crate::import::notes::{tell_joined_numbers, tell_notes};
use crate::import::store_input::{Outcomes, PutPlan, StoreInput};
use crate::import::{Import, ImportOptions, store_schema};
use crate::open::Opener;
use crate::open::files::refuse_lucene;
use crate::open::store::{note_commit, waiting};
use crate::process::end_signal::EndSignal;
use crate::text::{Json, counted, thousands};

/// If an input is a pipe, the longest that a document waits for others of its batch, and the time between commits.
const SECOND: Duration = Duration::from_secs(1);

pub(crate) fn run(args: &PutArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    let end = EndSignal::watch()?;
    // The store first: another writer would make the work in vain.
    let store = open(args, opener, &end);
    if store.is_err()
        && let Some(exit) = end.exit()
    {
        return Ok(exit);
    }
    let store = Arc::new(store?);
    require_ids(args, &store)?;
    let sources = args.input.sources();
    let has_pipe = sources.iter().any(|source| !source.is_replayable());
    let reports_durable = args.progress == ProgressFormat::Json;
    let plan = PutPlan {
        partial: args.partial,
        batch: args.batch,
        apply_every: has_pipe.then_some(SECOND),
        commit_every: args.commit_every.map_or(has_pipe.then_some(SECOND), |every| every.0),
        has_log: args.durability != Durability::OnCommit,
        reports_durable,
        end: end.clone(),
    };
    let prepared = Import::prepare(sources, import_options(args, &store, &end)?);
    let mut import = match (prepared, end.exit()) {
        (Err(_), Some(exit)) => return Ok(exit),
        (prepared, _) => prepared?,
    };
    let wants_progress = console.err_width.is_some() && !args.write.quiet && !reports_durable;
    let mut progress = Progress::new(wants_progress, import.input_size());
    let mut input = StoreInput::new(&store, plan)?;
    let merges = has_pipe.then(|| merge_beside(&store)).transpose()?;
    let put = input.add_all(&mut import, &mut progress, console);
    drop(merges);
    let notes = put.and_then(|()| input.finish(&import, console));
    progress.clear();
    let notes = notes.map_err(|failure| input.fail(failure))?;
    note_commit(&store, console);
    if !args.write.quiet {
        report(args, &store, &import, (&input, &notes), console)?;
    } else {
        tell_joined_numbers(&import, console);
    }
    tell_stale(&input.outcomes, console)?;
    let done = if input.outcomes.not_found == 0 { Exit::Ok } else { Exit::Failed };
    Ok(end.exit().unwrap_or(done))
}

fn open(args: &PutArgs, opener: &Opener, end: &EndSignal) -> Result<Store> {
    refuse_lucene(&args.folder)?;
    let options = opener.store_options(args.commit.keep_commits, args.write.options(args.memory));
    let options = options.durability(args.durability).keep_frames(args.keep_frames as u64);
    // When half of it is used, it is written to a segment, which takes the rest.
    let options = options.buffer_bytes(args.memory / 2);
    waiting(args.wait.time, || end.exit().is_some(), || Store::open(&args.folder, options))
}

/// Merges segments, of which a pipe that goes on adds one with each commit.
fn merge_beside(store: &Arc<Store>) -> Result<Background> {
    let background = Background::start(BackgroundOptions::default())?;
    background.add(store)?;
    Ok(background)
}

/// Fails if documents are to be found by ids that the store does not have.
fn require_ids(args: &PutArgs, store: &Store) -> Result<()> {
    if !args.partial || store.snapshot().schema().id_field().is_some() {
        return Ok(());
    }
    let message =
        format!("{}: --partial: expected a store with ids, found one without", args.folder.display());
    Err(CliError::failed(message).hint("`dv set --where` updates documents by a query"))
}

fn import_options(args: &PutArgs, store: &Store, end: &EndSignal) -> Result<ImportOptions> {
    let snapshot = store.snapshot();
    let mut options = args.input.options(args.memory)?;
    store_schema::require(&args.folder, snapshot.schema(), &mut options.schema)?;
    let of_store = Some(args.folder.to_string_lossy().into_owned());
    let ids = snapshot.schema().id_field().map(str::to_owned);
    let end = Some(end.clone());
    Ok(ImportOptions { batch_rows: args.batch, ids, end, of_store, ..options })
}

fn report(
    args: &PutArgs,
    store: &Store,
    import: &Import,
    (input, notes): (&StoreInput<'_>, &[String]),
    console: &mut Console<'_>,
) -> Result<()> {
    let outcomes = input.outcomes;
    if args.write.json {
        let (skipped, first) = import.skipped();
        let more = [
            ("stale", outcomes.stale.into()),
            ("skipped_rows", skipped.into()),
            ("first_skipped", first.iter().map(|row| row.to_string().into()).collect()),
            ("notes", notes.into()),
        ];
        let counts = counts_json(args, &outcomes).into_iter().chain(more);
        return print_json(&args.folder, store, counts, console);
    }
    let (folder, counts) = (args.folder.display(), counts_line(args, &outcomes));
    console.line(format_args!("{folder}: {counts}; {}", commit_line(store)))?;
    console.out.flush()?;
    if let Some(first) = outcomes.first_not_found {
        let (first, count) = (thousands(first), thousands(outcomes.not_found));
        let of = if outcomes.not_found == 1 { String::new() } else { format!(", the first of {count}") };
        let snapshot = store.snapshot();
        let schema = snapshot.schema();
        let field = schema.id_field().and_then(|name| schema.field(name));
        let id = input.not_found.as_ref().zip(field).map(|(id, field)| quoted(id, field.logical));
        let id = id.map(|id| format!(": {id}")).unwrap_or_default();
        console.note(&format!(
            "dv: document {first} of the input has an id that the store does not have{of}{id}"
        ));
    }
    tell_notes(import, notes, console);
    Ok(())
}

/// Tells a user about stale documents, which changed nothing. Others find the number in the report, or did not ask for one.
fn tell_stale(outcomes: &Outcomes, console: &mut Console<'_>) -> Result<()> {
    let Some(first) = outcomes.first_stale.filter(|_| console.err_width.is_some()) else { return Ok(()) };
    let (count, first) = (counted(outcomes.stale, "document is", "documents are"), thousands(first));
    console.out.flush()?;
    console.note(&format!(
        "dv: {count} stale, document {first} of the input first: the store has the same or a higher version of the id"
    ));
    Ok(())
}

/// The numbers of documents by outcome but stale ones, for JSON.
fn counts_json(args: &PutArgs, outcomes: &Outcomes) -> Vec<(&'static str, Json)> {
    let Outcomes { added, replaced, updated, not_found, first_not_found, .. } = *outcomes;
    if args.partial {
        let counts = [("updated", updated.into()), ("not_found", not_found.into())];
        return counts.into_iter().chain([("first_not_found", first_not_found.into())]).collect();
    }
    vec![("put", (added + replaced).into()), ("added", added.into()), ("replaced", replaced.into())]
}

/// The numbers of documents by outcome, for messages.
fn counts_line(args: &PutArgs, outcomes: &Outcomes) -> String {
    let Outcomes { added, replaced, updated, not_found, stale, .. } = *outcomes;
    let (verb, done) = if args.partial { ("updated", updated) } else { ("put", added + replaced) };
    let mut line = format!("{} {verb}", counted(done, "document", "documents"));
    if !args.partial {
        line += &format!(", {} added, {} replaced", thousands(added), thousands(replaced));
    }
    for (count, what) in [(not_found, "not found"), (stale, "stale")] {
        if count > 0 {
            line += &format!(", {} {what}", thousands(count));
        }
    }
    line
}
