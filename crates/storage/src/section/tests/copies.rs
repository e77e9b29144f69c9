//! Copies, which are read from the file of a mapping.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::*;

/// Tests take turns, as the most open files are those of a process.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Copies are the bytes of slices, with the same errors; those of a mapped file verify nothing but themselves.
#[test]
fn copies_are_the_bytes_of_slices() {
    let _turn = turn();
    let made = made(5 << 20);
    let damaged = damage(&made, 5_000, 1);
    let whole = [&made.payload[..], &[0; TAIL]].concat();
    let (_file, sources) = sources(&damaged.file);
    assert!(sources[0].mapped_file().is_some());
    for source in &sources {
        let section = open(source, made.at, Verify::OnFirstTouch).unwrap();
        for at in [0, 1, 4_080, 8_192, 1_000_001, made.payload.len(), whole.len() - 16] {
            assert_eq!(section.copy::<16>(at).unwrap()[..], whole[at..at + 16], "{at}");
        }
        assert_eq!(section.peek::<16>(8_192).is_none(), source.mapped_file().is_some(), "{source:?}");
        for at in [4_090, 5_000, whole.len() - 15, usize::MAX] {
            let refused = section.slice(at..at.saturating_add(16)).unwrap_err();
            assert_eq!(section.copy::<16>(at).unwrap_err(), refused, "{at}");
        }
        assert_eq!(section.copy::<16>(8_190).unwrap_err().offset(), damaged.offset);
        let across = 1_000 * 4_096 - 8;
        assert_eq!(section.copy::<16>(across).unwrap()[..], whole[across..across + 16]);
        let unverified = open(source, made.at, Verify::Never).unwrap();
        assert_eq!(unverified.copy::<1>(5_000).unwrap(), [made.payload[5_000] ^ 1]);
    }
}

/// A section without levels of checksums, in a file that stays open.
#[test]
fn copies_of_a_short_section_are_its_bytes() {
    let _turn = turn();
    let made = made(3_000);
    for (file, right) in [(made.file.clone(), true), (damage(&made, 2_999, 1).file, false)] {
        let (_file, sources) = sources(&[&file[..], &[0; 2 << 20]].concat());
        assert!(sources[0].mapped_file().is_some());
        for source in &sources {
            let section = open(source, made.at, Verify::OnFirstTouch).unwrap();
            let mut copy = [0; 3_000];
            let copied = section.copy_to(0, &mut copy);
            assert_eq!(copied.is_ok(), right, "{source:?}");
            assert!(!right || copy[..] == made.payload[..]);
            assert_eq!(copied.err(), section.slice(0..3_000).err());
        }
    }
}

/// A copy of bytes that a mapped file has lost is an error. Touching them in the mapping would end the process.
// Elsewhere, a mapped file cannot be truncated.
#[cfg(unix)]
#[test]
fn copies_of_a_truncated_file() {
    let _turn = turn();
    let made = made(2 << 20);
    let (file, [source, ..]) = sources(&made.file);
    assert!(source.mapped_file().is_some());
    let section = open(&source, made.at, Verify::OnFirstTouch).unwrap();
    assert_eq!(section.copy::<8>(100).unwrap()[..], made.payload[100..108]);
    File::options().write(true).open(&file).unwrap().set_len(AROUND as u64 + 10_000).unwrap();
    assert_eq!(section.copy::<8>(5_000).unwrap()[..], made.payload[5_000..5_008], "is still there");
    let error = section.copy::<8>(9_000).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Io(io::ErrorKind::UnexpectedEof));
    assert_eq!(error.offset(), AROUND as u64 + 8_192);
}

/// Each of many mappings reads the same, whether or not its file is still open.
#[test]
fn few_mapped_files_stay_open() {
    let _turn = turn();
    let made = made(1 << 20);
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, &made.file).unwrap();
    let sources: Vec<_> = (0..80).map(|_| Arc::new(Source::map(&file).unwrap())).collect();
    let open_files = sources.iter().filter(|source| source.mapped_file().is_some()).count();
    assert!((1..=64).contains(&open_files), "{open_files}");
    for source in &sources {
        let section = open(source, made.at, Verify::OnFirstTouch).unwrap();
        assert_eq!(section.copy::<8>(9_000).unwrap()[..], made.payload[9_000..9_008]);
        assert_eq!(section.slice(9_000..9_008).unwrap(), &made.payload[9_000..9_008]);
        section.verify_all().unwrap();
    }
    drop(sources);
    assert!(Source::map(&file).unwrap().mapped_file().is_some(), "closed files do not count");
}
