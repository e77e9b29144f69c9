//! Read traits for doc values, independent of how they are stored.
//!
//! A *column* holds the values of one field for all documents of a source. There are five kinds, as in Lucene, over
//! three element types:
//!
//! | kind | values of a document | [`Values`] |
//! | --- | --- | --- |
//! | numeric | at most one 64-bit number | `Numbers` |
//! | sorted-numeric | any number of 64-bit numbers | `Numbers` |
//! | sorted | at most one term of a dictionary | `Ords`, [`Terms`] |
//! | sorted-set | a set of terms of a dictionary | `Ords`, [`Terms`] |
//! | binary | at most one byte string | `Bytes` |
//!
//! [`Rows`] reads all of them, in batches:
//!
//! - [`gather`](Rows::gather) copies the rows of a list of documents, in any order and with repeats;
//! - [`scan`](Rows::scan) visits the rows of a range of documents in order;
//! - [`filter`](Rows::filter) sets a bit for every document of a range whose row matches.
//!
//! A [`SkipIndex`] holds the minimum and maximum of zones of documents, so that searches skip zones. Columns have no
//! iterator state: any number of threads can share one and read documents in any order.
//!
//! # Implementing a source
//!
//! Implement [`ColumnSource`], [`Column`] and [`Rows`]; for ords also [`Terms`]; and [`SkipIndex`] if the source has
//! one. Each of these pages has an example. Only `gather` and `scan` need code for every column, and
//! [`scan_by_gather`] is a `scan`. The other methods have defaults, which are slower.
//!
//! These are traits because sources are open-ended: a segment, memory, an index of another engine. The encodings of a
//! segment are a closed set, so `docvalues-format` has enums for them.
//!
//! # Bitsets
//!
//! A bitset over the documents `docs` is a `&mut [u64]` of at least [`docs.words()`](DocRange::words) words: bit `i %
//! 64` of word `i / 64` stands for document `docs.start + i`. Filters set bits and never clear any. See [`bits`].
//!
//! # Errors
//!
//! Reading fails only if bytes of the source are damaged or cannot be read. After an error, the contents of an output
//! are unspecified. Arguments that break a contract, such as an output that is too short, panic, as slices do.

mod absent;
mod batch;
pub mod bits;
mod bitset;
mod column;
mod error;
mod filter;
mod info;
mod lists;
mod live;
mod lookahead;
mod number;
mod overlay;
mod plain;
pub mod promotion;
mod range;
mod rows;
mod skip_index;
mod source;
mod terms;
mod value;

pub use absent::AbsentColumn;
pub use batch::{Batch, BatchDocs, View};
pub use bits::words;
pub use bitset::Bitset;
pub use column::Column;
pub use docvalues_format::error::{Error as FormatError, ErrorKind as FormatErrorKind, Section};
pub use docvalues_format::file::field::Field;
pub use docvalues_format::file::kind::{Kind, LogicalType};
pub use docvalues_format::file::sort::SortKey;
pub use docvalues_format::id::{DocId, MAX_DOCS, TermOrd};
pub use docvalues_format::numeric::{PruneCounts, Pruning};
pub use error::{Error, ErrorKind, Result};
pub use filter::Filter;
pub use info::{Bounds, ColumnInfo, Count};
pub use lists::{Lists, Slices};
pub use live::LiveDocs;
pub use lookahead::{GatherRows, Lookahead};
pub use number::{Date, Number, TimestampMicros, TimestampMillis, TimestampNanos};
pub use overlay::{Changes, ColumnChanges, NewTerms, Overlay, OverlaySource, TermOverlay};
pub use plain::{PlainColumn, PlainColumns, PlainSource, PlainValues};
pub use range::{DocRange, OrdRange};
pub use rows::{ByteRange, Each, Element, Gathered, Presence, Rows, Values, filter_by_scan, scan_by_gather};
pub use skip_index::{SkipIndex, Zone};
pub use source::{ColumnSource, DocAddress, Part};
pub use terms::Terms;
pub use value::Value;
