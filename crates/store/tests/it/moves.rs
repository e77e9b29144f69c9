//! An engine's postings that follow documents by moves are those that are read from the columns, and so are those that it keeps in
//! side files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use docvalues_column::{DocAddress, DocId, DocRange, Field, Kind, LogicalType, SortKey};
use docvalues_search::Query;
use docvalues_store::{Durability, Error, PartId, Snapshot, Store, StoreOptions, StoreReader, StoreSchema};
use docvalues_testkit::faults::PowerLossDirectory;

use crate::fixture::{POLICY, add, id};
use crate::id_files::{Ids, check, side_files};
use crate::script::Random;

/// A place that lasts, and the document there.
type Place = (PartId, DocId);
type Postings = BTreeMap<Place, u32>;

/// Documents with an id, a rank by which they may be sorted, and a size.
fn schema(is_sorted: bool) -> StoreSchema {
    let number = |name| Field::new(name, Kind::Numeric, LogicalType::I64);
    let fields = [Field::new("id", Kind::Binary, LogicalType::Utf8), number("rank"), number("size")];
    let schema = StoreSchema::new().with_fields(fields).unwrap().with_id_field("id").unwrap();
    schema.with_sort(is_sorted.then(|| SortKey::of("rank"))).unwrap()
}

const LOG: Durability = Durability::EachBatch;
const NO_LOG: Durability = Durability::OnCommit;

fn options(durability: Durability) -> StoreOptions {
    StoreOptions::new().buffer_bytes(8_000).durability(durability)
}

fn store(is_sorted: bool, durability: Durability) -> (PowerLossDirectory, Store) {
    let (disk, options) = (PowerLossDirectory::new("/disk"), options(durability));
    let directory = Arc::new(disk.clone());
    let store = Store::create_in_with(directory, schema(is_sorted), options, Ids::new()).unwrap();
    (disk, store)
}

fn put(store: &Store, docs: std::ops::Range<u32>) {
    let mut batch = store.batch().unwrap();
    let [id_field, rank, size] = ["id", "rank", "size"].map(|name| batch.field(name).unwrap());
    for number in docs {
        let mut doc = batch.upsert();
        doc.str(id_field, &id(number)).unwrap().i64(rank, (number * 37 % 101).into()).unwrap();
        doc.i64(size, 1).unwrap();
        doc.finish().unwrap();
    }
    store.apply(batch).unwrap();
    store.refresh().unwrap();
}

/// Adds a segment.
fn put_segment(store: &Store, docs: std::ops::Range<u32>) {
    let mut segment = store.new_segment().unwrap();
    let [id_field, rank, size] = ["id", "rank", "size"].map(|name| segment.field(name).unwrap());
    for number in docs {
        let mut doc = segment.document();
        doc.str(id_field, &id(number)).unwrap().i64(rank, (number * 37 % 101).into()).unwrap();
        doc.i64(size, 1).unwrap();
        doc.finish().unwrap();
    }
    segment.finish().unwrap();
}

/// Updates those with a rank.
fn update_rank(store: &Store, rank: i64) {
    let mut batch = store.batch().unwrap();
    let size = batch.field("size").unwrap();
    let mut row = batch.update();
    row.i64(size, 3).unwrap();
    row.finish().unwrap();
    store.update_where(&Query::range("rank", rank..rank + 9), batch).unwrap();
}

/// Updates those that are there.
fn update(store: &Store, docs: std::ops::Range<u32>) {
    let mut batch = store.batch().unwrap();
    let [id_field, size] = ["id", "size"].map(|name| batch.field(name).unwrap());
    for number in docs {
        let mut row = batch.update();
        row.str(id_field, &id(number)).unwrap().i64(size, 2).unwrap();
        row.finish().unwrap();
    }
    store.apply(batch).unwrap();
    store.refresh().unwrap();
}

/// The number of a document, read from its column.
fn number(snapshot: &Snapshot, part: usize, doc: DocId) -> u32 {
    let ids = snapshot.parts().source(part).column("id").unwrap();
    let mut id = Vec::new();
    assert!(ids.values().bytes().unwrap().get(doc, &mut id).unwrap());
    std::str::from_utf8(&id).unwrap().strip_prefix("doc-").unwrap().parse().unwrap()
}

/// All live documents, read from the columns.
fn read(snapshot: &Snapshot) -> Postings {
    let mut found = Postings::new();
    for (part, part_id) in snapshot.part_ids().enumerate() {
        assert_eq!((snapshot.part_id(part), snapshot.part_of(part_id)), (Some(part_id), Some(part)));
        let live = snapshot.live(part).unwrap();
        assert_eq!(live.docs(), snapshot.parts().source(part).docs());
        for doc in (0..live.docs()).map(DocId::new).filter(|doc| live.contains(*doc)) {
            found.insert((part_id, doc), number(snapshot, part, doc));
        }
    }
    assert_eq!(found.len() as u64, snapshot.docs());
    found
}

fn address(snapshot: &Snapshot, (part, doc): Place) -> DocAddress {
    DocAddress { part: u32::try_from(snapshot.part_of(part).unwrap()).unwrap(), doc }
}

fn is_live(snapshot: &Snapshot, (part, doc): Place) -> bool {
    snapshot.live(snapshot.part_of(part).unwrap()).unwrap().contains(doc)
}

/// The postings of an older snapshot as those of `now`, and how many documents are new.
fn follow(postings: &Postings, older: &Snapshot, now: &Snapshot) -> (Postings, usize) {
    let mut went: BTreeMap<Place, Option<Place>> = BTreeMap::new();
    for run in now.moves_since(older).unwrap() {
        for (doc, after) in run.docs.iter().zip(0..) {
            let to = run.to.map(|(part, first)| (part, DocId::new(first.get() + after)));
            assert_eq!(went.insert((run.from, doc), to), None, "a document went to one place");
            assert_ne!(to, Some((run.from, doc)), "it stayed");
        }
    }
    let mut found = Postings::new();
    for (place, number) in postings {
        let to = went.get(place).copied().unwrap_or(Some(*place)).filter(|to| is_live(now, *to));
        let resolved = now.resolve(older, address(older, *place)).unwrap();
        assert_eq!(resolved, to.map(|to| address(now, to)), "{number}");
        found.extend(to.map(|to| (to, *number)));
    }
    // New ones are in no part of the older snapshot, and no run leads to them.
    let targets: BTreeSet<Place> = went.values().flatten().copied().collect();
    let mut new = 0;
    for (part, part_id) in now.part_ids().enumerate() {
        let known = older.part_of(part_id).map_or(0, |part| older.live(part).unwrap().docs());
        let live = now.live(part).unwrap();
        for doc in (known..live.docs()).map(DocId::new) {
            if live.contains(doc) && !targets.contains(&(part_id, doc)) {
                assert_eq!(found.insert((part_id, doc), number(now, part, doc)), None);
                new += 1;
            }
        }
    }
    (found, new)
}

/// The process ends, and the store is opened again. Postings of the last commit follow what the log has, unless a segment of them
/// is gone. Returns whether they could.
fn follows_reopening(disk: &PowerLossDirectory, durability: Durability) -> (Store, bool) {
    let directory = Arc::new(disk.clone());
    let reader = StoreReader::open_in(directory.clone(), StoreOptions::default().open).unwrap().snapshot();
    let store = Store::open_in_with(directory, options(durability), Ids::new()).unwrap();
    let now = store.snapshot();
    let follows = match now.moves_since(&reader) {
        Ok(_) => {
            assert_eq!(follow(&read(&reader), &reader, &now).0, read(&now));
            true
        }
        Err(Error::OtherSnapshot) => {
            assert!(reader.part_ids().any(|part| now.part_of(part).is_none()));
            false
        }
        Err(error) => panic!("{error}"),
    };
    (store, follows)
}

/// Returns the numbers of runs from snapshots of long before, of runs from the last one, and of openings that were followed.
fn run(seed: u64) -> [usize; 3] {
    let durability = if seed % 4 < 2 { NO_LOG } else { LOG };
    let (disk, mut store) = store(seed % 2 == 1, durability);
    let (mut random, mut counts) = (Random(seed), [0; 3]);
    let mut kept = vec![(store.snapshot(), Postings::new())];
    for step in 0..120 {
        let first = random.below(200);
        let docs = first..first + 1 + random.below(40);
        let choice = random.below(22);
        match choice {
            0..=3 => put(&store, docs),
            4 => drop(store.delete_ids(docs.step_by(3).map(id)).unwrap()),
            5..=8 => update(&store, docs),
            9 | 20 | 21 => drop(store.commit().unwrap()),
            10 => drop(store.merge(&POLICY).unwrap()),
            11 => store.merge_to(1 + random.below(3) as usize).unwrap(),
            12 if step > 60 => {
                store.alter([Field::new("size", Kind::SortedNumeric, LogicalType::I64)]).unwrap();
            }
            13 if random.below(3) == 0 => drop(store.purge().unwrap()),
            14 => {
                let snapshot = store.snapshot();
                let all: Vec<DocAddress> =
                    read(&snapshot).into_keys().map(|at| address(&snapshot, at)).collect();
                let some: Vec<DocAddress> = all.into_iter().step_by(7).collect();
                // The places of an older snapshot are those of the same documents.
                store.merge_to(1).unwrap();
                assert_eq!(store.delete(&snapshot, &some).unwrap(), some.len() as u64);
            }
            15 => put_segment(&store, docs),
            16 if !store.snapshot().parts().is_empty() => {
                let rank = i64::from(random.below(100));
                store.delete_where(&Query::range("rank", rank..rank + 4)).unwrap();
            }
            17 if !store.snapshot().parts().is_empty() => update_rank(&store, random.below(100).into()),
            18 => {
                drop(store);
                let (opened, follows) = follows_reopening(&disk, durability);
                store = opened;
                counts[2] += usize::from(follows);
                // An engine does not have them any more.
                kept.clear();
            }
            _ => drop(store.refresh().unwrap()),
        }
        let now = store.snapshot();
        let expected = read(&now);
        for (at, (older, postings)) in kept.iter().enumerate() {
            let (found, new) = follow(postings, older, &now);
            assert_eq!(found, expected, "{seed}: step {step}, {choice}");
            let is_last = at + 1 == kept.len();
            assert!(matches!(choice, 0..=3 | 15) || !is_last || new == 0, "{seed}: step {step}, {choice}");
            let moves = now.moves_since(older).unwrap();
            counts[usize::from(is_last)] += moves.count();
        }
        let segments = check(&now);
        if matches!(choice, 9 | 18 | 20 | 21) {
            assert_eq!(side_files(&disk), segments, "none orphaned, none missing");
        }
        if kept.len() > 4 {
            kept.remove(random.below(4) as usize);
        }
        kept.push((now, expected));
    }
    counts
}

#[test]
fn postings_follow_any_history() {
    let mut all = [0; 3];
    for seed in 0..crate::cases(16, 3_000) {
        let counts = run(seed);
        (0..3).for_each(|at| all[at] += counts[at]);
    }
    println!(
        "{all:?}: runs from snapshots of long before, and from the last one; openings that were followed"
    );
    assert!(all[0] > 1_000 && all[1] > 1_000 && all[2] > 20, "{all:?}");
}

#[test]
fn a_merge_is_a_run_for_each_segment() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), crate::fixture::schema(), StoreOptions::default()).unwrap();
    for segment in 0..13 {
        add(&store, &(0..100).map(|doc| (segment * 100 + doc, 0)).collect::<Vec<_>>()).unwrap();
    }
    let before = store.snapshot();
    assert_eq!(before.moves_since(&before).unwrap().count(), 0);
    store.merge_to(1).unwrap();
    let merged = store.snapshot();
    let [to] = merged.part_ids().collect::<Vec<_>>()[..] else { panic!("one segment") };
    let runs: Vec<_> = merged.moves_since(&before).unwrap().map(|run| (run.from, run.docs, run.to)).collect();
    let run = |(from, at): (PartId, u32)| (from, DocRange::new(0, 100), Some((to, DocId::new(at * 100))));
    assert_eq!(runs, before.part_ids().zip(0..).map(run).collect::<Vec<_>>());

    // A deleted document is in its part still, until this is merged.
    store.delete_ids([id(3)]).unwrap();
    let deleted = store.snapshot();
    assert_eq!(deleted.moves_since(&merged).unwrap().count(), 0);
    assert_eq!(deleted.resolve(&merged, DocAddress { part: 0, doc: DocId::new(3) }).unwrap(), None);
    store.merge_to(1).unwrap();
    let after = store.snapshot();
    let to = after.part_id(0).unwrap();
    let expected = |part: PartId| {
        let run = |start, end, to| (part, DocRange::new(start, end), to);
        [run(0, 3, Some((to, DocId::new(0)))), run(3, 4, None), run(4, 1_300, Some((to, DocId::new(3))))]
    };
    let runs = after.moves_since(&merged).unwrap().map(|run| (run.from, run.docs, run.to));
    assert_eq!(runs.collect::<Vec<_>>(), expected(merged.part_id(0).unwrap()));
    // By way of both merges.
    assert_eq!(after.moves_since(&before).unwrap().count(), 13 + 2);
}

#[test]
fn copies_of_the_buffer_are_no_documents() {
    let (_, store) = store(false, NO_LOG);
    put(&store, 0..3);
    let before = store.snapshot();
    update(&store, 1..2);
    store.delete_ids([id(0)]).unwrap();
    let now = store.snapshot();
    let part = now.part_id(0).unwrap();
    assert_eq!((before.part_id(0), part.segment()), (Some(part), None));
    assert_eq!((now.docs(), now.parts().source(0).docs(), now.live(0).unwrap().count()), (2, 4, 2));
    // A document that was deleted has no run, and a copied one has: so they are told apart.
    let runs: Vec<_> = now.moves_since(&before).unwrap().map(|run| (run.from, run.docs, run.to)).collect();
    assert_eq!(runs, [(part, DocRange::new(1, 2), Some((part, DocId::new(3))))]);
    assert!(now.live(1).is_none());
    assert_eq!(now.moves_since(&now).unwrap().count(), 0, "the copy was there before");

    // The older one was taken before the copy was made.
    update(&store, 1..2);
    assert_eq!(now.moves_since(&before).unwrap().map(|run| run.to).collect::<Vec<_>>(), [runs[0].2]);
    let Err(Error::Request(text)) = before.moves_since(&now) else { panic!("expected an error") };
    assert!(text.starts_with("expected an older snapshot, up to batch "), "{text}");
}

#[test]
fn ids_of_segments_last_and_those_of_blocks_end() {
    let (disk, store) = store(false, NO_LOG);
    put(&store, 0..3);
    store.commit().unwrap();
    put(&store, 3..6);
    let before = store.snapshot();
    let [segment, block] = before.part_ids().collect::<Vec<_>>()[..] else { panic!("two parts") };
    let number = before.segments().next().unwrap().number;
    assert_eq!(
        (segment, segment.segment(), block.segment()),
        (PartId::of_segment(number), Some(number), None)
    );
    drop(store);
    let options = StoreOptions::default();
    let reader = StoreReader::open_in(Arc::new(disk.clone()), options.open).unwrap().snapshot();
    assert_eq!(reader.part_ids().collect::<Vec<_>>(), [segment]);
    let store = Store::open_in_with(Arc::new(disk), options, Ids::new()).unwrap();
    put(&store, 6..9);
    put(&store, 9..12);
    let now = store.snapshot();
    assert_eq!(now.part_of(segment), Some(0));
    assert!(now.part_ids().all(|part| part != block));
    assert!(matches!(now.moves_since(&before), Err(Error::OtherSnapshot)), "what was in the buffer is lost");
    assert_eq!(now.moves_since(&reader).unwrap().count(), 0);
    let (_, other) = self::store(false, NO_LOG);
    assert!(matches!(now.moves_since(&other.snapshot()), Err(Error::OtherSnapshot)));
}
