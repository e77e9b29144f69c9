//! The process dies before a call, or is killed at any time.
//!
//! The test runs its own binary again as the process that dies.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use docvalues_storage::{AtomicFile, Step};
use docvalues_testkit::damage::Sweep;
use docvalues_testkit::faults::faulty_file;
use docvalues_testkit::rng::SplitMix64;

use super::calls::{Tally, all_of, tried};
use super::work::{Work, Works};
use super::{NAME, OLDER, names};

const PATH: &str = "DOCVALUES_TEST_DYING_PATH";
const WORK: &str = "DOCVALUES_TEST_DYING_WORK";
const CALL: &str = "DOCVALUES_TEST_DYING_CALL";

/// In a child process, dies before the requested call, counted from 0, or works until it is killed.
fn die_if_told() {
    let (Some(path), Ok(work)) = (std::env::var_os(PATH), std::env::var(WORK)) else { return };
    let works = Works::new();
    let work = Work::ALL[work.parse::<usize>().unwrap()];
    if let Ok(call) = std::env::var(CALL) {
        let mut left: usize = call.parse().unwrap();
        let file = faulty_file(&path, move |_, bytes| {
            // `abort` runs no destructors, like a kill.
            left = left.checked_sub(1).unwrap_or_else(|| std::process::abort());
            Ok(bytes)
        });
        works.run(work, file.unwrap()).unwrap();
        panic!("it should have died");
    }
    println!("ready");
    loop {
        works.run(work, AtomicFile::create(&path).unwrap()).unwrap();
    }
}

/// Spawns a process that runs test `name` of this file and does `work`.
fn spawn(name: &str, path: &Path, work: Work, call: Option<usize>) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", &format!("faults::dying::{name}"), "--nocapture"]);
    child.env(PATH, path).env(WORK, (work as usize).to_string());
    if let Some(call) = call {
        child.env(CALL, call.to_string());
    }
    child.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// Checks that there is no partial file after a death, and only the complete file after the next build.
fn check_and_build_anew(works: &Works, work: Work, path: &Path, whole: &[u8], context: &str) -> bool {
    let found = fs::read(path).unwrap();
    let is_new = found == whole;
    assert!(is_new || found == OLDER, "{context}: neither the old nor the new file");
    works.run(work, AtomicFile::create(path).unwrap()).unwrap();
    assert!(fs::read(path).unwrap() == whole, "{context}: the next build is another");
    assert_eq!(names(path.parent().unwrap()), [NAME], "{context}: the next build leaves something");
    is_new
}

#[test]
fn a_process_that_dies_before_any_call_leaves_the_old_file_or_the_new_one() {
    const THIS: &str = "a_process_that_dies_before_any_call_leaves_the_old_file_or_the_new_one";
    die_if_told();
    let works = &Works::new();
    let total = &AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for work in Work::ALL {
            scope.spawn(move || {
                let whole = works.expected(work);
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join(NAME);
                let calls = all_of(works, work, &path);
                let (mut deaths, mut left) = (Tally::default(), Tally::default());
                for at in tried(&calls) {
                    fs::write(&path, OLDER).unwrap();
                    let output = spawn(THIS, &path, work, Some(at)).wait_with_output().unwrap();
                    let context = format!("{work:?}, dead before call {at}, {:?}", calls[at]);
                    assert!(died(output.status), "{context}: {output:?}");
                    names(folder.path())
                        .into_iter()
                        .filter(|name| name != NAME)
                        .for_each(|name| left.add(name));
                    let is_new = check_and_build_anew(works, work, &path, &whole, &context);
                    assert_eq!(is_new, calls[at] == Step::SyncFolder, "{context}");
                    deaths.add(format!("{:?}", calls[at]));
                }
                println!(
                    "{work:?}: {} kill points ({deaths}); left until the next build: {left}",
                    deaths.total()
                );
                // Otherwise no build would have had temporary files to remove.
                let leaves: &[_] =
                    if work.spills() { &[".hits.dv.spill", ".hits.dv.tmp"] } else { &[".hits.dv.tmp"] };
                assert_eq!(left.keys(), leaves, "{work:?}");
                total.fetch_add(deaths.total(), Relaxed);
            });
        }
    });
    assert!(total.load(Relaxed) >= Work::ALL.len() * 7, "a step of which no process died");
}

#[cfg(unix)]
fn died(status: std::process::ExitStatus) -> bool {
    std::os::unix::process::ExitStatusExt::signal(&status).is_some()
}

#[cfg(not(unix))]
fn died(status: std::process::ExitStatus) -> bool {
    !status.success()
}

/// The signal can come in the middle of a call.
#[test]
fn a_process_that_is_killed_at_any_time_leaves_the_old_file_or_the_new_one() {
    const THIS: &str = "a_process_that_is_killed_at_any_time_leaves_the_old_file_or_the_new_one";
    die_if_told();
    let works = Works::new();
    let kills = match Sweep::from_env(10) {
        Sweep::Full => 100,
        Sweep::Sample(few) => few,
    };
    let (mut rng, mut found) = (SplitMix64::new(7), Tally::default());
    let wholes = Work::ALL.map(|work| works.expected(work));
    for kill in 0..kills {
        let work = Work::ALL[kill % Work::ALL.len()];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        fs::write(&path, OLDER).unwrap();
        let mut child = spawn(THIS, &path, work, None);
        wait_until_ready(&mut child);
        std::thread::sleep(Duration::from_micros(rng.below(60_000)));
        let busy = AtomicFile::create(&path);
        child.kill().unwrap();
        child.wait().unwrap();
        match busy {
            Err(error) => {
                assert!(error.is_busy(), "{error}");
                found.add("a build running");
            }
            // The process was between two builds.
            Ok(ours) => drop(ours),
        }
        let is_new = check_and_build_anew(
            &works,
            work,
            &path,
            &wholes[kill % Work::ALL.len()],
            &format!("{work:?}, killed"),
        );
        found.add(if is_new { "the new file" } else { "the old file" });
    }
    println!("{kills} processes killed, and found: {found}");
    assert!(found.keys().contains(&"a build running"));
}

fn wait_until_ready(child: &mut Child) {
    use std::io::BufRead as _;
    let begin = Instant::now();
    let lines = io::BufReader::new(child.stdout.take().unwrap()).lines();
    let ready = lines.map_while(Result::ok).any(|line| line.ends_with("ready"));
    assert!(ready, "the process ended after {:?}", begin.elapsed());
}
