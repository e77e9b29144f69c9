//! Reads sections of many lengths from every kind of source: every byte handed out is the one that was written.
#![expect(clippy::cast_possible_truncation, reason = "lengths of test data fit everywhere")]

use std::fs::{self, File};

use docvalues_format::granule::{ALIGN, CRC_LEN, seal};
use proptest::prelude::*;

use super::*;

mod copies;

/// Bytes before and after a section, in place of other sections.
const AROUND: usize = 3 * ALIGN;

/// A file with one section in it.
struct Made {
    payload: Vec<u8>,
    file: Vec<u8>,
    at: SectionRef,
}

fn made(len: usize) -> Made {
    let payload: Vec<u8> = (0..len).map(|i| ((i * 7) ^ (i / 4096 * 5)) as u8).collect();
    let (sealed, crc) = seal(payload.clone());
    let file = [&[0xaa; AROUND], &sealed[..], &[0xbb; AROUND]].concat();
    Made { payload, file, at: SectionRef { offset: AROUND as u64, len: len as u64, crc } }
}

/// `bytes` as a mapping, through plain reads, in memory, and requested.
fn sources(bytes: &[u8]) -> (tempfile::NamedTempFile, [Arc<Source>; 4]) {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, bytes).unwrap();
    let memory = Source::memory(bytes.to_vec());
    let requested = Source::requests(Arc::new(bytes.to_vec()), "requested").unwrap();
    let sources = [Source::map(&file).unwrap(), Source::read(&file).unwrap(), memory, requested];
    (file, sources.map(Arc::new))
}

const ALL_VERIFY: [Verify; 3] = [Verify::OnFirstTouch, Verify::AtOpen, Verify::Never];

fn open(source: &Arc<Source>, at: SectionRef, verify: Verify) -> Result<Section> {
    Section::open(source, at, Role::Values, verify)
}

/// A file that was changed in one place, and which granules of payload that makes unreadable.
struct Damaged {
    file: Vec<u8>,
    /// Where the error must be.
    offset: u64,
    granules: Range<usize>,
}

/// Changes the `at`-th byte of the section's extent. The model of what a level is for is spelt out
/// here a second time, by division alone.
fn damage(made: &Made, at: usize, mask: u8) -> Damaged {
    let mut file = made.file.clone();
    file[AROUND + at] ^= mask;
    let layout = Layout::of(made.at.len).unwrap();
    let number = layout.levels().iter().position(|level| (at as u64) < level.end()).unwrap();
    let start = layout.levels()[number].at as usize;
    let index = (at - start) / 4096;
    let below = 1024_usize.pow(number as u32);
    Damaged {
        file,
        offset: (AROUND + start + index * 4096) as u64,
        granules: index * below..(index + 1) * below,
    }
}

/// Every granule of payload reads as what was written, or is damaged as foretold.
fn assert_damage(made: &Made, damaged: &Damaged, source: Source) {
    let section = open(&Arc::new(source), made.at, Verify::OnFirstTouch).unwrap();
    let end = made.payload.len() + TAIL;
    let tail = [&made.payload[..], &[0; TAIL]].concat();
    for (index, start) in (0..end).step_by(4096).enumerate() {
        let range = start..end.min(start + 4096);
        match section.slice(range.clone()) {
            Ok(bytes) => {
                assert!(!damaged.granules.contains(&index), "granule {index} was handed out");
                assert!(bytes == &tail[range], "granule {index} has other bytes");
            }
            Err(error) => {
                assert!(damaged.granules.contains(&index), "granule {index}: {error}");
                assert!(matches!(error.kind(), ErrorKind::Checksum { .. }), "{error}");
                assert_eq!((error.section(), error.offset()), (Role::Values, damaged.offset));
                // And so it stays.
                assert_eq!(section.slice(range).unwrap_err(), error);
            }
        }
    }
    assert_eq!(section.verified(), None);
    assert_eq!(section.verify_all().unwrap_err().offset(), damaged.offset);
}

#[test]
fn every_way_reads_the_same() {
    for len in [0, 1, 63, 64, 4031, 4032, 4033, 4095, 4096, 4097, 8192, 100_000, (4 << 20) - 63] {
        let made = made(len);
        let (_file, sources) = sources(&made.file);
        let whole = [&made.payload[..], &[0; TAIL]].concat();
        for source in &sources {
            for verify in ALL_VERIFY {
                let section = open(source, made.at, verify).unwrap();
                assert_eq!((section.len(), section.is_empty()), (len, len == 0));
                assert_eq!(section.place(), Place { section: Role::Values, offset: AROUND as u64 });
                assert!(section.slice(0..len + TAIL).unwrap() == whole, "{len} {verify:?} {source:?}");
                assert!(section.verified().unwrap() == whole);
                section.verify_all().unwrap();
                for advice in [Advice::Random, Advice::Sequential] {
                    section.advise(advice).unwrap();
                }
                for together in [0, 4096, 5000, 1 << 15, 1 << 30] {
                    let section = open(source, made.at, verify).unwrap().together(together);
                    for at in [len / 2, 0, len.saturating_sub(1)] {
                        assert!(section.slice(at..at + TAIL).unwrap() == &whole[at..at + TAIL], "{together}");
                    }
                    assert!(section.slice(0..len + TAIL).unwrap() == whole, "{together}");
                }
            }
        }
    }
}

#[test]
fn ranges_are_bounded_in_every_mode() {
    let made = made(5000);
    let (_file, sources) = sources(&made.file);
    for source in &sources {
        for verify in ALL_VERIFY {
            let section = open(source, made.at, verify).unwrap();
            let backwards = Range { start: 9, end: 8 };
            for range in [0..5065, 5065..5065, 5064..5066, 0..usize::MAX, usize::MAX..usize::MAX, backwards] {
                let refused = section.slice(range.clone()).unwrap_err();
                assert!(matches!(refused.kind(), ErrorKind::Truncated { .. }), "{range:?}: {refused}");
            }
            for empty in [0, 4096, 5000, 5064] {
                assert_eq!(section.slice(empty..empty), Ok(&[][..]));
            }
            assert_eq!(section.array::<8>(5056), Ok(&[0; 8]));
            assert!(section.array::<8>(5057).is_err());
            assert!(section.array::<8>(usize::MAX - 3).is_err());
        }
    }
}

#[test]
fn a_section_outside_of_the_file_is_refused() {
    let made = made(5000);
    let (_file, sources) = sources(&made.file);
    let (offset, len) = (made.at.offset, made.file.len() as u64);
    for (offset, payload) in [
        (offset, 5000 + 4 * 64),
        (offset, u64::MAX),
        (offset, u64::MAX - 200),
        (offset, 1 << 40),
        (len - 63, 0),
        (len, 0),
        (u64::MAX, 0),
        (u64::MAX - 63, 5000),
    ] {
        for source in &sources {
            for verify in ALL_VERIFY {
                let at = SectionRef { offset, len: payload, crc: 0 };
                let refused = open(source, at, verify).unwrap_err();
                assert_eq!((refused.section(), refused.offset()), (Role::Values, offset));
                assert!(matches!(refused.kind(), ErrorKind::Truncated { .. }), "{refused}");
            }
        }
    }
    let last = SectionRef { offset: len - 64, len: 0, crc: 0 };
    assert!(open(&sources[0], last, Verify::Never).is_ok(), "it ends where the file does");
}

/// Opening reads nothing; a value reads its granule, and one granule of each level above. (Of a requested source, see
/// `crate::request_waves`.)
#[test]
fn what_is_touched() {
    let made = made(5 << 20);
    let (_file, sources) = sources(&made.file);
    for source in &sources[..3] {
        let section = open(source, made.at, Verify::OnFirstTouch).unwrap();
        assert_eq!(source.touched(), 0);
        section.slice(8..16).unwrap();
        let last = Layout::of(made.at.len).unwrap().levels()[2].len;
        assert_eq!(source.touched(), 4096 + 4096 + last);
        section.slice(16..24).unwrap();
        assert_eq!(source.touched(), 4096 + 4096 + last, "the second touch is free");
        section.slice(4095..4097).unwrap();
        assert_eq!(source.touched(), 2 * 4096 + 4096 + last);
        section.verify_all().unwrap();
        assert_eq!(source.touched(), made.file.len() as u64 - 2 * AROUND as u64);

        let before = source.touched();
        open(source, made.at, Verify::AtOpen).unwrap();
        assert_eq!(source.touched() - before, before);
    }
}

/// Whoever reads every value has a section without questions, although nobody asks for the tail; and so has,
/// of many granules, whoever left out a few.
#[test]
fn the_last_few_granules_are_verified_together() {
    let whole = |made: &Made, file: Vec<u8>, granules: Range<usize>| {
        let (_file, [mapped, read, memory, _]) = sources(&file);
        let whole = [mapped, read, memory].each_ref().map(|source| {
            let section = open(source, made.at, Verify::OnFirstTouch).unwrap();
            for start in granules.clone().map(|granule| granule * 4096) {
                section.slice(start..(start + 4096).min(made.payload.len())).unwrap();
            }
            section.verified().is_some()
        });
        assert!(whole.iter().all(|&first| first == whole[0]), "{whole:?}");
        whole[0]
    };
    for len in [1, 4033, 4096, 8192] {
        let made = made(len);
        assert!(whole(&made, made.file.clone(), 0..len.div_ceil(4096)), "{len}");
    }
    let made = made(130 * 4096 - TAIL);
    assert!(!whole(&made, made.file.clone(), 3..130), "three are too many");
    assert!(whole(&made, made.file.clone(), 2..130));
    // Damage in what nobody asked for is nobody's error.
    let damaged = damage(&made, 4095, 1);
    assert!(!whole(&made, damaged.file.clone(), 2..130));
    assert_damage(&made, &damaged, Source::memory(damaged.file.clone()));
}

/// Without checks, plain reads load the payload alone, and the same damage gives bytes.
#[test]
fn never_hands_out_damage() {
    let made = made(20_000);
    let damaged = damage(&made, 5000, 1);
    let (_file, sources) = sources(&damaged.file);
    for (source, touched) in sources.iter().zip([0, 4096, 0]) {
        let section = open(source, made.at, Verify::Never).unwrap();
        assert_eq!(section.slice(5000..5001).unwrap(), [made.payload[5000] ^ 1]);
        assert_eq!(source.touched(), touched);
        assert_eq!(section.verify_all().unwrap_err().offset(), damaged.offset, "unless it is asked for");
        let error = open(source, made.at, Verify::AtOpen).unwrap_err();
        assert_eq!((error.section(), error.offset()), (Role::Values, damaged.offset));
    }
}

/// One byte changed at every place of a section with two levels.
#[test]
fn every_byte_of_the_extent() {
    let made = made(9000);
    for at in 0..made.file.len() - 2 * AROUND {
        let damaged = damage(&made, at, 1 << (at % 8));
        assert_damage(&made, &damaged, Source::memory(damaged.file.clone()));
    }
}

/// What a hostile writer can do, who knows of checksums: bytes that are good, but not zero.
#[test]
fn padding_that_is_not_zero() {
    let Made { file, at, .. } = made(9000);
    let sealed = &file[AROUND..file.len() - AROUND];
    let layout = Layout::of(9000).unwrap();
    let (last, tree) = (layout.levels()[0].granule(2), layout.levels()[1]);
    let (last, crc_at) = (last.start as usize..last.end as usize, tree.at as usize + 2 * CRC_LEN);
    for place in [9000, tree.at as usize - 1, tree.end() as usize - 64 + 12, tree.end() as usize - 1] {
        let mut bytes = sealed.to_vec();
        bytes[place] = 1;
        // The granule, which is the last one of its level, is sealed by hand.
        let crc = crc_of(&Source::memory(bytes[last.clone()].to_vec()));
        bytes[crc_at..crc_at + CRC_LEN].copy_from_slice(&crc.to_le_bytes());
        let crc = crc_of(&Source::memory(bytes[tree.at as usize..].to_vec()));
        let at = SectionRef { offset: 0, crc, ..at };
        let source = Arc::new(Source::memory(bytes));
        let section = open(&source, at, Verify::OnFirstTouch).unwrap();
        section.slice(0..9000).unwrap();
        let refused = section.verify_all().unwrap_err();
        assert_eq!(refused.offset(), place as u64);
        assert_eq!(refused.kind(), &ErrorKind::Broken("padding is not zero"));
    }
}

/// The checksum of a whole source: what a check against a wrong one says it is.
fn crc_of(source: &Source) -> u32 {
    let bytes = source.bytes().unwrap();
    match granule::check(Role::Values, 0, bytes, 0).unwrap_err().kind() {
        ErrorKind::Checksum { found, .. } => *found,
        other => panic!("{other}"),
    }
}

#[test]
fn truncated_while_it_is_read() {
    let made = made(20_000);
    let (file, [_, source, ..]) = sources(&made.file);
    let section = open(&source, made.at, Verify::OnFirstTouch).unwrap();
    section.slice(0..100).unwrap();
    File::options().write(true).open(&file).unwrap().set_len(AROUND as u64 + 10_000).unwrap();
    assert_eq!(section.slice(100..200).unwrap(), &made.payload[100..200], "was read before");
    assert_eq!(section.slice(5000..5100).unwrap(), &made.payload[5000..5100], "is still there");
    let error = section.slice(9000..9100).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Io(io::ErrorKind::UnexpectedEof));
    assert_eq!(error.offset(), AROUND as u64 + 8192);
}

#[test]
fn threads_touch_the_same_bytes() {
    let made = made(2 << 20);
    let (_file, sources) = sources(&made.file);
    for source in &sources {
        let section = open(source, made.at, Verify::OnFirstTouch).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (section, payload) = (&section, &made.payload);
                scope.spawn(move || {
                    for step in 0..2000 {
                        let at = (step * 104_729 + thread * 31) % (payload.len() - 100);
                        assert_eq!(section.slice(at..at + 100).unwrap(), &payload[at..at + 100]);
                    }
                });
            }
        });
        section.slice(0..made.payload.len() + TAIL).unwrap();
        assert!(section.verified().is_some());
        assert_eq!(source.touched(), made.file.len() as u64 - 2 * AROUND as u64, "counted once");
    }
}

fn lengths() -> impl Strategy<Value = usize> {
    prop_oneof![0..200_usize, 4000..4200_usize, 8000..8400_usize, 0..300_000_usize]
}

proptest! {
    #![proptest_config(crate::cases(40))]

    #[test]
    fn any_ranges_in_any_order(
        len in lengths(),
        ranges in prop::collection::vec((any::<prop::sample::Index>(), 0..10_000_usize), 1..20),
        verify in prop::sample::select(&ALL_VERIFY[..]),
    ) {
        let made = made(len);
        let whole = [&made.payload[..], &[0; TAIL]].concat();
        let (_file, sources) = sources(&made.file);
        for source in &sources {
            let section = open(source, made.at, verify).unwrap();
            for (at, len) in &ranges {
                let start = at.index(whole.len());
                let end = whole.len().min(start + len);
                prop_assert_eq!(section.slice(start..end).unwrap(), &whole[start..end]);
                if let Some(all) = section.verified() {
                    prop_assert!(all == whole);
                }
            }
        }
    }

    #[test]
    fn any_byte_of_the_extent(len in lengths(), at: prop::sample::Index, mask in 1_u8..) {
        let made = made(len);
        let damaged = damage(&made, at.index(made.file.len() - 2 * AROUND), mask);
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(&file, &damaged.file).unwrap();
        assert_damage(&made, &damaged, Source::map(&file).unwrap());
        assert_damage(&made, &damaged, Source::read(&file).unwrap());
    }

    /// Whatever a directory says of a file: it opens or is refused, and reads or is refused.
    #[test]
    fn any_reference(offset in 0..9000_u64, len in 0..9000_u64, crc: u32, verify in prop::sample::select(&ALL_VERIFY[..])) {
        let made = made(6000);
        let (_file, sources) = sources(&made.file);
        let at = SectionRef { offset, len, crc };
        let read = sources.each_ref().map(|source| {
            open(source, at, verify).and_then(|section| section.slice(0..len as usize).map(<[u8]>::to_vec))
        });
        prop_assert_eq!(&read[0], &read[1]);
        prop_assert_eq!(&read[0], &read[2]);
    }
}

/// Three levels, so that damage in the middle one takes some granules and leaves others.
#[test]
fn a_byte_of_each_level() {
    let made = made((9 << 20) + 17);
    let layout = Layout::of(made.at.len).unwrap();
    assert_eq!(layout.levels().len(), 3);
    for level in layout.levels() {
        for at in [level.at, level.at + level.len / 2, level.end() - 1] {
            let damaged = damage(&made, at as usize, 0x10);
            assert_damage(&made, &damaged, Source::memory(damaged.file.clone()));
            let file = tempfile::NamedTempFile::new().unwrap();
            fs::write(&file, &damaged.file).unwrap();
            assert_damage(&made, &damaged, Source::read(&file).unwrap());
            assert_damage(&made, &damaged, Source::map(&file).unwrap());
        }
    }
}
