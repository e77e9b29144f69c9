//! Model checking: all interleavings of a writer and a reader, and all values that relaxed loads may see.

use loom::sync::atomic::{AtomicU64, Ordering};
use loom::sync::{Arc, RwLock};
use loom::thread;

use super::super::{ENTRIES, FingerprintTable, TableBuilder, TableWriter, Word};

impl Word for AtomicU64 {
    fn zero() -> AtomicU64 {
        AtomicU64::new(0)
    }

    fn get(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }

    fn set(&self, bits: u64) {
        self.store(bits, Ordering::Relaxed);
    }
}

/// All in one bucket, and then in the next one: the same home and stride, other fingerprints.
const IDS: [u64; 3] = [0x11, 0x12, 0x13];

fn holds(table: &FingerprintTable<AtomicU64>, hash: u64, published: u16) -> Vec<u16> {
    let mut slots = Vec::new();
    table.candidates(hash, |slot| slots.push(slot));
    // What a reader does with slots that its map does not hold, 0 among them.
    slots.retain(|slot| (1..=published).contains(slot));
    slots
}

/// A bucket with one free entry. Two segments of one id each are added while a reader twice takes the published
/// slots and searches for their ids.
fn model(publish_too_early: bool) {
    loom::model(move || {
        let mut writer: TableWriter<AtomicU64> = TableBuilder::new(1).finish();
        let slot = writer.new_slot().unwrap();
        let mut before = [0x7777; ENTRIES - 1];
        before[3] = IDS[0];
        assert_eq!(writer.insert(&before, slot), before.len());
        let table = std::sync::Arc::clone(writer.table());
        let published = Arc::new(RwLock::new(slot));

        let writer = {
            let published = Arc::clone(&published);
            thread::spawn(move || {
                for id in &IDS[1..] {
                    let slot = writer.new_slot().unwrap();
                    if publish_too_early {
                        *published.write().unwrap() = slot;
                    }
                    assert_eq!(writer.insert(&[*id], slot), 1);
                    *published.write().unwrap() = slot;
                }
            })
        };
        let segments = *published.read().unwrap();
        for (id, slot) in IDS.iter().zip(1..) {
            let expected = if slot <= segments { vec![slot] } else { vec![] };
            assert_eq!(holds(&table, *id, segments), expected, "id {id:x} of {segments} segments");
        }
        writer.join().unwrap();
        for (id, slot) in IDS.iter().zip(1..) {
            assert_eq!(holds(&table, *id, 3), [slot]);
            assert_eq!(holds(&table, *id, slot - 1), [0; 0], "a reader of before");
        }
    });
}

#[test]
fn readers_miss_nothing_that_was_published() {
    model(false);
}

/// Checks the checker: publishing too early must fail.
#[test]
#[should_panic(expected = "of 3 segments")]
fn readers_miss_what_was_published_too_early() {
    model(true);
}
