//! Passes the values of models to a writer, document by document or as a batch.

use std::ops::Range;

use docvalues::FieldId;
use docvalues::writer::{ColumnBatch, Document, Error as WriteError};
use docvalues_testkit::model::{Cell, Flat, ModelColumn};

/// Adds the values of `doc` in a column to a document of a writer.
///
/// # Errors
///
/// The writer's error at the first value that it refuses.
pub fn give(
    document: &mut Document<'_>,
    field: FieldId,
    column: &ModelColumn,
    doc: u32,
) -> Result<(), WriteError> {
    match column.cell(doc) {
        Cell::Missing => {}
        Cell::Number(number) => drop(document.stored(field, number)?),
        Cell::Bytes(bytes) => drop(document.stored_bytes(field, bytes)?),
        Cell::Numbers(numbers) => {
            for &number in numbers {
                document.stored(field, number)?;
            }
        }
        Cell::Set(set) => {
            for bytes in set {
                document.stored_bytes(field, bytes)?;
            }
        }
    }
    Ok(())
}

/// Adds the values of the documents `docs` in a column to a batch of a writer.
///
/// # Errors
///
/// The writer's error.
pub fn give_batch(
    batch: &mut ColumnBatch<'_>,
    field: FieldId,
    column: &ModelColumn,
    docs: Range<u32>,
) -> Result<(), WriteError> {
    match column.flat(docs) {
        Flat::Numbers { values, valid } => batch.stored(field, &values, Some(&valid)),
        Flat::Bytes { offsets, data, valid } => batch.bytes(field, &offsets, &data, Some(&valid)),
        Flat::NumberLists { lists, values, valid } => {
            batch.stored_lists(field, &lists, &values, Some(&valid))
        }
        Flat::ByteLists { lists, offsets, data, valid } => {
            batch.bytes_lists(field, &lists, &offsets, &data, Some(&valid))
        }
    }
    .map(drop)
}
