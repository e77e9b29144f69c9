//! What groups are compared by if a metric orders them.

use std::cmp::Ordering;

/// A number to compare groups by; all groups have the same sort of it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Height {
    Integer(i128),
    Double(f64),
}

impl Ord for Height {
    fn cmp(&self, other: &Height) -> Ordering {
        match (self, other) {
            (Height::Integer(a), Height::Integer(b)) => a.cmp(b),
            // Adding 0.0 makes 0.0 of −0.0.
            (Height::Double(a), Height::Double(b)) => (a + 0.0).total_cmp(&(b + 0.0)),
            (Height::Integer(_), Height::Double(_)) => Ordering::Less,
            (Height::Double(_), Height::Integer(_)) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Height {
    fn partial_cmp(&self, other: &Height) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Height {
    fn eq(&self, other: &Height) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Height {}
