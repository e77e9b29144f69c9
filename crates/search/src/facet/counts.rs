//! Counters, as many as it takes.

use std::hash::Hash;
use std::ops::RangeInclusive;

use docvalues_column::{Lists, LogicalType, OrdRange, Slices, TermOrd, Terms, Value, Values};
use hashbrown::HashMap;

use super::array::Array;
use super::top::Top;
use super::{Facet, FacetCounts};
use crate::collector::Collector;
use crate::columns::{Columns, Slot};
use crate::docs::len_u32;
use crate::error::{Error, Result};
use crate::search::Request;
use crate::window::{Cells, NO_ORD, Numbers, Strings, Window};

/// Numbers this close to each other are counted in an array.
const NEAR: usize = 1 << 20;

/// So many times more terms than documents are counted in a hash table: an array has to be cleared and looked through
/// whole, counter by counter, a table only where documents are.
const FEW: u64 = 64;

/// Counts the values of one column.
pub(crate) struct FacetCounter {
    facet: Facet,
    slot: Slot,
    counts: Counts,
    docs: u64,
    missing: u64,
}

#[derive(Clone)]
enum Counts {
    /// For each ord a counter, and one behind them for documents without a term.
    Ords(Array),
    FewOrds(HashMap<u32, u32>),
    /// For each number from the first on a counter.
    Near(i64, Array),
    Far(HashMap<i64, u32>),
    Bytes(HashMap<Vec<u8>, u32>),
}

impl FacetCounter {
    /// Counters for the documents of a request.
    pub(crate) fn new(request: &mut Request<'_>, facet: &Facet) -> Result<FacetCounter> {
        let slot = request.slot(&facet.column)?;
        let (column, hits) = (request.columns().get(slot), request.hits());
        let counts = match column.values() {
            Values::Ords(_, terms) => ords(terms.term_count(), hits, facet),
            Values::Numbers(_) => numbers(&column.info().bounds.range(), hits),
            Values::Bytes(_) => Counts::Bytes(HashMap::new()),
        };
        if facet.prefix.is_some() && matches!(counts, Counts::Near(..) | Counts::Far(_)) {
            let field = &column.info().field;
            let (field, kind) = (field.name.clone(), field.kind);
            return Err(Error::Kind { field, kind, cannot: "has no prefixes" });
        }
        Ok(FacetCounter { facet: facet.clone(), slot, counts, docs: 0, missing: 0 })
    }

    /// The values that come first.
    pub(crate) fn finish(mut self, columns: &Columns) -> Result<FacetCounts> {
        let column = columns.get(self.slot);
        let (values, distinct) = match (column.values(), self.counts) {
            (Values::Ords(_, terms), counts) => terms_of(terms, counts, &self.facet, &mut self.missing)?,
            (_, Counts::Bytes(counts)) => {
                let mut top = Top::new(&self.facet);
                let prefix = self.facet.prefix.as_deref().unwrap_or_default();
                for (value, count) in counts.into_iter().filter(|(value, _)| value.starts_with(prefix)) {
                    top.see(count, || value);
                }
                finish(top, Value::Bytes)
            }
            (_, counts) => numbers_of(counts, &self.facet, column.info().field.logical),
        };
        let field = column.info().field.clone();
        Ok(FacetCounts { field, values, distinct, docs: self.docs, missing: self.missing })
    }
}

/// Counters for ords of so many terms.
fn ords(terms: u32, hits: u32, facet: &Facet) -> Counts {
    if u64::from(hits) * FEW < u64::from(terms) && facet.min_count > 0 {
        Counts::FewOrds(HashMap::new())
    } else {
        Counts::Ords(Array::new(terms as usize + 1, hits as usize))
    }
}

/// Counters for numbers between these.
fn numbers(bounds: &RangeInclusive<i64>, hits: u32) -> Counts {
    if bounds.is_empty() {
        return Counts::Near(0, Array::new(0, 0));
    }
    let (first, last) = (*bounds.start(), *bounds.end());
    match usize::try_from(last.abs_diff(first)) {
        Ok(span) if span < NEAR => Counts::Near(first, Array::new(span + 1, hits as usize)),
        _ => Counts::Far(HashMap::new()),
    }
}

fn terms_of(
    terms: &dyn Terms,
    counts: Counts,
    facet: &Facet,
    missing: &mut u64,
) -> Result<(Vec<(Value, u64)>, u64)> {
    let ords = match &facet.prefix {
        Some(prefix) => terms.prefix(prefix)?,
        None => OrdRange::new(0, terms.term_count()),
    };
    let mut top = Top::new(facet);
    match counts {
        Counts::Ords(counts) => {
            let counts = counts.finish();
            *missing += counts.last().copied().map_or(0, u64::from);
            let some = &counts[ords.start as usize..ords.end as usize];
            top.see_all(some, |at| ords.start + len_u32(at));
        }
        Counts::FewOrds(counts) => {
            counts
                .into_iter()
                .filter(|(ord, _)| ords.contains(TermOrd::new(*ord)))
                .for_each(|(ord, count)| top.see(count, || ord));
        }
        _ => {}
    }
    let (found, distinct) = top.finish();
    let ords: Vec<TermOrd> = found.iter().map(|(ord, _)| TermOrd::new(*ord)).collect();
    let mut list = Lists::new();
    terms.gather_terms(&ords, &mut list)?;
    let values = list.slices().iter().zip(found);
    Ok((values.map(|(term, (_, count))| (Value::Bytes(term.to_vec()), count.into())).collect(), distinct))
}

fn numbers_of(counts: Counts, facet: &Facet, logical: LogicalType) -> (Vec<(Value, u64)>, u64) {
    let mut top = Top::new(facet);
    match counts {
        Counts::Near(first, counts) => {
            // The array reaches to the greatest number of its column.
            let number = |at: usize| first.wrapping_add_unsigned(at as u64);
            let counts = counts.finish();
            if facet.min_count > 0 {
                top.see_all(&counts, number);
            } else {
                // Numbers that no document has are no values, unlike terms.
                let there = counts.iter().enumerate().filter(|(_, count)| **count > 0);
                there.for_each(|(at, &count)| top.see(count, || number(at)));
            }
        }
        Counts::Far(counts) => counts.into_iter().for_each(|(number, count)| top.see(count, || number)),
        _ => {}
    }
    finish(top, |number| Value::of(logical, number))
}

fn finish<K: Ord>(top: Top<K>, value: impl Fn(K) -> Value) -> (Vec<(Value, u64)>, u64) {
    let (values, distinct) = top.finish();
    (values.into_iter().map(|(key, count)| (value(key), count.into())).collect(), distinct)
}

impl Collector for FacetCounter {
    fn fork(&self) -> FacetCounter {
        let counts = match &self.counts {
            Counts::Ords(counts) => Counts::Ords(counts.fork()),
            Counts::FewOrds(_) => Counts::FewOrds(HashMap::new()),
            Counts::Near(first, counts) => Counts::Near(*first, counts.fork()),
            Counts::Far(_) => Counts::Far(HashMap::new()),
            Counts::Bytes(_) => Counts::Bytes(HashMap::new()),
        };
        FacetCounter { facet: self.facet.clone(), slot: self.slot, counts, docs: 0, missing: 0 }
    }

    fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        self.docs += window.len() as u64;
        window.read(self.slot)?;
        match window.cells(self.slot) {
            Cells::Ords(ords) => self.ords(ords, window.column(self.slot).info().all_present()),
            Cells::OrdLists(lists) => self.ord_lists(lists),
            Cells::Numbers(numbers) => self.numbers(numbers),
            Cells::NumberLists(lists) => self.number_lists(lists),
            Cells::Bytes(strings) => self.bytes(strings),
        }
        Ok(())
    }

    fn merge(&mut self, other: FacetCounter) {
        self.docs += other.docs;
        self.missing += other.missing;
        match (&mut self.counts, other.counts) {
            (Counts::Ords(to), Counts::Ords(from)) | (Counts::Near(_, to), Counts::Near(_, from)) => {
                to.merge(&from);
            }
            (Counts::FewOrds(to), Counts::FewOrds(from)) => add(to, from),
            (Counts::Far(to), Counts::Far(from)) => add(to, from),
            (Counts::Bytes(to), Counts::Bytes(from)) => add(to, from),
            // A fork counts as its origin does.
            _ => {}
        }
    }
}

fn add<K: Eq + Hash>(to: &mut HashMap<K, u32>, from: HashMap<K, u32>) {
    from.into_iter().for_each(|(key, count)| *to.entry(key).or_default() += count);
}

impl FacetCounter {
    /// Counts ords; `is_each`, if it is known that none is missing.
    fn ords(&mut self, ords: &[TermOrd], is_each: bool) {
        match &mut self.counts {
            Counts::Ords(counts) => {
                // All of them looked at first, as many at once as a processor can.
                let is_missing = !is_each && !ords.iter().fold(true, |all, ord| all & (*ord != NO_ORD));
                let without = counts.len() - 1;
                self.missing += if is_missing {
                    counts.count(ords, |ord| (ord.get() as usize).min(without))
                } else {
                    counts.count(ords, |ord| ord.get() as usize)
                };
            }
            Counts::FewOrds(counts) => {
                for &ord in ords {
                    if ord == NO_ORD {
                        self.missing += 1;
                    } else {
                        *counts.entry(ord.get()).or_default() += 1;
                    }
                }
            }
            _ => {}
        }
    }

    fn ord_lists(&mut self, lists: Slices<'_, TermOrd>) {
        self.missing += lists.lens().filter(|len| *len == 0).count() as u64;
        self.ords(lists.items(), true);
    }

    fn numbers(&mut self, numbers: Numbers<'_>) {
        let mut there = 0;
        match &mut self.counts {
            Counts::Near(first, counts) if numbers.present.is_none() => {
                there = numbers.values.len() as u64;
                counts.count(numbers.values, |number| near(*first, number));
            }
            Counts::Near(first, counts) => numbers.each(|_, number| {
                there += 1;
                counts.add(near(*first, number));
            }),
            Counts::Far(counts) => numbers.each(|_, number| {
                there += 1;
                *counts.entry(number).or_default() += 1;
            }),
            _ => {}
        }
        self.missing += numbers.values.len() as u64 - there;
    }

    fn number_lists(&mut self, lists: Slices<'_, i64>) {
        for list in lists.iter() {
            self.missing += u64::from(list.is_empty());
            for same in list.chunk_by(|a, b| a == b) {
                match &mut self.counts {
                    Counts::Near(first, counts) => counts.add(near(*first, same[0])),
                    Counts::Far(counts) => *counts.entry(same[0]).or_default() += 1,
                    _ => {}
                }
            }
        }
    }

    fn bytes(&mut self, strings: Strings<'_>) {
        let Counts::Bytes(counts) = &mut self.counts else { return };
        for value in strings.iter() {
            match value {
                Some(value) => *counts.entry_ref(value).or_default() += 1,
                None => self.missing += 1,
            }
        }
    }
}

/// Where a number is counted that lies between the bounds of its column.
#[inline]
fn near(first: i64, number: i64) -> usize {
    // A column that has numbers outside of its bounds is damaged, and its answers are wrong anyway.
    usize::try_from(number.wrapping_sub(first)).unwrap_or(usize::MAX)
}
