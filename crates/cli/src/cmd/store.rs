//! `dv store`: creates stores, and makes their columns wider.

use crate::answer::commit_info::commit_line;
use crate::api::store::{KeepCommits, Store, StoreOptions};
use crate::api::writer::WriterOptions;
use crate::args::store::{AlterArgs, CreateArgs, StoreArgs, StoreCommand};
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::import::schema::requested;
use crate::import::store_schema;
use crate::open::Opener;
use crate::open::files::refuse_lucene;
use crate::open::store::commit;

pub(crate) fn run(args: &StoreArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    match &args.command {
        StoreCommand::Create(args) => create(args, console),
        StoreCommand::Alter(args) => alter(args, opener, console),
    }
}

fn create(args: &CreateArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    refuse_lucene(&args.folder)?;
    let requests = requested(args.schema.as_deref(), &args.types)?;
    let (id_field, version_field) = (args.id_field.as_deref(), args.version_field.as_deref());
    let schema = store_schema::of_requests(&requests, id_field, version_field, &args.sort_by)?;
    let keep_commits = Some(args.commit.keep_commits.unwrap_or(KeepCommits::Newest(2)));
    let options = StoreOptions::new().keep_commits(keep_commits);
    let store = Store::create(&args.folder, schema, options)?;
    let (snapshot, folder) = (store.snapshot(), args.folder.display());
    console.note(&format!("{folder}: commit {}, a store without documents", snapshot.commit()));
    Ok(Exit::Ok)
}

fn alter(args: &AlterArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let requests = requested(None, &args.types)?;
    let how = (args.commit.keep_commits, args.wait.time);
    let store = opener.store_to_change(&args.folder, how, WriterOptions::default())?;
    store.alter(store_schema::altered(store.snapshot().schema(), &requests)?)?;
    commit(&store, console)?;
    console.line(format_args!("{}: {}", args.folder.display(), commit_line(&store)))?;
    Ok(Exit::Ok)
}
