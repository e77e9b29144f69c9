//! Many documents at a time, column by column.

use docvalues_format::file::kind::{from_f64, from_u64};
use docvalues_format::id::DocId;

use crate::batch_rows::{BatchRows, Validity};
use crate::error::Result;
use crate::field_buffers::{FieldBuffers, InputType};
use crate::input_column::{Bytes, Numbers};
use crate::schema::FieldId;

/// Documents that are being added, field by field.
///
/// Give it a column for each field that any of the documents has a value of, then
/// [`finish`](Self::finish) it. A field that is given none is missing in all of them. Dropped without
/// `finish`, the batch never was. The segment is the same as if the documents had come one by one.
///
/// # Columns
///
/// - *Values*: a slice with a value for each document.
/// - *Validity*: a bitset, or `None` if all documents have a value. Document *i* of the batch has one if
///   bit *i* % 64 of word *i* / 64 is set; where it is not, its place in the values means nothing.
///   Bits behind the last document are ignored.
/// - *Offsets*: one more than there are documents; those of document *i* lie from `offsets[i]` to
///   `offsets[i + 1]`. The first need not be 0. A list without values is a missing one.
///
/// These are the shapes of Arrow's arrays, so a slice of one can be handed over as it is (with offsets
/// as `u64`).
///
/// A field that can have several values takes columns of one, too.
///
/// # Errors
///
/// Every method fails if the field is another schema's, is of another type, or was given before, if a
/// slice is too short or too long, or if the budget is used up. The error names field and document, the
/// batch is as it was before, and can go on.
///
/// # Examples
///
/// ```
/// use docvalues_writer::{FieldSpec, LogicalType, Schema, SegmentWriter, WriterOptions};
///
/// let mut schema = Schema::new();
/// let size = schema.add(FieldSpec::new("size", LogicalType::I64))?;
/// let host = schema.add(FieldSpec::new("host", LogicalType::Utf8))?;
/// let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
///
/// let mut batch = writer.batch(3)?;
/// batch.i64(size, &[7, 0, 9], Some(&[0b101]))?; // the second document has no size
/// batch.bytes(host, &[0, 1, 2, 4], b"abcc", None)?;
/// batch.finish();
/// assert_eq!(writer.docs(), 3);
/// # Ok::<(), docvalues_writer::Error>(())
/// ```
#[derive(Debug)]
pub struct ColumnBatch<'w> {
    fields: &'w mut FieldBuffers,
    docs: u32,
}

impl<'w> ColumnBatch<'w> {
    pub(crate) fn new(fields: &'w mut FieldBuffers, docs: u32) -> Result<ColumnBatch<'w>> {
        // A document that was forgotten (`mem::forget`) is still there.
        fields.roll_back();
        fields.check_doc_count(docs)?;
        Ok(ColumnBatch { fields, docs })
    }

    /// The number that the first document will have.
    pub fn first(&self) -> DocId {
        DocId::new(self.fields.docs)
    }

    /// How many documents there will be.
    pub fn docs(&self) -> u32 {
        self.docs
    }

    /// Adds values of type `i64`.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`].
    pub fn i64(&mut self, field: FieldId, values: &[i64], validity: Validity<'_>) -> Result<&mut Self> {
        self.numbers(field, InputType::I64, BatchRows::single(validity), values, |value| value)
    }

    /// Adds values of type `u64`.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`].
    pub fn u64(&mut self, field: FieldId, values: &[u64], validity: Validity<'_>) -> Result<&mut Self> {
        self.numbers(field, InputType::U64, BatchRows::single(validity), values, from_u64)
    }

    /// Adds values of type `f64`.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`].
    pub fn f64(&mut self, field: FieldId, values: &[f64], validity: Validity<'_>) -> Result<&mut Self> {
        self.numbers(field, InputType::F64, BatchRows::single(validity), values, from_f64)
    }

    /// Adds values of type `bool`.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`].
    pub fn bool(&mut self, field: FieldId, values: &[bool], validity: Validity<'_>) -> Result<&mut Self> {
        self.numbers(field, InputType::BOOL, BatchRows::single(validity), values, i64::from)
    }

    /// Adds dates: days since 1970-01-01.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`].
    pub fn date(&mut self, field: FieldId, values: &[i32], validity: Validity<'_>) -> Result<&mut Self> {
        self.numbers(field, InputType::DATE, BatchRows::single(validity), values, i64::from)
    }

    /// Adds timestamps: milliseconds, microseconds or nanoseconds since 1970-01-01T00:00:00Z, as the
    /// field has it.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`].
    pub fn timestamp(&mut self, field: FieldId, values: &[i64], validity: Validity<'_>) -> Result<&mut Self> {
        self.numbers(field, InputType::TIMESTAMP, BatchRows::single(validity), values, |value| value)
    }

    /// Adds numbers that are in their stored form already: see
    /// [`LogicalType`](crate::LogicalType).
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`]; and for a boolean that is neither 0 nor 1.
    pub fn stored(&mut self, field: FieldId, values: &[i64], validity: Validity<'_>) -> Result<&mut Self> {
        self.numbers(field, InputType::NUMBER, BatchRows::single(validity), values, |value| value)
    }

    /// Adds byte strings, which lie end to end in `data`: that of document *i* from `offsets[i]` to
    /// `offsets[i + 1]`. For text they must be UTF-8; of IP addresses and 128-bit ids each must have 16
    /// bytes.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`]; and for values that the type does not have, or that are longer than
    /// [`MAX_VALUE`](crate::MAX_VALUE).
    pub fn bytes(
        &mut self,
        field: FieldId,
        offsets: &[u64],
        data: &[u8],
        validity: Validity<'_>,
    ) -> Result<&mut Self> {
        self.strings(field, BatchRows::single(validity), offsets, data)
    }

    /// Adds lists of values of type `i64`; that of document *i* from `offsets[i]` to `offsets[i + 1]`.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`]; and if documents have at most one value of the field.
    pub fn i64_lists(
        &mut self,
        field: FieldId,
        offsets: &[u64],
        values: &[i64],
        validity: Validity<'_>,
    ) -> Result<&mut Self> {
        self.numbers(field, InputType::I64, BatchRows::lists(offsets, validity), values, |value| value)
    }

    /// Adds lists of values of type `u64`.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`]; and if documents have at most one value of the field.
    pub fn u64_lists(
        &mut self,
        field: FieldId,
        offsets: &[u64],
        values: &[u64],
        validity: Validity<'_>,
    ) -> Result<&mut Self> {
        self.numbers(field, InputType::U64, BatchRows::lists(offsets, validity), values, from_u64)
    }

    /// Adds lists of values of type `f64`.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`]; and if documents have at most one value of the field.
    pub fn f64_lists(
        &mut self,
        field: FieldId,
        offsets: &[u64],
        values: &[f64],
        validity: Validity<'_>,
    ) -> Result<&mut Self> {
        self.numbers(field, InputType::F64, BatchRows::lists(offsets, validity), values, from_f64)
    }

    /// Adds lists of numbers that are in their stored form already: also for booleans, dates and
    /// timestamps.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`]; and if documents have at most one value of the field.
    pub fn stored_lists(
        &mut self,
        field: FieldId,
        offsets: &[u64],
        values: &[i64],
        validity: Validity<'_>,
    ) -> Result<&mut Self> {
        self.numbers(field, InputType::NUMBER, BatchRows::lists(offsets, validity), values, |value| value)
    }

    /// Adds sets of byte strings: string *i* lies in `data` from `offsets[i]` to `offsets[i + 1]`, and
    /// document *j* has the strings from `lists[j]` to `lists[j + 1]`.
    ///
    /// # Errors
    ///
    /// As [`bytes`](Self::bytes); and if documents have at most one value of the field.
    pub fn bytes_lists(
        &mut self,
        field: FieldId,
        lists: &[u64],
        offsets: &[u64],
        data: &[u8],
        validity: Validity<'_>,
    ) -> Result<&mut Self> {
        self.strings(field, BatchRows::lists(lists, validity), offsets, data)
    }

    /// Adds the documents to the segment; returns the first one's number, or what the next one's will be
    /// if there are none.
    pub fn finish(self) -> DocId {
        let first = self.first();
        self.fields.commit_batch(self.docs);
        first
    }

    fn numbers<T: Copy>(
        &mut self,
        field: FieldId,
        given: InputType,
        rows: BatchRows<'_>,
        values: &[T],
        store: impl Fn(T) -> i64,
    ) -> Result<&mut Self> {
        let rows = BatchRows { docs: self.docs, values: values.len(), ..rows };
        self.fields.add_column(field, given, &rows, &Numbers { values, store })?;
        Ok(self)
    }

    fn strings(
        &mut self,
        field: FieldId,
        rows: BatchRows<'_>,
        offsets: &[u64],
        data: &[u8],
    ) -> Result<&mut Self> {
        let rows = BatchRows { docs: self.docs, values: offsets.len().saturating_sub(1), ..rows };
        self.fields.add_column(field, InputType::BYTES_OF_ANY, &rows, &Bytes { offsets, data })?;
        Ok(self)
    }
}

impl Drop for ColumnBatch<'_> {
    fn drop(&mut self) {
        // Nothing is left to take back once it was committed.
        self.fields.roll_back();
    }
}
