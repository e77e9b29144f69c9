//! Documents with a value are written and read.

use docvalues_testkit::rng::SplitMix64;

use super::*;
use crate::order::Order;
use crate::testing::{Encoder, body};

/// Appends the region of `docs`, and their entry in metadata: of Lucene 8 and 9 if there are tables.
pub(crate) fn encode(
    meta: &mut Encoder,
    data: &mut Encoder,
    docs: u32,
    with_value: &[u32],
    has_tables: bool,
) {
    let kind = match with_value.len() {
        0 => Some(-2),
        all if all == docs as usize => Some(-1),
        _ => None,
    };
    let (offset, mut jumps) = (kind.unwrap_or(data.offset()), -1);
    let start = data.out.len();
    if kind.is_none() {
        let mut table = Vec::new();
        let (mut before, mut rest) = (0, with_value);
        while let Some(first) = rest.first() {
            let number = first >> 16;
            let (block, after) = rest.split_at(rest.partition_point(|doc| doc >> 16 == number));
            table.resize(number as usize + 1, (before, data.out.len() - start));
            encode_block(data, number as u16, block, has_tables.then_some(9));
            (before, rest) = (before + block.len() as u32, after);
        }
        table.push((before, data.out.len() - start));
        data.u16(0x7FFF).u16(0).u16(u16::MAX);
        // With a single block, the table is left out.
        jumps = if table.len() == 2 { 0 } else { table.len() as i16 };
        if has_tables && jumps > 0 {
            table.iter().for_each(|(before, at)| {
                data.i32(*before as i32).i32(*at as i32);
            });
        }
    }
    meta.i64(offset).i64((data.out.len() - start) as i64);
    if has_tables {
        meta.i16(jumps).u8(if kind.is_none() { 9 } else { 0xFF });
    }
}

/// Appends a block, with a rank for each `1 << power` documents of a dense one, if there are any.
fn encode_block(data: &mut Encoder, number: u16, docs: &[u32], power: Option<u32>) {
    data.u16(number).u16((docs.len() - 1) as u16);
    match docs.len() {
        ..=4095 => docs.iter().for_each(|doc| {
            data.u16(*doc as u16);
        }),
        65_536 => {}
        _ => {
            let mut words = [0_u64; 1024];
            docs.iter().for_each(|doc| bits::set(&mut words, (*doc as u16).into()));
            if let Some(power) = power {
                let mut before = 0;
                for words in words.chunks(1 << (power - 6)) {
                    data.bytes(&(before as u16).to_be_bytes());
                    before += bits::count(words);
                }
            }
            words.iter().for_each(|word| {
                data.u64(*word);
            });
        }
    }
}

/// Sets of documents that have blocks of all kinds.
pub(crate) fn shapes(docs: u32) -> Vec<Vec<u32>> {
    let mut rng = SplitMix64::new(docs.into());
    let mut some = |from: u32, count: u32| {
        let end = docs.min(from.saturating_add(65_536));
        let mut left = count;
        let picked = (from..end).filter(|doc| {
            let is_picked = rng.below_u32(end - doc) < left;
            left -= u32::from(is_picked);
            is_picked
        });
        picked.collect::<Vec<_>>()
    };
    // The third block is left out.
    let counts = [1, 4_095, 0, 4_096, 65_536, 65_535, 30_000];
    let mut edges = Vec::new();
    for (block, count) in (0..).zip(counts) {
        edges.extend(some(block << 16, count));
    }
    let last = some((docs - 1) >> 16 << 16, 1);
    vec![
        edges,
        (0..docs).collect(),
        (1..docs).collect(),
        vec![],
        vec![docs - 1],
        last,
        (0..docs).step_by(3).collect(),
        (0..docs).step_by(1_000).collect(),
        (0..docs.min(70_000)).collect(),
    ]
}

fn open(order: Order, docs: u32, with_value: &[u32], has_tables: bool, mode: JumpTables) -> Presence {
    let (mut meta, mut data) = (Encoder::new(order), Encoder::new(order));
    encode(&mut meta, &mut data, docs, with_value, has_tables);
    let meta = body(meta);
    let mut cursor = Cursor::new(&meta);
    let entry = PresenceEntry::read(&mut cursor, has_tables).unwrap();
    cursor.end().unwrap();
    Presence::open(entry, docs, with_value.len() as i64, &Arc::new(body(data)), mode).unwrap()
}

fn check(presence: &Presence, docs: u32, with_value: &[u32]) {
    let mut index = vec![NO_VALUE; docs as usize + 70];
    (0..).zip(with_value).for_each(|(at, doc)| index[*doc as usize] = at);
    assert_eq!((presence.values() as usize, presence.docs()), (with_value.len(), docs));
    let mut rng = SplitMix64::new(7);
    let ascending: Vec<u32> = (0..docs + 3).step_by(1 + docs as usize / 5_000).collect();
    let random: Vec<u32> = (0..5_000).map(|_| rng.below_u32(docs + 60)).collect();
    let descending: Vec<u32> = ascending.iter().rev().copied().collect();
    for list in [ascending, random, descending, with_value.iter().take(3_000).copied().collect()] {
        let list: Vec<DocId> = list.into_iter().map(DocId::new).collect();
        let mut found = vec![7; list.len()];
        let are_all = presence.ranks(&list, &mut found).unwrap();
        let expected: Vec<u32> = list.iter().map(|doc| index[doc.get() as usize]).collect();
        assert_eq!(found, expected);
        assert_eq!(are_all, !expected.contains(&NO_VALUE));
        for (doc, index) in list.iter().zip(&expected).step_by(11) {
            assert_eq!(presence.rank(*doc).unwrap(), (*index != NO_VALUE).then_some(*index));
        }
    }
    for _ in 0..24 {
        let longest = [100, 5_000, docs][rng.place(3)];
        let (start, len) = (rng.below_u32(docs + 1), rng.below_u32(longest + 1));
        let range = DocRange::new(start, start + len);
        let below = with_value.partition_point(|doc| *doc < start);
        let inside = &with_value[below..with_value.partition_point(|doc| *doc < start + len)];
        let below = below as u32;
        assert_eq!(presence.values_in(range).unwrap(), below..below + inside.len() as u32);
        let mut collected = vec![DocId::new(9)];
        presence.collect(range, &mut collected).unwrap();
        assert!(collected[1..].iter().map(|doc| doc.get()).eq(inside.iter().copied()), "{range:?}");
        let mut found = vec![0; range.words()];
        presence.exists(range, &mut found).unwrap();
        assert!(bits::ones(&found).eq(inside.iter().map(|doc| (doc - start) as usize)), "{range:?}");
    }
}

#[test]
fn documents_are_found_in_blocks_of_all_kinds() {
    for docs in [1, 100, 65_536, 70_001, 7 * 65_536 - 5] {
        for (number, with_value) in shapes(docs).iter().enumerate() {
            let order = if number % 2 == 0 { Order::Little } else { Order::Big };
            for has_tables in [false, true] {
                for mode in JumpTables::ALL {
                    check(&open(order, docs, with_value, has_tables, mode), docs, with_value);
                }
            }
        }
    }
}

/// Lucene has a rank for each 512 documents; the entry may say other numbers.
#[test]
fn ranks_of_any_number_of_documents_are_read() {
    let with_value: Vec<u32> = (0..65_536).filter(|doc| doc % 5 != 2).collect();
    for power in 7..=15_i8 {
        for order in [Order::Little, Order::Big] {
            let mut data = Encoder::new(order);
            let offset = data.offset();
            encode_block(&mut data, 0, &with_value, Some(power.unsigned_abs().into()));
            data.u16(0x7FFF).u16(0).u16(u16::MAX);
            let entry = PresenceEntry { offset, len: data.offset() - offset, jumps: 0, power };
            let data = Arc::new(body(data));
            for mode in JumpTables::ALL {
                let presence = Presence::open(entry, 65_536, with_value.len() as i64, &data, mode).unwrap();
                check(&presence, 65_536, &with_value);
            }
        }
    }
}

#[test]
fn a_single_document_is_looked_up() {
    let presence = open(Order::Big, 70_000, &[3, 66_000], false, JumpTables::Baked);
    assert_eq!(presence.rank(DocId::new(66_000)).unwrap(), Some(1));
    assert_eq!(presence.rank(DocId::new(4)).unwrap(), None);
    let all = open(Order::Big, 9, &(0..9).collect::<Vec<_>>(), true, JumpTables::Baked);
    assert_eq!((all.rank(DocId::new(8)).unwrap(), all.rank(DocId::new(9)).unwrap()), (Some(8), None));
}

#[test]
fn the_bytes_of_lucene() {
    let (mut meta, mut data) = (Encoder::new(Order::Little), Encoder::new(Order::Little));
    encode(&mut meta, &mut data, 10, &[3, 5], true);
    assert_eq!(data.out, [0, 0, 1, 0, 3, 0, 5, 0, 0xFF, 0x7F, 0, 0, 0xFF, 0xFF]);
    assert_eq!(meta.out[8..], [14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9]);
}

#[test]
fn documents_of_a_sparse_block_ascend() {
    // The last of 3, 5 and 9 becomes another one.
    for low in [4, 5, 6] {
        let (mut meta, mut data) = (Encoder::new(Order::Little), Encoder::new(Order::Little));
        encode(&mut meta, &mut data, 100, &[3, 5, 9], true);
        data.out[8] = low;
        let meta = body(meta);
        let entry = PresenceEntry::read(&mut Cursor::new(&meta), true).unwrap();
        let data = Arc::new(body(data));
        for mode in JumpTables::ALL {
            let presence = Presence::open(entry, 100, 3, &data, mode).unwrap();
            for range in [DocRange::new(0, 100), DocRange::new(4, 8)] {
                let mut bits = vec![0; range.words()];
                assert_eq!(presence.collect(range, &mut Vec::new()).is_ok(), low == 6);
                assert_eq!(presence.exists(range, &mut bits).is_ok(), low == 6);
            }
        }
    }
}

#[test]
fn hostile_bytes_are_errors_or_other_answers() {
    for (with_value, has_tables) in [
        ((0..9_000).step_by(2).collect::<Vec<u32>>(), true),
        (vec![3, 5, 131_080], true),
        (vec![3, 5], false),
    ] {
        let docs = 131_090;
        let (mut meta, mut data) = (Encoder::new(Order::Little), Encoder::new(Order::Little));
        encode(&mut meta, &mut data, docs, &with_value, has_tables);
        let meta = body(meta);
        let entry = PresenceEntry::read(&mut Cursor::new(&meta), has_tables).unwrap();
        for at in (0..300).chain(8_440..data.out.len()).filter(|at| *at < data.out.len()) {
            for byte in [0, 0x40, 0xFF] {
                let mut damaged = Encoder::new(Order::Little);
                damaged.bytes(&data.out);
                damaged.out[at] = byte;
                let damaged = Arc::new(body(damaged));
                for mode in JumpTables::ALL {
                    let values = with_value.len() as i64;
                    let presence = Presence::open(entry, docs, values, &damaged, mode).unwrap();
                    let list: Vec<DocId> = (0..docs + 9).step_by(97).map(DocId::new).collect();
                    let mut found = vec![0; list.len()];
                    if presence.ranks(&list, &mut found).is_ok() {
                        let is_index = |index: &u32| *index == NO_VALUE || i64::from(*index) < values;
                        assert!(found.iter().all(is_index), "byte {at}");
                    }
                    let range = DocRange::new(70, docs);
                    let (mut bits, mut collected) = (vec![0; range.words()], Vec::new());
                    let _ = (presence.exists(range, &mut bits), presence.collect(range, &mut collected));
                    assert!(collected.iter().all(|doc| range.contains(*doc)), "byte {at}");
                    assert!(collected.is_sorted_by(|doc, next| doc < next), "byte {at}");
                    if let Ok(inside) = presence.values_in(range) {
                        assert!(i64::from(inside.end) <= values, "byte {at}");
                    }
                }
            }
        }
    }
}

#[test]
fn hostile_entries_are_refused() {
    let body = Arc::new(body(Encoder::new(Order::Little)));
    let start = body.place.start as i64;
    for (offset, len, values, jumps, power) in [
        (-1, 0, 9, -1, -1),
        (-1, 0, -1, -1, -1),
        (start, 0, 10, 0, 9),
        (start, 0, 0, 0, 9),
        (start, 1, 5, 0, 9),
        (start, 0, 5, 1, 9),
        (start, 0, 5, 0, 3),
        (0, 8, 5, 0, 9),
        (i64::MAX, i64::MAX, 5, 0, 9),
    ] {
        let entry = PresenceEntry { offset, len, jumps, power };
        assert!(Presence::open(entry, 10, values, &body, JumpTables::Baked).is_err(), "{entry:?}, {values}");
    }
    let empty = PresenceEntry { offset: start, len: 0, jumps: 0, power: 9 };
    for mode in JumpTables::ALL {
        let presence = Presence::open(empty, 10, 5, &body, mode).unwrap();
        assert!(presence.rank(DocId::new(1)).is_err());
    }
}
