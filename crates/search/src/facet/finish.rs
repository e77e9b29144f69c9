//! Selection of the first values from finished counters.

use docvalues_column::{Lists, OrdRange, TermOrd, Value, bits};

use super::counter::Counts;
use super::top_values::TopValues;
use super::{Facet, FacetCounts};
use crate::engine::{ColumnView, Interrupt, Request, Slot, Stored, TERM_BATCH, TermReader, TermSpace};
use crate::error::Result;

/// Counters to scan between two polls of the interrupt flag.
const POLL_EVERY: usize = 1 << 16;

/// The first values so far, until all passes are finished.
pub(super) struct FacetResult<'f> {
    facet: &'f Facet,
    top: TopValues,
    /// The ords that pass the facet's prefix, if the column has ords and they are in the order of terms.
    ords: Option<OrdRange>,
    /// The terms of ids, if ords are ids.
    ids: Option<TermReader<'f>>,
    /// A bit for each id that a part has, if values without documents are returned as well.
    used: Option<Vec<u64>>,
    pub(super) docs: u64,
    pub(super) missing: u64,
}

impl<'f> FacetResult<'f> {
    pub(super) fn new(
        facet: &'f Facet,
        (slot, request): (Slot, &'f Request<'_>),
        docs: u64,
        missing: u64,
    ) -> Result<FacetResult<'f>> {
        let (mut ords, mut ids, mut used) = (None, None, None);
        match (request.columns().get(slot).terms(), &facet.prefix) {
            (Some(TermSpace::Part(terms)), Some(prefix)) => ords = Some(terms.prefix(prefix)?),
            (Some(TermSpace::Part(terms)), None) => ords = Some(OrdRange::new(0, terms.term_count())),
            (Some(TermSpace::Ids(known)), _) => {
                ids = Some(known.read());
                used = (facet.min_count == 0).then(|| request.columns().get(slot).used_ids());
            }
            (None, _) => {}
        }
        let top = TopValues::new(facet, ids.is_none());
        Ok(FacetResult { facet, top, ords, ids, used, docs, missing })
    }

    /// Adds finished counters, of values that no earlier call had.
    pub(super) fn offer(&mut self, counts: Counts, stop: &Interrupt) -> Result<()> {
        if self.ids.is_some() {
            return self.offer_ids(counts, stop);
        }
        let FacetResult { facet, top, ords, missing, .. } = self;
        let lets_through = |number: i64| {
            ords.is_none_or(|ords| u32::try_from(number).is_ok_and(|ord| ords.contains(TermOrd::new(ord))))
        };
        let mut pace = stop.pace();
        match counts {
            Counts::Constant(known) => {
                if let Some(value) = known.value.filter(|value| lets_through(*value)) {
                    top.offer(known.with_value, || Stored::Number(value));
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
                    top.offer(count.into(), || Stored::Number(first.wrapping_add_unsigned(at as u64)));
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

impl FacetResult<'_> {
    /// Adds the finished counters of ids.
    fn offer_ids(&mut self, counts: Counts, stop: &Interrupt) -> Result<()> {
        let FacetResult { facet, top, ids, used, missing, .. } = self;
        let Some(ids) = ids else { return Ok(()) };
        let prefix = facet.prefix.as_deref().unwrap_or_default();
        let stored = |id: TermOrd| Stored::Term(ids.get(id).to_vec(), id);
        let id_of = |number: i64| u32::try_from(number).map_or(TermOrd::new(u32::MAX), TermOrd::new);
        let offer = |top: &mut TopValues, id: TermOrd, count: u64| {
            let is_used = used.as_ref().is_none_or(|used| bits::get(used, id.get() as usize));
            if is_used && ids.get(id).starts_with(prefix) {
                top.offer(count, || stored(id));
            }
        };
        let mut pace = stop.pace();
        match counts {
            Counts::Constant(known) => {
                known.value.iter().for_each(|value| offer(top, id_of(*value), known.with_value));
            }
            Counts::Ords(counts) => {
                let counts = counts.finish();
                *missing += counts.last().copied().map_or(0, u64::from);
                let counts = &counts[..counts.len() - 1];
                if used.is_some() || !prefix.is_empty() {
                    for (id, &count) in
                        (0..).zip(counts).filter(|(_, count)| u64::from(**count) >= facet.min_count)
                    {
                        pace.step()?;
                        offer(top, TermOrd::new(id), count.into());
                    }
                } else {
                    for (at, counts) in (0..).zip(counts.chunks(POLL_EVERY)) {
                        stop.check()?;
                        top.offer_all(counts, |place| stored(id_of(at * POLL_EVERY as i64 + place as i64)));
                    }
                }
            }
            Counts::Dense(first, counts) => {
                for (at, &count) in (first..).zip(&counts.finish()) {
                    pace.step()?;
                    if u64::from(count) >= facet.min_count {
                        offer(top, id_of(at), count.into());
                    }
                }
            }
            Counts::Sparse(table) => {
                for (number, count) in table.iter() {
                    pace.step()?;
                    offer(top, id_of(number), count);
                }
            }
            Counts::Bytes(..) | Counts::Later => {}
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
    column: ColumnView<'_>,
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
        let some: Vec<(Stored, u64)> = first.by_ref().take(TERM_BATCH).collect();
        let counts = some.iter().map(|(_, count)| *count);
        if let Some(TermSpace::Part(dictionary)) = column.terms() {
            let ords: Vec<TermOrd> = some.iter().map(|(value, _)| value.ord()).collect();
            dictionary.gather_terms(&ords, &mut terms)?;
            values.extend(terms.slices().iter().map(|term| Value::Bytes(term.to_vec())).zip(counts));
        } else {
            values.extend(some.into_iter().map(|(value, count)| match value {
                Stored::Number(number) => (Value::of(field.logical, number), count),
                Stored::Bytes(bytes) | Stored::Term(bytes, _) => (Value::Bytes(bytes), count),
            }));
        }
    }
    Ok(FacetCounts { field, values, distinct, docs, missing })
}
