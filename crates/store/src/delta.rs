//! Deltas: what changed in all segments between two commits; and folds, what changed in one.
//!
//! Both are segments, so that they have checksums, and every tool that reads a segment reads them.
//!
//! ```text
//! delta    a row for each changed document, ascending by segment and document
//!
//!          _segment  _doc  _deleted
//!               161     7      true
//!               161   200      true
//!               170     3      true
//!
//!          and one for each id that was deleted with a version, as long as such deletions are remembered
//!
//!          _id  _version  _sequence
//!          "a"         9         41
//!
//! fold     a row for each document of its segment; columns have values for changed documents only
//!
//!          _deleted
//!                 -
//!              true
//! ```

use std::ops::ControlFlow;
use std::sync::Arc;

use docvalues_column::{ColumnSource as _, DocId, DocRange, LiveDocs, LogicalType, SortKey, bits};
use docvalues_reader::Segment;
use docvalues_storage::{Directory, NewFile};
use docvalues_writer::{BytesKind, FieldSpec, Schema, SegmentWriter, WriterOptions};

use crate::commit_file::FileEntry;
use crate::error::{Error, Result};
use crate::names::FileName;
use crate::versions::{Tombstone, Tombstones};

const SEGMENT: &str = "_segment";
const DOC: &str = "_doc";
const DELETED: &str = "_deleted";
const ID: &str = "_id";
const VERSION: &str = "_version";
const SEQUENCE: &str = "_sequence";

/// Rows that are written at once.
const BATCH: usize = 1 << 16;

/// The rows of merged segments that a delta may have: a constant, and some for each of its bytes.
const MOST_OTHERS: u64 = 1 << 20;
const MOST_PER_BYTE: u64 = 64;

/// A change of a document: for now, that it is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Row {
    /// The number of its segment.
    pub(crate) segment: u64,
    pub(crate) doc: DocId,
}

/// Writes the delta `number`. The rows ascend.
pub(crate) fn write(
    directory: &Arc<dyn Directory>,
    number: u64,
    rows: &[Row],
    tombstones: &[(&[u8], Tombstone)],
) -> Result<FileEntry> {
    let mut schema = Schema::new();
    let segment = schema.add(FieldSpec::new(SEGMENT, LogicalType::I64))?;
    let doc = schema.add(FieldSpec::new(DOC, LogicalType::I64))?;
    let deleted = schema.add(FieldSpec::new(DELETED, LogicalType::Bool))?;
    let mut writer = begin(directory, FileName::Delta(number), schema)?;
    writer.sort_by([SortKey::new(SEGMENT), SortKey::new(DOC)])?;
    for rows in rows.chunks(BATCH) {
        let segments: Vec<i64> = rows.iter().map(|row| row.segment.cast_signed()).collect();
        let docs: Vec<i64> = rows.iter().map(|row| row.doc.get().into()).collect();
        let mut batch = writer.batch(u32::try_from(rows.len()).unwrap_or(u32::MAX))?;
        batch.i64(segment, &segments, None)?.i64(doc, &docs, None)?;
        batch.bool(deleted, &vec![true; rows.len()], None)?;
        batch.finish();
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
    finish(writer, number)
}

/// Reads a delta: the rows of documents, of which there are at most `changed` without those of segments that were merged
/// away, and the ids that were deleted with a version.
pub(crate) fn read(delta: &Segment, changed: u64, tombstones: &mut Tombstones) -> Result<Vec<Row>> {
    let docs = delta.docs();
    // A small file may claim any number.
    let most = changed.saturating_add(MOST_OTHERS).saturating_add(delta.len().saturating_mul(MOST_PER_BYTE));
    if u64::from(docs) > most {
        return Err(damaged(delta, &format!("expected at most {most} changed documents, found {docs}")));
    }
    let remembered = read_tombstones(delta, tombstones)?;
    // Without documents, the file has none of these columns.
    let has_rows = delta.fields()?.iter().any(|field| field.name == SEGMENT);
    if !has_rows && remembered == docs {
        return Ok(Vec::new());
    }
    let (segments, numbers) = (numbers(delta, SEGMENT)?, numbers(delta, DOC)?);
    let (deleted, damaged) =
        (deleted(delta)?, || damaged(delta, "expected the rows of a delta, found others"));
    let mut rows = Vec::with_capacity(segments.len());
    let expected = docs.saturating_sub(remembered) as usize;
    if [segments.len(), numbers.len(), bits::count(&deleted)].iter().any(|len| *len != expected) {
        return Err(damaged());
    }
    for (segment, doc) in segments.into_iter().zip(numbers) {
        let (segment, doc) = (u64::try_from(segment).ok(), u32::try_from(doc).ok());
        let (segment, doc) = segment.zip(doc).ok_or_else(damaged)?;
        rows.push(Row { segment, doc: DocId::new(doc) });
    }
    if rows.is_sorted_by(|a, b| a < b) { Ok(rows) } else { Err(damaged()) }
}

/// Reads the ids that were deleted with a version. Returns how many there are.
fn read_tombstones(delta: &Segment, tombstones: &mut Tombstones) -> Result<u32> {
    if !delta.fields()?.iter().any(|field| field.name == ID) {
        return Ok(0);
    }
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

/// Writes the fold of a segment: all of its documents that are not `live`.
pub(crate) fn write_fold(
    directory: &Arc<dyn Directory>,
    (segment, number): (u64, u64),
    live: &LiveDocs,
) -> Result<FileEntry> {
    let mut schema = Schema::new();
    let deleted = schema.add(FieldSpec::new(DELETED, LogicalType::Bool))?;
    let mut writer = begin(directory, FileName::Fold { segment, number }, schema)?;
    let live = live.to_bitset();
    for (words, docs) in live.words().chunks(BATCH / 64).zip(DocRange::new(0, live.docs()).chunks(BATCH)) {
        let is_deleted: Vec<u64> = words.iter().map(|word| !word).collect();
        let mut batch = writer.batch(docs.end - docs.start)?;
        batch.bool(deleted, &vec![true; docs.len()], Some(&is_deleted))?;
        batch.finish();
    }
    finish(writer, number)
}

/// The live documents of a segment with `docs` documents, of a fold.
pub(crate) fn read_fold(fold: &Segment, docs: u32) -> Result<LiveDocs> {
    if fold.docs() != docs {
        return Err(damaged(fold, &format!("expected {docs} documents, found {}", fold.docs())));
    }
    let deleted = deleted(fold)?;
    let mut live = LiveDocs::all(docs);
    bits::ones(&deleted).filter_map(|doc| u32::try_from(doc).ok()).for_each(|doc| {
        live.delete(DocId::new(doc));
    });
    Ok(live)
}

fn begin(directory: &Arc<dyn Directory>, name: FileName, schema: Schema) -> Result<SegmentWriter<NewFile>> {
    let file = NewFile::create(directory.clone(), name.to_string())?;
    Ok(SegmentWriter::to_new_file(file, None, schema, WriterOptions::default()))
}

fn finish(writer: SegmentWriter<NewFile>, number: u64) -> Result<FileEntry> {
    let summary = writer.finish().map_err(docvalues_writer::FinishError::into_error)?;
    Ok(FileEntry::of(number, &summary))
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
