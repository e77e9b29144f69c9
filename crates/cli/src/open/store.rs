//! Stores that a command changes.

use std::path::Path;
use std::time::{Duration, Instant};

use super::files::refuse_lucene;
use super::opener::Opener;
use crate::api::search::Query;
use crate::api::search::calendar::TimeZone;
use crate::api::store::{self, KeepCommits, Store, StoreOptions};
use crate::api::writer::WriterOptions;
use crate::console::Console;
use crate::error::{CliError, Result};
use crate::text::query_time::convert;

/// The time between looks whether another process still writes a store.
const PAUSE: Duration = Duration::from_millis(20);

impl Opener {
    /// Opens a store to change it, which then keeps these commits. Waits so long for another process that writes it.
    pub(crate) fn store_to_change(
        &self,
        folder: &Path,
        (keep_commits, wait): (Option<KeepCommits>, Option<Duration>),
        writer: WriterOptions,
    ) -> Result<Store> {
        refuse_lucene(folder)?;
        let options = self.store_options(keep_commits, writer);
        waiting(wait, || false, || Store::open(folder, options))
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

/// Calls `open` again while another process writes the store: for `time`, or until `is_ended`.
pub(crate) fn waiting<T>(
    time: Option<Duration>,
    is_ended: impl Fn() -> bool,
    open: impl Fn() -> Result<T, store::Error>,
) -> Result<T> {
    let began = Instant::now();
    let waits = || time.is_some_and(|time| began.elapsed() < time) && !is_ended();
    loop {
        match open() {
            Err(store::Error::Busy { .. }) if waits() => std::thread::sleep(PAUSE),
            Err(error @ store::Error::Busy { .. }) => {
                return Err(CliError::from(error).hint("wait until it is done, or with --wait=1min"));
            }
            done => return Ok(done?),
        }
    }
}

/// A condition on the documents of a store, of which dates and times are read as they are printed, in the zone.
pub(crate) fn with_times(store: &Store, mut query: Query, zone: Option<&TimeZone>) -> Query {
    let snapshot = store.snapshot();
    query.map_literals(&mut |column, literal| {
        if let Some(field) = snapshot.schema().field(column) {
            convert(field, zone, literal);
        }
    });
    query
}

/// Commits what a command changed.
pub(crate) fn commit(store: &Store, console: &mut Console<'_>) -> Result<()> {
    store.commit()?;
    note_commit(store, console);
    Ok(())
}

/// Notes a commit that was made, to be said if the report on it cannot be written.
pub(crate) fn note_commit(store: &Store, console: &mut Console<'_>) {
    let (folder, commit) = (store.directory().path().display(), store.snapshot().commit());
    console.done = Some(format!("{folder} has what was asked for, in commit {commit}"));
}
