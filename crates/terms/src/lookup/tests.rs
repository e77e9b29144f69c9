//! Compares look-ups with maps.

mod changes;
mod mapped_files;
mod segment;
mod stress;

use std::collections::BTreeMap;
use std::sync::Arc;

use docvalues_format::error::{Error, Section};
use docvalues_format::id::DocId;
use docvalues_format::source::{Owned, SectionBytes as _};

use super::{Hit, IdLookup, IdStore, IdStoreError, Upkeep};
use crate::build::{IdOptions, IdsBuilder};
use crate::ids::Form;
use crate::read::IdsReader;
use segment::{Ids, id};

fn seeds() -> [u64; 2] {
    [7, 8]
}

fn segment(numbers: impl IntoIterator<Item = u32>, kind: u8) -> Arc<Ids> {
    Arc::new(Ids::new(numbers.into_iter().map(|number| (id(number, kind), number)).collect(), seeds()[0]))
}

/// What `find_live` is to say.
fn expected(lookup: &IdLookup<Ids>, id: &[u8], live: impl Fn(usize, DocId) -> bool) -> Option<Hit> {
    let in_segment = |(place, (_, ids)): (usize, (_, &Arc<Ids>))| {
        let doc = ids.model.get(id).map(|&doc| DocId::new(doc))?;
        live(place, doc).then_some(Hit { segment: place, doc })
    };
    lookup.segments().enumerate().find_map(in_segment)
}

/// Compares all answers for `ids`, with a fingerprint table and without, one by one and in bulks.
fn check(lookup: &IdLookup<Ids>, ids: &[Vec<u8>], live: impl Fn(usize, DocId) -> bool) {
    let files = IdLookup::new(lookup.segments().map(|(_, segment)| Arc::clone(segment)));
    let ids: Vec<&[u8]> = ids.iter().map(Vec::as_slice).collect();
    for lookup in [lookup, &files] {
        let mut seeker = lookup.seeker();
        let mut bulk = vec![None; 3];
        seeker.find_many_live(&ids, &mut bulk, &live).unwrap();
        assert_eq!(bulk.len(), ids.len());
        for (id, hit) in ids.iter().zip(&bulk) {
            let right = expected(lookup, id, &live);
            let what = (id.escape_ascii().to_string(), lookup.has_fingerprints());
            assert_eq!(seeker.find_live(id, &live).unwrap(), right, "{what:?}");
            assert_eq!(*hit, right, "in a bulk: {what:?}");
            assert_eq!(seeker.find(id).unwrap(), expected(lookup, id, |_, _| true), "{what:?}");
        }
        seeker.find_many(&ids, &mut bulk).unwrap();
        let right: Vec<Option<Hit>> = ids.iter().map(|id| expected(lookup, id, |_, _| true)).collect();
        assert_eq!(bulk, right);
    }
}

#[test]
fn the_newest_live_document_wins() {
    let store = IdStore::with_seed(1);
    let old =
        store.add(Arc::new(Ids::new(BTreeMap::from([(b"a".to_vec(), 5), (b"b".to_vec(), 6)]), 0))).unwrap();
    let new =
        store.add(Arc::new(Ids::new(BTreeMap::from([(b"a".to_vec(), 1), (b"c".to_vec(), 2)]), 0))).unwrap();
    let lookup = store.snapshot();
    assert_eq!([lookup.segment(0).unwrap().0, lookup.segment(1).unwrap().0], [new, old]);
    let mut seeker = lookup.seeker();
    let hit = |segment, doc| Some(Hit { segment, doc: DocId::new(doc) });
    assert_eq!(seeker.find(b"a").unwrap(), hit(0, 1));
    assert_eq!(seeker.find(b"b").unwrap(), hit(1, 6));
    assert_eq!(seeker.find(b"d").unwrap(), None);
    assert_eq!(seeker.find_live(b"a", |place, doc| (place, doc) != (0, DocId::new(1))).unwrap(), hit(1, 5));
    assert_eq!(seeker.find_live(b"a", |_, _| false).unwrap(), None);
}

#[test]
fn no_segments() {
    let store: IdStore<Ids> = IdStore::new();
    check(&store.snapshot(), &[vec![], b"a".to_vec()], |_, _| true);
    store.add(segment([], 0)).unwrap();
    check(&store.snapshot(), &[vec![], b"a".to_vec()], |_, _| true);
    assert_eq!(store.maintain(1), Ok(Upkeep::Done));
    assert_eq!(store.replace(&[], segment([1], 0)), Err(IdStoreError::ForeignIds { merged: 1, parts: 0 }));
}

#[test]
fn refused_changes_change_nothing() {
    let store = IdStore::with_seed(1);
    let one = store.add(segment(0..10, 0)).unwrap();
    let two = store.add(segment(10..20, 1)).unwrap();
    store.remove(&[one]).unwrap();
    assert_eq!(store.remove(&[two, one]), Err(IdStoreError::UnknownSegment(one)));
    assert_eq!(store.replace(&[two, two], segment(10..20, 1)), Err(IdStoreError::UnknownSegment(two)));
    let larger = IdStoreError::ForeignIds { merged: 11, parts: 10 };
    assert_eq!(store.replace(&[two], segment(10..21, 1)), Err(larger));
    assert_eq!(store.snapshot().len(), 1);
    let ids: Vec<Vec<u8>> = (0..30).flat_map(|number| (0..2).map(move |kind| id(number, kind))).collect();
    check(&store.snapshot(), &ids, |_, _| true);
}

/// An addition takes the free entries during a move.
#[test]
fn room_that_is_taken_during_a_move() {
    let store = IdStore::with_seed(1);
    store.add(segment(0..1_000, 0)).unwrap();
    // The table is full, but for some entries; then it is followed by another.
    let mut next = 1_000;
    let tables = |store: &IdStore<Ids>| store.snapshot().fingerprints.as_ref().unwrap().tables.len();
    let mut small = Vec::new();
    while tables(&store) < 2 {
        small.push(store.add(segment(next..next + 20, 0)).unwrap());
        next += 20;
    }
    // With nothing else to move, which would need another table and mend everything.
    store.remove(&small).unwrap();
    let remaining = {
        let writer = store.writer();
        writer.generations.remaining()
    };
    store.add(segment(next..next + u32::try_from(remaining).unwrap(), 0)).unwrap();
    let ids: Vec<Vec<u8>> = (0..next + 3_000).map(|number| id(number, 0)).collect();
    check(&store.snapshot(), &ids, |_, _| true);
    while store.maintain(100).unwrap() == Upkeep::More {}
    assert_eq!(tables(&store), 1);
    check(&store.snapshot(), &ids, |_, _| true);
}

/// A reader's set stays what it was, whatever happens to the store, and after it has gone.
#[test]
fn a_reader_keeps_its_segments() {
    let store = IdStore::with_seed(1);
    let one = store.add(segment(0..100, 0)).unwrap();
    let before = store.snapshot();
    let two = store.add(segment(50..150, 0)).unwrap();
    let between = store.snapshot();
    store.replace(&[one, two], segment(0..150, 0)).unwrap();
    for more in 0..40 {
        store.add(segment(more * 100..more * 100 + 100, 0)).unwrap();
    }
    while store.maintain(50).unwrap() == Upkeep::More {}
    let after = store.snapshot();
    drop(store);
    let ids: Vec<Vec<u8>> = (0..4_100).map(|number| id(number, 0)).collect();
    for lookup in [before, between, after] {
        check(&lookup, &ids, |_, _| true);
    }
}

#[test]
fn a_damaged_segment_is_refused_and_others_are_not() {
    let store = IdStore::with_seed(1);
    store.add(segment(0..100, 0)).unwrap();
    let damaged = segment(0..900, 0);
    // After the ids that are hashed first.
    damaged.keys().damage_from(damaged.keys().len() / 4 * 3);
    assert!(matches!(store.add(Arc::clone(&damaged)), Err(IdStoreError::Bytes(_))));
    assert!(store.add_all(&[segment(0..50, 1), damaged]).is_err());
    assert_eq!(store.snapshot().len(), 1);
    // One that is damaged later on, and has to be moved.
    let later = Arc::new(Ids::new((0..900).map(|number| (id(number, 2), number)).collect(), 7));
    store.add(Arc::clone(&later)).unwrap();
    later.keys().damage_from(0);
    for more in 0..40 {
        store.add(segment(more * 100..more * 100 + 100, 0)).unwrap();
        let _ = store.maintain(100);
    }
    later.keys().damage_from(usize::MAX);
    let lookup = store.snapshot();
    let ids: Vec<Vec<u8>> = (0..4_100).flat_map(|number| [id(number, 0), id(number, 2)]).collect();
    check(&lookup, &ids, |_, _| true);
    assert!(lookup.fingerprints.as_ref().unwrap().tables.len() <= 5);
}

#[test]
fn ids_that_ascend_need_few_filters() {
    // Of 12 ids nothing is checked, so that each test of a filter reads its section.
    let segments: Vec<_> = (0..100).rev().map(|i| segment(i * 12..i * 12 + 12, 1)).collect();
    let lookup = IdLookup::new(segments.iter().cloned());
    let mut seeker = lookup.seeker();
    assert_eq!(seeker.find(&id(2_000, 1)).unwrap(), None);
    assert_eq!(seeker.find(&id(555, 1)).unwrap(), Some(Hit { segment: 53, doc: DocId::new(555) }));
    let asked: usize = segments.iter().map(|segment| segment.asked()).sum();
    assert!((1..=20).contains(&asked), "{asked} reads of filters");
}

#[test]
fn too_many_segments() {
    let store = IdStore::with_seed(1);
    let many: Vec<Arc<Ids>> = vec![segment([1], 0); super::MAX_SEGMENTS];
    store.add_all(&many).unwrap();
    assert_eq!(store.add(segment([2], 0)), Err(IdStoreError::TooManySegments));
    assert_eq!(store.add_all(&many), Err(IdStoreError::TooManySegments));
    let lookup = store.snapshot();
    assert_eq!(lookup.seeker().find(&id(1, 0)).unwrap().map(|hit| hit.segment), Some(0));
    let ids: Vec<_> = lookup.segments().map(|(id, _)| id).collect();
    store.replace(&ids[1..], segment([1], 0)).unwrap();
    while store.maintain(1_000).unwrap() == Upkeep::More {}
    let lookup = store.snapshot();
    assert_eq!(
        lookup.seeker().find_live(&id(1, 0), |place, _| place == 1).unwrap().map(|hit| hit.segment),
        Some(1)
    );
    assert!(lookup.fingerprint_bytes() < 10_000, "{}", lookup.fingerprint_bytes());
}

/// Segments as they are in files, of every form.
#[test]
fn segments_of_every_form() {
    let store = IdStore::with_seed(9);
    let mut models = Vec::new();
    for (form, kind) in Form::ALL.into_iter().flat_map(|form| (0..5).map(move |kind| (form, kind))) {
        let first = u32::from(kind) * 150;
        let ids: BTreeMap<Vec<u8>, DocId> =
            (first..first + 400).map(|number| (id(number, kind), DocId::new(number % 400))).collect();
        let sorted: Vec<(Vec<u8>, DocId)> = ids.iter().map(|(id, &doc)| (id.clone(), doc)).collect();
        let options = IdOptions { form, seed: u64::from(kind) % 2, ..IdOptions::default() };
        let made = IdsBuilder::new(options).in_column(true).build(&sorted[..], 400).unwrap();
        if form == Form::Column && kind > 2 {
            assert_eq!(made.meta.form, form);
        }
        let opened = made.try_map::<_, Error>(&mut |section, bytes| Ok(Owned::new(section, bytes))).unwrap();
        let reader = if opened.meta.form == Form::Column {
            let mut values: Vec<(DocId, &[u8])> = sorted.iter().map(|(id, doc)| (*doc, &id[..])).collect();
            values.sort_unstable();
            let values = values.into_iter().flat_map(|(_, id)| id).copied().collect();
            IdsReader::open_in(opened, Owned::new(Section::Bytes, values))
        } else {
            IdsReader::open(opened)
        };
        store.add(Arc::new(reader.unwrap())).unwrap();
        models.insert(0, ids);
    }
    while store.maintain(1_000).unwrap() == Upkeep::More {}
    let table = store.snapshot();
    let files = IdLookup::new(table.segments().map(|(_, segment)| Arc::clone(segment)));
    let asked: Vec<Vec<u8>> =
        (0..1_500).flat_map(|number| (0..5).map(move |kind| id(number, kind))).collect();
    let asked: Vec<&[u8]> = asked.iter().map(Vec::as_slice).collect();
    let right = |id: &&[u8]| {
        let mut hits = models.iter().enumerate();
        hits.find_map(|(segment, model)| model.get(*id).map(|&doc| Hit { segment, doc }))
    };
    let right: Vec<Option<Hit>> = asked.iter().map(right).collect();
    for lookup in [&*table, &files] {
        let (mut seeker, mut hits) = (lookup.seeker(), Vec::new());
        for (asked, right) in asked.chunks(33).zip(right.chunks(33)) {
            seeker.find_many(asked, &mut hits).unwrap();
            assert_eq!(hits, right);
            let singles: Vec<Option<Hit>> = asked.iter().map(|id| seeker.find(id).unwrap()).collect();
            assert_eq!(singles, right);
        }
    }
}

/// Bounds are cut off before the bytes that differ.
#[test]
fn long_ids_that_begin_alike() {
    let store = IdStore::with_seed(9);
    let long = |number: u32| [&[b'a'; 30][..], format!("{number:05}/").as_bytes()].concat();
    for first in (0..2_000).step_by(50) {
        let ids: Vec<(Vec<u8>, DocId)> =
            (first..first + 50).map(|number| (long(number), DocId::new(number - first))).collect();
        let options = IdOptions { seed: 3, ..IdOptions::default() };
        let made = IdsBuilder::new(options).build(&ids[..], 50).unwrap();
        let opened = made.try_map::<_, Error>(&mut |section, bytes| Ok(Owned::new(section, bytes))).unwrap();
        store.add(Arc::new(IdsReader::open(opened).unwrap())).unwrap();
    }
    let files = IdLookup::new(store.snapshot().segments().map(|(_, segment)| Arc::clone(segment)));
    let mut seeker = files.seeker();
    for number in 0..2_100 {
        let place = 39_u32.checked_sub(number / 50).map(|place| place as usize);
        let right = place.map(|segment| Hit { segment, doc: DocId::new(number % 50) });
        assert_eq!(seeker.find(&long(number)).unwrap(), right, "{number}");
    }
}
