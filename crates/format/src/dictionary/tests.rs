use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::ControlFlow;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
#[cfg(target_pointer_width = "64")]
use crate::binary::MAX_VALUE;
use crate::cursor::Cursor;
use crate::granule::SectionRef;
use crate::source::{Owned, TAIL};

mod batches;
mod damage;
mod touch;

type Made = Dictionary<Vec<u8>>;

fn made<T: AsRef<[u8]>>(terms: impl IntoIterator<Item = T>, jump_tables: bool) -> Made {
    let mut builder = DictionaryBuilder::new();
    terms.into_iter().for_each(|term| builder.push(term.as_ref()).unwrap());
    builder.finish(jump_tables)
}

fn opened(made: Made) -> Dictionary<Owned> {
    made.try_map(&mut |section, bytes| Ok::<_, Infallible>(Owned::new(section, bytes))).unwrap()
}

fn reader(made: &Made, mode: JumpTables) -> DictionaryReader<Owned> {
    DictionaryReader::open(opened(made.clone()), mode).unwrap()
}

fn term(reader: &DictionaryReader<Owned>, ord: u32) -> Vec<u8> {
    let mut out = vec![7; 3];
    reader.term(TermOrd::new(ord), &mut out).unwrap();
    out
}

/// The terms of `ords`, looked up together.
fn gathered<B: SectionBytes>(reader: &DictionaryReader<B>, ords: &[u32]) -> Result<Vec<Vec<u8>>> {
    let (mut gather, mut found) = (reader.gather(), Vec::new());
    let ords: Vec<TermOrd> = ords.iter().copied().map(TermOrd::new).collect();
    for ords in ords.chunks(BATCH) {
        // The terms are appended to existing bytes.
        let mut bytes = vec![7; 3];
        gather.locate(ords)?;
        gather.append_to(&mut bytes)?;
        let mut left = &bytes[3..];
        for len in gather.lens() {
            let (term, rest) = left.split_at(usize::try_from(len).unwrap());
            found.push(term.to_vec());
            left = rest;
        }
        assert!(left.is_empty(), "as many bytes as the terms are long");
    }
    Ok(found)
}

/// `000017`, ascending with the number.
fn decimal(number: usize) -> Vec<u8> {
    format!("{number:06}").into_bytes()
}

/// Calls every method with `probes`, and compares the results with the set.
fn agrees(reader: &DictionaryReader<Owned>, set: &BTreeSet<Vec<u8>>, probes: &[Vec<u8>]) {
    let terms: Vec<&Vec<u8>> = set.iter().collect();
    let below = |probe: &[u8]| u32::try_from(terms.partition_point(|t| t.as_slice() < probe)).unwrap();
    for probe in probes {
        let exact = set.contains(probe).then(|| TermOrd::new(below(probe)));
        assert_eq!(reader.seek_exact(probe).unwrap(), exact, "exactly {probe:?}");
        assert_eq!(reader.seek_ceil(probe).unwrap().get(), below(probe), "ceil of {probe:?}");
    }
}

/// The members of the set, and close non-members.
fn probes(set: &BTreeSet<Vec<u8>>, step: usize) -> Vec<Vec<u8>> {
    let mut probes = vec![vec![], vec![0], vec![0xff; 3]];
    for term in set.iter().step_by(step) {
        let cut = term[..term.len().saturating_sub(1)].to_vec();
        let mut longer = term.clone();
        longer.push(0);
        let mut raised = term.clone();
        if let Some(last) = raised.last_mut() {
            *last = last.wrapping_add(1);
        }
        probes.extend([term.clone(), cut, longer, raised]);
    }
    probes
}

fn holds(set: &BTreeSet<Vec<u8>>, probes: &[Vec<u8>]) {
    for jump_tables in [true, false] {
        let made = made(set, jump_tables);
        for mode in JumpTables::ALL {
            let reader = reader(&made, mode);
            reader.verify().unwrap();
            assert_eq!(reader.len() as usize, set.len());
            let mut ord = 0;
            reader
                .for_each(0..reader.len(), |at, found| {
                    assert_eq!(at.get(), ord);
                    assert_eq!(term(&reader, ord), found);
                    ord += 1;
                    ControlFlow::Continue(())
                })
                .unwrap();
            let found: Vec<Vec<u8>> = (0..reader.len()).map(|ord| term(&reader, ord)).collect();
            assert!(found.iter().eq(set), "the terms come back");
            let mixed: Vec<u32> = (0..reader.len()).map(|i| (i * 37 + 11) % reader.len()).collect();
            let wanted: Vec<&Vec<u8>> = mixed.iter().map(|&ord| &found[ord as usize]).collect();
            assert_eq!(gathered(&reader, &mixed).unwrap().iter().collect::<Vec<_>>(), wanted);
            agrees(&reader, set, probes);
        }
    }
}

/// Typical terms: words over few letters, random bytes, hexadecimal ids, long common prefixes, long terms, all 0xff,
/// zero bytes at the end.
fn term_strategy() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => vec(prop_oneof![Just(b'a'), Just(b'b'), Just(0), Just(0xff)], 0..12),
        3 => vec(any::<u8>(), 0..20),
        2 => any::<u64>().prop_map(|id| format!("{id:016x}").into_bytes()),
        3 => (any::<u16>(), 0..3_usize).prop_map(|(n, dir)| {
            format!("/usr/share/{}/{n}", ["doc", "doc-base", "locale"][dir]).into_bytes()
        }),
        1 => (0..400_usize).prop_map(|len| vec![0xff; len]),
        1 => (0..4_u8, 200..700_usize).prop_map(|(byte, len)| {
            let mut term = vec![b'x'; len];
            term.push(byte);
            term
        }),
    ]
}

fn set_strategy() -> impl Strategy<Value = BTreeSet<Vec<u8>>> {
    let common = prop_oneof![Just(vec![]), Just(b"https://".to_vec()), Just(vec![0xff, 0xff]), Just(vec![0])];
    let sets = prop_oneof![
        proptest::collection::btree_set(term_strategy(), 0..crate::at_most(200)),
        // Many blocks with one key.
        proptest::collection::btree_set(
            vec(0..3_u8, 0..8).prop_map(|end| [b"0123456789".as_slice(), &end].concat()),
            0..crate::at_most(300)
        ),
    ];
    // What has not the front that the others have.
    let outliers = proptest::collection::btree_set(term_strategy(), 0..3);
    (common, sets, outliers).prop_map(|(common, set, mut outliers)| {
        outliers.extend(set.into_iter().map(|t| [&*common, &t].concat()));
        outliers
    })
}

proptest! {
    #![proptest_config(crate::cases(48))]

    #[test]
    fn a_dictionary_is_a_sorted_set(
        set in set_strategy(),
        random in vec(term_strategy(), 8),
        step in 1..5_usize,
    ) {
        let mut probes = probes(&set, step);
        probes.extend(random);
        holds(&set, &probes);
    }

    #[test]
    fn a_range_of_ords_is_a_part_of_all(set in set_strategy(), a: u32, b: u32) {
        let terms: Vec<Vec<u8>> = set.iter().cloned().collect();
        let reader = reader(&made(&set, true), JumpTables::Baked);
        let (a, b) = (a % (reader.len() + 1), b % (reader.len() + 1));
        let ords = a.min(b)..a.max(b);
        let mut found = Vec::new();
        let note = |ord: TermOrd, term: &[u8]| {
            found.push((ord.get(), term.to_vec()));
            ControlFlow::Continue(())
        };
        reader.for_each(ords.clone(), note).unwrap();
        let expected: Vec<_> = ords.map(|ord| (ord, terms[ord as usize].clone())).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn counts_at_the_edges_of_blocks() {
    for count in [0, 1, 2, 31, 32, 33, 63, 64, 65, 97] {
        let set: BTreeSet<Vec<u8>> = (0..count).map(|i| decimal(i * 7)).collect();
        holds(&set, &probes(&set, 1));
    }
}

#[test]
fn five_thousand_terms() {
    let set: BTreeSet<Vec<u8>> = (0..5_000_usize).map(|i| decimal(i * 31 % 100_003)).collect();
    holds(&set, &probes(&set, 17));
}

/// Keys are padded with zero bytes, so the keys of these terms tie over several blocks.
#[test]
fn terms_that_differ_by_zero_bytes_alone() {
    let set: BTreeSet<Vec<u8>> =
        (0..70).flat_map(|zeros| [b"ab".as_slice(), b"b"].map(|t| [t, &vec![0; zeros]].concat())).collect();
    holds(&set, &probes(&set, 1));
}

#[test]
fn long_terms_take_wider_lengths() {
    for (len, class) in [(255, 1), (256, 2), (65_535, 2), (70_000, 4)] {
        let set: BTreeSet<Vec<u8>> = (0..3_u8)
            .flat_map(|i| {
                let mut shared = vec![b'q'; len];
                shared[len - 1] = i;
                [shared, vec![i; len / 2], vec![i]]
            })
            .collect();
        let made = made(&set, true);
        assert_eq!(made.blocks.as_ref().unwrap()[0], class, "{len}");
        assert_eq!(made.max_len as usize, len);
        holds(&set, &probes(&set, 1));
    }
}

#[test]
fn the_bytes_of_a_block() {
    let made = made(["", "car", "card", "care", "cat"], true);
    #[rustfmt::skip]
    let expected = [
        &[1][..],                               // class: a byte for each length
        &[0, 0, 0, 0, 0],                       // shared with the first term, which is empty
        &[0, 3, 4, 4, 3],                       // own
        b"carcardcarecat",
    ];
    assert_eq!(made.blocks.as_deref().unwrap(), expected.concat());
    assert_eq!((made.count, made.max_len, made.total_len), (5, 4, 14));
    assert_eq!(made.index, None);

    let made = super::tests::made(["car", "card", "care", "cat"], true);
    let expected = [&[1][..], &[0, 3, 3, 2], &[3, 1, 1, 1], b"cardet"];
    assert_eq!(made.blocks.as_deref().unwrap(), expected.concat());
    assert_eq!((made.count, made.max_len, made.total_len), (4, 4, 14));
}

#[test]
fn lengths_of_class_2_are_little_endian() {
    let (first, second) = (vec![b'a'; 258], [vec![b'a'; 257], vec![b'b']].concat());
    let made = made([&first, &second], true);
    let expected = [&[2][..], &[0, 0, 0x01, 0x01], &[0x02, 0x01, 1, 0], &first, b"b"];
    assert_eq!(made.blocks.unwrap(), expected.concat());
}

#[test]
fn a_key_is_the_eight_bytes_after_the_prefix() {
    let terms = (0..33_u8).map(|i| [b"id-".as_slice(), &[b'A' + i], b"-long enough"].concat());
    let made = made(terms, true);
    let Index { offsets, keys, prefix } = made.index.unwrap();
    assert_eq!(*prefix, *b"id-");
    assert_eq!((offsets.count, offsets.min), (3, 0));
    assert_eq!(offsets.max, i64::try_from(made.blocks.unwrap().len()).unwrap());
    // "A-long e" and "a-long e": little-endian numbers with the first byte on top, so backwards.
    assert_eq!(keys, b"e gnol-Ae gnol-a");
}

#[test]
fn a_few_terms_do_not_spoil_the_prefix() {
    let urls: BTreeSet<Vec<u8>> =
        (0..2_000).map(|i| [b"https://".as_slice(), &decimal(i)].concat()).collect();
    let prefix = |made: Made| made.index.unwrap().prefix;
    assert_eq!(*prefix(made(&urls, true)), *b"https://00");

    let mut with_empty = urls.clone();
    with_empty.insert(vec![]);
    assert_eq!(*prefix(made(&with_empty, true)), *b"https://00");

    let mut with_more = with_empty;
    with_more.extend((0..50).map(|i| [b"ftp://".as_slice(), &decimal(i)].concat()));
    with_more.extend((0..50).map(|i| [b"sftp://".as_slice(), &decimal(i)].concat()));
    assert_eq!(*prefix(made(&with_more, true)), *b"https://00");
    holds(&with_more, &probes(&with_more, 13));
}

#[test]
fn a_prefix_has_at_most_255_bytes() {
    for (front, expected) in [(250, 254), (254, 255), (400, 0)] {
        let set: BTreeSet<Vec<u8>> = (0..100).map(|i| [vec![b'p'; front], decimal(i)].concat()).collect();
        // If even 255 bytes do not distinguish terms, there is no prefix.
        assert_eq!(made(&set, true).index.unwrap().prefix.len(), expected);
        holds(&set, &probes(&set, 3));
    }
}

#[test]
fn invalid_terms_are_refused() {
    let mut builder = DictionaryBuilder::new();
    builder.push(b"b").unwrap();
    assert_eq!(builder.push(b"b"), Err(BuildError::NotAscending { ord: 1 }));
    assert_eq!(builder.push(b"a"), Err(BuildError::NotAscending { ord: 1 }));
    assert_eq!(builder.push(b""), Err(BuildError::NotAscending { ord: 1 }));
    builder.push(b"ba").unwrap();
    assert_eq!(builder.finish(true), made(["b", "ba"], true), "what was refused left nothing");
    assert_eq!(encode([b"x".as_slice(), b"y", b"x"], true), Err(BuildError::NotAscending { ord: 2 }));
}

#[test]
#[cfg(target_pointer_width = "64")]
fn a_term_of_more_than_two_gibibytes_is_refused() {
    // Zeros that are never touched use no memory.
    let len = MAX_VALUE as usize + 1;
    let mut builder = DictionaryBuilder::new();
    assert_eq!(builder.push(&vec![0; len]), Err(BuildError::TooLong { ord: 0, len }));
    assert!(builder.is_empty());
}

#[test]
fn positions_past_the_end_are_refused() {
    let reader = reader(&made((0..40).map(decimal), true), JumpTables::Baked);
    let mut out = b"left over".to_vec();
    let error = reader.term(TermOrd::new(40), &mut out).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::OutOfRange { what: "ord", found: 40, max: 39 });
    assert_eq!(out, b"");
    assert_eq!(gathered(&reader, &[7, 40, 3]).unwrap_err(), error);
    assert!(reader.for_each(39..41, |_, _| ControlFlow::Continue(())).is_err());
    reader.for_each(40..40, |_, _| panic!("a term of no ords")).unwrap();
}

#[test]
fn a_break_ends_the_reading() {
    let reader = reader(&made((0..100).map(decimal), true), JumpTables::Baked);
    let mut seen = Vec::new();
    let each = |ord: TermOrd, _: &[u8]| {
        seen.push(ord.get());
        if ord.get() == 33 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    reader.for_each(30..100, each).unwrap();
    assert_eq!(seen, [30, 31, 32, 33]);
}

/// Every section of a dictionary, in file order.
fn sections(made: &Made) -> Vec<(Section, Vec<u8>)> {
    let mut sections = Vec::new();
    let note = |section, bytes: Vec<u8>| {
        sections.push((section, bytes));
        Ok::<_, Infallible>(())
    };
    made.clone().try_map(&mut { note }).unwrap();
    sections
}

/// The dictionary with section number `which` changed.
fn changed(made: &Made, which: usize, change: impl Fn(&mut Vec<u8>)) -> Made {
    let mut at = 0;
    made.clone()
        .try_map(&mut |_, mut bytes| {
            if at == which {
                change(&mut bytes);
            }
            at += 1;
            Ok::<_, Infallible>(bytes)
        })
        .unwrap()
}

/// A section, and its offset in a file.
type Filed = (u64, Section, Vec<u8>);

/// The directory entry of the dictionary, and its sections at their offsets in a file.
fn filed(made: &Made) -> (Dictionary<SectionRef>, Vec<Filed>) {
    let mut at = 64;
    let mut file = Vec::new();
    let filed = made.clone().try_map(&mut |section, bytes| {
        let (offset, len) = (at, bytes.len() as u64);
        at += len + TAIL as u64;
        file.push((offset, section, bytes));
        Ok::<_, Infallible>(SectionRef { offset, len, crc: 0 })
    });
    (filed.unwrap(), file)
}

#[test]
fn an_entry_of_the_directory_round_trips() {
    let place = Place { section: Section::DirectoryPage, offset: 0 };
    for count in [0, 1, 32, 33, 1_000] {
        let made = made((0..count).map(decimal), true);
        let (meta, file) = filed(&made);
        let mut entry = Vec::new();
        meta.encode_meta(&mut entry);
        let mut cursor = Cursor::new(place, &entry);
        let decoded = Dictionary::decode_meta(&mut cursor).unwrap();
        assert_eq!(cursor.left(), 0);
        assert_eq!(decoded, meta);
        let back = decoded.try_map(&mut |section, at: SectionRef| {
            let (_, name, bytes) = file.iter().find(|(offset, ..)| *offset == at.offset).unwrap();
            assert_eq!(*name, section);
            Ok::<_, Infallible>(bytes.clone())
        });
        assert_eq!(back.unwrap(), made);

        for len in 0..entry.len() {
            assert!(Dictionary::decode_meta(&mut Cursor::new(place, &entry[..len])).is_err(), "cut at {len}");
        }
        for (at, flip) in (0..entry.len()).flat_map(|at| [(at, 0x01), (at, 0x80), (at, 0xff)]) {
            let mut bad = entry.clone();
            bad[at] ^= flip;
            // What is accepted must be something that can be opened and read, or be refused there.
            if let Ok(meta) = Dictionary::decode_meta(&mut Cursor::new(place, &bad)) {
                let back = meta.try_map(&mut |_, at: SectionRef| {
                    let found = file.iter().find(|(offset, ..)| *offset == at.offset);
                    found.map(|(_, _, bytes)| bytes.clone()).ok_or(())
                });
                back.into_iter().for_each(|made| damage::survive(made, &[decimal(3)], JumpTables::Baked));
            }
        }
    }
}

#[test]
fn the_fixed_part_of_an_entry_is_as_drawn() {
    let (meta, _) = filed(&made(["car", "card", "cat"], true));
    let mut entry = Vec::new();
    meta.encode_meta(&mut entry);
    #[rustfmt::skip]
    let expected = [
        &[3, 0, 0, 0][..], &[4, 0, 0, 0], &[10, 0, 0, 0, 0, 0, 0, 0],
        &[64, 0, 0, 0, 0, 0, 0, 0], &[12, 0, 0, 0, 0, 0, 0, 0], &[0, 0, 0, 0],
    ];
    assert_eq!(entry, expected.concat());
}
