//! The times of locks, by lock and by the function that locks it.
//!
//! The store notes them by the places in its sources that lock, if it is built with `--cfg docvalues_lock_times`. The names
//! are read from there: `lock(&store.flushing)` in `fn commit` is `flushing` in `commit`, and a call without such a name locks
//! the writer.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use docvalues_benches::record::figure;

use crate::percentile;

/// The file and the line that locked, and how long the lock was waited for and held.
pub(crate) type LockTime = (&'static str, u32, Duration, Duration);

/// The times of a lock, in µs, ascending.
#[derive(Default)]
pub(crate) struct Times {
    pub(crate) waited: Vec<f64>,
    pub(crate) held: Vec<f64>,
}

/// The name of a lock, and of a function that locks it.
pub(crate) type Name = (String, String);

/// Whether this program was built to note the times of locks.
pub(crate) const ARE_NOTED: bool = cfg!(docvalues_lock_times);

/// The times since the last call.
#[cfg(docvalues_lock_times)]
pub(crate) fn take() -> Vec<LockTime> {
    let times = docvalues::store::take_lock_times().into_iter();
    times.map(|time| (time.file, time.line, time.waited, time.held)).collect()
}

/// None are noted.
#[cfg(not(docvalues_lock_times))]
pub(crate) fn take() -> Vec<LockTime> {
    Vec::new()
}

/// The times by lock and function.
pub(crate) fn by_name(times: &[LockTime]) -> HashMap<Name, Times> {
    let mut names: HashMap<(&str, u32), Name> = HashMap::new();
    let mut found: HashMap<Name, Times> = HashMap::new();
    for &(file, line, waited, held) in times {
        let name = names.entry((file, line)).or_insert_with(|| name_at(file, line)).clone();
        let times = found.entry(name).or_default();
        times.waited.push(waited.as_secs_f64() * 1e6);
        times.held.push(held.as_secs_f64() * 1e6);
    }
    found.values_mut().for_each(Times::sort);
    found
}

impl Times {
    fn sort(&mut self) {
        self.waited.sort_by(f64::total_cmp);
        self.held.sort_by(f64::total_cmp);
    }

    /// Those of a lock, whichever function locks it.
    pub(crate) fn of_lock(all: &HashMap<Name, Times>, lock: &str) -> Times {
        let mut of_lock = Times::default();
        for (_, times) in all.iter().filter(|((name, _), _)| name == lock) {
            of_lock.waited.extend(&times.waited);
            of_lock.held.extend(&times.held);
        }
        of_lock.sort();
        of_lock
    }

    /// The seconds for which the lock was held.
    pub(crate) fn seconds_held(&self) -> f64 {
        self.held.iter().sum::<f64>() / 1e6
    }

    /// Half of the times are below the first figure, 99 of 100 below the second, and the third is the longest: of holding the
    /// lock, then of waiting for it.
    pub(crate) fn cells(&self) -> [String; 2] {
        [&self.held, &self.waited]
            .map(|times| [50, 99, 100].map(|percent| figure(percentile(times, percent))).join(" / "))
    }
}

/// The lock that a line of the sources locks, and the function around it.
fn name_at(file: &str, line: u32) -> Name {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let lines: Vec<&str> = text.lines().take(line as usize).collect();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let function = lines.iter().rev().find_map(|line| {
        let (before, name) = line.split_once("fn ")?;
        let is_head = before.trim_start().is_empty() || before.trim_start().starts_with("pub");
        is_head.then(|| name.split(|c| !is_name(c)).next().unwrap_or_default().to_owned())
    });
    let last = lines.last().copied().unwrap_or_default();
    // `lock(&store.flushing)` or `store.flushing.try_lock()`
    let locked = last.split_once("lock(").and_then(|(before, after)| {
        let is_path = |c: char| is_name(c) || c == '.';
        let after =
            after.trim_start_matches('&').split(|c| !is_path(c)).next().filter(|path| !path.is_empty());
        let before = before.trim_end_matches("try_").trim_end_matches('.');
        after.unwrap_or(before).rsplit(|c| !is_name(c)).next()
    });
    (locked.unwrap_or("writer").to_owned(), function.unwrap_or_default())
}
