//! A build that is killed, at whatever call to the operating system: nothing half-written stands under
//! the name, and the next build leaves no trace of it.
//!
//! The test starts itself again as the build that dies. `abort` runs no destructor, as a kill does not.

#![expect(clippy::unwrap_used, reason = "a failing helper is a failing test")]

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};

use docvalues_storage::{AtomicFile, Faults, Step};
use docvalues_writer::{FieldSpec, LogicalType, Schema, SegmentWriter, WriterOptions};

const PATH: &str = "DOCVALUES_TEST_KILLED_PATH";
const CALL: &str = "DOCVALUES_TEST_KILLED_CALL";

/// Dies before a call, counted from 0.
struct DieAt(usize);

impl Faults for DieAt {
    fn before(&mut self, _: Step, bytes: usize) -> io::Result<usize> {
        match self.0.checked_sub(1) {
            Some(left) => self.0 = left,
            None => std::process::abort(),
        }
        Ok(bytes)
    }
}

fn build(file: AtomicFile) {
    let mut schema = Schema::new();
    let number = schema.add(FieldSpec::new("number", LogicalType::I64)).unwrap();
    let mut writer = SegmentWriter::to_file(file, schema, WriterOptions::default());
    for i in 0..30_000_i64 {
        let mut doc = writer.document();
        doc.i64(number, i.wrapping_mul(0x5851_f42d_4c95_7f2d)).unwrap();
        doc.finish().unwrap();
    }
    writer.finish().unwrap();
}

fn build_and_die(path: &Path, call: usize) -> ExitStatus {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "a_killed_build_leaves_the_old_file_or_the_new_one", "--nocapture"]);
    child.env(PATH, path).env(CALL, call.to_string());
    child.output().unwrap().status
}

#[test]
fn a_killed_build_leaves_the_old_file_or_the_new_one() {
    if let (Some(path), Ok(call)) = (std::env::var_os(PATH), std::env::var(CALL)) {
        build(AtomicFile::create_with_faults(path, DieAt(call.parse().unwrap())).unwrap());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.dv");
    build(AtomicFile::create(&whole).unwrap());
    let whole = std::fs::read(whole).unwrap();

    let mut deaths = 0;
    loop {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hits.dv");
        std::fs::write(&path, "old").unwrap();
        let survived = build_and_die(&path, deaths).success();
        let found = std::fs::read(&path).unwrap();
        assert!(found == b"old" || found == whole, "torn by a death at call {deaths}");
        if survived {
            assert!(found == whole);
            break;
        }
        build(AtomicFile::create(&path).unwrap());
        assert!(std::fs::read(&path).unwrap() == whole);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "after a death at call {deaths}");
        deaths += 1;
    }
    // Create, lock, some writes, sync, rename, sync of the folder.
    assert!(deaths > 6, "{deaths} deaths");
}
