//! Whatever happens to the bytes, reading returns.

use super::*;
use crate::cursor::Put;
use crate::presence::header::Header;
use crate::sweep;

/// A block of every kind, and a last one that is short and dense.
fn every_kind() -> Bits {
    let list = [1, 5, 900, 40_000, 65_535].map(|low| 2 * BLOCK + low);
    let sparse = (0..300).map(|i| 3 * BLOCK + i * 200);
    let dense = (0..BLOCK).filter(|i| i % 3 == 0).map(|i| 4 * BLOCK + i);
    let runs = (0..BLOCK).filter(|i| i % 6000 > 100).map(|i| 5 * BLOCK + i);
    let short = (0..900).filter(|i| i % 5 != 1).map(|i| 6 * BLOCK + i);
    let set = (0..BLOCK).chain(list).chain(sparse).chain(dense).chain(runs).chain(short);
    bits(6 * BLOCK + 900, set)
}

#[test]
fn blocks_are_counted_by_kind() {
    for mode in JumpTables::ALL {
        let bits = every_kind();
        let reader = open(encode_bits(&bits, true), bits.len() as u32, mode);
        assert_eq!(reader.block_kinds().unwrap(), [1, 1, 1, 1, 2, 1]);
        let all = open(Presence::All, 70_000, mode);
        assert_eq!(all.block_kinds().unwrap(), [0; 6]);
    }
}

/// Calls every method. Answers may be wrong, but must keep the guarantees of the module docs.
fn survive(reader: &PresenceReader<Owned>) {
    let (docs, values) = (reader.docs(), reader.values());
    let points: Vec<DocId> = (0..docs.div_ceil(BLOCK_DOCS))
        .flat_map(|n| [0, 1, 500, 899, 901, 6050, 40_000, 65_535].map(|low| n * BLOCK_DOCS + low))
        .map(DocId::new)
        .collect();
    let lookup = reader.lookup(|section, start| section.verified()?.get(start..));
    for &doc in &points {
        // Any ranks, or none.
        let _ = lookup.as_ref().map(|lookup| (lookup.get(doc), lookup.probe(doc)));
        if let Ok(Some(value)) = reader.rank(doc) {
            assert!(value.get() < values && doc.get() < docs);
        }
    }
    let mut ranks = vec![0; points.len()];
    for chunk in [5, points.len()] {
        let mut many = points.chunks(chunk).zip(ranks.chunks_mut(chunk));
        if many.all(|(docs, ranks)| reader.rank_many(docs, ranks).is_ok()) {
            assert!(ranks.iter().all(|&rank| rank < values || rank == NO_VALUE));
        }
    }
    for from in (0..docs).step_by(BLOCK / 2) {
        let range = from..(from + 1000).min(docs);
        let (mut found, mut end, mut set) = (Vec::new(), 0, [0; 16]);
        if let Ok(first) = reader.collect(range.clone(), &mut found, &mut end) {
            let found = &found[..end];
            assert!(found.is_sorted_by(|a, b| a < b) && found.iter().all(|doc| range.contains(&doc.get())));
            assert!(first.get() as usize + found.len() <= values as usize);
        }
        let _ = reader.exists(range.clone(), &mut set);
        let _ = reader.expand(range.clone(), &[!0; 16], &mut set);
        assert!(set.iter().map(|word| word.count_ones()).sum::<u32>() as usize <= range.len());
    }
    let _ = reader.block_kinds();
}

#[test]
fn damage_is_found_by_a_full_check_and_survived_by_look_ups() {
    let bits = every_kind();
    let docs = bits.len() as u32;
    let Presence::Blocks { values, blocks, jump } = encode_bits(&bits, true) else { panic!() };
    let jump = jump.unwrap();
    let len = blocks.len();
    let is_presence = |error: &Error| [Section::Presence, Section::PresenceJump].contains(&error.section());
    // The jump table, and every seventh byte of the blocks and the last one, or every one in the full sweep.
    for at in (0..len).step_by(sweep(7, 1)).chain(len - 1..len + jump.len()) {
        // Both in the full sweep; otherwise one, and the other 4,096 bytes further on.
        let flips = [0x01, 0x5A].into_iter().skip(sweep((at ^ (at / 4096)) % 2, 0)).take(sweep(1, 2));
        for flip in flips {
            let (mut blocks, mut jump) = (blocks.clone(), jump.clone());
            let byte = if at < len { &mut blocks[at] } else { &mut jump[at - len] };
            *byte ^= flip;
            let bad = Presence::Blocks { values, blocks, jump: Some(jump) };
            let mode = JumpTables::ALL[at % 2];
            let reader = open(bad, docs, mode);
            // Another document in a list or a bitmap is no contradiction: that takes the checksum.
            match reader.verify() {
                Ok(()) => {
                    assert!(at < len, "byte {at} of the jump table");
                    let mut end = 0;
                    reader.collect(0..docs, &mut Vec::new(), &mut end).unwrap();
                    assert_eq!(end, values as usize, "byte {at}");
                }
                Err(error) => assert!(is_presence(&error), "byte {at}: {error}"),
            }
            if at % 4096 < 700 || at >= len {
                survive(&reader);
            }
        }
    }
    for cut in (0..len).step_by(sweep(7, 1)).chain([len - 1]) {
        for mode in JumpTables::ALL {
            let bad = Presence::Blocks { values, blocks: blocks[..cut].to_vec(), jump: Some(jump.clone()) };
            match PresenceReader::open(owned(bad), docs, mode) {
                Ok(reader) => {
                    assert!(reader.verify().is_err(), "cut to {cut} bytes");
                    if cut % 37 == 0 {
                        survive(&reader);
                    }
                }
                Err(error) => assert_eq!(error.section(), Section::Presence),
            }
        }
    }
    for cut in 0..jump.len() {
        let bad = Presence::Blocks { values, blocks: blocks.clone(), jump: Some(jump[..cut].to_vec()) };
        let refused = PresenceReader::open(owned(bad), docs, JumpTables::Baked).unwrap_err();
        assert_eq!(refused.section(), Section::PresenceJump);
    }
}

proptest! {
    #![proptest_config(crate::cases(400))]

    /// An arbitrary header, followed by arbitrary bytes.
    #[test]
    fn any_bytes_are_refused_or_survived(
        kind in 0..7_u8, runs in 0..40_u16, values in 0..600_u32, short in 1..70_000_u32,
        total in 1..700_u32, payload in prop::collection::vec(any::<u8>(), 0..2000), small: bool, whole: bool,
    ) {
        let mut blocks = vec![kind, 0];
        blocks.put_u16(if kind == 5 { runs } else { 0 });
        blocks.put_u32(values);
        blocks.extend(payload.iter().map(|&byte| if small { byte & 3 } else { byte }));
        let docs = short.min(BLOCK_DOCS);
        // As long as the header requires, so that a walk accepts it, too.
        if let Some(kind) = Kind::from_tag(kind).filter(|_| whole) {
            let header = Header { kind, runs: if kind == Kind::Runs { runs } else { 0 }, values };
            blocks.resize(Header::LEN + header.payload_len(docs), 3);
        }
        // An entry that agrees with the header, so that the payload is reached.
        let mut jump = Vec::new();
        jump.put_u32(0);
        jump.put_u32(1);
        jump.put_u32(values);
        jump.put_u8(kind);
        jump.put_u8(0);
        jump.put_u16(if kind == 5 { runs } else { 0 });
        let total = if total < 600 { values } else { total };
        for mode in JumpTables::ALL {
            let bad = Presence::Blocks { values: total, blocks: blocks.clone(), jump: Some(jump.clone()) };
            if let Ok(reader) = PresenceReader::open(owned(bad), docs, mode) {
                survive(&reader);
                let _ = reader.verify();
            }
        }
    }
}

/// A reader without a jump table of the blocks of `set` in `docs` documents, changed by `spoil`. The directory counts
/// `more` values than there are.
fn spoilt(
    docs: usize,
    set: impl IntoIterator<Item = usize>,
    more: u32,
    spoil: impl Fn(&mut Vec<u8>),
) -> PresenceReader<Owned> {
    let presence = encode_bits(&bits(docs, set), false);
    let Presence::Blocks { values, mut blocks, jump } = presence else { panic!("{presence:?}") };
    spoil(&mut blocks);
    open(Presence::Blocks { values: values + more, blocks, jump }, docs as u32, JumpTables::default())
}

fn refusal<T: std::fmt::Debug>(answer: Result<T>) -> String {
    answer.unwrap_err().to_string()
}

#[test]
fn a_rank_entry_that_contradicts_the_bitmap_is_refused() {
    // 300 documents in 600; the header takes bytes 0..8, the two rank entries 8..12.
    let with_rank = |rank: u16| {
        let set = (0..300).map(|i| i * 2);
        spoilt(600, set, 0, move |blocks| blocks[10..12].copy_from_slice(&rank.to_le_bytes()))
    };
    let docs: Vec<DocId> = (560..580).map(DocId::new).collect();
    let (mut ranks, mut set) = ([0; 20], [0; 10]);

    let high = with_rank(276); // document 560 is number 24 of its stride, and so would have value 300
    let above = "a rank in a presence block exceeds its value count";
    let found = refusal(high.rank(DocId::new(560)));
    assert_eq!(found, format!("presence at byte 8: {above}"));
    let found = refusal(high.rank_many(&docs, &mut ranks));
    assert_eq!(found, format!("presence at byte 8: {above}"));

    let low = with_rank(0);
    let miscounted = "presence at byte 0: the number of documents in presence blocks does not match their \
                      headers and ranks";
    assert_eq!(refusal(low.values_in(100..520)), miscounted);
    assert_eq!(refusal(low.collect(0..520, &mut Vec::new(), &mut 0)), miscounted);
    assert_eq!(refusal(low.expand(0..520, &[!0], &mut set)), miscounted);
    // Document 510 has value 255, and document 518 would have value 273.
    assert_eq!(refusal(with_rank(270).values_in(510..520)), miscounted);
}

#[test]
fn starts_and_befores_that_do_not_ascend_are_refused() {
    let starts = "the bucket starts of a sparse presence block do not ascend to its value count";
    for (start, end) in [(7_u16, 6_u16), (300, 300)] {
        let sparse = spoilt(BLOCK, (0..257).map(|i| i * 2), 0, |blocks| {
            blocks[8..10].copy_from_slice(&start.to_le_bytes());
            blocks[10..12].copy_from_slice(&end.to_le_bytes());
        });
        assert_eq!(refusal(sparse.rank(DocId::new(0))), format!("presence at byte 8: {starts}"));
        let mut found = Vec::new();
        let refused = refusal(sparse.exists(3..20, &mut [0]));
        assert_eq!(refused, format!("presence at byte 8: {starts}"));
        let mut end = 0;
        sparse.collect(600..700, &mut found, &mut end).unwrap();
        assert_eq!(end, 0);
    }
    // Runs 10..=11 and 20..=22; the second one's `befores` is at byte 14.
    let runs = "the runs of a presence block overlap, or do not ascend to its value count";
    for before in [0, 6] {
        let reader = spoilt(BLOCK, [10, 11, 20, 21, 22], 0, |blocks| blocks[14] = before);
        assert_eq!(refusal(reader.rank(DocId::new(10))), format!("presence at byte 8: {runs}"));
    }
}

#[test]
fn wrong_sums_and_lengths_are_refused() {
    let list = |more, spoil: fn(&mut Vec<u8>)| {
        let reader = spoilt(BLOCK, [3, 700, 9000], more, spoil);
        refusal(reader.rank(DocId::new(3)))
    };
    let sum = "presence at byte 0: values up to the end of a presence block: expected 4, found 3";
    assert_eq!(list(1, |_| {}), sum);
    let length = "presence at byte 16: length of presence: expected 16, found 24";
    assert_eq!(list(0, |blocks| blocks.extend([0; 8])), length);
    let runs = "presence at byte 0: the run count of a presence block does not fit its kind";
    assert_eq!(list(0, |blocks| blocks[2] = 1), runs);
    let kind = "presence at byte 0: unknown kind of presence block 0x09";
    assert_eq!(list(0, |blocks| blocks[0] = 9), kind);
    let zero = "presence at byte 0: the byte after a presence block's kind is not zero";
    assert_eq!(list(0, |blocks| blocks[1] = 9), zero);
}

#[test]
fn entries_that_miscount_full_and_empty_blocks_are_refused() {
    // A full block, an empty one, and a full one of 900 documents.
    let docs = 2 * BLOCK + 900;
    let presence = encode_bits(&bits(docs, (0..BLOCK).chain(2 * BLOCK..docs)), true);
    let Presence::Blocks { values, blocks, jump: Some(jump) } = presence else { panic!("{presence:?}") };
    let cases = [(0, BLOCK_DOCS, true), (1, 0, true), (2, 900, true)];
    let bad = [(0, 7, false), (0, 0, false), (1, 1, false), (2, 899, false), (2, BLOCK_DOCS, false)];
    for (block, count, good) in cases.into_iter().chain(bad) {
        let mut jump = jump.clone();
        jump[block * 16 + 8..][..4].copy_from_slice(&u32::to_le_bytes(count));
        let presence = Presence::Blocks { values, blocks: blocks.clone(), jump: Some(jump) };
        let reader = open(presence, docs as u32, JumpTables::Baked);
        let lookup = reader.lookup(|section, start| section.verified()?.get(start..)).unwrap();
        for low in [0, 8, 899] {
            let doc = DocId::new(block as u32 * BLOCK_DOCS + low);
            assert_eq!(reader.rank_verified(doc).is_some(), good, "{doc:?}, {count}");
            assert_eq!(lookup.get(doc), reader.rank_verified(doc), "{doc:?}, {count}");
            assert_eq!(lookup.probe(doc).is_some(), good, "{doc:?}, {count}");
            assert_eq!(reader.rank(doc).is_ok(), good, "{doc:?}, {count}");
        }
    }
}
