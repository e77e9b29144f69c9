//! Commands that replicate a store: `dv replicate` and `dv replica`.

use std::io::{self, BufRead as _, BufReader, ErrorKind, IsTerminal as _, Read, StdinLock};
use std::path::Path;
use std::time::Duration;

use crate::api::store::{
    self, Background, BackgroundOptions, Depot as _, Feed, FolderDepot, Position, Published, Replica,
    StoreOptions, StoreReader, StreamReader, StreamWriter, Taken,
};
use crate::args::replica::{From, ReplicaArgs, ReplicateArgs};
use crate::console::Console;
use crate::error::{CliError, Exit, Result};
use crate::open::Opener;
use crate::open::store::note_commit;
use crate::process::end_signal::EndSignal;
use crate::text::{Json, counted, thousands};

/// A signal ends the command after this time at the latest.
const TURN: Duration = Duration::from_millis(200);

/// The bytes of a pipe that are read at once.
const PIECE: usize = 256 << 10;

/// `dv replicate`: sends the changes of a store to a replica, or into a folder.
pub(crate) fn replicate(args: &ReplicateArgs, console: &mut Console<'_>) -> Result<Exit> {
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
fn depot(folder: &Path) -> Result<FolderDepot> {
    FolderDepot::open(folder).map_err(|error| match error {
        store::Error::Request(_) => CliError::from(error).hint(
            "commands that write a folder of commits make it a store, which others read from then on; give the next commits an empty folder",
        ),
        error => error.into(),
    })
}

/// Sends frames and files to standard output.
fn send(args: &ReplicateArgs, console: &mut Console<'_>, end: &EndSignal) -> Result<Exit> {
    let mut feed = match args.from {
        From::Position(position) => Feed::open(&args.folder, position),
        From::Batch(batch) => Feed::open_after(&args.folder, batch),
    };
    let mut stream = StreamWriter::new(&mut *console.out);
    loop {
        let time = if args.once { Duration::ZERO } else { TURN };
        let sent = match feed.send_within(&mut stream, time) {
            // Whoever read the pipe has ended.
            Err(store::Error::Stream(error)) if error.kind() == ErrorKind::BrokenPipe => {
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
fn require_commit(args: &ReplicateArgs, epoch: u64) -> Result<()> {
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
) -> Result<Exit> {
    let newest = || -> Result<Option<u64>> {
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

/// The number of items that a replica took.
#[derive(Default)]
struct Counts {
    batches: u64,
    commits: u64,
    files: u64,
}

/// `dv replica`: takes the changes of a store into a replica.
pub(crate) fn replica(args: &ReplicaArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit> {
    if args.position {
        return print_position(args, console);
    }
    if args.follow.is_none() && !args.promote && io::stdin().is_terminal() {
        return Err(CliError::usage("standard input is a terminal, expected a pipe from `dv replicate`"));
    }
    if args.promote && StoreReader::position(&args.folder)?.epoch == 0 {
        let folder = args.folder.display();
        return Err(CliError::failed(format!("{folder}: expected a replica with a commit, found none")));
    }
    let options = StoreOptions::new()
        .open(opener.options())
        .commit_every(args.commit_every)
        .keep_frames(args.keep_frames as u64);
    if args.promote {
        let store = Replica::open(&args.folder, options)?.promote()?;
        note_commit(&store, console);
        report(args, store.position(), None, console)?;
        return Ok(Exit::Ok);
    }
    let source = Source::open(args)?;
    let replica = Replica::open(&args.folder, options)?;
    let mut counts = Counts::default();
    let taken = match source {
        Source::Depot(depot) => follow(args, &replica, &depot, &mut counts),
        Source::Pipe(pipe) => take(args, &replica, pipe, &mut counts),
    };
    let committed = replica.store().commit();
    let exit = taken?;
    committed?;
    note_commit(replica.store(), console);
    if replica.position().epoch == 0 && exit == Exit::Ok {
        let folder = args.folder.display();
        let message = format!("{folder}: expected a commit of the leader, found none: the replica is empty");
        return Err(
            CliError::failed(message).hint("send from 0, and not from the position of another replica")
        );
    }
    if !args.quiet {
        report(args, replica.position(), Some(&counts), console)?;
    }
    Ok(exit)
}

/// The source of changes.
enum Source {
    Pipe(BufReader<StdinLock<'static>>),
    Depot(FolderDepot),
}

impl Source {
    /// Opens it. Fails if nothing comes, so that no replica is made of nothing.
    fn open(args: &ReplicaArgs) -> Result<Source> {
        let Some(folder) = &args.follow else {
            let mut pipe = BufReader::with_capacity(PIECE, io::stdin().lock());
            let first = pipe.fill_buf().map_err(|error| CliError::file("<stdin>", &error))?;
            return match first.is_empty() {
                false => Ok(Source::Pipe(pipe)),
                true => Err(no_end("expected what `dv replicate` sends, found an empty stream")),
            };
        };
        if !args.once {
            return Ok(Source::Depot(depot(folder)?));
        }
        if !folder.is_dir() {
            return Err(CliError::file(folder.display(), &ErrorKind::NotFound.into()));
        }
        let depot = depot(folder)?;
        if !depot.names()?.iter().any(|name| name.starts_with("commit-")) {
            let message = format!("{}: expected commits of a leader, found none", folder.display());
            return Err(CliError::new(Exit::Unreadable, message).hint("`dv replicate --to` puts them there"));
        }
        Ok(Source::Depot(depot))
    }
}

/// The error for a sender that failed.
fn no_end(what: &str) -> CliError {
    CliError::new(Exit::Unreadable, format!("<stdin>: {what}"))
        .hint("`dv replicate` failed, or was killed; run both again from what `dv replica --position` prints")
}

/// Takes frames and files from standard input.
fn take(args: &ReplicaArgs, replica: &Replica, pipe: impl Read, counts: &mut Counts) -> Result<Exit> {
    // Commits and merges beside what arrives.
    let background = Background::start(BackgroundOptions::default())?;
    background.add(replica.store())?;
    let mut stream = StreamReader::new(pipe);
    let taken: Result<Exit> = loop {
        let taken = match args.discard {
            true => replica.take_over(&mut stream),
            false => replica.take(&mut stream),
        };
        match taken {
            Ok(None) if stream.has_ended() => break Ok(Exit::Ok),
            Ok(None) => break Err(no_end("expected the end of the stream, found none")),
            Ok(Some(Taken::Frame(_))) => counts.batches += 1,
            Ok(Some(Taken::Commit)) => counts.commits += 1,
            Ok(Some(Taken::File { is_new })) => counts.files += u64::from(is_new),
            // Neither a batch nor a part of a commit.
            Ok(Some(_)) => {}
            Err(error) => break Err(error.into()),
        }
    };
    let removed = background.remove(replica.store());
    let exit = taken?;
    removed?;
    Ok(exit)
}

/// Installs each new commit of a folder.
fn follow(args: &ReplicaArgs, replica: &Replica, depot: &FolderDepot, counts: &mut Counts) -> Result<Exit> {
    // A pipe ends at once, as a read that waits would not see the signal.
    let end = EndSignal::watch()?;
    loop {
        let installed = match args.discard {
            true => replica.install_over_from(depot)?,
            false => replica.install_from(depot)?,
        };
        if let Some(installed) = installed {
            counts.commits += 1;
            counts.files += installed.files as u64;
        } else if args.once {
            return Ok(Exit::Ok);
        } else if let Some(exit) = end.wait(args.commit_every) {
            return Ok(exit);
        }
    }
}

/// Prints what a replica has, which another process may be writing.
fn print_position(args: &ReplicaArgs, console: &mut Console<'_>) -> Result<Exit> {
    let position = StoreReader::position(&args.folder)?;
    match args.json {
        true => console.json(Json::object(json(position)))?,
        false => writeln!(console.out, "{position}")?,
    }
    Ok(Exit::Ok)
}

fn report(
    args: &ReplicaArgs,
    position: Position,
    counts: Option<&Counts>,
    console: &mut Console<'_>,
) -> Result<()> {
    if args.json {
        let counts = counts.map(|counts| {
            [
                ("batches", counts.batches.into()),
                ("commits", counts.commits.into()),
                ("files", counts.files.into()),
            ]
        });
        return Ok(
            console.json(Json::object(json(position).into_iter().chain(counts.into_iter().flatten())))?
        );
    }
    let folder = args.folder.display();
    let at = format!("batch {} of epoch {}", thousands(position.sequence), position.epoch);
    match counts {
        Some(Counts { batches, commits, files }) => {
            let batches = counted(*batches, "batch", "batches");
            let commits = counted(*commits, "commit", "commits");
            let files = counted(*files, "new file", "new files");
            console.line(format_args!("{folder}: {batches}, {commits}, {files}; at {at}"))?;
        }
        None => console.line(format_args!("{folder}: a store of its own from {at} on"))?,
    }
    Ok(console.out.flush()?)
}

fn json(Position { epoch, sequence, history }: Position) -> [(&'static str, Json); 3] {
    [("batch", sequence.into()), ("epoch", epoch.into()), ("history", format!("{history:016x}").into())]
}
