//! [`SortValue`]: a document's value in the order of a sort key.

use std::cmp::Ordering;

use docvalues_column::{Field, SortKey, Value};
use docvalues_format::file::kind::from_u64;

/// A value in the order of a key; lesser ones come first. `B` is the type of byte strings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum SortValue<B = Vec<u8>> {
    /// No value; sorts first.
    First,
    Number(u64),
    Bytes(B),
    /// A byte string in descending order.
    BytesDown(B),
    /// NaN.
    NoNumber,
    /// No value; sorts last.
    Last,
}

impl<B> SortValue<B> {
    fn class(&self) -> u8 {
        match self {
            SortValue::First => 0,
            SortValue::Number(_) | SortValue::Bytes(_) | SortValue::BytesDown(_) => 1,
            SortValue::NoNumber => 2,
            SortValue::Last => 3,
        }
    }

    /// Converts the byte string by `to`.
    pub(super) fn map<C>(self, to: impl FnOnce(B) -> C) -> SortValue<C> {
        match self {
            SortValue::First => SortValue::First,
            SortValue::Number(number) => SortValue::Number(number),
            SortValue::Bytes(bytes) => SortValue::Bytes(to(bytes)),
            SortValue::BytesDown(bytes) => SortValue::BytesDown(to(bytes)),
            SortValue::NoNumber => SortValue::NoNumber,
            SortValue::Last => SortValue::Last,
        }
    }
}

impl SortValue {
    /// The value that it was made from; `None` for none.
    pub(crate) fn typed(&self, key: &SortKey, field: &Field) -> Option<Value> {
        match self {
            SortValue::First | SortValue::Last => None,
            SortValue::Number(rank) => Some(Value::of(field.logical, number_at(*rank, key.descending))),
            SortValue::Bytes(bytes) | SortValue::BytesDown(bytes) => Some(Value::Bytes(bytes.clone())),
            SortValue::NoNumber => Some(Value::F64(f64::NAN)),
        }
    }

    /// Whether it may be a document's value by `key`.
    #[cfg(feature = "serde")]
    pub(crate) fn is_of(&self, key: &SortKey, field: &Field) -> bool {
        match self {
            SortValue::First => key.missing_first,
            SortValue::Last => !key.missing_first,
            SortValue::Number(_) => !field.kind.is_bytes(),
            SortValue::Bytes(_) => field.kind.is_bytes() && !key.descending,
            SortValue::BytesDown(_) => field.kind.is_bytes() && key.descending,
            SortValue::NoNumber => field.logical == docvalues_column::LogicalType::F64,
        }
    }

    /// Bytes on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        if let SortValue::Bytes(bytes) | SortValue::BytesDown(bytes) = self { bytes.capacity() } else { 0 }
    }
}

impl<B: AsRef<[u8]>> SortValue<B> {
    /// The order of two values, whose byte strings may be owned or not.
    // `always`, as `cmp` and `partial_cmp`: with a call for each comparison, sorts by URLs took 1.1 times as long.
    #[inline(always)]
    pub(super) fn order<C: AsRef<[u8]>>(&self, other: &SortValue<C>) -> Ordering {
        match (self, other) {
            (SortValue::Number(a), SortValue::Number(b)) => a.cmp(b),
            (SortValue::Bytes(a), SortValue::Bytes(b)) => a.as_ref().cmp(b.as_ref()),
            (SortValue::BytesDown(a), SortValue::BytesDown(b)) => b.as_ref().cmp(a.as_ref()),
            _ => self.class().cmp(&other.class()),
        }
    }

    /// [`order`](Self::order), which is called unless both are numbers: short enough for the loops of a heap.
    #[inline(always)]
    pub(super) fn order_in_heap(&self, other: &SortValue<B>) -> Ordering {
        #[inline(never)]
        fn of_others<B: AsRef<[u8]>>(value: &SortValue<B>, other: &SortValue<B>) -> Ordering {
            value.order(other)
        }
        match (self, other) {
            (SortValue::Number(a), SortValue::Number(b)) => a.cmp(b),
            _ => of_others(self, other),
        }
    }
}

impl<B: AsRef<[u8]> + Eq> Ord for SortValue<B> {
    #[inline(always)]
    fn cmp(&self, other: &SortValue<B>) -> Ordering {
        self.order(other)
    }
}

impl<B: AsRef<[u8]> + Eq> PartialOrd for SortValue<B> {
    #[inline(always)]
    fn partial_cmp(&self, other: &SortValue<B>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The number whose [`SortValue::Number`] is `rank`.
#[inline]
pub(super) fn number_at(rank: u64, descending: bool) -> i64 {
    from_u64(if descending { !rank } else { rank })
}
