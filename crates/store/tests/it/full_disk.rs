//! Full disks, and files that may not grow: errors of the operating system itself. Only in the full sweep.

use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use docvalues_storage::{Directory, FsDirectory, Step};
use docvalues_store::{Durability, Store, StoreOptions, StoreSchema};
use docvalues_testkit::faults::{FaultyDirectory, PowerLossDirectory};

use crate::script::{Operation, Run, read, script};

/// The folder that a child writes to.
const FOLDER: &str = "DOCVALUES_STORE_OF_LIMITED_CHILD";

/// The seed of its script.
const SEED: &str = "DOCVALUES_SEED_OF_LIMITED_CHILD";

fn is_sample() -> bool {
    crate::cases(true, false)
}

/// Runs the script in a folder. Returns it with the number of operations that failed.
fn run(folder: &Path, seed: u64) -> (Run, usize) {
    let directory = Arc::new(FsDirectory::new(folder));
    let mut run = Run::new(directory.clone());
    run.run(&script(seed, 21), |_, _| {});
    assert!(run.allows(&read(directory)));
    let failed = run.failed;
    (run, failed)
}

/// Changes that must succeed as soon as there is room.
fn go_on(mut run: Run) {
    let failed = run.failed;
    run.run(&[Operation::Add(vec![(9_000, 1)]), Operation::Commit], |_, _| {});
    assert_eq!(run.failed, failed);
}

/// Opening creates a log. No file of a failed attempt stays, however often it is made.
#[test]
fn a_store_with_a_log_opens_when_there_is_room_again() {
    let disk = PowerLossDirectory::new("/disk");
    let options = StoreOptions::new().durability(Durability::EachBatch);
    drop(Store::create_in(Arc::new(disk.clone()), StoreSchema::new(), options).unwrap());
    let files = || disk.list().unwrap().len();
    let before = files();
    let full = FaultyDirectory::new(Arc::new(disk.clone()), |call| match call.step {
        Step::Write if call.name != "LOCK" => Err(io::ErrorKind::StorageFull.into()),
        _ => Ok(call.bytes),
    });
    for _ in 0..3 {
        let error = Store::open_in(Arc::new(full.clone()), options).unwrap_err();
        assert!(error.to_string().contains("log-"), "{error}");
        assert_eq!(files(), before);
    }
    Store::open_in(Arc::new(disk.clone()), options).unwrap();
}

/// Not a test of its own: the child of the next one.
#[test]
fn child() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let seed = std::env::var(SEED).unwrap().parse().unwrap();
        println!("failed {}", run(Path::new(&folder), seed).1);
    }
}

/// With each limit of the length of a file that a process may write.
#[test]
#[cfg(unix)]
fn files_that_may_not_grow() {
    if is_sample() {
        return;
    }
    let (mut counts, mut created) = (Vec::new(), 0);
    for (seed, blocks) in (1..=4).flat_map(|seed| (0..30).map(move |nth| (seed, nth * nth / 3))) {
        let folder = tempfile::tempdir().unwrap();
        // Without the trap, a signal would end the child.
        let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let output = Command::new("sh")
            .args(["-c", &limited])
            .arg(std::env::current_exe().unwrap())
            .args(["full_disk::child", "--exact", "--nocapture"])
            .env(FOLDER, folder.path())
            .env(SEED, seed.to_string())
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
        let failed = printed.split("failed ").nth(1).unwrap().lines().next().unwrap();
        counts.push(failed.parse::<usize>().unwrap());
        created += u32::from(Store::open(folder.path(), StoreOptions::default()).is_ok());
    }
    let failed: usize = counts.iter().sum();
    println!("{} limits of the length, {created} stores, {failed} operations failed", counts.len());
    assert!(counts[0] > 0 && counts.last() == Some(&0) && created > 100);
}

/// A file system in memory, for as long as it lives.
#[cfg(target_os = "linux")]
struct Tmpfs(tempfile::TempDir);

#[cfg(target_os = "linux")]
impl Tmpfs {
    /// `None` if this process may not mount.
    fn mount(options: &str) -> Option<Tmpfs> {
        let folder = tempfile::tempdir().unwrap();
        mount(folder.path(), options).then_some(Tmpfs(folder))
    }
}

#[cfg(target_os = "linux")]
impl Drop for Tmpfs {
    fn drop(&mut self) {
        // Lazily: a process that another thread is starting has copies of the open files for a moment.
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).output();
    }
}

#[cfg(target_os = "linux")]
fn mount(folder: &Path, options: &str) -> bool {
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(folder).output();
    mounted.is_ok_and(|output| output.status.success())
}

/// With each size of the disk, in pages or in files, and after it has grown.
#[test]
#[cfg(target_os = "linux")]
fn disks_that_are_full() {
    if is_sample() {
        return;
    }
    let sizes = (1..25).map(|pages| format!("size={}k", 4 * pages));
    let sizes = sizes.chain((2..40).map(|files| format!("size=16m,nr_inodes={files}"))).collect::<Vec<_>>();
    let mut counts = Vec::new();
    for (seed, size) in (1..=4).flat_map(|seed| sizes.iter().map(move |size| (seed, size))) {
        let Some(disk) = Tmpfs::mount(size) else {
            return println!("SKIPPED: this process may not mount a file system");
        };
        let (run, failed) = run(disk.0.path(), seed);
        counts.push(failed);
        assert!(mount(disk.0.path(), "remount,size=16m,nr_inodes=1000"));
        go_on(run);
    }
    println!("{} full disks, {} operations failed", counts.len(), counts.iter().sum::<usize>());
    assert!(counts[0] > 0 && counts.last() == Some(&0));
}
