//! Deltas: the changes of all segments between two commits. Folds: all changes of one segment since it was written.
//!
//! Both are segments, so that they have checksums, and every tool that reads a segment reads them.
//!
//! ```text
//! a row for each changed document, ascending by segment and document; a column for each changed field
//!
//!          _segment  _doc  _deleted  _unset    size   host
//!               161     7      true       -       -      -     it was deleted
//!               161   200         -       -     512      -     it has another size
//!               170     3         -  {size}       -  "b.x"     it has no size any more, and another host
//!
//! in a delta, then one for each id that was deleted with a version, as long as such deletions are remembered
//!
//!          _id  _version  _sequence
//!          "a"         9         41
//! ```
//!
//! Values are final: whole sets, and not what was added or removed.

mod delta_reader;

use std::collections::BTreeSet;
use std::sync::Arc;

use docvalues_column::{DocId, Field, Kind, LogicalType, PlainColumn, PlainColumns, SortKey};
use docvalues_storage::{Directory, NewFile};
use docvalues_writer::{BytesKind, FieldSpec, Schema, SegmentWriter, WriterOptions};

pub(crate) use delta_reader::read;

use super::new_rows::NewRows;
use super::segment_changes::SegmentChanges;
use super::segment_state::{SegmentState, places_by_key};
use crate::error::{Error, Result};
use crate::files::{FileEntry, FileName};
use crate::schema::StoreSchema;
use crate::versions::Tombstone;

const SEGMENT: &str = "_segment";
const DOC: &str = "_doc";
const DELETED: &str = "_deleted";
const UNSET: &str = "_unset";
const ID: &str = "_id";
const VERSION: &str = "_version";
const SEQUENCE: &str = "_sequence";

/// Rows that are written at once.
const BATCH: usize = 1 << 13;

/// The columns of a delta that are none of the store's, in the order of its schema.
const OWN: usize = 4;

/// The changes of a segment since a moment.
pub(crate) struct ChangedSegment<'a> {
    state: &'a SegmentState,
    /// The documents that were deleted or updated, ascending.
    docs: Vec<DocId>,
    /// Those of which a field was updated, by its place, ascending. Some may be deleted.
    updated: Vec<(usize, Vec<DocId>)>,
}

impl<'a> ChangedSegment<'a> {
    /// O(changes of the blocks that changed).
    pub(crate) fn since(state: &'a SegmentState, since: &SegmentChanges) -> ChangedSegment<'a> {
        let now = &state.now;
        let mut docs: Vec<DocId> = now.live.deleted_since(&since.live).collect();
        let mut updated = Vec::new();
        if !now.has_values_of(since) {
            updated.extend(now.fields().map(|field| (field, now.updated_since(since, field))));
            updated.retain(|(_, docs)| !docs.is_empty());
            docs.extend(updated.iter().flat_map(|(_, docs)| docs));
            docs.sort_unstable();
            docs.dedup();
        }
        ChangedSegment { state, docs, updated }
    }

    /// The number of documents that changed.
    pub(crate) fn len(&self) -> usize {
        self.docs.len()
    }
}

/// Writes a delta or a fold, unless nothing changed. Segments are in any order.
pub(crate) fn write(
    directory: &Arc<dyn Directory>,
    name: FileName,
    schema: &StoreSchema,
    mut changed: Vec<ChangedSegment<'_>>,
    tombstones: &[(&[u8], Tombstone)],
) -> Result<Option<FileEntry>> {
    changed.retain(|changed| changed.len() > 0);
    if changed.is_empty() && tombstones.is_empty() {
        return Ok(None);
    }
    let by_number = places_by_key(changed.iter().map(|changed| changed.state.number()).zip(0..).collect());
    let fields = changed.iter().flat_map(|changed| &changed.updated).map(|(field, _)| *field);
    let fields = Vec::from_iter(fields.collect::<BTreeSet<usize>>());
    let mut columns = Schema::new();
    columns.add(FieldSpec::new(SEGMENT, LogicalType::I64))?;
    columns.add(FieldSpec::new(DOC, LogicalType::I64))?;
    columns.add(FieldSpec::new(DELETED, LogicalType::Bool))?;
    columns.add(FieldSpec::new(UNSET, LogicalType::Utf8).multi_valued())?;
    for field in &fields {
        columns.add(&schema.fields()[*field])?;
    }
    let file = NewFile::create(directory.clone(), name.to_string())?;
    let mut writer = SegmentWriter::to_new_file(file, None, columns, WriterOptions::default());
    writer.sort_by(vec![SortKey::of(SEGMENT), SortKey::of(DOC)])?;
    for at in by_number {
        write_rows(&mut writer, &changed[at], (&fields, schema.fields()))?;
    }
    if !tombstones.is_empty() {
        let id = writer.add_field(FieldSpec::new(ID, LogicalType::Bytes).kind(BytesKind::Binary))?;
        let version = writer.add_field(FieldSpec::new(VERSION, LogicalType::U64))?;
        let sequence = writer.add_field(FieldSpec::new(SEQUENCE, LogicalType::U64))?;
        for (name, tombstone) in tombstones {
            let mut row = writer.document();
            row.bytes(id, name)?.u64(version, tombstone.version)?.u64(sequence, tombstone.sequence)?;
            row.finish()?;
        }
    }
    let summary = writer.finish().map_err(docvalues_writer::FinishError::into_error)?;
    Ok(Some(FileEntry::of(name.number().unwrap_or_default(), &summary)))
}

/// Writes the rows of a segment. `places` are the fields of the delta.
fn write_rows(
    writer: &mut SegmentWriter<NewFile>,
    ChangedSegment { state, docs, updated }: &ChangedSegment<'_>,
    (places, fields): (&[usize], &[Field]),
) -> Result<()> {
    let now = &state.now;
    let mut columns_of = Vec::with_capacity(places.len());
    for &place in places {
        let of_field = updated.binary_search_by_key(&place, |(field, _)| *field);
        let docs = of_field.map_or(&[][..], |at| &updated[at].1);
        let live = docs.iter().copied().filter(|doc| now.live.contains(*doc)).collect::<Vec<_>>();
        columns_of.push((&fields[place], now.column(&state.segment.segment, (place, &fields[place]))?, live));
    }
    for docs in docs.chunks(BATCH) {
        let (first, last) = (docs[0], docs[docs.len() - 1]);
        let [mut segments, mut numbers, mut deleted] =
            std::array::from_fn(|_| PlainColumn::of_kind(Kind::Numeric));
        for doc in docs {
            segments.push_numbers(&[state.number().cast_signed()]);
            numbers.push_numbers(&[doc.get().into()]);
            deleted.push_numbers(if now.live.contains(*doc) { &[] } else { &[1] });
        }
        let mut unset: Vec<Vec<&[u8]>> = vec![Vec::new(); docs.len()];
        let mut columns = Vec::with_capacity(OWN + places.len());
        for (field, column, all) in &columns_of {
            let within = all.partition_point(|doc| *doc < first)..all.partition_point(|doc| *doc <= last);
            let rows = NewRows::read(&**column, &all[within.clone()], all[within].to_vec())?;
            let (mut values, mut row) = (PlainColumn::of_kind(field.kind), 0);
            for (at, doc) in docs.iter().enumerate() {
                if rows.docs.get(row as usize) != Some(doc) {
                    values.append_absent(1);
                    continue;
                }
                rows.push_to(row, &mut values);
                if !values.has_value(values.docs() - 1) {
                    unset[at].push(field.name.as_bytes());
                }
                row += 1;
            }
            columns.push(values);
        }
        let mut removed = PlainColumn::of_kind(Kind::SortedSet);
        unset.into_iter().for_each(|names| removed.push_strings(names));
        columns.splice(0..0, [segments, numbers, deleted, removed]);
        let count = u32::try_from(docs.len()).unwrap_or(u32::MAX);
        let contradictory = || Error::Request("expected columns of a row for each change".to_owned());
        writer.append_plain(&PlainColumns::new(count, columns).ok_or_else(contradictory)?)?;
    }
    Ok(())
}
