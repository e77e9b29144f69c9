//! Deltas: what changed in all segments between two commits; and folds, what changed in one since it was written.
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

use std::collections::{BTreeSet, HashMap};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use docvalues_column::{
    Column, ColumnSource as _, DocId, DocRange, Field, Kind, LogicalType, OrdRange, PlainColumn,
    PlainColumns, SortKey, Values, View, bits,
};
use docvalues_reader::Segment;
use docvalues_storage::{Directory, NewFile};
use docvalues_writer::{BytesKind, FieldSpec, Schema, SegmentWriter, WriterOptions};

use crate::commit_file::FileEntry;
use crate::error::{Error, Result};
use crate::names::FileName;
use crate::new_rows::{Dictionary, NewRows, column_or_absent};
use crate::schema::{StoreSchema, spec_of};
use crate::segment_changes::SegmentChanges;
use crate::state::SegmentState;
use crate::versions::{Tombstone, Tombstones};

const SEGMENT: &str = "_segment";
const DOC: &str = "_doc";
const DELETED: &str = "_deleted";
const UNSET: &str = "_unset";
const ID: &str = "_id";
const VERSION: &str = "_version";
const SEQUENCE: &str = "_sequence";

/// Rows that are written at once.
const BATCH: usize = 1 << 13;

/// The rows of merged segments that a delta may have: a constant, and some for each of its bytes. So many bytes of strings may it
/// have, too.
const MOST_OTHERS: u64 = 1 << 20;
const MOST_PER_BYTE: u64 = 64;

/// The columns of a delta that are none of the store's, in the order of its schema.
const OWN: usize = 4;

/// What changed in a segment since a moment.
pub(crate) struct ChangedSegment<'a> {
    state: &'a SegmentState,
    /// The documents that were deleted or updated, ascending.
    docs: Vec<DocId>,
    /// Those of which a field was updated, by its place. Some may be deleted.
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
    changed.sort_unstable_by_key(|changed| changed.state.number());
    let fields: BTreeSet<usize> =
        changed.iter().flat_map(|changed| &changed.updated).map(|(field, _)| *field).collect();
    let mut columns = Schema::new();
    columns.add(FieldSpec::new(SEGMENT, LogicalType::I64))?;
    columns.add(FieldSpec::new(DOC, LogicalType::I64))?;
    columns.add(FieldSpec::new(DELETED, LogicalType::Bool))?;
    columns.add(FieldSpec::new(UNSET, LogicalType::Utf8).multi_valued())?;
    for field in &fields {
        columns.add(spec_of(&schema.fields()[*field]))?;
    }
    let file = NewFile::create(directory.clone(), name.to_string())?;
    let mut writer = SegmentWriter::to_new_file(file, None, columns, WriterOptions::default());
    writer.sort_by([SortKey::new(SEGMENT), SortKey::new(DOC)])?;
    for changed in &changed {
        write_rows(&mut writer, changed, (&fields, schema.fields()))?;
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
    (places, fields): (&BTreeSet<usize>, &[Field]),
) -> Result<()> {
    let (now, source) = (&state.now, state.now.over(&state.segment.segment, fields));
    let mut columns_of = Vec::with_capacity(places.len());
    for &place in places {
        let docs = updated.iter().find(|(field, _)| *field == place).map_or(&[][..], |(_, docs)| docs);
        let live = docs.iter().copied().filter(|doc| now.live.contains(*doc)).collect::<Vec<_>>();
        columns_of.push((&fields[place], column_or_absent(&*source, &fields[place])?, live));
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

/// The rows of a segment in a delta.
struct Rows {
    /// The index of the segment.
    segment: usize,
    rows: Range<u32>,
    /// The document of each row.
    docs: Vec<DocId>,
}

/// Reads a delta or a fold: sets what changed in `states`, and the ids that were deleted with a version. Rows of other
/// segments, which were merged away, are skipped.
pub(crate) fn read(
    delta: &Segment,
    schema: &StoreSchema,
    states: &mut [SegmentState],
    tombstones: &mut Tombstones,
) -> Result<()> {
    let docs = delta.docs();
    // A small file may claim any number.
    let changed: u64 = states.iter().map(|state| u64::from(state.now.live.docs())).sum();
    let most = changed.saturating_add(MOST_OTHERS).saturating_add(delta.len().saturating_mul(MOST_PER_BYTE));
    if u64::from(docs) > most {
        return Err(damaged(delta, &format!("expected at most {most} changed documents, found {docs}")));
    }
    let fields = delta.fields()?;
    let has = |name: &str| fields.iter().any(|field| field.name == name);
    let remembered = if has(ID) { read_tombstones(delta, tombstones)? } else { 0 };
    let changed = docs.saturating_sub(remembered);
    // Without documents, the file has none of these columns.
    if changed == 0 && !has(SEGMENT) {
        return Ok(());
    }
    let rows = read_rows(delta, changed, states)?;
    if has(DELETED) {
        let deleted = deleted(delta)?;
        for Rows { segment, rows, docs } in &rows {
            for (row, doc) in rows.clone().zip(docs).filter(|(row, _)| bits::get(&deleted, *row as usize)) {
                debug_assert!(row < changed, "a row of a document");
                states[*segment].now.live.delete(*doc);
            }
        }
    }
    for field in fields.iter().filter(|field| !field.name.starts_with('_')) {
        let place = updatable(delta, field, schema)?;
        let column = delta.column(&field.name)?;
        require_few_bytes(delta, &*column)?;
        for rows in &rows {
            let at = with_value(&*column, rows)?;
            let changed = at.iter().map(|row| rows.docs[(row.get() - rows.rows.start) as usize]).collect();
            set((&*column, &at, changed), (place, field), &mut states[rows.segment])?;
        }
    }
    if has(UNSET) { read_unset(delta, schema, &rows, states) } else { Ok(()) }
}

/// The documents of the rows, by segment.
fn read_rows(delta: &Segment, changed: u32, states: &[SegmentState]) -> Result<Vec<Rows>> {
    let places: HashMap<u64, usize> = states.iter().map(SegmentState::number).zip(0..).collect();
    let (segments, numbers) = (numbers(delta, SEGMENT)?, numbers(delta, DOC)?);
    let damaged = || damaged(delta, "expected the rows of a delta, found others");
    if [segments.len(), numbers.len()] != [changed as usize; 2] {
        return Err(damaged());
    }
    let (mut all, mut row) = (Vec::new(), 0);
    let mut before: Option<u64> = None;
    for of_segment in segments.chunk_by(|a, b| a == b) {
        let number = u64::try_from(of_segment[0]).map_err(|_| damaged())?;
        let first = row as usize;
        let docs =
            numbers[first..first + of_segment.len()].iter().map(|doc| u32::try_from(*doc).map(DocId::new));
        let docs: Vec<DocId> = docs.collect::<Result<_, _>>().map_err(|_| damaged())?;
        if before.is_some_and(|before| before >= number) || !docs.is_sorted_by(|a, b| a < b) {
            return Err(damaged());
        }
        let end = row + u32::try_from(of_segment.len()).unwrap_or(u32::MAX);
        // The segment may have been merged away since.
        if let Some(&segment) = places.get(&number) {
            let live = &states[segment].now.live;
            if let Some(doc) = docs.last().filter(|doc| doc.get() >= live.docs()) {
                let docs = live.docs();
                let what = format!("document {doc} of segment {number:06x}, which has {docs}");
                return Err(Error::Damaged { file: delta.file().to_owned(), what });
            }
            all.push(Rows { segment, rows: row..end, docs });
        }
        (before, row) = (Some(number), end);
    }
    Ok(all)
}

/// The place of a field that documents may get new values of.
fn updatable(delta: &Segment, field: &Field, schema: &StoreSchema) -> Result<usize> {
    let name = &field.name;
    let place = schema.fields().iter().position(|known| known.name == *name);
    let is_same = |place: &usize| {
        let known = &schema.fields()[*place];
        (known.kind, known.logical) == (field.kind, field.logical)
    };
    let is_fixed = schema.id_field() == Some(name) || schema.sort().iter().any(|key| key.column == *name);
    match place.filter(is_same) {
        Some(place) if !is_fixed => Ok(place),
        _ => Err(damaged(
            delta,
            &format!("expected fields of the store that can be updated, found \"{name}\""),
        )),
    }
}

/// The rows of a segment that have a value.
fn with_value(column: &dyn Column, rows: &Rows) -> Result<Vec<DocId>> {
    let range = DocRange::new(rows.rows.start, rows.rows.end);
    let mut there = vec![0; range.words()];
    column.exists(range, &mut there)?;
    let row = |at: usize| DocId::new(range.start + u32::try_from(at).unwrap_or(u32::MAX));
    Ok(bits::ones(&there).map(row).collect())
}

/// Sets the values of the rows `at` in a segment.
fn set(
    (column, at, docs): (&dyn Column, &[DocId], Vec<DocId>),
    (place, field): (usize, &Field),
    state: &mut SegmentState,
) -> Result<()> {
    let rows = NewRows::read(column, at, docs)?;
    let dictionary = Dictionary::for_rows(&state.segment.segment, field, &rows)?;
    state.now.set((place, field), &rows, dictionary.as_ref())
}

/// Refuses strings that would take much more memory than the file.
fn require_few_bytes(delta: &Segment, column: &dyn Column) -> Result<()> {
    let most = MOST_OTHERS.saturating_add(delta.len()).saturating_mul(MOST_PER_BYTE);
    let (mut bytes, mut is_over) = (0, false);
    let mut add = |len: usize| {
        bytes += len as u64;
        is_over = bytes > most;
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    match column.values() {
        Values::Numbers(_) => {}
        Values::Bytes(rows) => rows.scan(DocRange::new(0, delta.docs()), &mut |batch| {
            if let View::Many(strings) = batch.values {
                add(strings.items().len())
            } else {
                ControlFlow::Continue(())
            }
        })?,
        Values::Ords(_, terms) => {
            terms.each_term(OrdRange::new(0, terms.term_count()), &mut |_, term| add(term.len()))?;
        }
    }
    let name = &column.info().field.name;
    match is_over {
        false => Ok(()),
        true => Err(damaged(delta, &format!("expected at most {most} bytes of \"{name}\", found more"))),
    }
}

/// Removes the values of fields that rows name.
fn read_unset(
    delta: &Segment,
    schema: &StoreSchema,
    rows: &[Rows],
    states: &mut [SegmentState],
) -> Result<()> {
    let column = delta.column(UNSET)?;
    let damaged = || damaged(delta, "expected names of fields in the column \"_unset\"");
    let Values::Ords(_, terms) = column.values() else { return Err(damaged()) };
    if terms.term_count() as usize > schema.fields().len() {
        return Err(damaged());
    }
    for rows in rows {
        let at = with_value(&*column, rows)?;
        let names = NewRows::read(&*column, &at, at.clone())?;
        for (number, name) in (0..).zip(names.terms.slices().iter()) {
            let field =
                schema.fields().iter().find(|field| field.name.as_bytes() == name).ok_or_else(damaged)?;
            let place = updatable(delta, field, schema)?;
            let mut docs = Vec::new();
            for (row, at) in (0..names.values.docs()).zip(&at) {
                if names.values.numbers(row).contains(&number) {
                    docs.push(rows.docs[(at.get() - rows.rows.start) as usize]);
                }
            }
            let mut absent = PlainColumn::of_kind(field.kind);
            absent.append_absent(u32::try_from(docs.len()).unwrap_or(u32::MAX));
            let (state, absent) = (&mut states[rows.segment], NewRows::new(field.kind, docs, absent));
            let dictionary = Dictionary::for_rows(&state.segment.segment, field, &absent)?;
            state.now.set((place, field), &absent, dictionary.as_ref())?;
        }
    }
    Ok(())
}

/// Reads the ids that were deleted with a version. Returns how many there are.
fn read_tombstones(delta: &Segment, tombstones: &mut Tombstones) -> Result<u32> {
    let ids = delta.binary(ID)?;
    let (versions, sequences) = (delta.typed::<u64>(VERSION)?, delta.typed::<u64>(SEQUENCE)?);
    let (mut count, mut lacks) = (0, None);
    ids.scan(0..delta.docs(), |docs, values| {
        for (doc, id) in docs.iter().zip(values.iter()) {
            match (versions.get(doc), sequences.get(doc)) {
                (Ok(Some(version)), Ok(Some(sequence))) => tombstones.insert(id, version, sequence),
                (Err(error), _) | (_, Err(error)) => lacks = Some(Error::from(error)),
                _ => lacks = Some(damaged(delta, "expected an id with version and sequence number")),
            }
            count += 1;
        }
        if lacks.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    lacks.map_or(Ok(count), Err)
}

/// All values of a numeric column.
fn numbers(delta: &Segment, name: &str) -> Result<Vec<i64>> {
    let mut all = Vec::new();
    delta.numeric(name)?.scan(0..delta.docs(), |_, values| {
        all.extend_from_slice(values);
        ControlFlow::Continue(())
    })?;
    Ok(all)
}

/// A bit for each document that is said to be deleted.
fn deleted(file: &Segment) -> Result<Vec<u64>> {
    let column = file.column(DELETED)?;
    let docs = DocRange::new(0, file.docs());
    let mut deleted = vec![0; docs.words()];
    column.exists(docs, &mut deleted)?;
    let range = column.info().bounds.range();
    if !range.is_empty() && range != (1..=1) {
        return Err(damaged(file, "expected only deleted documents in the column \"_deleted\""));
    }
    Ok(deleted)
}

fn damaged(file: &Segment, what: &str) -> Error {
    Error::Damaged { file: file.file().to_owned(), what: what.to_owned() }
}
