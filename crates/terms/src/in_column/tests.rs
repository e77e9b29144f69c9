use std::collections::BTreeSet;

use docvalues_format::jump::JumpTables;
use docvalues_format::numeric::{self, Numeric, NumericOptions, Role};
use docvalues_format::source::Owned;
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use super::buckets::GROUP;
use super::*;
use crate::id_block::tests::asked;

type Keys = BTreeSet<Vec<u8>>;

/// An index, with the column and the documents that it needs.
#[derive(Clone)]
struct Made {
    sections: InColumn<Vec<u8>>,
    values: Vec<u8>,
    docs: Numeric<Vec<u8>>,
    count: u32,
    bounds: (Vec<u8>, Vec<u8>),
}

/// The index of keys whose documents are in no order; `None` if the form has no place for them.
fn make(keys: &Keys) -> Option<Made> {
    let (first, last, count) = (keys.first()?, keys.last()?, keys.len() as u32);
    let mut builder = InColumnBuilder::new(first, last, count)?;
    for key in keys {
        match builder.push(key) {
            Pushed::Yes => assert_eq!(builder.push(key), Pushed::NotAscending),
            Pushed::NotAscending => panic!("they ascend"),
            Pushed::Uneven => return None,
        }
    }
    let mut order: Vec<u32> = (0..count).collect();
    order.sort_unstable_by_key(|i| i.wrapping_mul(0x9e37_79b9));
    let mut values = vec![0; keys.len() * first.len()];
    for (key, &doc) in keys.iter().zip(&order) {
        values[doc as usize * first.len()..][..first.len()].copy_from_slice(key);
    }
    let bounds = (first.clone(), last.clone());
    Some(Made { sections: builder.finish(), values, docs: docs(&order), count, bounds })
}

fn docs(by_rank: &[u32]) -> Numeric<Vec<u8>> {
    let options = NumericOptions { role: Role::IdDocs, doubles: false, jump_tables: true, zones: false };
    numeric::encode(by_rank, &options)
}

type Opened = (InColumnReader<Owned>, NumericReader<Owned>);

fn open(made: &Made) -> Result<Opened> {
    let Made { sections, values, docs, count, bounds: (least, greatest) } = made.clone();
    let sections = sections.try_map(&mut |section, bytes| Ok::<_, Error>(Owned::new(section, bytes)))?;
    let docs = docs.try_map(&mut |section, bytes| Ok::<_, Error>(Owned::new(section, bytes)))?;
    let values = Owned::new(Section::Bytes, values);
    let reader = InColumnReader::open(sections, values, count, (&least[..], &greatest[..]))?;
    Ok((reader, NumericReader::open(docs, JumpTables::Baked)?))
}

/// Compares every answer with that of a sorted list. Returns whether the form has a place for the keys.
fn check(keys: &Keys) -> bool {
    let Some(made) = make(keys) else { return false };
    let (reader, docs) = open(&made).unwrap();
    let dictionary = reader.dictionary(&docs);
    dictionary.verify().unwrap();
    assert_eq!(dictionary.len() as usize, keys.len());
    assert_eq!(made.sections.heads.len(), keys.len());
    let list: Vec<_> = keys.iter().cloned().collect();
    for key in asked(keys) {
        let rank = list.binary_search(&key);
        assert_eq!(reader.find(&key, &docs).unwrap().map(|rank| rank as usize), rank.ok(), "{key:?}");
        assert_eq!(
            dictionary.lower_bound(&key).unwrap() as usize,
            rank.unwrap_or_else(|rank| rank),
            "{key:?}"
        );
        reader.prefetch(&key);
    }
    for ranks in [0..list.len(), 5..list.len().max(7) - 2, 30..31, 31..65, 0..0, list.len()..list.len() + 5] {
        let mut found = Vec::new();
        let bounds = ranks.start as u32..ranks.end as u32;
        dictionary
            .each(bounds, &mut |rank, key| {
                assert_eq!(rank as usize, ranks.start + found.len());
                found.push(key.to_vec());
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
        let end = ranks.end.min(list.len());
        assert_eq!(found, list[ranks.start.min(end)..end]);
    }
    true
}

/// Keys of one length: random ones, and such that share much or lie close to each other.
fn keys(max: usize) -> impl Strategy<Value = Keys> {
    let prefixes = vec(any::<u8>(), 0..17);
    let tails = prop_oneof![
        (1..=16_usize).prop_flat_map(move |len| btree_set(vec(any::<u8>(), len), 1..=max)),
        (1..=16_usize).prop_flat_map(move |len| {
            btree_set(vec(prop::sample::select(b"\x00\x01a\xff" as &[u8]), len), 1..=max)
        }),
        (any::<u64>(), 1..=max as u64, 1..=1_000_u64).prop_map(|(first, count, step)| {
            (0..count).map(|i| first.wrapping_add(i * step).to_be_bytes().to_vec()).collect::<Keys>()
        }),
    ];
    (prefixes, tails).prop_map(|(prefix, tails): (Vec<u8>, Keys)| {
        tails.into_iter().map(|tail| [&prefix[..], &tail].concat()).collect()
    })
}

proptest! {
    #[test]
    fn keys_are_found_and_no_others(keys in keys(600)) {
        // So many may all have one place.
        prop_assert!(check(&keys) || keys.len() > 8);
    }
}

#[test]
fn sizes_at_the_edges() {
    for n in (1..20_u32).chain([95, 96, 97, 98, 191, 192, 193, 256, 257, 1_000]) {
        // Evenly distributed, whatever the step.
        for step in [1, 3, 256, 70_001] {
            assert!(check(&(0..n).map(|i| (i * step).to_be_bytes().to_vec()).collect()), "{n} {step}");
        }
        let hashed = |i: u32| crate::hash::hash(&i.to_le_bytes(), 7).to_be_bytes();
        assert!(check(&(0..n).map(|i| [&hashed(i)[..], &[7; 24]].concat()).collect()), "{n}");
        // But for the first, the windows are all the same.
        let tied: Keys =
            (0..n).map(|i| [&[7; 9][..], &[u8::from(i > 0); 8], &i.to_be_bytes()].concat()).collect();
        assert_eq!(check(&tied), n <= 9, "{n}");
    }
    assert!(check(&Keys::from([[0_u8; 8], [255; 8]].map(|key| key.to_vec()))));
}

/// More keys of one head than a writer leaves: they are found, and a full check refuses them.
#[test]
fn too_many_ties_are_refused() {
    for (count, is_right) in [(MAX_TIES + 1, true), (MAX_TIES + 2, false)] {
        // But for the first, the windows are all the same.
        let keys: Vec<_> =
            (0..count).map(|i| [&[u8::from(i > 0); 8][..], &i.to_be_bytes()].concat()).collect();
        let (least, greatest) = (keys[0].clone(), keys[keys.len() - 1].clone());
        let (bucket, head) = Scale::new(&least, &greatest, count).unwrap().place(&greatest).unwrap();
        assert_eq!(bucket, 1);
        let mut heads = vec![head; keys.len()];
        heads[0] = 0;
        let mut ends = [u8::try_from(count).unwrap(); GROUP_BUCKETS];
        ends[0] = 1;
        let mut starts = Vec::new();
        buckets::encode(0, &ends, &mut starts);
        let docs = docs(&(0..count).collect::<Vec<_>>());
        let sections = InColumn { heads, starts };
        let made = Made { sections, values: keys.concat(), docs, count, bounds: (least, greatest) };
        let (reader, docs) = open(&made).unwrap();
        for (rank, key) in (0..).zip(&keys) {
            assert_eq!(reader.find(key, &docs).unwrap(), Some(rank));
        }
        let verified = reader.dictionary(&docs).verify();
        assert_eq!(verified.is_ok(), is_right);
        assert!(verified.is_ok() || verified.unwrap_err().to_string().contains("same head"));
    }
}

#[test]
fn other_keys_are_refused() {
    let (short, long) = (&[7; 33][..], &[8; 33][..]);
    assert!(InColumnBuilder::new(short, long, 2).is_none());
    assert!(InColumnBuilder::new(&short[1..], &long[1..], 2).is_some());
    assert!(InColumnBuilder::new(b"", b"", 1).is_none());
    assert!(InColumnBuilder::new(b"a", b"bb", 2).is_none());
    assert!(InColumnBuilder::new(b"b", b"a", 2).is_none());
    let mut builder = InColumnBuilder::new(b"bb", b"dd", 3).unwrap();
    assert_eq!(builder.push(b"aa"), Pushed::Uneven); // below the least key
    assert_eq!(builder.push(b"bb"), Pushed::Yes);
    assert_eq!(builder.push(b"bbb"), Pushed::Uneven); // of another length
    assert_eq!(builder.push(b"ba"), Pushed::NotAscending);
    assert_eq!(builder.push(b"de"), Pushed::Uneven); // above the greatest key
}

fn example() -> Made {
    let keys = (0..300_u32).map(|i| crate::hash::hash(&i.to_le_bytes(), 1).to_be_bytes().to_vec());
    make(&keys.collect()).unwrap()
}

#[test]
fn contradictions_are_refused() {
    let good = example();
    let refused = |made: &Made| open(made).map(drop).unwrap_err().to_string();
    let changed = |change: &dyn Fn(&mut Made)| {
        let mut made = good.clone();
        change(&mut made);
        refused(&made)
    };
    assert!(changed(&|made| made.count = 301).contains("length of the heads of ids"));
    assert!(changed(&|made| _ = made.sections.heads.pop()).contains("length of the heads of ids"));
    assert!(changed(&|made| _ = made.values.pop()).contains("length of the column of ids"));
    assert!(changed(&|made| _ = made.sections.starts.pop()).contains("length of the starts of ids"));
    assert!(changed(&|made| made.bounds.0 = vec![0; 7]).contains("one length"));
    // Each byte of the groups, but for ends that may be others without a gap.
    for at in (0..good.sections.starts.len()).filter(|at| at % GROUP < 4 || at % GROUP == GROUP - 1) {
        let why = changed(&|made| made.sections.starts[at] ^= 1);
        assert!(why.contains("buckets do not tile"), "{at}: {why}");
    }
}

/// Damage with valid checksums: no panic, and a key that is returned is right.
#[test]
fn damaged_bytes() {
    let good = example();
    let (reader, docs) = open(&good).unwrap();
    let mut keys = Vec::new();
    reader
        .dictionary(&docs)
        .each(0..300, &mut |_, key| {
            keys.push(key.to_vec());
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    for section in 0..3 {
        let len = [good.sections.heads.len(), good.sections.starts.len(), good.values.len()][section];
        for at in (0..len).step_by(if section == 2 { 17 } else { 1 }) {
            let mut bad = good.clone();
            let bytes = match section {
                0 => &mut bad.sections.heads,
                1 => &mut bad.sections.starts,
                _ => &mut bad.values,
            };
            bytes[at] ^= [1, 0x80, 0xff][at % 3];
            let Ok((reader, docs)) = open(&bad) else { continue };
            for key in keys.iter().step_by(7) {
                if let Ok(Some(rank)) = reader.find(key, &docs) {
                    let doc = docs.get(rank.into()).unwrap() as usize;
                    assert_eq!(bad.values[doc * 8..][..8], key[..]);
                }
                let _ = reader.dictionary(&docs).lower_bound(key);
            }
            // Other values are other keys, which may be in order, too.
            assert!(reader.dictionary(&docs).verify().is_err() || section == 2, "{section}, {at}");
        }
    }
}
