//! Sub-aggregations: metrics and a facet of the documents of each bucket.

use std::sync::Arc;

use super::Histogram;
use crate::engine::hash_tables::{NumberTable, ValuePart};
use crate::engine::{Elements, Interrupt, MemoryBudget, Request, Slot, Window};
use crate::error::{Error, Result};
use crate::facet::{Facet, FacetCounts};
use crate::metrics::{Layout, Metric};

/// The sub-aggregations of all buckets.
pub(super) struct SubAggregations {
    pub(super) layout: Arc<Layout>,
    /// A row of accumulators for each bucket, and one for documents in none.
    rows: Vec<u64>,
    values: Option<FacetByBucket>,
    /// The bucket of each document of a window, or the one after the last if it is in none.
    pub(super) places: Vec<u32>,
}

/// The counts of another column's values in each bucket.
struct FacetByBucket {
    facet: Facet,
    slot: Slot,
    tables: Vec<NumberTable>,
    /// For each bucket, the documents without a value.
    missing: Vec<u64>,
    budget: Arc<MemoryBudget>,
}

impl SubAggregations {
    /// For `ranges` buckets of the column at `slot`; `None` if the request has no sub-aggregations.
    pub(super) fn new(
        request: &mut Request<'_>,
        histogram: &Histogram,
        slot: Slot,
        ranges: usize,
        bytes: usize,
    ) -> Result<Option<SubAggregations>> {
        let Histogram { metrics, facet, .. } = histogram;
        if metrics.is_empty() && facet.is_none() {
            return Ok(None);
        }
        let info = request.columns().get(slot).info();
        if info.is_multi_valued() {
            let cannot = "may have several values a document, which may be in several buckets";
            return Err(Error::kind(&info.field, cannot));
        }
        let is_simple = |metric: &&Metric| {
            matches!(metric, Metric::Sum(_) | Metric::Min(_) | Metric::Max(_) | Metric::Mean(_))
        };
        if let Some(metric) = metrics.iter().find(|metric| !is_simple(metric)) {
            let what = format!("expected sum, min, max or mean in a histogram, found {}", metric.name());
            return Err(Error::Request(what));
        }
        let layout = Layout::new(request, metrics, false)?;
        let values =
            facet.as_ref().map(|facet| FacetByBucket::new(request, facet, ranges, bytes)).transpose()?;
        let rows = vec![0; (ranges + 1) * layout.words()];
        Ok(Some(SubAggregations { layout: Arc::new(layout), rows, values, places: Vec::new() }))
    }

    pub(super) fn fork(&self) -> SubAggregations {
        let (layout, rows) = (Arc::clone(&self.layout), vec![0; self.rows.len()]);
        let values = self.values.as_ref().map(FacetByBucket::fork);
        SubAggregations { layout, rows, values, places: Vec::new() }
    }

    pub(super) fn max_threads(&self) -> usize {
        if self.layout.depends_on_order() { 1 } else { usize::MAX }
    }

    /// Takes the result from column descriptions, if these suffice and all documents are in one bucket.
    pub(super) fn knows(&mut self, range: usize, docs: u64, request: &Request<'_>) -> bool {
        let Some(row) = self.layout.constant(request, docs) else { return false };
        if let Some(values) = &mut self.values
            && !values.knows(range, request)
        {
            return false;
        }
        let words = self.layout.words();
        self.rows[range * words..(range + 1) * words].copy_from_slice(&row);
        true
    }

    /// Collects the window's documents into their buckets.
    pub(super) fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        self.layout.read(window)?;
        self.layout.add(&mut self.rows, &self.places, window);
        match &mut self.values {
            Some(values) => values.collect(&self.places, window),
            None => Ok(()),
        }
    }

    pub(super) fn merge(&mut self, other: SubAggregations, stop: &Interrupt) -> Result<()> {
        let words = self.layout.words();
        for (to, from) in self.rows.chunks_mut(words).zip(other.rows.chunks(words)) {
            self.layout.merge(to, from);
        }
        match (&mut self.values, other.values) {
            (Some(values), Some(other)) => values.merge(&other, stop),
            _ => Ok(()),
        }
    }

    /// The row of a bucket.
    pub(super) fn row(&self, range: usize) -> &[u64] {
        let words = self.layout.words();
        &self.rows[range * words..(range + 1) * words]
    }

    /// Returns and removes the facet of a bucket.
    pub(super) fn facet(&mut self, range: usize, request: &Request<'_>) -> Result<Option<FacetCounts>> {
        let docs = self.row(range)[0];
        self.values.as_mut().map(|values| values.finish(range, docs, request)).transpose()
    }
}

impl FacetByBucket {
    fn new(request: &mut Request<'_>, facet: &Facet, ranges: usize, bytes: usize) -> Result<FacetByBucket> {
        let slot = request.id_slot(&facet.column)?;
        let column = request.columns().get(slot);
        let cannot = match column.elements() {
            Elements::Bytes => Some("has no dictionary for a facet of each bucket"),
            Elements::Numbers if facet.prefix.is_some() && !column.is_absent() => Some("has no prefixes"),
            _ => None,
        };
        if let Some(cannot) = cannot {
            return Err(Error::kind(&column.info().field, cannot));
        }
        let budget = Arc::new(MemoryBudget::new(bytes, request.stop()));
        let part = ValuePart::whole();
        let tables = (0..ranges).map(|_| NumberTable::new(part.clone())).collect();
        Ok(FacetByBucket { facet: facet.clone(), slot, tables, missing: vec![0; ranges], budget })
    }

    fn fork(&self) -> FacetByBucket {
        let (facet, slot, budget) = (self.facet.clone(), self.slot, Arc::clone(&self.budget));
        let (tables, missing) =
            (self.tables.iter().map(NumberTable::fork).collect(), vec![0; self.missing.len()]);
        FacetByBucket { facet, slot, tables, missing, budget }
    }

    fn knows(&mut self, range: usize, request: &Request<'_>) -> bool {
        let Some(known) = request.constant(self.slot) else { return false };
        let known = known.with_one_zero(request.columns().get(self.slot));
        self.missing[range] = known.docs - known.with_value;
        if let Some(value) = known.value {
            self.tables[range].count(value, known.with_value, &self.budget);
        }
        true
    }

    fn collect(&mut self, places: &[u32], window: &mut Window<'_>) -> Result<()> {
        self.is_within_budget()?;
        window.read(self.slot)?;
        let FacetByBucket { tables, missing, budget, .. } = self;
        window.cells(self.slot).each_different(|at, number| {
            let range = places[at] as usize;
            // Other documents are in no bucket.
            if let Some(table) = tables.get_mut(range) {
                match number {
                    Some(number) => table.count(number, 1, budget),
                    None => missing[range] += 1,
                }
            }
        });
        Ok(())
    }

    fn merge(&mut self, other: &FacetByBucket, stop: &Interrupt) -> Result<()> {
        for (to, from) in self.tables.iter_mut().zip(&other.tables) {
            to.add_counts(from, &self.budget, stop)?;
        }
        self.missing.iter_mut().zip(&other.missing).for_each(|(to, from)| *to += from);
        self.is_within_budget()
    }

    /// The first values of a bucket with `docs` documents.
    fn finish(&mut self, range: usize, docs: u64, request: &Request<'_>) -> Result<FacetCounts> {
        self.is_within_budget()?;
        let table = std::mem::replace(&mut self.tables[range], NumberTable::new(ValuePart::whole()));
        self.facet.of_table(self.slot, table, docs, self.missing[range], request)
    }

    fn is_within_budget(&self) -> Result<()> {
        if !self.budget.is_over() {
            return Ok(());
        }
        let (column, bytes) = (&self.facet.column, self.budget.bytes());
        let why = format!(
            "the values of column \"{column}\" in each bucket take more than {bytes} bytes: raise `Search::memory`"
        );
        Err(Error::Request(why))
    }
}
