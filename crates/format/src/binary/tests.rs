use std::convert::Infallible;
use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::error::Place;
use crate::jump::JumpTables;
use crate::numeric::{self, NumericOptions};
#[cfg(target_pointer_width = "64")]
use crate::source::SectionBytes;
use crate::source::{Owned, TAIL};

mod coded;

type Made = Binary<Vec<u8>>;

const RAW: BinaryOptions = BinaryOptions { compression: Compression::None, jump_tables: true };

const COMPRESSIONS: [Compression; 4] =
    [Compression::None, Compression::Fsst, Compression::OnPair, Compression::Auto];

/// Raw values.
fn made<T: AsRef<[u8]>>(values: &[T], jump_tables: bool) -> Made {
    made_as(values, &BinaryOptions { jump_tables, ..RAW })
}

fn made_as<T: AsRef<[u8]>>(values: &[T], options: &BinaryOptions) -> Made {
    let mut bytes = Vec::new();
    let ends: Vec<u64> = values
        .iter()
        .map(|value| {
            bytes.extend_from_slice(value.as_ref());
            bytes.len() as u64
        })
        .collect();
    encode(bytes, &ends, options).unwrap()
}

fn open(made: Made, mode: JumpTables) -> Result<BinaryReader<Owned>> {
    let opened = made.try_map(&mut |section, bytes| Ok::<_, Infallible>(Owned::new(section, bytes)));
    BinaryReader::open(opened.unwrap(), mode)
}

/// Compressed values.
fn coded(compression: Compression) -> Made {
    let values: Vec<_> =
        (0..300).map(|i| format!("https://host{i:03}.example.org/\u{e4}{}", i * i)).collect();
    let made = made_as(&values, &BinaryOptions { compression, jump_tables: true });
    assert_ne!(made.coding, Coding::Raw);
    made
}

/// Encodes `values` in every form, and reads them back by every method and in every mode.
fn holds(values: &[Vec<u8>], order: &[u32]) {
    for compression in COMPRESSIONS {
        for jump_tables in [true, false] {
            let made = made_as(values, &BinaryOptions { compression, jump_tables });
            JumpTables::ALL
                .into_iter()
                .for_each(|mode| reads(&open(made.clone(), mode).unwrap(), values, order));
        }
    }
}

/// The values of a range, decoded in several calls.
fn decoded(reader: &BinaryReader<Owned>, range: Range<u64>) -> Result<Vec<Vec<u8>>> {
    let mut scratch = Scratch::default();
    let (mut values, mut at) = (Vec::new(), range.start);
    while at < range.end {
        let Strings { offsets, bytes } = reader.decode(at..range.end, &mut scratch)?;
        let place = |offset: u64| usize::try_from(offset - offsets[0]).unwrap();
        values.extend(offsets.windows(2).map(|pair| bytes[place(pair[0])..place(pair[1])].to_vec()));
        assert_eq!(place(offsets[offsets.len() - 1]), bytes.len());
        assert!(offsets.len() > 1, "no value");
        at += offsets.len() as u64 - 1;
    }
    Ok(values)
}

fn reads(reader: &BinaryReader<Owned>, values: &[Vec<u8>], order: &[u32]) {
    let (mut buffer, mut scratch) = (Vec::new(), Scratch::default());
    reader.verify().unwrap();
    assert_eq!(reader.count(), values.len() as u64);
    for (index, value) in (0..).zip(values) {
        assert_eq!(reader.get(index, &mut buffer).unwrap(), value);
    }
    for start in [0, values.len() / 3, values.len()] {
        assert_eq!(decoded(reader, start as u64..values.len() as u64).unwrap(), values[start..]);
    }
    let mut gathered = Vec::new();
    let each = |value: Option<&[u8]>| gathered.push(value.map(<[u8]>::to_vec));
    reader.gather(order, &mut scratch, each).unwrap();
    let expected = order.iter().map(|&index| values.get(index as usize).cloned());
    assert!(gathered.into_iter().eq(expected));
}

/// Values of recurring words, and of random bytes.
fn texts() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let word = prop_oneof![
        4 => prop::sample::select(vec!["https://", "host", ".example.org/", "0", "\u{ff}", ""])
            .prop_map(|word| word.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 0..4),
    ];
    vec(vec(word, 0..12).prop_map(|words| words.concat()), 0..300)
}

proptest! {
    #![proptest_config(crate::cases(64))]

    #[test]
    fn values_come_back(
        values in prop_oneof![
            texts(),
            vec(vec(any::<u8>(), 0..20), 0..crate::at_most(300)),
            (0..5_usize).prop_flat_map(|len| vec(vec(any::<u8>(), len), 0..300)),
            vec(prop_oneof![Just(vec![]), vec(any::<u8>(), 0..2_000)], 0..40),
        ],
        order in vec(any::<u32>(), 0..300),
    ) {
        let count = u32::try_from(values.len()).unwrap();
        let none = |i: u32| i.is_multiple_of(7) || count == 0;
        let order: Vec<u32> = order.into_iter().map(|i| if none(i) { u32::MAX } else { i % count }).collect();
        holds(&values, &order);
    }
}

#[test]
fn counts_at_the_edges_of_batches_and_blocks() {
    for count in [0, 1, 2, 127, 128, 129, 511, 512, 513, 1_100] {
        let values: Vec<Vec<u8>> = (0..count).map(|i| vec![b'v'; i % 5]).collect();
        let order: Vec<u32> = (0..u32::try_from(count).unwrap()).rev().collect();
        holds(&values, &order);
    }
}

#[test]
fn values_of_one_length_need_no_offsets_and_empty_ones_no_bytes() {
    let three = made(&["abc", "def"], true);
    let raw = |count, bytes: Option<&[u8]>, len| Binary {
        count,
        bytes: bytes.map(<[u8]>::to_vec),
        coding: Coding::Raw,
        offsets: BinaryOffsets::Fixed(len),
    };
    assert_eq!(three, raw(2, Some(b"abcdef"), 3));
    let empty = made(&["", ""], true);
    assert_eq!(empty, raw(2, None, 0));
    let none = made::<&str>(&[], true);
    assert_eq!(none, raw(0, None, 0));
    let mixed = made(&["", "a"], true);
    let BinaryOffsets::Variable(offsets) = &mixed.offsets else { panic!("{mixed:?}") };
    assert_eq!((offsets.count, offsets.min, offsets.max), (3, 0, 1));
}

#[test]
fn values_that_cannot_be_stored_are_refused() {
    let encode = |ends: &[u64]| encode(b"abc".to_vec(), ends, &RAW);
    assert_eq!(encode(&[2, 1, 3]), Err(EncodeError::OutOfPlace { index: 1, end: 1 }));
    assert_eq!(encode(&[2, 4]), Err(EncodeError::OutOfPlace { index: 1, end: 4 }));
    assert_eq!(encode(&[1, 2]), Err(EncodeError::LeftOver(1)));
    assert_eq!(encode(&[]), Err(EncodeError::LeftOver(3)));
    assert!(encode(&[1, 1, 3]).is_ok());
}

#[test]
#[cfg(target_pointer_width = "64")]
fn a_value_of_more_than_two_gibibytes_is_refused() {
    // Zeros that are never touched use no memory.
    let len = u64::from(MAX_VALUE) + 1;
    let zeros = || vec![0; MAX_VALUE as usize + 1];
    assert_eq!(encode(zeros(), &[len], &RAW), Err(EncodeError::TooLong { index: 0, len }));
    assert_eq!(encode(zeros(), &[0, 1, len], &RAW).map(|made| made.count), Ok(3));
}

#[test]
fn positions_past_the_end_are_refused() {
    let buffer = &mut Vec::new();
    let scratch = &mut Scratch::default();
    for values in [vec!["a", "b"], vec!["a", ""], vec!["", ""]] {
        let reader = open(made(&values, true), JumpTables::Baked).unwrap();
        assert!(reader.get(2, buffer).is_err());
        assert!(reader.get(u64::MAX, buffer).is_err());
        assert!(reader.decode(1..3, scratch).is_err());
        assert!(reader.decode(u64::MAX - 1..u64::MAX, scratch).is_err());
        assert!(reader.gather(&[0, 2], scratch, |_| {}).is_err());
    }
}

/// A section far larger than this test's memory: its byte *i* is *i* mod 251.
#[cfg(target_pointer_width = "64")]
#[derive(Clone, Debug)]
enum Huge {
    Bytes(usize),
    Other(Owned),
}

#[cfg(target_pointer_width = "64")]
static CYCLE: [u8; 2 * 251] = {
    let (mut cycle, mut i) = ([0; 2 * 251], 0);
    while i < cycle.len() {
        #[expect(clippy::cast_possible_truncation, reason = "below 251")]
        let byte = (i % 251) as u8;
        cycle[i] = byte;
        i += 1;
    }
    cycle
};

#[cfg(target_pointer_width = "64")]
impl SectionBytes for Huge {
    fn place(&self) -> Place {
        Place { section: Section::Bytes, offset: 0 }
    }

    fn len(&self) -> usize {
        match self {
            Huge::Bytes(len) => *len,
            Huge::Other(owned) => owned.len(),
        }
    }

    fn slice(&self, range: Range<usize>) -> Result<&[u8]> {
        match self {
            Huge::Bytes(_) => Ok(&CYCLE[range.start % 251..][..range.len()]),
            Huge::Other(owned) => owned.slice(range),
        }
    }

    fn verified(&self) -> Option<&[u8]> {
        None
    }
}

#[test]
#[cfg(target_pointer_width = "64")]
fn values_lie_past_four_gibibytes_too() {
    let (far, len) = (5_i64 << 30, 5_usize << 30 | 7);
    let made = with_offsets(b"", &[0, 3, far, far + 1, far + 7]);
    let huge = made.try_map(&mut |section, bytes| {
        let owned = Owned::new(section, bytes);
        Ok::<_, Infallible>(if section == Section::Bytes { Huge::Bytes(len) } else { Huge::Other(owned) })
    });
    for mode in JumpTables::ALL {
        let reader = BinaryReader::open(huge.clone().unwrap(), mode).unwrap();
        let byte = |at: i64| u8::try_from(at % 251).unwrap();
        let buffer = &mut Vec::new();
        let scratch = &mut Scratch::default();
        assert_eq!(reader.get(2, buffer).unwrap(), [byte(far)]);
        assert_eq!(reader.decode(3..4, scratch).unwrap().bytes.len(), 6);
        assert_eq!(reader.get(3, buffer).unwrap()[5], byte(far + 6));
        reader.verify().unwrap();
    }
}

/// Values with arbitrary offsets, which may be invalid.
fn with_offsets(bytes: &[u8], offsets: &[i64]) -> Made {
    let options = NumericOptions { role: Role::Offsets, doubles: false, jump_tables: true, zones: false };
    Binary {
        count: offsets.len() as u64 - 1,
        bytes: Some(bytes.to_vec()),
        coding: Coding::Raw,
        offsets: BinaryOffsets::Variable(numeric::encode(offsets, &options)),
    }
}

#[test]
fn offsets_that_descend_are_an_error_when_read() {
    let buffer = &mut Vec::new();
    let scratch = &mut Scratch::default();
    let reader = open(with_offsets(b"abcdef", &[0, 4, 2, 6]), JumpTables::Baked).unwrap();
    assert_eq!(reader.get(0, buffer).unwrap(), b"abcd");
    assert_eq!(reader.get(2, buffer).unwrap(), b"cdef");
    let descend = ErrorKind::Broken("a value ends before it begins");
    assert_eq!(*reader.get(1, buffer).unwrap_err().kind(), descend);
    assert_eq!(*reader.decode(0..3, scratch).unwrap_err().kind(), descend);
    assert_eq!(*reader.gather(&[0, 1], scratch, |_| {}).unwrap_err().kind(), descend);
    let error = reader.verify().unwrap_err();
    assert_eq!((error.section(), error.kind()), (Section::Offsets, &descend));
}

#[test]
fn offsets_past_the_bytes_are_an_error_when_read() {
    let buffer = &mut Vec::new();
    let scratch = &mut Scratch::default();
    let mut made = with_offsets(b"abcdef", &[0, 4, 10, 6]);
    let BinaryOffsets::Variable(offsets) = &mut made.offsets else { panic!("{made:?}") };
    offsets.max = 6;
    let reader = open(made, JumpTables::Baked).unwrap();
    let kind = ErrorKind::OutOfRange { what: "end of a value", found: 10, max: 6 };
    assert_eq!(*reader.get(1, buffer).unwrap_err().kind(), kind);
    assert_eq!(*reader.gather(&[1], scratch, |_| {}).unwrap_err().kind(), kind);
    assert_eq!(*reader.decode(1..2, scratch).unwrap_err().kind(), kind);
    assert!(reader.verify().is_err());
}

#[test]
fn numbers_that_disagree_are_refused_at_opening_or_by_verify() {
    let refusal = |made: Made| match open(made, JumpTables::Baked) {
        Ok(reader) => reader.verify().expect_err("verified").kind().to_string(),
        Err(error) => error.kind().to_string(),
    };
    let fixed = |count, bytes: Option<&[u8]>, len| Binary {
        count,
        bytes: bytes.map(<[u8]>::to_vec),
        coding: Coding::Raw,
        offsets: BinaryOffsets::Fixed(len),
    };
    for (made, message) in [
        (fixed(2, Some(b"abc"), 2), "length of the bytes: expected 4, found 3"),
        (fixed(2, None, 2), "length of the bytes: expected 4, found 0"),
        (fixed(u64::MAX, Some(b"abc"), 2), "length of the bytes: expected 18446744073709551615, found 3"),
        (fixed(2, Some(b"a"), 0), "length of the bytes: expected 0, found 1"),
        (fixed(2, Some(b""), 0), "empty values have a bytes section"),
        (fixed(0, None, 2), "a column without values declares a length"),
        (with_offsets(b"abc", &[0, 1, 2]), "last offset: expected 3, found 2"),
        (with_offsets(b"abc", &[1, 2, 3]), "first offset: expected 0, found 1"),
        (with_offsets(b"abcd", &[0, 2, 4]), "values of one length have offsets"),
        (with_offsets(b"abcd", &[2, 0, 4]), "a value ends before it begins"),
        (with_offsets(b"", &[0, 0, 0]), "empty values have a bytes section"),
        (
            Binary { count: 2, ..with_offsets(b"abc", &[0, 1, 2, 3]) },
            "number of offsets: expected 3, found 4",
        ),
        (
            Binary { bytes: None, ..with_offsets(b"abc", &[0, 1, 3]) },
            "values of different lengths have no bytes",
        ),
    ] {
        assert_eq!(refusal(made), message);
    }
}

/// Calls every method on damaged values: they must return, with any result.
fn survive(made: Made, mode: JumpTables) {
    let Ok(reader) = open(made, mode) else { return };
    // A length of zero needs no bytes, so the count may be anything.
    let count = reader.count().min(1_000);
    let buffer = &mut Vec::new();
    let scratch = &mut Scratch::default();
    for index in (0..count).step_by(7) {
        let _ = reader.get(index, buffer);
    }
    let _ = decoded(&reader, 0..count);
    let _ = reader.gather(&[0, 1, u32::MAX, 5], scratch, |_| {});
    let _ = reader.verify();
}

#[test]
fn damage_is_refused_or_survived() {
    // Long ones in the middle: lines through both ends of the offsets are too far off.
    let len = |i: usize| i * i % 23 + if (512..520).contains(&i) { 9_000 } else { 0 };
    let values: Vec<Vec<u8>> = (0..1_200).map(|i| vec![b'v'; len(i)]).collect();
    let good = made(&values, true);
    let change = |which: usize, change: &dyn Fn(&mut Vec<u8>)| {
        let mut at = 0;
        let changed = good.clone().try_map(&mut |_, mut bytes| {
            if at == which {
                change(&mut bytes);
            }
            at += 1;
            Ok::<_, Infallible>(bytes)
        });
        changed.unwrap()
    };
    let BinaryOffsets::Variable(offsets) = &good.offsets else { panic!("{good:?}") };
    let lens = [&good.bytes, &offsets.blocks, &offsets.jump].map(|s| s.as_ref().unwrap().len());
    for (which, len) in lens.into_iter().enumerate().skip(1) {
        for at in 0..len {
            // Both in the full sweep; otherwise by turns.
            for flip in [0x5a, 0x80].into_iter().skip(crate::sweep(at / 2 % 2, 0)).take(crate::sweep(1, 2)) {
                survive(change(which, &|bytes| bytes[at] ^= flip), JumpTables::ALL[at % 2]);
            }
        }
    }
    for at in 0..lens[2] {
        // An offset that moved may be as good as another; a jump entry has to be its header.
        let reader = open(change(2, &|bytes| bytes[at] ^= 0x10), JumpTables::Baked);
        assert!(reader.and_then(|reader| reader.verify()).is_err(), "jump table, byte {at}");
    }
    for cut in (0..lens[0]).step_by(crate::sweep(97, 1)).chain([lens[0] - 1]) {
        assert!(open(change(0, &|bytes| bytes.truncate(cut)), JumpTables::Baked).is_err());
    }
}

/// The directory entry of the values, and their sections at their offsets in a file.
fn filed(made: &Made) -> (Binary<SectionRef>, Vec<(u64, Vec<u8>)>) {
    let (mut at, mut file) = (64, Vec::new());
    let filed = made.clone().try_map(&mut |_, bytes| {
        let (offset, len) = (at, bytes.len() as u64);
        at += len + TAIL as u64;
        file.push((offset, bytes));
        Ok::<_, Infallible>(SectionRef { offset, len, crc: 0 })
    });
    (filed.unwrap(), file)
}

#[test]
fn an_entry_of_the_directory_round_trips() {
    let place = Place { section: Section::DirectoryPage, offset: 0 };
    let raw =
        [vec![], vec!["", ""], vec!["ab", "cd"], vec!["a", "", "bcd"]].map(|values| made(&values, true));
    for made in raw.into_iter().chain([Compression::Fsst, Compression::OnPair].map(coded)) {
        let (meta, file) = filed(&made);
        let mut entry = Vec::new();
        meta.encode_meta(&mut entry);
        let mut cursor = Cursor::new(place, &entry);
        assert_eq!(Binary::decode_meta(&mut cursor).unwrap(), meta);
        assert_eq!(cursor.left(), 0);

        for len in 0..entry.len() {
            assert!(Binary::decode_meta(&mut Cursor::new(place, &entry[..len])).is_err(), "cut at {len}");
        }
        for (at, flip) in (0..entry.len()).flat_map(|at| [(at, 0x01), (at, 0x80), (at, 0xff)]) {
            let mut bad = entry.clone();
            bad[at] ^= flip;
            if let Ok(meta) = Binary::decode_meta(&mut Cursor::new(place, &bad)) {
                let back = meta.try_map(&mut |_, at: SectionRef| {
                    let found = file.iter().find(|(offset, _)| *offset == at.offset);
                    found.map(|(_, bytes)| bytes.clone()).ok_or(())
                });
                back.into_iter().for_each(|made| survive(made, JumpTables::Baked));
            }
        }
    }
}

#[test]
fn deflate_blocks_are_refused_by_name() {
    let place = Place { section: Section::DirectoryPage, offset: 0 };
    let mut entry = Vec::new();
    filed(&made(&["ab", "cd"], true)).0.encode_meta(&mut entry);
    entry[9] = TAG_DEFLATE;
    let error = Binary::decode_meta(&mut Cursor::new(place, &entry)).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Retired(DEFLATE));
}

#[test]
fn the_fixed_part_of_an_entry_is_as_drawn() {
    let (meta, _) = filed(&made(&["abc", "def"], true));
    let mut entry = Vec::new();
    meta.encode_meta(&mut entry);
    #[rustfmt::skip]
    let expected = [
        &[2, 0, 0, 0, 0, 0, 0, 0][..], &[0], &[0], &[3, 0, 0, 0],
        &[64, 0, 0, 0, 0, 0, 0, 0], &[6, 0, 0, 0, 0, 0, 0, 0], &[0, 0, 0, 0],
    ];
    assert_eq!(entry, expected.concat());
}
