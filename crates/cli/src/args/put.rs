//! Arguments of `put`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::build::{InputArgs, RESOURCES, WriteArgs, parse_size};
use super::commit::{COMMITS, CommitArgs, WaitArgs, parse_count, parse_time};
use crate::api::store::Durability;

const EXAMPLES: &str = "\
Examples:
  dv put packages packages.ndjson.gz
  dv put packages prices.csv --partial
  psql -c 'copy hits to stdout csv header' | dv put hits - --input-format csv --commit-every end
  tail -n +1 -f hits.ndjson | dv put hits - --durability batch --progress json 2>> hits.progress
  dv put packages monday.ndjson.gz --keep-frames 256MiB --wait

Exit codes: 0 committed, 1 a bad row or value, a column has another type, or --partial did not find an id, 2 wrong command \
line, 3 a file cannot be read or written, or another process writes the store, 130 or 143 ended by SIGINT or SIGTERM.";

/// Put documents from CSV, TSV, JSON, Parquet or Arrow files into a store
///
/// In a store with a column of ids, every document must have one; it replaces the one with the same id, and the last
/// one of the input stays. In a store with a column of versions, the highest version stays; others are counted as
/// stale.
///
/// With --partial, each document changes the one with the same id: it has an id and the columns to change, and the
/// others stay as they are, also those with a missing value (`dv set --unset` removes values). A document without a
/// version leaves the version as it is. Ids that are not there are counted, and the exit code is 1.
///
/// Inputs are read as `dv build` reads them. Columns that the store has keep their types; new ones get the type of the
/// input, for good. Files are committed at the end, so an error leaves the store as it was. A pipe is committed every
/// second, also while it pauses; its sample (--sample) ends a second after its first row, and its segments are merged
/// meanwhile. Ctrl-C (SIGINT) and SIGTERM end the input: what was read is committed and reported. No other command can
/// change the store until then: it fails, or waits with --wait. All can read it.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct PutArgs {
    /// The folder of the store
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Change only the columns that a document of the input has
    #[arg(long)]
    pub(crate) partial: bool,

    /// The most documents of a batch, which is applied whole or not at all
    ///
    /// It ends earlier at 4 MiB, before a document with a new column, and in a pipe that pauses.
    #[arg(long, value_name = "DOCUMENTS", default_value_t = 1000, value_parser = parse_count, help_heading = COMMITS, hide_short_help = true)]
    pub(crate) batch: usize,

    /// From when on documents survive a crash: `commit`, `batch`, or a time such as 200ms
    ///
    /// `commit`: from the next one. `batch`: when their batch is in the log, synced after each. A time: the log is synced after it; a
    /// loss of power may lose batches since, the end of dv does not.
    #[arg(long, value_name = "MOMENT", default_value = "commit", value_parser = parse_durability, help_heading = COMMITS, hide_short_help = true)]
    pub(crate) durability: Durability,

    /// Bytes of old logs to keep for `dv replicate`, such as 256MiB
    ///
    /// If not 0, dv writes a log with every --durability. A command without it removes the logs at its commit; replicas then get files.
    #[arg(long, value_name = "SIZE", default_value = "0", value_parser = parse_size, help_heading = COMMITS, hide_short_help = true)]
    pub(crate) keep_frames: usize,

    /// The time between commits, which others then see, such as 5s or 500ms, or `end` [default: 1s for a pipe, otherwise end]
    #[arg(long, value_name = "TIME", value_parser = parse_commit_every, help_heading = COMMITS, hide_short_help = true)]
    pub(crate) commit_every: Option<CommitEvery>,

    /// Progress: a line on a terminal, or with `json` lines on standard error
    ///
    /// A line comes when more documents, the first rows of the input, are as durable as asked: {"documents":3000,"skipped_rows":0}.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ProgressFormat::Auto, conflicts_with = "quiet", help_heading = COMMITS, hide_short_help = true)]
    pub(crate) progress: ProgressFormat,

    #[command(flatten)]
    pub(crate) commit: CommitArgs,

    #[command(flatten)]
    pub(crate) wait: WaitArgs,

    /// Memory, such as 64MiB or 8GiB: documents that take a quarter of it are written to a segment
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_size, help_heading = RESOURCES, hide_short_help = true)]
    pub(crate) memory: usize,

    #[command(flatten)]
    pub(crate) write: WriteArgs,
}

/// The format of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressFormat {
    /// A line that changes, if standard error is a terminal
    Auto,
    /// A line of JSON when documents have become durable
    Json,
}

/// The time between commits; `None` commits at the end only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommitEvery(pub(crate) Option<Duration>);

fn parse_commit_every(text: &str) -> Result<CommitEvery, String> {
    match text {
        "end" => Ok(CommitEvery(None)),
        text => parse_time(text)
            .map(|time| CommitEvery(Some(time)))
            .ok_or_else(|| "expected `end`, or a time such as 5s or 500ms".to_owned()),
    }
}

fn parse_durability(text: &str) -> Result<Durability, String> {
    match text {
        "commit" => Ok(Durability::OnCommit),
        "batch" => Ok(Durability::EachBatch),
        text => parse_time(text)
            .map(Durability::Within)
            .ok_or_else(|| "expected commit, batch, or a time such as 200ms or 2s".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let every = |text| parse_commit_every(text).map(|every| every.0);
        assert_eq!(every("end"), Ok(None));
        assert_eq!(every("500ms"), Ok(Some(Duration::from_millis(500))));
        assert_eq!(every("1.5s"), Ok(Some(Duration::from_millis(1_500))));
        assert_eq!(every("2"), Ok(Some(Duration::from_secs(2))));
        assert_eq!(parse_durability("2s"), Ok(Durability::Within(Duration::from_secs(2))));
        assert_eq!(parse_durability("5m"), Ok(Durability::Within(Duration::from_secs(300))));
        for wrong in ["", "0", "0s", "-1s", "1d", "s", "99999999999999999999", "18446744073709551615h"] {
            assert!(every(wrong).is_err() && parse_durability(wrong).is_err(), "{wrong}");
        }
    }
}
