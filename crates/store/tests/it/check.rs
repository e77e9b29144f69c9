//! Checks of whole stores, and going back to older commits.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use docvalues_reader::OpenOptions;
use docvalues_store::{Durability, Error, Store, StoreCheck, StoreOptions, StoreReader};

use crate::fixture::{Stop, add, apply, contents, id, schema};

const KEEP_ALL: usize = 100;

/// A store with segments, deltas and folds in several commits.
fn store(folder: &Path) -> Store {
    let options = StoreOptions::new().keep_commits(docvalues_store::KeepCommits::Newest(KEEP_ALL));
    let store = Store::create(folder, schema(), options).unwrap();
    for round in 0..12_u32 {
        let docs: Vec<(u32, i64)> = (0..40).map(|doc| (round * 7 + doc, i64::from(round))).collect();
        add(&store, &docs).unwrap();
        store.delete_ids([id(round * 3)]).unwrap();
        store.commit().unwrap();
    }
    store
}

fn check(folder: &Path) -> (StoreCheck, Vec<String>) {
    let mut problems = Vec::new();
    let found = StoreReader::check(folder, OpenOptions::new(), &mut |error| problems.push(error.to_string()));
    let found = found.unwrap();
    assert_eq!(found.problems, problems.len() as u64);
    (found, problems)
}

#[test]
fn a_check_reads_all_files_of_all_commits() {
    let folder = tempfile::tempdir().unwrap();
    let docs = store(folder.path()).snapshot().docs();
    let (found, problems) = check(folder.path());
    assert_eq!(problems, [""; 0]);
    assert_eq!((found.commits, found.docs), ((1..=13).collect(), docs));
    let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap());
    let entries: Vec<_> = entries.filter(|entry| entry.path().extension().is_some()).collect();
    let entries: Vec<_> = entries.iter().filter(|entry| entry.file_name() != "LOCK.info").collect();
    let bytes: u64 = entries.iter().map(|entry| entry.metadata().unwrap().len()).sum();
    assert_eq!((found.files, found.bytes, found.unnamed), (entries.len(), bytes, Vec::new()));
}

#[test]
fn a_check_names_the_damaged_file() {
    let folder = tempfile::tempdir().unwrap();
    drop(store(folder.path()));
    let (mut flipped, mut missing) = (0, 0);
    for entry in fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.starts_with("LOCK") {
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        for at in (0..bytes.len()).step_by(bytes.len() / crate::cases(8, 20) + 1) {
            let mut edited = bytes.clone();
            edited[at] ^= 0x10;
            fs::write(&path, edited).unwrap();
            let (_, problems) = check(folder.path());
            // Padding has no meaning.
            assert!(problems.iter().all(|problem| problem.contains(&name)), "{name} at {at}: {problems:?}");
            flipped += usize::from(!problems.is_empty());
        }
        fs::remove_file(&path).unwrap();
        if !name.starts_with("commit") {
            let (_, problems) = check(folder.path());
            assert!(problems.len() == 1 && problems[0].contains(&name), "{problems:?}");
            missing += 1;
        }
        fs::write(&path, bytes).unwrap();
    }
    println!("{flipped} flipped bytes, {missing} missing files");
    assert!(flipped > crate::cases(200, 500) && missing > 20);
    assert_eq!(check(folder.path()).1, [""; 0]);
}

/// Writes `from` with an edited text, and the checksum that it then has, as commit `number`.
fn forge(folder: &Path, from: u64, number: u64, edit: impl FnOnce(serde_json::Value) -> serde_json::Value) {
    let name = |number: u64| folder.join(format!("commit-{number:08}"));
    let text = fs::read_to_string(name(from)).unwrap();
    let json = serde_json::from_str(text.rsplit_once("crc32").unwrap().0).unwrap();
    let mut json = edit(json);
    json["number"] = number.into();
    let text = format!("{json:#}\n");
    let crc = crc32fast::hash(text.as_bytes());
    fs::write(name(number), format!("{text}crc32 {crc:08x}\n")).unwrap();
}

#[test]
fn a_check_finds_an_id_with_two_documents() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(), StoreOptions::default()).unwrap();
    add(&store, &[(1, 1), (2, 2)]).unwrap();
    add(&store, &[(2, 3), (4, 4)]).unwrap();
    store.commit().unwrap();
    assert_eq!(check(folder.path()).1, [""; 0]);
    // The delta that deletes the older one is forgotten.
    forge(folder.path(), 2, 3, |mut commit| {
        commit["deltas"] = serde_json::Value::Array(Vec::new());
        for segment in commit["segments"].as_array_mut().unwrap() {
            segment["live"] = segment["docs"].clone();
        }
        commit
    });
    let (_, problems) = check(folder.path());
    assert_eq!(problems.len(), 1);
    let expected = "seg-000000.dv: a newer document has the id of document 1, \"doc-00002\", too";
    assert!(problems[0].ends_with(expected), "{problems:?}");
}

/// An older commit under a newer name, and a commit that another one replaced.
#[test]
fn a_commit_under_another_name_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    drop(store(folder.path()));
    let name = |number: u64| folder.path().join(format!("commit-{number:08}"));
    for (from, to) in [(12, 14), (3, 14), (13, 20), (13, 5)] {
        let before = fs::read(name(to)).ok();
        fs::copy(name(from), name(to)).unwrap();
        let what = format!("commit-{to:08}: expected commit {to}, found commit {from}");
        let (_, problems) = check(folder.path());
        assert!(problems.len() == 1 && problems[0].ends_with(&what), "{problems:?}");
        if to > 13 {
            let error = Store::open(folder.path(), StoreOptions::default()).unwrap_err().to_string();
            assert!(error.ends_with(&what), "{error}");
            let error = StoreReader::open(folder.path(), OpenOptions::new()).unwrap_err().to_string();
            assert!(error.ends_with(&what), "{error}");
        }
        match before {
            Some(bytes) => fs::write(name(to), bytes).unwrap(),
            None => fs::remove_file(name(to)).unwrap(),
        }
    }
    // One with the right number, of another store or moment.
    forge(folder.path(), 7, 7, |mut commit| {
        commit["history"] = "0123456789abcdef".into();
        commit
    });
    let (_, problems) = check(folder.path());
    assert!(problems.len() == 1, "{problems:?}");
    assert!(
        problems[0].contains("commit-00000007: expected the checksum ")
            && problems[0].contains("commit 8 names")
    );
}

#[test]
#[cfg(unix)]
fn a_check_names_a_commit_that_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    drop(store(folder.path()));
    for name in ["commit-00000005", "commit-00000013"] {
        let (path, away) = (folder.path().join(name), folder.path().join("away"));
        fs::rename(&path, &away).unwrap();
        std::os::unix::fs::symlink(&away, &path).unwrap();
        let (found, problems) = check(folder.path());
        assert!(problems.len() == 1 && problems[0].contains(name), "{problems:?}");
        assert_eq!(found.commits.len(), 12);
        fs::rename(&away, &path).unwrap();
    }
}

#[test]
fn a_check_lists_what_no_commit_names() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    for name in ["seg-0000ff.dv", ".commit-00000099.tmp", "notes.txt"] {
        fs::write(folder.path().join(name), "1234").unwrap();
    }
    let (found, problems) = check(folder.path());
    assert_eq!(problems, [""; 0]);
    let unnamed = |found: StoreCheck| -> Vec<String> {
        let text =
            found.unnamed.iter().map(|file| format!("{} {} {}", file.name, file.bytes, file.is_of_store));
        text.collect()
    };
    let expected = [".commit-00000099.tmp 4 true", "notes.txt 4 false", "seg-0000ff.dv 4 true"];
    assert_eq!(unnamed(found), expected);
    drop(store);
    drop(Store::open(folder.path(), StoreOptions::default()).unwrap());
    assert_eq!(unnamed(check(folder.path()).0), expected[1..2], "the next writer removes the others");
}

#[test]
fn a_check_beside_a_writer_finds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(), StoreOptions::default()).unwrap();
    let is_done = AtomicBool::new(false);
    let checks = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let _stop = Stop(&is_done);
            for round in 0..60_u32 {
                add(&store, &[(round % 20, i64::from(round)), (round % 7, 0)]).unwrap();
                store.commit().unwrap();
                if round % 10 == 9 {
                    store.merge_to(1).unwrap();
                }
            }
        });
        let mut checks = 0;
        while !is_done.load(Ordering::Relaxed) {
            assert_eq!(check(folder.path()).1, [""; 0]);
            checks += 1;
        }
        writer.join().unwrap();
        checks
    });
    println!("{checks} checks beside 60 commits");
    assert!(checks > 0);
}

#[test]
fn a_store_goes_back_to_an_older_commit() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new().keep_commits(docvalues_store::KeepCommits::Newest(3));
    drop(store(folder.path()));
    let before = StoreReader::open_commit(folder.path(), 10, options.open).unwrap().snapshot();
    let newest = folder.path().join("commit-00000013");
    let text = fs::read_to_string(&newest).unwrap();
    fs::write(&newest, text.replace("sequence", "consequence")).unwrap();
    assert!(matches!(Store::open(folder.path(), options), Err(Error::Damaged { .. })));
    // The older one can be read meanwhile.
    let meanwhile = StoreReader::open_commit(folder.path(), 10, options.open).unwrap().snapshot();
    assert_eq!(contents(&meanwhile), contents(&before));
    let names = || -> BTreeSet<_> {
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    let files = names();

    let recovered = Store::recover(folder.path(), 10, None, options).unwrap();
    assert_eq!(recovered.commit.number, 14);
    assert!(recovered.commit.epoch > 1);
    assert_eq!(recovered.commit.docs, before.docs());
    let lost: Vec<(u64, bool)> =
        recovered.lost.iter().map(|lost| (lost.number, lost.info.is_some())).collect();
    assert_eq!(lost, [(11, true), (12, true), (13, false)]);
    assert!(names().is_superset(&files), "nothing is removed");

    let store = Store::open(folder.path(), options).unwrap();
    assert_eq!(contents(&store.snapshot()), contents(&before));
    add(&store, &[(1_000, 1)]).unwrap();
    assert_eq!(store.commit().unwrap(), 15);
    assert_eq!(store.snapshot().docs(), before.docs() + 1);
    // The damaged one is among the newest three.
    let commits = StoreReader::commits(folder.path()).unwrap();
    let commits: Vec<(u64, bool)> =
        commits.iter().map(|(number, commit)| (*number, commit.is_ok())).collect();
    assert_eq!(commits, [(13, false), (14, true), (15, true)]);
}

#[test]
fn a_store_does_not_go_anywhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new().keep_commits(docvalues_store::KeepCommits::Newest(KEEP_ALL));
    let open = store(folder.path());
    let recover = |to| Store::recover(folder.path(), to, None, options).unwrap_err();
    assert!(matches!(recover(12), Error::Busy { .. }));
    drop(open);
    assert!(matches!(recover(99), Error::NoCommit { .. }));
    assert!(recover(13).to_string().ends_with("expected an older commit, found the newest, 13"));
    let empty = tempfile::tempdir().unwrap();
    let error = Store::recover(empty.path(), 1, None, options).unwrap_err();
    assert!(matches!(error, Error::NoStore { .. }));
    // A commit of which a file is gone is none to go back to, and nothing changes.
    fs::remove_file(folder.path().join("seg-000000.dv")).unwrap();
    assert!(recover(2).to_string().contains("seg-000000.dv"));
    assert_eq!(StoreReader::commits(folder.path()).unwrap().len(), 13);
}

#[test]
fn a_check_reads_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new().durability(Durability::EachBatch);
    let store = Store::create(folder.path(), schema(), options).unwrap();
    for number in 0..3 {
        apply(&store, &[(number, Some(1))]).unwrap();
    }
    let frames: Vec<_> = StoreReader::log_frames(folder.path()).unwrap().map(Result::unwrap).collect();
    assert_eq!(
        frames.iter().map(|frame| (frame.sequence, frame.is_synced)).collect::<Vec<_>>(),
        [(1, true), (2, true), (3, false)]
    );
    let (found, problems) = check(folder.path());
    assert!(problems.is_empty() && found.unnamed.is_empty(), "{problems:?}, {:?}", found.unnamed);
    let path = folder.path().join(format!("log-{:08x}", frames[1].log));
    let mut bytes = fs::read(&path).unwrap();
    bytes[usize::try_from(frames[1].offset).unwrap() + 50] ^= 1;
    fs::write(&path, bytes).unwrap();
    let (_, problems) = check(folder.path());
    assert!(problems.len() == 1 && problems[0].contains("log-"), "{problems:?}");
}
