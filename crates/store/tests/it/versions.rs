//! Documents with versions, in any order of arrival, against a map.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;

use docvalues_column::{Field, Kind, LogicalType};
use docvalues_search::Query;
use docvalues_store::{
    Applied, Condition, Durability, MergePolicy, Outcome, Snapshot, Store, StoreOptions, StoreSchema, Update,
};
use docvalues_testkit::faults::PowerLossDirectory;

use crate::acknowledged::filling_up;
use crate::fixture::id;

pub(crate) fn schema(logical: LogicalType) -> StoreSchema {
    let id = Field::new("id", Kind::Binary, LogicalType::Utf8);
    let version = Field::new("version", Kind::Numeric, logical);
    let size = Field::new("size", Kind::Numeric, LogicalType::I64);
    let schema =
        [id, size, version].into_iter().try_fold(StoreSchema::new(), StoreSchema::with_field).unwrap();
    schema.with_id_field("id").unwrap().with_version_field("version").unwrap()
}

/// An operation on an id: a size to write or to set in the document that is there, or none to delete.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) id: u32,
    pub(crate) size: Option<i64>,
    pub(crate) version: Option<u64>,
    pub(crate) condition: Condition,
    pub(crate) is_update: bool,
}

/// A document of size 0, written whatever is there.
fn write(id: u32, version: impl Into<Option<u64>>) -> Operation {
    Operation { id, size: Some(0), version: version.into(), condition: Condition::Always, is_update: false }
}

fn operation() -> impl Strategy<Value = Operation> {
    let condition = prop_oneof![
        6 => Just(Condition::Always),
        1 => Just(Condition::Absent),
        1 => (0..40_u64).prop_map(Condition::Version),
    ];
    let size = prop::option::weighted(0.7, -50..50_i64);
    let version = prop::option::weighted(0.9, 0..40_u64);
    (0..25_u32, size, version, condition, prop::bool::weighted(0.3)).prop_map(
        |(id, size, version, condition, is_update)| {
            // Only unconditional deletes can have a version.
            let condition = if size.is_none() && version.is_some() { Condition::Always } else { condition };
            // An update of no document would be none.
            let is_update = is_update && size.is_some() && condition != Condition::Absent;
            Operation { id, size, version, condition, is_update }
        },
    )
}

#[derive(Clone, Debug)]
enum Step {
    Apply(Vec<Operation>),
    Commit,
    Merge,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => prop::collection::vec(operation(), 0..12).prop_map(Step::Apply),
        2 => Just(Step::Commit),
        1 => Just(Step::Merge),
        1 => Just(Step::Reopen),
    ]
}

pub(crate) fn apply(store: &Store, operations: &[Operation]) -> Applied {
    let mut batch = store.batch().unwrap();
    let (id_field, size_field) = (batch.field("id").unwrap(), batch.field("size").unwrap());
    let version_field = batch.field("version").unwrap();
    let is_unsigned = store.snapshot().schema().field("version").unwrap().logical == LogicalType::U64;
    for Operation { id: number, size, version, condition, is_update } in operations {
        match (size, version) {
            (Some(size), version) => {
                let update = Update::new().condition(*condition);
                let mut doc =
                    if *is_update { batch.update_with(&update) } else { batch.upsert_if(*condition) };
                doc.str(id_field, &id(*number)).unwrap().i64(size_field, *size).unwrap();
                match version {
                    Some(version) if is_unsigned => drop(doc.u64(version_field, *version).unwrap()),
                    Some(version) => drop(doc.i64(version_field, version.cast_signed()).unwrap()),
                    None => {}
                }
                doc.finish().unwrap();
            }
            (None, Some(version)) => batch.delete_version(id(*number).as_bytes(), *version),
            (None, None) => batch.delete_if(id(*number).as_bytes(), *condition),
        }
    }
    store.apply(batch).unwrap()
}

/// What a store should contain: size and version of each document, and the versions of deleted ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Model {
    pub(crate) docs: BTreeMap<u32, (i64, u64)>,
    deleted: BTreeMap<u32, u64>,
    highest: u64,
}

impl Model {
    pub(crate) fn apply(
        &mut self,
        Operation { id, size, version, condition, is_update }: &Operation,
        next: &mut u64,
    ) -> Outcome {
        // A document without a version is given one; a deletion has that of the document.
        let version = version.or_else(|| {
            let written = size.filter(|_| !is_update);
            *next += u64::from(written.is_some());
            written.map(|_| *next - 1)
        });
        let current = self.docs.get(id).map(|(_, version)| *version);
        let holds = match condition {
            Condition::Always => true,
            Condition::Absent => current.is_none(),
            Condition::Version(expected) => current == Some(*expected),
            other => panic!("{other:?}"),
        };
        if !holds {
            return Outcome::Refused { current };
        }
        let highest = current.or(self.deleted.get(id).copied());
        if let Some(current) = highest.filter(|current| version.is_some_and(|version| version <= *current)) {
            return Outcome::Stale { current };
        }
        if *is_update && current.is_none() {
            return Outcome::NotFound;
        }
        self.highest = self.highest.max(version.unwrap_or(0));
        match (size, current) {
            (Some(size), Some(current)) if *is_update => {
                self.docs.insert(*id, (*size, version.unwrap_or(current)));
                Outcome::Updated
            }
            (Some(size), current) => {
                self.docs.insert(*id, (*size, version.unwrap()));
                if current.is_some() { Outcome::Replaced } else { Outcome::Added }
            }
            (None, current) => {
                self.docs.remove(id);
                self.deleted.extend(version.or(current).map(|version| (*id, version)));
                if current.is_some() { Outcome::Deleted } else { Outcome::NotFound }
            }
        }
    }
}

/// Size and version of each live document.
pub(crate) fn contents(snapshot: &Snapshot) -> BTreeMap<u32, (i64, u64)> {
    let mut found = BTreeMap::new();
    let live = snapshot.search().filter(&docvalues_search::Query::all_of([])).unwrap();
    let is_unsigned = snapshot.schema().field("version").unwrap().logical == LogicalType::U64;
    for address in live.iter() {
        let source = snapshot.parts().source(address.part as usize);
        let (mut id, mut number) = (Vec::new(), Vec::new());
        source.column("id").unwrap().values().bytes().unwrap().get(address.doc, &mut id).unwrap();
        let mut get = |name: &str| {
            source.column(name).unwrap().values().numbers().unwrap().get(address.doc, &mut number).unwrap();
            number[0]
        };
        let (size, version) = (get("size"), get("version"));
        let version = if is_unsigned { version ^ i64::MIN } else { version }.cast_unsigned();
        let id = std::str::from_utf8(&id).unwrap().strip_prefix("doc-").unwrap().parse().unwrap();
        assert_eq!(found.insert(id, (size, version)), None, "one document for each id");
    }
    found
}

fn run(logical: LogicalType, buffer_bytes: usize, durability: Durability, steps: &[Step]) {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new().buffer_bytes(buffer_bytes).durability(durability);
    // Versions that are assigned only depend on the highest one.
    let mut store =
        Store::create(folder.path().join("a"), schema(logical), options).unwrap().with_clock(|| 0);
    let (mut model, mut committed) = (Model::default(), Model::default());
    for step in steps {
        match step {
            Step::Apply(operations) => {
                let before = model.highest;
                let applied = apply(&store, operations);
                let mut next = before + 1;
                let expected: Vec<Outcome> =
                    operations.iter().map(|operation| model.apply(operation, &mut next)).collect();
                assert_eq!(applied.outcomes, expected);
                assert_eq!(applied.first_version, (next > before + 1).then_some(before + 1));
                store.refresh().unwrap();
            }
            Step::Commit => {
                store.commit().unwrap();
                committed.clone_from(&model);
            }
            Step::Merge => {
                store.merge(&MergePolicy::new().segments_per_tier(2)).unwrap();
            }
            Step::Reopen => {
                drop(store);
                store = Store::open(folder.path().join("a"), options).unwrap().with_clock(|| 0);
                if durability == Durability::OnCommit {
                    model.clone_from(&committed);
                }
            }
        }
        assert_eq!(contents(&store.snapshot()), model.docs, "{step:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(30, 6_000)))]

    #[test]
    fn the_highest_version_wins(
        logical in prop_oneof![Just(LogicalType::I64), Just(LogicalType::U64)],
        buffer_bytes in prop_oneof![Just(2_000_usize), Just(64 << 20)],
        durability in prop_oneof![Just(Durability::OnCommit), Just(Durability::EachBatch)],
        steps in prop::collection::vec(step(), 1..40),
    ) {
        run(logical, buffer_bytes, durability, &steps);
    }

    #[test]
    fn batches_in_any_order_end_equal(
        operations in prop::collection::vec((0..12_u32, prop::option::weighted(0.7, -50..50_i64)), 1..60),
        orders in prop::collection::vec(any::<u64>(), 2..4),
    ) {
        // Each operation has a version of its own.
        let operations: Vec<Operation> = (0_u64..).zip(operations).map(|(version, (id, size))| {
            Operation { size, ..write(id, version) }
        }).collect();
        let mut ends = Vec::new();
        for order in orders {
            let folder = tempfile::tempdir().unwrap();
            let options = StoreOptions::new().buffer_bytes(2_000);
            let store = Store::create(folder.path().join("a"), schema(LogicalType::I64), options).unwrap();
            let mut shuffled = operations.clone();
            shuffled.sort_by_key(|operation| (operation.version.unwrap() + 1).wrapping_mul(order | 1).rotate_left(17));
            for (at, batch) in shuffled.chunks(7).enumerate() {
                apply(&store, batch);
                if at % 3 == 0 {
                    store.commit().unwrap();
                }
            }
            store.refresh().unwrap();
            ends.push(contents(&store.snapshot()));
        }
        prop_assert!(ends.windows(2).all(|pair| pair[0] == pair[1]));
    }
}

#[test]
fn assigned_versions_only_rise() {
    static NOW: AtomicU64 = AtomicU64::new(1_000);
    let clock = || NOW.load(Ordering::Relaxed);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let new = |id| write(id, None);
    let store =
        Store::create(&path, schema(LogicalType::I64), StoreOptions::default()).unwrap().with_clock(clock);
    assert_eq!(apply(&store, &[new(1), new(2)]).first_version, Some(1_000));
    NOW.store(10, Ordering::Relaxed); // The clock is set back.
    assert_eq!(apply(&store, &[new(3)]).first_version, Some(1_002));
    // The document with the highest version is deleted with a higher one, which nothing shows after a commit.
    let delete = Operation { size: None, version: Some(1_003), ..new(3) };
    assert_eq!(apply(&store, &[delete]).first_version, None);
    store.commit().unwrap();
    drop(store);
    let store = Store::open(&path, StoreOptions::default()).unwrap().with_clock(clock);
    assert_eq!(apply(&store, &[new(4)]).first_version, Some(1_004));
    NOW.store(5_000, Ordering::Relaxed);
    assert_eq!(apply(&store, &[new(4)]).first_version, Some(5_000));
    let found: Vec<u64> = contents(&{
        store.refresh().unwrap();
        store.snapshot()
    })
    .into_values()
    .map(|(_, version)| version)
    .collect();
    assert_eq!(found, [1_000, 1_001, 5_000]);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store =
        Store::create(folder.path().join("a"), crate::fixture::schema(), StoreOptions::default()).unwrap();
    let refused = |fill: &dyn Fn(&mut docvalues_store::WriteBatch)| {
        let mut batch = store.batch().unwrap();
        fill(&mut batch);
        store.apply(batch).unwrap_err().to_string()
    };
    let error = refused(&|batch| batch.delete_version(b"a", 1));
    assert_eq!(error, "operation 0 of the batch: expected a store with a version field, found one without");
    let error = refused(&|batch| {
        batch.delete(b"a");
        batch.upsert().finish().unwrap();
    });
    assert_eq!(error, "operation 1 of the batch: expected an id in the field \"id\", found none");
    let other =
        Store::create(folder.path().join("b"), schema(LogicalType::I64), StoreOptions::default()).unwrap();
    let error = store.apply(other.batch().unwrap()).unwrap_err().to_string();
    assert_eq!(error, "expected a batch of this store, found one with other fields");
    let error = {
        let mut batch = other.batch().unwrap();
        let (id, version) = (batch.field("id").unwrap(), batch.field("version").unwrap());
        let mut doc = batch.upsert();
        doc.str(id, "a").unwrap().i64(version, -1).unwrap();
        doc.finish().unwrap();
        other.apply(batch).unwrap_err().to_string()
    };
    assert_eq!(error, "operation 0 of the batch: expected a version of at least 0, found -1");
    assert_eq!(store.snapshot().docs() + other.snapshot().docs(), 0);
}

#[test]
fn columns_are_written_as_documents_are() {
    let folder = tempfile::tempdir().unwrap();
    let store =
        Store::create(folder.path().join("a"), schema(LogicalType::I64), StoreOptions::default()).unwrap();
    let mut batch = store.batch().unwrap();
    let fields = ["id", "size", "version"].map(|name| batch.field(name).unwrap());
    let mut columns = batch.upsert_columns(3).unwrap();
    columns.bytes(fields[0], &[0, 5, 10, 15], b"doc-1doc-2doc-1", None).unwrap();
    columns.i64(fields[1], &[7, 8, 9], None).unwrap();
    columns.i64(fields[2], &[4, 4, 5], Some(&[0b101])).unwrap();
    columns.finish();
    batch.delete(b"doc-2");
    assert_eq!((batch.len(), batch.is_empty()), (4, false));
    let applied = store.with_clock(|| 100);
    let outcomes = applied.apply(batch).unwrap();
    // The second document had no version. The deletion has that of the document.
    assert_eq!(outcomes.first_version, Some(100));
    assert_eq!(outcomes.outcomes, [Outcome::Added, Outcome::Added, Outcome::Replaced, Outcome::Deleted]);
    applied.refresh().unwrap();
    assert_eq!(contents(&applied.snapshot()), BTreeMap::from([(1, (9, 5))]));
}

#[test]
fn a_deletion_without_a_version_has_that_of_the_document() {
    let folder = tempfile::tempdir().unwrap();
    let store =
        Store::create(folder.path().join("a"), schema(LogicalType::I64), StoreOptions::default()).unwrap();
    let delete = Operation { size: None, ..write(1, None) };
    let outcomes = |operations: &[Operation]| apply(&store, operations).outcomes;
    assert_eq!(
        outcomes(&[delete.clone(), write(1, 7), delete]),
        [Outcome::NotFound, Outcome::Added, Outcome::Deleted]
    );
    assert_eq!(outcomes(&[write(1, 7), write(1, 8)]), [Outcome::Stale { current: 7 }, Outcome::Added]);
}

#[test]
fn deletions_are_forgotten_alike_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new().durability(Durability::EachBatch).remember_deletes(5);
    let path = folder.path().join("a");
    let store = Store::create(&path, schema(LogicalType::I64), options).unwrap();
    apply(&store, &[Operation { size: None, ..write(1, 9) }]);
    store.commit().unwrap();
    for other in 2..12 {
        apply(&store, &[write(other, 1)]);
    }
    store.commit().unwrap();
    assert_eq!(apply(&store, &[write(1, 5)]).outcomes, [Outcome::Added]);
    drop(store);
    // The delta still has the deletion; the log says that the document was added.
    let store = Store::open(&path, options).unwrap();
    assert_eq!(contents(&store.snapshot()).get(&1), Some(&(0, 5)));
}

/// Its delta still has the deletion, and without a log, opening a store makes no commit that would forget it.
#[test]
fn a_store_that_is_opened_forgets_what_its_last_commit_forgot() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new().remember_deletes(5);
    let path = folder.path().join("a");
    let store = Store::create(&path, schema(LogicalType::I64), options).unwrap();
    apply(&store, &[Operation { size: None, ..write(1, 9) }]);
    store.commit().unwrap();
    for other in 2..12 {
        apply(&store, &[write(other, 1)]);
    }
    let last = store.commit().unwrap();
    drop(store);
    let store = Store::open(&path, options).unwrap();
    assert_eq!(store.commit().unwrap(), last);
    assert_eq!(apply(&store, &[write(1, 5)]).outcomes, [Outcome::Added]);
}

/// The log says what took place, whatever the versions are when it is read.
#[test]
fn a_document_below_one_whose_deletion_was_lost_stays() {
    let disk = PowerLossDirectory::new("/disk");
    let (directory, is_full) = filling_up(&disk, "commit-");
    let options = StoreOptions::new().durability(Durability::EachBatch);
    let store = Store::create_in(directory, schema(LogicalType::I64), options).unwrap();
    apply(&store, &[write(1, 9)]);
    is_full.store(true, Ordering::Relaxed);
    store.delete_where(&docvalues_search::Query::range("version", 9..10)).unwrap_err();
    assert_eq!(apply(&store, &[write(1, 5)]).outcomes, [Outcome::Added]);
    drop(store);
    let store = Store::open_in(Arc::new(disk), options).unwrap();
    assert_eq!(contents(&store.snapshot()), BTreeMap::from([(1, (0, 5))]));
}

#[test]
fn folded_deltas_keep_the_versions_of_deleted_documents() {
    let folder = tempfile::tempdir().unwrap();
    let (path, options) = (folder.path().join("a"), StoreOptions::default());
    let store = Store::create(&path, schema(LogicalType::I64), options).unwrap();
    // Of more commits than a commit names deltas.
    for id in 1..=12 {
        apply(&store, &[Operation { size: None, ..write(id, 9) }]);
        store.commit().unwrap();
    }
    drop(store);
    let store = Store::open(&path, options).unwrap();
    assert_eq!(apply(&store, &[write(1, 5)]).outcomes, [Outcome::Stale { current: 9 }]);
}

/// A store that assigns versions never comes to their end, in whatever order documents arrive.
#[test]
fn versions_at_the_top_are_refused_by_a_store_that_assigns_some() {
    for (logical, limit, top) in
        [(LogicalType::U64, 1 << 63, u64::MAX), (LogicalType::I64, 1 << 62, i64::MAX.cast_unsigned())]
    {
        for durability in [Durability::OnCommit, Durability::EachBatch] {
            let disk = Arc::new(PowerLossDirectory::new("/disk"));
            let options = StoreOptions::new().durability(durability);
            let store = Store::create_in(disk.clone(), schema(logical), options).unwrap();
            // All versions come from outside: the whole range is theirs.
            let update = |version| Operation { is_update: true, ..write(1, version) };
            let try_apply = |store: &Store, operation: &Operation| {
                let mut batch = store.batch().unwrap();
                let [id_field, version_field] = ["id", "version"].map(|name| batch.field(name).unwrap());
                if operation.size.is_none() {
                    batch.delete_version(id(operation.id).as_bytes(), operation.version.unwrap());
                } else {
                    let mut doc = if operation.is_update { batch.update() } else { batch.upsert() };
                    doc.str(id_field, &id(operation.id)).unwrap();
                    match (logical, operation.version) {
                        (_, None) => {}
                        (LogicalType::U64, Some(version)) => drop(doc.u64(version_field, version).unwrap()),
                        (_, Some(version)) => {
                            doc.i64(version_field, version.cast_signed()).unwrap();
                        }
                    }
                    doc.finish().unwrap();
                }
                store.apply(batch).map(|applied| applied.outcomes).map_err(|error| error.to_string())
            };
            assert_eq!(try_apply(&store, &write(1, Some(top - 1))), Ok(vec![Outcome::Added]));
            assert_eq!(try_apply(&store, &write(1, Some(top))), Ok(vec![Outcome::Replaced]));
            // None is above it, so none is assigned, also after it is gone.
            let refused = |store: &Store, operation: &Operation, expected: &str| {
                let error = try_apply(store, operation).unwrap_err();
                assert!(error.starts_with("operation 0 of the batch: expected a version"), "{error}");
                assert!(error.contains(expected), "{error}");
            };
            refused(&store, &write(2, None), "found none");
            apply(&store, &[Operation { size: None, ..write(1, None) }]);
            store.commit().unwrap();
            drop(store);
            let store = Store::open_in(disk, options).unwrap();
            refused(&store, &write(2, None), "found none");
            assert_eq!(try_apply(&store, &update(None)), Ok(vec![Outcome::NotFound]));

            // A store that has assigned one refuses the top, as documents, updates and deletions; also when it is opened again.
            let disk = Arc::new(PowerLossDirectory::new("/disk"));
            let store = Store::create_in(disk.clone(), schema(logical), options).unwrap();
            assert_eq!(try_apply(&store, &write(1, None)), Ok(vec![Outcome::Added]));
            let tops = [write(1, Some(top)), write(2, Some(limit)), update(Some(limit))];
            let delete = Operation { size: None, ..write(1, Some(limit)) };
            for reopened in [false, true] {
                let store = match reopened {
                    false => &store,
                    true => &Store::open_in(Arc::new(disk.crash_image(1)), options).unwrap(),
                };
                if !reopened {
                    store.commit().unwrap();
                }
                for operation in tops.iter().chain([&delete]) {
                    refused(store, operation, &format!("below {limit}, found"));
                }
                // The same for documents that a query finds.
                let mut batch = store.batch().unwrap();
                let field = batch.field("version").unwrap();
                let mut row = batch.update();
                match logical {
                    LogicalType::U64 => drop(row.u64(field, limit).unwrap()),
                    _ => drop(row.i64(field, limit.cast_signed()).unwrap()),
                }
                row.finish().unwrap();
                let error = store.update_where(&Query::range("size", 0..), batch).unwrap_err().to_string();
                assert!(error.contains(&format!("below {limit}, found {limit}")), "{error}");
                let below = limit - 2 + u64::from(reopened);
                assert_eq!(try_apply(store, &write(1, Some(below))), Ok(vec![Outcome::Replaced]));
                let outcome = if reopened { Outcome::Replaced } else { Outcome::Added };
                assert_eq!(try_apply(store, &write(3, None)), Ok(vec![outcome]));
                assert_eq!(try_apply(store, &write(3, None)), Ok(vec![Outcome::Replaced]));
                if !reopened {
                    store.commit().unwrap();
                }
            }
            // Both in one batch.
            let store =
                Store::create_in(Arc::new(PowerLossDirectory::new("/disk")), schema(logical), options);
            let store = store.unwrap();
            let mut batch = store.batch().unwrap();
            let [id_field, version_field] = ["id", "version"].map(|name| batch.field(name).unwrap());
            let mut doc = batch.upsert();
            doc.str(id_field, "a").unwrap();
            match logical {
                LogicalType::U64 => drop(doc.u64(version_field, limit).unwrap()),
                _ => drop(doc.i64(version_field, limit.cast_signed()).unwrap()),
            }
            doc.finish().unwrap();
            let mut doc = batch.upsert();
            doc.str(id_field, "b").unwrap();
            doc.finish().unwrap();
            store.apply(batch).unwrap_err();
            assert_eq!(try_apply(&store, &write(1, Some(top))), Ok(vec![Outcome::Added]));
        }
    }
    // A deletion cannot have a version that no document can have.
    let store = Store::create_in(
        Arc::new(PowerLossDirectory::new("/disk")),
        schema(LogicalType::I64),
        StoreOptions::default(),
    );
    let mut batch = store.as_ref().unwrap().batch().unwrap();
    batch.delete_version(b"a", 1 << 63);
    let error = store.unwrap().apply(batch).unwrap_err().to_string();
    assert!(error.contains("expected a version of at most 9223372036854775807"), "{error}");
}

/// A segment that is added as a whole has no versions to compare.
#[test]
fn segments_are_refused_by_a_store_with_versions() {
    let disk = Arc::new(PowerLossDirectory::new("/disk"));
    let store = Store::create_in(disk, schema(LogicalType::I64), StoreOptions::default()).unwrap();
    let error = store.new_segment().unwrap_err().to_string();
    assert!(
        error.starts_with("expected a store without versions, found the version field \"version\""),
        "{error}"
    );
}
