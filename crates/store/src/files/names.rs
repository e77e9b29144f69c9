//! The names of a store's files.
//!
//! | name | file |
//! | --- | --- |
//! | `commit-00000042` | a commit |
//! | `seg-0000a1.dv` | a segment |
//! | `seg-0000a1.g0000b9.dv` | what deltas said of this segment, folded |
//! | `seg-0000a1.s0000ba.side` | a side file of this segment, which an observer wrote |
//! | `delta-0000b7.dv` | what changed in all segments before a commit |
//! | `log-000000c0` | frames of batches |
//! | `LOCK`, `LOCK.info` | the lock of the writer, and who holds it |
//!
//! Segments, folds, side files, deltas and logs are numbered by one counter, commits by another. No number is ever used again.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _};

use docvalues_storage::{Directory, DirectoryEntry};

use crate::error::Result;

/// The writer's lock.
pub(crate) const LOCK: &str = "LOCK";

/// The process of the writer, for messages.
pub(crate) const LOCK_INFO: &str = "LOCK.info";

/// The greatest number in a name, and of a sequence: a file that claims more is not of a store, so that counting on never
/// overflows.
pub(crate) const MAX_NUMBER: u64 = 1 << 48;

/// The greatest distance between two epochs of a store.
const MAX_DISTANCE: u64 = 1 << 24;

/// The name of a numbered file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum FileName {
    Commit(u64),
    Segment(u64),
    Fold { segment: u64, number: u64 },
    Side { segment: u64, number: u64 },
    Delta(u64),
    Log(u64),
}

impl FileName {
    /// The file that has this name, if it is one of a store's.
    pub(crate) fn parse(name: &str) -> Option<FileName> {
        let is_small = |number: &u64| *number <= MAX_NUMBER;
        let hex = |digits: &str| u64::from_str_radix(digits, 16).ok().filter(is_small);
        let file = if let Some(number) = name.strip_prefix("commit-") {
            FileName::Commit(number.parse().ok().filter(is_small)?)
        } else if let Some(number) = name.strip_prefix("log-") {
            FileName::Log(hex(number)?)
        } else if let Some(numbers) = name.strip_suffix(".side") {
            let (segment, number) = numbers.strip_prefix("seg-")?.split_once(".s")?;
            FileName::Side { segment: hex(segment)?, number: hex(number)? }
        } else {
            let (kind, numbers) = name.strip_suffix(".dv")?.split_once('-')?;
            match (kind, numbers.split_once(".g")) {
                ("delta", None) => FileName::Delta(hex(numbers)?),
                ("seg", None) => FileName::Segment(hex(numbers)?),
                ("seg", Some((segment, number))) => {
                    FileName::Fold { segment: hex(segment)?, number: hex(number)? }
                }
                _ => return None,
            }
        };
        // Only one spelling of a number is a name.
        (file.to_string() == name).then_some(file)
    }

    /// The number from the counter of files; `None` for a commit.
    pub(crate) fn number(self) -> Option<u64> {
        match self {
            FileName::Commit(_) => None,
            FileName::Segment(number)
            | FileName::Fold { number, .. }
            | FileName::Side { number, .. }
            | FileName::Delta(number)
            | FileName::Log(number) => Some(number),
        }
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileName::Commit(number) => write!(f, "commit-{number:08}"),
            FileName::Segment(number) => write!(f, "seg-{number:06x}.dv"),
            FileName::Fold { segment, number } => write!(f, "seg-{segment:06x}.g{number:06x}.dv"),
            FileName::Side { segment, number } => write!(f, "seg-{segment:06x}.s{number:06x}.side"),
            FileName::Delta(number) => write!(f, "delta-{number:06x}.dv"),
            FileName::Log(number) => write!(f, "log-{number:08x}"),
        }
    }
}

/// Whether `name` is that of a temporary file: of a commit that was not finished, or of a segment that was built in a
/// process that was killed.
pub(crate) fn is_temporary(name: &str) -> bool {
    if name.starts_with(".docvalues-") && name.ends_with(".spill") {
        return true;
    }
    let hidden = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp"));
    hidden.and_then(FileName::parse).is_some_and(|file| matches!(file, FileName::Commit(_)))
}

/// All names in a folder; none if there is no such folder.
pub(super) fn entries(directory: &dyn Directory) -> Result<Vec<DirectoryEntry>> {
    match directory.list() {
        Err(error) if error.is_missing() => Ok(Vec::new()),
        entries => Ok(entries?),
    }
}

/// The numbers of the commits, ascending; none if there is no such folder.
pub(crate) fn commit_numbers(directory: &dyn Directory) -> Result<Vec<u64>> {
    Ok(numbers(&entries(directory)?, |file| match file {
        FileName::Commit(number) => Some(number),
        _ => None,
    }))
}

/// The numbers of the logs that are wanted, ascending.
pub(crate) fn log_numbers(directory: &dyn Directory, is_wanted: impl Fn(u64) -> bool) -> Result<Vec<u64>> {
    Ok(numbers(&directory.list()?, |file| match file {
        FileName::Log(number) if is_wanted(number) => Some(number),
        _ => None,
    }))
}

fn numbers(entries: &[DirectoryEntry], number: impl Fn(FileName) -> Option<u64>) -> Vec<u64> {
    let files = entries.iter().filter_map(|entry| entry.name.to_str().and_then(FileName::parse));
    let mut numbers: Vec<u64> = files.filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}

/// A number that no other log, or store, is likely to have.
pub(crate) fn random_id(number: u64) -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u64(number);
    hasher.finish()
}

/// The epoch of a store of epoch `known` that is promoted or recovered, at a random distance: two copies that go on by
/// themselves do not share one, but for one in millions.
pub(crate) fn next_epoch(known: u64) -> u64 {
    known + 1 + random_id(known) % MAX_DISTANCE.min(MAX_NUMBER.saturating_sub(known).max(1))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn epochs_ascend_and_differ() {
        for known in [1, MAX_DISTANCE, MAX_NUMBER - 2] {
            let later: BTreeSet<u64> = (0..64).map(|_| next_epoch(known)).collect();
            assert!(later.iter().all(|later| (known + 1..=MAX_NUMBER).contains(later)), "{later:?}");
            assert!(later.len() > 1, "{later:?}");
        }
        assert_eq!(next_epoch(MAX_NUMBER - 1), MAX_NUMBER);
        // A commit of this epoch is refused.
        assert_eq!(next_epoch(MAX_NUMBER), MAX_NUMBER + 1);
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        let numbers = [0, 1, 0xa1, 0xff_ffff, 0x100_0000, 99_999_999, 100_000_000, MAX_NUMBER];
        for number in numbers {
            let files = [
                FileName::Commit(number),
                FileName::Segment(number),
                FileName::Fold { segment: number, number: number / 2 },
                FileName::Side { segment: number / 2, number },
                FileName::Delta(number),
                FileName::Log(number),
            ];
            for file in files {
                assert_eq!(FileName::parse(&file.to_string()), Some(file));
            }
        }
        assert_eq!(FileName::Commit(42).to_string(), "commit-00000042");
        assert_eq!(FileName::Fold { segment: 0xa1, number: 3 }.to_string(), "seg-0000a1.g000003.dv");
    }

    #[test]
    fn other_names_are_not_of_a_store() {
        let names = [
            "",
            ".",
            "..",
            "commit-",
            "commit-42",
            "commit-+0000042",
            "commit-0000004x",
            "commit-00000042 ",
            "seg-0000A1.dv",
            "seg-a1.dv",
            "seg-00000a1.dv",
            "seg-0000a1",
            "seg-0000a1.dv/..",
            "../seg-0000a1.dv",
            "seg-0000a1.g3.dv",
            "seg-0000a1.g000003.g000004.dv",
            "seg-0000a1.s000003.dv",
            "seg-0000a1.side",
            "seg-0000a1.s3.side",
            "seg-0000a1.s000003.postings.side",
            "seg-0000a1.s../../3.side",
            "delta-0000b7.s000001.side",
            "delta-0000b7.g000001.dv",
            "delta--00001.dv",
            "/etc/passwd",
            "seg-0000a1.dv\0",
            "log-7",
            "LOCK",
            "commit-99999999999999999999",
            "commit-18446744073709551615",
            "seg-ffffffffffffffff.dv",
        ];
        for name in names {
            assert_eq!(FileName::parse(name), None, "{name:?}");
        }
        assert!(is_temporary(".commit-00000042.tmp") && !is_temporary(".seg-0000a1.dv.tmp"));
        assert!(is_temporary(".docvalues-7-0.spill") && !is_temporary("docvalues-7-0.spill"));
    }
}
