//! The counters of one facet.

use std::ops::RangeInclusive;
use std::sync::Arc;

use docvalues_column::{Slices, TermOrd, bits};

use super::counter_array::CounterArray;
use super::finish::{self, FacetResult};
use super::{Facet, FacetCounts};
use crate::engine::hash_tables::{ByteStringTable, HASH_PARTS, NumberTable, ValuePart};
use crate::engine::{
    Cells, Collector, ConstantColumn, Elements, Interrupt, MemoryBudget, MultiPass, NO_ORD, PassPart,
    Request, Slot, TermSpace, Window,
};
use crate::error::{Error, Result};

/// The most documents that are counted in an array of `u32`s; hash tables count more.
const MAX_ARRAY_HITS: u64 = u32::MAX as u64;

/// The longest span of numbers that is counted in an array.
const MAX_DENSE: usize = 1 << 20;

/// The ratio of terms to documents from which a hash table is used. An array must be cleared and scanned as a whole,
/// a table only grows with the documents.
const MAX_TERMS_PER_DOC: u64 = 64;

/// The most terms of a part for each of its documents that are counted by its own ords: clearing a counter and adding
/// it up costs about as much as a look-up of an id.
const MAX_OWN_TERMS_PER_DOC: u64 = 1;

/// Counts the values of one column.
pub(crate) struct FacetCounter {
    facet: Facet,
    slot: Slot,
    pub(super) counts: Counts,
    /// Counters of the ords of the current part, if it has many documents for its terms; they are added to those of
    /// ids at its end. The last counter is for documents without a value.
    own: Option<CounterArray>,
    budget: Arc<MemoryBudget>,
    docs: u64,
    missing: u64,
}

pub(super) enum Counts {
    /// The column has only one value; its description has the count.
    Constant(ConstantColumn),
    /// The ords exceed the memory limit. They are counted at the end, in several passes.
    Later,
    /// A counter for each ord, followed by one for documents without a value.
    Ords(CounterArray),
    /// A counter for each number or ord from the first one on. Others are not counted.
    Dense(i64, CounterArray),
    /// Numbers or ords in a hash table.
    Sparse(NumberTable),
    /// Byte strings in a hash table; the count of row `i` is at `i - 1`.
    Bytes(ByteStringTable, Vec<u64>),
}

impl FacetCounter {
    /// Counters for the documents of a request, within `bytes` of memory.
    pub(crate) fn new(request: &mut Request<'_>, facet: &Facet, bytes: usize) -> Result<FacetCounter> {
        let slot = request.id_slot(&facet.column)?;
        let (column, hits) = (request.columns().get(slot), request.hits());
        let is_number = column.elements() == Elements::Numbers;
        if facet.prefix.is_some() && is_number && !column.is_absent() {
            return Err(Error::kind(&column.info().field, "has no prefixes"));
        }
        // With `min_count` 0, terms that no document has are returned as well.
        let says_all = |known: &ConstantColumn| known.value.is_some() || facet.min_count > 0 || is_number;
        let counts = match (request.constant(slot).filter(says_all), column.elements()) {
            (Some(known), _) => Counts::Constant(known.with_one_zero(column)),
            (None, Elements::Ords) => ords(column.terms().map_or(0, TermSpace::len), hits, facet, bytes)?,
            (None, Elements::Numbers) => numbers(&column.number_bounds(), hits, bytes)?,
            (None, Elements::Bytes) => Counts::Bytes(ByteStringTable::new(ValuePart::whole()), Vec::new()),
        };
        let budget = Arc::new(MemoryBudget::new(bytes, request.stop()));
        Ok(FacetCounter::counting(facet.clone(), slot, counts, budget))
    }

    fn counting(facet: Facet, slot: Slot, counts: Counts, budget: Arc<MemoryBudget>) -> FacetCounter {
        let (docs, missing) = match &counts {
            Counts::Constant(known) => (known.docs, known.docs - known.with_value),
            _ => (0, 0),
        };
        FacetCounter { facet, slot, counts, own: None, budget, docs, missing }
    }

    /// The first values. Runs further passes if the counters exceeded the memory limit.
    pub(crate) fn finish(self, request: &Request<'_>) -> Result<FacetCounts> {
        let FacetCounter { facet, slot, counts, budget, docs, missing, .. } = self;
        let (column, bytes) = (request.columns().get(slot), budget.bytes());
        let mut found = FacetResult::new(&facet, (slot, request), docs, missing)?;
        let is_later = matches!(counts, Counts::Later);
        if !is_later && !budget.is_over() {
            found.offer(counts, request.stop())?;
            return finish::values(found, column, request);
        }
        drop(counts);
        let terms = column.terms().map_or(0, TermSpace::len);
        let passes = if is_later {
            let most = u32::try_from(bytes / size_of::<u32>()).unwrap_or(u32::MAX);
            MultiPass { places: terms, width: most.min(terms), bytes }
        } else {
            MultiPass { places: HASH_PARTS, width: HASH_PARTS / 2, bytes }
        };
        let hits = usize::try_from(request.hits()).unwrap_or(usize::MAX);
        passes.run(
            request,
            |part, budget| {
                let counts = match column.elements() {
                    _ if is_later => {
                        let ords = part.range();
                        Counts::Dense(ords.start.into(), CounterArray::new(ords.len(), hits)?)
                    }
                    Elements::Bytes => Counts::Bytes(ByteStringTable::new(part.clone()), Vec::new()),
                    _ => Counts::Sparse(NumberTable::new(part.clone())),
                };
                Ok(FacetCounter::counting(facet.clone(), slot, counts, budget))
            },
            |pass| {
                (found.docs, found.missing) = (pass.docs, pass.missing);
                found.offer(pass.counts, request.stop())
            },
        )?;
        finish::values(found, column, request)
    }

    /// Counts ords. `is_each` if every document is known to have one.
    fn ords(&mut self, ords: &[TermOrd], is_each: bool) {
        match (&mut self.own, &mut self.counts) {
            (Some(counts), _) | (None, Counts::Ords(counts)) => {
                self.missing += count_ords(counts, ords, is_each);
            }
            (None, Counts::Dense(first, counts)) => {
                self.missing += ords.iter().filter(|ord| **ord == NO_ORD).count() as u64;
                counts.count(ords, |ord| offset(*first, ord.get().into()));
            }
            _ => {}
        }
    }
}

/// Counters for the ords of `terms` terms.
fn ords(terms: u32, hits: u64, facet: &Facet, bytes: usize) -> Result<Counts> {
    let counters = terms as usize + 1;
    let are_few = hits.saturating_mul(MAX_TERMS_PER_DOC) < u64::from(terms) && facet.min_count > 0;
    Ok(if are_few || hits > MAX_ARRAY_HITS {
        Counts::Sparse(NumberTable::new(ValuePart::whole()))
    } else if counters.saturating_mul(size_of::<u32>()) > bytes {
        Counts::Later
    } else {
        Counts::Ords(CounterArray::new(counters, len(hits))?)
    })
}

/// Counters for numbers within `bounds`.
fn numbers(bounds: &RangeInclusive<i64>, hits: u64, bytes: usize) -> Result<Counts> {
    if bounds.is_empty() {
        return Ok(Counts::Dense(0, CounterArray::new(0, 0)?));
    }
    let (first, last) = (*bounds.start(), *bounds.end());
    Ok(match usize::try_from(last.abs_diff(first)) {
        Ok(span) if span < MAX_DENSE.min(bytes / size_of::<u32>()) && hits <= MAX_ARRAY_HITS => {
            Counts::Dense(first, CounterArray::new(span + 1, len(hits))?)
        }
        _ => Counts::Sparse(NumberTable::new(ValuePart::whole())),
    })
}

impl Collector for FacetCounter {
    fn fork(&self) -> FacetCounter {
        let counts = match &self.counts {
            Counts::Constant(known) => Counts::Constant(*known),
            Counts::Later => Counts::Later,
            Counts::Ords(counts) => Counts::Ords(counts.fork()),
            Counts::Dense(first, counts) => Counts::Dense(*first, counts.fork()),
            Counts::Sparse(table) => Counts::Sparse(table.fork()),
            Counts::Bytes(table, _) => Counts::Bytes(table.fork(), Vec::new()),
        };
        let (facet, budget) = (self.facet.clone(), Arc::clone(&self.budget));
        FacetCounter { facet, slot: self.slot, counts, own: None, budget, docs: 0, missing: 0 }
    }

    fn is_idle(&self) -> bool {
        matches!(self.counts, Counts::Constant(_) | Counts::Later)
    }

    fn max_threads(&self) -> usize {
        match &self.counts {
            Counts::Ords(counts) | Counts::Dense(_, counts) => self.budget.bytes() / counts.bytes().max(1),
            _ => usize::MAX,
        }
    }

    /// If the part has many documents for its terms, its own ords are counted.
    fn enter(&mut self, part: &PassPart<'_>) -> Result<bool> {
        self.own = match (part.columns.ids(self.slot), &self.counts) {
            (Some(ids), Counts::Ords(_)) => {
                let hits = part.docs.count(part.total);
                let are_many = ids.len() as u64 <= u64::from(hits) * MAX_OWN_TERMS_PER_DOC;
                are_many.then(|| CounterArray::new(ids.len() + 1, hits as usize)).transpose()?
            }
            _ => None,
        };
        Ok(true)
    }

    /// Counts of own ords are added to those of ids, which all parts share.
    fn leave(&mut self, part: &PassPart<'_>) -> Result<()> {
        let own = self.own.take().map(CounterArray::finish);
        if let (Some(own), Some(ids), Counts::Ords(counts)) =
            (own, part.columns.ids(self.slot), &mut self.counts)
        {
            self.missing += own.last().copied().map_or(0, u64::from);
            ids.iter().zip(own).for_each(|(id, count)| counts.add(id.get() as usize, count));
        }
        Ok(())
    }

    fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        // A pass over budget is discarded.
        if self.budget.is_over() {
            return Ok(());
        }
        self.docs += window.len() as u64;
        let of_stored = match (&mut self.own, &mut self.counts) {
            (Some(counts), _) => Some(counts),
            (None, Counts::Ords(counts)) if window.columns().ids(self.slot).is_none() => Some(counts),
            _ => None,
        };
        if let Some(counts) = of_stored
            && let Some((lists, kept)) = window.lists_of_most(self.slot)?
        {
            self.missing += count_most(counts, lists, kept);
            return Ok(());
        }
        let cells = if self.own.is_some() {
            window.read_stored(self.slot)?;
            window.stored_cells(self.slot)
        } else {
            window.read(self.slot)?;
            window.cells(self.slot)
        };
        let missing = &mut self.missing;
        match (&mut self.counts, &cells) {
            // Few documents of a window may have a number.
            (Counts::Sparse(counts), Cells::Numbers(numbers)) => {
                *missing += cells.missing();
                numbers.each(|_, number| counts.count(number, 1, &self.budget));
            }
            (Counts::Sparse(counts), _) => cells.each_different(|_, number| match number {
                Some(number) => counts.count(number, 1, &self.budget),
                None => *missing += 1,
            }),
            (Counts::Dense(first, counts), Cells::NumberLists(_)) => {
                cells.each_different(|_, number| match number {
                    Some(number) => counts.add(offset(*first, number), 1),
                    None => *missing += 1,
                });
            }
            (Counts::Dense(first, counts), Cells::Numbers(numbers)) => {
                *missing += cells.missing();
                if numbers.present.is_none() {
                    counts.count(numbers.values, |number| offset(*first, number));
                } else {
                    numbers.each(|_, number| counts.add(offset(*first, number), 1));
                }
            }
            (Counts::Bytes(table, counts), Cells::Bytes(strings)) => {
                *missing += cells.missing();
                let there = strings.iter().flatten();
                there.for_each(|value| count_bytes(table, counts, value, 1, &self.budget));
            }
            (_, Cells::Ords(ords)) => self.ords(ords, window.column(self.slot).info().all_present()),
            (_, Cells::OrdLists(lists)) => {
                *missing += cells.missing();
                self.ords(lists.items(), true);
            }
            _ => {}
        }
        Ok(())
    }

    fn merge(&mut self, other: FacetCounter, stop: &Interrupt) -> Result<()> {
        self.docs += other.docs;
        self.missing += other.missing;
        if self.budget.is_over() {
            return Ok(());
        }
        let (budget, mut pace) = (&*self.budget, stop.pace());
        match (&mut self.counts, other.counts) {
            (Counts::Ords(to), Counts::Ords(from)) | (Counts::Dense(_, to), Counts::Dense(_, from)) => {
                to.merge(&from, stop)?;
            }
            (Counts::Sparse(to), Counts::Sparse(from)) => to.add_counts(&from, budget, stop)?,
            (Counts::Bytes(to, counts), Counts::Bytes(from, from_counts)) => {
                for (row, count) in (1..).zip(&from_counts) {
                    pace.step()?;
                    count_bytes(to, counts, from.get(row), *count, budget);
                }
                budget.give(from.bytes() + from_counts.capacity() * size_of::<u64>());
            }
            // A fork has the same kind of counters.
            _ => {}
        }
        Ok(())
    }
}

/// Adds `times` to the count of a byte string, if the table's part of the values has it and there is room.
#[inline]
fn count_bytes(
    table: &mut ByteStringTable,
    counts: &mut Vec<u64>,
    value: &[u8],
    times: u64,
    budget: &MemoryBudget,
) {
    let Some(at) = table.row(value, budget).and_then(|row| (row as usize).checked_sub(1)) else { return };
    if let Some(count) = counts.get_mut(at) {
        *count += times;
    } else if budget.grow(counts, 1) {
        counts.push(times);
    }
}

/// Counts ords; the last counter is for documents without one. `is_each` if every document is known to have one.
/// Returns the number of documents without an ord that were not counted.
fn count_ords(counts: &mut CounterArray, ords: &[TermOrd], is_each: bool) -> u64 {
    // A separate branch-free loop, which is vectorized.
    let is_missing = !is_each && !ords.iter().fold(true, |all, ord| all & (*ord != NO_ORD));
    let without = counts.len() - 1;
    if is_missing {
        counts.count(ords, |ord| (ord.get() as usize).min(without))
    } else {
        counts.count(ords, |ord| ord.get() as usize)
    }
}

/// Counts the ords of the lists whose bits are set: of all lists, less those of the others, which are few. Returns the
/// number of lists without an ord, and of ords without a counter.
fn count_most(counts: &mut CounterArray, lists: Slices<'_, TermOrd>, kept: &[u64]) -> u64 {
    let place = |ord: TermOrd| ord.get() as usize;
    let items = lists.items();
    let empty = lists.lens().filter(|len| *len == 0).count() as u64;
    let mut missing = empty + counts.count(items, place);
    for (first, word) in (0..lists.len()).step_by(64).zip(kept) {
        for at in bits::ones(&[!word]).map(|bit| first + bit).take_while(|at| *at < lists.len()) {
            let start = lists.part(0..at).items().len();
            let len = lists.get(at).len();
            missing -= u64::from(len == 0) + counts.uncount(items, start..start + len, place);
        }
    }
    missing
}

/// A number of documents as the length of something in memory.
fn len(docs: u64) -> usize {
    usize::try_from(docs).unwrap_or(usize::MAX)
}

/// The counter of a number within the bounds of its column.
#[inline]
fn offset(first: i64, number: i64) -> usize {
    // A number outside of the bounds means a damaged column; then only the answer is wrong.
    usize::try_from(number.wrapping_sub(first)).unwrap_or(usize::MAX)
}
