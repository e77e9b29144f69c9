//! Updates that a store refuses, deltas that it does not believe, and updates at the edges.

use std::path::Path;

use docvalues_column::{Field, Kind, LogicalType, SortKey};
use docvalues_search::Query;
use docvalues_store::{
    Durability, Outcome, Snapshot, Store, StoreOptions, StoreReader, StoreSchema, Update, WriteBatch,
};
use docvalues_writer::{BytesKind, Duplicates, FieldSpec, IdOptions, Schema, SegmentWriter, WriterOptions};

use crate::fixture::id;
use crate::refusals::put_delta;
use crate::updates::{Doc, Operation, Row, Way, apply, contents, options, schema};

#[test]
fn what_cannot_be_updated_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(true), options(0)).unwrap();
    apply(&store, &[Operation::Write(1, Doc::default())]);
    let refused = |fill: &dyn Fn(&mut WriteBatch)| {
        let mut batch = store.batch().unwrap();
        fill(&mut batch);
        let error = store.apply(batch).unwrap_err().to_string();
        error.strip_prefix("operation 0 of the batch: expected ").unwrap().to_owned()
    };
    let field = |batch: &WriteBatch, name| batch.field(name).unwrap();
    let error = refused(&|batch| {
        let (id_field, rank) = (field(batch, "id"), field(batch, "rank"));
        let mut row = batch.update();
        row.str(id_field, "a").unwrap().i64(rank, 1).unwrap();
        row.finish().unwrap();
    });
    let expected =
        "a field by which segments are not sorted, found \"rank\": write the whole document instead";
    assert_eq!(error, expected);
    let error = refused(&|batch| batch.update().finish().map(drop).unwrap());
    assert_eq!(error, "an id in the field \"id\", found none");
    let update = |batch: &mut WriteBatch, update: Update| {
        let id_field = field(batch, "id");
        let mut row = batch.update_with(&update);
        row.str(id_field, "a").unwrap();
        row.finish().unwrap();
    };
    let error = refused(&|batch| update(batch, Update::new().unset(field(batch, "id"))));
    assert_eq!(error, "no values for \"id\", which is to lose them, found some");
    let error = refused(&|batch| update(batch, Update::new().add_to(field(batch, "host"))));
    assert_eq!(error, "a multi-valued field, found \"host\", of which one value is added or removed");
    // By query, all documents get one row, which has no id.
    let by_query = |fill: &dyn Fn(&mut WriteBatch)| {
        let mut batch = store.batch().unwrap();
        fill(&mut batch);
        store.update_where(&Query::all_of([]), batch).unwrap_err().to_string()
    };
    let error = by_query(&|batch| update(batch, Update::new()));
    assert_eq!(error, "operation 0 of the batch: expected an update without an id");
    assert_eq!(by_query(&|_| {}), "expected a batch of one update, found 0");
    let error = by_query(&|batch| batch.delete(b"a"));
    assert_eq!(error, "operation 0 of the batch: expected an update without a condition");
    assert_eq!(store.stats().unwrap().uncommitted, 1);
}

/// A field of a delta, and the values that a row has of it.
type Column<'a> = (&'a str, LogicalType, bool, Vec<Vec<&'a str>>);

/// Puts a delta of segment 0 with these documents and columns in place of the only one. `others` documents follow, without
/// values.
fn replace_delta(folder: &std::path::Path, commit: u64, docs: &[i64], columns: &[Column<'_>], others: u32) {
    let mut schema = Schema::new();
    let segment = schema.add(FieldSpec::new("_segment", LogicalType::I64)).unwrap();
    let doc = schema.add(FieldSpec::new("_doc", LogicalType::I64)).unwrap();
    let add = |(name, logical, is_many, _): &Column<'_>| {
        let spec = FieldSpec::new(*name, *logical);
        let spec = if *is_many { spec.multi_valued() } else { spec };
        let spec = match logical {
            LogicalType::Utf8 if !is_many => spec.kind(BytesKind::Sorted),
            _ => spec,
        };
        schema.add(spec).unwrap()
    };
    let fields: Vec<_> = columns.iter().map(add).collect();
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    for (at, number) in docs.iter().enumerate() {
        let mut row = writer.document();
        row.i64(segment, 0).unwrap().i64(doc, *number).unwrap();
        for (field, (_, logical, _, values)) in fields.iter().zip(columns) {
            for value in &values[at] {
                match logical {
                    LogicalType::Utf8 => row.str(*field, value).unwrap(),
                    _ => row.i64(*field, value.parse().unwrap()).unwrap(),
                };
            }
        }
        row.finish().unwrap();
    }
    writer.batch(others).unwrap().finish();
    put_delta(folder, commit, writer);
}

#[test]
fn deltas_with_other_values_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(true), options(0)).unwrap();
    let added = |number| Operation::Write(number, Doc::default());
    apply(&store, &(0..3_000).map(added).collect::<Vec<_>>());
    store.commit().unwrap();
    let row = Row { doc: Doc { size: Some(1), ..Doc::default() }, ways: [Way::Set; 5] };
    apply(&store, &[Operation::Update(1, row)]);
    let number = store.commit().unwrap();
    drop(store);
    let open = || StoreReader::open(folder.path(), options(0).open);
    let text = LogicalType::Utf8;
    // A set, an empty string, and a host that is removed after it was set.
    let good: [Column<'_>; 3] = [
        ("tags", text, true, vec![vec!["b", "a"], vec![]]),
        ("host", text, false, vec![vec![""], vec!["c"]]),
        ("_unset", text, true, vec![vec![], vec!["host", "size"]]),
    ];
    replace_delta(folder.path(), number, &[0, 2], &good, 0);
    let found: Vec<Doc> = contents(&open().unwrap().snapshot()).into_values().collect();
    let first =
        Doc { host: Some(String::new()), tags: ["a", "b"].map(str::to_owned).into(), ..Doc::default() };
    let changed: Vec<Doc> = found.into_iter().filter(|doc| *doc != Doc::default()).collect();
    assert_eq!(changed, [first]);
    let fields = "expected fields of the store that can be updated, found";
    let refused: [(Column<'_>, u32, &str); 8] = [
        (("id", text, false, vec![vec!["a"]]), 0, fields),
        (("other", text, false, vec![vec!["a"]]), 0, fields),
        (("rank", LogicalType::I64, false, vec![vec!["1"]]), 0, fields),
        (("size", text, false, vec![vec!["a"]]), 0, fields),
        (("numbers", LogicalType::I64, false, vec![vec!["1"]]), 0, fields),
        (("_unset", text, true, vec![vec!["other"]]), 0, fields),
        (("_unset", text, true, vec![vec!["rank"]]), 0, fields),
        (("host", text, false, vec![vec!["a"]]), 1_000_000_000, "expected the rows of a delta, found others"),
    ];
    for (column, others, expected) in refused {
        replace_delta(folder.path(), number, &[0], &[column], others);
        let error = open().unwrap_err().to_string();
        assert!(error.contains("delta-000001.dv") && error.contains(expected), "{error}");
    }
    // Equal numbers take no bytes of a file, however many they are.
    let numbers = vec![vec!["7"; 3_000_000]];
    replace_delta(folder.path(), number, &[0], &[("numbers", LogicalType::I64, true, numbers)], 0);
    let error = open().unwrap_err().to_string();
    assert!(error.contains("delta-000001.dv") && error.contains("found many more of \"numbers\""), "{error}");
}

/// A store of documents with an id, a number, and several.
fn numbers(folder: &Path, durability: Durability) -> Store {
    let fields = [
        Field::new("id", Kind::Binary, LogicalType::Utf8),
        Field::new("size", Kind::Numeric, LogicalType::I64),
        Field::new("all", Kind::SortedNumeric, LogicalType::I64),
    ];
    let schema = fields.into_iter().try_fold(StoreSchema::new(), StoreSchema::with_field).unwrap();
    let options = StoreOptions::new().durability(durability);
    Store::create(folder, schema.with_id_field("id").unwrap(), options).unwrap()
}

/// A batch that writes a document, or updates one: the fields of `values` are numbers of `size` and of `all`.
fn batch(store: &Store, update: Option<&Update>, number: Option<u32>, values: &[(&str, i64)]) -> WriteBatch {
    let mut batch = store.batch().unwrap();
    let id_field = batch.field("id").unwrap();
    let values: Vec<_> = values.iter().map(|(name, value)| (batch.field(name).unwrap(), *value)).collect();
    let mut row = match update {
        Some(update) => batch.update_with(update),
        None => batch.upsert(),
    };
    if let Some(number) = number {
        row.str(id_field, &id(number)).unwrap();
    }
    for (field, value) in values {
        row.i64(field, value).unwrap();
    }
    row.finish().unwrap();
    batch
}

fn count(snapshot: &Snapshot, name: &str, value: i64) -> u64 {
    snapshot.search().count(&Query::eq(name, value)).unwrap()
}

/// The values of `all` of the only document.
fn all(store: &Store) -> Vec<i64> {
    store.refresh().unwrap();
    let (snapshot, mut row) = (store.snapshot(), Vec::new());
    let at = snapshot.find(id(1).as_bytes()).unwrap().unwrap();
    let column = snapshot.parts().source(at.part as usize).column("all").unwrap();
    column.values().numbers().unwrap().get(at.doc, &mut row).unwrap();
    row
}

#[test]
fn repeated_numbers_stay_until_they_are_removed() {
    for is_committed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let store = numbers(folder.path(), Durability::OnCommit);
        store.apply(batch(&store, None, Some(1), &[("all", 7), ("all", 5), ("all", 5)])).unwrap();
        if is_committed {
            store.commit().unwrap();
        }
        let field = store.batch().unwrap().field("all").unwrap();
        let (add, remove) = (Update::new().add_to(field), Update::new().remove_from(field));
        store.apply(batch(&store, Some(&remove), Some(1), &[("all", 7), ("all", 1)])).unwrap();
        assert_eq!(all(&store), [5, 5]);
        store.apply(batch(&store, Some(&add), Some(1), &[("all", 3), ("all", 5), ("all", 3)])).unwrap();
        assert_eq!(all(&store), [3, 5, 5]);
        store.apply(batch(&store, Some(&remove), Some(1), &[("all", 3), ("all", 5)])).unwrap();
        assert_eq!(all(&store), Vec::<i64>::new());
    }
}

/// A batch that was begun before a field was added, of a segment that has values of that field by now.
#[test]
fn a_batch_of_an_older_schema_is_applied() {
    let folder = tempfile::tempdir().unwrap();
    let store = numbers(folder.path(), Durability::OnCommit);
    store.apply(batch(&store, None, Some(1), &[("all", 7)])).unwrap();
    store.commit().unwrap();
    let add = Update::new().add_to(store.batch().unwrap().field("all").unwrap());
    let old = [Some(1), None].map(|number| batch(&store, Some(&add), number, &[("all", 8)]));
    store.add_field(Field::new("late", Kind::Numeric, LogicalType::I64)).unwrap();
    store.apply(batch(&store, Some(&Update::new()), Some(1), &[("late", 1)])).unwrap();
    store.refresh().unwrap();
    let [by_id, by_query] = old;
    assert_eq!(store.apply(by_id).unwrap().outcomes, [Outcome::Updated]);
    assert_eq!(store.update_where(&Query::eq("late", 1), by_query).unwrap(), 1);
    assert_eq!(all(&store), [7, 8]);
}

/// A segment may have an order that its store does not ask for, by a field that is updated.
#[test]
fn a_segment_with_an_order_of_its_own_is_updated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let store = numbers(&path, Durability::EachBatch);
    let mut schema = Schema::new();
    let id_field = schema.add(FieldSpec::new("id", LogicalType::Utf8).kind(BytesKind::Binary)).unwrap();
    let size = schema.add(FieldSpec::new("size", LogicalType::I64)).unwrap();
    let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    writer.sort_by([SortKey::of("size")]).unwrap();
    let options = IdOptions::new().duplicates(Duplicates::KeepLast);
    writer.id_field(id_field, options).unwrap();
    for number in [3, 1, 2] {
        let mut doc = writer.document();
        doc.str(id_field, &id(number)).unwrap().i64(size, number.into()).unwrap();
        doc.finish().unwrap();
    }
    std::fs::write(folder.path().join("sorted.dv"), writer.finish_bytes().unwrap()).unwrap();
    store.add_segment(folder.path().join("sorted.dv")).unwrap();
    store.apply(batch(&store, Some(&Update::new()), Some(1), &[("size", 9)])).unwrap();
    drop(store);
    let store = Store::open(&path, StoreOptions::default()).unwrap();
    let found = |snapshot: &Snapshot| [1, 2, 9].map(|size| count(snapshot, "size", size));
    assert_eq!(found(&store.snapshot()), [0, 1, 1]);
    let below = store.snapshot().search().count(&Query::range("size", ..3)).unwrap();
    assert_eq!(below, 1);
    store.merge_to(1).unwrap();
    assert_eq!(found(&store.snapshot()), [0, 1, 1]);
}

/// A deletion is lost, as its commit failed, and the document is there again: an update that did not find it does not either
/// when it is read from the log.
#[test]
fn an_update_that_found_nothing_finds_nothing_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = numbers(folder.path(), Durability::EachBatch);
    store.apply(batch(&store, None, Some(1), &[("size", 1)])).unwrap();
    let next = store.commit().unwrap() + 1;
    let in_the_way = folder.path().join(format!(".commit-{next:08}.tmp"));
    std::fs::create_dir_all(in_the_way.join("a")).unwrap();
    store.delete_where(&Query::eq("size", 1)).unwrap_err();
    let update = batch(&store, Some(&Update::new()), Some(1), &[("size", 99)]);
    assert_eq!(store.apply(update).unwrap().outcomes, [Outcome::NotFound]);
    store.apply(batch(&store, None, Some(2), &[("size", 2)])).unwrap();
    drop(store);
    std::fs::remove_dir_all(in_the_way).unwrap();
    let snapshot = Store::open(folder.path(), StoreOptions::default()).unwrap().snapshot();
    assert_eq!([1, 2, 99].map(|size| count(&snapshot, "size", size)), [1, 1, 0]);
}

/// A reader that goes from one history of the store to another, in which as many documents are deleted.
#[test]
fn a_reader_follows_a_store_that_went_back() {
    let folder = tempfile::tempdir().unwrap();
    let options = StoreOptions::new().keep_commits(docvalues_store::KeepCommits::Newest(5));
    let store = numbers(folder.path(), Durability::OnCommit);
    for number in 0..4 {
        store.apply(batch(&store, None, Some(number), &[("size", number.into())])).unwrap();
    }
    let first = store.commit().unwrap();
    drop(store);
    let store = Store::open(folder.path(), options).unwrap();
    store.delete_where(&Query::eq("size", 0)).unwrap();
    store.apply(batch(&store, Some(&Update::new()), Some(2), &[("size", 20)])).unwrap();
    store.commit().unwrap();
    let mut reader = StoreReader::open(folder.path(), options.open).unwrap();
    let found = |reader: &StoreReader| [0, 1, 2, 3, 20].map(|size| count(&reader.snapshot(), "size", size));
    assert_eq!(found(&reader), [0, 1, 0, 1, 1]);
    drop(store);
    Store::recover(folder.path(), first, None, options).unwrap();
    let store = Store::open(folder.path(), options).unwrap();
    store.delete_where(&Query::eq("size", 1)).unwrap();
    store.commit().unwrap();
    assert!(reader.reopen().unwrap());
    assert_eq!(found(&reader), [1, 0, 1, 1, 0]);
}

/// The commit says another kind than the segment.
#[test]
fn a_field_of_another_kind_is_not_updated() {
    let folder = tempfile::tempdir().unwrap();
    let store = numbers(folder.path(), Durability::OnCommit);
    store.apply(batch(&store, None, Some(1), &[("all", 7)])).unwrap();
    let number = store.commit().unwrap();
    drop(store);
    let path = folder.path().join(format!("commit-{number:08}"));
    let text = std::fs::read_to_string(&path).unwrap();
    let json = text.rsplit_once("crc32").unwrap().0.replacen("sorted-numeric", "numeric", 1);
    std::fs::write(&path, format!("{json}crc32 {:08x}\n", crc32fast::hash(json.as_bytes()))).unwrap();
    let store = Store::open(folder.path(), StoreOptions::default()).unwrap();
    store.apply(batch(&store, Some(&Update::new()), Some(1), &[("all", 8)])).unwrap();
    store.refresh().unwrap();
    let expected = "column \"all\" is sorted-numeric, not numeric";
    let error = store.snapshot().search().count(&Query::eq("all", 8)).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
    let error = store.merge_to(1).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

/// A reader reads folded deltas again: a host that nobody has any more is not among its terms, and another one takes its place.
#[test]
fn a_reader_follows_deltas_that_were_folded() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(false), options(0)).unwrap();
    // So many that few updates are no reason for a fold of the segment.
    apply(&store, &(0..2_000).map(|number| Operation::Write(number, Doc::default())).collect::<Vec<_>>());
    store.commit().unwrap();
    let other = Doc { host: Some("a".to_owned()), ..Doc::default() };
    apply(&store, &[Operation::Write(9_999, other)]);
    store.commit().unwrap();
    let update = |doc| {
        apply(&store, &[Operation::Update(7, Row { doc, ways: [Way::Set; 5] })]);
        store.commit().unwrap();
    };
    (0..7).for_each(|size| update(Doc { size: Some(size), ..Doc::default() }));
    update(Doc { host: Some("d".to_owned()), ..Doc::default() });
    let mut reader = StoreReader::open(folder.path(), options(0).open).unwrap();
    assert_eq!(contents(&reader.snapshot())[&7].host.as_deref(), Some("d"));
    update(Doc { host: Some("e".to_owned()), ..Doc::default() });
    assert!(reader.reopen().unwrap());
    // This also compares facets.
    assert_eq!(contents(&reader.snapshot())[&7].host.as_deref(), Some("e"));
}
