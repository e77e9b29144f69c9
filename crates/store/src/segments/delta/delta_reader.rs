//! Reads deltas and folds.

use std::collections::HashMap;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use docvalues_column::{Column, ColumnSource as _, DocId, DocRange, Field, PlainColumn, bits};
use docvalues_reader::Segment;

use super::super::new_rows::{Dictionary, NewRows};
use super::super::segment_state::{SegmentState, places_by_number};
use super::{DELETED, DOC, ID, SEGMENT, SEQUENCE, UNSET, VERSION};
use crate::error::{Error, Result};
use crate::schema::StoreSchema;
use crate::versions::Tombstones;

/// Rows that are read at once.
const ROWS_AT_ONCE: u32 = 1 << 16;

/// The memory that values of a delta may take: a constant, and some for each of its bytes. A small file may claim any number.
const MOST_BYTES: u64 = 16 << 20;
const MOST_PER_BYTE: u64 = 64;

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
    let fields = delta.fields()?;
    let has = |name: &str| fields.iter().any(|field| field.name == name);
    let remembered = if has(ID) { read_tombstones(delta, tombstones)? } else { 0 };
    let changed = delta.docs().saturating_sub(remembered);
    // Without documents, the file has none of these columns.
    if changed == 0 && !has(SEGMENT) {
        return Ok(());
    }
    let rows = read_rows(delta, changed, states)?;
    if has(DELETED) {
        read_deleted(delta, &rows, states)?;
    }
    let known = schema.fields().iter().map(|field| field.name.as_str()).zip(0..);
    let reader = ValueReader { delta, schema, known: known.collect(), rows: &rows };
    let mut budget = MOST_BYTES.saturating_add(delta.len().saturating_mul(MOST_PER_BYTE));
    for field in fields.iter().filter(|field| !field.name.starts_with('_')) {
        reader.read(field, states, &mut budget)?;
    }
    if has(UNSET) { reader.read_unset(states, &mut budget) } else { Ok(()) }
}

/// The documents of the first rows, `changed` of them, by segment.
fn read_rows(delta: &Segment, changed: u32, states: &[SegmentState]) -> Result<Vec<Rows>> {
    let damaged = || damaged(delta, "expected the rows of a delta, found others");
    let places = places_by_number(states);
    let (segments, numbers) = (numbers_of(delta, SEGMENT)?, numbers_of(delta, DOC)?);
    let mut all: Vec<Rows> = Vec::new();
    let (mut number_before, mut row) = (None, 0);
    // Rows of unknown segments are not kept, whatever their number.
    while row < changed {
        let end = row.saturating_add(ROWS_AT_ONCE).min(changed);
        let (of, docs) = (values(&*segments, row..end)?, values(&*numbers, row..end)?);
        let (of, docs) = of.zip(docs).ok_or_else(damaged)?;
        for rows in of.chunk_by(|a, b| a == b) {
            let number = u64::try_from(rows[0]).map_err(|_| damaged())?;
            let end = row + u32::try_from(rows.len()).unwrap_or(u32::MAX);
            let first = (row % ROWS_AT_ONCE) as usize;
            let docs = docs[first..first + rows.len()].iter();
            let docs = docs.map(|doc| u32::try_from(*doc).map(DocId::new));
            let docs = docs.collect::<Result<Vec<_>, _>>().map_err(|_| damaged())?;
            let is_same = number_before == Some(number);
            if number_before.is_some_and(|before| before > number) || !docs.is_sorted_by(|a, b| a < b) {
                return Err(damaged());
            }
            // The segment may have been merged away since.
            if let Some(&segment) = places.get(&number) {
                let live = &states[segment].now.live;
                if let Some(doc) = docs.last().filter(|doc| doc.get() >= live.docs()) {
                    let docs = live.docs();
                    let what = format!("document {doc} of segment {number:06x}, which has {docs}");
                    return Err(Error::Damaged { file: delta.file().to_owned(), what });
                }
                match all.last_mut().filter(|_| is_same) {
                    Some(last) if last.docs.last() >= docs.first() => return Err(damaged()),
                    Some(last) => {
                        last.docs.extend(docs);
                        last.rows.end = end;
                    }
                    None => all.push(Rows { segment, rows: row..end, docs }),
                }
            }
            (number_before, row) = (Some(number), end);
        }
    }
    // No row after these is of a document.
    let is_all = |column: &dyn Column| column.info().with_value.most() == u64::from(changed);
    if is_all(&*segments) && is_all(&*numbers) { Ok(all) } else { Err(damaged()) }
}

/// A column of the delta's own, with a signed integer in each row.
fn numbers_of(delta: &Segment, name: &str) -> Result<Arc<dyn Column>> {
    delta.numeric(name)?;
    Ok(delta.column(name)?)
}

/// The values of rows; `None` if one has none.
fn values(column: &dyn Column, rows: Range<u32>) -> Result<Option<Vec<i64>>> {
    let (mut all, count) = (Vec::new(), rows.len());
    if let Some(numbers) = column.values().numbers() {
        numbers.scan(rows.into(), &mut |batch| {
            all.extend_from_slice(batch.values.one().unwrap_or_default());
            ControlFlow::Continue(())
        })?;
    }
    Ok((all.len() == count).then_some(all))
}

/// Deletes the documents that are said to be deleted.
fn read_deleted(delta: &Segment, rows: &[Rows], states: &mut [SegmentState]) -> Result<()> {
    let column = delta.column(DELETED)?;
    let range = column.info().bounds.range();
    if !range.is_empty() && range != (1..=1) {
        return Err(damaged(delta, "expected only deleted documents in the column \"_deleted\""));
    }
    for rows in rows {
        for row in with_value(&*column, rows)? {
            states[rows.segment].now.live.delete(rows.doc(row));
        }
    }
    Ok(())
}

/// Reads the new values of a delta.
struct ValueReader<'a> {
    delta: &'a Segment,
    schema: &'a StoreSchema,
    /// The places of the store's fields.
    known: HashMap<&'a str, usize>,
    rows: &'a [Rows],
}

impl ValueReader<'_> {
    /// The place of a field of which documents may get new values.
    fn updatable(&self, name: &str, is_same: impl FnOnce(&Field) -> bool) -> Result<usize> {
        let place = self.known.get(name).copied();
        let is_free =
            |place: &usize| is_same(&self.schema.fields()[*place]) && self.schema.can_be_updated(*place);
        place.filter(is_free).ok_or_else(|| {
            damaged(
                self.delta,
                &format!("expected fields of the store that can be updated, found \"{name}\""),
            )
        })
    }

    /// Reads the values of a field.
    fn read(&self, field: &Field, states: &mut [SegmentState], budget: &mut u64) -> Result<()> {
        let is_same = |known: &Field| (known.kind, known.logical) == (field.kind, field.logical);
        let place = self.updatable(&field.name, is_same)?;
        let column = self.delta.column(&field.name)?;
        self.spend_values(&*column, budget)?;
        for rows in self.rows {
            let at = with_value(&*column, rows)?;
            if at.is_empty() {
                continue;
            }
            let state = &mut states[rows.segment];
            self.spend(&field.name, blocks_of(state), budget)?;
            let docs = at.iter().map(|row| rows.doc(*row)).collect();
            let new = NewRows::read(&*column, &at, docs)?;
            let dictionary = Dictionary::for_rows(&state.segment.segment, field, &new)?;
            state.now.set((place, field), &new, dictionary.as_ref())?;
        }
        Ok(())
    }

    /// Takes the values of a column from the budget, as numbers or ords. Strings need none: a byte of a file becomes at
    /// most 15 of a coding, or 32 of a block of terms.
    fn spend_values(&self, column: &dyn Column, budget: &mut u64) -> Result<()> {
        let (name, values) = (&column.info().field.name, column.info().value_count.most());
        self.spend(name, values.saturating_mul(size_of::<i64>() as u64), budget)
    }

    /// Takes bytes from the budget.
    fn spend(&self, name: &str, bytes: u64, budget: &mut u64) -> Result<()> {
        *budget = budget.checked_sub(bytes).ok_or_else(|| {
            damaged(self.delta, &format!("expected values of about its size, found many more of \"{name}\""))
        })?;
        Ok(())
    }

    /// Removes the values of fields that rows name.
    fn read_unset(&self, states: &mut [SegmentState], budget: &mut u64) -> Result<()> {
        let column = self.delta.column(UNSET)?;
        self.spend_values(&*column, budget)?;
        for rows in self.rows {
            let at = with_value(&*column, rows)?;
            let names = NewRows::read(&*column, &at, at.clone())?;
            let mut docs: Vec<Vec<DocId>> = vec![Vec::new(); names.terms.len()];
            for (row, at) in (0..names.values.docs()).zip(&at) {
                for name in names.values.numbers(row) {
                    docs[usize::try_from(*name).unwrap_or(usize::MAX)].push(rows.doc(*at));
                }
            }
            for (name, mut docs) in names.terms.slices().iter().zip(docs) {
                // A damaged set may repeat a name.
                docs.dedup();
                let place = self.updatable(&String::from_utf8_lossy(name), |_| true)?;
                let (field, state) = (&self.schema.fields()[place], &mut states[rows.segment]);
                self.spend(&field.name, blocks_of(state), budget)?;
                let mut absent = PlainColumn::of_kind(field.kind);
                absent.append_absent(u32::try_from(docs.len()).unwrap_or(u32::MAX));
                state.now.set((place, field), &NewRows::new(field.kind, docs, absent), None)?;
            }
        }
        Ok(())
    }
}

/// The memory of changes of a field of a segment, without rows.
fn blocks_of(state: &SegmentState) -> u64 {
    u64::from(state.now.live.docs()) / 8_192
}

impl Rows {
    /// The document of a row.
    fn doc(&self, row: DocId) -> DocId {
        self.docs[(row.get() - self.rows.start) as usize]
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

fn damaged(file: &Segment, what: &str) -> Error {
    Error::Damaged { file: file.file().to_owned(), what: what.to_owned() }
}
