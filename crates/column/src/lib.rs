//! The read traits of doc values: what a column is, whatever stores it.
//!
//! A *column* holds the values of one field for every document of a source. There are five kinds, as in Lucene, made of
//! three kinds of elements:
//!
//! | kind | a document has | [`Values`] |
//! | --- | --- | --- |
//! | numeric | at most one 64-bit number | `Numbers` |
//! | sorted-numeric | any number of 64-bit numbers | `Numbers` |
//! | sorted | at most one term of a dictionary | `Ords`, [`Terms`] |
//! | sorted-set | a set of terms of a dictionary | `Ords`, [`Terms`] |
//! | binary | at most one byte string | `Bytes` |
//!
//! [`Rows`] reads them all, *batch first*: `gather` (these documents → their rows, in any order, repeats allowed), `scan`
//! (this range → runs of rows) and `filter` (into a bitset). A [`SkipIndex`] says which documents a search need not look
//! at. Nothing needs to move forward, nothing has state: any number of threads can share a column.
//!
//! A source implements [`Column`], [`Rows`] and [`ColumnSource`]; with ords also [`Terms`]; [`SkipIndex`] if it has one.
//!
//! **Why traits here and enums in `format`:** sources of columns are open (a segment, memory, a Lucene index), encodings
//! are closed.
//!
//! # Bitsets
//!
//! A bitset over the documents `docs` is a `&mut [u64]` of at least [`docs.words()`](DocRange::words) words: bit `i % 64`
//! of word `i / 64` is document `docs.start + i`. Filters *add* bits; they clear none. See [`bits`].
//!
//! # Errors
//!
//! A column whose bytes are good never fails. After an error the contents of an output are unspecified. Arguments that
//! break a contract (an output that is too short) panic, as slices do.

mod absent;
mod batch;
pub mod bits;
mod bitset;
mod column;
mod error;
mod filter;
mod gathered;
mod live;
mod lookahead;
mod number;
mod range;
mod rows;
mod skip_index;
mod source;
mod terms;
mod value;

pub use absent::AbsentColumn;
pub use batch::{Batch, BatchDocs, Lists, Slices, View};
pub use bits::words;
pub use bitset::Bitset;
pub use column::{Bounds, Column, ColumnInfo, Count, Values};
pub use docvalues_format::file::field::Field;
pub use docvalues_format::file::kind::{Kind, LogicalType};
pub use docvalues_format::file::sort::SortKey;
pub use docvalues_format::id::{DocId, MAX_DOCS, TermOrd};
pub use docvalues_format::numeric::{PruneCounts, Pruning};
pub use error::{Error, ErrorKind, Result};
pub use filter::Filter;
pub use gathered::{Gathered, Presence};
pub use live::LiveDocs;
pub use lookahead::{GatherRows, Lookahead};
pub use number::{Date, Number, TimestampMicros, TimestampMillis, TimestampNanos};
pub use range::{DocRange, OrdRange};
pub use rows::{ByteRange, Each, Element, Rows, filter_by_scan, scan_by_gather};
pub use skip_index::{SkipIndex, Zone};
pub use source::{ColumnSource, DocAddress, Part};
pub use terms::Terms;
pub use value::Value;
