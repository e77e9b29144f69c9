//! Arguments of `replicate` and `replica`.

use std::path::PathBuf;

use clap::Args;

use super::commit::parse_duration;
use crate::api::store::Position;

const REPLICATE_EXAMPLES: &str = "\
Examples:
  dv replicate packages --from \"$(ssh host dv replica packages --position)\" | ssh host dv replica packages
  dv replicate packages --once | dv replica copy
  dv replicate packages --to /mnt/shared/packages
  dv replicate packages --to /mnt/backup/packages --once

Exit codes: 0 done, 1 a file is damaged, or there is nothing to send yet, 2 wrong command line, 3 a file cannot be read or \
written, 5 the replica or the folder may have batches that the store lacks: give it an empty folder, send --from 0 to dv \
replica --discard, or put it there with --to FOLDER --discard.";

/// Send the changes of a store to a replica, or back it up
///
/// They go through a pipe to `dv replica`, or into a folder that both see.
///
/// Through a pipe, dv sends each batch when it is in the log of the store (`dv put --keep-frames`). If there is no
/// log, or it lacks the batches, dv sends the files of a commit. Other commands may write the store meanwhile, and do
/// not wait for replicas. The command runs until the pipe is closed.
///
/// With --to, the files of each new commit are put into a folder, and those that the two newest commits do not need
/// are removed from it. Files that are there already are compared with those of the store when the command begins;
/// damaged ones are named and put again. Any number of replicas may read them: `dv replica DIR --follow FOLDER`.
///
/// With --to and --once, the folder is a backup of the newest commit, also while others write the store. Each run copies
/// the files that it lacks. `dv replica DIR --follow FOLDER --once` restores it. No other command may write the folder.
#[derive(Debug, Args)]
#[command(after_long_help = REPLICATE_EXAMPLES)]
pub(crate) struct ReplicateArgs {
    /// The folder of the store
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// The position of the replica, as `dv replica --position` prints it, such as 107:0123456789abcdef:1; 0 if it is empty
    ///
    /// The parts are the number of its last batch, the history and the epoch. With the number alone, only the replica
    /// detects that its batches differ from the store's.
    #[arg(long, value_name = "BATCH", default_value = "0", value_parser = parse_from)]
    pub(crate) from: From,

    /// Put the files of commits into this folder instead: a backup, or for replicas
    #[arg(long, value_name = "FOLDER", conflicts_with = "from")]
    pub(crate) to: Option<PathBuf>,

    /// End when the replica has everything
    #[arg(long)]
    pub(crate) once: bool,

    /// The time between looks for a new commit with --to, such as 1s or 500ms
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration, requires = "to")]
    pub(crate) every: std::time::Duration,

    /// Put commits of a store that was promoted or recovered over those of the folder, and lose what only these have
    #[arg(long, requires = "to")]
    pub(crate) discard: bool,

    /// Print nothing but errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

const REPLICA_EXAMPLES: &str = "\
Examples:
  dv replica packages --follow /mnt/shared/packages
  ssh leader dv replicate packages --from \"$(dv replica packages --position)\" | dv replica packages
  dv count packages
  dv replica packages --promote
  dv replica restored --follow /mnt/backup/packages --once && dv replica restored --promote

Exit codes: 0 done, 1 a file or frame is damaged, 2 wrong command line, 3 a file cannot be read or written, or `dv replicate` \
failed before it had sent everything, 4 batches are missing, 5 the leader does not have what the replica has, or was replaced.";

/// The last batch of a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// Its number alone.
    Batch(u64),
    Position(Position),
}

fn parse_from(text: &str) -> Result<From, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let from = match *parts {
        [batch] => batch.parse().ok().map(From::Batch),
        [batch, history, epoch] if history.len() == 16 => {
            let numbers = (batch.parse().ok(), u64::from_str_radix(history, 16).ok(), epoch.parse().ok());
            match numbers {
                (Some(sequence), Some(history), Some(epoch)) => {
                    Some(From::Position(Position { epoch, sequence, history }))
                }
                _ => None,
            }
        }
        _ => None,
    };
    from.ok_or_else(|| {
        "expected what `dv replica --position` prints, such as 107:0123456789abcdef:1".to_owned()
    })
}

/// Take the changes of a store into a replica, or restore a backup
///
/// `dv replicate` sends them, to standard input, or to a folder that both see.
///
/// The folder is made if it is not there. A replica is read as any store is, also meanwhile. Only its leader changes
/// it: `dv put` and others refuse to, until `dv replica --promote` makes it a store of its own. What the old leader
/// sends from then on is refused.
///
/// To restore a backup that `dv replicate --to FOLDER --once` made, follow the folder into a new one, and promote that.
///
/// dv commits batches every second (--commit-every) and at the end. A killed replica loses batches that it neither
/// committed nor logged (--keep-frames). Start again from --position, which prints the last batch that it has.
///
/// If the leader lost batches that the replica has (exit code 5), send --from 0 to --discard, which drops them from
/// the replica. For another store, use an empty folder.
#[derive(Debug, Args)]
#[command(after_long_help = REPLICA_EXAMPLES)]
pub(crate) struct ReplicaArgs {
    /// The folder of the replica
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    /// Print the last batch that the replica has, and end; 0 if it is empty
    #[arg(long, conflicts_with_all = ["promote", "follow"])]
    pub(crate) position: bool,

    /// Make the replica a store of its own, in a new epoch, and end
    #[arg(long, conflicts_with = "follow")]
    pub(crate) promote: bool,

    /// Take commits from this folder, into which `dv replicate --to` puts them
    #[arg(long, value_name = "FOLDER")]
    pub(crate) follow: Option<PathBuf>,

    /// End when the replica has everything that is in the folder
    #[arg(long, requires = "follow")]
    pub(crate) once: bool,

    /// Also take a state of the leader that lacks batches of the replica, which are lost then
    #[arg(long)]
    pub(crate) discard: bool,

    /// The time between commits, and between looks at a folder, such as 1s or 500ms
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub(crate) commit_every: std::time::Duration,

    /// Logs to keep, in bytes such as 256MiB, for replicas of this one
    #[arg(long, value_name = "SIZE", default_value = "0", value_parser = super::build::parse_size)]
    pub(crate) keep_frames: usize,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,

    /// Print nothing but errors
    #[arg(short, long, conflicts_with = "json")]
    pub(crate) quiet: bool,
}
