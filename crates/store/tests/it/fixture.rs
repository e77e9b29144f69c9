//! A store of documents with an id and a size, and what it should contain.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use docvalues_column::{DocAddress, Field, Kind, LogicalType};
use docvalues_reader::OpenOptions;
use docvalues_search::{Docs, Query, stats::Stats};
use docvalues_storage::Directory;
use docvalues_store::error::Result;
use docvalues_store::{Condition, MergePolicy, Outcome, Snapshot, Store, StoreReader, StoreSchema, Update};
use docvalues_testkit::faults::{FaultyDirectory, PowerLossDirectory};

/// Tells other threads to stop when it is dropped, also by a panic.
pub(crate) struct Stop<'a>(pub(crate) &'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The disk of a process that ends after some calls.
pub(crate) fn dying(disk: &PowerLossDirectory, last: u32) -> Arc<dyn Directory> {
    let mut calls = 0;
    Arc::new(FaultyDirectory::new(Arc::new(disk.clone()), move |call| {
        calls += 1;
        if calls > last { Err(std::io::Error::other("killed")) } else { Ok(call.bytes) }
    }))
}

/// Merges small segments.
pub(crate) const POLICY: MergePolicy = MergePolicy::new()
    .segments_per_tier(3)
    .floor_bytes(1 << 10)
    .max_bytes(1 << 20)
    .max_deleted_percent(20)
    .max_updates_bytes(1 << 28);

/// The size of each document by its id.
pub(crate) type Contents = BTreeMap<u32, i64>;

pub(crate) fn schema() -> StoreSchema {
    let id = Field::new("id", Kind::Binary, LogicalType::Utf8);
    let size = Field::new("size", Kind::Numeric, LogicalType::I64);
    let schema = StoreSchema::new().with_field(id).unwrap().with_field(size).unwrap();
    schema.with_id_field("id").unwrap()
}

pub(crate) fn id(number: u32) -> String {
    format!("doc-{number:05}")
}

/// The names and bytes of all files in a folder.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    entries.map(|path| (name(&path), std::fs::read(path).unwrap())).collect()
}

/// The problems that a check of the store in a folder finds.
pub(crate) fn problems(folder: &Path) -> Vec<String> {
    let mut problems = Vec::new();
    StoreReader::check(folder, OpenOptions::new(), &mut |error| problems.push(error.to_string())).unwrap();
    problems
}

/// Adds a segment. Of equal ids, the last one stays.
pub(crate) fn add(store: &Store, docs: &[(u32, i64)]) -> Result<()> {
    let mut segment = store.new_segment()?;
    let (id_field, size) = (segment.field("id")?, segment.field("size")?);
    for (number, value) in docs {
        let mut doc = segment.document();
        doc.str(id_field, &id(*number))?.i64(size, *value)?;
        doc.finish()?;
    }
    segment.finish().map(drop)
}

/// All live documents, read from the columns; checks that other ways to read agree.
pub(crate) fn contents(snapshot: &Snapshot) -> Contents {
    let mut found = Contents::new();
    let live = snapshot.search().filter(&Query::all_of([])).unwrap();
    let mut live = live.iter().peekable();
    for part in 0..snapshot.parts().len() {
        let source = snapshot.parts().source(part);
        let (ids, sizes) = (source.column("id").unwrap(), source.column("size").unwrap());
        let (ids, sizes) = (ids.values().bytes().unwrap(), sizes.values().numbers().unwrap());
        let (mut id, mut size) = (Vec::new(), Vec::new());
        while let Some(DocAddress { doc, .. }) = live.next_if(|address| address.part as usize == part) {
            assert!(ids.get(doc, &mut id).unwrap() && sizes.get(doc, &mut size).unwrap());
            let number = std::str::from_utf8(&id).unwrap().strip_prefix("doc-").unwrap().parse().unwrap();
            assert_eq!(found.insert(number, size[0]), None, "one document for each id");
        }
    }
    assert_eq!(snapshot.docs(), found.len() as u64);
    let stats = snapshot.search();
    if !snapshot.parts().is_empty() {
        let stats = stats.stats(Docs::All, &Stats::of("size")).unwrap();
        assert_eq!(stats.docs, found.len() as u64);
    }
    // A replica that has read nothing has no id field.
    if found.is_empty() {
        return found;
    }
    // Ascending, descending, and one again.
    let numbers = found.keys().take(5).chain(found.keys().rev().take(5)).chain(found.keys().take(1));
    let some: Vec<String> =
        ["unknown".to_owned()].into_iter().chain(numbers.map(|number| id(*number))).collect();
    let some: Vec<&[u8]> = some.iter().map(|id| id.as_bytes()).collect();
    let one_by_one: Vec<_> = some.iter().map(|id| snapshot.find(id).unwrap()).collect();
    assert!(one_by_one[0].is_none() && one_by_one[1..].iter().all(Option::is_some));
    assert_eq!(snapshot.find_many(&some).unwrap(), one_by_one);
    found
}

/// Adds to the sizes of documents, in one batch. Returns the outcomes.
pub(crate) fn count(store: &Store, amounts: &[(u32, i64)]) -> Result<Vec<Outcome>> {
    let mut batch = store.batch()?;
    let (id_field, size) = (batch.field("id")?, batch.field("size")?);
    for (number, amount) in amounts {
        let mut row = batch.update_with(&Update::new().add(size, *amount));
        row.str(id_field, &id(*number))?;
        row.finish()?;
    }
    Ok(store.apply(batch)?.outcomes)
}

/// Applies writes and deletes, which every store of the fixture takes. Returns the outcomes. Every third document is only
/// written if there is none with its id, and then updated, which comes to the same.
pub(crate) fn apply(store: &Store, operations: &[(u32, Option<i64>)]) -> Result<Vec<Outcome>> {
    let mut batch = store.batch()?;
    let (id_field, size) = (batch.field("id")?, batch.field("size")?);
    let is_updated = |number: u32, value: Option<i64>| value.is_some() && number % 3 == 1;
    for (number, value) in operations {
        match value {
            Some(value) if is_updated(*number, Some(*value)) => {
                let mut doc = batch.upsert_if(Condition::Absent);
                doc.str(id_field, &id(*number))?.i64(size, -1_000)?;
                doc.finish()?;
                let mut row = batch.update();
                row.str(id_field, &id(*number))?.i64(size, *value)?;
                row.finish()?;
            }
            Some(value) => {
                let mut doc = batch.upsert();
                doc.str(id_field, &id(*number))?.i64(size, *value)?;
                doc.finish()?;
            }
            None => batch.delete(id(*number).as_bytes()),
        }
    }
    let mut outcomes = store.apply(batch)?.outcomes.into_iter();
    let outcome = |(number, value): &(u32, Option<i64>)| {
        let outcome = outcomes.next()?;
        if !is_updated(*number, *value) {
            return Some(outcome);
        }
        assert_eq!(outcomes.next(), Some(Outcome::Updated));
        Some(if outcome == Outcome::Added { outcome } else { Outcome::Replaced })
    };
    Ok(operations.iter().filter_map(outcome).collect())
}
