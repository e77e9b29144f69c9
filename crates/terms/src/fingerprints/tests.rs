//! Compares the table with lists of entries.

#[cfg(docvalues_loom)]
mod loom;

use std::collections::{BTreeMap, BTreeSet};

use proptest::array::uniform4;
use proptest::prelude::*;

use super::*;

fn slots_of(table: &FingerprintTable, hash: u64) -> Vec<u16> {
    let mut slots = Vec::new();
    table.candidates(hash, |slot| slots.push(slot));
    assert!(!table.has_none(hash) || slots.is_empty());
    slots
}

/// The slowest way to say which fingerprints are equal.
fn matching_plain(fingerprints: [u64; WORDS], fingerprint: u16) -> u64 {
    let mut bits = 0;
    for (word, fingerprints) in fingerprints.iter().enumerate() {
        for field in 0..PER_WORD {
            if low16(fingerprints >> (16 * field)) == fingerprint {
                bits |= 1 << (16 * field + word);
            }
        }
    }
    bits
}

/// Those that carries and signs are about, too.
fn any_tag() -> impl Strategy<Value = u16> {
    prop_oneof![0_u16..3, 0x7ffe_u16..=0x8002, any::<u16>()]
}

proptest! {
    #[test]
    fn tags_that_match(
        words in uniform4(uniform4(any_tag())),
        fingerprint in any_tag(),
    ) {
        let fingerprints = words.map(|fields| (0..4).map(|i| u64::from(fields[i]) << (16 * i)).sum());
        prop_assert_eq!(matching(fingerprints, fingerprint), matching_plain(fingerprints, fingerprint));
        prop_assert_eq!(has(fingerprints, fingerprint), matching_plain(fingerprints, fingerprint) != 0);
    }

    /// Hashes that meet in a few buckets, with few fingerprints: full tables, where most entries lie outside their homes.
    #[test]
    fn all_that_was_inserted_is_found(
        entries in 1_usize..400,
        hashes in prop::collection::vec((0_u64..4, 0_u64..3, 0_u64..70_000), 1..500),
    ) {
        let hashes: Vec<u64> = hashes.iter().map(|(home, fingerprint, stride)| home << 62 | stride << 16 | fingerprint).collect();
        let mut writer: TableWriter = TableBuilder::new(entries).finish();
        let capacity = writer.table().capacity();
        prop_assert!(capacity >= entries);
        let mut model: BTreeMap<u64, BTreeSet<u16>> = BTreeMap::new();
        let mut count = 0;
        for hashes in hashes.chunks(45) {
            let slot = writer.new_slot().unwrap();
            let inserted = writer.insert(hashes, slot);
            count += inserted;
            prop_assert!(inserted == hashes.len() || count == capacity);
            hashes[..inserted].iter().for_each(|&hash| { model.entry(hash).or_default().insert(slot); });
            prop_assert_eq!(writer.remaining(), capacity - count);
        }
        let table = writer.table();
        for (&hash, slots) in &model {
            let found: BTreeSet<u16> = slots_of(table, hash).into_iter().collect();
            prop_assert!(found.is_superset(slots), "{hash:x}: {found:?} of {slots:?}");
            // What else is found has the same fingerprint: no entry is free, none has another fingerprint.
            let same_tag = model.iter().filter(|(other, _)| fingerprint(**other) == fingerprint(hash));
            let allowed: BTreeSet<u16> = same_tag.flat_map(|(_, slots)| slots).copied().collect();
            prop_assert!(found.is_subset(&allowed), "{hash:x}: {found:?} beyond {allowed:?}");
        }
        // A fingerprint that nobody has.
        prop_assert_eq!(slots_of(table, 7 << 16 | 9), Vec::<u16>::new());
    }
}

#[test]
fn a_bucket_is_a_line() {
    assert_eq!((size_of::<Bucket<AtomicU64>>(), align_of::<Bucket<AtomicU64>>()), (64, 64));
}

/// One id in more segments than all others have ids: all entries are found, and look-ups of other ids stay short.
#[test]
fn one_id_in_every_segment() {
    let mut writer: TableWriter = TableBuilder::new(20_000).finish();
    let others: Vec<u64> = (0..5_000_u64).map(|i| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1).collect();
    assert_eq!(writer.insert(&others, 1), others.len());
    let hot = 0x1234_5678_9abc_0000;
    writer.slots = 1;
    for _ in 0..13_000 {
        let slot = writer.new_slot().unwrap();
        assert_eq!(writer.insert(&[hot], slot), 1);
    }
    let table = writer.table();
    let found: BTreeSet<u16> = slots_of(table, hot).into_iter().filter(|&slot| slot > 1).collect();
    assert_eq!(found.len(), 13_000);
    for &hash in &others {
        assert!(slots_of(table, hash).contains(&1));
    }
}

#[test]
fn slots_come_to_an_end() {
    let mut writer: TableWriter = TableBuilder::new(1).finish();
    let slots: Vec<u16> = std::iter::from_fn(|| writer.new_slot()).collect();
    assert_eq!((slots.first(), slots.len(), slots.last()), (Some(&1), MAX_SLOTS, Some(&u16::MAX)));
    assert_eq!(writer.new_slot(), None);
}

#[test]
fn a_table_is_zeroed_in_steps() {
    let mut builder: TableBuilder = TableBuilder::new(10_000);
    let zeroed: usize =
        std::iter::from_fn(|| Some(builder.clear_buckets(100)).filter(|&zeroed| zeroed > 0)).sum();
    assert_eq!((zeroed, builder.capacity()), (839, 839 * MAX_LOAD));
    assert_eq!(builder.finish().table().bytes(), 839 * 64);
}
