//! Count, minimum, maximum, sum and spread of some numbers.

use docvalues_column::LogicalType;

use crate::metrics::{Compensated, Sum};

/// Statistics of some numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Numbers {
    pub(crate) docs: u64,
    pub(crate) missing: u64,
    pub(crate) values: u64,
    pub(crate) nans: u64,
    pub(crate) range: Option<(i64, i64)>,
    pub(super) integers: i128,
    pub(super) doubles: Compensated,
    pub(super) spread: Spread,
}

/// The count, the mean, and the sum of squared distances from it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Spread {
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::double"))]
    count: f64,
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::double"))]
    mean: f64,
    #[cfg_attr(feature = "serde", serde(with = "crate::serial::double"))]
    squares: f64,
}

impl Numbers {
    /// The statistics of these numbers, each so many times. O(log times).
    pub(super) fn times(self, times: u64) -> Numbers {
        let half = if times > 1 { self.times(times / 2) } else { Numbers::default() };
        let all = half.and(&half);
        if times.is_multiple_of(2) { all } else { all.and(&self) }
    }

    /// The sum, if there are numbers.
    pub(crate) fn sum(&self, logical: LogicalType) -> Option<Sum> {
        (self.values > self.nans).then(|| match logical {
            LogicalType::F64 => Sum::Double(self.doubles.total()),
            _ => Sum::Integer(self.integers),
        })
    }

    /// The mean squared distance from the mean.
    pub(crate) fn variance(&self) -> Option<f64> {
        (self.spread.count > 0.0).then(|| self.spread.squares / self.spread.count)
    }

    pub(super) fn widen(&mut self, numbers: impl Iterator<Item = i64>) {
        let (low, high) = numbers.fold((i64::MAX, i64::MIN), |(low, high), n| (low.min(n), high.max(n)));
        if low <= high {
            let (least, greatest) = self.range.unwrap_or((low, high));
            self.range = Some((least.min(low), greatest.max(high)));
        }
    }

    /// The statistics of both. Counts and sums saturate.
    pub(crate) fn and(mut self, other: &Numbers) -> Numbers {
        self.docs = self.docs.saturating_add(other.docs);
        self.missing = self.missing.saturating_add(other.missing);
        self.values = self.values.saturating_add(other.values);
        self.nans = self.nans.saturating_add(other.nans);
        if let Some((low, high)) = other.range {
            self.widen([low, high].into_iter());
        }
        self.integers = self.integers.saturating_add(other.integers);
        self.doubles = self.doubles.and(&other.doubles);
        self.spread = self.spread.and(&other.spread);
        self
    }
}

impl Spread {
    pub(super) fn of(values: &[f64]) -> Spread {
        if values.is_empty() {
            return Spread::default();
        }
        #[expect(clippy::cast_precision_loss, reason = "as many as a window has")]
        let count = values.len() as f64;
        let mean = sum(values, |value| value) / count;
        let squares = sum(values, |value| (value - mean) * (value - mean));
        Spread { count, mean, squares }
    }

    /// Combines two spreads: Chan, Golub and LeVeque 1979.
    pub(super) fn and(&self, other: &Spread) -> Spread {
        if self.count == 0.0 || other.count == 0.0 {
            return if self.count == 0.0 { *other } else { *self };
        }
        let count = self.count + other.count;
        let apart = other.mean - self.mean;
        let mean = self.mean + apart * (other.count / count);
        let squares = self.squares + other.squares + apart * apart * (self.count * other.count / count);
        Spread { count, mean, squares }
    }
}

/// Sums a term of each value in eight independent sums, so that additions do not wait for each other.
fn sum(values: &[f64], term: impl Fn(f64) -> f64) -> f64 {
    let (chunks, rest) = values.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, &value)| *sum += term(value));
    }
    sums.into_iter().chain(rest.iter().map(|&value| term(value))).sum()
}
