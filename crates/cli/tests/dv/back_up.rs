//! A store is backed up while it is written: docs/back-up.md.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use docvalues_testkit::damage::cases;

use crate::sandbox::Sandbox;
use crate::store_killed::Stop;

/// A restored copy that is promoted does not take the place of what only the backup has.
#[test]
fn a_test_of_the_restore_leaves_the_backup() {
    let sandbox = Sandbox::with("a.csv", "id,v\na,1\nb,2\n");
    sandbox.ok(&["store", "create", "live", "--id-field", "id"]);
    sandbox.ok(&["put", "live", "a.csv", "-q"]);
    let back_up = ["replicate", "live", "--to", "bak", "--once"];
    assert_eq!(sandbox.ok(&back_up), "bak: commit 2 of live, 2 new files\n");
    assert_eq!(sandbox.ok(&back_up), "bak: commit 2 of live, 0 new files\n");
    sandbox.ok(&["replica", "test", "--follow", "bak", "--once"]);
    sandbox.ok(&["replica", "test", "--promote"]);
    sandbox.ok(&["set", "live", "a", "v=10"]);
    assert_eq!(sandbox.ok(&[&back_up[..], &["-q"]].concat()), "");
    let refused = sandbox.dv(&["replicate", "test", "--to", "bak", "--once"]);
    assert!(refused.code == 5 && refused.err.contains("promoted or recovered"), "{refused:?}");
    assert!(refused.err.starts_with("dv: bak: ") && refused.err.contains("--discard"), "{refused:?}");
    assert_eq!(sandbox.ok(&["lookup", "bak", "a", "--columns", "v"]), "{\"v\":10}\n");
    sandbox.ok(&["set", "live", "b", "v=20"]);
    sandbox.ok(&back_up);
    sandbox.ok(&["replicate", "test", "--to", "bak", "--once", "--discard"]);
    sandbox.ok(&["replica", "again", "--follow", "bak", "--once"]);
    assert_eq!(sandbox.ok(&["lookup", "again", "a", "--columns", "v"]), "{\"v\":1}\n");
    // A folder that a command has written is a store, and the message says what to do.
    let [back_up, restore] =
        [["replicate", "live", "--to", "bak2", "--once"], ["replica", "x", "--follow", "bak2", "--once"]];
    sandbox.ok(&back_up);
    sandbox.ok(&["set", "bak2", "a", "v=3"]);
    for command in [back_up, restore] {
        let refused = sandbox.dv(&command);
        assert!(refused.code == 1 && refused.err.contains("an empty folder"), "{refused:?}");
    }
}

/// Copies the files of a folder as `cp -r` does: one that is gone meanwhile is left out.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let name = entry.unwrap().file_name();
        let copied = std::fs::copy(from.join(&name), to.join(&name));
        assert!(copied.is_ok() || !from.join(&name).exists(), "{name:?}: {copied:?}");
    }
}

/// Each backup is a commit: the first documents of the input, without a gap. So is a copy of the folder, or it is damaged.
#[test]
fn each_backup_of_a_store_that_is_written_is_a_commit() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["store", "create", "st", "--id-field", "id", "--type", "n=i64"]);
    let put = ["put", "st", "-", "--input-format", "ndjson", "--commit-every", "100ms", "--batch", "10"];
    let mut command = sandbox.command(&put);
    let mut writer = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let (mut stdin, is_done) = (writer.stdin.take().unwrap(), AtomicBool::new(false));
    let docs_without_a_gap = |store: &str| -> u64 {
        let docs = sandbox.ok(&["count", store]);
        let first = sandbox.ok(&["count", store, "--where", &format!("n < {}", docs.trim_end())]);
        assert_eq!(docs, first, "{store}");
        docs.trim_end().parse().unwrap()
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0.. {
                if is_done.load(Ordering::Relaxed) {
                    break;
                }
                writeln!(stdin, "{{\"id\":\"{n}\",\"n\":{n}}}").unwrap();
                std::thread::sleep(Duration::from_millis(1));
            }
            drop(stdin);
        });
        let _stop = Stop(&is_done);
        let mut before = 0;
        for round in 0..cases(10, 200) {
            sandbox.ok(&["replicate", "st", "--to", "backup", "--once"]);
            let restored = format!("restored{round}");
            sandbox.ok(&["replica", &restored, "--follow", "backup", "--once", "-q"]);
            sandbox.ok(&["check", &restored, "-q"]);
            let docs = docs_without_a_gap(&restored);
            assert!(docs >= before, "{docs} after {before}");
            before = docs;
            let copied = format!("copied{round}");
            copy(&sandbox.path("st"), &sandbox.path(&copied));
            if sandbox.dv(&["check", &copied, "-q"]).code == 0 {
                docs_without_a_gap(&copied);
            }
        }
    });
    assert!(writer.wait().unwrap().success());
}
