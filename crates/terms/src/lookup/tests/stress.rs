//! One writer that adds, merges and has tables grow, and readers that must not miss anything.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::expected;
use super::segment::{Ids, id};
use crate::lookup::{IdLookup, IdStore};

const READERS: u32 = 3;
const ROUNDS: u32 = 400;

/// Numbers that look random, the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(self.0 >> 33).unwrap() % end
    }
}

/// Ids of its segments, most of which are in several, and some that are nowhere.
fn read(lookup: &IdLookup<Ids>, random: &mut Random) {
    let mut asked: Vec<&[u8]> = Vec::new();
    for (_, ids) in lookup.segments() {
        let len = u32::try_from(ids.model.len()).unwrap();
        asked.extend(ids.model.keys().skip(random.below(len + 1) as usize).take(3).map(Vec::as_slice));
    }
    let absent: Vec<Vec<u8>> = (0..20).map(|_| id(1_000_000 + random.below(1_000), 0)).collect();
    asked.extend(absent.iter().map(Vec::as_slice));
    let mut seeker = lookup.seeker();
    let mut hits = Vec::new();
    seeker.find_many(&asked, &mut hits).unwrap();
    for (id, hit) in asked.iter().zip(hits) {
        assert_eq!(hit, expected(lookup, id, |_, _| true));
        assert_eq!(seeker.find(id).unwrap(), hit);
    }
}

fn write(store: &IdStore<Ids>, random: &mut Random) {
    for round in 0..ROUNDS {
        let first = round * 40;
        let ids = (first..first + 50).map(|number| id(number, u8::try_from(round % 3).unwrap()));
        store.add(Arc::new(Ids::of(ids, 1))).unwrap();
        let lookup = store.snapshot();
        if lookup.len() > 12 {
            let start = random.below(9) as usize;
            let parts: Vec<_> = lookup.segments().skip(start).take(2 + random.below(3) as usize).collect();
            let names: Vec<_> = parts.iter().map(|(name, _)| *name).collect();
            let ids = parts.iter().flat_map(|(_, part)| part.model.keys().cloned());
            store.replace(&names, Arc::new(Ids::of(ids, 1))).unwrap();
        }
        if random.below(40) == 0 {
            let last = lookup.segments().last().unwrap().0;
            // It may have been merged just now.
            let _ = store.remove(&[last]);
        }
        store.maintain(random.below(60) as usize).unwrap();
    }
}

#[test]
fn readers_beside_a_writer() {
    let store = IdStore::with_seed(5);
    let (done, reads) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for reader in 0..READERS {
            let (store, done, reads) = (&store, &done, &reads);
            scope.spawn(move || {
                let mut random = Random(reader.into());
                let mut held = store.snapshot();
                while !done.load(Ordering::Relaxed) {
                    read(&store.snapshot(), &mut random);
                    read(&held, &mut random);
                    if random.below(5) == 0 {
                        held = store.snapshot();
                    }
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        write(&store, &mut Random(99));
        done.store(true, Ordering::Relaxed);
    });
    assert!(reads.into_inner() > 0);
    read(&store.snapshot(), &mut Random(7));
}
