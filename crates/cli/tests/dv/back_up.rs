//! A store is backed up while it is written: docs/back-up.md.

use std::io::Write as _;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use docvalues_testkit::damage::cases;

use crate::sandbox::Sandbox;
use crate::store_killed::Stop;

/// Each backup is a commit: the first documents of the input, without a gap.
#[test]
fn each_backup_of_a_store_that_is_written_is_a_commit() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["store", "create", "st", "--id-field", "id", "--type", "n=i64"]);
    let put = ["put", "st", "-", "--input-format", "ndjson", "--commit-every", "100ms", "--batch", "10"];
    let mut command = sandbox.command(&put);
    let mut writer = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let (mut stdin, is_done) = (writer.stdin.take().unwrap(), AtomicBool::new(false));
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
            let docs: u64 = sandbox.ok(&["count", &restored]).trim_end().parse().unwrap();
            let first = sandbox.ok(&["count", &restored, "--where", &format!("n < {docs}")]);
            assert!(docs >= before && first == format!("{docs}\n"), "{docs} after {before}, {first}");
            before = docs;
        }
    });
    assert!(writer.wait().unwrap().success());
}
