//! Writes docvalues segments: documents or column batches in, one file out.
//!
//! ```text
//! Schema           the fields and their types                             schema
//!   |
//! SegmentWriter    takes documents (Document) and batches (ColumnBatch)   segment_writer, input
//!   |                Arrow record batches                                 arrow
//! field buffers    values by field, within a memory budget; what exceeds  buffer
//!   |              it goes to a temporary file
//!   |   finish                                                            finish
//! index sort       optional: the new order of the documents               sort
//!   |
//! sections         column by column, in the cheapest encoding             encode, parallel
//!   |
//! file             header, sections by name, directory, footer            file
//!   |
//! published        temporary name, sync, rename  -> Summary               target, summary
//! ```
//!
//! A [`Merger`] builds one segment from several. It reads their columns one at a time and encodes them the same way
//! (`merge`).
//!
//! Three guarantees:
//!
//! - **Equal input gives equal bytes**, by document or in batches of any size, with fields declared in any order. The
//!   encoding depends only on the values in document order.
//! - **All or nothing**, for a value, a document, a batch and a file. After an error nothing of the refused input
//!   remains, and the writer can go on. Errors name the field and the document.
//! - **Bounded memory**: [`WriterOptions::budget`]. Values beyond it go to a temporary file; a segment that is built in
//!   memory returns an error instead.
//!
//! # Examples
//!
//! See [`SegmentWriter`], [`ColumnBatch`] and [`Merger`].
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "arrow")]
pub mod arrow;
mod buffer;
mod encode;
mod error;
mod file;
mod finish;
mod index;
mod input;
mod live_set;
mod merge;
mod options;
mod parallel;
mod plain;
mod schema;
mod segment_writer;
mod sort;
mod summary;
mod target;
#[cfg(test)]
mod tests;

pub use docvalues_format::binary::{Compression, EncodeError as BinaryError};
pub use docvalues_format::dictionary::BuildError as DictionaryError;
pub use docvalues_format::file::field::Field;
pub use docvalues_format::file::kind::{Kind, LogicalType};
pub use docvalues_format::file::sort::{MAX_SORT_KEYS, SortKey};
pub use docvalues_format::id::DocId;
pub use docvalues_storage::{AtomicFile, Error as StorageError, NewFile, Spill, Step};
pub use docvalues_terms::build::{Duplicates, IdOptions};
pub use docvalues_terms::ids::Form as IdForm;
pub use error::{Error, ErrorKind, Result};
pub use finish::FinishError;
pub use input::{ColumnBatch, Document, MAX_VALUE};
pub use merge::{MergeProgress, Merger};
pub use options::WriterOptions;
pub use schema::{BytesKind, FieldId, FieldSpec, MAX_FORMAT, Schema};
pub use segment_writer::SegmentWriter;
pub use summary::{ColumnSummary, IdsSummary, Summary};
pub use target::{Stream, Target};
