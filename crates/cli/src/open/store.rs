//! Stores that a command changes.

use std::path::Path;

use super::files::refuse_lucene;
use super::opener::Opener;
use crate::api::store::{KeepCommits, Store, StoreOptions};
use crate::api::writer::WriterOptions;
use crate::console::Console;
use crate::error::CliError;

impl Opener {
    /// Opens a store to change it.
    pub(crate) fn store_to_change(
        &self,
        folder: &Path,
        keep_commits: Option<KeepCommits>,
        writer: WriterOptions,
    ) -> Result<Store, CliError> {
        refuse_lucene(folder)?;
        Ok(Store::open(folder, self.store_options(keep_commits, writer))?)
    }

    /// The options of a store to change.
    pub(crate) fn store_options(
        &self,
        keep_commits: Option<KeepCommits>,
        writer: WriterOptions,
    ) -> StoreOptions {
        StoreOptions::new().keep_commits(keep_commits).open(self.options()).writer(writer)
    }
}

/// Commits what a command changed.
pub(crate) fn commit(store: &Store, console: &mut Console<'_>) -> Result<(), CliError> {
    store.commit()?;
    note_commit(store, console);
    Ok(())
}

/// Notes a commit that was made, to be said if the report on it cannot be written.
pub(crate) fn note_commit(store: &Store, console: &mut Console<'_>) {
    let (folder, commit) = (store.directory().path().display(), store.snapshot().commit());
    console.done = Some(format!("{folder} has what was asked for, in commit {commit}"));
}
