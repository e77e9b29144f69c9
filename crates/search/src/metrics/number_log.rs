//! The numbers of each row, for exact percentiles.
//!
//! A number is appended to one of 64 buckets, which is that of its row. In the end, the numbers of each bucket are sorted by
//! row, by counting: with some million numbers, that stays within the second-level cache, while writes to the places of
//! thousands of rows at once would not. Percentiles are then selected in the numbers of each row.

use docvalues_column::LogicalType;
use docvalues_format::file::kind::to_f64;
use smallvec::SmallVec;

use super::measure_state::{Kept, MeasureState};
use super::percentile::place;
use crate::engine::hash_tables::low;
use crate::engine::{Interrupt, MemoryBudget, Request, Slot, Window, threads};
use crate::error::Result;

/// The number of buckets; rows are assigned to them in turn.
const BUCKETS: usize = 64;

/// A row, and the halves of a number: 12 bytes, where a pair would take 16.
type Entry = [u32; 3];

/// The numbers of one column for each row.
#[derive(Debug)]
pub(crate) struct NumberLog {
    pub(super) slot: Slot,
    logical: LogicalType,
    /// The percentiles to find, and the positions of each one and of the count of numbers in a row.
    pub(super) percentiles: Vec<(f64, (usize, usize))>,
    buckets: Vec<Vec<Entry>>,
}

impl NumberLog {
    pub(super) fn new(slot: Slot, logical: LogicalType) -> NumberLog {
        NumberLog { slot, logical, percentiles: Vec::new(), buckets: vec![Vec::new(); BUCKETS] }
    }

    pub(crate) fn fork(&self) -> NumberLog {
        NumberLog { percentiles: self.percentiles.clone(), ..NumberLog::new(self.slot, self.logical) }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        self.buckets.iter().map(|bucket| bucket.capacity() * size_of::<Entry>()).sum()
    }

    /// Adds the numbers of a window's documents other than NaN, that of document `i` to row `places[i]`, except to row
    /// `other`. Once the budget is exhausted, some are left out.
    pub(crate) fn add(&mut self, (places, other): (&[u32], u32), window: &Window<'_>, budget: &MemoryBudget) {
        let (is_double, buckets) = (self.logical == LogicalType::F64, &mut self.buckets);
        window.numbers(self.slot).each(|at, number| {
            let row = places[at];
            if row != other && !(is_double && to_f64(number).is_nan()) {
                let halves = number.cast_unsigned();
                push(buckets, [row, low(halves >> 32), low(halves)], budget);
            }
        });
    }

    /// Moves the numbers of `other`, whose row `i` is row `rows_of[i]` here. Once the budget is exhausted, some are left
    /// out.
    ///
    /// # Errors
    ///
    /// If the search is interrupted.
    pub(crate) fn merge(
        &mut self,
        other: &mut NumberLog,
        rows_of: &[u32],
        budget: &MemoryBudget,
        stop: &Interrupt,
    ) -> Result<()> {
        let mut pace = stop.pace();
        for bucket in other.buckets.drain(..) {
            for [row, high, low] in &bucket {
                pace.step()?;
                push(&mut self.buckets, [rows_of[*row as usize], *high, *low], budget);
            }
            budget.give(bucket.capacity() * size_of::<Entry>());
        }
        Ok(())
    }

    /// Writes the percentiles and the count of numbers of each row. With `kept`, appends all numbers of each row and their
    /// counts to it, and writes the place there, counted from 1, and the count. Ends when the budget is exhausted.
    ///
    /// # Errors
    ///
    /// If the search is interrupted.
    pub(crate) fn complete(
        &mut self,
        (rows, words): (&mut [u64], usize),
        (request, budget): (&Request<'_>, &MemoryBudget),
        kept: Option<&mut Kept>,
    ) -> Result<()> {
        self.percentiles.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let (percentiles, buckets) = (&self.percentiles, std::mem::take(&mut self.buckets));
        let mut write = |row: u32, (at, count): (usize, usize), word: u64, numbers: u64| {
            let row = &mut rows[row as usize * words..];
            (row[at], row[count]) = (word, numbers);
        };
        let Some(kept) = kept else {
            let found = by_row(buckets, (request, budget), |numbers| {
                let (mut from, count) = (0, numbers.len() as u64);
                let find = |(percentile, _): &(f64, _)| {
                    let at = usize::try_from(place(*percentile, count)).unwrap_or(0);
                    // Of the numbers from the last percentile on, none is less.
                    let (_, number, _) = numbers[from..].select_nth_unstable(at - from);
                    from = at;
                    *number
                };
                percentiles.iter().map(find).collect::<SmallVec<[i64; 3]>>()
            })?;
            for (row, count, numbers) in found.into_iter().flatten() {
                let found = percentiles.iter().zip(numbers);
                found.for_each(|((_, at), number)| write(row, *at, number.cast_unsigned(), count));
            }
            return Ok(());
        };
        let found = by_row(buckets, (request, budget), |numbers| {
            numbers.sort_unstable();
            let counts = || numbers.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64));
            let has_room = budget.take(counts().count() * size_of::<(i64, u64)>());
            counts().filter(|_| has_room).collect::<Box<[_]>>()
        })?;
        for (row, count, counts) in found.into_iter().flatten() {
            kept.push(MeasureState::Numbers(counts.into_vec()));
            percentiles.iter().for_each(|(_, at)| write(row, *at, kept.len() as u64, count));
        }
        Ok(())
    }
}

/// Appends an entry to the bucket of its row, unless the budget is exhausted.
#[inline]
fn push(buckets: &mut [Vec<Entry>], entry: Entry, budget: &MemoryBudget) {
    let bucket = &mut buckets[entry[0] as usize % BUCKETS];
    if bucket.len() < bucket.capacity() || !budget.is_over() && budget.grow(bucket, 1) {
        bucket.push(entry);
    }
}

/// What `each` makes of the numbers of a row, in any order, after the row and their count, for each row that has numbers.
/// Buckets are distributed to threads. Ends when the budget is exhausted.
///
/// # Errors
///
/// If the search is interrupted.
fn by_row<T: Send>(
    buckets: Vec<Vec<Entry>>,
    (request, budget): (&Request<'_>, &MemoryBudget),
    each: impl Fn(&mut [i64]) -> T + Sync,
) -> Result<Vec<Vec<(u32, u64, T)>>> {
    let stop = request.stop();
    let mut results: Vec<Vec<(u32, u64, T)>> = buckets.iter().map(|_| Vec::new()).collect();
    let mut buffers = vec![(Vec::<usize>::new(), Vec::<i64>::new()); request.threads().max(1)];
    let items = (0_u32..).zip(buckets).zip(&mut results);
    threads::each(items, &mut buffers, |(ends, numbers), ((first, bucket), found)| {
        ends.clear();
        numbers.clear();
        if budget.is_over() || !budget.grow(numbers, bucket.len()) {
            return Ok(());
        }
        // A counting sort by row: counts become the starts of rows, and these their ends.
        numbers.resize(bucket.len(), 0);
        let row_in_bucket = |entry: &Entry| entry[0] as usize / BUCKETS;
        ends.resize(bucket.iter().map(row_in_bucket).max().map_or(0, |last| last + 1), 0);
        bucket.iter().for_each(|entry| ends[row_in_bucket(entry)] += 1);
        let mut before = 0;
        ends.iter_mut().for_each(|end| before += std::mem::replace(end, before));
        for entry in &bucket {
            let [_, high, low] = entry.map(u64::from);
            let end = &mut ends[row_in_bucket(entry)];
            numbers[*end] = (high << 32 | low).cast_signed();
            *end += 1;
        }
        let (mut start, mut pace) = (0, stop.pace());
        for (row, &end) in (first..).step_by(BUCKETS).zip(ends.iter()) {
            pace.step()?;
            if start < end && budget.grow(found, 1) {
                found.push((row, (end - start) as u64, each(&mut numbers[start..end])));
            }
            start = end;
        }
        budget.give(bucket.capacity() * size_of::<Entry>());
        Ok(())
    })?;
    budget.give(buffers.iter().map(|(_, numbers)| numbers.capacity() * size_of::<i64>()).sum());
    Ok(results)
}
