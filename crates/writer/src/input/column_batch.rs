//! [`ColumnBatch`]: adding many documents at a time, column by column.

use docvalues_column::PlainValues;
use docvalues_format::id::DocId;

use super::field_buffers::{FieldBuffers, InputType};
use super::input_column::{Bytes, InputColumn, InputNumber, Numbers, Terms};
use crate::buffer::{BatchRows, Validity};
use crate::error::Result;
use crate::schema::FieldId;

/// A builder of several documents; made by [`SegmentWriter::batch`](crate::SegmentWriter::batch).
///
/// Add a column for each field, then call [`finish`](Self::finish). Fields without a column are missing in all
/// documents of the batch. A batch that is dropped before `finish` leaves no values. The segment has the same bytes as
/// if the documents had been added one by one.
///
/// # Columns
///
/// - *Values*: a slice with one value for each document.
/// - *Validity*: a bitset, or `None` if all documents have a value. Document *i* of the batch has one if bit *i* % 64
///   of word *i* / 64 is set; if not, its entry in the values is ignored. Bits after the last document are ignored.
/// - *Offsets*: one more than there are documents. The values of document *i* lie from `offsets[i]` to `offsets[i +
///   1]`. The first offset need not be 0. An empty list is a missing value.
///
/// These are the layouts of Arrow's arrays, so their buffers can be passed without a copy (with offsets as `u64`).
///
/// Multi-valued fields also take columns of one value a document.
///
/// # Errors
///
/// Every method fails if the field belongs to another schema, has another type or already has a column, if a slice has
/// the wrong length, or if the budget is used up. The error names the field and the document. The batch is then
/// unchanged and can go on.
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
///
/// Lists have one more offset than documents, as in Arrow; sets of byte strings have offsets of lists and of strings:
///
/// ```
/// use docvalues_writer::{FieldSpec, LogicalType, Schema, SegmentWriter, WriterOptions};
///
/// let mut schema = Schema::new();
/// let sizes = schema.add(FieldSpec::new("sizes", LogicalType::I64).multi_valued())?;
/// let tags = schema.add(FieldSpec::new("tags", LogicalType::Utf8).multi_valued())?;
/// let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
///
/// let mut batch = writer.batch(2)?;
/// batch.i64_lists(sizes, &[0, 2, 3], &[7, 9, 5], None)?; // [7, 9] and [5]
/// batch.bytes_lists(tags, &[0, 2, 2], &[0, 3, 7], b"redblue", None)?; // {"red", "blue"} and none
/// batch.finish();
/// let (_, summary) = writer.finish()?;
/// assert_eq!(summary.columns.iter().map(|column| column.values()).collect::<Vec<_>>(), [3, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ColumnBatch<'w> {
    fields: &'w mut FieldBuffers,
    docs: u32,
}

impl<'w> ColumnBatch<'w> {
    pub(crate) fn new(fields: &'w mut FieldBuffers, docs: u32) -> Result<ColumnBatch<'w>> {
        // A leaked document (`mem::forget`) was not rolled back on drop.
        fields.roll_back();
        fields.check_doc_count(docs)?;
        Ok(ColumnBatch { fields, docs })
    }

    /// The number of the first document.
    pub fn first(&self) -> DocId {
        DocId::new(self.fields.docs)
    }

    /// The number of documents of the batch.
    pub fn docs(&self) -> u32 {
        self.docs
    }

    /// Adds values of type `i64`.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`].
    pub fn i64(&mut self, field: FieldId, values: &[i64], validity: Validity<'_>) -> Result<&mut Self> {
        self.numbers(field, InputType::I64, (None, validity), values)
    }

    /// Adds values of type `u64`.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`].
    pub fn u64(&mut self, field: FieldId, values: &[u64], validity: Validity<'_>) -> Result<&mut Self> {
        self.numbers(field, InputType::U64, (None, validity), values)
    }

    /// Adds values of type `f64`.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`].
    pub fn f64(&mut self, field: FieldId, values: &[f64], validity: Validity<'_>) -> Result<&mut Self> {
        self.numbers(field, InputType::F64, (None, validity), values)
    }

    /// Adds values of type `bool`.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`].
    pub fn bool(&mut self, field: FieldId, values: &[bool], validity: Validity<'_>) -> Result<&mut Self> {
        self.numbers(field, InputType::BOOL, (None, validity), values)
    }

    /// Adds dates: days since 1970-01-01.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`].
    pub fn date(&mut self, field: FieldId, values: &[i32], validity: Validity<'_>) -> Result<&mut Self> {
        self.numbers(field, InputType::DATE, (None, validity), values)
    }

    /// Adds timestamps: milliseconds, microseconds or nanoseconds since 1970-01-01T00:00:00Z, depending on the field's
    /// type.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`].
    pub fn timestamp(&mut self, field: FieldId, values: &[i64], validity: Validity<'_>) -> Result<&mut Self> {
        self.numbers(field, InputType::TIMESTAMP, (None, validity), values)
    }

    /// Adds numbers in their stored form, which [`LogicalType`](crate::LogicalType) defines.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`]; also for a boolean that is neither 0 nor 1.
    pub fn stored(&mut self, field: FieldId, values: &[i64], validity: Validity<'_>) -> Result<&mut Self> {
        self.numbers(field, InputType::NUMBER, (None, validity), values)
    }

    /// Adds byte strings, concatenated in `data`: that of document *i* lies from `offsets[i]` to `offsets[i + 1]`. Text
    /// must be UTF-8; IP addresses and UUIDs must have 16 bytes each.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`]; also for byte strings that are no values of the type, or longer than
    /// [`MAX_VALUE`](crate::MAX_VALUE).
    pub fn bytes(
        &mut self,
        field: FieldId,
        offsets: &[u64],
        data: &[u8],
        validity: Validity<'_>,
    ) -> Result<&mut Self> {
        let strings = Bytes { offsets, data };
        self.bytes_column(field, (None, validity), strings.len(), &strings)
    }

    /// Adds byte strings of which many are equal, as indexes of terms: document *i* has term `ids[i]`, and term *t* lies in
    /// `data` from `offsets[t]` to `offsets[t + 1]`. Each term is hashed once, however many documents have it.
    ///
    /// ```
    /// use docvalues_writer::{FieldSpec, LogicalType, Schema, SegmentWriter, WriterOptions};
    ///
    /// let mut schema = Schema::new();
    /// let color = schema.add(FieldSpec::new("color", LogicalType::Utf8))?;
    /// let mut writer = SegmentWriter::in_memory(schema, WriterOptions::default());
    /// let mut batch = writer.batch(4)?;
    /// batch.terms(color, &[1, 0, 1, 1], &[0, 4, 7], b"bluered", None)?; // red, blue, red, red
    /// batch.finish();
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`bytes`](Self::bytes); also for an index without a term.
    pub fn terms(
        &mut self,
        field: FieldId,
        ids: &[u32],
        offsets: &[u64],
        data: &[u8],
        validity: Validity<'_>,
    ) -> Result<&mut Self> {
        let terms = Terms::new(ids, Bytes { offsets, data });
        self.bytes_column(field, (None, validity), ids.len(), &terms)
    }

    /// Adds lists of values of type `i64`: that of document *i* lies from `offsets[i]` to `offsets[i + 1]`.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`]; also if the field is not multi-valued.
    pub fn i64_lists(
        &mut self,
        field: FieldId,
        offsets: &[u64],
        values: &[i64],
        validity: Validity<'_>,
    ) -> Result<&mut Self> {
        self.numbers(field, InputType::I64, (Some(offsets), validity), values)
    }

    /// Adds lists of values of type `u64`.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`]; also if the field is not multi-valued.
    pub fn u64_lists(
        &mut self,
        field: FieldId,
        offsets: &[u64],
        values: &[u64],
        validity: Validity<'_>,
    ) -> Result<&mut Self> {
        self.numbers(field, InputType::U64, (Some(offsets), validity), values)
    }

    /// Adds lists of values of type `f64`.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`]; also if the field is not multi-valued.
    pub fn f64_lists(
        &mut self,
        field: FieldId,
        offsets: &[u64],
        values: &[f64],
        validity: Validity<'_>,
    ) -> Result<&mut Self> {
        self.numbers(field, InputType::F64, (Some(offsets), validity), values)
    }

    /// Adds lists of numbers in their stored form: also for booleans, dates and timestamps.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`]; also if the field is not multi-valued.
    pub fn stored_lists(
        &mut self,
        field: FieldId,
        offsets: &[u64],
        values: &[i64],
        validity: Validity<'_>,
    ) -> Result<&mut Self> {
        self.numbers(field, InputType::NUMBER, (Some(offsets), validity), values)
    }

    /// Adds sets of byte strings: string *i* lies in `data` from `offsets[i]` to `offsets[i + 1]`, and document *j* has
    /// the strings from `lists[j]` to `lists[j + 1]`.
    ///
    /// # Errors
    ///
    /// As [`bytes`](Self::bytes); also if the field is not multi-valued.
    pub fn bytes_lists(
        &mut self,
        field: FieldId,
        lists: &[u64],
        offsets: &[u64],
        data: &[u8],
        validity: Validity<'_>,
    ) -> Result<&mut Self> {
        let strings = Bytes { offsets, data };
        self.bytes_column(field, (Some(lists), validity), strings.len(), &strings)
    }

    /// Adds sets of [terms](Self::terms): document *j* has those of the `ids` from `lists[j]` to `lists[j + 1]`.
    ///
    /// # Errors
    ///
    /// As [`terms`](Self::terms); also if the field is not multi-valued.
    pub fn terms_lists(
        &mut self,
        field: FieldId,
        lists: &[u64],
        ids: &[u32],
        offsets: &[u64],
        data: &[u8],
        validity: Validity<'_>,
    ) -> Result<&mut Self> {
        let terms = Terms::new(ids, Bytes { offsets, data });
        self.bytes_column(field, (Some(lists), validity), ids.len(), &terms)
    }

    /// Adds values in their stored form. `lists` and `validity` assign them to documents, as in the other methods.
    ///
    /// # Errors
    ///
    /// See [`ColumnBatch`].
    #[doc(hidden)]
    pub fn plain(
        &mut self,
        field: FieldId,
        values: &PlainValues,
        lists: Option<&[u64]>,
        validity: Validity<'_>,
    ) -> Result<&mut Self> {
        match values {
            PlainValues::Numbers(numbers) => {
                self.numbers(field, InputType::NUMBER, (lists, validity), numbers)
            }
            PlainValues::Strings(strings) => {
                let strings = Bytes { offsets: strings.offsets(), data: strings.slices().items() };
                self.bytes_column(field, (lists, validity), strings.len(), &strings)
            }
        }
    }

    /// Adds the documents to the segment. Returns the number of the first, or, for an empty batch, that of the next
    /// document.
    pub fn finish(self) -> DocId {
        let first = self.first();
        self.fields.commit_batch(self.docs);
        first
    }

    fn numbers<T: InputNumber>(
        &mut self,
        field: FieldId,
        given: InputType,
        (lists, validity): (Option<&[u64]>, Validity<'_>),
        values: &[T],
    ) -> Result<&mut Self> {
        let rows = BatchRows { docs: self.docs, lists, validity, values: values.len() };
        self.fields.add_column(field, given, &rows, &Numbers(values))?;
        Ok(self)
    }

    fn bytes_column(
        &mut self,
        field: FieldId,
        (lists, validity): (Option<&[u64]>, Validity<'_>),
        values: usize,
        column: &dyn InputColumn,
    ) -> Result<&mut Self> {
        let rows = BatchRows { docs: self.docs, lists, validity, values };
        self.fields.add_column(field, InputType::BYTES_OF_ANY, &rows, column)?;
        Ok(self)
    }
}

impl Drop for ColumnBatch<'_> {
    fn drop(&mut self) {
        // A no-op after a commit.
        self.fields.roll_back();
    }
}
