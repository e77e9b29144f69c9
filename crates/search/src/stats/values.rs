//! The collector of counts, sums and ranges: of numbers, terms and byte strings.

use docvalues_column::LogicalType;
use docvalues_format::file::kind::{to_f64, to_u64};

use super::ByteRange;
use super::number_counts::NumberCounts;
use super::numbers::{Numbers, Spread};
use super::terms::TermRange;
use crate::engine::{
    Cells, Collector, ConstantColumn, Elements, Interrupt, PassPart, Request, Slot, Window, ord_of,
};
use crate::error::Result;

/// Collects statistics of the values of a column.
pub(crate) struct ValueStats {
    pub(super) slot: Slot,
    logical: LogicalType,
    spread: bool,
    now: Numbers,
    /// The results of finished chunks. They are added in order, because sums of doubles depend on it.
    chunks: Vec<(u64, Numbers)>,
    terms: TermRange,
    /// The count of every number, if it is requested.
    counts: Option<NumberCounts>,
    is_known: bool,
    /// Whether there are several parts, whose ords have nothing to do with each other.
    has_parts: bool,
}

impl ValueStats {
    pub(crate) fn new(slot: Slot, request: &Request<'_>, spread: bool) -> ValueStats {
        let (column, has_parts) = (request.columns().get(slot), request.parts() > 1);
        let (logical, are_numbers) = (column.info().field.logical, column.elements() == Elements::Numbers);
        // The term of a constant is not known in several parts.
        let known = request.constant(slot);
        let known = known.filter(|known| are_numbers || !has_parts || known.value.is_none());
        let (now, chunks, terms, counts) = (Numbers::default(), Vec::new(), TermRange::default(), None);
        let is_known = known.is_some();
        let mut stats = ValueStats { slot, logical, spread, now, chunks, terms, counts, is_known, has_parts };
        if let Some(ConstantColumn { value, docs, with_value, values }) = known {
            match value {
                Some(number) if are_numbers => stats.add(&[number]),
                Some(ord) => {
                    stats.terms.ords(&[ord_of(ord)]);
                }
                None => {}
            }
            let numbers = std::mem::take(&mut stats.now).times(values);
            stats.chunks.push((0, Numbers { docs, missing: docs - with_value, values, ..numbers }));
        }
        stats
    }

    /// With the statistics of all numbers, if they are known: nothing is read then.
    pub(super) fn knowing(self, numbers: Option<Numbers>) -> ValueStats {
        match numbers {
            Some(numbers) => ValueStats { chunks: vec![(0, numbers)], is_known: true, ..self },
            None => self,
        }
    }

    /// Counts every number as well.
    pub(crate) fn counting(self, request: &Request<'_>) -> ValueStats {
        let mut counts = NumberCounts::new(self.logical, request);
        if let Some(known) = request.constant(self.slot) {
            counts.add(known.value.as_slice(), known.values);
        }
        ValueStats { counts: Some(counts), ..self }
    }

    /// The numbers other than NaN and their counts, ascending; none unless it [counts](Self::counting) them.
    ///
    /// # Errors
    ///
    /// If they exceed the memory limit.
    pub(crate) fn take_counts(&mut self) -> Result<Vec<(i64, u64)>> {
        self.counts.take().map_or_else(|| Ok(Vec::new()), NumberCounts::finish)
    }

    /// The statistics of numbers, or the counts and the range of byte strings.
    pub(crate) fn finish(mut self, request: &Request<'_>) -> Result<(Numbers, Option<ByteRange>)> {
        if request.parts() == 1 {
            self.terms.resolve(request.column_of(0, self.slot))?;
        }
        self.chunks.sort_unstable_by_key(|(chunk, _)| *chunk);
        let numbers = self.chunks.iter().fold(Numbers::default(), |all, (_, chunk)| all.and(chunk));
        Ok((numbers, self.terms.bytes))
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
        if let Some(counts) = &mut self.counts {
            counts.add(numbers, 1);
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

impl Collector for ValueStats {
    fn fork(&self) -> ValueStats {
        let (now, terms) = (Numbers::default(), TermRange::default());
        let counts = self.counts.as_ref().map(NumberCounts::fork);
        ValueStats { now, chunks: Vec::new(), terms, counts, ..*self }
    }

    fn is_idle(&self) -> bool {
        self.is_known
    }

    fn leave(&mut self, part: &PassPart<'_>) -> Result<()> {
        if self.has_parts { self.terms.resolve(part.columns.get(self.slot)) } else { Ok(()) }
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
            Cells::Ords(ords) => self.now.values += self.terms.ords(ords),
            Cells::OrdLists(lists) => self.now.values += self.terms.ords(lists.items()),
            Cells::Bytes(strings) => strings.iter().flatten().for_each(|value| {
                self.now.values += 1;
                self.terms.widen(value);
            }),
        }
        Ok(())
    }

    fn chunk_ends(&mut self, chunk: u64) {
        if !self.is_known {
            self.chunks.push((chunk, std::mem::take(&mut self.now)));
        }
    }

    fn merge(&mut self, other: ValueStats, stop: &Interrupt) -> Result<()> {
        self.chunks.extend(other.chunks);
        self.terms.merge(&other.terms);
        match (&mut self.counts, &other.counts) {
            (Some(to), Some(from)) => to.merge(from, stop),
            _ => Ok(()),
        }
    }
}
