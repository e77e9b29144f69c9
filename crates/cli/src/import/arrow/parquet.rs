//! Parquet: reads row groups in order, page by page.

use std::fs::File;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};

use super::int96;
use super::pages::{Pages, unknown_codec};
use crate::import::Exclude;
use crate::import::error::InputError;
use crate::import::source::Source;

/// A file whose footer was read.
pub(super) struct Parquet {
    file: File,
    source: Source,
    metadata: ArrowReaderMetadata,
}

/// The rows of a Parquet file.
pub(super) struct Rows {
    reader: ParquetRecordBatchReader,
    source: Source,
    done: u64,
    total: u64,
}

impl Parquet {
    /// Reads the footer, and the values of INT96 columns. The inner error is a moment that no unit holds.
    pub(super) fn open(
        file: File,
        source: Source,
        exclude: &Exclude,
    ) -> Result<Result<Parquet, InputError>, ArrowError> {
        let options = ArrowReaderOptions::new();
        let metadata = ArrowReaderMetadata::load(&file, options.clone())?;
        let units = match int96::units(&file, metadata.metadata(), metadata.schema(), &source, exclude)? {
            Ok(units) => units,
            Err(error) => return Ok(Err(error)),
        };
        let mut units = units.into_iter();
        let fields: Fields =
            metadata.schema().fields().iter().map(|field| viewed(field, &mut units)).collect();
        let schema = Schema::new_with_metadata(fields, metadata.schema().metadata().clone());
        let options = options.with_schema(Arc::new(schema));
        let metadata = ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)?;
        Ok(Ok(Parquet { file, source, metadata }))
    }

    pub(super) fn schema(&self) -> SchemaRef {
        Arc::clone(self.metadata.schema())
    }

    /// The rows with the columns `roots`, in batches of at most `rows` rows and about `bytes` bytes.
    pub(super) fn rows(
        self,
        roots: impl Iterator<Item = usize>,
        rows: usize,
        bytes: usize,
    ) -> Result<Rows, ArrowError> {
        let Parquet { file, source, metadata } = self;
        let groups = metadata.metadata().row_groups();
        let total = groups.iter().map(|group| u64::try_from(group.num_rows()).unwrap_or(0)).sum();
        let heaviest = groups.iter().map(|group| group.total_byte_size() / group.num_rows().max(1)).max();
        let row = usize::try_from(heaviest.unwrap_or(0)).unwrap_or(0);
        let together = bytes.checked_div(row).map_or(rows, |fit| fit.clamp(1, rows));
        let mask = ProjectionMask::roots(metadata.parquet_schema(), roots);
        let columns = groups.iter().flat_map(|group| group.columns().iter().enumerate());
        let read = columns.filter(|(leaf, _)| mask.leaf_included(*leaf));
        if let Some(codec) = read.filter_map(|(_, column)| unknown_codec(column.compression())).next() {
            return Err(ArrowError::NotYetImplemented(format!(
                "compressed with {codec}, which dv cannot read"
            )));
        }
        let pages = Pages::new(file, metadata.metadata())?;
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(pages, metadata);
        let reader = builder.with_projection(mask).with_batch_size(together).build()?;
        Ok(Rows { reader, source, done: 0, total })
    }
}

impl Rows {
    /// The schema of the batches.
    pub(super) fn schema(&self) -> SchemaRef {
        use arrow_array::RecordBatchReader as _;
        self.reader.schema()
    }
}

impl Iterator for Rows {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Result<RecordBatch, ArrowError>> {
        let batch = self.reader.next();
        self.done = batch.as_ref().map_or(self.total, |batch| {
            self.done + batch.as_ref().map_or(0, |batch| batch.num_rows() as u64)
        });
        self.source.reached(self.done, self.total);
        batch
    }
}

/// The field with view types instead of string and binary types: strings of a dictionary page are in memory only once.
/// `units` has an item for each leaf of the file: the unit of an INT96 column.
fn viewed(field: &FieldRef, units: &mut impl Iterator<Item = Option<TimeUnit>>) -> FieldRef {
    use DataType as D;
    let data_type = match field.data_type() {
        D::List(item) => D::List(viewed(item, units)),
        D::LargeList(item) => D::LargeList(viewed(item, units)),
        D::FixedSizeList(item, len) => D::FixedSizeList(viewed(item, units), *len),
        D::ListView(item) => D::ListView(viewed(item, units)),
        D::LargeListView(item) => D::LargeListView(viewed(item, units)),
        D::Struct(fields) => D::Struct(fields.iter().map(|field| viewed(field, units)).collect()),
        // No segment has maps, so only their leaves count.
        D::Map(entries, _) => {
            viewed(entries, units);
            return Arc::clone(field);
        }
        leaf => match (leaf, units.next().flatten()) {
            (D::Timestamp(_, zone), Some(unit)) => D::Timestamp(unit, zone.clone()),
            (D::Dictionary(..), Some(unit)) => D::Timestamp(unit, None),
            (D::Utf8 | D::LargeUtf8, None) => D::Utf8View,
            (D::Binary | D::LargeBinary, None) => D::BinaryView,
            _ => return Arc::clone(field),
        },
    };
    Arc::new(Field::clone(field).with_data_type(data_type))
}
