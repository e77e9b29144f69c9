//! The events of a store.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex};

use docvalues_column::{Field, Kind, LogicalType};
use docvalues_store::{Durability, Store, StoreOptions, StoreSchema};
use tracing::field::{Field as EventField, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps the level and the fields of each event, but the time that something took.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &EventField, value: &dyn fmt::Debug) {
        if field.name() != "elapsed" {
            write!(self.0, " {}={value:?}", field.name()).unwrap();
        }
    }
}

impl Subscriber for Listener {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[test]
fn work_emits_events() {
    let listener = Listener::default();
    let folder = tempfile::tempdir().unwrap();
    let schema = StoreSchema::new().with_field(Field::new("size", Kind::Numeric, LogicalType::I64)).unwrap();
    let options = StoreOptions::new().durability(Durability::EachBatch);
    tracing::subscriber::with_default(listener.clone(), || {
        let store = Store::create(folder.path(), schema, options).unwrap();
        for _ in 0..2 {
            let mut batch = store.batch().unwrap();
            batch.upsert().finish().unwrap();
            store.apply(batch).unwrap();
            store.refresh().unwrap();
            store.commit().unwrap();
        }
        store.merge_to(1).unwrap();
        let mut batch = store.batch().unwrap();
        batch.upsert().finish().unwrap();
        store.apply(batch).unwrap();
        drop(store);
        drop(Store::open(folder.path(), options).unwrap());
    });
    let lines = listener.0.lock().unwrap().join("\n");
    let at = format!("folder={}", folder.path().display());
    for work in ["apply", "refresh", "flush", "commit", "merge"] {
        let level = if work == "apply" { "TRACE" } else { "DEBUG" };
        let line = format!("{level} message=done work=\"{work}\" {at}");
        assert!(lines.contains(&line), "{line}\n{lines}");
    }
    let line = format!("INFO message=applied the log {at} batches=1");
    assert!(lines.contains(&line), "{line}\n{lines}");
}
