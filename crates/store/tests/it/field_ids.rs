//! The ids of fields stay valid from batch to batch.

use docvalues_column::{Field, Kind, LogicalType};
use docvalues_search::Query;
use docvalues_store::{Outcome, Store, StoreOptions, Update};
use docvalues_writer::FieldId;

use crate::fixture::schema;

/// `docvalues_store::*` brings no `Result` that would be ambiguous, or shadow that of the standard library.
mod globs {
    use docvalues_store::*;
    use std::fmt::*;

    pub(super) fn write(out: &mut String) -> Result {
        let _: Option<Outcome> = None;
        out.write_str("written")
    }
}

#[test]
fn a_glob_of_the_crate_has_no_result() {
    let mut out = String::new();
    globs::write(&mut out).unwrap();
    assert_eq!(out, "written");
}

fn upsert(store: &Store, [id, size]: [FieldId; 2], name: &str, value: i64) {
    let mut batch = store.batch().unwrap();
    let mut doc = batch.upsert();
    doc.str(id, name).unwrap().i64(size, value).unwrap();
    doc.finish().unwrap();
    store.apply(batch).unwrap();
    store.refresh().unwrap();
}

/// In batches, updates and segments, after new fields, commits, merges and another opening.
#[test]
fn an_id_of_a_field_names_it_in_all_later_batches() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(), StoreOptions::default()).unwrap();
    let fields = ["id", "size"].map(|name| store.batch().unwrap().field(name).unwrap());
    let [id, size] = fields;
    upsert(&store, fields, "a", 1);
    // Its name comes before the others.
    store.add_field(Field::new("a", Kind::SortedSet, LogicalType::Utf8)).unwrap();
    let late = store.batch().unwrap().field("a").unwrap();
    upsert(&store, fields, "b", 2);
    store.commit().unwrap();
    drop(store);

    let store = Store::open(folder.path(), StoreOptions::default()).unwrap();
    upsert(&store, fields, "c", 3);
    let mut segment = store.new_segment().unwrap();
    let mut doc = segment.document();
    doc.str(id, "d").unwrap().i64(size, 4).unwrap().str(late, "x").unwrap();
    doc.finish().unwrap();
    segment.finish().unwrap();
    store.merge_to(1).unwrap();
    let mut batch = store.batch().unwrap();
    let mut row = batch.update_with(&Update::new().add_to(late));
    row.str(id, "a").unwrap().i64(size, 5).unwrap().str(late, "x").unwrap();
    row.finish().unwrap();
    assert_eq!(store.apply(batch).unwrap().outcomes, [Outcome::Updated]);
    store.refresh().unwrap();
    let batch = store.batch().unwrap();
    assert_eq!(["id", "size", "a"].map(|name| batch.field(name).unwrap()), [id, size, late]);

    let count = |query: &Query| store.snapshot().search().count(query).unwrap();
    for (name, value, late) in [("a", 5, 1), ("b", 2, 0), ("c", 3, 0), ("d", 4, 1)] {
        let query = Query::eq("id", name).and(Query::eq("size", value));
        assert_eq!((count(&query), count(&query.and(Query::eq("a", "x")))), (1, late), "{name}");
    }
    assert_eq!(count(&Query::all_of([])), 4);
}

#[test]
fn a_batch_refuses_fields_that_it_does_not_have() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(folder.path(), schema(), StoreOptions::default()).unwrap();
    let [mut older, mut batch] = [0; 2].map(|_| store.batch().unwrap());
    let id = older.field("id").unwrap();
    store.add_field(Field::new("late", Kind::Numeric, LogicalType::I64)).unwrap();
    let late = store.batch().unwrap().field("late").unwrap();
    let mut doc = older.upsert();
    let error = doc.str(id, "a").unwrap().i64(late, 1).unwrap_err().to_string();
    assert!(error.ends_with("the writer's schema has no such field: the id is another schema's"), "{error}");

    let mut row = batch.update_with(&Update::new().unset(late));
    row.str(id, "a").unwrap();
    row.finish().unwrap();
    let error = store.apply(batch).unwrap_err().to_string();
    assert_eq!(error, "operation 0 of the batch: expected a field of the store, found number 2");
    assert!(store.batch().unwrap().field("other").is_err());
}
