use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::buffered_file::BUFFER;

mod names;

/// What stands in a folder: names and contents.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let named =
        |path: PathBuf| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap());
    entries.map(named).collect()
}

fn only(name: &str, bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    BTreeMap::from([(name.to_owned(), bytes.to_vec())])
}

/// More than the buffer holds, in pieces of all lengths.
fn write_pieces(file: &mut AtomicFile) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    for (len, byte) in [10, BUFFER, 3, 3 * BUFFER + 5, BUFFER - 1, 1].into_iter().zip(b'a'..) {
        all.resize(all.len() + len, byte);
        file.append(&vec![byte; len])?;
        assert_eq!(file.written(), all.len() as u64);
    }
    Ok(all)
}

#[test]
fn appears_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dv");
    let mut file = AtomicFile::create(&path).unwrap();
    let all = write_pieces(&mut file).unwrap();
    assert_eq!(file.path(), path);
    assert_eq!(contents(folder.path()).keys().collect::<Vec<_>>(), [".a.dv.tmp"]);
    file.commit().unwrap();
    assert_eq!(contents(folder.path()), only("a.dv", &all));
}

#[test]
#[cfg(unix)]
#[cfg_attr(miri, ignore = "Miri has no permissions of files")]
fn has_the_permissions_of_an_older_file() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dv");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for (older, while_written) in [(0o600, 0o600), (0o640, 0o640), (0o444, 0o644)] {
        fs::write(&path, "older").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(older)).unwrap();
        let file = AtomicFile::create(&path).unwrap();
        assert_eq!(mode(&folder.path().join(".a.dv.tmp")), while_written);
        file.commit().unwrap();
        assert_eq!(mode(&path), older);
        fs::remove_file(&path).unwrap();
    }
}

#[test]
#[cfg_attr(miri, ignore = "Miri maps no files")]
fn replaces_an_older_file_that_is_still_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dv");
    fs::write(&path, "older").unwrap();
    let reader = crate::Source::map(&path).unwrap();
    let mut file = AtomicFile::create(&path).unwrap();
    file.append(b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"older");
    file.commit().unwrap();
    assert_eq!(contents(folder.path()), only("a.dv", b"new"));
    assert_eq!(reader.bytes().unwrap(), b"older");
}

#[test]
fn dropped_without_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dv");
    fs::write(&path, "older").unwrap();
    let mut file = AtomicFile::create(&path).unwrap();
    file.append(&[1; 3 * BUFFER]).unwrap();
    drop(file);
    assert_eq!(contents(folder.path()), only("a.dv", b"older"));
}

#[test]
fn one_build_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dv");
    let mut first = AtomicFile::create(&path).unwrap();
    first.append(b"first").unwrap();
    first.flush().unwrap();
    let error = AtomicFile::create(&path).unwrap_err();
    assert!(error.is_busy(), "{error}");
    assert!(error.to_string().starts_with("another build of this file is running: it holds \""), "{error}");
    drop(AtomicFile::create(folder.path().join("b.dv")).unwrap());
    first.commit().unwrap();
    assert_eq!(contents(folder.path()), only("a.dv", b"first"), "the second build touched nothing");
    drop(AtomicFile::create(&path).unwrap());
    assert_eq!(contents(folder.path()), only("a.dv", b"first"));
}

#[test]
fn a_stale_file_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dv");
    fs::write(folder.path().join(".a.dv.tmp"), vec![0xff; 100_000]).unwrap();
    let mut file = AtomicFile::create(&path).unwrap();
    file.append(b"short").unwrap();
    file.commit().unwrap();
    assert_eq!(contents(folder.path()), only("a.dv", b"short"));
}

/// A script that clears the folder, and another build that has begun since.
#[test]
fn a_temporary_file_that_was_removed_is_not_published() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dv");
    let mut first = AtomicFile::create(&path).unwrap();
    fs::remove_file(folder.path().join(".a.dv.tmp")).unwrap();
    let mut second = AtomicFile::create(&path).unwrap();
    first.append(b"first").unwrap();
    second.append(b"second").unwrap();
    let error = first.commit().unwrap_err();
    assert_eq!((error.step(), error.io_error().kind()), (Step::Rename, io::ErrorKind::NotFound));
    assert!(!path.exists(), "half of the second would stand there");
    second.commit().unwrap();
    assert_eq!(contents(folder.path()), only("a.dv", b"second"));
}

/// The test runs itself once more as the build that is killed.
#[test]
#[cfg_attr(miri, ignore = "Miri starts no processes")]
fn a_killed_build_leaves_nothing_under_the_final_name() {
    const PATH: &str = "DOCVALUES_TEST_KILLED_BUILD";
    if let Some(path) = std::env::var_os(PATH) {
        let mut file = AtomicFile::create(path).unwrap();
        file.append(&[1; 3 * BUFFER]).unwrap();
        fs::write(file.path().with_extension("ready"), "").unwrap();
        loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dv");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "atomic_file::tests::a_killed_build_leaves_nothing_under_the_final_name"])
        .env(PATH, &path)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let ready = path.with_extension("ready");
    while !ready.exists() {
        assert!(child.try_wait().unwrap().is_none(), "the build ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let busy = AtomicFile::create(&path).unwrap_err();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(busy.is_busy(), "{busy}");
    fs::remove_file(ready).unwrap();
    assert_eq!(contents(folder.path()).keys().collect::<Vec<_>>(), [".a.dv.tmp"]);

    let mut file = AtomicFile::create(&path).unwrap();
    file.append(b"whole").unwrap();
    file.commit().unwrap();
    assert_eq!(contents(folder.path()), only("a.dv", b"whole"));
}

/// Builds of one file in many threads: each is refused or publishes, and what stands is always whole.
#[test]
fn a_race() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dv");
    let committed = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let (path, committed) = (&path, &committed);
            scope.spawn(move || {
                for round in 0..if cfg!(miri) { 5 } else { 100 } {
                    match AtomicFile::create(path) {
                        Ok(mut file) => {
                            file.append(&[thread; 5000]).unwrap();
                            if round % 3 != 0 {
                                file.commit().unwrap();
                                committed.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                        Err(error) => assert!(error.is_busy(), "{error}"),
                    }
                    if let Ok(bytes) = fs::read(path) {
                        assert!(bytes.len() == 5000 && bytes.iter().all(|&b| b == bytes[0]), "torn");
                    }
                }
            });
        }
    });
    assert!(committed.into_inner() > 0);
    assert_eq!(contents(folder.path()).keys().collect::<Vec<_>>(), ["a.dv"]);
}
