//! Values of partial results.

#[cfg(feature = "serde")]
use docvalues_column::Field;
use docvalues_column::{LogicalType, Value};

/// A stored number or a byte string; a column has either. The order of stored values is that of typed ones.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum PartialValue {
    Number(i64),
    Bytes(Vec<u8>),
}

impl PartialValue {
    pub(super) fn of(value: Value) -> PartialValue {
        match (value.stored(), value) {
            (Some(number), _) => PartialValue::Number(number),
            (None, Value::Bytes(bytes)) => PartialValue::Bytes(bytes),
            (None, _) => PartialValue::Bytes(Vec::new()),
        }
    }

    pub(super) fn into_value(self, logical: LogicalType) -> Value {
        match self {
            PartialValue::Number(number) => Value::of(logical, number),
            PartialValue::Bytes(bytes) => Value::Bytes(bytes),
        }
    }

    /// Bytes on the heap.
    pub(super) fn heap_bytes(&self) -> usize {
        if let PartialValue::Bytes(bytes) = self { bytes.capacity() } else { 0 }
    }

    /// Whether it may be a value of a column.
    #[cfg(feature = "serde")]
    pub(super) fn fits(&self, field: &Field) -> bool {
        matches!(self, PartialValue::Bytes(_)) == field.kind.is_bytes()
    }
}
