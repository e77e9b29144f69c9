//! Values during a search.

#[cfg(feature = "serde")]
use docvalues_column::Field;
use docvalues_column::{ColumnInfo, LogicalType, TermOrd, Value};
use docvalues_format::file::kind::from_f64;

/// The ord of a document without a value.
pub(crate) const NO_ORD: TermOrd = TermOrd::new(u32::MAX);

/// The whole part of a double that is not negative; the greatest number if that is greater.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
pub(crate) fn whole(double: f64) -> u64 {
    double as u64
}

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

/// A stored value, or an ord as a number; a column has either numbers or byte strings. The order of stored values is that
/// of typed ones.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Stored {
    Number(i64),
    Bytes(Vec<u8>),
}

/// The ord that a number stands for.
#[inline]
pub(crate) fn ord_of(number: i64) -> TermOrd {
    u32::try_from(number).map_or(NO_ORD, TermOrd::new)
}

impl Stored {
    pub(crate) fn of(value: Value) -> Stored {
        match (value.stored(), value) {
            (Some(number), _) => Stored::Number(number),
            (None, Value::Bytes(bytes)) => Stored::Bytes(bytes),
            (None, _) => Stored::Bytes(Vec::new()),
        }
    }

    /// The value, which is no ord.
    pub(crate) fn into_value(self, logical: LogicalType) -> Value {
        match self {
            Stored::Number(number) => Value::of(logical, number),
            Stored::Bytes(bytes) => Value::Bytes(bytes),
        }
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        if let Stored::Bytes(bytes) = self { bytes.capacity() } else { 0 }
    }

    /// Whether it may be a value of a column.
    #[cfg(feature = "serde")]
    pub(crate) fn fits(&self, field: &Field) -> bool {
        matches!(self, Stored::Bytes(_)) == field.kind.is_bytes()
    }
}
