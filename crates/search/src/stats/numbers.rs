//! Count, minimum, maximum, sum and spread of numbers.

use docvalues_column::LogicalType;
use docvalues_format::file::kind::{to_f64, to_u64};

use crate::engine::{Cells, Collector, ConstantColumn, Interrupt, Request, Slot, Window};
use crate::error::Result;
use crate::metrics::{Compensated, Sum};

/// Collects statistics of numbers.
pub(crate) struct NumberStats {
    slot: Slot,
    logical: LogicalType,
    spread: bool,
    now: Numbers,
    /// The results of finished chunks. They are added in order, because sums of doubles depend on it.
    chunks: Vec<(u64, Numbers)>,
    is_known: bool,
}

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

impl NumberStats {
    pub(crate) fn new(slot: Slot, request: &Request<'_>, spread: bool) -> NumberStats {
        let logical = request.columns().get(slot).info().field.logical;
        let known = request.constant(slot);
        let chunks = known.map(|known| (0, Numbers::known(known, logical, spread))).into_iter().collect();
        NumberStats { slot, logical, spread, now: Numbers::default(), chunks, is_known: known.is_some() }
    }

    pub(crate) fn finish(mut self) -> Numbers {
        self.chunks.sort_unstable_by_key(|(chunk, _)| *chunk);
        self.chunks.iter().fold(Numbers::default(), |all, (_, chunk)| all.and(chunk))
    }

    /// Adds the numbers of a window.
    fn add(&mut self, numbers: &[i64]) {
        self.now.values += numbers.len() as u64;
        match self.logical {
            LogicalType::F64 => {
                let doubles: Vec<f64> = numbers.iter().map(|&n| to_f64(n)).filter(|n| !n.is_nan()).collect();
                self.now.nans += (numbers.len() - doubles.len()) as u64;
                self.now.widen(numbers.iter().copied().filter(|&n| !to_f64(n).is_nan()));
                doubles.iter().for_each(|&double| self.now.doubles.add(double));
                self.now.spread = self.now.spread.and(&Spread::of(&doubles));
            }
            LogicalType::U64 => self.integers(numbers, |number| i128::from(to_u64(number))),
            _ => self.integers(numbers, i128::from),
        }
    }

    fn integers(&mut self, numbers: &[i64], value: impl Fn(i64) -> i128) {
        self.now.widen(numbers.iter().copied());
        let sum: i128 = numbers.iter().map(|&number| value(number)).sum();
        self.now.integers += sum;
        if self.spread {
            #[expect(clippy::cast_precision_loss, reason = "a variance is no count")]
            let doubles: Vec<f64> = numbers.iter().map(|&number| value(number) as f64).collect();
            self.now.spread = self.now.spread.and(&Spread::of(&doubles));
        }
    }
}

impl Collector for NumberStats {
    fn fork(&self) -> NumberStats {
        NumberStats { now: Numbers::default(), chunks: Vec::new(), ..*self }
    }

    fn is_idle(&self) -> bool {
        self.is_known
    }

    fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        window.read_stored(self.slot)?;
        let cells = window.stored_cells(self.slot);
        self.now.docs += window.len() as u64;
        self.now.missing += cells.missing();
        match cells {
            Cells::Numbers(numbers) if numbers.present.is_none() => self.add(numbers.values),
            Cells::Numbers(numbers) => {
                let mut there = Vec::with_capacity(window.len());
                numbers.each(|_, number| there.push(number));
                self.add(&there);
            }
            Cells::NumberLists(lists) => self.add(lists.items()),
            Cells::Ords(_) | Cells::OrdLists(_) | Cells::Bytes(_) => {}
        }
        Ok(())
    }

    fn chunk_ends(&mut self, chunk: u64) {
        if !self.is_known {
            self.chunks.push((chunk, std::mem::take(&mut self.now)));
        }
    }

    fn merge(&mut self, other: NumberStats, _stop: &Interrupt) -> Result<()> {
        self.chunks.extend(other.chunks);
        Ok(())
    }
}

impl Numbers {
    /// The statistics of a column with a single value.
    #[expect(clippy::cast_precision_loss, reason = "a mean is no count, nor is a sum of doubles")]
    fn known(known: ConstantColumn, logical: LogicalType, spread: bool) -> Numbers {
        let mut all = Numbers {
            docs: known.docs,
            missing: known.docs - known.with_value,
            values: known.values,
            ..Numbers::default()
        };
        let Some(number) = known.value else { return all };
        let (double, count) = (to_f64(number), known.values as f64);
        if logical == LogicalType::F64 && double.is_nan() {
            all.nans = known.values;
            return all;
        }
        all.range = Some((number, number));
        let mean = match logical {
            LogicalType::F64 => double,
            LogicalType::U64 => to_u64(number) as f64,
            _ => number as f64,
        };
        if spread || logical == LogicalType::F64 {
            let squares = if mean.is_finite() { 0.0 } else { f64::NAN };
            all.spread = Spread { count, mean, squares };
        }
        let integer = if logical == LogicalType::U64 { to_u64(number).into() } else { i128::from(number) };
        all.integers = integer * i128::from(known.values);
        all.doubles.add(double * count);
        all
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

    fn widen(&mut self, numbers: impl Iterator<Item = i64>) {
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
    fn of(values: &[f64]) -> Spread {
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
    fn and(&self, other: &Spread) -> Spread {
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
