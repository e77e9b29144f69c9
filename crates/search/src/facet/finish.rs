//! Selection of the first values from finished counters.

use docvalues_column::{Column, Lists, OrdRange, TermOrd, Value};

use super::counter::{Counts, ords_let_through};
use super::top_values::TopValues;
use super::{Facet, FacetCounts};
use crate::error::Result;
use crate::group::TERM_BATCH;
use crate::interrupt::Interrupt;
use crate::search::Request;
use crate::value::Stored;

/// Counters to scan between two polls of the interrupt flag.
const POLL_EVERY: usize = 1 << 16;

/// The first values so far, until all passes are finished.
pub(super) struct FacetResult<'f> {
    facet: &'f Facet,
    top: TopValues,
    /// The ords that pass the facet's prefix, if the column has ords.
    ords: Option<OrdRange>,
    pub(super) docs: u64,
    pub(super) missing: u64,
}

impl<'f> FacetResult<'f> {
    pub(super) fn new(
        facet: &'f Facet,
        column: &dyn Column,
        docs: u64,
        missing: u64,
    ) -> Result<FacetResult<'f>> {
        let ords = ords_let_through(facet, column.values().terms())?;
        Ok(FacetResult { facet, top: TopValues::new(facet), ords, docs, missing })
    }

    /// Adds finished counters, of values that no earlier call had.
    pub(super) fn offer(&mut self, counts: Counts, stop: &Interrupt) -> Result<()> {
        let FacetResult { facet, top, ords, missing, .. } = self;
        let lets_through = |number: i64| {
            ords.is_none_or(|ords| u32::try_from(number).is_ok_and(|ord| ords.contains(TermOrd::new(ord))))
        };
        let mut pace = stop.pace();
        match counts {
            Counts::Constant(known) => {
                if let Some(value) = known.value.filter(|value| lets_through(*value)) {
                    top.offer(u32::try_from(known.with_value).unwrap_or(u32::MAX), || Stored::Number(value));
                }
            }
            Counts::Later => {}
            Counts::Ords(counts) => {
                let counts = counts.finish();
                *missing += counts.last().copied().map_or(0, u64::from);
                offer_all(top, 0, &counts[..counts.len() - 1], *ords, stop)?;
            }
            Counts::Dense(first, counts) if facet.min_count > 0 || ords.is_some() => {
                offer_all(top, first, &counts.finish(), *ords, stop)?;
            }
            Counts::Dense(first, counts) => {
                // Unlike terms, numbers that no document has are no values.
                for (at, &count) in counts.finish().iter().enumerate().filter(|(_, count)| **count > 0) {
                    pace.step()?;
                    top.offer(count, || Stored::Number(first.wrapping_add_unsigned(at as u64)));
                }
            }
            Counts::Sparse(table) => {
                for (number, count) in table.iter() {
                    pace.step()?;
                    if lets_through(number) {
                        top.offer(count, || Stored::Number(number));
                    }
                }
            }
            Counts::Bytes(table, counts) => {
                let prefix = facet.prefix.as_deref().unwrap_or_default();
                for (row, &count) in (1..).zip(&counts) {
                    pace.step()?;
                    let value = table.get(row);
                    if value.starts_with(prefix) {
                        top.offer(count, || Stored::Bytes(value.to_vec()));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Offers the counters of numbers from `first` on; of ords, only those that pass the prefix.
fn offer_all(
    top: &mut TopValues,
    first: i64,
    counts: &[u32],
    ords: Option<OrdRange>,
    stop: &Interrupt,
) -> Result<()> {
    let (mut start, mut end) = (0, counts.len());
    if let Some(ords) = ords {
        // Ords begin at 0, so `first` is an ord as well.
        let place = |ord: u32| usize::try_from(i64::from(ord) - first).unwrap_or(0).min(counts.len());
        (start, end) = (place(ords.start), place(ords.end));
    }
    for (at, counts) in (0..).zip(counts[start..end.max(start)].chunks(POLL_EVERY)) {
        stop.check()?;
        // The array extends to the greatest number of its column.
        let before = (start + at * POLL_EVERY) as u64;
        top.offer_all(counts, |at| Stored::Number(first.wrapping_add_unsigned(before + at as u64)));
    }
    Ok(())
}

/// Resolves the first values: terms for ords, typed values for stored numbers.
pub(super) fn values(
    found: FacetResult<'_>,
    column: &dyn Column,
    request: &Request<'_>,
) -> Result<FacetCounts> {
    let FacetResult { top, docs, missing, .. } = found;
    let (first, distinct) = top.finish(request)?;
    let field = column.info().field.clone();
    let mut values = Vec::with_capacity(first.len());
    let mut first = first.into_iter();
    let mut terms = Lists::new();
    while first.len() > 0 {
        request.stop().check()?;
        let some: Vec<(Stored, u32)> = first.by_ref().take(TERM_BATCH).collect();
        let counts = some.iter().map(|(_, count)| u64::from(*count));
        if let Some(dictionary) = column.values().terms() {
            let ords: Vec<TermOrd> = some.iter().map(|(value, _)| value.ord()).collect();
            dictionary.gather_terms(&ords, &mut terms)?;
            values.extend(terms.slices().iter().map(|term| Value::Bytes(term.to_vec())).zip(counts));
        } else {
            values.extend(some.into_iter().map(|(value, count)| match value {
                Stored::Number(number) => (Value::of(field.logical, number), count.into()),
                Stored::Bytes(bytes) => (Value::Bytes(bytes), count.into()),
            }));
        }
    }
    Ok(FacetCounts { field, values, distinct, docs, missing })
}
