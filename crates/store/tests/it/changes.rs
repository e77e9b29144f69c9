//! Changes: a store that is rebuilt from them equals the one that they came from, after any history.

use std::path::Path;

use docvalues_column::{Field, Kind, LogicalType, Value};
use docvalues_search::Query;
use docvalues_store::error::Result;
use docvalues_store::{
    Change, Changed, Changes, Durability, Error, Store, StoreOptions, StoreReader, Update,
};

use crate::fixture::{Contents, apply, contents, id, schema};
use crate::replicas::with_frames;

fn create(folder: &Path, options: StoreOptions) -> Store {
    Store::create(folder, schema(), options).unwrap()
}

/// Makes the changes to what a store contained. Returns the last batch.
fn follow(changes: &mut Changes, to: &mut Contents) -> Option<u64> {
    let mut last = None;
    for change in changes {
        let change = change.unwrap();
        assert!(last <= Some(change.sequence), "in order");
        last = Some(change.sequence);
        let id = String::from_utf8(change.id.unwrap()).unwrap();
        let number = id.strip_prefix("doc-").unwrap().parse().unwrap();
        let size = change.fields.iter().find(|change| change.field.name == "size");
        let size = size.map(|change| change.values[0].clone());
        match (change.changed, size) {
            (Changed::Upsert, Some(Value::I64(size))) => {
                to.insert(number, size);
            }
            (Changed::Update, Some(Value::I64(size))) => *to.get_mut(&number).unwrap() = size,
            (Changed::Delete, None) => {
                to.remove(&number);
            }
            other => panic!("{other:?}"),
        }
    }
    last
}

#[test]
fn a_store_is_rebuilt_from_a_snapshot_and_the_changes_since() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = create(folder.path(), with_frames(1 << 30));
    let mut rebuilt = Contents::new();
    let (mut at, mut random) = (0, 7_u64);
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((random >> 33) % below).unwrap()
    };
    for _ in 0..crate::cases(60, 2_000) {
        for _ in 0..next(4) {
            let operation = |next: &mut dyn FnMut(u64) -> u32| {
                (next(20), (next(4) > 0).then(|| i64::from(next(1_000)) - 500))
            };
            let operations: Vec<_> = (0..=next(5)).map(|_| operation(&mut next)).collect();
            apply(&store, &operations).unwrap();
        }
        match next(6) {
            0 => {
                store.commit().unwrap();
            }
            1 => store.merge_to(1).unwrap(),
            2 => {
                drop(store);
                store = Store::open(folder.path(), with_frames(1 << 30)).unwrap();
            }
            _ => {}
        }
        store.refresh().unwrap();
        let snapshot = store.snapshot();
        let mut changes = store.changes(at).unwrap();
        follow(&mut changes, &mut rebuilt);
        assert_eq!(rebuilt, contents(&snapshot));
        // From the beginning, and beside a reader that follows.
        let mut again = Contents::new();
        follow(&mut store.changes(0).unwrap(), &mut again);
        assert_eq!(again, rebuilt);
        apply(&store, &[(3, Some(9))]).unwrap();
        at = follow(&mut changes, &mut rebuilt).unwrap();
        assert_eq!(at, store.position().sequence);
    }
}

/// A reader of changes computes the numbers that the update computed.
#[test]
fn computed_numbers_follow_from_those_before() {
    let folder = tempfile::tempdir().unwrap();
    let store = create(folder.path(), with_frames(1 << 30));
    apply(&store, &[(1, Some(7))]).unwrap();
    let mut changes = store.changes(store.position().sequence).unwrap();
    let mut batch = store.batch().unwrap();
    let [id_field, size] = ["id", "size"].map(|name| batch.field(name).unwrap());
    let saturating = Update::new().multiply(size, -1e300).saturating();
    for update in [Update::new().add(size, -9), Update::new().multiply(size, 3.0), saturating] {
        let mut row = batch.update_with(&update);
        row.str(id_field, &id(1)).unwrap();
        row.finish().unwrap();
    }
    store.apply(batch).unwrap();
    let mut now = Some(Value::I64(7));
    for expected in [-2, -6, i64::MAX] {
        let change = changes.next().unwrap().unwrap();
        let size = change.fields.iter().find(|change| change.field.name == "size").unwrap();
        let Change::Compute(how) = size.change else { panic!("{size:?}") };
        assert!(size.values.is_empty());
        now = how.after(now.as_ref(), size.field.logical);
        assert_eq!(now, Some(Value::I64(expected)));
    }
    store.refresh().unwrap();
    assert_eq!(contents(&store.snapshot()), Contents::from([(1, i64::MAX)]));
}

#[test]
fn changes_that_the_log_does_not_hold_are_too_old() {
    let folder = tempfile::tempdir().unwrap();
    let store = create(folder.path(), with_frames(1 << 30));
    apply(&store, &[(1, Some(1)), (2, Some(2))]).unwrap();
    let mut following = store.changes(0).unwrap();
    assert_eq!(following.by_ref().count(), 3, "a write, an update, and a write");
    assert_eq!(store.delete_where(&Query::eq("size", 2)).unwrap(), 1);
    let deleted = store.position().sequence;
    for error in [following.next().unwrap().unwrap_err(), store.changes(0).unwrap_err()] {
        let Error::TooOld { first, .. } = error else { panic!("{error}") };
        assert_eq!(first, deleted + 1);
    }
    assert!(following.next().is_none());
    // A scan of a snapshot, and what comes after it.
    let snapshot = store.snapshot();
    let (mut rebuilt, mut changes) = (contents(&snapshot), store.changes(snapshot.sequence()).unwrap());
    apply(&store, &[(1, None), (5, Some(5))]).unwrap();
    follow(&mut changes, &mut rebuilt);
    store.refresh().unwrap();
    assert_eq!(rebuilt, contents(&store.snapshot()));
    assert!(matches!(store.changes(1_000), Err(Error::Diverged { .. })));
}

/// A reader of the files begins with the fields of the newest commit, which the log may have changed since.
#[test]
fn another_process_sees_the_same_changes() {
    let folder = tempfile::tempdir().unwrap();
    let store = create(folder.path(), with_frames(1 << 30));
    apply(&store, &[(1, Some(1)), (3, Some(3))]).unwrap();
    store.commit().unwrap();
    let price = Field::new("price", Kind::Numeric, LogicalType::F64);
    for number in [6, 9] {
        store.set_fields([price.clone()]).unwrap();
        let mut batch = store.batch().unwrap();
        let [id_field, price] = ["id", "price"].map(|name| batch.field(name).unwrap());
        let mut doc = batch.upsert();
        doc.str(id_field, &id(number)).unwrap().f64(price, 0.5).unwrap();
        doc.finish().unwrap();
        store.apply(batch).unwrap();
    }
    let last = store.position().sequence;
    for from in 0..=last {
        let all = |changes: Changes| changes.collect::<Result<Vec<_>>>().unwrap();
        let (of_store, of_reader) =
            (store.changes(from).unwrap(), StoreReader::changes(folder.path(), from).unwrap());
        assert_eq!(all(of_reader), all(of_store), "{from}");
    }
    let ahead = StoreReader::changes(folder.path(), last + 1);
    assert!(matches!(ahead, Err(Error::Diverged { .. })), "{ahead:?}");
    store.commit().unwrap();
    assert_eq!(StoreReader::changes(folder.path(), last - 1).unwrap().count(), 1);
}

#[test]
fn removed_frames_are_too_old() {
    let folder = tempfile::tempdir().unwrap();
    let store = create(folder.path(), with_frames(1));
    for number in 0..4 {
        apply(&store, &[(number, Some(1))]).unwrap();
        store.commit().unwrap();
    }
    let error = store.changes(0).unwrap_err();
    assert!(matches!(error, Error::TooOld { after: 0, first, .. } if first > 1), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let without = create(folder.path(), StoreOptions::default());
    assert!(matches!(without.changes(0), Err(Error::NoFrames { first: None, .. })));
}

/// Frames are written over zeros that were in the file when it was opened, and mapped.
#[test]
fn a_frame_at_the_end_of_a_mapped_log_is_read_after_it_was_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = create(folder.path(), StoreOptions::new().durability(Durability::EachBatch));
    let mut frames = store.frames(0).unwrap();
    let docs: Vec<_> = (0..20).map(|number| (number, Some(1))).collect();
    let log = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let log =
        log.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("log-")).max().unwrap();
    let is_near_the_end = || {
        let bytes = std::fs::read(&log).unwrap();
        let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
        let rest = bytes.len() - end;
        bytes.len() > 1 << 16 && (1_500..4_000).contains(&rest)
    };
    let mut batches = 0;
    while batches < 16 || !is_near_the_end() {
        apply(&store, &docs).unwrap();
        batches += 1;
        assert!(frames.next_frame().unwrap().is_some() && batches < 2_000);
    }
    assert!(frames.next_frame().unwrap().is_none());
    apply(&store, &docs).unwrap();
    store.commit().unwrap();
    assert!(!log.exists());
    assert_eq!(frames.next_frame().unwrap().map(|frame| frame.sequence), Some(batches + 1));
}

#[test]
fn a_damaged_frame_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = create(folder.path(), with_frames(1 << 30));
    apply(&store, &[(2, Some(2))]).unwrap();
    apply(&store, &[(3, Some(3))]).unwrap();
    // The next log says that this one was whole.
    let log = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let log =
        log.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("log-")).max().unwrap();
    store.commit().unwrap();
    let mut bytes = std::fs::read(&log).unwrap();
    let text = id(2);
    let place = bytes.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
    bytes[place] ^= 1;
    std::fs::write(&log, bytes).unwrap();
    let error = store.changes(0).unwrap_err();
    let Error::Damaged { file, what } = error else { panic!("{error}") };
    assert_eq!(Path::new(&file), log);
    assert!(what.contains("offset "), "{what}");
}
