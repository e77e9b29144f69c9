//! `dv replicate`: sends the changes of a store to a replica, or into a folder.

use std::io;
use std::path::Path;
use std::time::Duration;

use crate::api::store::{self, Feed, FolderDepot, Published, StoreReader, StreamWriter};
use crate::args::replica::{From, ReplicateArgs};
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::process::end_signal::EndSignal;
use crate::text::quoting::counted;

/// A signal ends the command after this time at the latest.
const TURN: Duration = Duration::from_millis(200);

pub(crate) fn run(args: &ReplicateArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
    let end = EndSignal::watch()?;
    match &args.to {
        Some(to) => {
            // No folder is made for what is no store.
            StoreReader::commits(&args.folder)?;
            publish(args, (to, &depot(to)?), &end, console)
        }
        None if console.out_width.is_some() => {
            Err(CliError::usage("standard output is a terminal, expected a pipe to `dv replica`"))
        }
        None => send(args, console, &end),
    }
}

/// Opens a folder for files of commits.
pub(super) fn depot(folder: &Path) -> Result<FolderDepot, CliError> {
    FolderDepot::open(folder).map_err(|error| match error {
        store::Error::Request(_) => CliError::from(error).hint(
            "commands that write a folder of commits make it a store, which others read from then on; give the next commits an empty folder",
        ),
        error => error.into(),
    })
}

/// Sends frames and files to standard output.
fn send(args: &ReplicateArgs, console: &mut Console<'_>, end: &EndSignal) -> Result<Exit, CliError> {
    let mut feed = match args.from {
        From::Position(position) => Feed::open(&args.folder, position),
        From::Batch(batch) => Feed::open_after(&args.folder, batch),
    };
    let mut stream = StreamWriter::new(&mut *console.out);
    loop {
        let time = if args.once { Duration::ZERO } else { TURN };
        let sent = match feed.send_within(&mut stream, time) {
            // Whoever read the pipe has ended.
            Err(store::Error::Stream(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
                return Ok(Exit::Ok);
            }
            sent => sent?,
        };
        if !sent && args.once && feed.sent() == (0, 0) {
            require_commit(args, StoreReader::position(&args.folder)?.epoch)?;
        }
        // Nothing is written while nothing happens, so a closed pipe would not show.
        if !sent && !args.once && is_closed() {
            return Ok(Exit::Ok);
        }
        if let Some(exit) = end.exit().or((!sent && args.once).then_some(Exit::Ok)) {
            stream.end()?;
            stream.flush()?;
            return Ok(exit);
        }
    }
}

/// Fails if there is nothing to send: a replica that has received nothing is in no epoch.
fn require_commit(args: &ReplicateArgs, epoch: u64) -> Result<(), CliError> {
    match epoch {
        0 => {
            let folder = args.folder.display();
            Err(CliError::failed(format!("{folder}: expected a commit to send, found an empty replica"))
                .hint("`dv replica` fills it first"))
        }
        _ => Ok(()),
    }
}

/// Whether nobody reads standard output any more.
#[cfg(unix)]
fn is_closed() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdout = io::stdout();
    let mut polled = [PollFd::new(&stdout, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&now)).is_ok() && polled[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// The next write tells.
#[cfg(not(unix))]
fn is_closed() -> bool {
    false
}

/// The error for a folder that has other commits.
fn refused(to: &Path, error: store::Error) -> CliError {
    use store::Error::{Diverged, LaterEpoch, OldEpoch, OtherStore};
    let has_others = matches!(error, Diverged { .. } | OtherStore { .. });
    if !has_others && !matches!(error, OldEpoch { .. } | LaterEpoch { .. }) {
        return error.into();
    }
    let failure = CliError::from(error);
    let failure = CliError { message: format!("{}: {}", to.display(), failure.message), ..failure };
    if has_others { failure.hint("an empty folder takes the commits of this store") } else { failure }
}

/// Puts the files of each new commit into the folder `to`.
fn publish(
    args: &ReplicateArgs,
    (to, depot): (&Path, &FolderDepot),
    end: &EndSignal,
    console: &mut Console<'_>,
) -> Result<Exit, CliError> {
    let newest = || -> Result<Option<u64>, CliError> {
        Ok(StoreReader::commits(&args.folder)?.last().map(|(number, _)| *number))
    };
    let (mut published, mut number, mut files) = (Published::default(), None, 0);
    loop {
        if newest()? != number {
            let commit = StoreReader::hold_commit(&args.folder, None)?;
            let epoch = commit.files().epoch();
            if args.once {
                require_commit(args, epoch)?;
            }
            let done = match epoch {
                // A replica that has received nothing yet.
                0 => Ok(published.clone()),
                _ if args.discard && number.is_none() => commit.publish_over(depot),
                // Files that are there already are compared once.
                _ => commit.publish_after(depot, &published),
            };
            match done {
                // A listing beside a writer may miss its newest commit.
                Err(store::Error::Diverged { .. }) if newest()? != Some(commit.number()) => {}
                done => {
                    (published, number) = (done.map_err(|error| refused(to, error))?, Some(commit.number()));
                    files += published.files as u64;
                }
            }
            for damage in std::mem::take(&mut published.damage) {
                console.note(&format!("dv: {damage}: mended"));
            }
        } else if args.once {
            if let Some(number) = number.filter(|_| !args.quiet) {
                let (to, store) = (to.display(), args.folder.display());
                let files = counted(files, "new file", "new files");
                console.line(format_args!("{to}: commit {number} of {store}, {files}"))?;
            }
            return Ok(Exit::Ok);
        }
        if let Some(exit) = end.wait(if args.once { Duration::ZERO } else { args.every }) {
            return Ok(exit);
        }
    }
}
