//! Selection of the first values from finished counters.

use docvalues_column::{OrdRange, TermOrd, bits};

use super::counter::Counts;
use super::top_values::TopValues;
use super::{Facet, FacetCounts};
use crate::engine::threads::POLL_EVERY;
use crate::engine::{ColumnView, Interrupt, Request, Slot, Stored, TermReader, TermSpace, ord_of};
use crate::error::Result;

/// The first values so far, until all passes are finished.
pub(super) struct FacetResult<'f> {
    top: TopValues,
    values: CountedValues<'f>,
    pub(super) docs: u64,
    pub(super) missing: u64,
}

/// The values that counters belong to, and which of them the facet may return.
struct CountedValues<'f> {
    prefix: &'f [u8],
    /// The ords that pass the prefix, if the column has ords and they are in the order of terms.
    ords: Option<OrdRange>,
    /// The terms of ids, if ords are ids.
    ids: Option<TermReader<'f>>,
    /// A bit for each id that a part has, if values without documents are returned as well.
    used: Option<Vec<u64>>,
}

impl<'f> FacetResult<'f> {
    pub(super) fn new(
        facet: &'f Facet,
        (slot, request): (Slot, &'f Request<'_>),
        docs: u64,
        missing: u64,
    ) -> Result<FacetResult<'f>> {
        let (mut ords, mut ids, mut used, mut min_count) = (None, None, None, facet.min_count);
        match (request.columns().get(slot).terms(), &facet.prefix) {
            (Some(TermSpace::Part(terms)), Some(prefix)) => ords = Some(terms.prefix(prefix)?),
            (Some(TermSpace::Part(terms)), None) => ords = Some(OrdRange::new(0, terms.term_count())),
            (Some(TermSpace::Ids(known)), _) => {
                ids = Some(known.read());
                used = (facet.min_count == 0).then(|| request.columns().get(slot).used_ids());
            }
            // Unlike terms, numbers that no document has are no values.
            (None, _) => min_count = min_count.max(1),
        }
        let top = TopValues::new(facet, min_count, ids.is_none());
        let prefix = facet.prefix.as_deref().unwrap_or_default();
        Ok(FacetResult { top, values: CountedValues { prefix, ords, ids, used }, docs, missing })
    }

    /// Adds finished counters, of values that no earlier call had.
    pub(super) fn offer(&mut self, counts: Counts, stop: &Interrupt) -> Result<()> {
        let FacetResult { top, values, missing, .. } = self;
        let mut pace = stop.pace();
        match counts {
            Counts::Constant(known) => {
                known.value.iter().for_each(|number| values.offer(top, *number, known.with_value));
            }
            Counts::Later => {}
            Counts::Ords(counts) => {
                let counts = counts.finish();
                *missing += counts.last().copied().map_or(0, u64::from);
                values.offer_all(top, 0, &counts[..counts.len() - 1], stop)?;
            }
            Counts::Dense(first, counts) => values.offer_all(top, first, &counts.finish(), stop)?,
            Counts::Sparse(table) => {
                for (number, count) in table.iter() {
                    pace.step()?;
                    values.offer(top, number, count);
                }
            }
            Counts::Bytes(table, counts) => {
                for (row, &count) in (1..).zip(&counts) {
                    pace.step()?;
                    let value = table.get(row);
                    if value.starts_with(values.prefix) {
                        top.offer(count, || Stored::Bytes(value.to_vec()));
                    }
                }
            }
        }
        Ok(())
    }
}

impl CountedValues<'_> {
    /// The value of a number, an ord or an id.
    fn value(&self, number: i64) -> Stored {
        match &self.ids {
            Some(ids) => Stored::Bytes(ids.get(ord_of(number)).to_vec()),
            None => Stored::Number(number),
        }
    }

    /// Offers the count of a number, an ord or an id.
    #[inline]
    fn offer(&self, top: &mut TopValues, number: i64, count: u64) {
        let passes = |ord: TermOrd| match &self.ids {
            Some(ids) => {
                let is_used = self.used.as_ref().is_none_or(|used| bits::get(used, ord.get() as usize));
                is_used && ids.get(ord).starts_with(self.prefix)
            }
            None => self.ords.is_none_or(|ords| ords.contains(ord)),
        };
        if passes(ord_of(number)) {
            top.offer(count, || self.value(number));
        }
    }

    /// Offers the counters of numbers, ords or ids from `first` on.
    fn offer_all(&self, top: &mut TopValues, first: i64, counts: &[u32], stop: &Interrupt) -> Result<()> {
        if self.ids.is_some() && (self.used.is_some() || !self.prefix.is_empty()) {
            let (mut pace, min_count) = (stop.pace(), top.min_count);
            for (id, &count) in (first..).zip(counts).filter(|(_, count)| u64::from(**count) >= min_count) {
                pace.step()?;
                self.offer(top, id, count.into());
            }
            return Ok(());
        }
        let (mut start, mut end) = (0, counts.len());
        if let Some(ords) = self.ords {
            // Ords begin at 0, so `first` is an ord as well.
            let place = |ord: u32| usize::try_from(i64::from(ord) - first).unwrap_or(0).min(counts.len());
            (start, end) = (place(ords.start), place(ords.end));
        }
        for (at, counts) in (0..).zip(counts[start..end.max(start)].chunks(POLL_EVERY)) {
            stop.check()?;
            // The array extends to the greatest number of its column.
            let before = (start + at * POLL_EVERY) as u64;
            top.offer_all(counts, |at| self.value(first.wrapping_add_unsigned(before + at as u64)));
        }
        Ok(())
    }
}

/// Resolves the first values: terms for ords, typed values for stored numbers.
pub(super) fn values(
    found: FacetResult<'_>,
    column: ColumnView<'_>,
    request: &Request<'_>,
) -> Result<FacetCounts> {
    let FacetResult { top, docs, missing, .. } = found;
    let (first, distinct) = top.finish(request)?;
    let values = column.resolve(first, request.stop(), |value, count| Ok((value, count)))?;
    Ok(FacetCounts { field: column.info().field.clone(), values, distinct, docs, missing })
}
