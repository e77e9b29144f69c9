//! What this crate uses of the store, in one place.

pub(crate) use docvalues::column::{AnyColumn, ColumnSource, DocId, Error, ErrorKind, Kind, Lists, TermOrd};
pub(crate) use docvalues::column::{Field, words};
pub(crate) use docvalues::format::error::ErrorKind as Damage;
pub(crate) use docvalues::format::error::Section;
pub(crate) use docvalues::format::file::kind::{LogicalType, from_f64, from_u64, to_f64, to_u64};
pub(crate) use docvalues::reader::{ColumnStats, Segment, SegmentStats};
pub(crate) use docvalues::writer;
