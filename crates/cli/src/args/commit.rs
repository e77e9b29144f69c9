//! The options of commits, and numbers and times in arguments.

use std::time::Duration;

use clap::Args;
use jiff::SignedDuration;

use crate::api::store::KeepCommits;

/// A group of options in help.
pub(super) const COMMITS: &str = "Batches and commits";

/// Options of commands that change a store.
#[derive(Debug, Args)]
pub(crate) struct CommitArgs {
    /// Commits to keep for `dv recover`: a number, or a time such as 30d [default: as before; 2 for a new store]
    ///
    /// With a time, those that were the newest within it. The newest commit always stays.
    #[arg(long, value_name = "N|TIME", value_parser = parse_keep, help_heading = COMMITS, hide_short_help = true)]
    pub(crate) keep_commits: Option<KeepCommits>,
}

/// Options of commands that need the store for themselves.
#[derive(Debug, Args)]
pub(crate) struct WaitArgs {
    /// Wait for another process that writes the store, for 10 s or so long, as in --wait=2min
    #[arg(long = "wait", value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "10s",
          value_parser = parse_duration, help_heading = COMMITS)]
    pub(crate) time: Option<Duration>,
}

/// Parses a number of commits, or a time.
fn parse_keep(text: &str) -> Result<KeepCommits, String> {
    let days = text.strip_suffix('d').and_then(|days| days.parse().ok()).filter(|days: &u64| *days > 0);
    let time = match days {
        Some(days) => days.checked_mul(86_400).map(Duration::from_secs),
        None => parse_duration(text).ok(),
    };
    let keep = match parse_count(text) {
        Ok(count) => Some(KeepCommits::Newest(count)),
        Err(_) => time.filter(|time| time.as_secs() > 0).map(KeepCommits::Within),
    };
    keep.ok_or_else(|| "expected a number of at least 1, or a time such as 12h or 30d".to_owned())
}

/// Parses a number of at least 1.
pub(super) fn parse_count(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|commits| *commits > 0)
        .ok_or_else(|| "expected a number of at least 1".to_owned())
}

/// Parses a time, above 0.
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    parse_time(text).ok_or_else(|| "expected a time such as 500ms or 2s".to_owned())
}

/// Parses `500ms`, `2s`, `5m`, `1h 30m` or a number of seconds, above 0.
pub(super) fn parse_time(text: &str) -> Option<Duration> {
    let time = match text.parse() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => text.parse::<SignedDuration>().ok()?.try_into().ok()?,
    };
    Some(time).filter(|time| !time.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_kept_by_number_or_by_time() {
        let within = |seconds| Ok(KeepCommits::Within(Duration::from_secs(seconds)));
        assert_eq!(parse_keep("3"), Ok(KeepCommits::Newest(3)));
        assert_eq!(parse_keep("90s"), within(90));
        assert_eq!(parse_keep("12h"), within(43_200));
        assert_eq!(parse_keep("30d"), within(2_592_000));
        for wrong in ["", "0", "0d", "-1", "1.5d", "500ms", "d", "all", "99999999999999999999d"] {
            assert!(parse_keep(wrong).is_err(), "{wrong}");
        }
    }
}
