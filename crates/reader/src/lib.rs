//! One segment file, opened: typed columns over mapped bytes that are checked where they are first
//! touched.
//!
//! [`Segment`] is the way in. It gives out typed handles to columns of the five kinds, and columns that implement the
//! traits of `docvalues-column`; [`OpenOptions`] says when checksums are compared, how blocks are found and
//! how bytes are reached. [`Segment::verify`] reads every byte; [`Segment::usage`] tells where they
//! went.
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
pub use typed::{Binary, Cursor, Numeric, Sorted, SortedNumeric, SortedSet};
pub use usage::{ColumnUsage, SectionUsage, SegmentUsage};
