//! A process that is killed before any of its calls to the storage, and another one while it opens what is left.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use docvalues_storage::{Directory, FsDirectory};
use docvalues_store::{Error, Store, StoreOptions};
use docvalues_testkit::faults::{Call, FaultyDirectory, PowerLossDirectory};

use crate::fixture::{Contents, add, contents};
use crate::id_files::{Ids, check, side_files};
use crate::script::{Operation, Run, read, script};

/// The folder with the store of a child, and the journal beside it.
const FOLDER: &str = "DOCVALUES_KILLED_FOLDER";

/// The seed of the child's script and its number of commits. Without it, the child only opens the store.
const SCRIPT: &str = "DOCVALUES_KILLED_SCRIPT";

/// The number of the call before which the child dies.
const CALL: &str = "DOCVALUES_KILLED_CALL";

/// The number of threads that start children.
const THREADS: usize = 2;

/// Dies before call `last`, counted from 0. `abort` runs no destructors, like a kill. Of a write just before, half of the
/// bytes arrive.
fn dying(folder: &Path, last: usize) -> Arc<dyn Directory> {
    let mut calls = 0;
    let before = move |call: &Call<'_>| {
        if calls == last {
            std::process::abort();
        }
        calls += 1;
        Ok(if calls == last { call.bytes.div_ceil(2) } else { call.bytes })
    };
    Arc::new(FaultyDirectory::new(Arc::new(FsDirectory::new(folder)), before))
}

/// Not a test of its own: the child of the next one.
#[test]
fn child() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = Path::new(&folder);
    let directory = dying(&folder.join("store"), std::env::var(CALL).unwrap().parse().unwrap());
    let Ok(of_script) = std::env::var(SCRIPT) else {
        Store::open_in(directory, StoreOptions::default()).unwrap();
        return;
    };
    let (seed, commits) = of_script.split_once(' ').unwrap();
    let script = script(seed.parse().unwrap(), commits.parse().unwrap());
    let mut journal = File::options().append(true).create(true).open(folder.join("journal")).unwrap();
    Run::new(directory).run(&script, |operation, _| {
        let is_commit = matches!(operation, Operation::Commit);
        journal.write_all(if is_commit { b"c" } else { b"-" }).unwrap();
    });
}

/// Runs a child. Returns whether it was killed.
fn run_child(folder: &Path, script: Option<(u64, u32)>, call: usize) -> bool {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["kill_points::child", "--exact"]).env(FOLDER, folder).env(CALL, call.to_string());
    if let Some((seed, commits)) = script {
        child.env(SCRIPT, format!("{seed} {commits}"));
    }
    let output = child.stdin(Stdio::null()).output().unwrap();
    // A test that fails has a code; a process that was killed has none.
    assert!(output.status.code().is_none_or(|code| code == 0), "{output:?}");
    !output.status.success()
}

/// The contents of the store before it is created, after that, and after each commit of a script.
fn states(script: &[Operation]) -> Vec<Option<Contents>> {
    let mut states = vec![None, Some(Contents::new())];
    Run::new(Arc::new(PowerLossDirectory::new("/disk"))).run(script, |operation, now| {
        if matches!(operation, Operation::Commit) {
            states.push(Some(now.clone()));
        }
    });
    states
}

/// Counts of children.
#[derive(Debug, Default)]
struct Counts {
    killed: AtomicUsize,
    killed_while_opening: AtomicUsize,
    opened: AtomicUsize,
}

/// Kills a child before this call, another one while it opens the store, and checks what is left. Returns whether the
/// first one was killed.
fn kill_at(call: usize, of_script: (u64, u32), states: &[Option<Contents>], counts: &Counts) -> bool {
    // In memory if possible: a process that is killed loses nothing that it wrote, so that syncs make no difference.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let store = folder.path().join("store");
    std::fs::create_dir(&store).unwrap();
    let was_killed = run_child(folder.path(), Some(of_script), call);
    let journal = std::fs::read(folder.path().join("journal")).unwrap_or_default();
    let commits = journal.iter().filter(|byte| **byte == b'c').count();
    let first = if journal.is_empty() { 0 } else { 1 + commits };
    let found = read(Arc::new(FsDirectory::new(&store)));
    assert!(states[first..].iter().take(2).any(|state| *state == found), "{of_script:?}, call {call}");

    if found.is_some() {
        // Different calls of the opening.
        let was_killed = run_child(folder.path(), None, 1 + call * 7 % 29);
        let count = if was_killed { &counts.killed_while_opening } else { &counts.opened };
        count.fetch_add(1, Relaxed);
        assert!(read(Arc::new(FsDirectory::new(&store))) == found, "{of_script:?}, call {call}");
    }
    go_on(&store, found);
    counts.killed.fetch_add(usize::from(was_killed), Relaxed);
    was_killed
}

/// Opens a store with these contents, and commits to it.
fn go_on(folder: &Path, found: Option<Contents>) {
    let opened = Store::open_with(folder, StoreOptions::default(), Ids::new());
    let Some(mut found) = found else {
        assert!(matches!(opened, Err(Error::NoStore { .. })));
        return;
    };
    let store = opened.unwrap();
    assert!(contents(&store.snapshot()) == found);
    add(&store, &[(9_000, 1)]).unwrap();
    store.commit().unwrap();
    assert_eq!(side_files(&**store.directory()), check(&store.snapshot()), "none orphaned, none missing");
    drop(store);
    found.insert(9_000, 1);
    assert!(read(Arc::new(FsDirectory::new(folder))).unwrap() == found);
    let temporary = |name: &str| name.starts_with('.');
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.into_iter().any(|name| temporary(name.to_str().unwrap())), "a temporary file is left");
}

/// In a sample, before every sixteenth call.
#[test]
fn a_kill_before_any_call_loses_nothing_committed() {
    let (scripts, commits, every) = crate::cases((1, 20, 16), (20, 50, 1));
    let counts = Counts::default();
    for seed in 0..scripts {
        let states = states(&script(seed, commits));
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (states, counts) = (&states, &counts);
                scope.spawn(move || {
                    let mut calls = (thread * every..).step_by(THREADS * every);
                    while kill_at(calls.next().unwrap(), (seed, commits), states, counts) {}
                });
            }
        });
    }
    println!("{counts:?}");
    assert!(
        counts.killed.into_inner() > 300 / every && counts.killed_while_opening.into_inner() > 100 / every
    );
}
