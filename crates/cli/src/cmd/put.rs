//! `dv put`: adds documents to a store, batch by batch.

use std::sync::Arc;
use std::time::Duration;

use super::build::{options, sources, tell_notes};
use super::store::{self, commit_json, commit_line};
use crate::api::store::{Background, BackgroundOptions, Durability, Store, StoreOptions};
use crate::args::{ProgressFormat, PutArgs};
use crate::console::Console;
use crate::end_signal::EndSignal;
use crate::error::{CliError, Exit};
use crate::input::import::{Import, ImportOptions};
use crate::output::json::Json;
use crate::output::text::thousands;
use crate::progress::Progress;
use crate::store_input::{Outcomes, PutPlan, StoreInput};
use crate::store_schema;

/// If an input is a pipe, the longest that a document waits for others of its batch, and the time between commits.
const SECOND: Duration = Duration::from_secs(1);

pub(crate) fn run(args: &PutArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let end = EndSignal::watch().map_err(|error| CliError::failed(format!("signals: {error}")))?;
    // The store first: another writer would make the work in vain.
    let store = Arc::new(open(args)?);
    require_versions(args, &store)?;
    let sources = sources(&args.input);
    let has_pipe = sources.iter().any(|source| !source.is_replayable());
    let reports_durable = args.progress == ProgressFormat::Json;
    let plan = PutPlan {
        batch: args.batch,
        apply_every: has_pipe.then_some(SECOND),
        commit_every: args.commit_every.map_or(has_pipe.then_some(SECOND), |every| every.0),
        has_log: args.durability != Durability::OnCommit,
        reports_durable,
        end: end.clone(),
    };
    let mut import = match Import::prepare(sources, import_options(args, &store, &end)?) {
        Err(_) if let Some(exit) = end.exit() => return Ok(exit),
        import => import?,
    };
    let wants_progress = console.err_is_terminal && !args.write.quiet && !reports_durable;
    let mut progress = Progress::new(wants_progress, import.input_size());
    let mut input = StoreInput::new(&store, plan)?;
    let merges = has_pipe.then(|| merge_beside(&store)).transpose()?;
    let put = input.add_all(&mut import, &mut progress, console);
    drop(merges);
    let notes = put.and_then(|()| input.finish(&import, console));
    progress.clear(console.err);
    let notes = notes.map_err(|failure| input.fail(failure))?;
    if !args.write.quiet {
        report(args, &store, &import, (input.outcomes(), &notes), console)?;
    }
    Ok(end.exit().unwrap_or(Exit::Ok))
}

fn open(args: &PutArgs) -> Result<Store, CliError> {
    let options = StoreOptions {
        durability: args.durability,
        // When half of it is used, it is written to a segment, which takes the rest.
        buffer_bytes: args.memory / 2,
        ..store::options(&args.commit, args.write.options(args.memory))
    };
    Ok(Store::open(&args.folder, options)?)
}

/// Merges segments, of which a pipe that goes on adds one with each commit.
fn merge_beside(store: &Arc<Store>) -> Result<Background, CliError> {
    let background = Background::start(BackgroundOptions::default())?;
    background.add(store)?;
    Ok(background)
}

/// Fails if the store does not have the field of versions that the user expects.
fn require_versions(args: &PutArgs, store: &Store) -> Result<(), CliError> {
    let Some(asked) = &args.version_field else { return Ok(()) };
    let snapshot = store.snapshot();
    let expected = format!("{}: expected the version field {asked:?}", args.folder.display());
    match snapshot.schema().version_field() {
        Some(found) if found == asked => Ok(()),
        Some(found) => Err(CliError::failed(format!("{expected}, found {found:?}"))
            .hint(format!("put with --version-field {found}, or without it"))),
        None => Err(CliError::failed(format!("{expected}, found a store without versions")).hint(format!(
            "create another store with --version-field {asked}, and put the documents of this one there"
        ))),
    }
}

fn import_options(args: &PutArgs, store: &Store, end: &EndSignal) -> Result<ImportOptions, CliError> {
    let snapshot = store.snapshot();
    let mut options = options(&args.input, args.memory)?;
    store_schema::require(snapshot.schema(), &mut options.schema)?;
    let ids = snapshot.schema().id_field().map(str::to_owned);
    Ok(ImportOptions { batch_rows: args.batch, ids, end: Some(end.clone()), ..options })
}

fn report(
    args: &PutArgs,
    store: &Store,
    import: &Import,
    (outcomes, notes): (Outcomes, &[String]),
    console: &mut Console<'_>,
) -> Result<(), CliError> {
    let Outcomes { added, replaced, stale } = outcomes;
    let put = added + replaced;
    if args.write.json {
        let (skipped, first) = import.skipped();
        let more = [
            ("put", put.into()),
            ("added", added.into()),
            ("replaced", replaced.into()),
            ("stale", stale.into()),
            ("skipped_rows", skipped.into()),
            ("first_skipped", first.iter().map(|row| row.to_string().into()).collect()),
            ("notes", notes.into()),
        ];
        return Ok(console.json(&Json::object(commit_json(&args.folder, store).into_iter().chain(more)))?);
    }
    let plural = if put == 1 { "" } else { "s" };
    let [put, added, replaced] = [put, added, replaced].map(thousands);
    let stale = if stale > 0 { format!(", {} stale", thousands(stale)) } else { String::new() };
    let folder = args.folder.display();
    writeln!(
        console.out,
        "{folder}: {put} document{plural} put, {added} added, {replaced} replaced{stale}; {}",
        commit_line(store)
    )?;
    console.out.flush()?;
    tell_notes(import, notes, console);
    Ok(())
}
