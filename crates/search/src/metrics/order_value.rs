//! The value of a metric by which groups are ordered.

use std::cmp::Ordering;

use super::metric::Measure;
use super::sum::Sum;

/// A number by which groups are ordered, of the same kind for all groups.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OrderValue {
    Integer(i128),
    Double(f64),
}

impl OrderValue {
    /// The number of a measure; `None` for NaN.
    pub(crate) fn of(measure: &Measure) -> Option<OrderValue> {
        match *measure {
            Measure::Value(ref value) => value.stored().map(|number| OrderValue::Integer(number.into())),
            Measure::Sum(Sum::Integer(sum)) => Some(OrderValue::Integer(sum)),
            Measure::Distinct(count) => Some(OrderValue::Integer(count.into())),
            Measure::Sum(Sum::Double(number)) | Measure::Mean(number) => {
                (!number.is_nan()).then_some(OrderValue::Double(number))
            }
        }
    }
}

impl Ord for OrderValue {
    fn cmp(&self, other: &OrderValue) -> Ordering {
        match (self, other) {
            (OrderValue::Integer(a), OrderValue::Integer(b)) => a.cmp(b),
            // Adding 0.0 turns −0.0 into 0.0.
            (OrderValue::Double(a), OrderValue::Double(b)) => (a + 0.0).total_cmp(&(b + 0.0)),
            (OrderValue::Integer(_), OrderValue::Double(_)) => Ordering::Less,
            (OrderValue::Double(_), OrderValue::Integer(_)) => Ordering::Greater,
        }
    }
}

impl PartialOrd for OrderValue {
    fn partial_cmp(&self, other: &OrderValue) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for OrderValue {
    fn eq(&self, other: &OrderValue) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for OrderValue {}
