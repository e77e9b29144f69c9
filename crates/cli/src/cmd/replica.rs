//! `dv replica`: takes the changes of a store into a replica.

use std::io::{BufRead as _, BufReader, ErrorKind, IsTerminal as _, Read, StdinLock};

use super::replicate::depot;
use crate::api::store::{
    Background, BackgroundOptions, Depot as _, FolderDepot, Position, Replica, StoreOptions, StoreReader,
    StreamReader, Taken,
};
use crate::args::replica::ReplicaArgs;
use crate::console::Console;
use crate::error::{CliError, Exit};
use crate::open::Opener;
use crate::open::store::note_commit;
use crate::process::end_signal::EndSignal;
use crate::text::{Json, counted, thousands};

/// The bytes of a pipe that are read at once.
const PIECE: usize = 256 << 10;

/// The number of items that a replica took.
#[derive(Default)]
struct Counts {
    batches: u64,
    commits: u64,
    files: u64,
}

pub(crate) fn run(args: &ReplicaArgs, opener: &Opener, console: &mut Console<'_>) -> Result<Exit, CliError> {
    if args.position {
        return print_position(args, console);
    }
    if args.follow.is_none() && !args.promote && std::io::stdin().is_terminal() {
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
    fn open(args: &ReplicaArgs) -> Result<Source, CliError> {
        let Some(folder) = &args.follow else {
            let mut pipe = BufReader::with_capacity(PIECE, std::io::stdin().lock());
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
fn take(
    args: &ReplicaArgs,
    replica: &Replica,
    pipe: impl Read,
    counts: &mut Counts,
) -> Result<Exit, CliError> {
    // Commits and merges beside what arrives.
    let background = Background::start(BackgroundOptions::default())?;
    background.add(replica.store())?;
    let mut stream = StreamReader::new(pipe);
    let taken: Result<Exit, CliError> = loop {
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
            Err(error) => break Err(error.into()),
        }
    };
    let removed = background.remove(replica.store());
    let exit = taken?;
    removed?;
    Ok(exit)
}

/// Installs each new commit of a folder.
fn follow(
    args: &ReplicaArgs,
    replica: &Replica,
    depot: &FolderDepot,
    counts: &mut Counts,
) -> Result<Exit, CliError> {
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
fn print_position(args: &ReplicaArgs, console: &mut Console<'_>) -> Result<Exit, CliError> {
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
) -> Result<(), CliError> {
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
