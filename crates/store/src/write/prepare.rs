//! [`Prepared`]: a batch before it is applied: what can be done without a lock.

use std::sync::Arc;

use docvalues_column::{Lists, PlainColumns};
use docvalues_terms::hash::hash;
use docvalues_terms::ids::MAX_ID_LEN;
use docvalues_writer::SegmentWriter;

use super::read_for_updates::{Resolved, UpdateTarget};
use crate::batch::body::{BatchRef, Body, Decided, FrameBody};
use crate::batch::{Condition, Operation, What, WriteBatch};
use crate::error::{Error, Result};
use crate::log::MAX_BODY;
use crate::read::{Found, Snapshot};
use crate::schema::StoreSchema;
use crate::store::Store;
use crate::versions::VersionField;

/// A batch that was checked, and what the segments have of its ids.
pub(crate) struct Prepared {
    pub(crate) schema: Arc<StoreSchema>,
    pub(crate) docs: PlainColumns,
    /// The updates, and what they need to know of the segments.
    pub(crate) resolved: Resolved,
    pub(crate) operations: Vec<Operation>,
    pub(crate) deleted: Lists<u8>,
    /// The places of the fields of ids and of versions.
    pub(crate) id_field: Option<usize>,
    pub(crate) version_field: Option<VersionField>,
    /// The version of each operation that has one.
    pub(crate) versions: Vec<Option<u64>>,
    /// The first operation that is given a version.
    pub(crate) without_version: Option<usize>,
    /// The hash of the id of each operation.
    pub(crate) hashes: Vec<u64>,
    /// The live document of each id in the segments.
    pub(crate) found: Vec<Option<Found>>,
    /// That of the segments that were asked: see [`Writer::generation`](crate::store::Writer::generation).
    pub(crate) generation: u64,
    /// The body of its frame, without what is decided in the lock; empty without a log.
    pub(crate) body: FrameBody,
    /// What was decided of a batch that is read from a log.
    pub(crate) replayed: Option<Decided>,
}

/// Checks a batch, and hashes its ids.
pub(super) fn prepare(store: &Store, mut batch: WriteBatch) -> Result<Prepared> {
    batch.settle(Condition::Always);
    let WriteBatch { schema, docs, rows, mut updates, operations, deleted, .. } = batch;
    store.schema().require_fields_of(&schema)?;
    updates.rows = rows.map(SegmentWriter::into_plain).transpose()?.unwrap_or_default();
    let mut prepared = Prepared {
        schema: schema.clone(),
        docs: docs.into_plain()?,
        resolved: Resolved::new(updates),
        id_field: schema.id_place(),
        version_field: VersionField::of(&schema),
        versions: Vec::with_capacity(operations.len()),
        without_version: None,
        hashes: Vec::with_capacity(operations.len()),
        found: Vec::new(),
        generation: u64::MAX,
        body: FrameBody::default(),
        replayed: None,
        operations,
        deleted,
    };
    let keys = schema.key_places();
    for at in 0..prepared.operations.len() {
        let refused = |why| Error::Request(format!("operation {at} of the batch: expected {why}"));
        prepared.check(at, &schema, &keys).map_err(refused)?;
        let version = prepared.version(at).map_err(refused)?;
        prepared.versions.push(version);
        if version.is_none() && matches!(prepared.operations[at].what, What::Write(_)) {
            prepared.without_version.get_or_insert(at);
        }
        prepared.hashes.push(prepared.id(at).map_or(0, |id| hash(id, store.seed)));
    }
    Ok(prepared)
}

impl Prepared {
    /// Encodes the body of the frame, so far as it is known outside of the lock.
    pub(crate) fn encode_body(&mut self) -> Result<()> {
        let Prepared { docs, resolved, operations, deleted, .. } = &*self;
        let batch = BatchRef { docs, updates: &resolved.updates, operations, deleted };
        self.body = FrameBody::of(&Body::Batch(batch));
        // What is decided takes a bit for each operation, and a version.
        const DECIDED: usize = 32;
        if self.body.len() + self.operations.len() + DECIDED > MAX_BODY {
            let found = self.body.len();
            return Err(Error::Request(format!(
                "expected a batch of at most {MAX_BODY} bytes, found {found}"
            )));
        }
        Ok(())
    }

    /// The id of the operation at place `at`.
    pub(crate) fn id(&self, at: usize) -> Option<&[u8]> {
        match self.operations[at].what {
            What::Write(doc) => self.docs.column(self.id_field?)?.string(doc),
            What::Update(row) => self.resolved.updates.rows.column(self.id_field?)?.string(row),
            What::Delete(place, _) => Some(self.deleted.get(place)),
        }
    }

    /// Refuses what the store cannot do. Returns what is expected.
    fn check(&self, at: usize, schema: &StoreSchema, keys: &[usize]) -> Result<(), String> {
        let Operation { what, condition, .. } = self.operations[at];
        if let What::Update(row) = what {
            self.resolved.updates.check(row, schema, keys)?;
            if condition == Condition::Absent {
                return Err(
                    "an update that can take place, found the condition that there is no document".to_owned()
                );
            }
        }
        let is_update = matches!(what, What::Update(_));
        let names_version =
            matches!((what, condition), (What::Delete(_, Some(_)), _) | (_, Condition::Version(_)));
        match (schema.id_field(), self.id(at)) {
            (Some(field), None) => Err(format!("an id in the field \"{field}\", found none")),
            (Some(_), Some(id)) if id.len() > MAX_ID_LEN => {
                Err(format!("an id of at most {MAX_ID_LEN} bytes, found {}", id.len()))
            }
            (None, id) if id.is_some() || condition != Condition::Always || is_update => {
                Err("a store with an id field, found one without".to_owned())
            }
            _ if names_version && self.version_field.is_none() => {
                Err("a store with a version field, found one without".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// The version that an operation was given.
    pub(crate) fn version(&self, at: usize) -> Result<Option<u64>, String> {
        let Some(field) = &self.version_field else { return Ok(None) };
        match self.operations[at].what {
            What::Delete(_, Some(version)) if version > field.highest() => {
                Err(format!("a version of at most {}, found {version}", field.highest()))
            }
            What::Delete(_, version) => Ok(version),
            What::Write(doc) => field.of_row(&self.docs, doc),
            What::Update(row) => field.of_row(&self.resolved.updates.rows, row),
        }
    }

    /// Looks all ids up in the segments of a snapshot.
    pub(crate) fn look_up(&mut self, now: &Snapshot) -> Result<()> {
        if self.id_field.is_some() {
            let ids: Vec<&[u8]> = (0..self.operations.len()).filter_map(|at| self.id(at)).collect();
            self.found = now.find_in_segments(&ids)?;
            self.read_for_updates(now)?;
        }
        self.generation = now.generation();
        Ok(())
    }

    /// Reads what the updates of documents in segments need.
    fn read_for_updates(&mut self, now: &Snapshot) -> Result<()> {
        self.resolved.clear();
        if !self.resolved.needs_reading(&self.schema) {
            return Ok(());
        }
        let target = |(operation, found): (&Operation, &Option<Found>)| match (operation.what, *found) {
            (What::Update(row), Some(Found { segment, doc, .. })) => Some(UpdateTarget { segment, doc, row }),
            _ => None,
        };
        let targets = self.operations.iter().zip(&self.found).filter_map(target);
        self.resolved.read(targets, |segment| now.view(segment), &self.schema)
    }

    /// Gives the next versions to the documents that have none. Returns the first.
    pub(crate) fn assign_versions(&mut self, next: u64) -> Option<u64> {
        let field = self.version_field?;
        let (mut free, mut given, mut first) = (next..field.highest(), Vec::new(), None);
        for (operation, version) in self.operations.iter().zip(&mut self.versions) {
            if let (What::Write(doc), None) = (operation.what, *version) {
                let next = free.next().unwrap_or(field.highest());
                *version = Some(next);
                first.get_or_insert(next);
                given.push((doc, field.stored(next)));
            }
        }
        self.docs.set_numbers(field.place, &given);
        first
    }
}
