//! Tests of the store, on the file system and on a disk that loses power.
//!
//! `cargo test` takes a sample, `DOCVALUES_SWEEP=full` hundreds of times as many cases; `--nocapture` shows how many.
#![expect(clippy::unwrap_used, reason = "tests")]

mod acknowledged;
mod addresses;
mod alter;
mod background;
mod changes;
mod check;
mod counters;
mod crash;
mod docs;
mod endurance;
mod failing_calls;
mod field_ids;
mod fixture;
mod full_disk;
mod golden;
mod hostile_names;
mod id_files;
mod kill;
mod kill_points;
mod listings;
mod locks;
mod lost_commit;
mod merges;
mod model;
mod moves;
mod observer;
mod pages;
mod purge;
mod random_ids;
mod readers;
mod refusals;
mod replica_races;
mod replica_schedules;
mod replicas;
mod scan_requests;
mod script;
mod shrinking_files;
mod threads;
mod updates;
mod updates_refused;
mod user_data;
mod versions;

/// Returns a size for a test, such as a number of cases: in a sample, or in the full sweep.
fn cases<T>(sample: T, full: T) -> T {
    let is_full = std::env::var_os("DOCVALUES_SWEEP").is_some_and(|sweep| sweep == "full");
    if is_full { full } else { sample }
}
