//! One writer at a time.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use docvalues_storage::Directory;
use docvalues_store::error::Result;
use docvalues_store::{Durability, Error, Store, StoreOptions, StoreReader, StoreSchema};
use docvalues_testkit::faults::{Call, FaultyDirectory, PowerLossDirectory};

use crate::cases;
use crate::fixture::{Contents, add, apply, contents, schema};

#[test]
fn a_second_writer_is_refused_until_the_first_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Store::open(folder.path(), StoreOptions::default());
    assert!(matches!(open().unwrap_err(), Error::NoStore { .. }));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "opening creates nothing");
    let first = Store::create(folder.path(), schema(), StoreOptions::default()).unwrap();
    let error = open().unwrap_err();
    assert!(
        matches!(&error, Error::Busy { holder: Some(holder), .. } if holder.contains("process")),
        "{error}"
    );
    drop(first);
    let second = open().unwrap();
    drop(second);
    let again = Store::create(folder.path(), StoreSchema::new(), StoreOptions::default());
    assert!(matches!(again.unwrap_err(), Error::Exists { commit, .. } if commit == "commit-00000001"));
}

/// The file is for messages only, and may have been written by anyone.
#[test]
fn the_holder_of_a_lock_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let first = Store::create(folder.path(), schema(), StoreOptions::default()).unwrap();
    for (text, expected) in [
        ("process 7\nhint: run this\n", Some("process 7")),
        ("  \n", None),
        ("", None),
        (&"x".repeat(1000), Some(&*"x".repeat(256))),
    ] {
        std::fs::write(folder.path().join("LOCK.info"), text).unwrap();
        let error = Store::open(folder.path(), StoreOptions::default()).unwrap_err();
        assert!(matches!(&error, Error::Busy { holder, .. } if holder.as_deref() == expected), "{error}");
    }
    drop(first);
}

/// Looking for a store in a missing folder finds none, and makes none.
#[test]
fn a_missing_folder_has_no_store() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("none");
    let options = StoreOptions::default();
    let errors = [
        Store::open(&folder, options).unwrap_err(),
        StoreReader::open(&folder, options.open).unwrap_err(),
        StoreReader::open_commit(&folder, 1, options.open).map(drop).unwrap_err(),
        StoreReader::commits(&folder).unwrap_err(),
        StoreReader::hold_commit(&folder, None).unwrap_err(),
        StoreReader::log_frames(&folder).map(drop).unwrap_err(),
        StoreReader::frames(&folder, 0).map(drop).unwrap_err(),
        StoreReader::check(&folder, options.open, &mut |_| {}).unwrap_err(),
        Store::recover(&folder, 1, None, options).unwrap_err(),
    ];
    for (at, error) in errors.iter().enumerate() {
        assert!(matches!(error, Error::NoStore { .. }), "{at}: {error}");
    }
    assert_eq!(StoreReader::position(&folder).unwrap().sequence, 0);
    assert!(!folder.exists());
    let store = Store::open_or_create(&folder, schema(), options).unwrap();
    add(&store, &[(1, 1)]).unwrap();
    store.commit().unwrap();
    assert!(matches!(Store::open_or_create(&folder, schema(), options), Err(Error::Busy { .. })));
    drop(store);
    // It keeps its schema.
    let store = Store::open_or_create(&folder, StoreSchema::new(), options).unwrap();
    assert_eq!((store.snapshot().docs(), store.snapshot().schema().fields().len()), (1, 2));
}

#[test]
fn a_writer_whose_lock_was_removed_writes_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let first = Store::create(folder.path(), schema(), StoreOptions::default()).unwrap();
    add(&first, &[(1, 1)]).unwrap();
    std::fs::remove_file(folder.path().join("LOCK")).unwrap();
    // Now a second writer gets in.
    let second = Store::open(folder.path(), StoreOptions::default()).unwrap();
    add(&second, &[(2, 2)]).unwrap();
    let number = second.commit().unwrap();
    assert!(matches!(first.commit().unwrap_err(), Error::Poisoned { .. }));
    assert!(matches!(first.delete_ids(["a"]).unwrap_err(), Error::Poisoned { .. }));
    assert_eq!(first.snapshot().docs(), 1);
    drop((first, second));
    let third = Store::open(folder.path(), StoreOptions::default()).unwrap();
    assert_eq!((third.snapshot().commit(), third.snapshot().docs()), (number, 1));
}

const DURABLE: [Durability; 2] = [Durability::EachBatch, Durability::Within(Duration::ZERO)];

fn options(durability: Durability) -> StoreOptions {
    StoreOptions::new().durability(durability).buffer_bytes(20_000)
}

/// Whatever takes a folder, or the log, away from its writer.
#[test]
fn no_batch_is_acknowledged_into_a_lost_log() {
    type Take = fn(&Path);
    let takes: [(&str, Take); 6] = [
        ("its lock", |folder| std::fs::remove_file(folder.join("LOCK")).unwrap()),
        ("its lock", |folder| {
            std::fs::rename(folder.join("LOCK"), folder.join("old")).unwrap();
            std::fs::write(folder.join("LOCK"), "").unwrap();
        }),
        ("its log", |folder| std::fs::rename(folder, folder.with_extension("old")).unwrap()),
        ("its log", |folder| std::fs::remove_dir_all(folder).unwrap()),
        ("its log", |folder| std::fs::remove_file(log_in(folder)).unwrap()),
        ("its log", |folder| {
            let log = log_in(folder);
            std::fs::copy(&log, folder.join("copy")).unwrap();
            std::fs::rename(folder.join("copy"), log).unwrap();
        }),
    ];
    for durability in DURABLE {
        for (what, take) in &takes {
            let outer = tempfile::tempdir().unwrap();
            let folder = outer.path().join("store");
            let store = Store::create(&folder, schema(), options(durability)).unwrap();
            apply(&store, &[(1, Some(1))]).unwrap();
            take(&folder);
            let error = apply(&store, &[(2, Some(2))]).unwrap_err().to_string();
            assert!(error.contains(what), "{durability:?}: {error}");
            assert!(matches!(apply(&store, &[(3, Some(3))]), Err(Error::Poisoned { .. })));
            assert!(matches!(store.commit(), Err(Error::Poisoned { .. })));
        }
    }
}

fn log_in(folder: &Path) -> std::path::PathBuf {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    names.into_iter().find(|path| path.file_name().unwrap().to_str().unwrap().starts_with("log-")).unwrap()
}

/// Applies batches, and commits now and then. Calls `at` with each that was acknowledged.
fn write(directory: Arc<dyn Directory>, durability: Durability, mut at: impl FnMut(u32)) -> Result<()> {
    let store = Store::create_in(directory, schema(), options(durability))?;
    for batch in 0..12 {
        apply(&store, &[(batch, Some(1))])?;
        at(batch);
        if batch % 4 == 3 {
            store.commit()?;
        }
    }
    Ok(())
}

/// Removes the lock, opens the store, and applies a batch. Returns whether it was acknowledged.
fn steal(disk: &PowerLossDirectory, durability: Durability) -> bool {
    let _ = disk.remove("LOCK".as_ref());
    match Store::open_in(Arc::new(disk.clone()), options(durability)) {
        Ok(store) => apply(&store, &[(77, Some(7))]).is_ok(),
        Err(error) => {
            assert!(matches!(error, Error::NoStore { .. }), "{error}");
            false
        }
    }
}

/// At each call of a writer, another one takes the store over. What either acknowledged is there afterwards.
///
/// Not while a commit is written and renamed: between the last test of the lock and the call, the name of the new commit may
/// become that of another one.
#[test]
fn a_writer_that_lost_its_store_acknowledges_nothing() {
    let mut stolen = 0;
    for durability in DURABLE {
        for at in 0.. {
            let disk = PowerLossDirectory::new("/disk");
            // How often a call was made, and whether the thief's batch was acknowledged.
            let (calls, got) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let (counted, noted, thief) = (calls.clone(), got.clone(), disk.clone());
            let hook = move |call: &Call<'_>| {
                let is_commit = call.name.to_str().unwrap().starts_with(".commit-");
                if !is_commit && counted.fetch_add(1, Relaxed) == at {
                    noted.store(1 + usize::from(steal(&thief, durability)), Relaxed);
                }
                Ok(call.bytes)
            };
            let directory = Arc::new(FaultyDirectory::new(Arc::new(disk.clone()), hook));
            let mut acknowledged = Vec::new();
            let _ = write(directory, durability, |batch| acknowledged.push(batch));
            if calls.load(Relaxed) <= at {
                break;
            }
            stolen += 1;
            let expected: Contents = acknowledged.iter().map(|batch| (*batch, 1)).collect();
            // The thief came before there was a store.
            if got.load(Relaxed) == 1 {
                continue;
            }
            let store = Store::open_in(Arc::new(disk), options(durability)).unwrap();
            let found = contents(&store.snapshot());
            assert!(
                expected.keys().all(|batch| found.contains_key(batch)),
                "{durability:?}, call {at}: {found:?}"
            );
            assert!(found.contains_key(&77), "{durability:?}, call {at}");
        }
    }
    println!("{stolen} thefts");
    assert!(stolen > 100);
}

#[test]
fn of_racing_writers_one_gets_in() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::create(folder.path(), schema(), StoreOptions::default()).unwrap());
    let rounds = cases(60, 12_500);
    for _ in 0..rounds {
        let opened: Vec<_> = std::thread::scope(|scope| {
            let racers: Vec<_> =
                (0..8).map(|_| scope.spawn(|| Store::open(folder.path(), StoreOptions::default()))).collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).collect()
        });
        assert_eq!(opened.iter().filter(|store| store.is_ok()).count(), 1);
        assert!(
            opened.iter().flat_map(|store| store.as_ref().err()).all(|e| matches!(e, Error::Busy { .. }))
        );
    }
    println!("{} openings in races of 8", 8 * rounds);
}
