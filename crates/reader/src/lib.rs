//! Opens and reads docvalues segments.
//!
//! [`Segment`] opens one file. It returns typed columns ([`Numeric`], [`SortedNumeric`], [`Sorted`], [`SortedSet`],
//! [`Binary`]), columns as trait objects for generic code ([`ColumnSource`](docvalues_column::ColumnSource)), and the
//! id index ([`IdIndex`]). [`OpenOptions`] sets when checksums are verified, how blocks are found and how the file is
//! accessed.
//!
//! | to | use |
//! | --- | --- |
//! | open a file, memory, or an object in an object store | [`Segment::open`], [`from_bytes`], [`from_reader`] |
//! | read a column whose type is known | [`Segment::numeric`], [`typed`], [`sorted`], [`sorted_set`], [`binary`] |
//! | read a column of any kind | [`ColumnSource::column`](docvalues_column::ColumnSource::column) |
//! | look up an id | [`Segment::ids`] |
//! | read one field of many segments | [`NumericSeeker`] |
//! | check a whole file | [`Segment::verify`], [`Segment::check`] |
//! | see where the bytes of a file went | [`Segment::usage`] |
//!
//! Bytes are verified when they are first touched, a granule of 4 KiB at a time. Damaged or hostile bytes give an error
//! that names file, section and offset, never a panic.
//!
//! # Examples
//!
//! See [`Segment`] for a segment of a few documents, and each type of column for its calls.
//!
//! [`from_bytes`]: Segment::from_bytes
//! [`from_reader`]: Segment::from_reader
//! [`typed`]: Segment::typed
//! [`sorted`]: Segment::sorted
//! [`sorted_set`]: Segment::sorted_set
//! [`binary`]: Segment::binary
#![forbid(unsafe_code)]

mod binary_column;
mod check_sort;
mod column;
mod dictionary;
mod element;
mod id_index;
mod lists;
mod metadata;
mod numeric_column;
mod numeric_seeker;
mod options;
mod row_lookup;
mod segment;
mod sort_key;
mod typed;
mod usage;
mod verify;

pub use docvalues_format::jump::JumpTables;
pub use docvalues_storage::{Memory, ReadAt, Verify};
pub use docvalues_terms::ids::{Form as IdForm, IdSizes};
pub use id_index::{IdIndex, IdReader};
pub use numeric_seeker::NumericSeeker;
pub use options::{Access, OpenOptions};
pub use segment::Segment;
pub use typed::{Binary, Numeric, Sorted, SortedNumeric, SortedSet};
pub use usage::{ColumnUsage, SectionUsage, SegmentUsage};
