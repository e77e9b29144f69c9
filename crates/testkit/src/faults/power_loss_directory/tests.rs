use std::collections::BTreeSet;
use std::io::ErrorKind;

use docvalues_format::error::Section;

use super::*;

const DRAWS: u64 = if cfg!(miri) { 50 } else { 1_000 };

fn name(name: &str) -> &OsStr {
    OsStr::new(name)
}

/// Creates a file with `bytes`, and syncs neither.
fn write(directory: &PowerLossDirectory, file: &str, bytes: &[u8]) -> Box<dyn DirectoryFile> {
    let file = directory.create(name(file)).unwrap();
    assert_eq!(file.write_at(bytes, 0).unwrap(), bytes.len());
    file
}

fn bytes_of(source: &Source) -> Vec<u8> {
    source.read_at(Section::Header, 0, source.len().try_into().unwrap()).unwrap().into_owned()
}

/// The bytes of a file, if it is there.
fn read(directory: &PowerLossDirectory, file: &str) -> Option<Vec<u8>> {
    directory.open(name(file)).ok().map(|source| bytes_of(&source))
}

/// The names in a folder.
fn names(directory: &PowerLossDirectory) -> Vec<String> {
    directory.list().unwrap().into_iter().map(|entry| entry.name.into_string().unwrap()).collect()
}

fn images(directory: &PowerLossDirectory) -> impl Iterator<Item = PowerLossDirectory> {
    (0..DRAWS).map(|seed| directory.crash_image(seed))
}

/// All that file `a` may contain after a power loss; `None` if it may be missing.
fn outcomes(directory: &PowerLossDirectory) -> BTreeSet<Option<Vec<u8>>> {
    images(directory).map(|image| read(&image, "a")).collect()
}

/// A folder with file `a`, all of it durable.
fn durable(bytes: &[u8]) -> (PowerLossDirectory, Box<dyn DirectoryFile>) {
    let directory = PowerLossDirectory::new("/disk");
    let file = write(&directory, "a", bytes);
    file.sync().unwrap();
    directory.sync().unwrap();
    (directory, file)
}

#[test]
fn synced_bytes_and_names_survive() {
    let (directory, file) = durable(&[7; 3_000]);
    file.write_at(&[8; 2_000], 3_000).unwrap();
    for seed in 0..DRAWS {
        let image = directory.crash_image(seed);
        let bytes = read(&image, "a").unwrap();
        assert!(bytes.len() <= 5_000 && bytes[..3_000] == [7; 3_000], "seed {seed}");
        let again = image.crash_image(seed + 1);
        assert_eq!(read(&again, "a").unwrap(), bytes, "what a crash left is on the disk");
        assert_eq!(read(&directory.crash_image(seed), "a").unwrap(), bytes, "equal seeds");
    }
}

#[test]
fn each_fate_of_a_write_is_drawn() {
    let (directory, file) = durable(b"");
    let whole: Vec<u8> = (1..=250).cycle().take(2_000).collect();
    file.write_at(&whole, 0).unwrap();
    let flipped = |bytes: &[u8]| {
        let pairs = bytes.iter().zip(&whole);
        bytes.len() == 2_000 && pairs.map(|(one, other)| (one ^ other).count_ones()).sum::<u32>() == 1
    };
    let mut lengths = BTreeSet::new();
    let (mut kept, mut zeroed, mut flips) = (0, 0, 0);
    for bytes in images(&directory).map(|image| read(&image, "a").unwrap()) {
        match () {
            () if bytes == whole => kept += 1,
            () if bytes == [0; 2_000] => zeroed += 1,
            () if flipped(&bytes) => flips += 1,
            () => {
                assert_eq!(bytes, whole[..bytes.len()], "a prefix");
                lengths.insert(bytes.len());
            }
        }
    }
    assert!(kept > 100 && zeroed > 20 && flips > 20 || cfg!(miri), "{kept} {zeroed} {flips}");
    assert_eq!(Vec::from_iter(lengths), [0, 512, 1024, 1536], "lost, and torn");
}

/// A write that begins within a sector is torn at the end of one.
#[test]
fn tears_are_at_multiples_of_512_bytes_in_the_file() {
    let (directory, file) = durable(&[7; 100]);
    file.write_at(&[8; 1_000], 100).unwrap();
    let lengths: BTreeSet<_> = outcomes(&directory).into_iter().map(|bytes| bytes.unwrap().len()).collect();
    assert_eq!(Vec::from_iter(lengths), [100, 512, 1_024, 1_100]);
}

#[test]
fn writes_are_lost_independently_and_gaps_are_zeros() {
    let (directory, file) = durable(b"");
    file.write_at(b"11", 0).unwrap();
    file.write_at(b"22", 2).unwrap();
    file.write_at(b"33", 4).unwrap();
    let found = outcomes(&directory);
    for expected in [&b""[..], b"11", b"1122", b"112233", b"\0\x0022", b"\0\0\0\x0033", b"11\0\x0033"] {
        assert!(found.contains(&Some(expected.to_vec())), "{expected:?}");
    }
    file.sync().unwrap();
    assert_eq!(Vec::from_iter(outcomes(&directory)), [Some(b"112233".to_vec())]);
}

#[test]
fn clearing_may_be_lost() {
    let (directory, file) = durable(b"older");
    file.clear().unwrap();
    assert_eq!(file.len().unwrap(), 0);
    assert_eq!(Vec::from_iter(outcomes(&directory)), [Some(vec![]), Some(b"older".to_vec())]);
    file.sync().unwrap();
    assert_eq!(Vec::from_iter(outcomes(&directory)), [Some(vec![])]);
}

#[test]
fn names_are_lost_independently_of_bytes() {
    let directory = PowerLossDirectory::new("/disk");
    write(&directory, "a", b"all").sync().unwrap();
    write(&directory, "b", b"all").sync().unwrap();
    let found: BTreeSet<_> = images(&directory).map(|image| names(&image)).collect();
    let expected = [&[][..], &["a"], &["a", "b"], &["b"]];
    assert_eq!(Vec::from_iter(found), expected);
    directory.sync().unwrap();
    directory.remove(name("a")).unwrap();
    let found: BTreeSet<_> = images(&directory).map(|image| names(&image)).collect();
    assert_eq!(Vec::from_iter(found), [&["a", "b"][..], &["b"]]);
}

#[test]
fn a_rename_is_atomic_and_may_survive_the_creation() {
    let (directory, _) = durable(b"older");
    write(&directory, "new", b"new").sync().unwrap();
    directory.rename(name("new"), name("a")).unwrap();
    let found: BTreeSet<_> = images(&directory).map(|image| (names(&image), read(&image, "a"))).collect();
    let (older, new) = (Some(b"older".to_vec()), Some(b"new".to_vec()));
    let expected = [(vec!["a"], new), (vec!["a"], older.clone()), (vec!["a", "new"], older)];
    assert_eq!(found, expected.map(|(names, a)| (names.into_iter().map(str::to_owned).collect(), a)).into());
    directory.rename(name("a"), name("a")).unwrap();
    assert_eq!(names(&directory), ["a"]);
}

#[test]
fn an_ignored_sync_loses_bytes_and_names() {
    for (ignored, loses_bytes) in [(0, true), (1, false)] {
        let directory = PowerLossDirectory::new("/disk").without_sync(ignored);
        write(&directory, "a", b"all").sync().unwrap();
        directory.sync().unwrap();
        assert_eq!(directory.sync_count(), 2);
        let found = outcomes(&directory);
        assert_eq!(found.contains(&Some(vec![])), loses_bytes);
        assert_eq!(found.contains(&None), !loses_bytes);
    }
}

/// As on Linux, where the pages count as written.
#[test]
fn a_later_sync_does_not_make_up_for_a_failed_one() {
    let directory = PowerLossDirectory::new("/disk").with_failing_sync(0).with_failing_sync(2);
    let file = write(&directory, "a", b"first");
    assert_eq!(file.sync().unwrap_err().raw_os_error(), Some(5));
    file.write_at(b" and more", 5).unwrap();
    file.sync().unwrap();
    assert_eq!(read(&directory, "a").unwrap(), b"first and more");
    let error = directory.sync().unwrap_err();
    assert_eq!((error.step(), error.path()), (Step::SyncFolder, Path::new("/disk")));
    directory.sync().unwrap();
    assert_eq!(Vec::from_iter(outcomes(&directory)), [None]);
    directory.rename(name("a"), name("b")).unwrap();
    directory.sync().unwrap();
    assert_eq!(read(&directory.crash_image(0), "b").unwrap(), b"\0\0\0\0\0 and more");
}

#[test]
fn locks_exclude_each_other_until_they_are_dropped() {
    let (directory, _) = durable(b"a");
    let (claim, hold) = (|| directory.claim(name("a")), |lock| directory.hold(name("a"), lock));
    let exclusive = claim().unwrap();
    assert!(claim().unwrap_err().is_busy());
    assert!(hold(FileLock::Shared).unwrap_err().is_busy());
    directory.crash_image(0).claim(name("a")).unwrap();
    drop(exclusive);
    let (first, second) = (hold(FileLock::Shared).unwrap(), hold(FileLock::Shared).unwrap());
    drop(first);
    assert!(claim().unwrap_err().is_busy());
    assert!(hold(FileLock::Exclusive).unwrap_err().is_busy());
    assert_eq!(second.write_at(b"b", 0).unwrap_err().kind(), ErrorKind::PermissionDenied);
    assert!(second.is_named(name("a")).unwrap());
    directory.remove(name("a")).unwrap();
    assert!(!second.is_named(name("a")).unwrap());
    // Another file, which nobody locks.
    assert!(claim().unwrap().is_empty().unwrap());
    assert!(!second.is_named(name("a")).unwrap());
}

#[test]
fn errors_are_those_of_a_file_system() {
    let (directory, file) = durable(b"bytes");
    let source = directory.open(name("a")).unwrap();
    assert_eq!(source.path(), Some(Path::new("/disk/a")));
    let error = directory.create(name("a")).unwrap_err();
    assert_eq!((error.step(), error.io_error().kind()), (Step::Create, ErrorKind::AlreadyExists));
    directory.remove(name("a")).unwrap();
    assert_eq!(bytes_of(&source), b"bytes");
    let mut bytes = [0; 10];
    assert_eq!((file.read_at(&mut bytes, 1).unwrap(), &bytes[..4]), (4, &b"ytes"[..]));
    assert_eq!(file.read_at(&mut bytes, 6).unwrap(), 0);
    let missing = [
        (Step::Open, directory.open(name("a")).unwrap_err()),
        (Step::Open, directory.hold(name("a"), FileLock::Shared).unwrap_err()),
        (Step::Remove, directory.remove(name("a")).unwrap_err()),
        (Step::Rename, directory.rename(name("a"), name("b")).unwrap_err()),
    ];
    for (step, error) in missing {
        assert_eq!((error.step(), error.path()), (step, Path::new("/disk/a")));
        assert_eq!(error.io_error().kind(), ErrorKind::NotFound);
    }
    for wrong in ["../x", "/x", "a/b", "x/", "", ".", "..", "x\0"] {
        let error = directory.create(name(wrong)).unwrap_err();
        assert_eq!((error.step(), error.io_error().kind()), (Step::Create, ErrorKind::InvalidInput));
        assert_eq!(directory.claim(name(wrong)).unwrap_err().io_error().kind(), ErrorKind::InvalidInput);
    }
}

#[test]
fn a_machine_that_goes_down_keeps_some() {
    let directory = PowerLossDirectory::new("/disk").down_at_sync(1);
    let file = directory.create("a".as_ref()).unwrap();
    file.write_at(b"first", 0).unwrap();
    file.sync().unwrap();
    assert!(directory.sync().is_err() && file.sync().is_err());
    let found = (0..100).map(|seed| directory.crash_image(seed).open("a".as_ref()).is_ok());
    let found: Vec<bool> = found.collect();
    assert!(found.contains(&true) && found.contains(&false));
}
