//! Values during a search.

use docvalues_column::{ColumnInfo, LogicalType, TermOrd};
use docvalues_format::file::kind::from_f64;

/// The ord of a document without a value.
pub(crate) const NO_ORD: TermOrd = TermOrd::new(u32::MAX);

/// The stored form of -0.0. It is just below that of 0.0.
const NEGATIVE_ZERO: i64 = from_f64(-0.0);

/// Whether a column may have -0.0, which counts and groups treat as 0.0.
pub(crate) fn has_negative_zero(info: &ColumnInfo) -> bool {
    info.field.logical == LogicalType::F64 && info.bounds.range().contains(&NEGATIVE_ZERO)
}

/// The number that a stored double counts as: itself, or 0.0 for -0.0. Numbers keep their order.
#[inline]
pub(crate) fn one_zero(number: i64) -> i64 {
    if number == NEGATIVE_ZERO { from_f64(0.0) } else { number }
}

/// A stored value, or an ord as a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Stored {
    Number(i64),
    Bytes(Vec<u8>),
    /// A term and its id.
    Term(Vec<u8>, TermOrd),
}

impl Stored {
    /// The ord that a number stands for.
    pub(crate) fn ord(&self) -> TermOrd {
        match self {
            Stored::Number(ord) => u32::try_from(*ord).map_or(NO_ORD, TermOrd::new),
            Stored::Term(_, id) => *id,
            Stored::Bytes(_) => NO_ORD,
        }
    }
}
