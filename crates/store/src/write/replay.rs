//! Applying the batches of a log again.

use docvalues_column::{Field, bits};

use super::apply::apply_prepared;
use super::prepare::{Prepared, prepare};
use crate::batch::body::{BatchBody, Body, Decided, FrameBody};
use crate::commit::flush;
use crate::error::{Error, Result};
use crate::files::check_user_data;
use crate::log::{Queued, read_logs_after};
use crate::merge::widen;
use crate::schema::{SchemaEntry, StoreSchema};
use crate::store::Store;

/// Applies the batches that the log has after the commit. Returns how many there were.
pub(crate) fn replay(store: &Store) -> Result<u64> {
    let (number, commit) = store.change(|writer| {
        let (number, commit) = writer.last_commit();
        Ok((number, commit.clone()))
    })?;
    read_logs_after(&*store.directory, (number, &commit), |frame| replay_frame(store, frame))
}

/// Applies a batch of a log again, which must follow the last one.
pub(crate) fn replay_frame(store: &Store, frame: Queued) -> Result<()> {
    let sequence = frame.sequence;
    let applied = decode_next(store, frame).and_then(|frame| {
        // A replica makes room before it decodes a frame.
        flush(store, store.options.buffer_bytes / 2)?;
        replay_decoded(store, frame)
    });
    applied.map_err(|what| match what {
        Wrong::Frame(what) => {
            let file = store.directory.path().display().to_string();
            Error::Damaged { file, what: format!("batch {sequence} of the log: {what}") }
        }
        Wrong::Store(error) => error,
    })
}

/// Reads a frame, which must follow the last batch.
pub(crate) fn decode_next(store: &Store, Queued { sequence, body, .. }: Queued) -> Result<Decoded, Wrong> {
    let (frame, body, decided) = FrameBody::read(body).map_err(Wrong::Frame)?;
    let last = store.change_quietly(|writer| Ok(writer.sequence))?;
    if last + 1 != sequence {
        return Err(Wrong::Frame(format!("expected batch {}", last + 1)));
    }
    Ok(Decoded { frame, body, decided })
}

/// Applies the change of a frame as it was decided.
pub(crate) fn replay_decoded(store: &Store, Decoded { frame, body, decided }: Decoded) -> Result<(), Wrong> {
    match body {
        Body::Batch(batch) => replay_batch(store, batch, frame, decided),
        Body::Fields(schema) => replay_schema(store, &schema, frame),
        // What it did was lost, and so is its history: whoever has its commit nevertheless must notice.
        Body::Other(schema, _) => replay_schema(store, &schema, FrameBody::default()),
        Body::UserData(user_data) => replay_user_data(store, user_data, frame),
    }
}

/// Sets the bytes of the next commit.
fn replay_user_data(store: &Store, user_data: Vec<u8>, frame: FrameBody) -> Result<(), Wrong> {
    check_user_data(&user_data).map_err(Wrong::Frame)?;
    Ok(store.change(|writer| {
        writer.user_data = user_data.into();
        writer.applied(frame)
    })?)
}

/// Applies a change of the schema.
fn replay_schema(store: &Store, schema: &[u8], frame: FrameBody) -> Result<(), Wrong> {
    let entry: SchemaEntry =
        serde_json::from_slice(schema).map_err(|error| Wrong::Frame(error.to_string()))?;
    let schema = StoreSchema::try_from(entry).map_err(Wrong::Frame)?;
    let now = store.schema();
    // The frames after it have values of wider fields.
    let wider: Vec<Field> = schema.changed_fields(&now).map(|(_, field)| field.clone()).collect();
    let wider = now.altered(&wider).map_err(|error| Wrong::Frame(error.to_string()))?;
    if !schema.extends(&wider) {
        return Err(Wrong::Frame("expected the fields of the store, found others".to_owned()));
    }
    Ok(store.change(|writer| {
        if wider != *writer.docs.schema {
            widen(store, writer, wider)?;
        }
        writer.docs.schema = schema.into();
        writer.applied(frame)
    })?)
}

/// Applies a batch as it was decided.
fn replay_batch(store: &Store, mut body: BatchBody, frame: FrameBody, decided: Decided) -> Result<(), Wrong> {
    if !body.is_consistent() {
        return Err(Wrong::Frame("expected operations that fit each other, found others".to_owned()));
    }
    for (at, operation) in body.operations.iter_mut().enumerate() {
        operation.is_refused = !decided.took_place.is_empty() && !bits::get(&decided.took_place, at);
    }
    let mut batch = store.snapshot().batch()?;
    batch.fill(body).map_err(|error| Wrong::Frame(error.to_string()))?;
    let prepared = Prepared { body: frame, replayed: Some(decided), ..prepare(store, batch)? };
    apply_prepared(store, prepared)?;
    Ok(())
}

/// A frame that was read.
pub(crate) struct Decoded {
    pub(crate) frame: FrameBody,
    body: Body,
    decided: Decided,
}

/// What keeps a frame from being applied.
#[derive(Debug)]
pub(crate) enum Wrong {
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

    use docvalues_column::{Kind, LogicalType};
    use docvalues_testkit::faults::PowerLossDirectory;

    use super::*;
    use crate::options::StoreOptions;

    fn schema(names: &[&str]) -> StoreSchema {
        let field = |name: &&str| Field::new(*name, Kind::Numeric, LogicalType::I64);
        names.iter().map(field).try_fold(StoreSchema::new(), StoreSchema::with_field).unwrap()
    }

    /// The body of a frame that gives the store these fields.
    fn other(schema: &StoreSchema) -> Vec<u8> {
        let schema = serde_json::to_vec(&SchemaEntry::from(schema)).unwrap();
        FrameBody::of(&Body::<BatchBody>::Other(schema, 7)).into_bytes()
    }

    #[test]
    fn frames_that_do_not_fit_are_refused() {
        let disk = Arc::new(PowerLossDirectory::new("/disk"));
        let store = Store::create_in(disk, schema(&["a", "b"]), StoreOptions::default()).unwrap();
        let replay = |sequence, body: Vec<u8>| {
            let decoded = decode_next(&store, Queued { sequence, history: 0, body });
            match decoded.and_then(|decoded| replay_decoded(&store, decoded)) {
                Ok(()) => None,
                Err(Wrong::Frame(what)) => Some(what),
                Err(Wrong::Store(error)) => panic!("{error}"),
            }
        };
        assert_eq!(replay(1, other(&schema(&["a", "b", "c"]))), None);
        // A frame that was left out.
        assert_eq!(replay(3, other(&schema(&["a", "b", "c"]))), Some("expected batch 2".to_owned()));
        // A format may be another one.
        let mut formatted = schema(&["a", "b", "c"]);
        formatted = formatted
            .clone()
            .with_formats(vec![Field { format: Some("%F".into()), ..formatted.fields()[0].clone() }])
            .unwrap();
        assert_eq!(replay(2, other(&formatted)), None);
        assert_eq!(store.snapshot().schema().fields()[0].format.as_deref(), Some("%F"));
        let fields = Some("expected the fields of the store, found others".to_owned());
        assert_eq!(replay(3, other(&schema(&["a", "b"]))), fields);
        assert_eq!(replay(3, other(&schema(&["b", "a", "c"]))), fields);
        assert!(replay(3, FrameBody::of(&Body::<BatchBody>::Fields(b"{}".to_vec())).into_bytes()).is_some());
        assert!(replay(3, vec![9]).unwrap().contains("expected the body of a frame"));
        let bytes = |len| FrameBody::of(&Body::<BatchBody>::UserData(vec![7; len])).into_bytes();
        let too_long = replay(3, bytes((1 << 20) + 1)).unwrap();
        assert_eq!(too_long, "expected at most 1048576 bytes of user data, found 1048577");
        assert_eq!(replay(3, bytes(1 << 20)), None);
        assert_eq!(store.snapshot().schema().fields().len(), 3);
    }
}
