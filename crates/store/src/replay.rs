//! Applying the batches of a log again.

use crate::batch::{Condition, Operation, WriteBatch};
use crate::error::{Error, Result};
use crate::log::body::{self, BatchBody, Body, Decided};
use crate::log::{LogStart, read_logs};
use crate::prepare::Prepared;
use crate::schema::{SchemaEntry, StoreSchema};
use crate::store::Store;

impl Store {
    /// Applies the batches that the log has after the commit. Returns how many there were.
    pub(crate) fn replay(&self) -> Result<u64> {
        let start = self.change(|writer| {
            let commit = &writer.committed;
            let start = |first_log| LogStart { first_log, sequence: commit.sequence, epoch: commit.epoch };
            Ok(commit.first_log.map(start))
        })?;
        let Some(start) = start else { return Ok(0) };
        let end = read_logs(&*self.directory, start, |sequence, bytes| {
            self.replay_frame(sequence, &bytes).map_err(|what| match what {
                Wrong::Frame(what) => {
                    let file = self.directory.path().display().to_string();
                    Error::Damaged { file, what: format!("batch {sequence} of the log: {what}") }
                }
                Wrong::Store(error) => error,
            })
        })?;
        Ok(end.frames)
    }

    fn replay_frame(&self, sequence: u64, bytes: &[u8]) -> Result<(), Wrong> {
        let (body, decided) = body::decode(bytes).map_err(Wrong::Frame)?;
        let now = match body {
            Body::Batch(batch) => self.replay_batch(batch, decided)?,
            Body::Other(schema) => {
                let entry: SchemaEntry =
                    serde_json::from_slice(&schema).map_err(|error| Wrong::Frame(error.to_string()))?;
                let schema = StoreSchema::try_from(entry).map_err(Wrong::Frame)?;
                if !schema.extends(&self.schema()) {
                    return Err(Wrong::Frame("expected the fields of the store, found others".to_owned()));
                }
                self.change(|writer| {
                    writer.schema = schema.into();
                    Ok(writer.changed())
                })?
            }
        };
        match now == sequence {
            true => Ok(()),
            false => Err(Wrong::Frame(format!("expected a change, found none: batch {now} is the last"))),
        }
    }

    /// Applies a batch as it was decided. Returns the last sequence number.
    fn replay_batch(&self, batch: BatchBody, decided: Decided) -> Result<u64, Wrong> {
        let contradictory = || Wrong::Frame("expected columns that fit each other, found others".to_owned());
        let (docs, updates, operations, deleted) = batch.parts().ok_or_else(contradictory)?;
        let mut batch = WriteBatch::new(self.schema())?;
        // This compares the values with the types of their fields.
        batch.docs.append_plain(&docs).map_err(|error| Wrong::Frame(error.to_string()))?;
        if updates.count() > 0 {
            batch.set_updates(updates).map_err(|error| Wrong::Frame(error.to_string()))?;
        }
        let operation = |(at, what)| {
            let is_refused =
                !decided.took_place.is_empty() && !docvalues_column::bits::get(&decided.took_place, at);
            Operation { what, condition: Condition::Always, is_refused }
        };
        batch.set_operations(operations.into_iter().enumerate().map(operation).collect(), deleted);
        self.flush(self.options.buffer_bytes / 2)?;
        let prepared = Prepared { replayed: Some(decided), ..self.prepare(batch)? };
        Ok(self.apply_prepared(prepared)?.sequence)
    }
}

/// What keeps a frame from being applied.
enum Wrong {
    /// Its contents.
    Frame(String),
    /// The store.
    Store(Error),
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Wrong {
        Wrong::Store(error)
    }
}

#[cfg(all(test, not(shuttle)))]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::sync::Arc;

    use docvalues_column::{Field, Kind, LogicalType};
    use docvalues_storage::PowerLossDirectory;

    use super::*;
    use crate::options::StoreOptions;

    fn schema(names: &[&str]) -> StoreSchema {
        let field = |name: &&str| Field::new(*name, Kind::Numeric, LogicalType::I64);
        names.iter().map(field).try_fold(StoreSchema::new(), StoreSchema::with_field).unwrap()
    }

    /// The frame of a change that gives the store these fields.
    fn other(names: &[&str]) -> Vec<u8> {
        body::encode(&Body::Other(serde_json::to_vec(&SchemaEntry::from(&schema(names))).unwrap()))
    }

    #[test]
    fn frames_that_do_not_fit_are_refused() {
        let disk = Arc::new(PowerLossDirectory::new("/disk"));
        let store = Store::create_in(disk, schema(&["a", "b"]), StoreOptions::default()).unwrap();
        let replay = |sequence, bytes: &[u8]| match store.replay_frame(sequence, bytes) {
            Ok(()) => None,
            Err(Wrong::Frame(what)) => Some(what),
            Err(Wrong::Store(error)) => panic!("{error}"),
        };
        assert_eq!(replay(1, &other(&["a", "b", "c"])), None);
        // A frame that was left out.
        assert!(replay(3, &other(&["a", "b", "c"])).unwrap().contains("expected a change"));
        // A format may be another one.
        let mut formatted = schema(&["a", "b", "c"]);
        formatted = formatted
            .clone()
            .with_formats([Field { format: Some("%F".into()), ..formatted.fields()[0].clone() }])
            .unwrap();
        let formatted =
            body::encode(&Body::Other(serde_json::to_vec(&SchemaEntry::from(&formatted)).unwrap()));
        assert_eq!(replay(3, &formatted), None);
        assert_eq!(store.snapshot().schema().fields()[0].format.as_deref(), Some("%F"));
        let fields = Some("expected the fields of the store, found others".to_owned());
        assert_eq!(replay(3, &other(&["a", "b"])), fields);
        assert_eq!(replay(3, &other(&["b", "a", "c"])), fields);
        assert!(replay(3, &body::encode(&Body::Other(b"{}".to_vec()))).is_some());
        assert!(replay(3, &[9]).unwrap().contains("expected the body of a frame"));
        assert_eq!(store.snapshot().schema().fields().len(), 3);
    }
}
