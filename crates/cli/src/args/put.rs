//! Arguments of `put`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::build::{InputArgs, WriteArgs, parse_size};
use super::commit::{CommitArgs, parse_count, parse_time};
use crate::api::store::Durability;
use crate::import::Shard;

const LONG: &str = "\
Put documents from CSV, TSV, JSON, Parquet or Arrow IPC files into a store, batch by batch.

In a store with a column of ids, a document replaces the one with the same id, and the last one of the input stays. Every \
document must have an id. In a store with a column of versions, the highest version stays, and other documents are \
counted as stale; --strict-versions makes that an error.

With --partial, each document changes the one with the same id: it has an id and the columns to change, and the others stay \
as they are, also those with a missing value. Documents whose id is not there are counted and left out, and the exit code \
is 1. A document without a version leaves the version as it is.

Inputs are read as `dv build` reads them. Columns that the store has keep their types; others are added with the type \
that the input gives them, for good.

Files are committed at the end, so an error leaves the store as it was. A pipe, such as standard input, is committed \
every second, also while it pauses (--commit-every), until it ends; if it is compressed, or an Arrow stream, only as rows \
arrive. Its segments are merged meanwhile. Its sample (--sample) ends a second after its first row, unless that is to have \
all rows. After an error, what was committed before it stays, and the message says how many documents that are; so do \
batches if --durability is not `commit`.

Ctrl-C (SIGINT) and SIGTERM end the input: what was read is committed and reported. A second one ends dv at once.";

const EXAMPLES: &str = "\
Examples:
  dv store create packages --id-field id
  dv put packages packages.ndjson.gz
  psql -c 'copy hits to stdout csv header' | dv put hits - --input-format csv --commit-every end
  dv put packages prices.csv --partial
  dv put hits today.csv --type code=string && dv count hits --where 'code = \"007\"'
  tail -n +1 -f hits.ndjson | dv put hits - --input-format ndjson
  tail -n +1 -f hits.ndjson | dv put hits - --durability batch --progress json 2>> hits.progress
  dv put packages monday.ndjson.gz --keep-frames 256MiB

Exit codes: 0 committed, 1 a bad row or value, a column has another type, --partial did not find an id, or
--strict-versions met a stale document,
2 wrong command line, 3 a file cannot be read or written, or another process writes the store,
130 or 143 ended by SIGINT or SIGTERM.";

/// Put documents into a store
#[derive(Debug, Args)]
#[command(long_about = LONG, after_long_help = EXAMPLES)]
pub(crate) struct PutArgs {
    /// The folder of the store
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Change the columns that the documents of the input have, and keep the others
    #[arg(long)]
    pub(crate) partial: bool,

    /// Put only the documents of one shard, such as 0/4: the first of four
    ///
    /// A hash of the id determines the shard. To distribute an input over four stores, run the command once for each
    /// store, with 0/4 to 3/4.
    #[arg(long, value_name = "I/N", value_parser = parse_shard, allow_hyphen_values = true)]
    pub(crate) shard: Option<Shard>,

    /// The most documents of a batch
    ///
    /// A batch is applied whole or not at all. It ends earlier at 4 MiB, before a document with a new column, and if it
    /// comes from a pipe, when that pauses, and after a second.
    #[arg(long, value_name = "DOCUMENTS", default_value_t = 1000, value_parser = parse_count)]
    pub(crate) batch: usize,

    /// The moment from which documents survive a crash: `commit`, `batch`, or a time such as 200ms
    ///
    /// `commit`: the next commit. `batch`: their batch is in the log of the store, which is synced after each batch. A
    /// time: as `batch`, but the log is synced only after this time; batches survive the end of dv, but a loss of power
    /// may lose those since the last sync.
    #[arg(long, value_name = "MOMENT", default_value = "commit", value_parser = parse_durability)]
    pub(crate) durability: Durability,

    /// Bytes of old logs to keep, such as 256MiB, from which `dv replicate` sends batches after they are committed
    ///
    /// If not 0, dv writes a log with every --durability. The store does not remember this option: a command without a
    /// log removes the logs at its commit, and replicas then get files.
    #[arg(long, value_name = "SIZE", default_value = "0", value_parser = parse_size)]
    pub(crate) keep_frames: usize,

    /// The time between commits, such as 5s or 500ms, or `end` [default: 1s if an input is a pipe, otherwise end]
    ///
    /// A commit is durable, and other commands see what it contains.
    #[arg(long, value_name = "TIME", value_parser = parse_commit_every)]
    pub(crate) commit_every: Option<CommitEvery>,

    /// Fail with exit code 1 if documents are stale; the others are put
    #[arg(long)]
    pub(crate) strict_versions: bool,

    /// Progress: a line on a terminal, or one JSON object a line on standard error
    ///
    /// `json` writes a line when more documents are committed, or as durable as --durability says:
    /// {"documents":3000,"skipped_rows":0}. These are the first rows of the input.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ProgressFormat::Auto, conflicts_with = "quiet")]
    pub(crate) progress: ProgressFormat,

    #[command(flatten)]
    pub(crate) commit: CommitArgs,

    /// Memory, such as 64MiB or 8GiB: documents that take a quarter of it are written to a segment
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = parse_size)]
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

fn parse_shard(text: &str) -> Result<Shard, String> {
    let numbers = text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
    let shard = numbers.map(|(index, of)| Shard { index, of }).filter(|shard| shard.index < shard.of);
    shard.ok_or_else(|| "expected a number from 0 on and the number of stores, such as 0/4".to_owned())
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
        assert_eq!(every("2"), Ok(Some(Duration::from_secs(2))));
        assert_eq!(parse_durability("2s"), Ok(Durability::Within(Duration::from_secs(2))));
        assert_eq!(parse_durability("5m"), Ok(Durability::Within(Duration::from_secs(300))));
        for wrong in
            ["", "0", "0s", "-1s", "1.5s", "1d", "s", "99999999999999999999", "18446744073709551615h"]
        {
            assert!(every(wrong).is_err() && parse_durability(wrong).is_err(), "{wrong}");
        }
    }
}
