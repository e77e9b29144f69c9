//! One writer at a time.

use docvalues_store::{Error, Store, StoreOptions, StoreSchema};

use crate::cases;
use crate::fixture::{add, schema};

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

#[test]
fn of_racing_writers_one_gets_in() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::create(folder.path(), schema(), StoreOptions::default()).unwrap());
    let rounds = cases(125, 12_500);
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
