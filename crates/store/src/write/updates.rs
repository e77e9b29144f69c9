//! Updates of documents that were found by a query or by addresses, and what all updates do in the lock.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use docvalues_column::PlainColumn;
use docvalues_terms::hash::hash;
use docvalues_writer::SegmentWriter;

use super::change_and_commit;
use super::read_for_updates::{Resolved, UpdateTarget};
use crate::batch::{Change, Condition, Operation, Updates, What, WriteBatch};
use crate::error::{Error, Result};
use crate::read::Found;
use crate::schema::StoreSchema;
use crate::segments::{Id, NewRows, Place};
use crate::store::{Current, Docs, Store, Writer};
use crate::versions::VersionField;

/// The updates of documents in segments, until all of a batch are known.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// In the order of the batch.
    targets: Vec<UpdateTarget>,
    /// The versions that they give to documents.
    versions: HashMap<Current, u64>,
    /// The numbers of fields that some updates compute, by document and field.
    numbers: HashMap<(Current, usize), Option<i64>>,
}

impl Pending {
    /// The version that an update of the batch gave to a document.
    pub(crate) fn version(&self, document: Current) -> Option<u64> {
        // Most batches have none.
        if self.versions.is_empty() { None } else { self.versions.get(&document).copied() }
    }
}

/// Checks a batch of updates without ids.
pub(super) fn prepare_updates(store: &Store, mut batch: WriteBatch) -> Result<(Resolved, Arc<StoreSchema>)> {
    batch.settle(Condition::Always);
    let WriteBatch { schema, rows, mut updates, operations, .. } = batch;
    store.schema().require_fields_of(&schema)?;
    updates.rows = rows.map(SegmentWriter::into_plain).transpose()?.unwrap_or_default();
    let (id_field, version_field) = (schema.id_place(), VersionField::of(&schema));
    let keys = schema.key_places();
    for (at, Operation { what, condition, .. }) in operations.iter().enumerate() {
        let refused = |why| Error::Request(format!("operation {at} of the batch: expected {why}"));
        let (What::Update(row), Condition::Always) = (what, condition) else {
            return Err(refused("an update without a condition".to_owned()));
        };
        let id = id_field.and_then(|field| updates.rows.column(field)?.string(*row));
        if id.is_some() {
            return Err(refused("an update without an id".to_owned()));
        }
        updates.check(*row, &schema, &keys).map_err(refused)?;
        version_field.map_or(Ok(None), |field| field.of_row(&updates.rows, *row)).map_err(refused)?;
    }
    Ok((Resolved::new(updates), schema))
}

/// Updates documents that `find` finds, by the only row or by one for each.
pub(super) fn update_found(
    store: &Store,
    (mut resolved, schema): (Resolved, &StoreSchema),
    find: &mut dyn FnMut(&Writer) -> Result<Vec<Current>>,
) -> Result<u64> {
    change_and_commit(store, |writer| {
        writer.docs.schema.require_fields_of(schema)?;
        check_versions(&writer.docs, &resolved, schema)?;
        let documents = find(writer)?;
        let planned = plan_updates(&writer.docs, &mut resolved, schema, &documents)?;
        // From here on, nothing fails.
        let (docs, mut pending) = (&mut writer.docs, Pending::default());
        for &(document, row, version) in &planned {
            // An earlier one may have moved the document in the buffer.
            let document = docs.now(document);
            docs.note_version(version.unwrap_or(0));
            let place = update(docs, document, row, (&resolved.updates, &mut pending), version);
            if let Some((place, field)) = place.zip(schema.id_place())
                && let Some(id) = docs.buffer.id(place, field).map(<[u8]>::to_vec)
            {
                docs.buffer.put(Id { id: &id, hash: hash(&id, store.seed), field }, place);
            }
        }
        set_rows(docs, &resolved, pending, schema)?;
        if !planned.is_empty() {
            writer.changed();
        }
        store.note_room(writer);
        Ok(planned.len() as u64)
    })
}

/// A document, the row that updates it, and the version that this has.
type PlannedUpdate = (Current, u32, Option<u64>);

/// Refuses versions after which a store could not assign any.
fn check_versions(docs: &Docs, resolved: &Resolved, schema: &StoreSchema) -> Result<()> {
    let Some(field) = VersionField::of(schema).filter(|_| docs.assigns_versions) else { return Ok(()) };
    let rows = 0..resolved.updates.count();
    let found = rows.filter_map(|row| field.of_row(&resolved.updates.rows, row).ok()?).max();
    match found.filter(|found| *found >= field.limit()) {
        Some(found) => {
            Err(Error::Request(format!("expected a version below {}, found {found}", field.limit())))
        }
        None => Ok(()),
    }
}

/// The updates of live documents that are not stale. Reads what they need.
fn plan_updates(
    docs: &Docs,
    resolved: &mut Resolved,
    schema: &StoreSchema,
    documents: &[Current],
) -> Result<Vec<PlannedUpdate>> {
    let field = VersionField::of(schema);
    let (mut planned, mut pending) = (Vec::with_capacity(documents.len()), Pending::default());
    for (document, at) in documents.iter().copied().zip(0..) {
        let row = if resolved.updates.count() == 1 { 0 } else { at };
        if !docs.is_live(document) {
            continue;
        }
        let of_row = |field: VersionField| field.of_row(&resolved.updates.rows, row).ok().flatten();
        let version = field.and_then(of_row);
        if let Some(version) = version {
            let found = match document {
                Current::Segment(segment, doc) => {
                    let version = docs.segments[segment].segment.version(schema, doc)?;
                    Some(Found { segment, doc, version })
                }
                _ => None,
            };
            let now = pending.version(document).or_else(|| docs.version_of(document, found, field));
            if now.is_some_and(|now| version <= now) {
                continue;
            }
        }
        pending.versions.extend(version.map(|version| (document, version)));
        planned.push((document, row, version));
    }
    if resolved.needs_reading(schema) {
        let target = |&(document, row, _): &PlannedUpdate| match document {
            Current::Segment(segment, doc) => Some(UpdateTarget { segment, doc, row }),
            _ => None,
        };
        let targets = planned.iter().filter_map(target);
        resolved.read(targets, |segment| docs.segments[segment].view(), schema)?;
    }
    for &(document, row, _) in &planned {
        if let Some(field) = overflow(docs, document, row, (&*resolved, &mut pending), schema) {
            return Err(overflow_error(docs, document, field, schema)?);
        }
    }
    resolved.read_again(&docs.segments, schema)?;
    Ok(planned)
}

/// The place of the field of which an update computes a number out of range. If there is none, notes the numbers after it.
pub(super) fn overflow(
    docs: &Docs,
    document: Current,
    row: u32,
    (resolved, pending): (&Resolved, &mut Pending),
    schema: &StoreSchema,
) -> Option<usize> {
    // Most batches compute none.
    let mut numbers = Vec::new();
    for &field in &resolved.computed {
        let after = match resolved.updates.change(row, field) {
            None => continue,
            Some(Change::Compute(how)) => {
                let before = match (pending.numbers.get(&(document, field)), document) {
                    (Some(number), _) => *number,
                    (None, Current::Segment(segment, doc)) => resolved.number(segment, doc, field),
                    _ => docs.in_buffer(document).and_then(|(buffer, place)| buffer.number(place, field)),
                };
                let (after, is_out) = how.apply(before, schema.fields()[field].logical);
                if is_out && !how.saturates {
                    return Some(field);
                }
                after
            }
            Some(_) => {
                let column = resolved.updates.rows.column(field);
                column.and_then(|column| column.numbers(row).first().copied())
            }
        };
        numbers.push(((document, field), after));
    }
    pending.numbers.extend(numbers);
    None
}

/// The error for an update that computes a number out of range.
fn overflow_error(docs: &Docs, document: Current, field: usize, schema: &StoreSchema) -> Result<Error> {
    let name = &schema.fields()[field].name;
    let mut id = None;
    if let Some(place) = schema.id_place() {
        id = match document {
            Current::Segment(segment, doc) => {
                let (view, field) = (docs.segments[segment].view(), &schema.fields()[place]);
                let column = view.changes.column(&view.segment.segment, (place, field))?;
                let mut row = PlainColumn::of_kind(field.kind);
                NewRows::read(&*column, &[doc], vec![doc])?.push_to(0, &mut row);
                row.string(0).map(<[u8]>::to_vec)
            }
            _ => docs.in_buffer(document).and_then(|(buffer, at)| buffer.id(at, place)).map(<[u8]>::to_vec),
        };
    }
    let of = id.map_or_else(String::new, |id| format!(" of document \"{}\"", String::from_utf8_lossy(&id)));
    Ok(Error::Request(format!(
        "expected a result in the range of its type in the field \"{name}\"{of}, found an overflow"
    )))
}

/// Updates a live document by a row. A changed copy takes the place of one in the buffer: returns where it is.
pub(super) fn update(
    docs: &mut Docs,
    current: Current,
    row: u32,
    (updates, pending): (&Updates, &mut Pending),
    version: Option<u64>,
) -> Option<Place> {
    if let Current::Segment(segment, doc) = current {
        pending.targets.push(UpdateTarget { segment, doc, row });
        pending.versions.extend(version.map(|version| (current, version)));
        return None;
    }
    docs.copy_updated(current, row, updates)
}

/// Sets the values of documents in segments. `resolved` has read what it needs, so that nothing fails any more.
pub(super) fn set_rows(
    docs: &mut Docs,
    resolved: &Resolved,
    pending: Pending,
    schema: &StoreSchema,
) -> Result<()> {
    let (mut targets, id_field) = (pending.targets, schema.id_place());
    // Those of a document stay in their order.
    targets.sort_by_key(|target| (target.segment, target.doc));
    for targets in targets.chunk_by(|a, b| a.segment == b.segment) {
        let fields = targets.iter().flat_map(|target| resolved.updates.fields(target.row));
        let fields: BTreeSet<usize> = fields.filter(|place| Some(*place) != id_field).collect();
        let segment = targets[0].segment;
        for place in fields {
            let rows = resolved.new_rows(targets, (place, schema));
            let dictionary = resolved.dictionaries.get(&(segment, place));
            docs.segments[segment].now.set((place, &schema.fields()[place]), &rows, dictionary)?;
        }
    }
    Ok(())
}
