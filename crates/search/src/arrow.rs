//! Export as Arrow record batches.
//!
//! | logical type | Arrow type |
//! | --- | --- |
//! | `i64` `u64` `f64` `bool` | int64, uint64, float64, boolean |
//! | `date` | date32 |
//! | `timestamp[ms]` `[us]` `[ns]` | timestamp of that unit, in UTC |
//! | `ip` | fixed-size-binary of 16 bytes as stored, which keeps the order; extension type `docvalues.ip` |
//! | `uuid` | fixed-size-binary of 16 bytes, extension type `arrow.uuid` |
//! | `string` | utf8; also utf8-view, or for sorted columns a dictionary of int32 and utf8: [`StringLayout`] |
//! | `bytes` | binary, otherwise as `string` |
//! | several values | a list of these; null for documents without a value |
//!
//! A field is nullable if any document of the source has no value, whether or not it is exported.

mod arrays;
mod types;

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, RecordBatchReader, UInt32Array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

use crate::error::{Error, Result};
use crate::export::{Chunk, Export};
use arrays::{array, weight};
pub use types::{IP_EXTENSION, StringLayout, arrow_field};

/// About how many bytes of strings and lists a batch has, unless a single row has more. It leaves room in 32-bit
/// offsets, even if a chunk has one long string for many rows.
const BATCH_BYTES: u64 = 128 << 20;

/// Documents as record batches, one or more for each chunk. Made by [`Export::batches`].
///
/// An [`Error`] is returned as [`ArrowError::ExternalError`], and ends the iteration.
#[derive(Debug)]
pub struct Batches<'a> {
    export: Export<'a>,
    schema: SchemaRef,
    /// The name of the column of document ids, if there is one.
    doc_ids: Option<String>,
    strings: StringLayout,
    /// The next row of the chunk.
    next: usize,
    done: bool,
}

impl<'a> Export<'a> {
    /// Converts the export to Arrow record batches.
    ///
    /// ```
    /// # use docvalues_column::{DocId, Field, Kind, LogicalType};
    /// # use docvalues_testkit::model::{MemSource, ModelColumn};
    /// use arrow_array::{RecordBatch, cast::AsArray, types::Int64Type};
    /// use docvalues_search::{Docs, Search};
    ///
    /// # let field = Field::new("size", Kind::Numeric, LogicalType::I64);
    /// # let source = MemSource::new(3, [(field, ModelColumn::Numeric(vec![Some(512), None, Some(70)]))]);
    /// let batches = Search::new(&source).export(Docs::All, &["size"])?.batches();
    /// let batches: Vec<RecordBatch> = batches.collect::<Result<_, _>>()?;
    /// let sizes = batches[0].column(0).as_primitive::<Int64Type>();
    /// assert_eq!(sizes.iter().collect::<Vec<_>>(), [Some(512), None, Some(70)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn batches(self) -> Batches<'a> {
        let batches = Batches {
            next: self.chunk.len(),
            export: self,
            schema: Arc::new(Schema::empty()),
            doc_ids: None,
            strings: StringLayout::default(),
            done: false,
        };
        batches.described()
    }
}

impl Batches<'_> {
    /// Sets the layout of strings and bytes.
    #[must_use]
    pub fn strings_as(self, strings: StringLayout) -> Self {
        Batches { strings, ..self }.described()
    }

    /// Adds a first column of this name with the document ids within their parts, as uint32.
    #[must_use]
    pub fn doc_ids(self, name: impl Into<String>) -> Self {
        Batches { doc_ids: Some(name.into()), ..self }.described()
    }

    /// Updates the schema.
    fn described(self) -> Self {
        let doc_ids = self.doc_ids.iter().map(|name| Field::new(name, DataType::UInt32, false));
        let columns = self.export.fields().zip(self.export.nullable());
        let columns = columns.map(|(field, nullable)| arrow_field(field, nullable, self.strings));
        let schema = Arc::new(Schema::new(doc_ids.chain(columns).collect::<Vec<_>>()));
        Batches { schema, ..self }
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.next == self.export.chunk.len() {
            if self.export.next_chunk()?.is_none() {
                return Ok(None);
            }
            self.next = 0;
        }
        let (chunk, first) = (&self.export.chunk, self.next);
        let rows = first..first + fitting(chunk, first, self.strings);
        let docs = &chunk.docs()[rows.clone()];
        let mut columns: Vec<ArrayRef> = Vec::new();
        if self.doc_ids.is_some() {
            columns.push(Arc::new(docs.iter().map(|doc| doc.doc.get()).collect::<UInt32Array>()));
        }
        for (i, field) in self.export.fields().enumerate() {
            columns.push(array(chunk, i, rows.clone(), field, self.strings)?);
        }
        self.next = rows.end;
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        let schema = Arc::clone(&self.schema);
        let batch = RecordBatch::try_new_with_options(schema, columns, &options);
        batch.map(Some).map_err(|error| Error::Request(format!("record batch: {error}")))
    }
}

/// The number of rows of a chunk, from `first` on, that fit a batch.
fn fitting(chunk: &Chunk, first: usize, strings: StringLayout) -> usize {
    let mut rows = chunk.len() - first;
    let bytes = |rows: usize| {
        let columns = (0..chunk.width()).map(|i| chunk.column(i));
        columns.map(|column| weight(&column, first..first + rows, strings)).max().unwrap_or(0)
    };
    while rows > 1 && bytes(rows) > BATCH_BYTES {
        rows /= 2;
    }
    rows
}

impl Iterator for Batches<'_> {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let next = self.next_batch().map_err(|error| ArrowError::ExternalError(Box::new(error))).transpose();
        self.done = !matches!(next, Some(Ok(_)));
        next
    }
}

impl RecordBatchReader for Batches<'_> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

#[cfg(test)]
mod tests;
