//! The calls to the operating system that a build makes.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use docvalues_storage::Step;
use docvalues_testkit::damage::Sweep;
use docvalues_testkit::faults::faulty_file;

use super::work::{Work, Works};

/// A log of the calls of a build.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Step>>>);

impl Log {
    /// Adds a call to the log, and returns its number.
    pub(crate) fn note(&self, step: Step) -> usize {
        let mut calls = self.0.lock().unwrap();
        calls.push(step);
        calls.len() - 1
    }

    /// The step of call `at`, if there was one.
    pub(crate) fn step(&self, at: usize) -> Option<Step> {
        self.0.lock().unwrap().get(at).copied()
    }
}

/// The calls of `work` when none fails. Checks that the log is complete.
pub(crate) fn all_of(works: &Works, work: Work, path: &Path) -> Vec<Step> {
    let log = Log::default();
    let noted = log.clone();
    let file = faulty_file(path, move |step, bytes| {
        noted.note(step);
        Ok(bytes)
    });
    let summary = works.run(work, file.unwrap()).unwrap();
    let calls = log.0.lock().unwrap().clone();
    // All bytes were written, and before the sync.
    let [.., last_write, Step::Sync, Step::Rename, Step::SyncFolder] = calls[..] else { panic!("{calls:?}") };
    assert_eq!(last_write, Step::Write);
    assert!(count(&calls, Step::Write) as u64 >= summary.bytes.div_ceil(1 << 16));
    // The temporary file is created and emptied; the spill is created, written, and read.
    assert_eq!(count(&calls, Step::Create), 2 + usize::from(work.spills()), "{work:?}");
    assert_eq!(count(&calls, Step::Read) > 20, work.spills(), "{work:?}: {calls:?}");
    calls
}

fn count(calls: &[Step], step: Step) -> usize {
    calls.iter().filter(|&&call| call == step).count()
}

/// The numbers of the calls to test: all, or the first, the last and some other calls of each step.
pub(crate) fn tried(calls: &[Step]) -> Vec<usize> {
    let mut of_steps = BTreeMap::<String, Vec<usize>>::new();
    for (at, step) in calls.iter().enumerate() {
        of_steps.entry(format!("{step:?}")).or_default().push(at);
    }
    let sweep = Sweep::from_env(16);
    let mut tried: Vec<_> =
        of_steps.values().flat_map(|all| sweep.places(all.len()).map(|place| all[place])).collect();
    tried.sort_unstable();
    tried
}

/// Counts of outcomes by step.
#[derive(Default)]
pub(crate) struct Tally(BTreeMap<String, usize>);

impl Tally {
    pub(crate) fn add(&mut self, what: impl ToString) {
        *self.0.entry(what.to_string()).or_default() += 1;
    }

    pub(crate) fn total(&self) -> usize {
        self.0.values().sum()
    }

    pub(crate) fn keys(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let counts: Vec<_> = self.0.iter().map(|(what, count)| format!("{what} {count}")).collect();
        f.write_str(&counts.join(", "))
    }
}
