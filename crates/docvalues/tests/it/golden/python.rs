//! `docs/read_dv.py`, written from `docs/format.md` alone, reads the golden files. So the document is complete.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use docvalues::format::file::frame::{FOOTER_LEN, HEADER_LEN, Header, VERSION};
use docvalues::{OpenOptions, Segment};
use docvalues_testkit::damage::cases;

use super::{ids_twin, path, segments, stored, text, twin};

/// The interpreter itself: `python3` may be a script that takes longer to find it than it takes to read a file.
static PYTHON: LazyLock<Option<String>> = LazyLock::new(|| {
    let output = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !path.is_empty()).then_some(path)
});

/// Whether there is a `python3`. Prints `SKIPPED` if not. CI has one: see `.ci/run`.
pub(crate) fn have_python() -> bool {
    if PYTHON.is_none() {
        eprintln!("SKIPPED: no python3 to run docs/read_dv.py with");
    }
    PYTHON.is_some()
}

/// The output of the reader for `file`.
pub(crate) fn read_dv(file: &Path, options: &[&str]) -> Output {
    let script: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", "docs", "read_dv.py"].iter().collect();
    Command::new(PYTHON.as_deref().unwrap()).arg("-B").arg(script).args(options).arg(file).output().unwrap()
}

/// Whether `read_dv.py` refuses `bytes` with one line that contains `reason`.
pub(crate) fn refuses(bytes: &[u8], reason: &str) -> bool {
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
    let ways = [&[][..], &["--walk"]];
    for (i, name) in segments().into_iter().enumerate() {
        let text = stored(&twin(&name));
        // By turns, but for the full sweep.
        for options in ways.into_iter().skip(cases(i % 2, 0)).step_by(cases(2, 1)) {
            let Output { stdout, stderr, .. } = read_dv(&path(&name), options);
            assert!(
                stdout == text,
                "{name} {options:?}: not its twin; {}",
                String::from_utf8(stderr).unwrap()
            );
        }
    }
    for name in segments() {
        let Ok(text) = fs::read(path(&ids_twin(&name))) else { continue };
        let Output { stdout, stderr, .. } = read_dv(&path(&name), &["--ids"]);
        assert!(stdout == text, "the ids of {name}: {}", String::from_utf8(stderr).unwrap());
    }
    let info = String::from_utf8(read_dv(&path("whole-file.dv"), &["--info"]).stdout).unwrap();
    assert!(info.starts_with(&format!("format version {VERSION}, written by release 0.0.0, id ")), "{info}");
}

#[test]
fn the_reader_in_python_finds_ids() {
    if !have_python() {
        return;
    }
    for name in segments() {
        let segment = Segment::from_bytes(stored(&name), OpenOptions::new()).unwrap();
        let Some(ids) = segment.ids().unwrap() else { continue };
        let (mut asked, mut expected) = (Vec::new(), String::new());
        let mut ask = |id: &[u8]| {
            // Ids that can be command-line arguments.
            if let Some(shown) = str::from_utf8(id).ok().filter(|id| !id.contains('\0')) {
                asked.push(format!("--find={shown}"));
                expected.push_str(&text::id(id, ids.find(id).unwrap()));
            }
        };
        ask(b"an id that is nowhere");
        let (step, mut number) = (ids.len() / 90 + 1, 0);
        ids.each(|id, _| {
            number += 1;
            if number % step != 0 {
                return ControlFlow::Continue(());
            }
            ask(id);
            // Ids of the same form that mostly do not exist.
            let mut other = id.to_vec();
            if let Some(last) = other.last_mut() {
                *last = if *last == b'1' { b'2' } else { b'1' };
            }
            ask(&other);
            ask(&id[..id.len() / 2]);
            ControlFlow::Continue(())
        })
        .unwrap();
        let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
        let Output { stdout, stderr, .. } = read_dv(&path(&name), &asked);
        assert!(stdout == expected.as_bytes(), "{name}: {}", String::from_utf8(stderr).unwrap());
    }
}

/// The reader prints the kinds of nodes it visits. Each kind in the document's tables occurs in some file.
#[test]
fn every_node_of_ids_has_a_golden_file() {
    if !have_python() {
        return;
    }
    let branches = ["branch list", "branch list with peeks", "branch map", "branch map with peeks"];
    let runs = ["branch run", "branch run with peeks", "leaf", "long"];
    let chains = ["chain", "chain after a key", "chain of several", "chain of several after a key"];
    for (form, nodes) in [("ids-trie", vec!["shared"]), ("ids-fst", chains.to_vec())] {
        let files = segments().into_iter().filter(|name| name.starts_with(form));
        let info = |name: String| String::from_utf8(read_dv(&path(&name), &["--info"]).stdout).unwrap();
        let info: String = files.map(info).collect();
        let met: Vec<&str> = info.lines().filter_map(|line| line.split("keys in nodes: ").nth(1)).collect();
        let met: Vec<&str> = met.iter().flat_map(|line| line.split(", ")).collect();
        for node in branches.iter().chain(&runs).chain(&nodes) {
            assert!(met.contains(node), "no file {form} has the node `{node}`");
        }
    }
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
        // Another offset in each file. Any offset will do: bytes without a checksum are zeros.
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
