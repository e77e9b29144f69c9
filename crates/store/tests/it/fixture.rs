//! A store of documents with an id and a size, and what it should contain.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use docvalues_column::{Field, Kind, LogicalType};
use docvalues_search::{Docs, stats::Stats};
use docvalues_store::{Result, Snapshot, Store, StoreSchema};

/// Tells other threads to stop when it is dropped, also by a panic.
pub(crate) struct Stop<'a>(pub(crate) &'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

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
    for part in snapshot.segments() {
        let (ids, sizes) = (part.segment.binary("id").unwrap(), part.segment.numeric("size").unwrap());
        ids.scan(0..part.segment.docs(), |docs, values| {
            for (doc, value) in docs.iter().zip(values.iter()).filter(|(doc, _)| part.live.contains(*doc)) {
                let number =
                    std::str::from_utf8(value).unwrap().strip_prefix("doc-").unwrap().parse().unwrap();
                let before = found.insert(number, sizes.get(doc).unwrap().unwrap());
                assert_eq!(before, None, "one document for each id");
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    }
    assert_eq!(snapshot.docs(), found.len() as u64);
    let stats = snapshot.search();
    if snapshot.segments().len() > 0 {
        let stats = stats.stats(Docs::All, &Stats::of("size")).unwrap();
        assert_eq!(stats.docs, found.len() as u64);
    }
    for number in found.keys().take(5) {
        assert!(snapshot.find(id(*number).as_bytes()).unwrap().is_some());
    }
    found
}
