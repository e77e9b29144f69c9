//! Conversion of Arrow record batches to documents: [`SegmentWriter::append`](crate::SegmentWriter::append).
//!
//! | Arrow | type | remarks |
//! | --- | --- | --- |
//! | bool | `bool` | |
//! | int8 to int64 | `i64` | |
//! | uint8 to uint64 | `u64` | |
//! | float16, 32, 64 | `f64` | exactly |
//! | utf8, large, view | `string` | |
//! | binary, large, view, fixed | `bytes` | `uuid` or `ip` with the extension type `arrow.uuid` or `docvalues.ip` |
//! | date32, date64 | `date` | a date64 that is not a whole day is refused |
//! | timestamp | `timestamp[ms]`, `[us]`, `[ns]` | seconds become milliseconds; a time without a zone is UTC |
//! | time32, time64, duration | `i64` | in their unit |
//! | decimal32, 64, 128 | `f64`; `i64` if the scale is not positive | a value whose double prints differently is refused |
//! | dictionary, run-end-encoded | the type of their values | decoded |
//! | list, large, view, fixed-size | a multi-valued field | an empty list is a missing value; a null in a list is refused |
//! | struct | one field for each of its fields | dotted names: `geo.city` |
//! | null | `string`, without values | |
//!
//! [`field_specs`] returns these types. The schema may declare another type that holds the values exactly: integers go
//! into `i64` and `u64`, timestamps into any unit, decimals into `i64` and `f64`, date64 into `timestamp[ms]`, binary into
//! `string`, `uuid` and `ip`. A value that does not fit is refused.
//!
//! Each column is converted in one pass: dictionaries and runs are decoded, the items of lists concatenated, and the
//! values transformed to stored numbers or byte strings. A batch is appended completely or not at all.

// The items of hidden modules are for `dv` and the Python module. They are not part of the public API.
#[doc(hidden)]
mod flat;
mod numbers;
#[doc(hidden)]
mod strings;
#[doc(hidden)]
mod types;
#[doc(hidden)]
mod weight;

use arrow_array::{Array, RecordBatch};
use arrow_schema::Schema as ArrowSchema;
use docvalues_column::PlainValues;
use docvalues_format::file::kind::LogicalType;
use docvalues_format::id::{DocId, MAX_DOCS};

use crate::error::{Error, ErrorKind, Result};
use crate::input::{ColumnBatch, FieldBuffers};
use crate::schema::{FieldId, FieldSpec, Schema};
use crate::segment_writer::SegmentWriter;

#[doc(hidden)]
pub use flat::FlatArray;
#[doc(hidden)]
pub use strings::for_each;
#[doc(hidden)]
pub use types::{Holds, Leaf, leaves};
#[doc(hidden)]
pub use weight::weight;

/// Returns a field for each column of `schema`, in its order, by the [table](self) of types.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_schema::{DataType, Field, Schema as ArrowSchema};
/// use docvalues_writer::{FieldSpec, LogicalType, arrow};
///
/// let tags = DataType::List(Arc::new(Field::new("item", DataType::Utf8, false)));
/// let schema = ArrowSchema::new(vec![Field::new("size", DataType::UInt32, true), Field::new("tags", tags, true)]);
/// let size = FieldSpec::new("size", LogicalType::U64);
/// let tags = FieldSpec::new("tags", LogicalType::Utf8).multi_valued();
/// assert_eq!(arrow::field_specs(&schema)?, [size, tags]);
/// # Ok::<(), docvalues_writer::Error>(())
/// ```
///
/// # Errors
///
/// [`ErrorKind::ArrowType`] for the first column of a type that no field can hold.
pub fn field_specs(schema: &ArrowSchema) -> Result<Vec<FieldSpec>> {
    let spec = |leaf: Leaf| match leaf.holds {
        Holds::Values { logical, multi_valued: false } => Ok(FieldSpec::new(leaf.name, logical)),
        Holds::Values { logical, multi_valued: true } => {
            Ok(FieldSpec::new(leaf.name, logical).multi_valued())
        }
        Holds::Nothing => Ok(FieldSpec::new(leaf.name, LogicalType::Utf8)),
        Holds::Other => {
            Err(Error::new(ErrorKind::ArrowType { found: leaf.called, logical: None }).of(&leaf.name))
        }
    };
    leaves(schema).into_iter().map(spec).collect()
}

impl<T> SegmentWriter<T> {
    /// Appends a document for each row of a record batch, and returns the number of the first one; without rows, the
    /// number that the next document gets.
    ///
    /// Columns are matched with fields by name; the fields of a struct have dotted names, `a.b`. A field without a
    /// column in the batch has no value in these documents. The [module](crate::arrow) lists the types, and
    /// [`field_specs`] derives the fields from an Arrow schema. The segment has the same bytes as if the documents were
    /// added one by one. Available with the feature `arrow`.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    /// use docvalues_writer::{Schema, SegmentWriter, WriterOptions, arrow};
    ///
    /// let sizes: ArrayRef = Arc::new(Int64Array::from(vec![Some(512), None, Some(70)]));
    /// let hosts: ArrayRef = Arc::new(StringArray::from(vec!["a.example", "b.example", "a.example"]));
    /// let batch = RecordBatch::try_from_iter([("size", sizes), ("host", hosts)])?;
    ///
    /// let mut schema = Schema::new();
    /// for field in arrow::field_specs(&batch.schema())? {
    ///     schema.add(field)?;
    /// }
    /// let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// writer.append(&batch)?;
    /// writer.append(&batch.slice(1, 2))?;
    /// assert_eq!(writer.docs(), 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Cost
    ///
    /// Besides the writer's buffers, a copy of one column of the batch at a time. The values of a batch must fit into
    /// [`WriterOptions::budget`](crate::WriterOptions::budget): slice a larger batch.
    ///
    /// # Errors
    ///
    /// A column without a field of its name, or of a type that the field does not take; a value that the field cannot
    /// hold; a null in a list; and the errors of a [`ColumnBatch`]. The error names the column and, for a value, the
    /// document. The writer is left as it was before the call.
    pub fn append(&mut self, batch: &RecordBatch) -> Result<DocId> {
        append(&mut self.documents.fields, batch)
    }
}

fn append(fields: &mut FieldBuffers, batch: &RecordBatch) -> Result<DocId> {
    let columns = matched(&fields.schema, &batch.schema())?;
    let docs = u32::try_from(batch.num_rows()).map_err(|_| ErrorKind::TooManyDocs { max: MAX_DOCS })?;
    let mut documents = ColumnBatch::new(fields, docs)?;
    for (leaf, field, logical) in columns {
        add_column(&mut documents, batch, &leaf, field, logical)?;
    }
    Ok(documents.finish())
}

/// The columns of a batch, each with the field of the same name and its type.
fn matched(schema: &Schema, batch: &ArrowSchema) -> Result<Vec<(Leaf, FieldId, LogicalType)>> {
    let (mut columns, mut unknown) = (Vec::new(), Vec::new());
    for leaf in leaves(batch) {
        let field = schema.field(&leaf.name);
        match field.and_then(|field| Some((field, schema.get(field)?.logical()))) {
            Some((field, logical)) => columns.push((leaf, field, logical)),
            None => unknown.push(leaf.name),
        }
    }
    if unknown.is_empty() { Ok(columns) } else { Err(ErrorKind::UnknownColumns { names: unknown }.into()) }
}

fn add_column(
    documents: &mut ColumnBatch<'_>,
    batch: &RecordBatch,
    leaf: &Leaf,
    field: FieldId,
    logical: LogicalType,
) -> Result<()> {
    if leaf.holds == Holds::Nothing {
        return Ok(());
    }
    let refuse = |kind| Error::new(kind).of(&leaf.name);
    let array = leaf.array(batch).and_then(|array| FlatArray::of(&array));
    let array = array.map_err(|error| refuse(ErrorKind::Arrow(error)))?;
    let found = || leaf.called.clone();
    let Some((values, refused)) = stored_values(array.items.as_ref(), logical) else {
        return Err(refuse(ErrorKind::ArrowType { found: found(), logical: Some(logical) }));
    };
    let null = array.rows_with_null_items().next().map(|row| (row, ErrorKind::NullItem));
    let misfit = || {
        let row = refused.iter().find_map(|at| array.row(*at))?;
        Some((row, ErrorKind::ArrowValue { found: found(), logical }))
    };
    if let Some((row, kind)) = null.or_else(misfit) {
        // `SegmentWriter::batch` checked that the numbers of all rows fit.
        let doc = documents.first().get().saturating_add(u32::try_from(row).unwrap_or(u32::MAX));
        return Err(refuse(kind).in_doc(doc));
    }
    documents.plain(field, &values, array.lists.as_deref(), array.validity.as_deref())?;
    Ok(())
}

/// Converts `items` to their stored form; a null becomes 0 or an empty string. Also returns the indexes of the values that the type
/// `to` cannot hold. `None` if arrays of this type do not convert to `to`.
#[doc(hidden)]
pub fn stored_values(items: &dyn Array, to: LogicalType) -> Option<(PlainValues, Vec<usize>)> {
    if to.is_bytes() {
        strings::strings(items, to).map(|(strings, refused)| (PlainValues::Strings(strings), refused))
    } else {
        numbers::numbers(items, to).map(|(numbers, refused)| (PlainValues::Numbers(numbers), refused))
    }
}

#[cfg(test)]
mod tests;
