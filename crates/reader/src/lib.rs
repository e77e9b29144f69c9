//! One segment file, opened: typed columns over mapped bytes that are checked where they are first
//! touched.
//!
//! [`Segment`] is the way in. It gives out typed handles to columns of the five kinds, and columns that implement the
//! traits of `docvalues-column`; [`OpenOptions`] says when checksums are compared, how blocks are found and
//! how bytes are reached. [`Segment::verify`] reads every byte; [`Segment::usage`] tells where they
//! went.
#![forbid(unsafe_code)]

mod bytes;
mod check;
mod core;
mod dictionary;
mod ends;
mod handles;
mod ids;
mod in_order;
mod leading;
mod lists;
mod numbers;
mod options;
mod seeker;
mod segment;
mod stored;
mod usage;

pub use docvalues_format::jump::JumpTables;
pub use docvalues_storage::{Memory, ReadAt, Verify};
pub use docvalues_terms::ids::{Form as IdForm, IdSizes};
pub use handles::{Binary, Cursor, Numeric, Sorted, SortedNumeric, SortedSet};
pub use ids::{IdIndex, IdReader};
pub use options::{Access, OpenOptions};
pub use seeker::NumericSeeker;
pub use segment::Segment;
pub use usage::{ColumnUsage, SectionUsage, SegmentUsage};
