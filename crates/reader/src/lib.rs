//! One segment file, opened: typed columns over mapped bytes that are checked where they are first
//! touched.
//!
//! [`Segment`] is the way in. It gives out columns of the five kinds, which implement the traits of
//! `docvalues-column`; [`OpenOptions`] says when checksums are compared, how blocks are found and
//! how bytes are reached. [`Segment::verify`] reads every byte; [`Segment::stats`] tells where they
//! went.
#![forbid(unsafe_code)]

mod binary;
mod check;
mod core;
mod cursor;
mod ids;
mod in_order;
mod leading;
mod lists;
mod numeric;
mod options;
mod seeker;
mod segment;
mod sorted;
mod sorted_numeric;
mod sorted_set;
mod stats;
mod terms;
mod typed;

pub use binary::Binary;
pub use cursor::Cursor;
pub use docvalues_format::jump::JumpTables;
pub use docvalues_storage::Verify;
pub use docvalues_terms::ids::{Form as IdForm, IdSizes};
pub use ids::{IdIndex, IdReader};
pub use numeric::Numeric;
pub use options::{Access, OpenOptions};
pub use seeker::NumericSeeker;
pub use segment::Segment;
pub use sorted::Sorted;
pub use sorted_numeric::SortedNumeric;
pub use sorted_set::SortedSet;
pub use stats::{ColumnStats, SectionStats, SegmentStats};
