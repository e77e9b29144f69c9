//! [`Store::alter`]: columns that become wider, in segments, updates, the buffer, the log and replicas.

use std::sync::Arc;

use docvalues_column::{Field, Kind, LogicalType};
use docvalues_reader::OpenOptions;
use docvalues_search::Query;
use docvalues_storage::{Directory, FsDirectory};
use docvalues_store::{
    Durability, Error, Feed, KeepCommits, Position, Replica, Snapshot, Store, StoreOptions, StoreReader,
    StoreSchema, Update,
};
use docvalues_testkit::faults::PowerLossDirectory;

use crate::fixture::{dying, id};
use crate::replicas::pump;

fn field(name: &str, kind: Kind, logical: LogicalType) -> Field {
    Field::new(name, kind, logical)
}

fn schema() -> StoreSchema {
    let fields = [
        field("id", Kind::Binary, LogicalType::Utf8),
        field("price", Kind::Numeric, LogicalType::I64),
        field("tag", Kind::Sorted, LogicalType::Utf8),
        field("big", Kind::Numeric, LogicalType::U64),
    ];
    StoreSchema::new().with_fields(fields).unwrap().with_id_field("id").unwrap()
}

/// Puts documents with these prices; every fourth has none.
fn put(store: &Store, numbers: std::ops::Range<u32>) {
    let mut batch = store.batch().unwrap();
    let [id_field, price, tag, big] = ["id", "price", "tag", "big"].map(|name| batch.field(name).unwrap());
    let logical = store.snapshot().schema().field("price").unwrap().logical;
    for number in numbers {
        let mut doc = batch.upsert();
        doc.str(id_field, &id(number)).unwrap().str(tag, &format!("t{}", number % 3)).unwrap();
        doc.u64(big, number.into()).unwrap();
        match logical {
            _ if number % 4 == 3 => {}
            LogicalType::F64 => drop(doc.f64(price, f64::from(number)).unwrap()),
            _ => drop(doc.i64(price, number.into()).unwrap()),
        }
        doc.finish().unwrap();
    }
    store.apply(batch).unwrap();
}

fn set(store: &Store, number: u32, value: i64) {
    let mut batch = store.batch().unwrap();
    let [id_field, price] = ["id", "price"].map(|name| batch.field(name).unwrap());
    let mut doc = batch.update();
    doc.str(id_field, &id(number)).unwrap().i64(price, value).unwrap();
    doc.finish().unwrap();
    store.apply(batch).unwrap();
}

/// The ids, and their prices as text.
fn prices(snapshot: &Snapshot) -> Vec<(String, Vec<f64>)> {
    let search = snapshot.search();
    let mut found = Vec::new();
    let logical = snapshot.schema().field("price").unwrap().logical;
    let docs: Vec<_> = search.filter(&Query::exists("id")).unwrap().iter().collect();
    let mut retriever = search.retriever(&["id", "price"]).unwrap();
    let chunk = retriever.retrieve(&docs).unwrap();
    let number = |stored: i64| match logical {
        LogicalType::F64 => docvalues_format::file::kind::to_f64(stored),
        _ => {
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let number = stored as f64;
            number
        }
    };
    for row in 0..docs.len() {
        use docvalues_search::export::Cell;
        let Cell::Bytes(id) = chunk.column(0).get(row) else { panic!("a document without an id") };
        let prices = match chunk.column(1).get(row) {
            Cell::Missing => Vec::new(),
            Cell::Number(stored) => vec![number(stored)],
            Cell::Numbers(all) => all.iter().map(|stored| number(*stored)).collect(),
            _ => panic!("numbers"),
        };
        found.push((String::from_utf8(id.to_vec()).unwrap(), prices));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

fn wider() -> [Field; 3] {
    [
        field("price", Kind::SortedNumeric, LogicalType::F64),
        field("tag", Kind::SortedSet, LogicalType::Utf8),
        field("big", Kind::Numeric, LogicalType::F64),
    ]
}

/// A store whose documents are in two segments, one with updates and deletions that are in deltas and in memory, and in the
/// buffer.
fn filled(directory: Arc<dyn Directory>, options: StoreOptions) -> Store {
    let store = Store::create_in(directory, schema(), options).unwrap();
    put(&store, 0..40);
    store.commit().unwrap();
    put(&store, 40..60);
    set(&store, 1, -7);
    store.commit().unwrap();
    set(&store, 2, 1 << 53);
    store.delete_ids([id(4).as_bytes(), id(41).as_bytes()]).unwrap();
    put(&store, 60..70);
    set(&store, 61, 99);
    store.refresh().unwrap();
    store
}

#[test]
fn all_values_stay_the_same() {
    for durability in [Durability::OnCommit, Durability::EachBatch] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::create_dir(&path).unwrap();
        let keep_commits = Some(KeepCommits::Newest(9));
        let options = StoreOptions::new().durability(durability).keep_commits(keep_commits);
        let store = filled(Arc::new(FsDirectory::new(&path)), options);
        let (before, commit) = (store.snapshot(), store.snapshot().commit());
        let expected = prices(&before);
        let mut reader = StoreReader::open(&path, OpenOptions::new()).unwrap();
        let old = store.batch().unwrap();
        store.alter(wider()).unwrap();
        // In this writer, in the snapshot of before, in readers, in another writer, and in the commit of before.
        let now = store.snapshot();
        assert_eq!(prices(&now), expected);
        assert_eq!(now.schema().field("price").unwrap().kind, Kind::SortedNumeric);
        assert_eq!(prices(&before), expected);
        assert_eq!(
            now.search().count(&Query::eq("tag", "t1")).unwrap(),
            before.search().count(&Query::eq("tag", "t1")).unwrap()
        );
        assert!(reader.reopen().unwrap());
        assert_eq!(prices(&reader.snapshot()), expected);
        let older = StoreReader::open_commit(&path, commit, OpenOptions::new()).unwrap().snapshot();
        assert_eq!(older.schema().field("price").unwrap().logical, LogicalType::I64);
        assert!(older.docs() > 50);
        // A batch that was begun before is refused, and others have decimals, several of them.
        let refused = store.apply(old).unwrap_err();
        assert!(refused.to_string().contains("found one with other fields"), "{refused}");
        let mut batch = store.batch().unwrap();
        let [id_field, price] = ["id", "price"].map(|name| batch.field(name).unwrap());
        let mut doc = batch.update_with(&Update::new().add_to(price));
        doc.str(id_field, &id(2)).unwrap().f64(price, 9.99).unwrap();
        doc.finish().unwrap();
        store.apply(batch).unwrap();
        put_wide(&store, 70);
        store.refresh().unwrap();
        let expected = prices(&store.snapshot());
        assert!(expected.iter().any(|(_, prices)| prices.len() == 2 && prices[0] == 9.99));
        store.merge_to(1).unwrap();
        assert_eq!(prices(&store.snapshot()), expected);
        if durability == Durability::OnCommit {
            store.commit().unwrap();
        }
        drop(store);
        let store = Store::open(&path, options).unwrap();
        assert_eq!(prices(&store.snapshot()), expected);
        let mut problems = Vec::new();
        StoreReader::check(&path, OpenOptions::new(), &mut |problem| problems.push(problem)).unwrap();
        assert!(problems.is_empty(), "{problems:?}");
    }
}

fn put_wide(store: &Store, number: u32) {
    try_put_wide(store, number).unwrap();
}

fn try_put_wide(store: &Store, number: u32) -> docvalues_store::error::Result<()> {
    let mut batch = store.batch().unwrap();
    let [id_field, price, tag] = ["id", "price", "tag"].map(|name| batch.field(name).unwrap());
    let mut doc = batch.upsert();
    doc.str(id_field, &id(number)).unwrap().f64(price, 0.5).unwrap();
    doc.str(tag, "x").unwrap().str(tag, "y").unwrap();
    doc.finish().unwrap();
    store.apply(batch).map(drop)
}

#[test]
fn what_would_change_a_value_is_refused() {
    let store = filled(Arc::new(PowerLossDirectory::new("/a")), StoreOptions::default());
    let expected = prices(&store.snapshot());
    let refused = |store: &Store, field: Field, expected: &str| {
        let error = store.alter([field]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let f64_price = || field("price", Kind::Numeric, LogicalType::F64);
    // 2^53 + 1: in a segment, as a new value, and in the buffer.
    set(&store, 0, (1 << 53) + 1);
    refused(&store, f64_price(), "exact as f64, found 9007199254740993 of type i64");
    store.refresh().unwrap();
    store.merge_to(1).unwrap();
    store.commit().unwrap();
    refused(&store, f64_price(), "exact as f64, found 9007199254740993 of type i64");
    set(&store, 0, 0);
    set(&store, 65, (1 << 53) + 1);
    put(&store, 80..81);
    set(&store, 80, (1 << 53) + 1);
    refused(&store, f64_price(), "exact as f64, found 9007199254740993 of type i64");
    // One that is deleted does not count.
    store.delete_ids([id(80).as_bytes(), id(65).as_bytes()]).unwrap();
    let wrong = [
        (field("nothing", Kind::Numeric, LogicalType::F64), "expected a field of the store"),
        (
            field("price", Kind::Numeric, LogicalType::Date),
            "expected a wider kind or type than numeric of type i64",
        ),
        (field("price", Kind::Numeric, LogicalType::U64), "expected a wider kind or type"),
        (field("price", Kind::Sorted, LogicalType::Utf8), "expected a wider kind or type"),
        (field("tag", Kind::Binary, LogicalType::Utf8), "expected a wider kind or type"),
        (field("id", Kind::SortedSet, LogicalType::Utf8), "expected a wider kind or type"),
    ];
    for (field, expected) in wrong {
        refused(&store, field, expected);
    }
    store.refresh().unwrap();
    let now = prices(&store.snapshot());
    let stays = |(id, _): &&(String, Vec<f64>)| *id != crate::fixture::id(0) && *id != crate::fixture::id(65);
    assert_eq!(
        now.iter().filter(stays).collect::<Vec<_>>(),
        expected.iter().filter(stays).collect::<Vec<_>>()
    );
    store.alter(wider()).unwrap();
    assert_eq!(prices(&store.snapshot()), now);
    // The same again changes nothing.
    let commit = store.snapshot().commit();
    store.alter(wider()).unwrap();
    assert_eq!(store.snapshot().commit(), commit);
    // A key of the index sort keeps one value, and the versions their type.
    let sorted = schema().with_sort([docvalues_column::SortKey::of("price")]).unwrap();
    let sorted = sorted.with_version_field("big").unwrap();
    let store = Store::create_in(Arc::new(PowerLossDirectory::new("/b")), sorted, StoreOptions::default());
    let store = store.unwrap();
    refused(&store, field("price", Kind::SortedNumeric, LogicalType::I64), "to sort by");
    refused(&store, field("big", Kind::Numeric, LogicalType::F64), "ids or versions");
    store.alter([f64_price()]).unwrap();
}

/// A replica, by frames and by files, gets the commit, and goes on with frames of the new type.
#[test]
fn replicas_follow() {
    let options = StoreOptions::new().keep_frames(1 << 30);
    let directory: Arc<dyn Directory> = Arc::new(PowerLossDirectory::new("/leader"));
    let store = filled(directory.clone(), options);
    let replica = Replica::open_in(Arc::new(PowerLossDirectory::new("/replica")), options).unwrap();
    let mut feed = Feed::open_in(directory, Position::default());
    let mut pump = || {
        pump(&mut feed, &replica).unwrap();
        replica.store().refresh().unwrap();
        assert_eq!(replica.position(), store.position());
        assert_eq!(prices(&replica.snapshot()), prices(&store.snapshot()));
    };
    pump();
    set(&store, 5, 5);
    store.refresh().unwrap();
    pump();
    store.alter(wider()).unwrap();
    put_wide(&store, 90);
    store.refresh().unwrap();
    pump();
    put_wide(&store, 91);
    store.refresh().unwrap();
    pump();
    let refused = replica.store().alter([]).unwrap_err();
    assert!(matches!(refused, Error::IsReplica { .. }), "{refused}");
}

/// The process ends, or the power fails, at any moment of an alteration and of what comes after: what was acknowledged is
/// there, in the old type or in the new.
#[test]
fn an_alteration_is_whole_after_a_crash() {
    let options = StoreOptions::new().durability(Durability::EachBatch);
    let mut states = [0, 0];
    for last in 0_u32.. {
        let disk = PowerLossDirectory::new("/a");
        drop(filled(Arc::new(disk.clone()), options));
        let store = Store::open_in(Arc::new(disk.clone()), options).unwrap();
        let expected = prices(&store.snapshot());
        drop(store);
        let (mut is_altered, mut is_put) = (false, false);
        if let Ok(store) = Store::open_in(dying(&disk, last), options) {
            is_altered = store.alter(wider()).is_ok();
            is_put = is_altered && try_put_wide(&store, 90).is_ok();
        }
        for image in [disk.crash_image(u64::from(last)), disk] {
            let store = Store::open_in(Arc::new(image), options).unwrap();
            let logical = store.snapshot().schema().field("price").unwrap().logical;
            states[usize::from(logical == LogicalType::F64)] += 1;
            let mut now = prices(&store.snapshot());
            let put: Vec<_> = now.extract_if(.., |(found, _)| *found == id(90)).collect();
            assert_eq!(now, expected, "{last}");
            assert!(!is_put || put == [(id(90), vec![0.5])], "{last}: {put:?}");
            assert!(!is_altered || logical == LogicalType::F64);
        }
        if is_put {
            break;
        }
    }
    assert!(states[0] > 10 && states[1] > 2, "{states:?}");
}
