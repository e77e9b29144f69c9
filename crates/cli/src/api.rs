//! The parts of the `docvalues` crates that this crate uses, in one place.

pub(crate) use docvalues::column::{
    AbsentColumn, Bounds, Column, ColumnInfo, ColumnSource, DocAddress, DocId, DocRange, Error, ErrorKind,
    Field, Kind, LiveDocs, OrdRange, Part, SkipIndex, SortKey, Values, promotion,
};
pub(crate) use docvalues::column::{FormatError, FormatErrorKind};
#[cfg(feature = "parquet")]
pub(crate) use docvalues::column::{Lists, PlainValues};
#[cfg(feature = "lucene")]
pub(crate) use docvalues::column::{PlainColumns, PlainSource};
#[cfg(feature = "parquet")]
pub(crate) use docvalues::format::file::field::MAX_NAME;
pub(crate) use docvalues::format::file::frame::MAGIC;
pub(crate) use docvalues::format::file::kind::{LogicalType, from_f64, from_u64, to_f64, to_u64};
pub(crate) use docvalues::format::strings::append_hex;
#[cfg(feature = "lucene")]
pub(crate) use docvalues::lucene;
pub(crate) use docvalues::reader::{
    Access, ColumnUsage, IdIndex, OpenOptions, SectionUsage, Segment, SegmentUsage,
};
#[cfg(feature = "parquet")]
pub(crate) use docvalues::search::arrow::Batches;
#[cfg(feature = "parquet")]
pub(crate) use docvalues::search::export::DocOrder;
pub(crate) use docvalues::search::export::{Cell, ChunkColumn, Retriever};
pub(crate) use docvalues::search::{self, Error as SearchError, Search};
pub(crate) use docvalues::store;
pub(crate) use docvalues::terms::lookup::{IdLookup, SeekError, SegmentIds};
pub(crate) use docvalues::terms::packing::Kind as Packing;
#[cfg(feature = "parquet")]
pub(crate) use docvalues::writer::arrow::{FlatArray, Holds, Leaf, for_each, leaves, stored_values, weight};
pub(crate) use docvalues::writer::{self, AtomicFile, Compression, IdOptions};
