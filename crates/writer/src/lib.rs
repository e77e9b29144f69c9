//! Writes docvalues segments: documents or column batches in, one file out.
//!
//! ```text
//! Schema          which fields there are, and what they hold             schema
//!   |
//! SegmentWriter   takes documents (Document) and column batches (ColumnBatch)  segment, document, batch
//!   |             a batch's columns checked and copied             rows, column
//!   |             Arrow's record batches as batches                arrow
//! buffers         values as columns store them; a budget, and a          fields, buffer, intern,
//!   |             temporary file for what has no room in it             runs, unsorted, dictionary
//!   |   finish
//! order           where documents go, if they are to be sorted           sort, order
//!   |
//! sections        column by column, in the fewest bytes                  encode, threads
//!   |
//! file            header, sections by name, directory, footer            file
//!   |
//! published       temporary name, sync, rename (storage)  -> Summary     summary
//! ```
//!
//! A [`Merger`] makes one segment of several: their columns, one at a time, to the same sections (merge).
//!
//! Three promises:
//!
//! - **The same input gives the same bytes**, however it came in: by document or in batches of any size,
//!   with fields declared in any order. What is encoded depends on the values in document order alone.
//! - **Whole or not at all**: a value, a document, a batch, a file. After an error nothing of what was
//!   refused is there, and the writer can go on; errors name the field and the document.
//! - **Memory is bounded** by [`WriterOptions::budget`]: what has no room goes to a temporary file, or, of a
//!   segment in memory, is refused with an error.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "arrow")]
pub mod arrow;
mod batch_rows;
mod buffer;
mod column_batch;
mod column_statistics;
mod dictionary_writer;
mod document;
mod encode;
mod error;
mod external_sort;
mod field_buffers;
mod file_writer;
mod finish;
mod index_sort;
mod input_column;
mod intern;
mod live_set;
mod merge;
mod parallel;
mod schema;
mod segment_writer;
mod sort_keys;
mod sorted_ids;
mod summary;
mod target;
#[cfg(test)]
mod tests;

pub use column_batch::ColumnBatch;
pub use document::Document;
pub use docvalues_format::binary::Compression;
pub use docvalues_format::file::kind::LogicalType;
pub use docvalues_format::file::sort::{MAX_SORT_KEYS, SortKey};
pub use docvalues_format::id::DocId;
pub use docvalues_storage::{AtomicFile, Error as StorageError, Spill, Step};
pub use docvalues_terms::build::{Duplicates, IdOptions};
pub use docvalues_terms::ids::Form as IdForm;
pub use error::{Error, ErrorKind, Result};
pub use field_buffers::MAX_VALUE;
pub use finish::FinishError;
pub use merge::{MergeProgress, Merger};
pub use schema::{BytesKind, FieldId, FieldSpec, MAX_FORMAT, Schema};
pub use segment_writer::{SegmentWriter, WriterOptions};
pub use summary::{ColumnSummary, IdsSummary, Summary};
pub use target::{Stream, Target};
