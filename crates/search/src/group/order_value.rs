//! What groups are compared by if a metric orders them.

use std::cmp::Ordering;

/// A number to compare groups by; all groups have the same sort of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum OrderValue {
    Integer(i128),
    Double(f64),
}

impl Ord for OrderValue {
    fn cmp(&self, other: &OrderValue) -> Ordering {
        match (self, other) {
            (OrderValue::Integer(a), OrderValue::Integer(b)) => a.cmp(b),
            // Adding 0.0 makes 0.0 of −0.0.
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
