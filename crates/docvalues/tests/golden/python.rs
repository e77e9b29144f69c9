//! `docs/read_dv.py`, written from `docs/format.md` alone, reads the golden files: the document says
//! all that one needs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use docvalues::format::file::frame::{FOOTER_LEN, HEADER_LEN, Header, VERSION};

use crate::{path, segments, stored, twin};

/// Whether there is a `python3`; says so if not. CI has one: see `.ci/run`.
pub(crate) fn have_python() -> bool {
    let have = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !have {
        eprintln!("SKIPPED: no python3 to run docs/read_dv.py with");
    }
    have
}

/// What it says of `file`.
pub(crate) fn read_dv(file: &Path, options: &[&str]) -> Output {
    let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", "docs", "read_dv.py"].iter().collect();
    Command::new("python3").arg("-B").arg(script).args(options).arg(file).output().unwrap()
}

/// Whether `read_dv.py` refuses `bytes` in one line that has `reason` in it.
fn refuses(bytes: &[u8], reason: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("changed.dv");
    fs::write(&file, bytes).unwrap();
    let Output { status, stdout, stderr } = read_dv(&file, &[]);
    let message = String::from_utf8(stderr).unwrap();
    status.code() == Some(1) && stdout.is_empty() && message.lines().count() == 1 && message.contains(reason)
}

#[test]
fn the_reader_in_python_prints_every_file_with_and_without_jump_tables() {
    if !have_python() {
        return;
    }
    for name in segments() {
        let text = stored(&twin(&name));
        for options in [&[][..], &["--walk"]] {
            let Output { stdout, stderr, .. } = read_dv(&path(&name), options);
            assert!(
                stdout == text,
                "{name} {options:?}: not its twin; {}",
                String::from_utf8(stderr).unwrap()
            );
        }
    }
    let info = String::from_utf8(read_dv(&path("whole-file.dv"), &["--info"]).stdout).unwrap();
    assert!(info.starts_with(&format!("format version {VERSION}, written by release 0.0.0, id ")), "{info}");
}

#[test]
fn the_reader_in_python_refuses_later_files_and_ignores_optional_features() {
    if !have_python() {
        return;
    }
    let bytes = stored("whole-file.dv");
    let header = Header::decode(bytes.first_chunk().unwrap()).unwrap();
    let with = |header: Header| [&header.encode(), &bytes[HEADER_LEN..]].concat();
    assert!(refuses(&with(Header { version: VERSION + 1, ..header }), "version"));
    assert!(refuses(&with(Header { required: 1 << 30, ..header }), "[30]"));
    assert!(!refuses(&with(Header { optional: 1 << 30, ..header }), ""));
    for (field, reason) in [(40, "version"), (47, "[24]")] {
        let mut bytes = bytes.clone();
        let footer = bytes.len() - FOOTER_LEN;
        bytes[footer + field] += 1;
        assert!(refuses(&bytes, reason), "{reason} in the footer");
    }
}

#[test]
fn the_reader_in_python_refuses_damage() {
    if !have_python() {
        return;
    }
    for (i, name) in segments().iter().enumerate() {
        // In each file another place. Anywhere: where there is no checksum, there are zeros.
        let mut bytes = stored(name);
        let at = bytes.len() * (i % 10) / 10;
        bytes[at] ^= 4;
        assert!(refuses(&bytes, ""), "{name} with another byte {at}");
    }
    let bytes = stored("whole-file.dv");
    for len in (0..bytes.len()).step_by(160) {
        assert!(refuses(&bytes[..len], ""), "the first {len} bytes");
    }
}
