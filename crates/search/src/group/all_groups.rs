//! First pass: accumulators for all values, in as many passes as memory requires, and selection of the first groups.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::having::Having;
use super::{FoundGroup, FoundGroups, GroupOrder};
use crate::engine::{
    Collector, Interrupt, MemoryBudget, MultiPass, Request, RowTable, Slot, Stored, TermReader, TermSpace,
    ValueSpace, Window, memory, ord_of, threads,
};
use crate::error::Result;
use crate::metrics::{DistinctSet, Kept, Layout, MeasureState, NumberLog};

/// Finds the first `top` groups in the given order, without their documents. If they `are_all` for a merge, with all values
/// of distinct values and percentiles.
pub(super) fn find(
    request: &Request<'_>,
    by: Slot,
    layout: &Arc<Layout>,
    (order, top, having, are_all): (GroupOrder, usize, Option<&Having>, bool),
) -> Result<FoundGroups> {
    let column = request.columns().get(by);
    let space = ValueSpace::of(column, request.hits());
    let bytes = request.memory();
    // Sets of values share the memory of the rows.
    let of_rows = if layout.has_sets() { bytes / 2 } else { bytes };
    let rows = match space {
        // One row is for documents in no group.
        ValueSpace::Dense { .. } => (of_rows / layout.bytes()).saturating_sub(1).max(1),
        ValueSpace::Sparse => usize::MAX,
    };
    let width = u32::try_from(rows).unwrap_or(u32::MAX).min(space.len()).max(1);
    let mut candidates = Candidates::new(order, top, layout);
    // Equal groups are in the order of terms, which ids do not tell.
    let ids = if let Some(TermSpace::Ids(ids)) = column.terms() { Some(ids.read()) } else { None };
    let (mut distinct, mut docs, mut missing) = (0, 0, 0);
    let mut kept = Kept::new();
    MultiPass { places: space.len(), width, bytes }.run(
        request,
        |part, budget| {
            let keys = space.keys(part, column);
            Ok(AllGroups::new(by, keys, Arc::clone(layout), layout.sets(request), budget))
        },
        |mut pass| {
            let before = kept.len();
            pass.complete(request, are_all.then_some(&mut kept))?;
            if pass.budget.is_over() {
                kept.truncate(before);
                return Ok(());
            }
            memory::limit(kept.iter().map(MeasureState::heap_bytes).sum(), bytes)?;
            (docs, missing) = (pass.docs, pass.missing);
            distinct += pass.offer(&mut candidates, having, ids.as_ref(), request.stop())?;
            Ok(())
        },
    )?;
    let (groups, distinct) = (candidates.finish(request, ids.is_some())?, Some(distinct));
    Ok(FoundGroups { groups, kept, distinct, docs, missing, layout: Arc::clone(layout) })
}

/// A row of accumulators for each value in the pass's part.
struct AllGroups {
    by: Slot,
    keys: RowTable,
    layout: Arc<Layout>,
    rows: Vec<u64>,
    /// The distinct values of groups.
    sets: Vec<DistinctSet>,
    /// The numbers of groups, for percentiles.
    logs: Vec<NumberLog>,
    budget: Arc<MemoryBudget>,
    /// The row of each document of a window.
    places: Vec<u32>,
    docs: u64,
    missing: u64,
}

impl AllGroups {
    fn new(
        by: Slot,
        keys: RowTable,
        layout: Arc<Layout>,
        (sets, logs): (Vec<DistinctSet>, Vec<NumberLog>),
        budget: Arc<MemoryBudget>,
    ) -> AllGroups {
        let words = keys.rows() * layout.words();
        let mut rows = Vec::new();
        // The rows of a table grow on demand. A pass without room for the rows of an array is repeated.
        let is_dense = matches!(keys, RowTable::Dense { .. });
        if is_dense && (sets.is_empty() && logs.is_empty() || budget.grow(&mut rows, words)) {
            rows.resize(words, 0);
        }
        AllGroups { by, keys, layout, rows, sets, logs, budget, places: Vec::new(), docs: 0, missing: 0 }
    }

    /// Adds rows for new keys. Returns false if the memory budget is exhausted.
    fn grow(&mut self) -> bool {
        let words = self.keys.rows() * self.layout.words();
        let more = words.saturating_sub(self.rows.len());
        let fits = self.budget.grow(&mut self.rows, more);
        if fits {
            self.rows.resize(words, 0);
        }
        fits
    }

    /// The bytes that it holds of the budget.
    fn held(&self) -> usize {
        let rows = self.rows.capacity() * size_of::<u64>();
        let sets: usize = self.sets.iter().map(DistinctSet::bytes).sum();
        let logs: usize = self.logs.iter().map(NumberLog::bytes).sum();
        match &self.keys {
            RowTable::Dense { .. } if !self.layout.has_sets() => 0,
            keys => keys.bytes() + rows + sets + logs,
        }
    }

    /// Completes the rows by what the sets and logs hold, or appends that to `kept`.
    fn complete(&mut self, request: &Request<'_>, mut kept: Option<&mut Kept>) -> Result<()> {
        let AllGroups { layout, rows, sets, logs, budget, .. } = self;
        for log in logs {
            log.complete((rows, layout.words()), (request, budget), kept.as_deref_mut())?;
        }
        let Some(kept) = kept else { return Ok(()) };
        sets.iter().try_for_each(|set| set.keep((rows, layout.words()), (request, budget), kept))
    }

    /// Offers all groups to `candidates`. Returns their number.
    fn offer(
        &self,
        candidates: &mut Candidates,
        having: Option<&Having>,
        ids: Option<&TermReader<'_>>,
        stop: &Interrupt,
    ) -> Result<u64> {
        let mut groups = 0;
        self.keys.each(&self.rows, self.layout.words(), stop, |row, key| {
            if having.is_some_and(|having| row[0] == 0 || !having.passes_row(&self.layout, row)) {
                return;
            }
            groups += u64::from(row[0] > 0);
            // In this order: most rows are below the floor, which predicts well; any number of them may be empty,
            // which does not.
            if row[candidates.word].cast_signed() >= candidates.floor && row[0] > 0 {
                candidates.offer(&self.layout, row, key, || match ids {
                    Some(ids) => Stored::Bytes(ids.get(ord_of(key)).to_vec()),
                    None => self.keys.value(key),
                });
            }
        })?;
        Ok(groups)
    }
}

impl Collector for AllGroups {
    fn fork(&self) -> AllGroups {
        let (keys, layout) = (self.keys.fork(), Arc::clone(&self.layout));
        let sets = self.sets.iter().map(DistinctSet::fork).collect();
        let logs = self.logs.iter().map(NumberLog::fork).collect();
        AllGroups::new(self.by, keys, layout, (sets, logs), Arc::clone(&self.budget))
    }

    fn max_threads(&self) -> usize {
        match self.keys {
            _ if self.layout.depends_on_order() => 1,
            RowTable::Dense { .. } => self.budget.bytes() / size_of_val(self.rows.as_slice()).max(1),
            RowTable::Numbers(_) | RowTable::Bytes(_) => usize::MAX,
        }
    }

    fn collect(&mut self, window: &mut Window<'_>) -> Result<()> {
        // The pass is over budget and will be repeated.
        if self.budget.is_over() {
            return Ok(());
        }
        window.read(self.by)?;
        self.layout.read(window)?;
        self.docs += window.len() as u64;
        self.missing += window.missing(self.by);
        if self.keys.places(window, self.by, &mut self.places, &self.budget) && self.grow() {
            self.layout.add(&mut self.rows, &self.places, window);
            let (words, other) = (self.layout.words(), self.keys.other());
            for set in &mut self.sets {
                set.add(&mut self.rows, words, (&self.places, other), window, &self.budget);
            }
            self.logs.iter_mut().for_each(|log| log.add((&self.places, other), window, &self.budget));
        }
        Ok(())
    }

    fn merge(&mut self, mut other: AllGroups, stop: &Interrupt) -> Result<()> {
        self.docs += other.docs;
        self.missing += other.missing;
        let words = self.layout.words();
        let AllGroups { keys, layout, rows, sets, logs, budget, .. } = self;
        if budget.is_over() {
            return Ok(());
        }
        let mut rows_of: Vec<u32> = Vec::new();
        if layout.has_sets() {
            if !budget.grow(&mut rows_of, other.keys.rows()) {
                return Ok(());
            }
            rows_of.resize(other.keys.rows(), u32::MAX);
        }
        keys.rows_of(&other.keys, budget, stop, |from, to| {
            let from_row = &other.rows[from * words..(from + 1) * words];
            let end = (to as usize + 1) * words;
            let fits = budget.grow(rows, end.saturating_sub(rows.len()));
            if fits {
                rows.resize(rows.len().max(end), 0);
                layout.merge(&mut rows[end - words..end], from_row);
                if let Some(row) = rows_of.get_mut(from) {
                    *row = to;
                }
            }
            fits
        })?;
        for (set, other) in sets.iter_mut().zip(&other.sets) {
            if !budget.is_over() {
                set.merge(other, &rows_of, (rows, words), budget, stop)?;
            }
        }
        for (log, other) in logs.iter_mut().zip(&mut other.logs) {
            if !budget.is_over() {
                log.merge(other, &rows_of, budget, stop)?;
            }
        }
        budget.give(other.held() + rows_of.capacity() * size_of::<u32>());
        Ok(())
    }
}

/// Top-k over groups.
struct Candidates {
    order: GroupOrder,
    top: usize,
    /// Whether a word of a row rejects most groups: those in which it is less than `floor`.
    is_told: bool,
    word: usize,
    floor: i64,
    /// The last of the kept groups is on top.
    heap: BinaryHeap<Candidate>,
}

/// A group; lesser ones come first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// The count or the metric, descending.
    height: Reverse<Option<i128>>,
    /// The value, or the term of an id.
    value: Stored,
    key: i64,
    row: Vec<u64>,
}

impl Candidates {
    fn new(order: GroupOrder, top: usize, layout: &Layout) -> Candidates {
        let word = match order {
            GroupOrder::Count => Some(0),
            GroupOrder::Metric(metric) => layout.sum(metric),
            GroupOrder::Value | GroupOrder::Best => None,
        };
        let (is_told, word) = (word.is_some(), word.unwrap_or(0));
        Candidates { order, top, is_told, word, floor: i64::MIN, heap: BinaryHeap::new() }
    }

    /// Keeps a group if it is among the first. Few are: not inlined, so that the loop over all groups stays small.
    #[inline(never)]
    fn offer(&mut self, layout: &Layout, row: &[u64], key: i64, value: impl FnOnce() -> Stored) {
        let height = Reverse(match self.order {
            GroupOrder::Count => Some(row[0].into()),
            GroupOrder::Metric(metric) => {
                layout.measure(row, metric, &[]).and_then(|measure| measure.order())
            }
            GroupOrder::Value | GroupOrder::Best => None,
        });
        let is_full = self.heap.len() >= self.top;
        // Most groups are below the last one that is kept; no value is made for them.
        if is_full && self.heap.peek().is_none_or(|last| height > last.height) {
            return;
        }
        let candidate = Candidate { height, value: value(), key, row: row.to_vec() };
        if !is_full {
            self.heap.push(candidate);
        } else if let Some(mut last) = self.heap.peek_mut()
            && candidate < *last
        {
            *last = candidate;
        }
        if self.is_told
            && self.heap.len() >= self.top
            && let Some(last) = self.heap.peek()
            && last.height.0.is_some()
        {
            self.floor = last.row[self.word].cast_signed();
        }
    }

    /// The groups, in order; `have_ids` if they are of ids, whose terms gave the order.
    fn finish(self, request: &Request<'_>, have_ids: bool) -> Result<Vec<FoundGroup>> {
        let mut found = self.heap.into_vec();
        threads::sort(&mut found, request.threads(), request.stop())?;
        let (mut groups, mut pace) = (Vec::with_capacity(found.len()), request.stop().pace());
        for Candidate { value, key, row, .. } in found {
            pace.step()?;
            let value = if have_ids { Stored::Number(key) } else { value };
            groups.push(FoundGroup { value, row, docs: Vec::new() });
        }
        Ok(groups)
    }
}
