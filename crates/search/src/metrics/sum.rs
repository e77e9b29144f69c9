//! Sums of numbers.

use std::fmt::{self, Display};

/// A sum of numbers.
///
/// ```
/// use docvalues_search::stats::Sum;
///
/// assert_eq!((Sum::Integer(3).to_i128(), Sum::Double(0.5).to_i128()), (Some(3), None));
/// assert_eq!(format!("{} {}", Sum::Integer(-3), Sum::Double(0.5)), "-3 0.5");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Sum {
    /// The exact sum of integers.
    Integer(i128),
    /// The compensated sum of doubles.
    Double(f64),
}

/// A compensated sum of doubles (Neumaier 1974).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Compensated {
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::double"))]
    pub(crate) sum: f64,
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::double"))]
    pub(crate) lost: f64,
}

impl Sum {
    /// The nearest double.
    #[expect(clippy::cast_precision_loss, reason = "that is what is asked for")]
    pub fn to_f64(self) -> f64 {
        match self {
            Sum::Integer(sum) => sum as f64,
            Sum::Double(sum) => sum,
        }
    }

    /// The exact sum; `None` of doubles.
    pub fn to_i128(self) -> Option<i128> {
        if let Sum::Integer(sum) = self { Some(sum) } else { None }
    }
}

impl Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sum::Integer(sum) => sum.fmt(f),
            Sum::Double(sum) => sum.fmt(f),
        }
    }
}

impl Compensated {
    pub(crate) fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        self.lost +=
            if self.sum.abs() >= value.abs() { (self.sum - sum) + value } else { (value - sum) + self.sum };
        self.sum = sum;
    }

    /// The sum of both.
    pub(crate) fn and(mut self, other: &Compensated) -> Compensated {
        self.add(other.sum);
        self.lost += other.lost;
        self
    }

    pub(crate) fn total(&self) -> f64 {
        // The compensation of an infinite sum is NaN.
        if self.lost.is_finite() { self.sum + self.lost } else { self.sum }
    }
}
